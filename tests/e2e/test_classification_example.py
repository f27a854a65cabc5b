"""examples/classification against onnxruntime on Pillow's preprocessing."""
import subprocess
import sys

import numpy as np
import onnxruntime
from images import crop_centre, open_picture, resize_shorter_side
from PIL import Image

import repository
import tritonclient.http as triton
from proa_server import ROOT

EXAMPLE = ROOT / "examples" / "classification"
sys.path.insert(0, str(EXAMPLE))

import classification as example  # noqa: E402


def test_the_labels_are_those_of_onnxruntime(serve, tmp_path):
    models, photographs = example.write_models(tmp_path)
    network = onnxruntime.InferenceSession(models / repository.MODEL / "1" / "model.onnx")
    labels = repository.imagenet_labels()
    server = serve(models)
    with triton.InferenceServerClient(server.http) as client:
        for path in sorted(photographs.iterdir()):
            picture = resize_shorter_side(open_picture(path.read_bytes()), 256, Image.Resampling.BICUBIC)
            pixels = np.asarray(crop_centre(picture, 224), np.float32).transpose(2, 0, 1)[np.newaxis]
            pixels = (pixels - 127) / 128
            wanted = network.run(None, {"input": pixels})[0][0]
            best = np.argsort(-wanted)[:example.TOP]
            found = example.classify(client, path.read_bytes())
            assert [label for _, label in found] == [labels[i] for i in best], path.name
            np.testing.assert_allclose([p for p, _ in found], wanted[best], atol=1e-4)


def test_the_command_prints_a_line_a_picture_and_tells_broken_ones(tmp_path):
    (tmp_path / "broken.jpg").write_bytes(b"no picture")
    run = subprocess.run([sys.executable, EXAMPLE / "classification.py", tmp_path / "broken.jpg"],
                         capture_output=True, text=True, timeout=120)
    assert run.returncode == 1
    assert run.stderr.startswith("broken.jpg")
