"""Explicit mode: clients load and unload models, with configurations and files of their own."""
import base64
import http.client
import json
import os
import pathlib
import threading

import numpy as np
import pytest
from clients import PROTOCOLS, connect, infer
from repositories import onnx_add, replace, write_add, write_identity
from tritonclient.utils import InferenceServerException
from waiting import wait_until

ONE = np.ones((1, 4), np.float32)
EXPLICIT = "--model-control-mode=explicit"


def index(client, protocol):
    """{(name, version): (state, reason)} of the repository's index."""
    lines = client.get_model_repository_index()
    if protocol == "grpc":
        return {(m.name, m.version): (m.state, m.reason) for m in lines.models}
    return {(m["name"], m.get("version", "")): (m.get("state", ""), m.get("reason", ""))
            for m in lines}


def post(server, path, body=b""):
    connection = http.client.HTTPConnection(server.http, timeout=30)
    connection.request("POST", path, body if isinstance(body, bytes) else json.dumps(body))
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, json.loads(text)["error"] if text else ""


def added(client_and_api, model="m"):
    api, client = client_and_api
    return float(infer(api, client, model, ONE)[0, 0]) - 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_models_are_loaded_and_unloaded_as_clients_ask(serve, tmp_path, protocol):
    write_add(tmp_path, "m", 10)
    write_identity(tmp_path, "other")
    server = serve(tmp_path, EXPLICIT)
    with connect(server, protocol) as (api, client):
        assert index(client, protocol) == {("m", ""): ("", ""), ("other", ""): ("", "")}
        assert client.is_server_ready() and not client.is_model_ready("m")
        client.load_model("m")
        assert client.is_model_ready("m")
        assert added((api, client)) == 10
        assert index(client, protocol)[("m", "1")] == ("READY", "")
        client.unload_model("m")
        assert not client.is_model_ready("m")
        assert "proa_model_ready{" not in server.get("/metrics", "metrics")[1].decode()
        wait_until(lambda: index(client, protocol)[("m", "1")] == ("UNAVAILABLE", "unloaded"), "m is gone")
        with pytest.raises(InferenceServerException, match="has no available versions: unloaded"):
            infer(api, client, "m", ONE)
        client.load_model("m")
        assert added((api, client)) == 10
        client.unload_model("m", unload_dependents=True)
        client.unload_model("no such model")  # as Triton: what is to be gone is gone


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_request_brings_configuration_and_files(serve, tmp_path, protocol):
    write_add(tmp_path, "m", 10)
    server = serve(tmp_path, EXPLICIT, "--load-model=m")
    with connect(server, protocol) as (api, client):
        config = {"backend": "onnxruntime", "max_batch_size": 3}
        client.load_model("m", config=json.dumps(config))
        shown = client.get_model_config("m", **({"as_json": True} if protocol == "grpc" else {}))
        assert (shown["config"] if protocol == "grpc" else shown)["max_batch_size"] == 3
        assert added((api, client)) == 10

        client.load_model("m", config=json.dumps(config), files={
            "file:5/model.onnx": onnx_add(50), "file:7/model.onnx": onnx_add(70)})
        assert added((api, client)) == 70
        assert set(index(client, protocol)) == {("m", "1"), ("m", "7")}

        # A model that is in no repository.
        client.load_model("new", config="{}", files={"file:1/model.onnx": onnx_add(3)})
        assert added((api, client), "new") == 3
        temporary = [path for path in pathlib.Path("/tmp").glob("proa-temporary-folder.*/new/1/model.onnx")
                     if path.owner() == pathlib.Path(tmp_path).owner()]
        assert temporary
        client.unload_model("new")
        wait_until(lambda: not any(path.exists() for path in temporary), "its files are gone")

        # Without them: what lies in the repository.
        client.load_model("m")
        assert added((api, client)) == 10


