"""A client without manners: raw HTTP/2 frames and raw sockets, for what a proper library won't send."""
import contextlib
import re
import socket
import struct

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, ACK, END_HEADERS = 1, 1, 4
INFER = "/inference.GRPCInferenceService/ModelInfer"
STREAM = "/inference.GRPCInferenceService/ModelStreamInfer"
REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
NO_WINDOW = struct.pack(">HI", 4, 0)  # SETTINGS_INITIAL_WINDOW_SIZE 0: the server may send no DATA


def frame(kind, flags, stream, payload=b""):
    return (len(payload).to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big")
            + payload)


def _string(text):
    text = text.encode() if isinstance(text, str) else text
    if len(text) < 127:
        return bytes([len(text)]) + text
    size, rest = [127], len(text) - 127
    while rest >= 128:
        size.append(rest & 127 | 128)
        rest >>= 7
    return bytes([*size, rest]) + text


def field(name, value, first=0):
    """One header field in HPACK, literally; first=0x40 also puts it into the table."""
    return bytes([first]) + _string(name) + _string(value)


def grpc_head(path, *more):
    fields = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "test"),
              ("te", "trailers"), ("content-type", "application/grpc"), *more]
    return b"".join(field(name, value) for name, value in fields)


def message(content, flag=0):
    """A gRPC message in its frame."""
    return bytes([flag]) + struct.pack(">I", len(content)) + content


class RawHttp2:
    """One connection; settings: the payload of its first SETTINGS. Headers are not decoded."""

    def __init__(self, address, settings=b"", timeout=20):
        host, port = address.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=timeout)
        self._bytes = b""
        self._next = 1
        self.send(PREFACE + frame(SETTINGS, 0, 0, settings))
        self.read_until(lambda kind, flags, *_: kind == SETTINGS and flags & ACK)

    def send(self, data):
        """False when the server takes no more."""
        try:
            self.socket.sendall(data)
            return True
        except OSError:
            return False

    def open(self, path, *more, end=False):
        stream, self._next = self._next, self._next + 2
        self.send(frame(HEADERS, END_HEADERS | (END_STREAM if end else 0), stream,
                        grpc_head(path, *more)))
        return stream

    def data(self, stream, content, end=False):
        for at in range(0, max(len(content), 1), 16384):
            last = at + 16384 >= len(content)
            if not self.send(frame(DATA, END_STREAM if end and last else 0, stream,
                                   content[at:at + 16384])):
                return False
        return True

    def read(self):
        """The next frame as (kind, flags, stream, payload); None at the end of the connection."""
        while len(self._bytes) < 9 or len(self._bytes) < 9 + int.from_bytes(self._bytes[:3], "big"):
            try:
                more = self.socket.recv(1 << 16)
            except ConnectionError:
                more = b""
            if not more:
                return None
            self._bytes += more
        end = 9 + int.from_bytes(self._bytes[:3], "big")
        kind, flags = self._bytes[3:5]
        stream = int.from_bytes(self._bytes[5:9], "big")
        payload, self._bytes = self._bytes[9:end], self._bytes[end:]
        if kind == SETTINGS and not flags & ACK:
            self.send(frame(SETTINGS, ACK, 0))
        return kind, flags, stream, payload

    def read_until(self, wanted):
        """The first frame that is wanted(kind, flags, stream, payload), or None."""
        while (found := self.read()) is not None:
            if wanted(*found):
                return found
        return None

    def wait_stream(self, stream):
        """The frame that ended the stream: HEADERS, DATA, RST_STREAM, or a GOAWAY; None: cut off."""
        return self.read_until(lambda kind, flags, of, _: kind == GOAWAY or of == stream and (
            kind == RST_STREAM or kind in (DATA, HEADERS) and flags & END_STREAM))

    def goaway(self):
        """(error, text) of the server's GOAWAY; None when the connection ended without."""
        found = self.read_until(lambda kind, *_: kind == GOAWAY)
        return found and (int.from_bytes(found[3][4:8], "big"), found[3][8:].decode())

    def close(self):
        self.socket.close()


@contextlib.contextmanager
def raw_http2(address, **options):
    connection = RawHttp2(address, **options)
    try:
        yield connection
    finally:
        connection.close()


def raw_http1(address, request, timeout=20):
    """Sends the bytes; (status, body) of the first answer, status 0 without one."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        with contextlib.suppress(ConnectionError):
            connection.sendall(request)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while (length := _length(answer)) is None and (more := connection.recv(1 << 16)):
                answer += more
    head, _, body = answer.partition(b"\r\n\r\n")
    return (int(head.split()[1]) if head else 0), body[:length]


def _length(answer):
    """That of the first answer's body, once it is whole."""
    head, separator, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"content-length: (\d+)", head)
    whole = separator and length and len(body) >= int(length[1])
    return int(length[1]) if whole else None
