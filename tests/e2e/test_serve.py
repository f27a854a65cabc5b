"""The thinnest whole path: start, health, metadata, one inference, a clean end."""
import numpy as np
import pytest
from tritonclient.utils import InferenceServerException

from clients import PROTOCOLS, connect, infer
from repositories import write_identity


@pytest.fixture
def server(serve, tmp_path):
    write_identity(tmp_path)
    return serve(tmp_path)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_health(server, protocol):
    with connect(server, protocol) as (_, client):
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("identity")
        assert not client.is_model_ready("nobody")


def test_model_metadata_is_the_same_over_both_protocols(server):
    with connect(server, "http") as (_, client):
        over_http = client.get_model_metadata("identity")
    with connect(server, "grpc") as (_, client):
        over_grpc = client.get_model_metadata("identity", as_json=True)
    for metadata in (over_http, over_grpc):
        assert metadata["name"] == "identity"
        assert metadata["versions"] == ["1"]
        (tensor,) = metadata["inputs"]
        assert (tensor["name"], tensor["datatype"]) == ("INPUT0", "FP32")
        assert [int(extent) for extent in tensor["shape"]] == [-1, 16]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("batch", (1, 3, 8))
def test_identity_gives_back_its_input(server, protocol, batch):
    values = np.random.default_rng(batch).random((batch, 16), dtype=np.float32)
    with connect(server, protocol) as (api, client):
        assert np.array_equal(infer(api, client, "identity", values), values)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_unknown_model_is_named(server, protocol):
    with connect(server, protocol) as (api, client):
        with pytest.raises(InferenceServerException, match="nobody"):
            infer(api, client, "nobody", np.zeros((1, 16), np.float32))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_batch_over_the_limit_is_refused(server, protocol):
    with connect(server, protocol) as (api, client):
        with pytest.raises(InferenceServerException, match="identity"):
            infer(api, client, "identity", np.zeros((9, 16), np.float32))
        # The connection and the model go on.
        assert infer(api, client, "identity", np.ones((1, 16), np.float32)).sum() == 16


def test_metrics_count_what_was_served(server):
    with connect(server, "http") as (api, client):
        for _ in range(3):
            infer(api, client, "identity", np.zeros((2, 16), np.float32))
    status, text = server.get("/metrics", "metrics")
    assert status == 200
    counters = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if line[:1] != "#")
    label = '{model="identity",version="1"}'
    assert float(counters["nv_inference_request_success" + label]) == 3
    assert float(counters["nv_inference_count" + label]) == 6
