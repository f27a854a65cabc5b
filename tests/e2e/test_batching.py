"""Dynamic batching as statistics show it: requests that wait together run together."""
import concurrent.futures

import numpy as np

from clients import connect, infer
from repositories import write_identity

REQUESTS = 16


def counts(client, model):
    (statistics,) = client.get_inference_statistics(model)["model_stats"]
    return int(statistics["inference_count"]), int(statistics["execution_count"])


def send_together(server, model):
    """REQUESTS different requests at once; all must get their own values back."""
    def send(number):
        values = np.full((1, 16), number, np.float32)
        with connect(server, "http") as (api, client):
            return np.array_equal(infer(api, client, model, values), values)

    with concurrent.futures.ThreadPoolExecutor(REQUESTS) as pool:
        assert all(pool.map(send, range(REQUESTS)))


def test_requests_that_wait_run_together(serve, tmp_path):
    write_identity(tmp_path, "batching", extra="dynamic_batching { }\n", execute_delay_ms=100)
    write_identity(tmp_path, "single", execute_delay_ms=20)
    server = serve(tmp_path)
    with connect(server, "http") as (_, client):
        send_together(server, "batching")
        inferences, executions = counts(client, "batching")
        assert inferences == REQUESTS and executions <= REQUESTS // 2
        send_together(server, "single")
        assert counts(client, "single") == (REQUESTS, REQUESTS)


def test_a_time_out_beyond_all_time_is_none(serve, tmp_path):
    write_identity(tmp_path, "patient", extra="dynamic_batching { default_queue_policy { "
                   "allow_timeout_override: true } }\n", execute_delay_ms=10)
    values = np.zeros((1, 16), np.float32)
    with connect(serve(tmp_path), "http") as (api, client):
        assert np.array_equal(infer(api, client, "patient", values, timeout=2**63 - 1), values)
