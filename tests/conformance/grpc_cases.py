"""gRPC calls for both servers: good, bad and odd."""
import struct

import grpc
from tritonclient.grpc import service_pb2

from exchange import GrpcCase
from http_cases import VALUES
from repository import TYPES

CONTENTS = {"BOOL": "bool", "UINT8": "uint", "UINT16": "uint", "UINT32": "uint", "UINT64": "uint64",
            "INT8": "int", "INT16": "int", "INT32": "int", "INT64": "int64", "FP32": "fp32",
            "FP64": "fp64", "BYTES": "bytes"}
PACKED_ROW = struct.pack("<4f", 1, 2.5, -3, 0)


def request(model="row", datatype="FP32", shape=(1, 4), raw=PACKED_ROW, name="INPUT0", version="",
            request_id="", outputs=(), **parameters):
    message = service_pb2.ModelInferRequest(model_name=model, model_version=version, id=request_id)
    message.inputs.add(name=name, datatype=datatype, shape=shape)
    if raw is not None:
        message.raw_input_contents.append(raw)
    for output in outputs:
        message.outputs.add(name=output)
    set_parameters(message, parameters)
    return message


def set_parameters(message, parameters):
    for key, value in parameters.items():
        kind = {bool: "bool_param", int: "int64_param", str: "string_param",
                float: "double_param"}[type(value)]
        setattr(message.parameters[key], kind, value)


def infer(name, message, **options):
    return GrpcCase(f"infer-{name}", "ModelInfer", [message], **options)


def types():
    for datatype in TYPES:
        model, (values, packed) = f"t_{datatype.lower()}", VALUES[datatype]
        yield infer(f"{datatype}-raw", request(model, datatype, [2], packed))
        yield infer(f"{datatype}-empty", request(model, datatype, [0], b""))
        yield infer(f"{datatype}-cut", request(model, datatype, [2], packed[:-1]))
        if datatype not in CONTENTS:
            continue
        typed = request(model, datatype, [2], None)
        contents = getattr(typed.inputs[0].contents, CONTENTS[datatype] + "_contents")
        contents.extend([value.encode() for value in values] if datatype == "BYTES" else values)
        yield infer(f"{datatype}-typed", typed)
        both = service_pb2.ModelInferRequest()
        both.CopyFrom(typed)
        both.raw_input_contents.append(packed)
        yield infer(f"{datatype}-typed-and-raw", both)
        fewer = service_pb2.ModelInferRequest()
        fewer.CopyFrom(typed)
        del getattr(fewer.inputs[0].contents, CONTENTS[datatype] + "_contents")[1:]
        yield infer(f"{datatype}-typed-too-few", fewer)
    wrong = request("t_int32", "INT32", [2], None)
    wrong.inputs[0].contents.fp32_contents.extend([1, 2])
    yield infer("typed-in-the-wrong-field", wrong)
    narrow = request("t_int8", "INT8", [2], None)
    narrow.inputs[0].contents.int_contents.extend([1, 300])
    yield infer("typed-beyond-int8", narrow)


def odd():
    for name, shape in {"batch-4": [4, 4], "batch-5": [5, 4], "batch-0": [0, 4], "no-batch": [4],
                        "wrong-extent": [1, 5], "negative": [-1, 4], "huge": [2**62, 4],
                        "overflow": [2**32, 2**32], "empty": []}.items():
        rows = shape[0] if name.startswith("batch") else 1
        yield infer(f"shape-{name}", request(shape=shape, raw=PACKED_ROW * rows))
    yield infer("too-few-bytes", request(raw=PACKED_ROW[:-1]))
    yield infer("too-many-bytes", request(raw=PACKED_ROW + b"x"))
    yield infer("no-bytes", request(raw=None))
    yield infer("unknown-input", request(name="OTHER"))
    yield infer("no-input-name", request(name=""))
    yield infer("unknown-output", request(outputs=["OTHER"]))
    yield infer("output-twice", request(outputs=["OUTPUT0", "OUTPUT0"]))
    yield infer("one-output", request(outputs=["OUTPUT0"]))
    yield infer("wrong-datatype", request(datatype="INT32"))
    yield infer("unknown-datatype", request(datatype="FP99"))
    yield infer("no-datatype", request(datatype=""))
    yield infer("no-inputs", service_pb2.ModelInferRequest(model_name="row"))
    yield infer("no-model", service_pb2.ModelInferRequest())
    yield infer("id", request(request_id="request 7"))
    yield infer("id-with-error", request(request_id="7", shape=[1, 5]))
    twice = request()
    twice.inputs.add().CopyFrom(twice.inputs[0])
    twice.raw_input_contents.append(PACKED_ROW)
    yield infer("input-twice", twice)
    more_raw = request()
    more_raw.raw_input_contents.append(b"")
    yield infer("more-raw-contents-than-inputs", more_raw)
    for version in ("1", "2", "0", "abc", "-1"):
        yield infer(f"version-{version}", request(version=version))
    for model, version in (("versions", "1"), ("versions", "2"), ("versions", ""), ("latest", ""),
                           ("nobody", ""), ("broken", ""), ("decoupled", "")):
        yield infer(f"model-{model}-{version or 'none'}", request(model, shape=[4],
                                                                  version=version))
    yield infer("not-protobuf", b"\xff\xff\xff")
    yield infer("empty-message", b"")
    yield infer("deadline", request("slow"), timeout=0.1)
    large = request("t_fp32", shape=[5000], raw=bytes(20_000))
    for compression in (grpc.Compression.Gzip, grpc.Compression.Deflate):
        yield infer(f"compressed-{compression.name}", large, compression=compression)


