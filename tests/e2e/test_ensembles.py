"""Ensembles through a real server, with tritonclient: data, errors, readiness, metrics, reloads."""
import http.client
import json
import queue
import subprocess
import threading

import numpy as np
import pytest

import clients
from repositories import write_add, write_ensemble, write_identity
from waiting import wait_until

ROW = np.arange(16, dtype=np.float32).reshape(1, 16)


@pytest.mark.parametrize("protocol", clients.PROTOCOLS)
def test_a_request_goes_through_all_steps(serve, tmp_path, protocol):
    for number in (1, 2):
        write_add(tmp_path, f"add{number}", number)
    write_ensemble(tmp_path, "both", ["add1", "add2"], dims=(4,), max_batch_size=4)
    server = serve(tmp_path)
    with clients.connect(server, protocol) as (api, client):
        values = np.zeros((3, 4), np.float32)
        assert clients.infer(api, client, "both", values).tolist() == [[3.0] * 4] * 3
        statistics = client.get_inference_statistics("both")
        config = client.get_model_config("both")
        metadata = client.get_model_metadata("both")
    if protocol == "http":
        entry = statistics["model_stats"][0]
        assert (entry["inference_count"], entry["execution_count"]) == (3, 1)
        assert entry["inference_stats"]["success"]["count"] == 1
        assert entry["inference_stats"]["compute_infer"]["ns"] > 0
        assert config["platform"] == "ensemble"
        assert [step["model_name"] for step in config["ensemble_scheduling"]["step"]] == [
            "add1", "add2"]
        assert metadata["platform"] == "ensemble"


def test_an_error_names_step_and_model(serve, tmp_path):
    write_identity(tmp_path, "good")
    write_identity(tmp_path, "bad", fail="out of paper", fail_every=1)
    write_ensemble(tmp_path, "both", ["good", "bad"])
    server = serve(tmp_path)
    with clients.connect(server, "http") as (api, client):
        with pytest.raises(Exception, match=r"in ensemble 'both', step 1 \(model 'bad' version 1\).*paper"):
            clients.infer(api, client, "both", ROW)
    text = server.get("/metrics", "metrics")[1].decode()
    assert 'nv_inference_request_failure{model="both",version="1",reason="OTHER"} 1' in text
    assert 'nv_inference_request_success{model="good",version="1"} 1' in text


def index(server):
    """{model: (state, reason)}."""
    connection = http.client.HTTPConnection(server.http, timeout=10)
    connection.request("POST", "/v2/repository/index")
    entries = json.load(connection.getresponse())
    connection.close()
    return {entry["name"]: (entry.get("state"), entry.get("reason", "")) for entry in entries}


def test_an_ensemble_is_as_ready_as_its_steps(serve, tmp_path):
    write_identity(tmp_path, "first")
    write_identity(tmp_path, "second")
    write_ensemble(tmp_path, "both", ["first", "second"])
    server = serve(tmp_path, "--model-control-mode=explicit")
    with clients.connect(server, "http") as (api, client):
        client.load_model("both")  # and with it the steps
        assert clients.infer(api, client, "both", ROW).tolist() == ROW.tolist()
        client.unload_model("second")
        state, reason = index(server)["both"]
        assert state == "UNAVAILABLE"
        assert "'second' (step 1), which is not ready" in reason
        assert not client.is_model_ready("both")
        with pytest.raises(Exception, match="'second'"):
            clients.infer(api, client, "both", ROW)
        client.load_model("second")
        assert client.is_model_ready("both")
        assert clients.infer(api, client, "both", ROW).tolist() == ROW.tolist()
        client.unload_model("both", unload_dependents=True)
        # What came with the ensemble goes with it; `second` was asked for by its name.
        wanted = {"both": "UNAVAILABLE", "first": "UNAVAILABLE", "second": "READY"}
        wait_until(lambda: {name: state for name, (state, _) in index(server).items()} == wanted,
                   f"{wanted}")


