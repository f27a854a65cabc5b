"""What strangers send over HTTP/1.1: bombs, floods, lies, and hands that never let go."""
import contextlib
import gzip
import json
import re
import socket
import threading
import time
import zlib

import pytest
from hostile import raw_http1
from test_hostile import BUDGET, rest, server, tensor, wait_for  # noqa: F401 (server is a fixture)

LINE = "POST /v2/models/echo/infer HTTP/1.1\r\nHost: test\r\n"
MANY = 1_000_000


def deflate(content):
    return zlib.compress(content)


@pytest.mark.parametrize("encoding, pack", [("gzip", gzip.compress), ("deflate", deflate)])
@pytest.mark.parametrize("content", [
    bytes(200_000_000), b" " * 200_000_000 + b"{}", b'{"inputs":[' + b"[" * 100_000_000],
    ids=["zeros", "blanks", "brackets"])
def test_bodies_that_grow_a_thousandfold(server, encoding, pack, content):
    status, answer = rest(server, pack(content), head=f"Content-Encoding: {encoding}\r\n")
    # Too large for a request, or, as this server has little memory, for what is left of it.
    assert status in (413, 503) and "67108864" in json.loads(answer)["error"]


@pytest.mark.parametrize("encoding, body, status", [
    ("gzip", b"rubbish", 400), ("deflate", b"rubbish", 400), ("gzip", gzip.compress(b"{}")[:-4], 400),
    ("gzip", gzip.compress(gzip.compress(b"{}")), 400), ("br", b"{}", 501),
    ("gzip, gzip", gzip.compress(gzip.compress(b"{}")), 501)],
    ids=["rubbish-gzip", "rubbish-deflate", "cut", "twice-said-once", "unknown", "twice"])
def test_bodies_that_do_not_unpack(server, encoding, body, status):
    got, answer = rest(server, body, head=f"Content-Encoding: {encoding}\r\n")
    assert got == status and json.loads(answer)["error"]


def numbers(data, data_type="FP32"):
    return (b'{"inputs":[{"name":"INPUT0","datatype":"%s","shape":[1,1],"data":[%s]}]}'
            % (data_type.encode(), data))


@pytest.mark.parametrize("model, data_type, data", [
    ("numbers", "INT64", b"99999999999999999999"), ("numbers", "INT64", b"-9223372036854775809"),
    ("numbers", "INT64", b"1.5"), ("numbers", "INT64", b"1e400"), ("numbers", "INT64", b'"1"'),
    ("numbers", "INT64", b"true"), ("numbers", "INT64", b"NaN"), ("numbers", "INT64", b"0x10"),
    ("numbers", "INT64", b"1" * 100_000), ("echo", "FP32", b'"1"'), ("echo", "FP32", b"{}"),
    ("echo", "FP32", b"null"), ("echo", "FP32", b"1_0"), ("echo", "FP32", b"--1"),
    ("echo", "FP32", b"."), ("echo", "FP64", b"1"), ("text", "BYTES", b"1"), ("echo", "NOTHING", b"1")],
    ids=lambda value: value[:24] if isinstance(value, (str, bytes)) else None)
def test_numbers_that_are_none(server, model, data_type, data):
    status, answer = rest(server, numbers(data, data_type), model=model)
    assert status == 400 and 10 <= len(json.loads(answer)["error"]) < 2049


@pytest.mark.parametrize("body", [
    b'{"inputs":[' + b",".join([b"{}"] * MANY) + b"]}",
    b'{"inputs":[' + json.dumps(tensor()).encode() + b'],"outputs":[' + b",".join([b"{}"] * MANY) + b"]}",
    b'{"inputs":[],"parameters":{' + b",".join(b'"%d":1' % i for i in range(MANY)) + b"}}",
], ids=["inputs", "outputs", "parameters"])
def test_a_million_members(server, body):
    status, answer = rest(server, body)
    assert status == 400 and json.loads(answer)["error"]


