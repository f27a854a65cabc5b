"""Clients of other stacks against one server: grpc++ (C++), grpcurl (Go), curl, h2load, and
tritonclient's asyncio and streaming clients (grpcio)."""
import asyncio
import base64
import json
import pathlib
import queue
import shutil
import struct
import subprocess
import sys

import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.grpc.aio
import tritonclient.http.aio
from repositories import write_identity
from tritonclient.grpc import service_pb2

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRPCURL = pathlib.Path(sys.executable).parent / "grpcurl"
INFER = {"inputs": [{"name": "INPUT0", "shape": [1, 4], "datatype": "FP32",
                     "data": [1.5, -2, 3, 0.25]}]}


@pytest.fixture
def server(tmp_path, serve):
    write_identity(tmp_path, "identity", dims=(-1,))
    write_identity(tmp_path, "slow", dims=(-1,), execute_delay_ms=200)
    return serve(tmp_path)


def run(*command, **options):
    """Standard output of a client that must succeed."""
    done = subprocess.run([str(part) for part in command], capture_output=True, timeout=120,
                          **options)
    assert done.returncode == 0, f"{command}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout


def successes(server, model):
    text = server.get("/metrics", "metrics")[1].decode()
    line = next(line for line in text.splitlines()
                if line.startswith(f'nv_inference_request_success{{model="{model}"'))
    return int(float(line.split()[-1]))


def test_grpcpp(server):
    client = pathlib.Path(server.arguments[0]).parent / "grpcpp_client"
    print(run(client, server.grpc).decode())


class TestGrpcurl:
    """Go's gRPC stack, with reflection instead of .proto files."""

    def call(self, server, method, message=None):
        data = ["-d", json.dumps(message)] if message is not None else []
        return json.loads(run(GRPCURL, "-plaintext", *data, server.grpc, method) or "{}")

    def test_lists_and_describes_services(self, server):
        services = run(GRPCURL, "-plaintext", server.grpc, "list").decode().split()
        assert {"inference.GRPCInferenceService", "grpc.health.v1.Health"} <= set(services)
        text = run(GRPCURL, "-plaintext", server.grpc, "describe",
                   "inference.ModelInferRequest").decode()
        assert "raw_input_contents" in text

    def test_calls_methods(self, server):
        assert self.call(server, "inference.GRPCInferenceService/ServerReady") == {"ready": True}
        assert self.call(server, "grpc.health.v1.Health/Check") == {"status": "SERVING"}
        metadata = self.call(server, "inference.GRPCInferenceService/ModelMetadata",
                             {"name": "identity"})
        assert metadata["inputs"] == [{"name": "INPUT0", "datatype": "FP32",
                                       "shape": ["-1", "-1"]}]

    def test_infers_with_typed_contents(self, server):
        answer = self.call(server, "inference.GRPCInferenceService/ModelInfer", {
            "model_name": "identity",
            "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, 2],
                        "contents": {"fp32_contents": [1.5, -2]}}]})
        raw = base64.b64decode(answer["raw_output_contents"][0])
        assert struct.unpack("<2f", raw) == (1.5, -2)

    def test_deadline(self, server):
        done = subprocess.run(
            [GRPCURL, "-plaintext", "-max-time", "0.05", "-d", json.dumps({
                "model_name": "slow",
                "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, 1],
                            "contents": {"fp32_contents": [1]}}]}),
             server.grpc, "inference.GRPCInferenceService/ModelInfer"],
            capture_output=True, text=True, timeout=60)
        assert done.returncode != 0
        assert "DeadlineExceeded" in done.stderr


@pytest.mark.parametrize("version", ["--http1.1", "--http1.0", "--http2-prior-knowledge"])
class TestCurl:
    def test_json(self, server, version):
        answer = json.loads(run("curl", "-sS", "--fail", version, "-d", json.dumps(INFER),
                                f"http://{server.http}/v2/models/identity/infer"))
        assert answer["outputs"] == [{"name": "OUTPUT0", "datatype": "FP32", "shape": [1, 4],
                                      "data": [1.5, -2, 3, 0.25]}]

    def test_large_body_with_expect_and_chunks(self, server, version, tmp_path):
        values = [float(i) for i in range(300000)]
        body = tmp_path / "body.json"
        body.write_text(json.dumps({"inputs": [{
            "name": "INPUT0", "shape": [1, len(values)], "datatype": "FP32", "data": values}]}))
        headers = ["-H", "Expect: 100-continue"] if version == "--http1.1" else []
        if version == "--http1.1":
            headers += ["-H", "Transfer-Encoding: chunked"]
        answer = json.loads(run("curl", "-sS", "--fail", version, *headers, "--data-binary",
                                f"@{body}", f"http://{server.http}/v2/models/identity/infer"))
        assert answer["outputs"][0]["data"] == values

    def test_errors_are_json(self, server, version):
        out = run("curl", "-sS", version, "-w", "\n%{http_code}",
                  f"http://{server.http}/v2/models/nobody").decode()
        body, status = out.rsplit("\n", 1)
        assert status == "404"
        assert "nobody" in json.loads(body)["error"]