def test_a_step_is_replaced_under_load(serve, tmp_path):
    """Requests see the old constant or the new one, and none fails."""
    write_add(tmp_path, "plus", 1)
    write_ensemble(tmp_path, "twice", ["plus", "plus"], dims=(4,), max_batch_size=4)
    server = serve(tmp_path, "--model-control-mode=explicit", "--load-model=twice")
    stop, seen, failures = threading.Event(), set(), []

    def ask(protocol):
        with clients.connect(server, protocol) as (api, client):
            while not stop.is_set():
                try:
                    seen.add(float(clients.infer(api, client, "twice", np.zeros((1, 4), np.float32))[0, 0]))
                except Exception as error:  # whatever it is, it is a failed request
                    failures.append(error)
                    return

    threads = [threading.Thread(target=ask, args=(protocol,)) for protocol in clients.PROTOCOLS]
    for thread in threads:
        thread.start()
    with clients.connect(server, "http") as (api, client):
        for constant in (2, 3, 4, 5):
            wait_until(lambda: failures or 2.0 * (constant - 1) in seen, "the last version's answers")
            write_add(tmp_path, "plus", constant)
            client.load_model("plus")
        wait_until(lambda: failures or 10.0 in seen, "the newest version's answers")
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert seen == {2.0, 4.0, 6.0, 8.0, 10.0}  # never one step old and one new


def test_poll_mode_brings_an_ensemble_back_with_its_step(serve, tmp_path):
    write_add(tmp_path, "plus", 1)
    write_ensemble(tmp_path, "alone", ["plus"], dims=(4,), max_batch_size=4)
    server = serve(tmp_path, "--model-control-mode=poll", "--repository-poll-secs=1")
    (tmp_path / "plus" / "1" / "model.onnx").rename(tmp_path / "model.onnx.away")
    (tmp_path / "plus").rename(tmp_path / ".plus")
    wait_until(lambda: index(server).get("alone", ("",))[0] == "UNAVAILABLE", "the ensemble goes")
    (tmp_path / ".plus").rename(tmp_path / "plus")
    (tmp_path / "model.onnx.away").rename(tmp_path / "plus" / "1" / "model.onnx")
    wait_until(lambda: index(server)["alone"][0] == "READY", "the ensemble comes back")


def test_more_requests_than_the_bound_are_refused_at_once(serve, tmp_path):
    write_identity(tmp_path, "slow", execute_delay_ms=300,
                   extra="instance_group [ { kind: KIND_CPU count: 1 } ]\n")
    folder = write_ensemble(tmp_path, "bounded", ["slow"])
    config = folder / "config.pbtxt"
    config.write_text(config.read_text().replace("ensemble_scheduling {",
                                                 "ensemble_scheduling { max_inflight_requests: 2"))
    server = serve(tmp_path)
    with clients.connect(server, "grpc") as (api, client):
        tensor = api.InferInput("INPUT0", list(ROW.shape), "FP32")
        tensor.set_data_from_numpy(ROW)
        answers = queue.Queue()
        for _ in range(5):
            client.async_infer("bounded", [tensor],
                               callback=lambda result, error: answers.put(error))
        errors = [answers.get(timeout=20) for _ in range(5)]
    refused = [error for error in errors if error is not None]
    assert len(refused) == 3
    assert all("2 requests under way" in str(error) for error in refused)
    assert errors[:3] == refused  # before the others were answered


def test_check_tells_misfits_of_steps(proa, tmp_path):
    write_identity(tmp_path, "good")
    write_identity(tmp_path, "five", dims=(5,))
    write_ensemble(tmp_path, "fits", ["good", "good"])
    write_ensemble(tmp_path, "misfit", ["good", "five"])
    write_ensemble(tmp_path, "missing", ["good", "nobody"])
    write_ensemble(tmp_path, "one", ["two"])
    write_ensemble(tmp_path, "two", ["one"])
    write_ensemble(tmp_path, "above", ["missing"])
    result = subprocess.run([proa, "inspect", "--check", "--json", tmp_path], capture_output=True,
                            text=True, timeout=60)
    models = {model["name"]: model for model in json.loads(result.stdout)["models"]}
    assert models["fits"]["backend"] == "ensemble"
    assert "inconsistent shape of tensor 'between1'" in models["misfit"]["errors"][0]
    assert "step[1]: model 'nobody' is not in the repository" in models["missing"]["errors"][0]
    assert "one -> two -> one" in models["one"]["errors"][0]
    assert models["two"]["errors"]
    assert "step[0]: model 'missing' would not be served" in models["above"]["errors"][0]
