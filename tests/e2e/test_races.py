"""Everything at once, for ThreadSanitizer: inference over both protocols and streams, clients that leave,
models that are loaded anew and unloaded, statistics and metrics, and a stop in the middle of it."""
import json
import queue
import socket
import threading

import numpy as np
import pytest
from clients import connect, infer
from hostile import INFER, RST_STREAM, STREAM, frame, message, raw_http2
from repositories import write_identity
from tritonclient.grpc import service_pb2
from tritonclient.utils import InferenceServerException

SECONDS = 8
VALUES = np.arange(8, dtype=np.float32).reshape(2, 4)
BODY = json.dumps({"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, 4],
                               "data": [1, 2, 3, 4]}]}).encode()


class Load:
    """Threads that each do one thing again and again until the end. Once the server has been told to
    stop, they may be told anything."""

    def __init__(self):
        self.end, self.stopping = threading.Event(), threading.Event()
        self.failures, self.counts, self._threads = [], {}, []

    def start(self, name, step, threads=1):
        def run():
            while not self.end.is_set():
                try:
                    step()
                    self.counts[name] = self.counts.get(name, 0) + 1
                except Exception as error:
                    if self.stopping.is_set():
                        continue
                    self.failures.append(f"{name}: {error!r}")
                    return

        self._threads += [threading.Thread(target=run) for _ in range(threads)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.end.set()
        for thread in self._threads:
            thread.join()


@pytest.fixture
def server(serve, tmp_path):
    write_identity(tmp_path, "inline", dims=(4,))
    write_identity(tmp_path, "batched", dims=(4,), blocking=True, execute_delay_ms=1,
                   extra="dynamic_batching { max_queue_delay_microseconds: 500 }\n"
                         "instance_group { count: 2 }\n")
    write_identity(tmp_path, "delayed", dims=(4,), execute_delay_ms=3,
                   extra="dynamic_batching { default_queue_policy { max_queue_size: 4 "
                         "default_timeout_microseconds: 2000 } }\n")
    return serve(tmp_path, "--model-control-mode=explicit", "--load-model=*")


def inference(server, protocol, model):
    def step():
        with connect(server, protocol) as (api, client):
            for _ in range(20):
                try:
                    np.testing.assert_array_equal(infer(api, client, model, VALUES), VALUES)
                except InferenceServerException as error:
                    # The small queue of `delayed` is full, its time-out is over, or it is not there.
                    if model != "delayed":
                        raise RuntimeError(str(error)) from None
    return step


def streaming(server):
    def step():
        with connect(server, "grpc") as (api, client):
            answers, tensor = queue.SimpleQueue(), api.InferInput("INPUT0", [2, 4], "FP32")
            tensor.set_data_from_numpy(VALUES)
            client.start_stream(lambda result, error: answers.put((result, error)))
            for _ in range(20):
                client.async_stream_infer("batched", [tensor])
            for _ in range(20):
                result, error = answers.get(timeout=30)
                if error:  # the stream has ended
                    raise error
                np.testing.assert_array_equal(result.as_numpy("OUTPUT0"), VALUES)
            client.stop_stream()
    return step


def leaving(server):
    """Clients that go, or cancel, before they are answered."""
    proto = service_pb2.ModelInferRequest(model_name="batched")
    proto.inputs.add(name="INPUT0", datatype="FP32", shape=(1, 4))
    proto.raw_input_contents.append(bytes(16))
    content = message(proto.SerializeToString())

    def step():
        host, port = server.http.split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(b"POST /v2/models/batched/infer HTTP/1.1\r\nHost: t\r\nContent-Length: "
                               b"%d\r\n\r\n%s" % (len(BODY), BODY))
        with raw_http2(server.grpc) as connection:
            for path in (INFER, STREAM, INFER):
                stream = connection.open(path)
                connection.data(stream, content, end=path == INFER)
                connection.send(frame(RST_STREAM, 0, stream, b"\0\0\0\x08"))
    return step


def reloading(server, repository):
    """Two models change and are loaded anew, of which no request may notice; one is away for a while."""
    def step():
        with connect(server, "http") as (_, client):
            for model in ("inline", "batched"):
                with (repository / model / "config.pbtxt").open("a") as config:
                    config.write("# changed\n")
                client.load_model(model)
            client.unload_model("delayed")
            client.load_model("delayed")
    return step


def watching(server):
    def step():
        for path, service in (("/metrics", "metrics"), ("/v2/models/stats", "HTTP"),
                              ("/v2/health/ready", "HTTP"), ("/v2/models/batched/config", "HTTP")):
            server.get(path, service)
        with connect(server, "grpc") as (_, client):
            client.get_model_repository_index()
            client.get_inference_statistics()
    return step


def test_everything_at_once(server, tmp_path):
    load = Load()
    for protocol in ("http", "grpc"):
        for model in ("inline", "batched", "delayed"):
            load.start(f"{protocol} {model}", inference(server, protocol, model), threads=2)
    load.start("stream", streaming(server), threads=2)
    load.start("leave", leaving(server), threads=2)
    load.start("reload", reloading(server, tmp_path))
    load.start("watch", watching(server))
    with load:
        load.end.wait(SECONDS)
        load.stopping.set()
        server.stop(limit_s=60)
    assert load.failures == []
    assert len(load.counts) == 10 and min(load.counts.values()) > 0, load.counts