def test_files_that_a_killed_server_left_are_removed(serve, tmp_path):
    models, temporary = tmp_path / "models", tmp_path / "temporary"
    for folder in (models, temporary):
        folder.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary)}

    def start_with_files():
        before = set(temporary.iterdir())
        server = serve(models, EXPLICIT, environment=environment)
        with connect(server, "http") as (_, client):
            client.load_model("new", config="{}", files={"file:1/model.onnx": onnx_add(3)})
        return server, set(temporary.iterdir()) - before

    killed, left = start_with_files()
    serving, kept = start_with_files()
    killed.kill()
    assert left and kept and set(temporary.iterdir()) == left | kept
    started = serve(models, EXPLICIT, environment=environment)
    wait_until(lambda: set(temporary.iterdir()) == kept, "the folder is removed")
    wait_until(lambda: "of a process that was killed: removed" in started.log(), "the log says so")
    assert f"temporary folder '{left.pop()}' of a process that was killed: removed" in started.log()
    with connect(serving, "http") as (api, client):
        assert added((api, client), "new") == 3
    serving.stop()
    assert not set(temporary.iterdir())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_failed_loads_say_why_and_leave_what_serves(serve, tmp_path, protocol):
    folder = write_add(tmp_path, "m", 10)
    write_identity(tmp_path, "syntax")
    (tmp_path / "syntax" / "config.pbtxt").write_text("max_bach_size: 8\n")
    server = serve(tmp_path, EXPLICIT, "--load-model=m")
    with connect(server, protocol) as (api, client):
        replace(folder / "1" / "model.onnx", b"this is no model")
        with pytest.raises(InferenceServerException) as failed:
            client.load_model("m", config='{"backend": "onnxruntime", "input": [{"name": "INPUT0", '
                              '"data_type": "TYPE_FP32", "dims": [4]}], "output": [{"name": '
                              '"OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}], '
                              '"max_batch_size": 4}')
        assert failed.value.message().startswith(
            "load failed for model 'm': version 1 is at UNAVAILABLE state: ")
        state, reason = index(client, protocol)[("m", "1")]
        assert state == "READY" and "serves on, although the last load failed" in reason
        assert added((api, client)) == 10
        figures = server.get("/metrics", "metrics")[1].decode()
        assert 'proa_model_loads_total{result="failed"} 1\n' in figures
        write_add(tmp_path, "m", 20)
        client.load_model("m")
        assert added((api, client)) == 20
        assert index(client, protocol)[("m", "1")] == ("READY", "")

        for model, words in (("syntax", "max_batch_size"), ("nope", "no folder 'nope'"),
                             ("..", "no model name")):
            with pytest.raises(InferenceServerException, match=words) as failed:
                client.load_model(model)
            assert failed.value.message().startswith(f"failed to load '{model}', failed to poll")
        assert ("nope", "") not in index(client, protocol)
        assert "max_bach_size" in index(client, protocol)[("syntax", "")][1]


def test_what_a_load_request_may_not_say(serve, tmp_path):
    write_add(tmp_path, "m", 10)
    server = serve(tmp_path, EXPLICIT, "--load-model=m")
    content = base64.b64encode(onnx_add(1)).decode()
    load = "/v2/repository/models/m/load"
    for parameters, words in (
            ({"file:1/model.onnx": content}, "needs 'config'"),
            ({"config": "{}", "file:../x": content}, "no path inside"),
            ({"config": "{}", "file:/etc/x": content}, "no path inside"),
            ({"config": "{}", "file:1/\0": content}, "no path inside"),
            ({"config": "{}", "file:": content}, "no path inside"),
            ({"config": "{}", "file:1/": content}, "does not name a file"),
            ({"config": "{}", "file:1/x": "***"}, "base64"),
            ({"config": "{}", "file:model.onnx": content}, "no version"),
            ({"config": "{"}, "config of the load request"),
            ({"config": '{"max_bach_size": 1}'}, "max_batch_size"),
            ({"config": '{"name": "other"}'}, "other"),
            ({"config": 1}, "a string"),
            ({"colour": "red"}, "unrecognized parameter 'colour'")):
        status, message = post(server, load, {"parameters": parameters})
        assert status == 400 and words in message, (parameters, status, message)
        assert "/tmp" not in message
    assert post(server, load, b"{")[0] == 400
    assert post(server, "/v2/repository/models/m/unload", {"parameters": {"x": True}})[0] == 400
    for path in ("/v2/repository/mine/index", "/v2/repository/mine/models/m/load",
                 "/v2/repository/mine/models/m/unload"):
        status, message = post(server, path)
        assert status == 501 and "'repository_name' specification is not supported" in message
    for name in ("%2e%2e", "a%2fb", "m%00", "%2e", "..%2f..%2fetc"):
        assert post(server, f"/v2/repository/models/{name}/load")[0] == 400, name
    with connect(server, "http") as client:
        assert added(client) == 10


@pytest.mark.parametrize("flags", [(), ("--model-control-mode=poll",)])
def test_only_explicit_mode_lets_clients_load(serve, tmp_path, flags):
    write_add(tmp_path, "m", 10)
    server = serve(tmp_path, *flags)
    for verb in ("load", "unload"):
        status, message = post(server, f"/v2/repository/models/m/{verb}")
        assert status == 503
        assert message.startswith("explicit model load / unload is not allowed")
    with connect(server, "grpc") as (_, client):
        with pytest.raises(InferenceServerException, match="UNAVAILABLE"):
            client.load_model("m")


def test_the_start_takes_the_models_that_are_named(serve, tmp_path):
    for name in "abc":
        write_identity(tmp_path, name)
    server = serve(tmp_path, EXPLICIT, "--load-model=a", "--load-model", "c", "--load-model=none")
    with connect(server, "grpc") as (_, client):
        # Nothing stays of a model that is nowhere, as when a client asks for one.
        with pytest.raises(InferenceServerException, match="no folder 'neither'"):
            client.load_model("neither")
        assert index(client, "grpc") == {("a", "1"): ("READY", ""), ("b", ""): ("", ""),
                                         ("c", "1"): ("READY", "")}
    assert "model 'none': there is no folder 'none'" in server.log()
    assert "2 model(s) ready, 1 failed" in server.log()
    everything = serve(tmp_path, EXPLICIT, "--load-model=*")
    with connect(everything, "http") as (_, client):
        assert all(state == "READY" for state, _ in index(client, "http").values())


