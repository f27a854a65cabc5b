"""`proa inspect --check`: what a server would make of a repository; and configurations that go from a
server's answer back into the repository."""
import json
import subprocess
import urllib.request

from repositories import write_identity


def check(proa, repository, *flags):
    return subprocess.run([proa, "inspect", "--check", str(repository), *flags],
                          capture_output=True, text=True, timeout=60)


def write_bad_models(repository):
    (repository / "typo").mkdir()
    (repository / "typo" / "1").mkdir()
    (repository / "typo" / "config.pbtxt").write_text(
        'backend: "identity"\nmax_bach_size: 4\ninput { name: "x" data_type: TYPE_FLOAT dims: 1 }\n')
    (repository / "rubbish" / "1").mkdir(parents=True)
    (repository / "rubbish" / "1" / "model.onnx").write_bytes(b"no model")
    (repository / "empty").mkdir()
    write_identity(repository, "unlabelled", extra="").joinpath("config.pbtxt").write_text(
        'backend: "identity"\ninput { name: "a" data_type: TYPE_FP32 dims: 1 }\n'
        'output { name: "b" data_type: TYPE_FP32 dims: 1 label_filename: "missing.txt" }\n')
    write_identity(repository, "cold", extra=(
        'model_warmup { name: "w" batch_size: 1 inputs { key: "INPUT0" value {'
        ' data_type: TYPE_FP32 dims: 16 input_data_file: "nowhere.bin" } } }'))


def test_a_good_repository_passes(proa, tmp_path):
    write_identity(tmp_path, "one")
    folder = write_identity(tmp_path, "many", extra="version_policy { specific { versions: [ 2, 7 ] } }\n"
                                                    "response_cache { enable: true }")
    for version in (2, 7):
        (folder / str(version)).mkdir()
    result = check(proa, tmp_path)
    assert result.returncode == 0, result.stderr
    assert "many: ok: versions 2, 7, backend identity, max_batch_size 8" in result.stdout
    assert "  warning: response_cache.enable has no effect" in result.stdout
    assert "one: ok: version 1, backend identity" in result.stdout
    assert "2 models would be served" in result.stdout


def test_every_problem_of_every_model_is_told(proa, tmp_path):
    write_identity(tmp_path, "fine")
    write_bad_models(tmp_path)
    result = check(proa, tmp_path, "--json")
    assert result.returncode == 1
    assert "5 of 6 models would not be served" in result.stderr
    report = json.loads(result.stdout)
    assert report["failed"] == 5
    models = {model["name"]: model for model in report["models"]}
    assert models["fine"] == {"name": "fine", "ok": True, "errors": [], "warnings": [],
                              "backend": "identity", "max_batch_size": 8, "versions": [1]}
    assert len(models["typo"]["errors"]) == 2
    assert "config.pbtxt:2:1: ModelConfig has no field 'max_bach_size'" in models["typo"]["errors"][0]
    assert "'TYPE_FLOAT' is no value of data_type" in models["typo"]["errors"][1]
    assert "model.onnx" in models["rubbish"]["errors"][0]
    assert "holds no version" in models["empty"]["errors"][0]
    assert "missing.txt" in models["unlabelled"]["errors"][0]
    assert "nowhere.bin" in models["cold"]["errors"][0]
    assert all("versions" not in model for model in report["models"] if not model["ok"])


def test_the_flags_of_the_server_change_what_is_told(proa, tmp_path):
    write_identity(tmp_path, "gpu", extra="instance_group { kind: KIND_GPU }")
    result = check(proa, tmp_path, "--gpu-models-on-cpu")
    assert result.returncode == 0, result.stderr
    assert "KIND_GPU and runs on the CPU" in result.stdout


def test_check_wants_a_repository(proa, tmp_path):
    folder = write_identity(tmp_path, "one")
    result = check(proa, folder)
    assert result.returncode == 2
    assert "--check wants a repository" in result.stderr
    assert check(proa, tmp_path / "nowhere").returncode == 1


EVERYTHING = """
runtime: "libtriton_identity.so"
optimization { priority: PRIORITY_MAX execution_accelerators {
  gpu_execution_accelerator { name: "tensorrt" parameters { key: "precision_mode" value: "FP16" } } } }
dynamic_batching { preferred_batch_size: [ 4 ] max_queue_delay_microseconds: 100
  priority_levels: 2 default_priority_level: 1 priority_queue_policy { key: 2 value { max_queue_size: 3 } } }
instance_group { count: 2 kind: KIND_CPU host_policy: "cpu" rate_limiter { priority: 2 } }
model_warmup { name: "w" batch_size: 2
  inputs { key: "INPUT0" value { data_type: TYPE_FP32 dims: 16 zero_data: true } } }
metric_tags { key: "team" value: "a \\"b\\"" }
response_cache { enable: true }
model_metrics { metric_control { metric_identifier { family: "f" } histogram_options { buckets: [ 1, 2 ] } } }
"""


def shown(server, model):
    with urllib.request.urlopen(f"http://{server.http}/v2/models/{model}/config") as answer:
        return answer.read()


def test_the_shown_configuration_is_pasted_back_unchanged(serve, proa, tmp_path):
    source, as_json, as_text = (tmp_path / name for name in ("source", "json", "text"))
    models = [write_identity(source, "full", extra=EVERYTHING), write_identity(source, "plain"),
              write_identity(source, "fixed", max_batch_size=0)]
    server = serve(source)
    configs = {model.name: shown(server, model.name) for model in models}
    full = json.loads(configs["full"])
    assert full["runtime"] == "libtriton_identity.so"
    assert full["instance_group"][0]["rate_limiter"]["priority"] == 2
    assert full["response_cache"] == {"enable": True}
    for model in models:
        for copy in (as_json, as_text):
            (copy / model.name / "1").mkdir(parents=True)
        (as_json / model.name / "config.pbtxt").write_bytes(configs[model.name])
        text = subprocess.run([proa, "inspect", "--config", str(model)], capture_output=True,
                              timeout=60, check=True).stdout
        (as_text / model.name / "config.pbtxt").write_bytes(text)
    for copy in (serve(as_json), serve(as_text)):
        assert {name: shown(copy, name) for name in configs} == configs
