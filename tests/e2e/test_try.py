"""`proa inspect`, `proa infer` and examples/classify.py, as typed."""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image

import efficientnet_lite0
import repository

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "classify.py"
sys.path.append(str(ROOT / "examples"))


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """(repository, photographs)"""
    return repository.prepare(tmp_path_factory.mktemp("demo"))


@pytest.fixture
def run(proa, tmp_path):
    """run(*arguments): the finished process; its folder is the test's own."""
    def start(*arguments, command=(proa,)):
        words = [str(word) for word in (*command, *arguments)]
        return subprocess.run(words, capture_output=True, text=True, timeout=60, cwd=tmp_path)
    return start


def model_file(models):
    return models / repository.MODEL / "1" / "model.onnx"


def test_pictures_of_one_stem_are_saved_apart(run, demo, tmp_path):
    for name, level in (("rgb.jpg", 0), ("rgb.png", 200)):
        Image.new("RGB", (300, 300), (level,) * 3).save(tmp_path / name)
    done = run("infer", model_file(demo[0]), "rgb.jpg", "rgb.png", "--save", "out")
    assert done.returncode == 0, done.stderr
    saved = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in saved] == ["rgb-2.probabilities.npy", "rgb.probabilities.npy"]
    assert not np.array_equal(*map(np.load, saved))


def test_a_bare_name_asks_the_server(serve, run, demo, tmp_path):
    shutil.copytree(demo[0] / repository.MODEL, tmp_path / repository.MODEL)
    server = serve(demo[0])
    coffee = demo[1] / "coffee.png"
    remote = run("infer", repository.MODEL, coffee, "--url", server.http)
    local = run("infer", f"./{repository.MODEL}", coffee)
    assert f"at http://{server.http}" in remote.stdout and "in this process" in local.stdout
    heading = "output 'probabilities' FP32 [1,1000]"
    for done in (remote, local):
        assert done.returncode == 0 and heading in done.stdout and "espresso" in done.stdout
        assert not any(line.endswith(" ") for line in done.stdout.splitlines())


@pytest.mark.parametrize("arguments", (("x.onnx", "--url", "localhost", "--in-process"),
                                       ("./x.onnx", "--timeout", "3"), ("x", "--url", "host:0")))
def test_wrong_usage_of_infer_is_told_apart(run, arguments):
    assert run("infer", *arguments).returncode == 2


def test_labels_of_another_model_are_noticed(run, demo, tmp_path):
    (tmp_path / "labels.txt").write_text("cat\ndog\n")
    done = run("infer", model_file(demo[0]), demo[1] / "coffee.png", "--labels", "labels.txt")
    assert done.returncode == 0 and "has 2 lines" in done.stderr and "1000 classes" in done.stderr


def test_the_example_tells_errors_in_one_line(run, tmp_path):
    Image.new("RGB", (300, 300)).save(tmp_path / "black.jpg")
    (tmp_path / "broken.jpg").write_bytes((tmp_path / "black.jpg").read_bytes()[:400])
    (tmp_path / "text.jpg").write_text("no picture")
    for picture in ("missing.jpg", "broken.jpg", "text.jpg", "black.jpg"):
        done = run(picture, "--url", "127.0.0.1:1", command=(sys.executable, EXAMPLE))
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr


def test_the_example_turns_pictures_upright_and_keeps_16_bits(tmp_path):
    import classify
    upright = Image.linear_gradient("L").resize((300, 400))
    orientation = Image.Exif()
    orientation[0x0112] = 6  # to be turned by 90 degrees clockwise
    upright.convert("RGB").rotate(90, expand=True).save(tmp_path / "turned.png", exif=orientation)
    deep = Image.fromarray(np.asarray(upright, np.uint16) * 257)
    deep.save(tmp_path / "deep.png")
    wanted = efficientnet_lite0.normalise(upright.convert("RGB"))[np.newaxis]
    for name in ("turned.png", "deep.png"):
        pixels = classify.load_picture(tmp_path / name)
        assert np.abs(pixels - wanted).max() < 0.05, name
