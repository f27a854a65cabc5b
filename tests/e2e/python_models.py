"""model.py files for tests, written the way Triton's documentation shows them."""
import os
import pathlib

from repositories import PARAMETER

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The workers' python3, with numpy, comes from here.
ENVIRONMENT = os.environ | {"PATH": f"{ROOT / '.venv' / 'bin'}:{os.environ['PATH']}"}

IDENTITY = '''
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            tensor = pb_utils.get_input_tensor_by_name(request, "INPUT0")
            responses.append(pb_utils.InferenceResponse(
                output_tensors=[pb_utils.Tensor("OUTPUT0", tensor.as_numpy())]))
        return responses
'''

ADD_SUB = '''
import json
import triton_python_backend_utils as pb_utils

class TritonPythonModel:
    def initialize(self, args):
        self.model_config = model_config = json.loads(args["model_config"])
        self.dtypes = [pb_utils.triton_string_to_numpy(
            pb_utils.get_output_config_by_name(model_config, name)["data_type"])
            for name in ("OUTPUT0", "OUTPUT1")]

    def execute(self, requests):
        responses = []
        for request in requests:
            in_0 = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            in_1 = pb_utils.get_input_tensor_by_name(request, "INPUT1").as_numpy()
            responses.append(pb_utils.InferenceResponse(output_tensors=[
                pb_utils.Tensor("OUTPUT0", (in_0 + in_1).astype(self.dtypes[0])),
                pb_utils.Tensor("OUTPUT1", (in_0 - in_1).astype(self.dtypes[1]))]))
        return responses

    def finalize(self):
        pb_utils.Logger.log_info("Cleaning up...")
'''


def tensor(name, data_type="FP32", dims=(4,)):
    return f'{{ name: "{name}" data_type: TYPE_{data_type} dims: [ {", ".join(map(str, dims))} ] }}'


def write_python(repository, name, model, inputs=None, outputs=None, max_batch_size=8, extra="",
                 config=True, **parameters):
    """A model of backend python with that text as its model.py; inputs, outputs: of tensor().
    parameters: of the backend or the model. config=False: no config.pbtxt. Its folder."""
    folder = repository / name
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.py").write_text(model)
    if not config:
        return folder
    text = f'backend: "python"\n{extra}\n'
    if max_batch_size is not None:
        text += f"max_batch_size: {max_batch_size}\n"
    for field, tensors in (("input", inputs or [tensor("INPUT0")]),
                           ("output", outputs or [tensor("OUTPUT0")])):
        text += "".join(f"{field} [ {one} ]\n" for one in tensors)
    text += "".join(PARAMETER % item for item in parameters.items())
    (folder / "config.pbtxt").write_text(text)
    return folder
