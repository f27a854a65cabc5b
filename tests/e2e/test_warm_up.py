"""model_warmup: requests that every instance answers before the model is ready."""
import re
import struct

import numpy as np
import pytest
from clients import connect, infer
from repositories import write_add, write_identity

LOAD_SECONDS = re.compile(r"^nv_model_load_duration_secs\{.*\} (\S+)$", re.MULTILINE)


def warm_up(data, data_type="FP32", dims=16, batch_size=1, count=1, name="first"):
    return (f'model_warmup {{ name: "{name}" batch_size: {batch_size} count: {count}\n'
            f'  inputs {{ key: "INPUT0" value {{ data_type: TYPE_{data_type} dims: {dims} {data} }} }}'
            ' }\n')


def state(server, model):
    with connect(server, "http") as (_, client):
        line, = (m for m in client.get_model_repository_index() if m["name"] == model)
    return line["state"], line.get("reason", "")


def test_it_runs_before_ready_and_is_not_counted(serve, tmp_path):
    write_identity(tmp_path, "m", execute_delay_ms=50, blocking=True,
                   extra=warm_up("zero_data: true", batch_size=4, count=8)
                   + "instance_group { count: 2 kind: KIND_CPU }\n")
    server = serve(tmp_path)
    seconds = float(LOAD_SECONDS.search(server.get("/metrics", "metrics")[1].decode()).group(1))
    assert seconds >= 8 * 0.05
    with connect(server, "grpc") as (_, client):
        stats = client.get_inference_statistics("m").model_stats[0]
        assert stats.inference_count == stats.execution_count == 0
        assert client.get_model_config("m").config.model_warmup[0].count == 8


@pytest.mark.parametrize("data_type,data", [
    ("FP32", "zero_data: true"), ("FP32", "random_data: true"), ("INT64", "random_data: true"),
    ("BOOL", "random_data: true"), ("FP16", "random_data: true"), ("STRING", "random_data: true"),
    ("STRING", "zero_data: true"), ("FP64", 'input_data_file: "sub/row.bin"'),
    ("STRING", 'input_data_file: "sub/texts.bin"')])
def test_every_kind_of_data(serve, tmp_path, data_type, data):
    folder = write_identity(tmp_path, "m", data_type=data_type,
                            extra=warm_up(data, data_type, batch_size=3))
    (folder / "warmup" / "sub").mkdir(parents=True)
    (folder / "warmup" / "sub" / "row.bin").write_bytes(np.arange(16, dtype=np.float64).tobytes())
    (folder / "warmup" / "sub" / "texts.bin").write_bytes((struct.pack("<I", 2) + b"hi") * 16)
    server = serve(tmp_path)
    assert state(server, "m") == ("READY", "")


def test_openvino_models_are_warmed(serve, tmp_path):
    write_add(tmp_path, "m", 3, config=warm_up("random_data: true", dims=4, batch_size=2))
    server = serve(tmp_path)
    with connect(server, "http") as (api, client):
        assert infer(api, client, "m", np.zeros((1, 4), np.float32))[0, 0] == 3


@pytest.mark.parametrize("text,words,options", [
    (warm_up("zero_data: true"), "model_warmup 'first': ", {"fail": True}),
    (warm_up('input_data_file: "none.bin"'), "none.bin", {}),
    (warm_up('input_data_file: "short.bin"'), "first", {}),
    (warm_up('input_data_file: "../config.pbtxt"'), "../config.pbtxt", {}),
    (warm_up('input_data_file: "/etc/passwd"'), "/etc/passwd", {}),
    (warm_up('input_data_file: "out.bin"'), "leads out of the model repository", {}),
])
def test_a_failed_warm_up_fails_the_load(serve, tmp_path, text, words, options):
    repository = tmp_path / "repository"
    folder = write_identity(repository, "m", extra=text, **options)
    write_identity(repository, "other")
    (folder / "warmup").mkdir()
    (folder / "warmup" / "short.bin").write_bytes(b"123")
    (tmp_path / "secret").write_bytes(bytes(64))
    (folder / "warmup" / "out.bin").symlink_to(tmp_path / "secret")
    server = serve(repository)
    what, reason = state(server, "m")
    assert what == "UNAVAILABLE" and "warmup" in reason and words in reason
    assert state(server, "other") == ("READY", "")
