"""HTTP requests for both servers: good, bad and odd."""
import gzip
import json
import struct
import zlib

import numpy as np

from exchange import HttpCase
from repository import TYPES

ROW = {"name": "INPUT0", "datatype": "FP32", "shape": [1, 4], "data": [1, 2.5, -3, 0]}
# Two values of each datatype, as JSON and as bytes.
VALUES = {
    "BOOL": ([True, False], b"\x01\x00"),
    "UINT8": ([0, 255], b"\x00\xff"), "INT8": ([-128, 127], b"\x80\x7f"),
    "UINT16": ([0, 65535], struct.pack("<HH", 0, 65535)),
    "INT16": ([-32768, 32767], struct.pack("<hh", -32768, 32767)),
    "UINT32": ([0, 2**32 - 1], struct.pack("<II", 0, 2**32 - 1)),
    "INT32": ([-2**31, 2**31 - 1], struct.pack("<ii", -2**31, 2**31 - 1)),
    "UINT64": ([0, 2**64 - 1], struct.pack("<QQ", 0, 2**64 - 1)),
    "INT64": ([-2**63, 2**63 - 1], struct.pack("<qq", -2**63, 2**63 - 1)),
    "FP16": ([1.5, -2], np.array([1.5, -2], np.float16).tobytes()),
    "BF16": ([1.5, -2], b"\xc0\x3f\x00\xc0"),
    "FP32": ([0.1, -1e30], np.array([0.1, -1e30], np.float32).tobytes()),
    "FP64": ([0.1, -1e300], np.array([0.1, -1e300], np.float64).tobytes()),
    "BYTES": (["", "x\u00e9"], b"\0\0\0\0\x03\0\0\0x\xc3\xa9"),
}


def get_model(name, model, end=""):
    return HttpCase(name, "GET", f"/v2/models/{model}{end}")


def post(name, path, body, tail=b"", **headers):
    """body: an object, or the text itself; tail: bytes behind it."""
    if not isinstance(body, (bytes, str)):
        body = json.dumps(body)
    text = body.encode() if isinstance(body, str) else body
    if tail:
        headers = {"Inference-Header-Content-Length": str(len(text)), **headers}
    return HttpCase(name, "POST", path, text + tail, headers)


def infer(name, body, model="row", tail=b"", version="", headers=None):
    path = f"/v2/models/{model}{'/versions/' + version if version else ''}/infer"
    return post(name, path, body, tail, **(headers or {}))


def row(**changes):
    """A good request for `row`, with members of its input changed; None takes one away."""
    changed = {key: value for key, value in {**ROW, **changes}.items() if value is not None}
    return {"inputs": [changed]}


def types():
    for datatype in TYPES:
        model, (values, packed) = f"t_{datatype.lower()}", VALUES[datatype]
        told = {"name": "INPUT0", "datatype": datatype, "shape": [2]}
        as_json = {**told, "data": values}
        as_bytes = {**told, "parameters": {"binary_data_size": len(packed)}}
        for start, source, tail in (("json", as_json, b""), ("binary", as_bytes, packed)):
            for end, parameters in (("json", {}), ("binary", {"binary_data_output": True})):
                yield infer(f"type-{datatype}-{start}-to-{end}",
                            {"inputs": [source], "parameters": parameters}, model, tail)
        yield infer(f"type-{datatype}-empty-json", {"inputs": [{**told, "shape": [0], "data": []}]},
                    model)
        yield infer(f"type-{datatype}-empty-binary", {
            "inputs": [{**told, "shape": [0], "parameters": {"binary_data_size": 0}}],
            "parameters": {"binary_data_output": True}}, model)
        yield infer(f"type-{datatype}-too-few-bytes", {
            "inputs": [{**told, "parameters": {"binary_data_size": len(packed) - 1}}]}, model,
            packed[:-1])
        yield infer(f"type-{datatype}-raw", packed if datatype != "BYTES" else b"text", model,
                    headers={"Inference-Header-Content-Length": "0"})


