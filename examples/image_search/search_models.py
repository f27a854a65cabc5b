"""The model repository of the image search: picture file -> tensor -> features -> nearest pictures."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools" / "models"))

import repository  # noqa: E402

FEATURES = 1280

NETWORK = """\
backend: "openvino"
max_batch_size: 8
input [ { name: "input" data_type: TYPE_FP32 dims: [ 3, 224, 224 ] } ]
output [ { name: "features" data_type: TYPE_FP32 dims: [ %d ] } ]
dynamic_batching { }
""" % FEATURES

STEP_PREPARE = """\
    {
      model_name: "prepare" model_version: -1
      input_map { key: "file" value: "picture" }
      output_map { key: "tensor" value: "tensor" }
    }"""
STEP_NETWORK = """\
    {
      model_name: "network" model_version: -1
      input_map { key: "input" value: "tensor" }
      output_map { key: "features" value: "features" }
    }"""
STEP_PHOTOS = """\
    {
      model_name: "photos" model_version: -1
      input_map { key: "vector" value: "features" }
      output_map { key: "payloads" value: "names" }
      output_map { key: "scores" value: "scores" }
    }"""

ENSEMBLE = """\
platform: "ensemble"
max_batch_size: 8
input [ { name: "picture" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ %s ]
ensemble_scheduling {
  step [
%s
  ]
}
"""


def ensemble(outputs, *steps):
    return ENSEMBLE % (", ".join(outputs), ",\n".join(steps))


def write_models(folder, neighbours):
    """Everything but the index itself, which `proa index build` makes with the model `embed`."""
    import efficientnet_lite0
    import onnx

    folder = pathlib.Path(folder)
    configs = {
        "prepare": repository.PREPARE,
        "network": NETWORK,
        "embed": ensemble([f'{{ name: "features" data_type: TYPE_FP32 dims: [ {FEATURES} ] }}'],
                          STEP_PREPARE, STEP_NETWORK),
        "search": ensemble([f'{{ name: "names" data_type: TYPE_STRING dims: [ {neighbours} ] }}',
                            f'{{ name: "scores" data_type: TYPE_FP32 dims: [ {neighbours} ] }}'],
                           STEP_PREPARE, STEP_NETWORK, STEP_PHOTOS),
    }
    for name, config in configs.items():
        (folder / name / "1").mkdir(parents=True, exist_ok=True)
        (folder / name / "config.pbtxt").write_text(config)
    network = folder / "network" / "1" / "model.onnx"
    if not network.exists():
        onnx.save(efficientnet_lite0.build_model(efficientnet_lite0.packaged_weights(), features=True),
                  network)
