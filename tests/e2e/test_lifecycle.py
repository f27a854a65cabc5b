"""Start, end and the days between: ports, broken models, disconnects, full queues, SIGTERM."""
import concurrent.futures
import json
import socket
import subprocess
import threading
import time

import numpy as np
import pytest
import tritonclient.http
from clients import connect, infer
from proa_server import ProaServer
from repositories import write_identity
from tritonclient.utils import InferenceServerException

ONE = np.ones((1, 4), np.float32)


def counters(server):
    text = server.get("/metrics", "metrics")[1].decode()
    return {key: float(value) for key, value in
            (line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))}


def wait_for(condition, what, limit_s=20):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.002)


def run_proa(proa, *arguments, limit_s=30):
    return subprocess.run([proa, *map(str, arguments)], capture_output=True, text=True,
                          timeout=limit_s)


def test_one_bad_model_takes_no_other_down(serve, tmp_path):
    write_identity(tmp_path, "good", dims=(-1,))
    broken = write_identity(tmp_path, "broken")
    (broken / "config.pbtxt").write_text('backend: "identity"\nmax_batch_sise: 8\n')
    server = serve(tmp_path)
    with connect(server, "http") as (api, client):
        assert (infer(api, client, "good", ONE) == ONE).all()
        states = {entry["name"]: entry for entry in client.get_model_repository_index()}
    assert states["good"]["state"] == "READY"
    assert states["broken"]["state"] == "UNAVAILABLE"
    assert "max_batch_sise" in states["broken"]["reason"]
    assert "max_batch_size" in states["broken"]["reason"]  # the nearest name there is


def test_exit_on_error_ends_with_status_1(proa, tmp_path):
    (write_identity(tmp_path, "broken") / "config.pbtxt").write_text('backend: "nobody"\n')
    done = run_proa(proa, "serve", "--model-repository", tmp_path, "--http-port", 0, "--grpc-port",
                    0, "--metrics-port", 0, "--exit-on-error")
    assert done.returncode == 1
    assert "nobody" in done.stderr and "--exit-on-error" in done.stderr


def test_a_taken_port_is_named_with_its_flag(proa, tmp_path):
    write_identity(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run_proa(proa, "serve", "--model-repository", tmp_path, "--http-address",
                        "127.0.0.1", "--http-port", port)
    assert done.returncode == 1
    assert str(port) in done.stderr and "--http-port" in done.stderr


def test_a_missing_repository_is_named(proa, tmp_path):
    done = run_proa(proa, "serve", "--model-repository", tmp_path / "nowhere", "--http-port", 0,
                    "--grpc-port", 0, "--metrics-port", 0)
    assert done.returncode == 1
    assert str(tmp_path / "nowhere") in done.stderr


def test_equal_ports_are_one_port(proa, tmp_path):
    write_identity(tmp_path, "identity", dims=(-1,))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = ProaServer(tmp_path, "--http-port", str(port), "--grpc-port", str(port), command=(proa,))
    try:
        server.wait_listening({"HTTP", "metrics"})
        server.wait_ready()
        server.ports["gRPC"] = port
        for protocol in ("http", "grpc"):
            with connect(server, protocol) as (api, client):
                assert (infer(api, client, "identity", ONE) == ONE).all()
        server.stop()
    finally:
        server.kill()


def test_sigterm_lets_requests_in_flight_end(serve, tmp_path):
    write_identity(tmp_path, "slow", dims=(-1,), execute_delay_ms=300, blocking=True)
    server = serve(tmp_path)
    with connect(server, "http") as (api, client), concurrent.futures.ThreadPoolExecutor(1) as pool:
        answer = pool.submit(infer, api, client, "slow", ONE)
        wait_for(lambda: counters(server)["proa_in_flight_bytes"] > 0, "the request is in flight")
        server.stop()
        assert (answer.result() == ONE).all()


def test_a_full_queue_refuses_at_once_and_says_so(serve, tmp_path):
    write_identity(tmp_path, "slow", dims=(-1,), execute_delay_ms=300, blocking=True,
                   max_batch_size=1,
                   extra="dynamic_batching { default_queue_policy { max_queue_size: 1 } }\n")
    server = serve(tmp_path)
    refused = []

    def work():
        with connect(server, "grpc") as (api, client):
            try:
                infer(api, client, "slow", ONE)
            except InferenceServerException as error:
                refused.append(error)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused and all("maximum queue size" in str(error) for error in refused)
    key = 'nv_inference_request_failure{model="slow",version="1",reason="REJECTED"}'
    assert counters(server)[key] == len(refused)


def test_a_queued_request_whose_client_left_is_dropped(serve, tmp_path):
    write_identity(tmp_path, "slow", dims=(-1,), execute_delay_ms=1500, blocking=True)
    server = serve(tmp_path)
    body = json.dumps({"inputs": [{"name": "INPUT0", "shape": [1, 1], "datatype": "FP32",
                                   "data": [1]}]}).encode()
    head = (f"POST /v2/models/slow/infer HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n"
            "\r\n").encode()
    host, port = server.http.split(":")
    pending = 'nv_inference_pending_request_count{model="slow",version="1"}'
    sockets = [socket.create_connection((host, int(port))) for _ in range(3)]
    sockets[0].sendall(head + body)
    wait_for(lambda: counters(server)["proa_in_flight_bytes"] > 0 and
             counters(server)[pending] == 0, "the first one runs")
    for connection in sockets[1:]:
        connection.sendall(head + body)
    wait_for(lambda: counters(server)[pending] == 2, "two wait")
    for connection in sockets[1:]:
        connection.close()
    key = 'nv_inference_request_failure{model="slow",version="1",reason="CANCELED"}'
    wait_for(lambda: counters(server)[key] == 2, "the queued requests are dropped", limit_s=2)
    sockets[0].close()


def test_live_before_ready(proa, tmp_path):
    """Ports open first, models load after: a health probe gets an answer during a long load."""
    for i in range(30):
        write_identity(tmp_path, f"model{i}", dims=(-1,))
    server = ProaServer(tmp_path, command=(proa,))
    try:
        server.wait_listening()
        assert server.get("/v2/health/live")[0] == 200
        server.wait_ready()
        with tritonclient.http.InferenceServerClient(server.http) as client:
            assert len(client.get_model_repository_index()) == 30
        server.stop()
    finally:
        server.kill()


@pytest.mark.parametrize("arguments,words", [
    ((), "A command is missing"),
    (("bogus",), "bogus"),
    (("serve", "--model-repositry", "."), "--model-repositry"),
    (("serve",), "--model-repository is required"),
    (("serve", "--model-repository", ".", "--http-port", "70000"), "--http-port"),
    (("serve", "--model-repository", ".", "--model-control-mode", "sometimes"), "none"),
    (("serve", "--model-repository", ".", "--nonsense"), "--nonsense"),
])
def test_bad_command_lines_say_what_is_wrong(proa, arguments, words):
    done = run_proa(proa, *arguments)
    assert done.returncode == 2
    assert words in done.stderr + done.stdout
