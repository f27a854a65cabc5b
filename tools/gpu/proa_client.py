"""Asks a proa over HTTP with the binary extension, and over gRPC with messages written by hand; the GPU machine
has no client library and no stubs."""
import http.client
import json

import numpy as np

TYPES = {"FP32": np.float32, "FP16": np.float16, "UINT8": np.uint8, "INT32": np.int32,
         "INT64": np.int64}
NAMES = {np.dtype(kind): name for name, kind in TYPES.items()}


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


def http_request(inputs):
    """The body of a request for arrays by name, and how long its JSON is."""
    header = json.dumps({
        "inputs": [{"name": name, "shape": array.shape, "datatype": NAMES[array.dtype],
                    "parameters": {"binary_data_size": array.nbytes}} for name, array in inputs.items()],
        "parameters": {"binary_data_output": True}}).encode()
    return header + b"".join(array.tobytes() for array in inputs.values()), len(header)


def infer(port, model, inputs):
    """The outputs, by name, for arrays by name, which are turned into the model's types; "" is the only input."""
    metadata = json.loads(ask(port, "GET", f"/v2/models/{model}")[1])
    types = {each["name"]: TYPES[each["datatype"]] for each in metadata["inputs"]}
    named = {name or metadata["inputs"][0]["name"]: array for name, array in inputs.items()}
    body, length = http_request({name: np.asarray(array, types[name]) for name, array in named.items()})
    response, answer = ask(port, "POST", f"/v2/models/{model}/infer", body,
                           {"Inference-Header-Content-Length": str(length)})
    at = int(response.headers["Inference-Header-Content-Length"])
    outputs = {}
    for output in json.loads(answer[:at])["outputs"]:
        end = at + output["parameters"]["binary_data_size"]
        outputs[output["name"]] = np.frombuffer(answer[at:end], TYPES[output["datatype"]]).reshape(
            output["shape"])
        at = end
    return outputs


def distance(got, wanted, absolute=False):
    """How far an answer is off: relative L2, or the largest difference."""
    got, wanted = got.astype(np.float64).ravel(), wanted.astype(np.float64).ravel()
    if not np.isfinite(got).all():
        return np.inf  # not NaN, which is smaller than nothing and larger than nothing
    if absolute:
        return float(np.abs(got - wanted).max())
    return float(np.linalg.norm(got - wanted) / max(np.linalg.norm(wanted), 1e-30))


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def read_varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def grpc_request(model, inputs):
    """The bytes of a ModelInferRequest with raw contents for arrays by name."""
    tensors = b"".join(
        field(5, field(1, name.encode()) + field(2, NAMES[array.dtype].encode()) +
              field(3, b"".join(varint(extent) for extent in array.shape)))
        for name, array in inputs.items())
    return field(1, model.encode()) + tensors + b"".join(field(7, array.tobytes()) for array in inputs.values())


def raw_contents(message):
    """The first of raw_output_contents (field 6) of a ModelInferResponse."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        length, at = read_varint(message, at)
        if key == 6 << 3 | 2:
            return message[at:at + length]
        at += length
    raise RuntimeError("the gRPC answer has no raw contents")


class GrpcClient:
    def __init__(self, port):
        import grpc
        channel = grpc.insecure_channel(f"127.0.0.1:{port}",
                                        options=[("grpc.max_receive_message_length", -1)])
        self._call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                                         request_serializer=bytes, response_deserializer=bytes)

    def infer(self, model, inputs):
        """The only output, as FP32 numbers in a row."""
        return np.frombuffer(raw_contents(self._call(grpc_request(model, inputs))), np.float32)
