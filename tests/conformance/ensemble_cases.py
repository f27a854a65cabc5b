"""Ensembles: how they answer, how they are loaded, and what goes wrong."""
import json

from tritonclient.grpc import service_pb2

from ensemble_repository import REFUSED
from exchange import GrpcCase
from grpc_cases import PACKED_ROW, request
from http_cases import get_model as get
from http_cases import infer, post


def ask(name, model, rows=1, inputs=("in",), outputs=(), shape=None, **more):
    body = {"inputs": [{"name": tensor, "datatype": "FP32", "shape": shape or [rows, 4],
                        "data": [1, 2.5, -3, 0] * rows} for tensor in inputs], **more}
    if outputs:
        body["outputs"] = [{"name": output} for output in outputs]
    return infer(name, body, model)


def requests():
    for rows in (1, 3, 4, 5):
        yield ask(f"chain-{rows}", "chain", rows)
    yield ask("chain-id", "chain", id="seven")
    yield ask("chain-unknown-output", "chain", outputs=["t"])
    yield ask("chain-unknown-input", "chain", inputs=["t"])
    yield ask("chain-no-inputs", "chain", inputs=[])
    yield ask("chain-wrong-shape", "chain", shape=[1, 2, 2])
    yield ask("chain-binary", "chain", parameters={"binary_data_output": True})
    yield ask("chain-priority", "chain", parameters={"priority": 1})
    yield ask("chain-timeout", "chain", parameters={"timeout": 10**7})
    yield ask("chain-sequence", "chain", parameters={"sequence_id": 7, "sequence_start": True})
    yield ask("diamond", "diamond", 2)
    yield ask("diamond-other-order", "diamond", 2, outputs=["other", "out"])
    yield ask("branches", "branches")
    yield ask("branches-one", "branches", outputs=["b"])
    yield ask("nested", "nested", 2)
    yield ask("to-open", "to_open", 2)
    yield ask("passed-on", "passed_on")
    yield ask("no-batch", "no_batch", 3)
    yield ask("no-batch-too-many", "no_batch", 5)
    yield ask("batch-of-one", "batch_of_one", shape=[4])
    yield ask("version", "to_version_1")
    yield infer("labelled", {
        "inputs": [{"name": "in", "datatype": "FP32", "shape": [1, 4], "data": [1, 7, 3, 5]}],
        "outputs": [{"name": "out", "parameters": {"classification": 2}}]}, "labelled")
    yield ask("parameters", "parameters", shape=[4], parameters={"mine": "abc"})
    yield ask("decoupled", "of_decoupled", shape=[4])


def optional_tensors():
    yield ask("unmapped-optional", "unmapped_optional")
    yield ask("optional-input-both", "optional_input", inputs=["in", "more"])
    yield ask("optional-input-left-out", "optional_input")
    yield ask("optional-input-wanted", "optional_input", inputs=["in", "more"], outputs=["other"])
    yield ask("missing-output", "missing_output")
    yield ask("missing-output-wanted", "missing_output", outputs=["other"])
    yield ask("missing-output-unwanted", "missing_output", outputs=["out"])
    yield ask("missing-between", "missing_between")


def descriptions():
    yield post("index", "/v2/repository/index", "")
    for model in ("chain", "diamond", "no_batch", "of_decoupled"):
        yield get(f"metadata-{model}", model)
        yield get(f"config-{model}", model, "/config")
    for model in ("chain", "branches", "missing_output"):
        yield get(f"stats-{model}", model, "/stats")
    for model in REFUSED:
        yield get(f"ready-{model}", model, "/ready")
        yield ask(f"refused-{model}", model)


def over_http():
    return [case for group in (requests, optional_tensors, descriptions) for case in group()]


def over_grpc():
    def wanted(title, *messages, method="ModelInfer"):
        return GrpcCase(title, method, list(messages))
    chain = request("chain", name="in", request_id="seven")
    yield wanted("chain", chain)
    yield wanted("too-many", request("chain", name="in", shape=[5, 4], raw=PACKED_ROW * 5))
    yield wanted("parameters", request("parameters", name="in", shape=[4], mine="abc"))
    yield wanted("step-without-input", request("missing_between", name="in"))
    yield wanted("refused", request("to_nobody", name="in"))
    yield wanted("decoupled", request("of_decoupled", name="in", shape=[4]))
    yield wanted("stream", chain, chain, method="ModelStreamInfer")
    for end in ({}, {"triton_enable_empty_final_response": True}):
        yield wanted(f"stream-decoupled{'-empty-final' if end else ''}",
                     request("of_decoupled", name="in", shape=[4], request_id="d", **end),
                     method="ModelStreamInfer")
    for method in ("ModelMetadata", "ModelConfig", "ModelStatistics"):
        message = getattr(service_pb2, method + "Request")(name="nested")
        yield wanted(f"{method}-nested", message, method=method)


class Life:
    """Loads and unloads in explicit mode, each followed by what is ready then."""

    def __init__(self):
        self.number = 0

    def call(self, what, model, **parameters):
        self.number += 1
        body = json.dumps({"parameters": parameters}) if parameters else ""
        yield post(f"{self.number}-{what}-{model}", f"/v2/repository/models/{model}/{what}", body)
        yield post(f"{self.number}-then-index", "/v2/repository/index", '{"ready":true}')

    def with_dependents(self):
        yield from self.call("load", "chain")
        yield ask("loaded", "chain")
        yield from self.call("unload", "chain")
        yield from self.call("load", "chain")
        yield from self.call("unload", "chain", unload_dependents=True)
        yield from self.call("load", "row")
        yield from self.call("load", "chain")
        yield from self.call("unload", "chain", unload_dependents=True)

    def without_a_step(self):
        yield from self.call("load", "chain")
        yield from self.call("unload", "row")
        yield get("without-step-ready", "chain", "/ready")
        yield ask("without-step", "chain")
        yield from self.call("load", "row")
        yield get("with-step-ready", "chain", "/ready")
        yield ask("with-step", "chain")

    def nested(self):
        yield from self.call("load", "nested")
        yield ask("nested", "nested")
        for model in ("to_nobody", "to_small", "itself"):
            yield from self.call("load", model)
        yield from self.call("unload", "nested", unload_dependents=True)


def life():
    one = Life()
    return [*one.with_dependents(), *one.without_a_step(), *one.nested()]
