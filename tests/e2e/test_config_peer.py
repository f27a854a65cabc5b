"""The same configurations in proa and in a real tritonserver: both take or refuse them, and show the same;
what differs is listed with its reason, here and in docs/configuration.md."""
import json
import pathlib
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from config_cases import CASES, DIFFERENCES

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "benchmarks" / "peers"))

from tritonserver import TritonServer  # noqa: E402


def call(address, method, path):
    """(status, body) of an answer."""
    request = urllib.request.Request(f"http://{address}{path}", method=method,
                                     data=b"{}" if method == "POST" else None)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    folder = tmp_path_factory.mktemp("configurations")
    for name, text in CASES.items():
        (folder / name / "1").mkdir(parents=True)
        (folder / name / "config.pbtxt").write_text(text)
        (folder / name / "warmup").mkdir()
        (folder / name / "warmup" / "raw").write_bytes(bytes(64))
        (folder / name / "warmup" / "short").write_bytes(bytes(10))
    return folder


@pytest.fixture(scope="module")
def triton(repository):
    """{name: the configuration that tritonserver shows, or None when it refuses}."""
    shown = {}
    with TritonServer(repository, "--model-control-mode=explicit") as server:
        for name in CASES:
            status, _ = call(server.http, "POST", f"/v2/repository/models/{name}/load")
            shown[name] = None
            if status == 200:
                shown[name] = json.loads(call(server.http, "GET", f"/v2/models/{name}/config")[1])
    return shown


@pytest.fixture(scope="module")
def proa_errors(proa, repository):
    """{name: what is wrong with it}."""
    result = subprocess.run([proa, "inspect", "--check", "--json", str(repository)],
                            capture_output=True, text=True, timeout=120)
    return {model["name"]: model["errors"] for model in json.loads(result.stdout)["models"]}


def test_both_take_and_refuse_the_same(triton, proa_errors):
    differing = {name for name in CASES if (triton[name] is None) != bool(proa_errors[name])}
    explained = {name for names in DIFFERENCES.values() for name in names}
    assert differing == explained, {name: proa_errors[name] for name in differing ^ explained}


def test_the_document_tells_every_difference():
    document = " ".join((ROOT / "docs" / "configuration.md").read_text().split())
    for reason in DIFFERENCES:
        assert reason in document


def as_proa_shows(theirs):
    """Without what docs/configuration.md says is shown differently."""
    theirs.pop("optimization", None)
    # Younger than the peer.
    if "ensemble_scheduling" in theirs:
        theirs["ensemble_scheduling"].setdefault("max_inflight_requests", 0)
    most = max(1, theirs["max_batch_size"])
    for warm_up in theirs["model_warmup"]:
        warm_up["count"] = max(1, warm_up["count"])
        warm_up["batch_size"] = min(warm_up["batch_size"], most)
    batching = theirs.get("dynamic_batching")
    if batching and batching["preferred_batch_size"] == [most]:
        batching["preferred_batch_size"] = []
    return theirs


def test_both_show_the_same(serve, repository, triton, proa_errors):
    server = serve(repository)
    both = [name for name in CASES if triton[name] is not None and not proa_errors[name]]
    assert len(both) > 15
    for name in both:
        ours = json.loads(call(server.http, "GET", f"/v2/models/{name}/config")[1])
        theirs = as_proa_shows(triton[name])
        assert {key: ours.get(key) for key in theirs} == theirs, name
