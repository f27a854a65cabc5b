"""Inputs that the fuzzers start from, made of the cases of the unit tests."""
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]


def config_text():
    for path in sorted((ROOT / "src/config/cases").glob("*.pbtxt")):
        yield path.stem, path.read_bytes()


def config_json():
    for name, text in config_text():
        if text.lstrip().startswith(b"{"):
            yield name, text
    # One that states every kind of value; the others come from the kept corpus.
    yield "some", (b'{"name":"model","max_batch_size":8,"input":[{"name":"x","data_type":"TYPE_FP32",'
                   b'"dims":[3,-1],"reshape":{"shape":[]}}],"version_policy":{"specific":{"versions":'
                   b'[1]}},"dynamic_batching":{"priority_levels":2,"default_priority_level":1,'
                   b'"priority_queue_policy":{"1":{"timeout_action":"DELAY"}}},"parameters":{"k":'
                   b'{"string_value":"v"}},"model_metrics":{"metric_control":[{"metric_identifier":'
                   b'{"family":"f"},"histogram_options":{"buckets":[0.5,"Infinity"]}}]}}')


def unescape(text):
    """Of the binary parts of infer_json.txt: \\xNN is a byte; line ends are not part of it."""
    joined = text.replace("\n", "")
    return re.sub(rb"\\x([0-9a-fA-F]{2})", lambda match: bytes([int(match[1], 16)]),
                  joined.encode())


def infer_json():
    text = (ROOT / "src/protocol/cases/infer_json.txt").read_text()
    for name, case in re.findall(r"^=== ([^\n]*)\n(.*?)(?=^=== |\Z)", text, re.M | re.S):
        request = case.split("--- expect")[0]
        json, _, binary = request.partition("--- binary\n")
        body = json.rstrip("\n").encode()
        size = len(body) if binary else 0xffff
        yield re.sub(r"\W+", "_", name), size.to_bytes(2, "little") + body + unescape(binary)


def http1():
    head = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: h\r\n"
    yield "length", b"\x20" + head + b"Content-Length: 3\r\n\r\nabc"
    yield "chunks", (b"\x05" + head + b"Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n1f\r\n" +
                     b"x" * 31 + b"\r\n0\r\nTrailer: 1\r\n\r\n")
    yield "many", (b"\x05" + head + b"Expect: 100-continue\r\nConnection: keep-alive, close\r\n"
                   b"Inference-Header-Content-Length: 7\r\nAccept-Encoding: gzip\r\n\r\n")
    yield "old", b"\x01GET / HTTP/1.0\r\n\r\n"


def frame(kind, flags, stream, payload=b""):
    return len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def connection():
    for name, bytes_of in http1():
        yield f"http1_{name}", b"\x00\x10" + bytes_of[1:]
        yield f"http1_parts_{name}", b"\x06\x30" + bytes_of[1:]
    # :method POST, :scheme http, :path /, :authority h, te trailers
    headers = b"\x83\x86\x84\x41\x01h\x40\x02te\x08trailers"
    get = b"\x82\x86\x84\x41\x01h"
    settings = frame(4, 0, 0)
    yield "http2_get", b"\x01\x18" + settings + frame(1, 5, 1, get)
    yield "http2_post", (b"\x01\x40" + settings + frame(1, 4, 1, headers) + frame(0, 0, 1, b"abc") +
                         frame(0, 1, 1, b"def"))
    yield "http2_stream", (b"\x0b\x30" + settings + frame(1, 4, 1, headers) +
                           frame(0, 0, 1, b"\0\0\0\0\x03abc") + frame(8, 0, 1, b"\0\0\x10\0") +
                           frame(6, 0, 0, b"12345678") + frame(0, 1, 1, b""))
    yield "http2_reset", (b"\x01\x30" + settings + frame(1, 4, 1, headers) +
                          frame(3, 0, 1, b"\0\0\0\x08") + frame(1, 5, 3, get) +
                          frame(7, 0, 0, b"\0\0\0\0\0\0\0\0"))
    yield "http2_padded", (b"\x01\x00" + frame(4, 0, 0, b"\0\x04\0\0\x10\0") +
                           frame(1, 0x2c, 1, b"\x02\0\0\0\0\x10" + headers + b"\0\0") +
                           frame(0, 9, 1, b"\x01a\0") + frame(9, 4, 1, b""))


def field(number, payload):
    return bytes([number << 3 | 2, len(payload)]) + payload


def infer_proto():
    tensor = field(1, b"x") + field(2, b"FP32") + field(3, b"\x01\x02")
    yield "raw", field(1, b"m") + field(3, b"id") + field(5, tensor) + field(7, b"12345678")
    yield "typed", field(1, b"m") + field(5, tensor + field(5, field(6, b"\0\0\0\0\0\0\x80\x3f")))
    yield "bytes", field(5, field(1, b"b") + field(2, b"BYTES") + field(3, b"\x02") +
                         field(5, field(8, b"one") + field(8, b"")))
    parameter = field(1, b"sequence_id") + field(2, b"\x10\x05")
    yield "parameters", field(4, parameter) + field(6, field(1, b"y") + field(
        2, field(1, b"classification") + field(2, b"\x10\x03")))


def grpc_messages():
    for number in range(40):
        yield f"empty_{number}", bytes([number])
        yield f"name_{number}", bytes([number]) + field(1, b"name") + field(2, b"\x0a\x01x")


def raw_bytes():
    words = b"".join(len(word).to_bytes(4, "little") + word for word in (b"one", b"", b"three"))
    yield "words", b"\x0c\x01\x02" + words
    yield "floats", b"\x0a\x82\x03\xff" + bytes(64)
    yield "scalar", b"\x02\x00\x01"


def picture():
    for path in sorted((ROOT / "src/image/testing/cases").glob("*")):
        if path.suffix != ".ppm":
            yield path.name, b"\x45\x00\x20" + path.read_bytes()


SEEDS = {function.__name__: function
         for function in (config_json, config_text, connection, grpc_messages, http1, infer_json,
                          infer_proto, picture, raw_bytes)}


def write(target, folder):
    """Writes the seeds of that target into `folder`, one a file."""
    for name, content in SEEDS[target]():
        (folder / name).write_bytes(content)
