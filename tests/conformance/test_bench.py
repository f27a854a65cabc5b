"""`proa bench` against a real tritonserver: every protocol and a decoupled model; the server must have counted
what the report says."""
import contextlib
import json
import pathlib
import subprocess

import pytest
import tritonclient.http

import python_peer
from peers.tritonserver import TritonServer
from repository import write_model

REPEAT = pathlib.Path(__file__).resolve().parent / "models" / "repeat.py"
CONFIG = """\
backend: "python"
input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }
model_transaction_policy { decoupled: true }
"""
REQUESTS = 60


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    write_model(folder, "plain", [("TYPE_FP32", "4")], batch=4)
    (folder / "repeat" / "1").mkdir(parents=True)
    (folder / "repeat" / "config.pbtxt").write_text(CONFIG)
    (folder / "repeat" / "1" / "model.py").write_text(REPEAT.read_text())
    with contextlib.ExitStack() as stack:
        stack.callback(python_peer.clear)
        python_peer.path()
        yield stack.enter_context(TritonServer(folder, *python_peer.FLAGS, python=True))


def bench(pytestconfig, folder, *flags):
    report = folder / "report.json"
    run = subprocess.run([pytestconfig.getoption("--proa"), "bench", *flags, "--json", report],
                         capture_output=True, text=True, timeout=60)
    return run, json.loads(report.read_text()) if report.exists() else None


def counted(server, model):
    with tritonclient.http.InferenceServerClient(server.http) as client:
        statistics = client.get_inference_statistics(model)["model_stats"][0]
    return statistics["inference_stats"]["success"]["count"]


@pytest.mark.parametrize("model, flags", [
    ("plain", ["-i", "http"]), ("plain", ["-i", "grpc"]), ("plain", ["-i", "grpc", "--streaming"]),
    ("plain", ["-i", "http", "-b", "4"]),
    ("repeat", ["-i", "grpc", "--streaming", "--shape", "IN:3"])],
    ids=["http", "grpc", "stream", "batch", "decoupled"])
def test_it_reports_what_the_server_counts(peer, pytestconfig, tmp_path, model, flags):
    before = counted(peer, model)
    address = peer.grpc if "grpc" in flags else peer.http
    run, report = bench(pytestconfig, tmp_path, "-m", model, "-u", address, *flags, "--concurrency-range",
                        "3", "--request-count", str(REQUESTS))
    # 3: a busy machine may hold the generator up, which it says.
    assert run.returncode in (0, 3), run.stdout + run.stderr
    assert counted(peer, model) - before == REQUESTS
    level = report["levels"][0]
    assert level["counts"]["completed"] == REQUESTS and level["counts"]["errors"] == 0
    assert level["latency"]["count"] == REQUESTS and level["latency"]["p50_us"] > 0


def test_a_decoupled_model_wants_a_stream(peer, pytestconfig, tmp_path):
    run, report = bench(pytestconfig, tmp_path, "-m", "repeat", "-u", peer.http, "--shape", "IN:3")
    assert (run.returncode, report) == (2, None)
    assert "model 'repeat' is decoupled; add -i grpc --streaming" in run.stderr
