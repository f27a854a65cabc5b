"""Models that ask for a GPU, on machines without one, and what would run there."""
import json
import pathlib
import shutil
import subprocess

import numpy as np
import onnx
import pytest
import tritonclient.http

import bert
import resnet

WITHOUT_GPU = pytest.mark.skipif(shutil.which("nvidia-smi") is not None, reason="there is a GPU")


@pytest.fixture
def repository(tmp_path):
    """One small network whose configuration asks for a GPU."""
    version = tmp_path / "models" / "net" / "1"
    version.mkdir(parents=True)
    onnx.save(resnet.resnet([1], 8, 32, 4, "N", 1), version / "model.onnx")
    (version.parent / "config.pbtxt").write_text("instance_group { kind: KIND_GPU count: 2 }\n")
    return tmp_path / "models"


@WITHOUT_GPU
def test_without_a_gpu_the_reason_names_the_ways_out(serve, repository):
    server = serve(repository)
    client = tritonclient.http.InferenceServerClient(server.http)
    line, = client.get_model_repository_index()
    assert line["state"] == "UNAVAILABLE"
    assert "KIND_CPU" in line["reason"] and "--gpu-models-on-cpu" in line["reason"]


def test_models_of_kind_gpu_run_on_the_cpu_when_asked_to(serve, repository):
    server = serve(repository, "--gpu-models-on-cpu")
    client = tritonclient.http.InferenceServerClient(server.http)
    config = client.get_model_config("net")
    assert config["backend"] == "openvino"
    assert config["instance_group"][0]["kind"] == "KIND_CPU"
    tensor = tritonclient.http.InferInput("input", [2, 3, 32, 32], "FP32")
    tensor.set_data_from_numpy(np.random.default_rng(2).random((2, 3, 32, 32), np.float32))
    name = config["output"][0]["name"]
    assert client.infer("net", [tensor]).as_numpy(name).shape == (2, 4)


def inspect(proa, path, *flags):
    return subprocess.run([proa, "inspect", path, "--device", "cuda", *flags], check=True,
                          capture_output=True, text=True).stdout


def test_inspect_tells_what_would_run_on_a_gpu(proa, repository):
    model = repository / "net" / "1" / "model.onnx"
    assert "0 on the CPU" in inspect(proa, model)
    planted = onnx.load(model)
    first = planted.graph.node[0]
    for node in planted.graph.node:
        for index, name in enumerate(node.input):
            if name == first.output[0]:
                node.input[index] = "curved"
    planted.graph.node.insert(1, onnx.helper.make_node("Erf", [first.output[0]], ["curved"], "odd"))
    path = pathlib.Path(repository.parent / "planted.onnx")
    onnx.save(planted, path)
    report = json.loads(inspect(proa, path, "--json"))
    assert report["fallbacks"][0]["operator"] == "Erf"
    assert {part["device"] for part in report["parts"]} == {"CPU", "GPU"}


def test_inspect_wants_the_extents_that_are_open(proa, tmp_path):
    model = tmp_path / "bert.onnx"
    onnx.save(bert.bert(layers=1, width=32, heads=4, words=100, positions=64, seed=1), model)
    refused = subprocess.run([proa, "inspect", model, "--device", "cuda"], capture_output=True,
                             text=True)
    assert refused.returncode == 1
    assert "input_ids" in refused.stderr and "--shape" in refused.stderr
    report = json.loads(inspect(proa, model, "--json", "--shape", "input_ids:16", "--shape",
                                "attention_mask:16"))
    erf = [each for each in report["fallbacks"] if each["operator"] == "Erf"][0]
    part = report["parts"][erf["part"]]
    assert part["device"] == "CPU" and part["row_us"] > 0 and part["input_bytes"] > 0
