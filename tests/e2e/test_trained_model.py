"""EfficientNet-Lite0 as a user serves it, held against onnxruntime on real photographs."""
import shutil

import numpy as np
import onnxruntime
import pytest
from PIL import Image

import efficientnet_lite0
import repository
from clients import PROTOCOLS, connect

ROWS = 5


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """(model repository, photographs)."""
    return repository.prepare(tmp_path_factory.mktemp("demo") / "demo")


@pytest.fixture(scope="module")
def pixels(demo):
    """f32[5, 3, 224, 224], the photographs in the order of repository.PHOTOGRAPHS."""
    return np.stack([efficientnet_lite0.normalise(Image.open(demo[1] / name))
                     for name in repository.PHOTOGRAPHS])


@pytest.fixture(scope="module")
def wanted(demo, pixels):
    """onnxruntime's probabilities, f32[5, 1000]."""
    model = demo[0] / repository.MODEL / "1" / "model.onnx"
    return onnxruntime.InferenceSession(model).run(None, {"input": pixels})[0]


def ask(server, protocol, values, model=repository.MODEL, **output):
    with connect(server, protocol) as (api, client):
        image = api.InferInput("input", list(values.shape), "FP32")
        image.set_data_from_numpy(values)
        wanted = [api.InferRequestedOutput("probabilities", **output)]
        return client.infer(model, [image], outputs=wanted).as_numpy("probabilities")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_probabilities_are_those_of_onnxruntime(serve, demo, pixels, wanted, protocol):
    server = serve(demo[0])
    together = ask(server, protocol, pixels)
    assert together.shape == (ROWS, 1000)
    np.testing.assert_allclose(together, wanted, atol=1e-4)
    for row in range(ROWS):
        alone = ask(server, protocol, pixels[row:row + 1])
        np.testing.assert_allclose(alone[0], wanted[row], atol=1e-4)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_classes_come_with_score_number_and_label(serve, demo, pixels, wanted, protocol):
    rows = ask(serve(demo[0]), protocol, pixels, class_count=3)
    assert rows.shape == (ROWS, 3)
    for photograph, answers, expected in zip(repository.PHOTOGRAPHS.values(), rows, wanted):
        parsed = [answer.decode().split(":", 2) for answer in answers]
        assert [int(number) for _, number, _ in parsed] == list(expected.argsort()[::-1][:3])
        scores = [float(score) for score, _, _ in parsed]
        np.testing.assert_allclose(scores, np.sort(expected)[::-1][:3], atol=1e-4)
        assert parsed[0][2] in photograph[1]


def test_an_onnx_file_needs_no_configuration(serve, demo, pixels, wanted, tmp_path):
    folder = tmp_path / "my_model" / "1"
    folder.mkdir(parents=True)
    shutil.copy(demo[0] / repository.MODEL / "1" / "model.onnx", folder)
    server = serve(tmp_path)
    with connect(server, "http") as (_, client):
        metadata = client.get_model_metadata("my_model")
    assert metadata["inputs"] == [{"name": "input", "datatype": "FP32",
                                   "shape": [-1, 3, 224, 224]}]
    assert metadata["outputs"] == [{"name": "probabilities", "datatype": "FP32",
                                    "shape": [-1, 1000]}]
    answer = ask(server, "http", pixels[:1], model="my_model")
    np.testing.assert_allclose(answer[0], wanted[0], atol=1e-4)


def test_a_corrupt_file_is_named_and_the_others_serve(serve, demo, pixels, tmp_path):
    shutil.copytree(demo[0] / repository.MODEL, tmp_path / repository.MODEL)
    broken = tmp_path / "broken" / "1" / "model.onnx"
    broken.parent.mkdir(parents=True)
    content = (demo[0] / repository.MODEL / "1" / "model.onnx").read_bytes()
    broken.write_bytes(content[: len(content) // 2])
    server = serve(tmp_path)
    assert server.get("/v2/models/broken/ready")[0] == 400
    assert "broken" in server.log() and "model.onnx" in server.log()
    assert ask(server, "grpc", pixels[:1]).shape == (1, 1000)
