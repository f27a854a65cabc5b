"""Start flags of tritonserver, as scripts give them, and what they change."""
import json
import subprocess
import urllib.request

import numpy as np
import pytest
import tritonclient.grpc

from clients import PROTOCOLS, connect
from repositories import write_identity


@pytest.fixture
def repository(tmp_path):
    folder = tmp_path / "models"
    write_identity(folder, "echo", dims=(4,), max_batch_size=0, echo_parameters=True)
    return folder


def start(proa, repository, *flags):
    """The ended process of a start that must fail."""
    return subprocess.run([proa, "serve", "--model-repository", repository, "--http-port", "0",
                           "--grpc-port", "0", "--metrics-port", "0", *flags],
                          capture_output=True, text=True, timeout=60)


def ask(api, client, **options):
    tensor = api.InferInput("INPUT0", [4], "FP32")
    tensor.set_data_from_numpy(np.zeros(4, np.float32))
    return client.infer("echo", [tensor], **options)


@pytest.mark.parametrize("flag", ("--grpc-use-ssl=true", "--http-restricted-api=health:k=v",
                                  "--allow-sagemaker=true"))
def test_the_server_does_not_start_without_what_clients_would_miss(proa, repository, flag):
    ended = start(proa, repository, flag, "--grpc-use-ssl-mutual")
    assert ended.returncode == 2
    name = flag.split("=")[0]
    assert name in ended.stderr and "--grpc-use-ssl-mutual=true" in ended.stderr
    assert "listening" not in ended.stderr


def test_flags_without_effect_get_a_sentence_each(serve, repository):
    server = serve(repository, "--pinned-memory-pool-byte-size=1000", "--grpc-use-ssl=false",
                   "--cache-config", "local,size=1048576", "--strict-model-config=false",
                   "--backend-config=tensorrt,version-compatible=true")
    log = server.log()
    for part in ("--pinned-memory-pool-byte-size=1000 is ignored: ",
                 "--cache-config=local,size=1048576 is ignored: ",
                 "--strict-model-config is deprecated",
                 "--backend-config=tensorrt,version-compatible=true is ignored: "):
        assert log.count(part) == 1, part
    assert "use-ssl" not in log


def test_a_broken_pattern_is_a_usage_error(proa, repository):
    ended = start(proa, repository, "--http-header-forward-pattern=(")
    assert ended.returncode == 2
    assert "not a regular expression" in ended.stderr


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_headers_become_parameters(serve, repository, protocol):
    server = serve(repository, f"--{protocol}-header-forward-pattern=^X-Team")
    name = "X-Team" if protocol == "http" else "x-team"  # HTTP/2 has no capital letters
    headers = {name: "red", "x-other": "no"}
    with connect(server, protocol) as (api, client):
        answer = ask(api, client, headers=headers, parameters={"mine": 7}).get_response()
    if protocol == "http":
        assert answer["parameters"] == {"mine": 7, "X-Team": "red"}
    else:
        assert answer.parameters["x-team"].string_param == "red"
        assert answer.parameters["mine"].int64_param == 7
        assert len(answer.parameters) == 2


def test_metadata_of_a_stream_goes_to_each_of_its_requests(serve, repository):
    server = serve(repository, "--grpc-header-forward-pattern", "team$")
    answers = []
    with tritonclient.grpc.InferenceServerClient(server.grpc) as client:
        client.start_stream(lambda result, error: answers.append((result, error)),
                            headers={"x-team": "red"})
        for _ in range(2):
            tensor = tritonclient.grpc.InferInput("INPUT0", [4], "FP32")
            tensor.set_data_from_numpy(np.zeros(4, np.float32))
            client.async_stream_infer("echo", [tensor])
        client.stop_stream()
    assert len(answers) == 2
    for result, error in answers:
        assert error is None
        assert result.get_response().parameters["x-team"].string_param == "red"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_is_logged_changes_at_once(serve, repository, protocol):
    server = serve(repository)
    with connect(server, protocol) as (_, client):
        assert client.get_log_settings(**({"as_json": True} if protocol == "grpc" else {}))
        changed = client.update_log_settings({"log_verbose_level": 1, "log_format": "default"})
        level = (changed["log_verbose_level"] if protocol == "http"
                 else changed.settings["log_verbose_level"].uint32_param)
        assert level == 1
        client.update_log_settings({"log_info": False, "log_verbose_level": 0})
    before = server.log()
    server.stop()
    assert "stopping" not in server.log()[len(before):]


def test_the_log_goes_to_a_file(serve, repository, tmp_path, proa):
    log = tmp_path / "proa.log"
    ended = start(proa, repository, "--log-file", log, "--log-format=default",
                  "--http-address=300.1.1.1")
    assert ended.returncode == 1
    assert ended.stderr == ""
    assert log.read_text().startswith("E")
    assert start(proa, repository, "--log-file", tmp_path / "no" / "folder").returncode == 2


@pytest.mark.parametrize("flag", ("--reuse-http-port", "--reuse-grpc-port"))
def test_two_servers_share_a_port_when_both_say_so(serve, proa, repository, flag):
    service = "HTTP" if "http" in flag else "gRPC"
    first = serve(repository, flag)
    port = f"--{service.lower()}-port={first.ports[service]}"
    second = serve(repository, flag, port)
    assert second.ports[service] == first.ports[service]
    ended = start(proa, repository, "--http-address=127.0.0.1", "--grpc-address=127.0.0.1", port)
    assert ended.returncode == 1
    assert "is in use" in ended.stderr


def test_log_settings_take_no_path(serve, repository):
    server = serve(repository)
    request = urllib.request.Request(f"http://{server.http}/v2/logging",
                                     json.dumps({"log_file": "/tmp/x"}).encode())
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 501


def test_keep_alive_flags_reach_the_connection(serve, repository):
    """Old connections end: a client that keeps its channel is told to go and comes back."""
    server = serve(repository, "--grpc-max-connection-age=500",
                   "--grpc-max-connection-age-grace=500")
    with connect(server, "grpc") as (_, client):
        def connections():
            text = server.get("/metrics", "metrics")[1].decode()
            line = next(line for line in text.splitlines()
                        if line.startswith('proa_connections_total{result="accepted"}'))
            return float(line.split()[-1])
        assert client.is_server_live()
        first = connections()
        # Each look at the metrics is one more connection; the gRPC client's second comes on top.
        looks = 0
        while connections() - first - (looks := looks + 1) < 1:
            assert client.is_server_live()
            assert looks < 2000
