"""Models of backend python, alone and in ensembles: both servers run the same model.py files."""
import struct

from tritonclient.grpc import service_pb2

from exchange import GrpcCase
from grpc_cases import request
from http_cases import VALUES, infer
from http_cases import get_model as get
from python_repository import BROKEN, ENSEMBLES, each_type
from repository_cases import load

CODES = ("UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
         "ALREADY_EXISTS", "CANCELLED")
# Methods of models/outcomes.py.
OUTCOMES = (
    "good", "parameters", "raises", "raises_of_triton", "raises_two_lines", "error",
    "error_and_tensor", "error_as_text", "no_response", "two_responses", "text_in_list",
    "one_response", "tuple_of_one", "generator", "no_tensors", "other_name", "other_type",
    "text_for_numbers", "other_shape", "other_rank", "scalar", "list_as_tensor", "strided", "twice",
    "leaves", "sends", "sends_error", "sends_and_returns_none_in_list", "sends_and_returns", "sends_twice",
    "unheard_of")
# What a request may bring beside its tensors.
BESIDE = {
    "nothing": {}, "id": {"id": "seven"},
    "parameters": {"parameters": {"text": "x", "number": -5, "yes": True, "half": 0.5}},
    "priority": {"parameters": {"priority": 1}}, "timeout": {"parameters": {"timeout": 10**7}},
    "sequence": {"parameters": {"sequence_id": 9, "sequence_start": True, "sequence_end": True}},
    "sequence-text": {"parameters": {"sequence_id": "nine"}}}
# What models/repeat.py is to send.
REPEATS = {"none": (), "one": (1,), "three": (1, 2, 3), "ends-with-the-last": (1, 9),
           "error-between": (1, -1, 2), "exception": (-2,), "exception-behind": (1, -2)}


def fp32(name, values, shape=None):
    return {"name": name, "datatype": "FP32", "shape": shape or [len(values)], "data": list(values)}


def texts(**values):
    return [{"name": name, "datatype": "BYTES", "shape": [1], "data": [text]}
            for name, text in values.items()]


def add_sub():
    def ask(title, rows=1, outputs=None, **more):
        values = [1, 2.5, -3, 0] * rows
        body = {"inputs": [fp32("INPUT0", values, [rows, 4]), fp32("INPUT1", values[::-1], [rows, 4])],
                **more}
        if outputs is not None:
            body["outputs"] = [{"name": name} for name in outputs]
        return infer(f"add-sub-{title}", body, "add_sub")
    for rows in (1, 3, 4, 5):
        yield ask(rows, rows)
    yield ask("binary", parameters={"binary_data_output": True})
    yield ask("one-output", outputs=["OUTPUT1"])
    yield ask("other-order", outputs=["OUTPUT1", "OUTPUT0"])
    yield ask("unknown-output", outputs=["OTHER"])
    yield infer("add-sub-one-input", {"inputs": [fp32("INPUT0", [1, 2, 3, 4], [1, 4])]}, "add_sub")
    yield get("add-sub-stats", "add_sub", "/stats")


def types():
    def binary(title, told, packed):
        return infer(f"type-{title}", {
            "inputs": [{**told, "parameters": {"binary_data_size": len(packed)}}],
            "parameters": {"binary_data_output": True}}, "types", packed)
    for name in each_type("INPUT"):
        datatype = name.removeprefix("INPUT_")
        values, packed = VALUES[datatype]
        told = {"name": name, "datatype": datatype, "shape": [2]}
        yield infer(f"type-{datatype}", {"inputs": [{**told, "data": values}]}, "types")
        yield binary(f"{datatype}-binary", told, packed)
        yield binary(f"{datatype}-empty", {**told, "shape": [0]}, b"")
    yield binary("BYTES-not-utf8", told, b"\x03\0\0\0\xff\xfe\0" + bytes(4))


def outcomes():
    for how in (*OUTCOMES, *(f"error_of_{code}" for code in (*CODES, "NOBODY"))):
        yield infer(f"outcome-{how}", {"inputs": texts(HOW=how)}, "outcomes")
    for how in ("good", "error", "raises"):
        yield infer(f"counted-{how}", {"inputs": texts(HOW=how)}, "counted")
    yield get("counted-stats", "counted", "/stats")
    for how in ("dies", "good"):
        yield infer(f"dying-{how}", {"inputs": texts(HOW=how)}, "dying")
    for how in ("good", "raises", "error_of_NOT_FOUND"):
        yield infer(f"ensemble-outcome-{how}", {"inputs": texts(**{"in": how})}, "then_outcomes")


