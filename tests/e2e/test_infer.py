"""`proa infer` and `proa inspect`, against a server and in process."""
import subprocess

import numpy as np
import pytest

import repository


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """(model repository, photographs)."""
    return repository.prepare(tmp_path_factory.mktemp("demo") / "demo")


def run(proa, *arguments):
    return subprocess.run([proa, *map(str, arguments)], capture_output=True, text=True, timeout=60)


def classes(text):
    """(score, index, label) of the lines that print classes; label "" when there is none."""
    rows = [(line.split(None, 2) + [""])[:3] for line in text.splitlines() if line.startswith("   ")]
    return [(float(score), int(index), label) for score, index, label in rows]


def test_server_and_process_tell_the_same_classes(serve, proa, demo):
    server = serve(demo[0])
    photograph = demo[1] / "coffee.png"
    served = run(proa, "infer", repository.MODEL, photograph, "--url", f"http://{server.http}")
    local = run(proa, "infer", demo[0] / repository.MODEL, photograph)
    assert served.returncode == 0, served.stderr
    assert local.returncode == 0, local.stderr
    assert len(classes(served.stdout)) == 5
    assert classes(served.stdout)[0][2].startswith("espresso")
    for (score, *rest), (local_score, *local_rest) in zip(classes(served.stdout),
                                                          classes(local.stdout)):
        assert rest == local_rest
        assert abs(score - local_score) < 1e-3


def test_arrays_go_in_and_come_out(serve, proa, demo, tmp_path):
    server = serve(demo[0])
    values = np.random.default_rng(1).random((2, 3, 224, 224)).astype(np.float32)
    np.save(tmp_path / "in.npy", values)
    model = ("infer", repository.MODEL, "--url", f"http://{server.http}")
    both = run(proa, *model, "--input", f"input=@{tmp_path / 'in.npy'}", "--save", tmp_path / "both")
    assert both.returncode == 0, both.stderr
    np.save(tmp_path / "one.npy", values[1].astype(np.float64))
    one = run(proa, *model, "--input", f"input=@{tmp_path / 'one.npy'}", "--save", tmp_path / "one")
    assert one.returncode == 0, one.stderr
    rows = np.load(tmp_path / "both" / "probabilities.npy")
    assert rows.shape == (2, 1000)
    np.testing.assert_allclose(np.load(tmp_path / "one" / "probabilities.npy")[0], rows[1], atol=1e-5)


def test_errors_say_what_is_wrong(serve, proa, demo, tmp_path):
    url = f"http://{serve(demo[0]).http}"
    unknown = run(proa, "infer", "nope", "--url", url)
    assert unknown.returncode == 1
    assert "unknown model: 'nope'" in unknown.stderr
    missing = run(proa, "infer", repository.MODEL, "--url", url)
    assert missing.returncode == 2
    assert "input FP32 [-1,3,224,224]" in missing.stderr
    (tmp_path / "broken.onnx").write_bytes(b"rubbish")
    broken = run(proa, "inspect", tmp_path / "broken.onnx")
    assert broken.returncode == 1
    assert "broken.onnx" in broken.stderr


def test_the_drafted_configuration_is_served_under_any_name(serve, proa, demo, tmp_path):
    source = demo[0] / repository.MODEL / "1" / "model.onnx"
    draft = run(proa, "inspect", source, "--config")
    assert draft.returncode == 0, draft.stderr
    folder = tmp_path / "repository" / "mine"
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.onnx").write_bytes(source.read_bytes())
    (folder / "config.pbtxt").write_text(draft.stdout)
    server = serve(folder.parent)
    answer = run(proa, "infer", "mine", demo[1] / "coffee.png", "--url", f"http://{server.http}")
    assert answer.returncode == 0, answer.stderr
    assert classes(answer.stdout)[0][1] == 967
    listing = run(proa, "inspect", folder.parent)
    assert listing.returncode == 0, listing.stderr
    assert "max_batch_size 4" in listing.stdout
