"""Identity models and ensembles of them: good ones, and ones that cannot be loaded."""
import dataclasses

from repository import write_model

FP32 = [("TYPE_FP32", "4")]
ROW, ROWS = ("FP32", "4"), ("FP32", "-1, 4")


def tensors(maps):
    """{the model's name: the ensemble's} of a step; a text stands for its only tensor, number 0."""
    return maps if isinstance(maps, dict) else {"0": maps}


def step(model, given, taken, version=-1):
    """given, taken: by the numbers of the model's tensors INPUTn and OUTPUTn, or by their names."""
    def maps(kind, prefix, listed):
        return " ".join(
            f'{kind}_map {{ key: "{prefix + own if own.isdigit() else own}" value: "{name}" }}'
            for own, name in tensors(listed).items())
    return (f'{{ model_name: "{model}" model_version: {version} '
            f'{maps("input", "INPUT", given)} {maps("output", "OUTPUT", taken)} }}')


@dataclasses.dataclass
class Ensemble:
    """inputs, outputs: {name: (data type, dims)}; more: further text of one, by its name."""

    steps: list
    outputs: dict = dataclasses.field(default_factory=lambda: {"out": ROW})
    inputs: dict = dataclasses.field(default_factory=lambda: {"in": ROW})
    batch: int = 4
    more: dict = dataclasses.field(default_factory=dict)
    extra: str = ""

    def config(self, name):
        def listed(kind, named):
            entries = ", ".join(
                f'{{ name: "{own}" data_type: TYPE_{data_type} dims: [ {dims} ] '
                f'{self.more.get(own, "")} }}' for own, (data_type, dims) in named.items())
            return f"{kind} [ {entries} ]\n"
        return (f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: {self.batch}\n'
                + listed("input", self.inputs) + listed("output", self.outputs) + self.extra
                + "ensemble_scheduling { step [ " + ",\n".join(self.steps) + " ] }\n")


TWO_OUT = {"out": ROW, "other": ROW}
GOOD = {
    "chain": Ensemble([step("row", "in", "t"), step("big", "t", "out")]),
    "diamond": Ensemble(
        [step("row", "in", "t"), step("big", "t", "a"), step("row", "t", "b"),
         step("two", {"0": "a", "1": "b"}, {"0": "out", "1": "other"})], TWO_OUT),
    "branches": Ensemble([step("row", "in", "a"), step("big", "in", "b")], {"a": ROW, "b": ROW}),
    "nested": Ensemble([step("chain", {"in": "in"}, {"out": "t"}), step("row", "t", "out")]),
    "to_open": Ensemble([step("row", "in", "t"), step("open", "t", "out")]),
    "to_version_1": Ensemble([step("row", "in", "out", 1)]),
    "passed_on": Ensemble([step("row", "in", "out")], {"out": ROW, "in": ROW}),
    "labelled": Ensemble([step("row", "in", "out")], more={"out": 'label_filename: "labels.txt"'}),
    "unmapped_optional": Ensemble([step("optional", "in", "out")]),
    "missing_output": Ensemble([step("optional", "in", {"0": "out", "1": "other"})], TWO_OUT),
    "missing_between": Ensemble([step("optional", "in", {"1": "t"}), step("row", "t", "out")]),
    "optional_input": Ensemble(
        [step("optional", {"0": "in", "1": "more"}, {"0": "out", "1": "other"})], TWO_OUT,
        {"in": ROW, "more": ROW}, more={"more": "optional: true"}),
    "no_batch": Ensemble([step("row", "in", "t"), step("big", "t", "out")],
                         {"out": ROWS}, {"in": ROWS}, batch=0),
    "batch_of_one": Ensemble([step("row", "in", "out")], batch=0),
    "parameters": Ensemble([step("echo", "in", "t"), step("echo", "t", "out")], batch=0),
    "of_decoupled": Ensemble([step("decoupled", "in", "out")], batch=0),
}
REFUSED = {
    "to_small": Ensemble([step("small", "in", "out")]),
    "to_int": Ensemble([step("int", "in", "out")]),
    "to_five": Ensemble([step("five", "in", "out")]),
    "to_nobody": Ensemble([step("nobody", "in", "out")]),
    "to_version_9": Ensemble([step("row", "in", "out", 9)]),
    "unknown_input": Ensemble([step("row", {"9": "in"}, "out")]),
    "unknown_output": Ensemble([step("row", "in", {"9": "out"})]),
    "unmapped_input": Ensemble([step("two", "in", "out")]),
    "unwritten_output": Ensemble([step("row", "in", "out")], TWO_OUT),
    "unread_input": Ensemble([step("row", "in", "out")], inputs={"in": ROW, "more": ROW}),
    "unread_tensor": Ensemble([step("row", "in", "out"), step("big", "in", "t")]),
    "to_fixed": Ensemble([step("echo", "in", "out")]),
    "written_twice": Ensemble([step("row", "in", "out"), step("big", "in", "out")]),
    "circle": Ensemble([step("two", {"0": "in", "1": "b"}, {"0": "out", "1": "a"}),
                        step("row", "a", "b")]),
    "itself": Ensemble([step("itself", {"in": "in"}, {"out": "out"})]),
    "no_steps": Ensemble([]),
    "with_instances": Ensemble([step("row", "in", "out")], extra="instance_group [ { count: 2 } ]\n"),
}


def write(folder):
    write_model(folder, "row", FP32, batch=4)
    write_model(folder, "big", FP32, batch=8)
    write_model(folder, "small", FP32, batch=2)
    write_model(folder, "open", [("TYPE_FP32", "-1, 4")])
    write_model(folder, "int", [("TYPE_INT32", "4")], batch=4)
    write_model(folder, "five", [("TYPE_FP32", "5")], batch=4)
    write_model(folder, "two", FP32 * 2, batch=4)
    write_model(folder, "optional", FP32 * 2, batch=4, input_more="optional: true")
    write_model(folder, "echo", FP32, parameters={"echo_parameters": "true"})
    write_model(folder, "decoupled", FP32, extra="model_transaction_policy { decoupled: true }\n")
    for name, ensemble in (GOOD | REFUSED).items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "config.pbtxt").write_text(ensemble.config(name))
    (folder / "labelled" / "labels.txt").write_text("zero\none\ntwo\nthree\n")