def grpc_body(folder, count):
    """A file with one length-prefixed ModelInferRequest of `count` floats."""
    request = service_pb2.ModelInferRequest(model_name="identity")
    tensor = request.inputs.add(name="INPUT0", datatype="FP32")
    tensor.shape.extend([1, count])
    request.raw_input_contents.append(
        np.random.default_rng(0).random(count, dtype=np.float32).tobytes())
    message = request.SerializeToString()
    path = folder / f"request{count}.grpc"
    path.write_bytes(b"\0" + struct.pack(">I", len(message)) + message)
    return path


@pytest.mark.skipif(shutil.which("h2load") is None, reason="nghttp2-client is not installed")
@pytest.mark.parametrize("connections,streams,window_bits,floats,requests",
                         [(1, 100, 16, 16, 5000), (4, 32, 14, 4096, 1000), (2, 8, 10, 65536, 60)])
def test_h2load_many_streams_and_small_windows(server, tmp_path, connections, streams, window_bits,
                                               floats, requests):
    before = successes(server, "identity")
    out = run("h2load", "-n", requests, "-c", connections, "-m", streams, "-w", window_bits, "-W",
              window_bits, "-d", grpc_body(tmp_path, floats), "-H",
              "content-type: application/grpc", "-H", "te: trailers",
              f"http://{server.grpc}/inference.GRPCInferenceService/ModelInfer").decode()
    assert f"{requests} succeeded, 0 failed, 0 errored, 0 timeout" in out
    # h2load does not look at grpc-status; the server's own count does.
    assert successes(server, "identity") - before == requests


def floats_input(api, values):
    tensor = api.InferInput("INPUT0", list(values.shape), "FP32")
    tensor.set_data_from_numpy(values)
    return tensor


@pytest.mark.parametrize("api,address", [(tritonclient.grpc.aio, "grpc"),
                                         (tritonclient.http.aio, "http")])
def test_asyncio_clients(server, api, address):
    async def work():
        async with api.InferenceServerClient(getattr(server, address)) as client:
            assert await client.is_server_ready()
            arrays = [np.full((1, 1 + i * 500), i, np.float32) for i in range(40)]
            answers = await asyncio.gather(
                *(client.infer("identity", [floats_input(api, array)]) for array in arrays))
            for array, answer in zip(arrays, answers):
                np.testing.assert_array_equal(answer.as_numpy("OUTPUT0"), array)

    asyncio.run(work())


def test_streaming_client_gets_answers_in_order(server):
    answers = queue.Queue()
    with tritonclient.grpc.InferenceServerClient(server.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        for i in range(100):
            client.async_stream_infer(
                "identity", [floats_input(tritonclient.grpc, np.full((1, 1000), i, np.float32))],
                request_id=str(i))
        for i in range(100):
            result, error = answers.get(timeout=30)
            assert error is None
            assert result.get_response().id == str(i)
            assert (result.as_numpy("OUTPUT0") == i).all()
        client.stop_stream()


def test_streaming_client_sees_errors_and_goes_on(server):
    answers = queue.Queue()
    with tritonclient.grpc.InferenceServerClient(server.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        tensor = floats_input(tritonclient.grpc, np.ones((1, 4), np.float32))
        client.async_stream_infer("nobody", [tensor])
        assert "nobody" in str(answers.get(timeout=30)[1])
        client.async_stream_infer("identity", [tensor])
        assert answers.get(timeout=30)[1] is None
        client.stop_stream()


def test_client_timeout_frees_the_queue(server):
    with tritonclient.grpc.InferenceServerClient(server.grpc) as client:
        tensor = floats_input(tritonclient.grpc, np.ones((1, 4), np.float32))
        with pytest.raises(tritonclient.grpc.InferenceServerException, match="Deadline"):
            client.infer("slow", [tensor], client_timeout=0.05)
        assert client.infer("identity", [tensor]) is not None