def values():
    def one(name, datatype, data, shape=None):
        shape = [len(data)] if shape is None else shape
        return infer(f"value-{name}", json.dumps({"inputs": [
            {"name": "INPUT0", "datatype": datatype, "shape": shape, "data": data}]}),
            f"t_{datatype.lower()}")
    yield one("not-a-number", "FP32", [float("nan"), float("inf"), float("-inf")])
    yield one("not-a-number-64", "FP64", [float("nan"), float("inf"), float("-inf")])
    yield one("float-for-integer", "INT32", [1.5])
    yield one("whole-float-for-integer", "INT32", [2.0])
    yield one("integer-for-float", "FP32", [3])
    yield one("negative-for-unsigned", "UINT8", [-1])
    yield one("too-large-for-int8", "INT8", [300])
    yield one("too-large-for-int32", "INT32", [2**40])
    yield one("too-large-for-uint64", "UINT64", [2**64])
    yield one("too-large-for-fp32", "FP32", [1e300])
    yield one("numbers-for-bool", "BOOL", [0, 1])
    yield one("two-for-bool", "BOOL", [2])
    yield one("true-for-integer", "INT32", [True])
    yield one("text-for-number", "FP32", ["1"])
    yield one("number-for-text", "BYTES", [1])
    yield one("null-for-number", "FP32", [None])
    yield one("object-for-number", "FP32", [{}])
    yield one("text-with-escapes", "BYTES", ["a\nb\t\"\\\u0000\U0001f600"])
    yield one("text-long", "BYTES", ["x" * 5000])
    yield one("nested", "INT32", [[1, 2, 3], [4, 5, 6]], [6])
    yield one("scalar-data", "INT32", 7, [1])
    yield one("tiny-numbers", "FP32", [1e-40, 1e-46, 1.1754944e-38])
    yield one("exponents", "FP64", [1e22, 123456789012345678, 5e-324])
    yield infer("value-matrix-nested", {"inputs": [{
        "name": "INPUT0", "datatype": "INT32", "shape": [2, 3], "data": [[1, 2, 3], [4, 5, 6]]}]},
        "matrix")
    yield infer("value-matrix-flat", {"inputs": [{
        "name": "INPUT0", "datatype": "INT32", "shape": [2, 3], "data": [1, 2, 3, 4, 5, 6]}]},
        "matrix")
    yield infer("value-matrix-ragged", {"inputs": [{
        "name": "INPUT0", "datatype": "INT32", "shape": [2, 3], "data": [[1, 2], [3, 4, 5, 6]]}]},
        "matrix")
    yield infer("value-matrix-empty", {"inputs": [{
        "name": "INPUT0", "datatype": "INT32", "shape": [2, 0], "data": []}]}, "matrix")
    yield infer("value-text-rows", {"inputs": [{
        "name": "INPUT0", "datatype": "BYTES", "shape": [2, 2], "data": ["a", "b", "", "dd"]}]},
        "text")
    not_utf8 = b"\x02\0\0\0\xff\xfe"
    yield infer("value-text-not-utf8", {
        "inputs": [{"name": "INPUT0", "datatype": "BYTES", "shape": [1],
                    "parameters": {"binary_data_size": 6}}],
        "parameters": {"binary_data_output": True}}, "t_bytes", not_utf8)
    for name, data in (("length-too-large", b"\x05\0\0\0abc"), ("length-cut", b"\x01\0\0"),
                       ("one-element-too-many", b"\0\0\0\0\0\0\0\0")):
        yield infer(f"value-text-{name}", {
            "inputs": [{"name": "INPUT0", "datatype": "BYTES", "shape": [1],
                        "parameters": {"binary_data_size": len(data)}}]}, "t_bytes", data)


def shapes():
    for name, shape in {
            "batch-4": [4, 4], "batch-5": [5, 4], "batch-0": [0, 4], "no-batch": [4],
            "rank-3": [1, 2, 2], "wrong-extent": [1, 5], "negative": [-1, 4],
            "negative-inner": [1, -4], "huge": [2**62, 4], "huge-inner": [1, 2**62],
            "empty": [], "beyond-64-bit": [2**64, 4], "fraction": [1.5, 4], "text": ["1", 4],
            "not-a-list": 4, "nested": [[1, 4]], "null": None}.items():
        count = 4
        if name in ("batch-4", "batch-5", "batch-0"):
            count = shape[0] * 4
        yield infer(f"shape-{name}", row(shape=shape, data=[0.5] * count))
    yield infer("shape-product-overflow", {"inputs": [{
        "name": "INPUT0", "datatype": "INT32", "shape": [2, 2**62], "data": [1]}]}, "matrix")
    yield infer("shape-fewer-elements", row(data=[1, 2, 3]))
    yield infer("shape-more-elements", row(data=[1, 2, 3, 4, 5]))
    yield infer("shape-no-elements", row(data=[]))