def parameters():
    for name, values in {"text": {"mine": "abc"}, "integer": {"mine": 5}, "negative": {"mine": -5},
                         "true": {"mine": True}, "fraction": {"mine": 0.5},
                         "several": {"a": 1, "b": "two"}}.items():
        yield infer(f"parameter-{name}", request("echo", shape=[4], **values))
    for name in ("sequence_id", "sequence_start", "sequence_end", "priority", "timeout"):
        for kind, value in {"number": 1, "text": "x", "true": True, "negative": -1}.items():
            yield infer(f"parameter-{name}-{kind}", request(**{name: value}))
    yield infer("parameter-reserved", request(triton_mine=1))
    yield infer("parameter-empty-final", request(triton_enable_empty_final_response=True))
    for level in (0, 1, 2, 3):
        yield infer(f"parameter-priority-level-{level}", request("dynamic", priority=level))
    for count in (1, 2, 9, 0, -1):
        message = request("labels")
        message.outputs.add(name="OUTPUT0").parameters["classification"].int64_param = count
        yield infer(f"classification-{count}", message)
    text = request("labels")
    text.outputs.add(name="OUTPUT0").parameters["classification"].string_param = "2"
    yield infer("classification-text", text)
    shared = request(raw=None)
    shared.inputs[0].parameters["shared_memory_region"].string_param = "r"
    shared.inputs[0].parameters["shared_memory_byte_size"].int64_param = 16
    yield infer("shared-memory", shared)


def control():
    def call(method, title, /, **fields):
        message = getattr(service_pb2, method + "Request")(**fields)
        return GrpcCase(f"{method}-{title}", method, [message])
    for method in ("ServerLive", "ServerReady", "ServerMetadata"):
        yield call(method, "plain")
    for method in ("ModelReady", "ModelMetadata", "ModelConfig", "ModelStatistics"):
        for model, version in (("row", ""), ("row", "1"), ("row", "2"), ("row", "abc"),
                               ("nobody", ""), ("broken", ""), ("versions", ""), ("versions", "3"),
                               ("latest", ""), ("", "")):
            if method == "ModelStatistics" and (model, version) in (("", ""), ("row", ""),
                                                                    ("row", "1")):
                continue  # depends on every case before
            yield call(method, f"{model or 'none'}-{version or 'none'}", name=model,
                       version=version)
    for model in ("two", "matrix", "text", "labels", "dynamic", "decoupled", "optional", "echo"):
        yield call("ModelMetadata", model, name=model)
        yield call("ModelConfig", model, name=model)
    yield call("ModelStatistics", "counted", name="counted")
    yield call("RepositoryIndex", "all")
    yield call("RepositoryIndex", "ready", ready=True)
    yield call("RepositoryIndex", "by-name", repository_name="mine")
    yield call("RepositoryModelLoad", "in-mode-none", model_name="row")
    yield call("RepositoryModelUnload", "in-mode-none", model_name="row")
    yield call("SystemSharedMemoryStatus", "all")
    yield call("CudaSharedMemoryStatus", "all")
    yield call("SystemSharedMemoryRegister", "one", name="r", key="/r", byte_size=16)
    yield call("SystemSharedMemoryUnregister", "all")
    yield call("TraceSetting", "read")
    yield call("LogSettings", "read")
    for name, (key, kind, value) in {
            "info": ("log_info", "bool_param", True), "file": ("log_file", "string_param", "/tmp/x"),
            "unknown": ("log_more", "bool_param", True),
            "wrong-type": ("log_info", "string_param", "yes"),
            "wrong-format": ("log_format", "string_param", "xml"),
            "level": ("log_verbose_level", "uint32_param", 0)}.items():
        message = service_pb2.LogSettingsRequest()
        setattr(message.settings[key], kind, value)
        yield GrpcCase(f"LogSettings-{name}", "LogSettings", [message])


def streams():
    def stream(name, *messages, metadata=()):
        return GrpcCase(f"stream-{name}", "ModelStreamInfer", list(messages), metadata)
    good, bad = request(request_id="a"), request(request_id="b", shape=[1, 5])
    unknown = request("nobody", request_id="c")
    final = request("decoupled", shape=[4], request_id="d", triton_enable_empty_final_response=True)
    yield stream("one", good)
    yield stream("three", good, request(request_id="2"), request("t_fp32", shape=[4]))
    yield stream("error-between", good, bad, unknown, good)
    yield stream("empty")
    yield stream("errors-end-it", good, bad, good, metadata=(("triton_grpc_error", "true"),))
    yield stream("decoupled", request("decoupled", shape=[4], request_id="d"))
    yield stream("decoupled-empty-final", final)
    yield stream("empty-final-on-ordinary-model",
                 request(request_id="e", triton_enable_empty_final_response=True))


def queues():
    """The models take 300 ms, one request at a time; a stream keeps the order."""
    def stream(title, *messages):
        return GrpcCase(f"queue-{title}", "ModelStreamInfer", list(messages))

    def waits(model, title, **parameters):
        return request(model, request_id=title, **parameters)
    yield stream("timeout-without-default", waits("slow", "1"), waits("slow", "2", timeout=50_000))
    yield stream("timeout-below-default", waits("patient", "1"),
                 waits("patient", "2", timeout=50_000))
    yield stream("long-timeout", waits("patient", "1"), waits("patient", "2", timeout=5_000_000))


def cases():
    return [case for group in (types, odd, parameters, control, streams, queues) for case in group()]
