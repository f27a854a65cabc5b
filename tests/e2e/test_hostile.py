"""What strangers send: after each attack the server lives, answers others rightly, and has its memory back."""
import concurrent.futures
import contextlib
import gzip
import json
import pathlib
import re
import resource
import socket
import struct
import time

import numpy as np
import pytest
from clients import PROTOCOLS, connect, infer
from hostile import (CONTINUATION, DATA, END_HEADERS, END_STREAM, HEADERS, INFER, NO_WINDOW, PING,
                     PRIORITY, REFLECTION, RST_STREAM, SETTINGS, STREAM, field, frame, grpc_head,
                     message, raw_http1, raw_http2)
from repositories import write_identity
from tritonclient.grpc import service_pb2

ENHANCE_YOUR_CALM = 11
BUDGET = 64 << 20


@pytest.fixture
def server(tmp_path, serve):
    """A server with little memory; checked after the attack."""
    write_identity(tmp_path, "echo", dims=(-1,))
    write_identity(tmp_path, "numbers", data_type="INT64", dims=(-1,))
    write_identity(tmp_path, "text", data_type="STRING", dims=(-1,))
    write_identity(tmp_path, "slow", dims=(-1,), blocking=True, execute_delay_ms=20)
    server = serve(tmp_path, "--max-in-flight-bytes", str(BUDGET))
    before = resident_bytes(server)
    yield server
    for protocol in PROTOCOLS:
        values = np.arange(16, dtype=np.float32).reshape(1, 16)
        with connect(server, protocol) as (api, client):
            np.testing.assert_array_equal(infer(api, client, "echo", values), values)
    wait_for(lambda: gauges(server) == (0, 0), "bytes in flight and pending requests are 0")
    assert resident_bytes(server) < before + 4 * BUDGET


