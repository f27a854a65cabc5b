import numpy as np
import onnxruntime
import pytest
from PIL import Image

import efficientnet_lite0
import repository


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    return repository.prepare(tmp_path_factory.mktemp("demo") / "demo")


def test_the_model_knows_every_photograph(demo):
    models, photos = demo
    folder = models / repository.MODEL
    session = onnxruntime.InferenceSession(str(folder / "1" / "model.onnx"))
    labels = (folder / "labels.txt").read_text().splitlines()
    for name, (_, expected) in repository.PHOTOGRAPHS.items():
        pixels = efficientnet_lite0.normalise(Image.open(photos / name))
        (probabilities,) = session.run(["probabilities"], {"input": pixels[np.newaxis]})
        assert probabilities.shape == (1, 1000)
        assert probabilities.sum() == pytest.approx(1, abs=1e-4)
        assert labels[probabilities.argmax()] in expected, name


def test_labels_are_one_line_a_class(demo):
    labels = (demo[0] / repository.MODEL / "labels.txt").read_text().splitlines()
    assert len(labels) == 1000
    assert (labels[504], labels[967]) == ("coffee mug", "espresso")


def test_a_second_run_keeps_the_files(demo):
    model = demo[0] / repository.MODEL / "1" / "model.onnx"
    before = model.stat().st_mtime_ns
    repository.prepare(demo[0].parent)
    assert model.stat().st_mtime_ns == before


def test_features_come_on_request():
    weights = efficientnet_lite0.packaged_weights()
    model = efficientnet_lite0.build_model(weights, features=True)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    logits, features = session.run(None, {"input": np.zeros((2, 3, 224, 224), np.float32)})
    assert (logits.shape, features.shape) == ((2, 1000), (2, 1280))


def test_a_weight_nobody_uses_is_an_error():
    weights = efficientnet_lite0.packaged_weights() | {"extra.weight": np.zeros(1, np.float32)}
    with pytest.raises(ValueError, match="extra.weight"):
        efficientnet_lite0.build_model(weights)
