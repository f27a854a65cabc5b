"""One request to one server, and its answer in a form that can be compared."""
import dataclasses
import gzip
import http.client
import json
import socket
import struct
import zlib

import grpc
from google.protobuf import json_format
from tritonclient.grpc import service_pb2

TIMEOUT_S = 10
SERVICE = "/inference.GRPCInferenceService/"


@dataclasses.dataclass
class HttpCase:
    """One HTTP request. head and body go out as they are, with Host and a length unless `bare`."""

    name: str
    method: str
    path: str
    body: bytes = b""
    headers: dict = dataclasses.field(default_factory=dict)
    version: str = "HTTP/1.1"
    bare: bool = False

    def bytes(self):
        headers = dict(self.headers)
        if not self.bare:
            headers = {"Host": "localhost", **headers}
            if self.body or self.method == "POST":
                headers.setdefault("Content-Length", str(len(self.body)))
        lines = [f"{self.method} {self.path} {self.version}",
                 *(f"{key}: {value}" for key, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode("latin-1") + self.body


@dataclasses.dataclass
class GrpcCase:
    """One gRPC call with one message, or a stream of several. Bytes are sent as they are."""

    name: str
    method: str
    messages: list
    metadata: tuple = ()
    timeout: float = TIMEOUT_S
    compression: grpc.Compression = grpc.Compression.NoCompression

    @property
    def streams(self):
        return self.method == "ModelStreamInfer"


def unpack(body, encoding):
    if encoding == "gzip":
        return gzip.decompress(body)
    return zlib.decompress(body) if encoding == "deflate" else body


def binary_values(datatype, data):
    """The elements of a binary tensor: BYTES as hex strings, others as one hex string."""
    if datatype != "BYTES":
        return data.hex()
    values = []
    while data:
        (size,) = struct.unpack_from("<I", data)
        values.append(data[4:4 + size].hex())
        data = data[4 + size:]
    return values


def join_binary(answer, tail):
    """Puts the bytes behind an infer answer's JSON into its outputs."""
    for output in answer.get("outputs", []):
        size = output.get("parameters", {}).get("binary_data_size")
        if size is not None:
            output["binary"] = binary_values(output["datatype"], tail[:size])
            tail = tail[size:]
    if tail:
        answer["bytes that belong to no output"] = tail.hex()
    return answer


def decode_body(headers, body):
    body = unpack(body, headers.get("content-encoding"))
    length = headers.get("inference-header-content-length")
    head, tail = (body[:int(length)], body[int(length):]) if length else (body, b"")
    try:
        answer = json.loads(head)
    except ValueError:
        return body.decode(errors="replace")
    return join_binary(answer, tail) if isinstance(answer, dict) else answer


# Headers that clients read.
READ_HEADERS = ("content-type", "content-encoding", "allow")


def ask_http(address, case):
    """{aspect: value}: status, the headers that clients read, the body or the error."""
    host, port = address.split(":")
    with socket.create_connection((host, int(port)), timeout=TIMEOUT_S) as connection:
        connection.sendall(case.bytes())
        response = http.client.HTTPResponse(connection, method=case.method)
        try:
            response.begin()
            body = response.read()
        except (http.client.HTTPException, ConnectionError):
            return {"status": 0}  # no answer
        except TimeoutError:
            return {"status": f"no answer within {TIMEOUT_S} s"}
    headers = {key.lower(): value for key, value in response.getheaders()}
    answer = {"status": response.status, "header": {name: headers.get(name) for name in READ_HEADERS}}
    answer["header"]["inference-header-content-length"] = (
        "inference-header-content-length" in headers)
    decoded = decode_body(headers, body)
    if isinstance(decoded, dict) and set(decoded) == {"error"}:
        answer["error"] = decoded["error"]
    else:
        answer["body"] = decoded
    return answer


def message_dict(message):
    """A message with all its fields; raw tensors as hex."""
    values = json_format.MessageToDict(message, preserving_proto_field_name=True,
                                       always_print_fields_with_no_presence=True)
    for part in (values, values.get("infer_response", {})):
        outputs = part.get("outputs", [])
        raw = getattr(message, "infer_response", message)
        if "raw_output_contents" in part:
            part["raw_output_contents"] = [
                binary_values(output["datatype"], content)
                for output, content in zip(outputs, raw.raw_output_contents)]
    if values.get("error_message"):
        values["error"] = values.pop("error_message")
    return values


def response_type(method):
    return getattr(service_pb2, method + "Response")


def serialize(message):
    return message if isinstance(message, bytes) else message.SerializeToString()


def ask_grpc(channel, case):
    """{aspect: value}: status, error, body (of a stream: a list)."""
    kind = channel.stream_stream if case.streams else channel.unary_unary
    call = kind(SERVICE + case.method, request_serializer=serialize,
                response_deserializer=response_type(case.method).FromString)
    options = {"metadata": case.metadata, "timeout": case.timeout, "compression": case.compression}
    body = []
    try:
        if case.streams:
            for message in call(iter(case.messages), **options):
                body.append(message_dict(message))
        else:
            body = message_dict(call(case.messages[0], **options))
    except grpc.RpcError as error:
        answer = {"status": error.code().name, "error": error.details()}
        return answer | ({"body": body} if body else {})
    return {"status": "OK", "body": body}