@pytest.mark.parametrize("path", [
    "/v2/models/echo/versions/%2e%2e/infer", "/v2/models/echo/versions/..%2f1/infer",
    "/v2/models/echo/versions/-1/ready", "/v2/models/echo/versions/1%00/ready",
    "/v2/models/echo/versions/99999999999999999999/ready", "/v2/models/echo/versions/1e0/ready",
    "/v2/models/%2fetc%2fpasswd/config", "/v2/models/echo%0d%0aX-Evil:%20yes/config",
    "/v2/models/" + "%41" * 3000 + "/config", "/v2/../../etc/passwd", "//etc/passwd", "/v2/%zz",
    "/v2/models/echo/versions/1/config?x=" + "y" * 4000, "http://other/v2/models/none/config"])
def test_paths_that_lead_nowhere(server, path):
    for method in ("GET", "POST"):
        status, answer = raw_http1(
            server.http, f"{method} {path} HTTP/1.1\r\nHost: t\r\nContent-Length: 0\r\n\r\n".encode())
        assert status in (200, 400, 404, 405), path
        assert status != 200 or "versions/1/config" in path
        assert b"root:" not in answer


def test_a_flood_of_chunks(server):
    """A hundred thousand chunks of one byte, with extensions: one request, and a slow one to send."""
    body = json.dumps({"inputs": [tensor()]}).encode()
    body = b" " * (100_000 - len(body)) + body
    chunks = b"".join(b"1;ext=%s\r\n%c\r\n" % (b"x" * 20, byte) for byte in body)
    head = (LINE + "Transfer-Encoding: chunked\r\n\r\n").encode()
    status, answer = raw_http1(server.http, head + chunks + b"0\r\n\r\n")
    assert (status in (200, 400, 413)), answer
    for chunk in (b"-1\r\n", b"g\r\n", b"1\r\nab\r\n", b"1" * 17 + b"\r\n"):
        assert raw_http1(server.http, head + chunk + b"\r\n\r\n")[0] == 400, chunk[:20]


def metric(server, name):
    text = server.get("/metrics", "metrics")[1].decode()
    return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.MULTILINE)[1])


def test_lengths_that_never_come(server):
    """Fifty bodies of 60 MB are announced: they fill the memory for requests, and metrics say so."""
    head = (LINE + "Content-Length: 60000000\r\n\r\n{").encode()
    with contextlib.ExitStack() as connections:
        for _ in range(50):
            host, port = server.http.split(":")
            connection = connections.enter_context(socket.create_connection((host, int(port)), timeout=20))
            connection.sendall(head)
        wait_for(lambda: metric(server, "proa_in_flight_bytes") > 0.9 * BUDGET, "the memory is full")
        assert server.get("/v2/health/ready")[0] == 200


def test_slow_hands_do_not_keep_others_waiting(server):
    """Five hundred clients that send a byte now and then; a proper one is answered at once."""
    head = (LINE + "X: " + "y" * 1000 + "\r\n").encode()
    stop = threading.Event()
    with contextlib.ExitStack() as open_connections:
        host, port = server.http.split(":")
        slow = [open_connections.enter_context(socket.create_connection((host, int(port)), timeout=20))
                for _ in range(500)]

        def drip():
            for byte in head:
                for connection in slow:
                    with contextlib.suppress(OSError):
                        connection.send(bytes([byte]))
                if stop.wait(0.02):
                    return

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            wait_for(lambda: metric(server, "proa_connections_open") >= 500, "all slow ones are connected")
            began = time.monotonic()
            for _ in range(20):
                assert rest(server, json.dumps({"inputs": [tensor()]}).encode())[0] == 200
            assert time.monotonic() - began < 10
        finally:
            stop.set()
            thread.join()


def test_nothing_sent_becomes_a_line_of_the_log(server):
    evil = "x%0a2026-01-01T00:00:00.000Z%20E%20forged%1b[31m"
    for path in (f"/v2/models/{evil}/ready", f"/v2/models/{evil}/config", f"/{evil}"):
        server.get(path)
    rest(server, json.dumps({"id": "\n2026 E forged", "inputs": [tensor(name="\r\nforged")]}).encode())
    lines = server.log().splitlines()
    assert [line for line in lines if not re.match(r"\S+T\S+Z [IWED] ", line)] == []
    assert not any(re.match(r"\S+Z E forged", line) or "\x1b" in line for line in lines)