def members():
    for member in ("name", "datatype", "shape", "data"):
        yield infer(f"member-no-{member}", row(**{member: None}))
        yield infer(f"member-number-as-{member}", row(**{member: 5}))
        yield infer(f"member-null-as-{member}", json.dumps({"inputs": [{**ROW, member: None}]}))
    yield infer("member-unknown-input", row(name="OTHER"))
    yield infer("member-unknown-datatype", row(datatype="FP99"))
    yield infer("member-lower-case-datatype", row(datatype="fp32"))
    yield infer("member-wrong-datatype", row(datatype="INT32", data=[1, 2, 3, 4]))
    yield infer("member-extra", {**row(), "more": {"deep": [1, {"x": None}]}})
    yield infer("member-extra-in-input", row(more=1))
    yield infer("member-input-twice", {"inputs": [ROW, ROW]})
    yield infer("member-no-inputs", {})
    yield infer("member-empty-inputs", {"inputs": []})
    yield infer("member-inputs-object", {"inputs": ROW})
    yield infer("member-input-number", {"inputs": [3]})
    yield infer("member-repeated-key", '{"inputs":[],"inputs":[%s]}' % json.dumps(ROW))
    yield infer("member-data-before-shape",
                '{"inputs":[{"data":[1,2,3,4],"shape":[1,4],"datatype":"FP32","name":"INPUT0"}]}')
    yield infer("member-id", {"id": "request 7", **row()})
    yield infer("member-id-empty", {"id": "", **row()})
    yield infer("member-id-number", {"id": 7, **row()})
    yield infer("member-id-with-error", {"id": "7", **row(shape=[1, 5])})


def two_inputs():
    first = {"name": "INPUT0", "datatype": "FP32", "shape": [1, 2], "data": [1, 2]}
    second = {"name": "INPUT1", "datatype": "INT32", "shape": [1, 2], "data": [3, 4]}
    yield infer("two-both", {"inputs": [first, second]}, "two")
    yield infer("two-other-order", {"inputs": [second, first]}, "two")
    yield infer("two-one-missing", {"inputs": [first]}, "two")
    yield infer("two-one-unknown", {"inputs": [first, {**second, "name": "INPUT9"}]}, "two")
    yield infer("two-other-batch", {"inputs": [first, {**second, "shape": [2, 2],
                                                       "data": [3, 4, 5, 6]}]}, "two")
    packed = struct.pack("<ff", 1, 2) + struct.pack("<ii", 3, 4)
    binary = [{key: value for key, value in tensor.items() if key != "data"}
              | {"parameters": {"binary_data_size": 8}} for tensor in (first, second)]
    yield infer("two-binary", {"inputs": binary}, "two", packed)
    yield infer("two-mixed", {"inputs": [first, binary[1]]}, "two", packed[8:])
    for name, outputs in {
            "one-output": [{"name": "OUTPUT1"}],
            "outputs-other-order": [{"name": "OUTPUT1"}, {"name": "OUTPUT0"}],
            "output-twice": [{"name": "OUTPUT0"}, {"name": "OUTPUT0"}],
            "output-unknown": [{"name": "OUTPUT9"}],
            "output-no-name": [{}], "no-outputs": [], "outputs-object": {"name": "OUTPUT0"},
            "one-binary": [{"name": "OUTPUT0", "parameters": {"binary_data": True}},
                           {"name": "OUTPUT1"}],
            "binary-not-bool": [{"name": "OUTPUT0", "parameters": {"binary_data": 1}}],
            }.items():
        yield infer(f"two-{name}", {"inputs": [first, second], "outputs": outputs}, "two")
    yield infer("two-all-binary-but-one", {
        "inputs": [first, second], "parameters": {"binary_data_output": True},
        "outputs": [{"name": "OUTPUT0", "parameters": {"binary_data": False}},
                    {"name": "OUTPUT1"}]}, "two")
    optional = {**first, "name": "INPUT1"}
    yield infer("optional-one", {"inputs": [optional]}, "optional")
    yield infer("optional-both", {"inputs": [first, optional]}, "optional")
    yield infer("optional-none", {"inputs": []}, "optional")