def test_ready_filter_of_the_index(serve, tmp_path):
    write_identity(tmp_path, "a")
    write_identity(tmp_path, "b")
    server = serve(tmp_path, EXPLICIT, "--load-model=a")
    connection = http.client.HTTPConnection(server.http, timeout=30)
    connection.request("POST", "/v2/repository/index", '{"ready": true}')
    assert json.load(connection.getresponse()) == [
        {"name": "a", "version": "1", "state": "READY"}]


def test_a_name_in_two_repositories_is_not_loaded(serve, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
        write_identity(folder, "twice")
    write_identity(second, "once")
    server = serve(first, "--model-repository", str(second))
    with connect(server, "http") as (_, client):
        lines = index(client, "http")
    assert lines[("once", "1")][0] == "READY"
    state, reason = lines[("twice", "")]
    assert state == "UNAVAILABLE" and "2 model repositories hold a model 'twice'" in reason


def test_configuration_variants(serve, tmp_path):
    for name in ("with", "without"):
        write_add(tmp_path, name, 1, config="max_batch_size: 2\n")
    (tmp_path / "with" / "configs").mkdir()
    (tmp_path / "with" / "configs" / "big.pbtxt").write_text("max_batch_size: 64\n")
    server = serve(tmp_path, "--model-config-name=big")
    with connect(server, "http") as (_, client):
        assert client.get_model_config("with")["max_batch_size"] == 64
        assert client.get_model_config("without")["max_batch_size"] == 2


def test_versions_come_and_go_beside_the_others(serve, tmp_path):
    folder = write_add(tmp_path, "m", 10, config="version_policy { all {} }\n")
    server = serve(tmp_path, EXPLICIT, "--load-model=m")
    with connect(server, "http") as (api, client):
        infer(api, client, "m", ONE)
        write_add(tmp_path, "m", 20, version=2)
        client.load_model("m")
        assert added((api, client)) == 20
        stats = {m["version"]: m["inference_count"]
                 for m in client.get_inference_statistics("m")["model_stats"]}
        assert stats == {"1": 1, "2": 1}  # version 1 was kept: its counters go on
        replace(folder / "config.pbtxt", b"version_policy { specific { versions: 1 } }\n")
        client.load_model("m")
        assert added((api, client)) == 10
        lines = index(client, "http")
        assert lines[("m", "1")][0] == "READY" and lines[("m", "2")] == ("UNAVAILABLE", "unloaded")
        count = client.get_inference_statistics("m")["model_stats"][0]["inference_count"]
        assert count == 2


def test_no_request_is_lost_over_reloads(serve, tmp_path):
    write_add(tmp_path, "m", 0)
    server = serve(tmp_path, EXPLICIT, "--load-model=m")
    stop = threading.Event()
    seen, errors = set(), []

    def work(protocol):
        try:
            with connect(server, protocol) as client:
                last = 0
                while not stop.is_set():
                    now = added(client)
                    assert now >= last, "an older version answered after a newer one"
                    last = now
                    seen.add(now)
        except Exception as error:  # noqa: BLE001 - reported below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(PROTOCOLS[i % 2],)) for i in range(4)]
    for thread in threads:
        thread.start()
    with connect(server, "grpc") as (_, client):
        for i in range(1, 11):
            write_add(tmp_path, "m", i)
            client.load_model("m")
            wait_until(lambda i=i: i in seen or errors, "the new version answers")
    stop.set()
    for thread in threads:
        thread.join()
    assert not errors, errors
    assert 10 in seen


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_slow_load_holds_nobody_back(serve, tmp_path, protocol):
    """The slow model answers 30 warm-up requests of 0.1 s each before it is ready."""
    write_identity(tmp_path, "slow", dims=(4,), execute_delay_ms=100, blocking=True,
                   extra='model_warmup { name: "w" batch_size: 1 count: 30 inputs { key: "INPUT0" '
                         'value { data_type: TYPE_FP32 dims: 4 zero_data: true } } }\n')
    write_add(tmp_path, "quick", 1)
    server = serve(tmp_path, EXPLICIT, "--http-thread-count=1")

    def load_slow():
        with connect(server, protocol) as (_, client):
            client.load_model("slow")

    loading = threading.Thread(target=load_slow)
    loading.start()
    with connect(server, protocol) as (api, client):
        def state():
            return {name: state for (name, _), (state, _) in index(client, protocol).items()}["slow"]

        wait_until(lambda: state() == "LOADING", "the slow load has begun")
        client.load_model("quick")
        assert added((api, client), "quick") == 1
        assert client.is_server_live() and client.is_server_ready()
        client.unload_model("quick")
        with pytest.raises(InferenceServerException, match="being loaded"):
            infer(api, client, "slow", ONE)
        assert state() == "LOADING"
        loading.join()
        assert state() == "READY"
