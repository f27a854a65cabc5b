"""Models of backend python, whose model.py files lie in models/, and ensembles of them."""
import dataclasses
import pathlib
import shutil

from ensemble_repository import Ensemble, step
from repository import TYPES, write_model

FOLDER = pathlib.Path(__file__).resolve().parent / "models"
ROW = ("FP32", "4")
ONE = ("FP32", "1")
TEXT = ("STRING", "1")
DECOUPLED = "model_transaction_policy { decoupled: true }\n"


@dataclasses.dataclass
class PythonModel:
    """inputs, outputs: {name: (data type, dims)}; extra: further text of config.pbtxt; optional: the
    inputs are."""

    file: str
    inputs: dict = dataclasses.field(default_factory=lambda: {"INPUT0": ROW})
    outputs: dict = dataclasses.field(default_factory=lambda: {"OUTPUT0": ROW})
    batch: int = 0
    extra: str = ""
    optional: bool = False

    def config(self):
        def listed(kind, tensors, more=""):
            return "".join(
                f'{kind} [ {{ name: "{name}" data_type: TYPE_{data_type} dims: [ {dims} ] {more} }} ]\n'
                for name, (data_type, dims) in tensors.items())
        return (f'backend: "python"\nmax_batch_size: {self.batch}\n{self.extra}'
                + listed("input", self.inputs, "optional: true" if self.optional else "")
                + listed("output", self.outputs))


def each_type(prefix):
    return {f"{prefix}_{datatype}": (data_type.removeprefix("TYPE_"), "2")
            for datatype, data_type in TYPES.items() if datatype != "BF16"}


MODELS = {
    "add_sub": PythonModel("add_sub", {"INPUT0": ROW, "INPUT1": ROW},
                           {"OUTPUT0": ROW, "OUTPUT1": ROW}, 4),
    "types": PythonModel("identity", each_type("INPUT"), each_type("OUTPUT"), optional=True),
    "outcomes": PythonModel("outcomes", {"HOW": TEXT}, {"OUT": ONE}),
    "counted": PythonModel("outcomes", {"HOW": TEXT}, {"OUT": ONE}),
    "dying": PythonModel("outcomes", {"HOW": TEXT}, {"OUT": ONE}),
    "seen": PythonModel("seen", {"IN": ROW, "MORE": ("INT32", "-1, 2")}, {"SEEN": TEXT, "TOLD": TEXT},
                        extra="dynamic_batching { priority_levels: 3 default_priority_level: 2 }\n"),
    "seen_alone": PythonModel("seen", {"IN": ONE}, {"SEEN": TEXT}),
    "started": PythonModel("started", {"IN": ONE}, {"TOLD": TEXT}, extra=(
        'parameters { key: "mine" value: { string_value: "abc" } }\n'
        'instance_group [ { kind: KIND_CPU count: 1 name: "only" } ]\n')),
    "repeat": PythonModel("repeat", {"IN": ("FP32", "-1")}, {"OUT": ONE}, extra=DECOUPLED),
    "caller": PythonModel("caller", {"TARGET": TEXT, "WHERE": TEXT, "HOW": TEXT, "WANTED": TEXT,
                                     "IN": ("FP32", "-1")}, {"SEEN": TEXT}),
    "completed": PythonModel("complete", batch=16),
    "overruled": PythonModel("complete", batch=3),
    "contradicted": PythonModel("complete", {"INPUT0": ("INT8", "4")}),
}
# model.py alone.
WITHOUT_CONFIG = {"complete": "complete", "complete_decoupled": "complete_decoupled",
                  "no_configuration": "identity"}
BROKEN = {
    "no_class": "x = 1\n", "no_execute": "class TritonPythonModel:\n    pass\n",
    "no_syntax": "class TritonPythonModel\n", "no_module": "import nowhere_at_all\n",
    "does_not_start": ("class TritonPythonModel:\n    def initialize(self, args):\n"
                       "        raise ValueError('model.py says no')\n"
                       "    def execute(self, requests):\n        return []\n"),
}
ENSEMBLES = {
    "then_outcomes": Ensemble([step("outcomes", {"HOW": "in"}, {"OUT": "out"})], {"out": ONE},
                              {"in": TEXT}, 0),
    "then_seen": Ensemble([step("seen", {"IN": "in", "MORE": "more"}, {"SEEN": "out"})],
                          {"out": TEXT}, {"in": ROW, "more": ("INT32", "-1, 2")}, 0),
    "then_repeat": Ensemble([step("repeat", {"IN": "in"}, {"OUT": "out"})], {"out": ONE},
                            {"in": ("FP32", "-1")}, 0),
}
# All but the ensembles, which are loaded by requests.
FLAGS = ("--model-control-mode=explicit", "--load-model=fixed",
         *(f"--load-model={name}" for name in (*MODELS, *WITHOUT_CONFIG, *BROKEN)))


def version_folder(folder, name):
    (folder / name / "1").mkdir(parents=True)
    return folder / name / "1"


def write(folder):
    write_model(folder, "fixed", [("TYPE_FP32", "4")])
    for name, model in MODELS.items():
        shutil.copy(FOLDER / f"{model.file}.py", version_folder(folder, name) / "model.py")
        (folder / name / "config.pbtxt").write_text(model.config())
    for name, file in WITHOUT_CONFIG.items():
        shutil.copy(FOLDER / f"{file}.py", version_folder(folder, name) / "model.py")
    for name, text in BROKEN.items():
        (version_folder(folder, name) / "model.py").write_text(text)
        (folder / name / "config.pbtxt").write_text(PythonModel("").config())
    for name, ensemble in ENSEMBLES.items():
        version_folder(folder, name)
        (folder / name / "config.pbtxt").write_text(ensemble.config(name))
