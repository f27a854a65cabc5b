"""Ensembles of identity models: how they answer, how they are loaded, and what goes wrong."""
import json

from exchange import HttpCase
from http_cases import infer, post
from repository import write_model

FLAGS = ("--model-control-mode=explicit",)
FP32 = [("TYPE_FP32", "4")]
IN, OUT = ("in", "4", ""), ("out", "4", "")


def step(model, given, taken, version=-1):
    """given, taken: {the model's name: the ensemble's}; a text stands for its only tensor."""
    given = {"INPUT0": given} if isinstance(given, str) else given
    taken = {"OUTPUT0": taken} if isinstance(taken, str) else taken
    maps = " ".join(f'input_map {{ key: "{own}" value: "{name}" }}' for own, name in given.items())
    maps += "".join(f' output_map {{ key: "{own}" value: "{name}" }}' for own, name in taken.items())
    return f'{{ model_name: "{model}" model_version: {version} {maps} }}'


def write_ensemble(folder, name, inputs, outputs, steps, batch=4):
    """inputs, outputs: (name, dims, more)."""
    def tensors(kind, listed):
        entries = ", ".join(f'{{ name: "{own}" data_type: TYPE_FP32 dims: [ {dims} ] {more} }}'
                            for own, dims, more in listed)
        return f"{kind} [ {entries} ]\n"
    (folder / name / "1").mkdir(parents=True)
    text = f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: {batch}\n'
    text += tensors("input", inputs) + tensors("output", outputs)
    (folder / name / "config.pbtxt").write_text(
        text + "ensemble_scheduling { step [ " + ",\n".join(steps) + " ] }\n")


def write_repository(folder):
    write_model(folder, "row", FP32, batch=4)
    write_model(folder, "big", FP32, batch=8)
    write_model(folder, "small", FP32, batch=2)
    write_model(folder, "fixed", FP32)
    write_model(folder, "open", [("TYPE_FP32", "-1, 4")])
    write_model(folder, "int", [("TYPE_INT32", "4")], batch=4)
    write_model(folder, "five", [("TYPE_FP32", "5")], batch=4)
    write_model(folder, "two", FP32 * 2, batch=4)
    write_model(folder, "optional", FP32 * 2, batch=4, input_more="optional: true")
    write_model(folder, "echo", FP32, parameters={"echo_parameters": "true"})
    write_model(folder, "decoupled", FP32, extra="model_transaction_policy { decoupled: true }\n")
    both = {"INPUT0": "a", "INPUT1": "b"}
    for name, outputs, steps in (
            ("chain", [OUT], [step("row", "in", "t"), step("big", "t", "out")]),
            ("diamond", [OUT, ("other", "4", "")],
             [step("row", "in", "t"), step("big", "t", "a"), step("row", "t", "b"),
              step("two", both, {"OUTPUT0": "out", "OUTPUT1": "other"})]),
            ("branches", [("a", "4", ""), ("b", "4", "")],
             [step("row", "in", "a"), step("big", "in", "b")]),
            ("nested", [OUT], [step("chain", {"in": "in"}, {"out": "t"}), step("row", "t", "out")]),
            ("to_small", [OUT], [step("small", "in", "out")]),
            ("to_open", [OUT], [step("row", "in", "t"), step("open", "t", "out")]),
            ("to_int", [OUT], [step("int", "in", "out")]),
            ("to_five", [OUT], [step("five", "in", "out")]),
            ("to_nobody", [OUT], [step("nobody", "in", "out")]),
            ("to_version_1", [OUT], [step("row", "in", "out", 1)]),
            ("to_version_9", [OUT], [step("row", "in", "out", 9)]),
            ("unknown_input", [OUT], [step("row", {"INPUT9": "in"}, "out")]),
            ("unmapped_input", [OUT], [step("two", "in", "out")]),
            ("unmapped_optional", [OUT], [step("optional", "in", "out")]),
            ("missing_output", [OUT, ("other", "4", "")],
             [step("optional", "in", {"OUTPUT0": "out", "OUTPUT1": "other"})]),
            ("missing_between", [OUT], [step("optional", "in", {"OUTPUT1": "t"}),
                                        step("row", "t", "out")]),
            ("itself", [OUT], [step("itself", {"in": "in"}, {"out": "out"})])):
        write_ensemble(folder, name, [IN], outputs, steps)
    write_ensemble(folder, "optional_input", [IN, ("more", "4", "optional: true")],
                   [OUT, ("other", "4", "")],
                   [step("optional", {"INPUT0": "in", "INPUT1": "more"},
                         {"OUTPUT0": "out", "OUTPUT1": "other"})])
    write_ensemble(folder, "no_batch", [("in", "-1, 4", "")], [("out", "-1, 4", "")],
                   [step("row", "in", "t"), step("big", "t", "out")], 0)
    write_ensemble(folder, "batch_of_one", [IN], [OUT], [step("row", "in", "out")], 0)
    write_ensemble(folder, "parameters", [IN], [OUT],
                   [step("echo", "in", "t"), step("echo", "t", "out")], 0)
    write_ensemble(folder, "of_decoupled", [IN], [OUT], [step("decoupled", "in", "out")], 0)