def resident_bytes(server):
    pages = int(pathlib.Path(f"/proc/{server.pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def gauges(server):
    """(bytes in flight, pending requests)"""
    text = server.get("/metrics", "metrics")[1].decode()
    pending = re.findall(r"^nv_inference_pending_request_count\{.*\} (\d+)", text, re.MULTILINE)
    return int(re.search(r"^proa_in_flight_bytes (\d+)", text, re.MULTILINE)[1]), sum(map(int, pending))


def wait_for(condition, what, limit_s=20):
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"after {limit_s} s still not: {what}"
        time.sleep(0.01)


def request(model="echo", data_type="FP32", shape=(1, 4), raw=b"\0" * 16, name="INPUT0", **fields):
    """A serialised ModelInferRequest."""
    proto = service_pb2.ModelInferRequest(model_name=model, **fields)
    proto.inputs.add(name=name, datatype=data_type, shape=shape)
    if raw is not None:
        proto.raw_input_contents.append(raw)
    return proto.SerializeToString()


def rest(server, body, model="echo", head=""):
    return raw_http1(server.http, (f"POST /v2/models/{model}/infer HTTP/1.1\r\nHost: test\r\n{head}"
                                   f"Content-Length: {len(body)}\r\n\r\n").encode() + body)


def tensor(**members):
    return {"name": "INPUT0", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4], **members}


DEEP = b"[" * 100_000
BAD_BODIES = {
    "nothing": b"",
    "a NUL": b"\0",
    "deep": b'{"x":' + DEEP,
    "deep data": b'{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,1],"data":' + DEEP,
    "deep data first": b'{"inputs":[{"name":"INPUT0","data":' + DEEP + b"]" * 100_000 + b"}]}",
    "not UTF-8": b'{"id":"\xed\xa0\x80","inputs":[]}',
    "two inputs members": b'{"inputs":[],"inputs":[]}',
    "many keys": json.dumps({"inputs": [], **{f"k{i}": 1 for i in range(10_000)}}).encode(),
    "many inputs": json.dumps({"inputs": [tensor()] * 5000}).encode(),
    "many outputs": json.dumps({"inputs": [tensor()], "outputs": [{"name": "OUTPUT0"}] * 5000}).encode(),
    "one input twice": json.dumps({"inputs": [tensor(), tensor()]}).encode(),
    **{f"shape {shape}": json.dumps({"inputs": [tensor(shape=shape)]}).encode()
       for shape in ([0, 4], [-1, 4], [1, -4], [2**62, 4], [2**63 - 1, 2**63 - 1], [2**64, 1], [1] * 1000)},
    **{f"classification {count}": json.dumps({"inputs": [tensor()], "outputs": [
        {"name": "OUTPUT0", "parameters": {"classification": count}}]}).encode()
       for count in (-1, 2**63 - 1, "3", 1.5)},
    **{f"binary size {size}": json.dumps({"inputs": [{
        "name": "INPUT0", "datatype": "FP32", "shape": [1, 4],
        "parameters": {"binary_data_size": size}}]}).encode() for size in (-1, 16, 2**63 - 1, "x")},
}


def test_bad_bodies_get_a_sentence(server):
    for name, body in BAD_BODIES.items():
        status, answer = rest(server, body)
        assert status == 400, name
        assert len(json.loads(answer)["error"]) in range(10, 2049), name


@pytest.mark.parametrize("length", ["-1", "1", "999", "9" * 20, "18446744073709551615", "x", ""])
def test_json_lengths_that_lie(server, length):
    body = json.dumps({"inputs": [tensor()]}).encode()
    status, answer = rest(server, body, head=f"Inference-Header-Content-Length: {length}\r\n")
    assert status == 400 and json.loads(answer)["error"]


@pytest.mark.parametrize("raw, count", [
    (b"", 1), (b"\xff\xff\xff\xff", 1), (b"\xff\xff\xff\x7fabc", 1), (b"\1\0\0", 1),
    (b"\1\0\0\0a" * 3, 2), (b"\0\0\0\0", 2**62)])
def test_strings_that_lie_about_their_length(server, raw, count):
    with raw_http2(server.grpc) as connection:
        stream = connection.open(INFER)
        connection.data(stream, message(request("text", "BYTES", (1, count), raw)), end=True)
        kind, *_ = connection.wait_stream(stream)
        assert kind == HEADERS  # trailers-only: refused with a status


def test_requests_that_two_parsers_could_read_differently(server):
    line = b"POST /v2/models/echo/infer HTTP/1.1\r\nHost: test\r\n"
    for status, head in [
            (400, b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
            (400, b"Content-Length: 5\r\nContent-Length: 6\r\n"), (400, b"Content-Length: -1\r\n"),
            (400, b"Content-Length: 99999999999999999999\r\n"), (400, b"Host: other\r\n"),
            (400, b"X: a\r\n folded\r\n"), (400, b"X: a\0b\r\n"), (400, b"X : a\r\n"),
            (501, b"Transfer-Encoding: gzip, chunked\r\n"), (413, b"Content-Length: 9223372036854775807\r\n"),
            (431, b"X: y\r\n" * 300), (431, b"X: " + b"y" * 70_000 + b"\r\n")]:
        got, answer = raw_http1(server.http, line + head + b"\r\n0\r\n\r\n")
        assert (got, bool(json.loads(answer)["error"])) == (status, True), head[:60]


@pytest.mark.parametrize("name", ["..", "%2e%2e", "..%2f..%2fetc", "a%00b", "a%0d%0aX-Evil:%201", "%ff"])
def test_model_names_that_want_out(server, name):
    status, body = server.get(f"/v2/models/{name}/config")
    assert status in (400, 404) and b"Evil: 1\r" not in body


def test_ten_thousand_pipelined_requests(server):
    count, seen = 10_000, 0
    host, port = server.http.split(":")
    with (socket.create_connection((host, int(port)), timeout=20) as connection,
          concurrent.futures.ThreadPoolExecutor(1) as sender):
        sender.submit(connection.sendall, b"GET /v2/health/live HTTP/1.1\r\nHost: t\r\n\r\n" * count)
        left = b""
        while seen < count and (more := connection.recv(1 << 18)):
            seen += (left + more).count(b"HTTP/1.1 200")
            left = more[-11:]
    assert seen == count


def test_names_too_long_for_an_error_message(server):
    """The message quotes the name: 200 kB fit into no header, and the call never ended."""
    for fields in ({"name": "n" * 200_000}, {"data_type": "d" * 200_000},
                   {"id": "i" * 200_000, "shape": (1, 5)}, {"model": "m" * 200_000}):
        with raw_http2(server.grpc) as connection:
            stream = connection.open(INFER)
            connection.data(stream, message(request(**fields)), end=True)
            kind, _, _, payload = connection.wait_stream(stream)
            assert kind == HEADERS and len(payload) < 8192
    status, answer = rest(server, json.dumps({"inputs": [tensor(name="n" * 1_000_000)]}).encode())
    assert status == 400 and len(answer) < 4096


def bomb(streams):
    """Heads of 3.9 MB each, in 1 kB."""
    long_field = field("x", "a" * 3900, first=0x40)
    for i in range(streams):
        yield frame(HEADERS, END_HEADERS, 2 * i + 1,
                    grpc_head(INFER) + (long_field if i == 0 else b"") + b"\xbe" * 1000)


@pytest.mark.parametrize("attack, why", [
    (lambda: b"".join(bomb(200)), "head_too_long"),
    (lambda: frame(SETTINGS, 0, 0) * 4000, None),
    (lambda: frame(PING, 0, 0, b"12345678") * 4000, None),
    (lambda: frame(PRIORITY, 0, 1, b"\0\0\0\0\1") * 4000, "too_many_control_frames"),
    (lambda: frame(HEADERS, END_HEADERS, 1, grpc_head(INFER)) + frame(DATA, 0, 1) * 4000,
     "too_many_control_frames"),
    (lambda: frame(HEADERS, 0, 1, grpc_head(INFER)) + frame(CONTINUATION, 0, 1, b"") * 4000, None),
    (lambda: b"".join(frame(HEADERS, END_HEADERS, 2 * i + 1, grpc_head(INFER)) +
                      frame(RST_STREAM, 0, 2 * i + 1, b"\0\0\0\x08") for i in range(12_000)),
     "too_many_resets"),
], ids=["HPACK bomb", "SETTINGS", "PING", "PRIORITY", "empty DATA", "CONTINUATION", "rapid reset"])
def test_floods_end_in_goaway(server, attack, why):
    with raw_http2(server.grpc) as connection:
        connection.send(attack())
        error, text = connection.goaway() or (ENHANCE_YOUR_CALM, why or "")
    assert error == ENHANCE_YOUR_CALM
    assert why is None or text == why


@pytest.mark.parametrize("content", [b"", b"\x38", request("nobody"), request("slow", shape=(1, 1), raw=b"\0" * 4)],
                         ids=["empty", "one byte", "refused", "slow"])
def test_streams_that_never_read_their_answers(server, content):
    """Millions of tiny messages wait: they cost more than their bytes, which counts too."""
    block = message(content) * (16_000 // (len(content) + 5))
    with contextlib.ExitStack() as connections:
        for _ in range(2):
            connection = connections.enter_context(raw_http2(server.grpc, settings=NO_WINDOW))
            for _ in range(4):
                stream = connection.open(STREAM)
                all(connection.data(stream, block) for _ in range(4_100_000 // len(block)))
        assert server.get("/v2/health/live")[0] == 200


def test_reflection_that_is_never_read(server):
    symbol = b"\x22\x1e" + b"inference.GRPCInferenceService"
    with raw_http2(server.grpc, settings=NO_WINDOW) as connection:
        for _ in range(200):
            connection.data(connection.open(REFLECTION), message(symbol) * 100)
        assert server.get("/v2/health/live")[0] == 200


def varint(number):
    out = b""
    while number >= 128:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def test_numbers_that_grow_when_unpacked(server):
    """A byte on the wire, eight in memory: refused before they are unpacked."""
    count = 20_000_000
    packed = b"\x1a" + varint(count) + bytes(count)
    model = service_pb2.ModelInferRequest(model_name="numbers")
    model.inputs.add(name="INPUT0", datatype="INT64", shape=(1, count))
    given = model.inputs[0].SerializeToString() + b"\x2a" + varint(len(packed)) + packed
    content = b"\x0a\x07numbers\x2a" + varint(len(given)) + given
    with connect(server, "grpc") as (api, client):
        call = client._channel.unary_unary(INFER)
        with pytest.raises(Exception, match="requests in flight leave room for"):
            call(content, timeout=20)


@pytest.mark.parametrize("packed, flag, encoding", [
    (gzip.compress(bytes(200_000_000)), 1, "gzip"), (b"garbage", 1, "gzip"), (b"x", 1, "identity"),
    (b"x", 2, "identity"), (b"x", 0, "br")], ids=["bomb", "garbage", "unsaid", "flag 2", "unknown"])
def test_messages_that_do_not_unpack(server, packed, flag, encoding):
    with raw_http2(server.grpc) as connection:
        stream = connection.open(INFER, ("grpc-encoding", encoding))
        connection.data(stream, message(packed, flag), end=True)
        assert connection.wait_stream(stream)[0] == HEADERS


def test_a_message_of_four_gigabytes_is_refused_by_its_prefix(server):
    with raw_http2(server.grpc) as connection:
        stream = connection.open(INFER)
        connection.data(stream, b"\0\xff\xff\xff\xff")
        assert connection.wait_stream(stream)[0] == HEADERS


def test_connections_dropped_in_the_middle(server):
    body = json.dumps({"inputs": [tensor()]}).encode()
    http = (f"POST /v2/models/slow/infer HTTP/1.1\r\nHost: test\r\nContent-Length: {len(body)}\r\n\r\n"
            ).encode() + body
    grpc = (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(SETTINGS, 0, 0) +
            frame(HEADERS, END_HEADERS, 1, grpc_head(INFER)) +
            frame(DATA, END_STREAM, 1, message(request("slow"))))

    def drop(i):
        content = (http, grpc)[i % 2]
        host, port = (server.http, server.grpc)[i % 2].split(":")
        with socket.create_connection((host, int(port)), timeout=20) as connection:
            connection.sendall(content[:len(content) * (i % 7 + 1) // 7])
            if i % 3 == 0:  # reset instead of an orderly end
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(drop, range(10_000)))


def test_protocols_at_the_wrong_door(server):
    live = b"GET /v2/health/live HTTP/1.1\r\nHost: test\r\n\r\n"
    assert raw_http1(server.grpc, live)[0] == 404
    assert raw_http1(server.metrics, live)[0] == 404
    assert raw_http1(server.http, b"\x16\x03\x01\x02\0\1\0\1\xfc\3\3" + bytes(200))[0] == 400
    with raw_http2(server.http) as connection:
        stream = connection.open(INFER)
        connection.data(stream, message(request()), end=True)
        assert connection.wait_stream(stream)[0] == DATA  # 404 and a sentence