def seen():
    def told(first, second):
        return [fp32(first, [1, 2.5, -3, 0]),
                {"name": second, "datatype": "INT32", "shape": [3, 2], "data": [1] * 6}]
    for title, beside in BESIDE.items():
        yield infer(f"seen-{title}", {"inputs": told("IN", "MORE"), **beside}, "seen")
        yield infer(f"ensemble-seen-{title}", {"inputs": told("in", "more"), **beside}, "then_seen")
    for output in ("SEEN", "TOLD"):
        yield infer(f"seen-only-{output}", {"inputs": told("IN", "MORE"),
                                            "outputs": [{"name": output}]}, "seen")
    yield infer("started", {"inputs": [fp32("IN", [1])]}, "started")


def calls():
    def call(title, target, where="IN", values=(1,), how="exec", wanted="", shape=None):
        return infer(f"call-{title}", {"inputs": [
            *texts(TARGET=target, WHERE=where, HOW=how, WANTED=wanted), fp32("IN", values, shape)]},
            "caller")
    yield call("one", "seen_alone", wanted="SEEN")
    yield call("async", "seen_alone", how="async", wanted="SEEN")
    yield call("all-outputs", "seen_alone")
    yield call("identity", "fixed", "INPUT0", (1, 2.5, -3, 0), wanted="OUTPUT0")
    yield call("each-of-ordinary", "seen_alone", how="decoupled", wanted="SEEN")
    yield call("each", "repeat", values=(1, 2), how="decoupled", wanted="OUT")
    yield call("one-of-several", "repeat", values=(1, 2))
    yield call("each-of-none", "repeat", values=(), how="decoupled", shape=[0])
    yield call("each-of-ensemble", "then_repeat", "in", (1, 2), "decoupled", "out")
    yield call("each-of-error", "repeat", values=(1, -1), how="decoupled")
    yield call("one-of-decoupled", "repeat")
    for title, arguments in {
            "shape": ("fixed", "INPUT0", (1, 2, 3)), "input": ("seen_alone", "OTHER"),
            "output": ("seen_alone", "IN", (1,), "exec", "OTHER"), "model": ("nobody",),
            "broken-model": ("no_class",)}.items():
        yield call(f"refused-{title}", *arguments)


def described():
    for model in ("add_sub", "repeat", "started", "complete", "complete_decoupled", "completed", "overruled"):
        yield get(f"metadata-{model}", model)
        yield get(f"config-{model}", model, "/config")
    for rows in (16, 17):
        yield infer(f"complete-{rows}", {"inputs": [fp32("INPUT0", [1] * 4 * rows, [rows, 4])]},
                    "complete")
    yield infer("repeat", {"inputs": [fp32("IN", [1])]}, "repeat")
    for model in ("contradicted", "no_configuration", *BROKEN):
        yield get(f"ready-{model}", model, "/ready")
    for model in ("contradicted", "no_class"):
        yield infer(f"refused-{model}", {"inputs": [fp32("INPUT0", [1, 2, 3, 4])]}, model)


def over_http():
    groups = (add_sub, types, outcomes, seen, calls, described)
    return [*(load(f"load-{name}", name) for name in ENSEMBLES),
            *(case for group in groups for case in group())]


def repeated(values, model="repeat", name="IN", **more):
    return request(model, "FP32", [len(values)], struct.pack(f"<{len(values)}f", *values), name, **more)


def streams():
    def stream(title, *messages):
        return GrpcCase(title, "ModelStreamInfer", list(messages))
    for title, values in REPEATS.items():
        for end, more in (("", {}), ("-empty-final", {"triton_enable_empty_final_response": True})):
            yield stream(f"stream-{title}{end}", repeated(values, **more))
            yield stream(f"ensemble-stream-{title}{end}",
                         repeated(values, "then_repeat", "in", request_id="a", **more))
    yield stream("stream-no-response", request("complete_decoupled", "BYTES", [0], b"", "IN"))
    yield stream("stream-two", repeated([1], request_id="a"), repeated([9], request_id="b"))


def over_grpc():
    def outcome(how, **options):
        text = struct.pack("<I", len(how)) + how.encode()
        return GrpcCase(f"outcome-{how}", "ModelInfer", [
            request("outcomes", "BYTES", [1], text, "HOW")], **options)
    for code in CODES:
        yield outcome(f"error_of_{code}")
    for how in ("nothing", "none_in_list"):
        yield outcome(how, timeout=1)
    yield from streams()
    yield GrpcCase("repeat", "ModelInfer", [repeated([1])])
    for method in ("ModelConfig", "ModelMetadata"):
        message = getattr(service_pb2, method + "Request")(name="complete")
        yield GrpcCase(f"{method}-complete", method, [message])