def ask(name, model, rows=1, inputs=("in",), outputs=(), shape=None, **more):
    body = {"inputs": [{"name": tensor, "datatype": "FP32", "shape": shape or [rows, 4],
                        "data": [1, 2.5, -3, 0] * rows} for tensor in inputs], **more}
    if outputs:
        body["outputs"] = [{"name": output} for output in outputs]
    return infer(name, body, model)


def get(name, model, end=""):
    return HttpCase(name, "GET", f"/v2/models/{model}{end}")


def over_http():
    yield post("index", "/v2/repository/index", "")
    for rows in (1, 3, 4, 5):
        yield ask(f"chain-{rows}", "chain", rows)
    yield ask("chain-id", "chain", id="seven")
    yield ask("chain-unknown-output", "chain", outputs=["t"])
    yield ask("chain-unknown-input", "chain", inputs=["t"])
    yield ask("chain-wrong-shape", "chain", shape=[1, 2, 2])
    yield ask("diamond", "diamond", 2)
    yield ask("diamond-other-order", "diamond", 2, outputs=["other", "out"])
    yield ask("branches", "branches")
    yield ask("branches-one", "branches", outputs=["b"])
    # The step that the wanted output does not need has not run.
    yield get("branches-one-stats-row", "branches", "/stats")
    yield ask("nested", "nested", 2)
    yield ask("to-open", "to_open", 2)
    yield ask("no-batch", "no_batch", 3)
    yield ask("no-batch-too-many", "no_batch", 5)
    yield ask("batch-of-one", "batch_of_one", shape=[4])
    yield ask("version", "to_version_1")
    yield ask("unmapped-optional", "unmapped_optional")
    yield ask("optional-input-both", "optional_input", inputs=["in", "more"])
    yield ask("optional-input-wanted", "optional_input", inputs=["in", "more"], outputs=["other"])
    yield ask("missing-output", "missing_output")
    yield ask("missing-output-wanted", "missing_output", outputs=["other"])
    yield ask("missing-output-unwanted", "missing_output", outputs=["out"])
    yield ask("missing-between", "missing_between")
    yield ask("parameters", "parameters", shape=[4], parameters={"mine": "abc"})
    yield ask("decoupled", "of_decoupled", shape=[4])
    for model in ("chain", "diamond", "no_batch", "of_decoupled"):
        yield get(f"metadata-{model}", model)
        yield get(f"config-{model}", model, "/config")
    for model in ("chain", "missing_output"):
        yield get(f"stats-{model}", model, "/stats")
    for model in ("to_small", "to_int", "to_five", "to_nobody", "to_version_9", "unknown_input",
                  "unmapped_input", "itself"):
        yield get(f"ready-{model}", model, "/ready")
        yield ask(f"refused-{model}", model)


def life():
    """One life in explicit mode."""
    number = 0

    def call(what, model, **parameters):
        nonlocal number
        number += 1
        body = json.dumps({"parameters": parameters}) if parameters else ""
        yield post(f"{number}-{what}-{model}", f"/v2/repository/models/{model}/{what}", body)
        yield post(f"{number}-then-index", "/v2/repository/index", '{"ready":true}')

    yield from call("load", "chain")
    yield ask("loaded", "chain")
    yield from call("unload", "chain")
    yield from call("load", "chain")
    yield from call("unload", "chain", unload_dependents=True)
    yield from call("load", "row")
    yield from call("load", "chain")
    yield from call("unload", "chain", unload_dependents=True)
    yield from call("load", "chain")
    yield from call("unload", "row")
    yield get("without-step-ready", "chain", "/ready")
    yield ask("without-step", "chain")
    yield from call("load", "row")
    yield get("with-step-ready", "chain", "/ready")
    yield ask("with-step", "chain")
    yield from call("load", "nested")
    yield ask("nested", "nested")
    yield from call("load", "to_nobody")
    yield from call("load", "to_small")
    yield from call("load", "itself")
    yield from call("unload", "nested", unload_dependents=True)
