"""The model repository of the example: the nets of PP-OCRv4, and what stands around them."""
import pathlib
import shutil
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT / "tools" / "models"))

import repository  # noqa: E402

OCR = """\
# A picture file to its lines of text: the text, how sure, and the corners in pixels.
backend: "python"
max_batch_size: 0
input [ { name: "picture" data_type: TYPE_STRING dims: [ 1 ] } ]
output [
  { name: "texts" data_type: TYPE_STRING dims: [ -1 ] },
  { name: "scores" data_type: TYPE_FP32 dims: [ -1 ] },
  { name: "boxes" data_type: TYPE_FP32 dims: [ -1, 4, 2 ] }
]
instance_group [ { kind: KIND_CPU count: 2 } ]
parameters { key: "EXECUTION_ENV_PATH" value { string_value: "%s" } }
"""

DECODE = """\
backend: "image"
max_batch_size: 0
input [ { name: "file" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "pixels" data_type: TYPE_UINT8 dims: [ -1, -1, 3 ] } ]
instance_group [ { kind: KIND_CPU count: 2 } ]
parameters { key: "layout" value { string_value: "nhwc" } }
parameters { key: "channels" value { string_value: "bgr" } }
"""

NET = """\
backend: "openvino"
max_batch_size: 8
input [ { name: "x" data_type: TYPE_FP32 dims: [ %s ] } ]
output [ { name: "%s" data_type: TYPE_FP32 dims: [ %s ] } ]
dynamic_batching { }
"""

# Model -> (file in the wheel, extents of its input, its output and its extents).
NETS = {
    "text_detection": ("ch_PP-OCRv4_det_infer.onnx", "3, -1, -1", "sigmoid_0.tmp_0", "1, -1, -1"),
    "text_angle": ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "3, 48, 192",
                   "save_infer_model/scale_0.tmp_1", "2"),
    "text_recognition": ("ch_PP-OCRv4_rec_infer.onnx", "3, 48, -1", "softmax_11.tmp_0", "-1, 6625"),
}


def write_models(folder):
    """All five models below the folder."""
    folder = pathlib.Path(folder)
    for name, (file, takes, output, gives) in NETS.items():
        version = repository.write_model(folder / name, NET % (takes, output, gives))
        shutil.copyfile(packaged(file), version / "model.onnx")
    repository.write_model(folder / "decode", DECODE)
    version = repository.write_model(folder / "ocr", OCR % sys.prefix)
    for file in ("model.py", "text_lines.py"):
        shutil.copyfile(HERE / file, version / file)
    (version / "characters.txt").write_text(characters(), encoding="utf-8")


def packaged(file):
    return repository.packaged("rapidocr-onnxruntime", f"rapidocr_onnxruntime/models/{file}")


def characters():
    """What the recognition can write, a character a line, as its file says."""
    import onnx

    properties = onnx.load(packaged(NETS["text_recognition"][0])).metadata_props
    return next(each.value for each in properties if each.key == "character")