def parameters():
    def with_parameters(name, value, model="row", shape=(1, 4)):
        return infer(f"parameter-{name}", {**row(shape=list(shape)), "parameters": value}, model)
    for name, value in {"text": "abc", "integer": 5, "negative": -5, "large": 2**63, "true": True,
                        "fraction": 0.5, "null": None, "list": [1], "object": {"x": 1}}.items():
        yield with_parameters(f"custom-{name}", {"mine": value}, "echo", (4,))
    yield with_parameters("several", {"a": 1, "b": "two", "c": False}, "echo", (4,))
    yield with_parameters("not-an-object", [1])
    yield with_parameters("reserved", {"triton_enable_empty_final_response": True})
    yield with_parameters("reserved-prefix", {"triton_mine": 1})
    for name in ("sequence_start", "sequence_end", "sequence_id", "priority", "timeout"):
        for kind, value in {"number": 1, "text": "x", "true": True, "negative": -1}.items():
            yield with_parameters(f"{name}-{kind}", {name: value})
    yield with_parameters("binary-output-number", {"binary_data_output": 1})
    for level in (0, 1, 2, 3):
        yield with_parameters(f"priority-level-{level}", {"priority": level}, "dynamic")
    yield with_parameters("timeout-on-batching-model", {"timeout": 10**6}, "dynamic")


def classification():
    def classes(name, count, model="labels", data=(1, 7, 3, 5), binary=None, batch=1):
        outputs = [{"name": "OUTPUT0", "parameters": {"classification": count}}]
        if binary is not None:
            outputs[0]["parameters"]["binary_data"] = binary
        return infer(f"classification-{name}", {
            **row(shape=[batch, 4], data=list(data)), "outputs": outputs}, model)
    for count in (1, 2, 4, 9, 0):
        yield classes(f"top-{count}", count)
    yield classes("batch", 2, data=(1, 7, 3, 5, 0, -1, 9, 2), batch=2)
    yield classes("equal", 4, data=(1, 1, 1, 1))
    yield classes("without-labels", 2, "row")
    yield classes("binary", 2, binary=True)
    yield classes("negative", -1)
    yield classes("text", "2")
    yield classes("fraction", 1.5)
    for datatype, data in {"INT32": [5, -7], "UINT8": [5, 7], "FP64": [0.5, 1e10],
                           "INT64": [-5, 2**60], "BOOL": [True, False]}.items():
        yield infer(f"classification-{datatype}", {
            "inputs": [{"name": "INPUT0", "datatype": datatype, "shape": [2], "data": data}],
            "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 2}}]},
            f"t_{datatype.lower()}")
    yield infer("classification-BYTES", {
        "inputs": [{"name": "INPUT0", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}],
        "outputs": [{"name": "OUTPUT0", "parameters": {"classification": 2}}]}, "t_bytes")


def binary():
    packed = struct.pack("<4f", 1, 2, 3, 4)

    def split(name, size, tail=packed, **headers):
        body = row(data=None, parameters={"binary_data_size": size})
        return infer(f"binary-{name}", body, tail=tail, headers=headers)
    yield split("good", 16)
    yield split("size-too-large", 20)
    yield split("size-too-small", 12)
    yield split("size-negative", -1)
    yield split("size-text", "16")
    yield split("size-huge", 2**63)
    yield split("bytes-left", 16, packed + b"more")
    yield split("no-bytes", 16, b"")
    yield infer("binary-and-data", row(parameters={"binary_data_size": 16}), tail=packed)
    text = json.dumps(row(data=None, parameters={"binary_data_size": 16}))
    for name, length in {"too-long": "100000", "too-short": "10", "negative": "-1", "text": "abc",
                         "empty": "", "fraction": "1.5", "huge": "99999999999999999999"}.items():
        yield HttpCase(f"binary-header-{name}", "POST", "/v2/models/row/infer",
                       text.encode() + packed, {"Inference-Header-Content-Length": length})
    yield HttpCase("binary-header-missing", "POST", "/v2/models/row/infer",
                   text.encode() + packed)
    raw = {"Inference-Header-Content-Length": "0"}
    for name, model, body in (("row", "row", packed), ("row-cut", "row", packed[:-1]),
                              ("row-empty", "row", b""), ("two", "two", packed),
                              ("matrix", "matrix", struct.pack("<4i", 1, 2, 3, 4)),
                              ("text", "text", b"abc"), ("decoupled", "decoupled", packed)):
        yield HttpCase(f"raw-{name}", "POST", f"/v2/models/{model}/infer", body, raw)


def compression():
    body = json.dumps(row()).encode()
    large = json.dumps({"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [2000],
                                    "data": [i / 8 for i in range(2000)]}]}).encode()

    def sent(name, packed, encoding, path="/v2/models/row/infer"):
        return HttpCase(f"compression-{name}", "POST", path, packed, {"Content-Encoding": encoding})
    yield sent("gzip", gzip.compress(body), "gzip")
    yield sent("deflate", zlib.compress(body), "deflate")
    yield sent("identity", body, "identity")
    yield sent("unknown", body, "br")
    yield sent("not-gzip", body, "gzip")
    yield sent("gzip-cut", gzip.compress(body)[:-10], "gzip")
    yield sent("gzip-index", gzip.compress(b'{"ready":true}'), "gzip", "/v2/repository/index")
    for accepted in ("gzip", "deflate", "gzip, deflate", "deflate, gzip", "gzip;q=0.5, deflate",
                     "gzip;q=0", "identity", "br", "*", ""):
        yield HttpCase(f"compression-accept-{accepted or 'nothing'}", "POST",
                       "/v2/models/t_fp32/infer", large, {"Accept-Encoding": accepted})
    yield HttpCase("compression-accept-metadata", "GET", "/v2/models/row",
                   headers={"Accept-Encoding": "gzip"})


