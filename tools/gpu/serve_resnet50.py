#!/usr/bin/env python3
"""serve_resnet50.py FOLDER [--plant]: on a GPU machine, runs `proa serve` (packed by
tools/gpu/pack_engine.py) with ResNet-50 FP16 on the GPU, asks it over HTTP and gRPC at several batch
sizes and compares every answer with ONNX Runtime's. Prints what it measured, exits with 1 on a wrong answer.

--plant: with an operator in the middle of the network that the engine does not know."""
import http.client
import json
import pathlib
import re
import subprocess
import sys
import threading
import time

import numpy as np
import onnxruntime

CONFIG = """
platform: "onnxruntime_onnx"
max_batch_size: 16
dynamic_batching { }
instance_group [ { kind: KIND_GPU count: 2 } ]
parameters { key: "inference_precision" value { string_value: "f16" } }
parameters { key: "gpu_buckets" value { string_value: "1,4,16" } }
"""
LIMIT = 5e-3


FIRST_KERNELS = 'parameters { key: "gpu_tuning" value { string_value: "first" } }\n'


def write_repository(folder, model, more=""):
    version = folder / "resnet50" / "1"
    version.mkdir(parents=True, exist_ok=True)
    (version / "model.onnx").write_bytes(pathlib.Path(model).read_bytes())
    (folder / "resnet50" / "config.pbtxt").write_text(CONFIG + more)


