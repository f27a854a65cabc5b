"""What `proa bench` sends, against real servers."""
import json
import pathlib

import numpy as np
import pytest

from bench import bench
from perf_analyzer import perf_analyzer
from repositories import write_identity

ROOT = pathlib.Path(__file__).resolve().parents[2]


def entries(path, data, validation=None):
    path.write_text(json.dumps({"data": data} | ({"validation_data": validation} if validation else {})))
    return path


@pytest.mark.parametrize("protocol", ("http", "grpc"))
def test_answers_are_compared_with_validation_data(proa, serve, tmp_path, protocol):
    repository = tmp_path / "models"
    write_identity(repository, dims=(2,))
    server = serve(repository)
    target = ("-m", "identity", "-u", getattr(server, protocol), "-i", protocol)
    right = entries(tmp_path / "right.json", [{"INPUT0": [1, 2]}, {"INPUT0": [3, 4]}],
                    [{"OUTPUT0": [1, 2]}, {"OUTPUT0": [3, 4]}])
    run = bench(proa, tmp_path, *target, "--input-data", right)
    assert run.level()["counts"]["completed"] > 0, run.out + run.err
    assert run.level()["errors"] == []
    assert run.report["models"][0]["distinct_payloads"] == 2
    wrong = entries(tmp_path / "wrong.json", [{"INPUT0": [1, 2]}, {"INPUT0": [3, 4]}],
                    [{"OUTPUT0": [1, 2]}, {"OUTPUT0": [3, 5]}])
    run = bench(proa, tmp_path, *target, "--input-data", wrong)
    assert run.status not in (0, 2), run.out + run.err
    (group,) = run.level()["errors"]
    assert "output 'OUTPUT0' element 1: validation_data wants 5, 4 came" in group["sample"]


def test_the_same_file_works_for_perf_analyzer(proa, serve, tmp_path):
    repository = tmp_path / "models"
    write_identity(repository, data_type="STRING", dims=(-1,))
    server = serve(repository)
    strings = np.array([2, 0, 0, 0, *b"hi"], dtype=np.uint8).tobytes()
    import base64
    data = entries(tmp_path / "data.json", [
        {"INPUT0": {"content": ["a", "b c"], "shape": [2]}},
        {"INPUT0": {"content": {"b64": base64.b64encode(strings).decode()}, "shape": [1]}}])
    flags = ("-m", "identity", "-u", server.http, "--input-data", data, "--concurrency-range", "1")
    perf_analyzer(*flags, count=50)
    run = bench(proa, tmp_path, *flags)
    assert run.level()["counts"]["errors"] == 0, run.out + run.err
    assert run.level()["counts"]["completed"] > 0


def test_pictures_and_batches_and_open_shapes(proa, serve, tmp_path):
    repository = tmp_path / "models"
    write_identity(repository, name="picture", dims=(3, 32, 32))
    write_identity(repository, name="open", data_type="INT64", dims=(-1,))
    server = serve(repository)
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    picture = ROOT / "src" / "image" / "testing" / "cases" / "decode_rgb.png"
    (pictures / "one.png").write_bytes(picture.read_bytes())
    run = bench(proa, tmp_path, "-m", "picture", "-u", server.http, "-b", 4, "--input-data",
                pictures)
    assert run.level()["counts"]["inferences"] == 4 * run.level()["counts"]["completed"] > 0
    (model,) = run.report["models"]
    assert model["batch_size"] == 4 and model["payload_bytes"] == 4 * 3 * 32 * 32 * 4
    run = bench(proa, tmp_path, "-m", "open", "-u", server.http)
    assert run.status == 2 and "--shape INPUT0:8" in run.err
    run = bench(proa, tmp_path, "-m", "open", "-u", server.http, "--shape", "INPUT0:5")
    assert run.level()["counts"]["errors"] == 0, run.out + run.err