def malformed():
    for name, text in {
            "cut": '{"inputs":[', "empty": "", "blank": "  ", "text": "hello", "array": "[]",
            "number": "1", "null": "null", "trailing-comma": '{"inputs":[],}',
            "garbage-behind": json.dumps(row()) + "x", "second-object": json.dumps(row()) + "{}",
            "single-quotes": "{'inputs':[]}", "comment": '{/* */"inputs":[]}',
            "deep": "[" * 500 + "]" * 500, "deep-member": '{"x":' * 200 + "1" + "}" * 200,
            "control-character": '{"id":"a\nb","inputs":[]}', "bad-escape": '{"id":"\\q"}',
            "bad-number": '{"inputs":[{"shape":[01]}]}', "utf8-broken": b'{"id":"\xff"}',
            "byte-order-mark": b"\xef\xbb\xbf" + json.dumps(row()).encode()}.items():
        yield infer(f"malformed-{name}", text)
    yield infer("malformed-utf8-in-id", b'{"id":"\xff",' + json.dumps(row()).encode()[1:])


def addresses():
    for model, version in (("row", "1"), ("row", "2"), ("row", "0"), ("row", "abc"), ("row", "-1"),
                           ("row", "1.5"), ("row", "99999999999999999999"), ("versions", "1"),
                           ("versions", "2"), ("versions", "3"), ("versions", ""), ("latest", ""),
                           ("latest", "1"), ("latest", "7"), ("nobody", ""), ("nobody", "1"),
                           ("broken", "")):
        shape = [1, 4] if model == "row" else [4]
        yield infer(f"address-{model}-version-{version or 'none'}", row(shape=shape), model,
                    version=version)
        part = f"/v2/models/{model}" + (f"/versions/{version}" if version else "")
        # What the model has served depends on every case before: see "counted".
        ends = ("", "/config", "/ready") + (("/stats",) if (model, version) != ("row", "1") else ())
        for end in ends:
            yield HttpCase(f"address{end.replace('/', '-')}-{model}-{version or 'none'}", "GET",
                           part + end)
    yield infer("address-decoupled", row(shape=[4]), "decoupled")
    for name, method, path in (
            ("root", "GET", "/"), ("v1", "GET", "/v1/models/row"), ("v2-slash", "GET", "/v2/"),
            ("v2-query", "GET", "/v2?x=1"), ("models", "GET", "/v2/models"),
            ("double-slash", "GET", "/v2//models/row"), ("percent", "GET", "/v2/models/ro%77"),
            ("percent-broken", "GET", "/v2/models/ro%7"), ("upper-case", "GET", "/V2/models/row"),
            ("unknown-end", "GET", "/v2/models/row/other"), ("dots", "GET", "/v2/models/../models/row"),
            ("infer-get", "GET", "/v2/models/row/infer"), ("metadata-post", "POST", "/v2/models/row"),
            ("metadata-delete", "DELETE", "/v2/models/row"), ("live-post", "POST", "/v2/health/live"),
            ("index-get", "GET", "/v2/repository/index"), ("head", "HEAD", "/v2/models/row"),
            ("options", "OPTIONS", "/v2"), ("metrics-on-http-port", "GET", "/metrics"),
            ("absolute", "GET", "http://localhost/v2/models/row")):
        yield HttpCase(f"path-{name}", method, path)
    yield HttpCase("path-http-1.0", "GET", "/v2/models/row", version="HTTP/1.0")
    yield HttpCase("path-no-host", "GET", "/v2/models/row", bare=True)
    yield HttpCase("path-method-unknown", "BREW", "/v2/models/row")


