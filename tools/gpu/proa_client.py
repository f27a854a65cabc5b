"""Asks a proa over HTTP with the binary extension; the GPU machine has no client library."""
import http.client
import json

import numpy as np

TYPES = {"FP32": np.float32, "FP16": np.float16, "UINT8": np.uint8, "INT32": np.int32,
         "INT64": np.int64}


def ask(port, method, path, body=None, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        data = response.read()
    finally:
        connection.close()
    if response.status != 200:
        raise RuntimeError(f"{method} {path}: {response.status} {data[:1000].decode(errors='replace')}")
    return response, data


def infer(port, model, inputs):
    """The outputs, by name, for arrays by name; "" is the only input."""
    metadata = json.loads(ask(port, "GET", f"/v2/models/{model}")[1])
    types = {each["name"]: each["datatype"] for each in metadata["inputs"]}
    blocks, described = [], []
    for name, array in inputs.items():
        name = name or metadata["inputs"][0]["name"]
        blocks.append(np.ascontiguousarray(array, TYPES[types[name]]).tobytes())
        described.append({"name": name, "shape": array.shape, "datatype": types[name],
                          "parameters": {"binary_data_size": len(blocks[-1])}})
    header = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}}).encode()
    response, body = ask(port, "POST", f"/v2/models/{model}/infer", header + b"".join(blocks),
                         {"Inference-Header-Content-Length": str(len(header))})
    at = int(response.headers["Inference-Header-Content-Length"])
    outputs = {}
    for output in json.loads(body[:at])["outputs"]:
        end = at + output["parameters"]["binary_data_size"]
        outputs[output["name"]] = np.frombuffer(body[at:end], TYPES[output["datatype"]]).reshape(
            output["shape"])
        at = end
    return outputs