def plant(source, target):
    """Puts an Erf, which the engine does not know, behind the middle one of the Relus."""
    import onnx
    model = onnx.load(source)
    nodes = list(model.graph.node)
    relus = [node for node in nodes if node.op_type == "Relu"]
    middle = relus[len(relus) // 2].output[0]
    for node in nodes:
        for index, name in enumerate(node.input):
            if name == middle:
                node.input[index] = "planted"
    at = next(index for index, node in enumerate(nodes) if middle in node.output)
    model.graph.node.insert(at + 1, onnx.helper.make_node("Erf", [middle], ["planted"], "planted"))
    onnx.save(model, target)


class Server:
    """A `proa serve` on free ports, ended by stop()."""

    def __init__(self, folder, repository, log):
        self.log = log
        self.process = subprocess.Popen(
            [folder / "proa", "serve", "--model-repository", repository, "--http-address",
             "127.0.0.1", "--grpc-address", "127.0.0.1", "--http-port", "0", "--grpc-port", "0",
             "--allow-metrics=false", "--gpu-tuning-cache", "tuning.txt"],
            stdout=log.open("wb"), stderr=subprocess.STDOUT)
        self.http = self.wait_for(r"HTTP listening on \S*:(\d+)")
        self.grpc = self.wait_for(r"gRPC listening on \S*:(\d+)")

    def wait_for(self, pattern, limit_s=20):
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            found = re.search(pattern, self.log.read_text())
            if found:
                return int(found.group(1))
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit(f"the server did not say {pattern!r}:\n{self.log.read_text()}")

    def wait_ready(self, limit_s=300):
        begin = time.monotonic()
        while time.monotonic() - begin < limit_s:
            connection = http.client.HTTPConnection("127.0.0.1", self.http)
            connection.request("GET", "/v2/models/resnet50/ready")
            if connection.getresponse().status == 200:
                return time.monotonic() - begin
            if "failed" in self.log.read_text() or self.process.poll() is not None:
                break
            time.sleep(0.1)
        sys.exit(f"not ready:\n{self.log.read_text()}")

    def stop(self):
        self.process.terminate()
        return self.process.wait(40)


def infer_http(connection, name, rows):
    header = json.dumps({"inputs": [{"name": name, "shape": rows.shape, "datatype": "FP32",
                                     "parameters": {"binary_data_size": rows.nbytes}}],
                         "parameters": {"binary_data_output": True}}).encode()
    connection.request("POST", "/v2/models/resnet50/infer", header + rows.tobytes(),
                       {"Inference-Header-Content-Length": str(len(header))})
    answer = connection.getresponse()
    body = answer.read()
    if answer.status != 200:
        sys.exit(f"HTTP {answer.status}: {body[:500]}")
    length = int(answer.headers["Inference-Header-Content-Length"])
    return np.frombuffer(body[length:], np.float32).reshape(len(rows), -1)


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def infer_request(name, rows):
    """The bytes of a ModelInferRequest with raw contents."""
    shape = b"".join(varint(extent) for extent in rows.shape)
    tensor = field(1, name.encode()) + field(2, b"FP32") + field(3, shape)
    return field(1, b"resnet50") + field(5, tensor) + field(7, rows.tobytes())


def raw_contents(message):
    """raw_output_contents (field 6) of a ModelInferResponse."""
    at = 0
    while at < len(message):
        key, at = read_varint(message, at)
        length, at = read_varint(message, at)
        if key == 6 << 3 | 2:
            return message[at:at + length]
        at += length
    sys.exit("the gRPC answer has no raw contents")


def read_varint(message, at):
    value = shift = 0
    while True:
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def distance(got, wanted):
    return float(np.linalg.norm(got - wanted) / np.linalg.norm(wanted))


def main():
    import grpc
    folder = pathlib.Path(sys.argv[1]).resolve()
    repository = pathlib.Path("repository").resolve()
    model = folder / "resnet50.onnx"
    planted = "--plant" in sys.argv
    if planted:
        plant(str(model), "planted.onnx")
        model = pathlib.Path("planted.onnx")
    write_repository(repository, model, FIRST_KERNELS if planted else "")
    reference = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    name = reference.get_inputs()[0].name
    server = Server(folder, repository, pathlib.Path("serve.log"))
    print(f"ready after {server.wait_ready():.1f} s", flush=True)
    generator = np.random.default_rng(5)
    connection = http.client.HTTPConnection("127.0.0.1", server.http)
    channel = grpc.insecure_channel(f"127.0.0.1:{server.grpc}",
                                    options=[("grpc.max_receive_message_length", -1)])
    call = channel.unary_unary("/inference.GRPCInferenceService/ModelInfer",
                               request_serializer=bytes, response_deserializer=bytes)
    worst = 0.0
    for batch in (1, 2, 3, 4, 7, 16):
        rows = generator.uniform(-1, 1, (batch, 3, 224, 224)).astype(np.float32)
        wanted = reference.run(None, {name: rows})[0].reshape(batch, -1)
        by_http = distance(infer_http(connection, name, rows), wanted)
        answer = raw_contents(call(infer_request(name, rows)))
        by_grpc = distance(np.frombuffer(answer, np.float32).reshape(batch, -1), wanted)
        print(f"batch {batch}: distance over HTTP {by_http:.3g}, over gRPC {by_grpc:.3g}")
        worst = max(worst, by_http, by_grpc)
    worst = max(worst, ask_side_by_side(call, name, reference, generator))
    code = server.stop()
    print(f"largest distance {worst:.3g} (limit {LIMIT}); the server ended with {code}")
    sys.exit(0 if worst < LIMIT and code == 0 else 1)


def ask_side_by_side(call, name, reference, generator, threads=16, each=20):
    """Batch-1 requests from several threads, which the server batches; each answer is compared."""
    pictures = generator.uniform(-1, 1, (threads, 1, 3, 224, 224)).astype(np.float32)
    wanted = [reference.run(None, {name: picture})[0] for picture in pictures]
    worst = [0.0] * threads

    def ask(index):
        request = infer_request(name, pictures[index])
        for _ in range(each):
            got = np.frombuffer(raw_contents(call(request)), np.float32)
            worst[index] = max(worst[index], distance(got, wanted[index].ravel()))

    pool = [threading.Thread(target=ask, args=(index,)) for index in range(threads)]
    begin = time.monotonic()
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    took = time.monotonic() - begin
    print(f"{threads} clients: {threads * each / took:.0f} pictures/s of 602 kB, largest distance "
          f"{max(worst):.3g}")
    return max(worst)


if __name__ == "__main__":
    main()