def control():
    for path in ("/v2", "/v2/health/live", "/v2/health/ready", "/v2/logging", "/v2/trace/setting",
                 "/v2/models/row/trace/setting", "/v2/systemsharedmemory/status",
                 "/v2/cudasharedmemory/status", "/v2/systemsharedmemory/region/r/status"):
        yield HttpCase("get" + path.replace("/", "-"), "GET", path)
    for model in ("two", "matrix", "text", "labels", "dynamic", "decoupled", "optional", "echo"):
        yield get_model(f"metadata-{model}", model)
        yield get_model(f"config-{model}", model, "/config")
    for name, body in {"empty": "", "all": "{}", "ready": '{"ready":true}',
                       "not-ready": '{"ready":false}', "ready-text": '{"ready":"yes"}',
                       "cut": '{"ready":', "array": "[]", "unknown": '{"more":1}'}.items():
        yield post(f"index-{name}", "/v2/repository/index", body)
    for call in ("load", "unload"):
        yield post(f"{call}-in-mode-none", f"/v2/repository/models/row/{call}", "")
        yield post(f"{call}-unknown-in-mode-none", f"/v2/repository/models/nobody/{call}", "{}")
    yield post("repository-by-name", "/v2/repository/mine/index", "{}")
    for name, settings in {
            "nothing": {}, "info": {"log_info": True}, "verbose": {"log_verbose_level": 0},
            "format": {"log_format": "ISO8601"}, "format-default": {"log_format": "default"},
            "file": {"log_file": "/tmp/x"}, "unknown": {"log_more": True},
            "wrong-type": {"log_info": "yes"}, "wrong-format": {"log_format": "xml"},
            "negative-level": {"log_verbose_level": -1}, "number": {"log_error": 1}}.items():
        yield post(f"logging-{name}", "/v2/logging", settings)
    yield post("logging-malformed", "/v2/logging", "{")
    yield post("trace-change", "/v2/trace/setting", {"trace_level": ["OFF"]})
    yield post("generate", "/v2/models/row/generate", {"INPUT0": [1, 2, 3, 4]})
    yield post("shared-memory-register", "/v2/systemsharedmemory/region/r/register",
               {"key": "/r", "byte_size": 16})
    yield post("shared-memory-unregister", "/v2/systemsharedmemory/unregister", "")
    yield infer("shared-memory-input", row(data=None, parameters={
        "shared_memory_region": "r", "shared_memory_byte_size": 16}))
    for i in (1, 2):
        yield infer(f"counted-{i}", row(), "counted")
    yield infer("counted-refused", row(shape=[1, 5]), "counted")
    yield HttpCase("counted-stats", "GET", "/v2/models/counted/stats")


def cases():
    groups = (types, values, shapes, members, two_inputs, parameters, classification, binary,
              compression, malformed, addresses, control)
    return [case for group in groups for case in group()]
