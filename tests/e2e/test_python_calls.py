"""Models of backend python that send many responses, ask other models, and have metrics."""
import queue

import ml_dtypes
import numpy as np
import pytest
import tritonclient.grpc
import tritonclient.utils

from clients import connect, infer
from python_models import ENVIRONMENT, IDENTITY, tensor, write_python
from repositories import write_ensemble, write_identity
from waiting import wait_until

DECOUPLED = "model_transaction_policy { decoupled: true }\n"
# IN rows of numbers; with a DELAY (ms) between them, from a thread.
REPEAT = '''
import threading, time
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def initialize(self, args):
        assert pb_utils.using_decoupled_model_transaction_policy(args["model_config"])
    def execute(self, requests):
        for request in requests:
            threading.Thread(target=self.send, daemon=True,
                             args=(request.get_response_sender(),
                                   pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy())
                             ).start()
    def send(self, sender, values):
        for value in values:
            if sender.is_cancelled():
                pb_utils.Logger.log_warn(f"cancelled before {value}")
                break
            out = pb_utils.Tensor("OUTPUT0", np.array([value], np.float32))
            sender.send(pb_utils.InferenceResponse([out]))
            if value < 0:
                time.sleep(0.01)
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
'''
REPEAT_TENSORS = {"inputs": [tensor("INPUT0", dims=[-1])], "outputs": [tensor("OUTPUT0", dims=[1])],
                  "max_batch_size": 0, "extra": DECOUPLED}


class Stream:
    """A gRPC stream, whose answers come out of a queue."""

    def __init__(self, server):
        self.client = tritonclient.grpc.InferenceServerClient(server.grpc)
        self.answers = queue.Queue()
        self.client.start_stream(lambda result, error: self.answers.put((result, error)))

    def send(self, model, values, **options):
        inputs = [tritonclient.grpc.InferInput("INPUT0", list(values.shape), "FP32")]
        inputs[0].set_data_from_numpy(values)
        self.client.async_stream_infer(model, inputs, enable_empty_final_response=True, **options)

    def until_final(self):
        """All values up to the end; raises an error that comes instead."""
        values = []
        while True:
            result, error = self.answers.get(timeout=20)
            if error is not None:
                raise error
            response = result.get_response()
            if response.outputs:
                values.append(float(result.as_numpy("OUTPUT0")[0]))
            if response.parameters["triton_final_response"].bool_param:
                return values

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.client.stop_stream(cancel_requests=True)
        self.client.close()


def call(server, model, values, protocol="http"):
    with connect(server, protocol) as (api, client):
        return infer(api, client, model, values)


def refusal(server, model, values):
    with pytest.raises(tritonclient.utils.InferenceServerException) as caught:
        call(server, model, values)
    return caught.value.message()


def test_a_decoupled_model_sends_any_number_of_responses(serve, tmp_path):
    write_python(tmp_path, "repeat", REPEAT, **REPEAT_TENSORS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with Stream(server) as stream:
        for count in (3, 0, 1, 500):
            values = np.arange(count, dtype=np.float32)
            stream.send("repeat", values)
            assert stream.until_final() == list(values)
    assert "decoupled" in refusal(server, "repeat", np.ones(3, np.float32))


def test_decoupled_requests_run_beside_each_other(serve, tmp_path):
    write_python(tmp_path, "repeat", REPEAT, **REPEAT_TENSORS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with Stream(server) as stream, Stream(server) as other:
        stream.send("repeat", np.full(10000, -1, np.float32))
        assert stream.answers.get(timeout=20)[1] is None
        other.send("repeat", np.arange(5, dtype=np.float32))
        assert other.until_final() == [0, 1, 2, 3, 4]


def test_a_decoupled_model_learns_that_its_client_is_gone(serve, tmp_path):
    write_python(tmp_path, "repeat", REPEAT, **REPEAT_TENSORS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with Stream(server) as stream:
        stream.send("repeat", np.full(10000, -1, np.float32))
        assert stream.answers.get(timeout=20)[1] is None
    wait_until(lambda: "cancelled before -1.0" in server.log(), "the model saw it")


@pytest.mark.parametrize("body, text", [
    ("        raise ValueError('not today')\n", "message: ValueError: not today"),
    ("        return [1]\n", "is using the decoupled mode and the execute function must return None"),
    ("        pass\n", "model.py dropped a request of a decoupled model without an answer"),
    ("        requests[0].get_response_sender()\n", "dropped the response sender of a request"),
])
def test_a_decoupled_request_always_ends(serve, tmp_path, body, text):
    write_python(tmp_path, "bad", "class TritonPythonModel:\n    def execute(self, requests):\n" +
                 body, **REPEAT_TENSORS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with Stream(server) as stream:
        for _ in range(2):
            stream.send("bad", np.ones(1, np.float32))
            with pytest.raises(tritonclient.utils.InferenceServerException) as caught:
                stream.until_final()
            assert text in caught.value.message()


def test_async_decoupled_execute(serve, tmp_path):
    model = '''
import asyncio
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    async def execute(self, requests):
        await asyncio.gather(*(self.answer(request) for request in requests))
    async def answer(self, request):
        sender = request.get_response_sender()
        for value in pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy():
            if value == 13:
                raise ValueError("thirteen")
            await asyncio.sleep(0)
            sender.send(pb_utils.InferenceResponse(
                [pb_utils.Tensor("OUTPUT0", np.array([value], np.float32))]))
        sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
'''
    write_python(tmp_path, "coroutine", model, **REPEAT_TENSORS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with Stream(server) as stream:
        stream.send("coroutine", np.arange(5, dtype=np.float32))
        assert stream.until_final() == [0, 1, 2, 3, 4]
        stream.send("coroutine", np.full(1, 13, np.float32))
        with pytest.raises(tritonclient.utils.InferenceServerException, match="thirteen"):
            stream.until_final()


CALLING = '''
import asyncio
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def request(self, request, name, version=-1):
        x = pb_utils.get_input_tensor_by_name(request, "INPUT0")
        return pb_utils.InferenceRequest(model_name=name, requested_output_names=["OUTPUT0"],
                                         inputs=[x], model_version=version)
    def answer(self, response):
        if response.has_error():
            raise pb_utils.TritonModelException(response.error().message())
        out = pb_utils.get_output_tensor_by_name(response, "OUTPUT0")
        return pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", out.as_numpy() + 1)])
'''
SYNC = CALLING + '''
    def execute(self, requests):
        return [self.answer(self.request(r, "TARGET").exec()) for r in requests]
'''


@pytest.mark.parametrize("target", ["identity", "python", "ensemble"])
@pytest.mark.parametrize("size", [4, 200_000])
def test_a_model_asks_another(serve, tmp_path, target, size):
    tensors = {"inputs": [tensor("INPUT0", dims=[-1])], "outputs": [tensor("OUTPUT0", dims=[-1])]}
    if target == "python":
        write_python(tmp_path, "target", IDENTITY, **tensors)
    elif target == "ensemble":
        write_identity(tmp_path, "first", dims=(-1,))
        write_python(tmp_path, "second", IDENTITY, **tensors)
        write_ensemble(tmp_path, "target", ["first", "second"], dims=(-1,))
    else:
        write_identity(tmp_path, "target", dims=(-1,), execute_delay_ms=1)
    write_python(tmp_path, "caller", SYNC.replace("TARGET", "target"), **tensors)
    server = serve(tmp_path, environment=ENVIRONMENT)
    values = np.random.default_rng(2).random((2, size), np.float32)
    for _ in range(3):
        assert np.array_equal(call(server, "caller", values), values + 1)


def test_a_model_asks_several_at_once(serve, tmp_path):
    write_identity(tmp_path, "slow", dims=(4,), execute_delay_ms=100)
    model = CALLING + '''
    async def execute(self, requests):
        r = requests[0]
        responses = await asyncio.gather(*(self.request(r, "slow").async_exec() for _ in range(8)))
        total = sum(pb_utils.get_output_tensor_by_name(x, "OUTPUT0").as_numpy() for x in responses)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", total)])]
'''
    write_python(tmp_path, "caller", model)
    server = serve(tmp_path, environment=ENVIRONMENT)
    values = np.ones((1, 4), np.float32)
    assert np.array_equal(call(server, "caller", values), values * 8)


def test_a_model_hears_all_responses_of_a_decoupled_one(serve, tmp_path):
    write_python(tmp_path, "repeat", REPEAT, **REPEAT_TENSORS)
    model = CALLING + '''
    def execute(self, requests):
        got = [pb_utils.get_output_tensor_by_name(x, "OUTPUT0").as_numpy()
               for x in self.request(requests[0], "repeat").exec(decoupled=True)]
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", np.concatenate(got))])]
'''
    write_python(tmp_path, "caller", model, max_batch_size=0,
                 inputs=[tensor("INPUT0", dims=[-1])], outputs=[tensor("OUTPUT0", dims=[-1])])
    server = serve(tmp_path, environment=ENVIRONMENT)
    values = np.arange(50, dtype=np.float32)
    assert np.array_equal(call(server, "caller", values), values)


def test_what_a_call_cannot_get_is_an_error(serve, tmp_path):
    for name, target in (("unknown", "nowhere"), ("circle", "round"), ("round", "circle")):
        write_python(tmp_path, name, SYNC.replace("TARGET", target),
                     extra="instance_group { count: 9 }" if name != "unknown" else "")
    write_python(tmp_path, "early", SYNC + '''
    def initialize(self, args):
        pb_utils.InferenceRequest(model_name="unknown", requested_output_names=[], inputs=[]).exec()
''')
    server = serve(tmp_path, environment=ENVIRONMENT, start_limit_s=120)
    values = np.ones((1, 4), np.float32)
    assert "unknown model: 'nowhere' is not found" in refusal(server, "unknown", values)
    assert "do the models ask each other in a circle?" in refusal(server, "circle", values)
    with connect(server, "http") as (_, client):
        states = {entry["name"]: entry for entry in client.get_model_repository_index()}
    assert "exec() cannot be called in initialize()" in states["early"]["reason"]


def test_a_model_loads_and_unloads_others(serve, tmp_path):
    write_identity(tmp_path, "other", dims=(4,))
    model = CALLING + '''
    def execute(self, requests):
        seen = [pb_utils.is_model_ready("other")]
        pb_utils.load_model(model_name="other")
        seen.append(pb_utils.is_model_ready("other", "1"))
        pb_utils.unload_model("other")
        try:
            pb_utils.load_model("nowhere")
        except pb_utils.TritonModelException as error:
            seen.append("nowhere" in str(error))
        out = np.array([seen + [False]], np.float32)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", out)])]
'''
    write_python(tmp_path, "loader", model)
    server = serve(tmp_path, "--model-control-mode=explicit", "--load-model=loader",
                   environment=ENVIRONMENT)
    assert call(server, "loader", np.ones((1, 4), np.float32)).tolist() == [[0, 1, 1, 0]]
    other = serve(tmp_path, environment=ENVIRONMENT)
    assert "only with --model-control-mode=explicit" in refusal(other, "loader",
                                                                np.ones((1, 4), np.float32))


def test_a_model_loads_others_while_it_is_loaded_itself(serve, tmp_path):
    """Also where it has the only thread that loads models."""
    write_identity(tmp_path, "step", dims=(4,))
    write_ensemble(tmp_path, "chain", ["step"], dims=(4,))
    model = CALLING + '''
    def initialize(self, args):
        pb_utils.load_model("chain")
    def execute(self, requests):
        names = ("chain", "step")
        seen = [pb_utils.is_model_ready(name) for name in names]
        pb_utils.unload_model("chain", unload_dependents=True)
        while any(pb_utils.is_model_ready(name) for name in names):
            pass
        out = np.array([seen + [True, True]], np.float32)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", out)])]
'''
    write_python(tmp_path, "loader", model)
    server = serve(tmp_path, "--model-control-mode=explicit", "--load-model=loader",
                   "--model-load-thread-count=1", environment=ENVIRONMENT)
    assert call(server, "loader", np.ones((1, 4), np.float32)).tolist() == [[1, 1, 1, 1]]


def test_metrics_of_a_model(serve, tmp_path):
    model = '''
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def initialize(self, args):
        family = pb_utils.MetricFamily(name="words_total", description="Words seen",
                                       kind=pb_utils.MetricFamily.COUNTER)
        self.words = family.Metric(labels={"model": args["model_name"]})
        self.level = pb_utils.MetricFamily("level", "How high", pb_utils.MetricFamily.GAUGE).Metric()
        self.sizes = pb_utils.MetricFamily("sizes", "How long", pb_utils.MetricFamily.HISTOGRAM
                                           ).Metric(labels={}, buckets=[1, 10])
    def execute(self, requests):
        for request in requests:
            self.words.increment(2)
            self.level.set(7.5)
            self.level.increment(-1)
            self.sizes.observe(5)
        try:
            self.words.increment(-1)
        except pb_utils.TritonModelException as error:
            assert "negative" in str(error)
        out = np.full((1, 4), self.words.value(), np.float32)
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", out)])]
'''
    write_python(tmp_path, "counting", model)
    server = serve(tmp_path, environment=ENVIRONMENT)
    for number in (1, 2):
        assert call(server, "counting", np.ones((1, 4), np.float32))[0, 0] == 2 * number
    text = server.get("/metrics", "metrics")[1].decode()
    assert 'words_total{model="counting"} 4\n' in text and "level 6.5\n" in text
    assert 'sizes_bucket{le="10"} 2\n' in text and "sizes_sum 10\n" in text


def test_log_lines_of_a_model(serve, tmp_path):
    write_python(tmp_path, "talking", IDENTITY.replace(
        "        responses = []\n", '        pb_utils.Logger.log_info("some info")\n'
        '        pb_utils.Logger.log_warn("a warning\\nof two lines")\n'
        '        pb_utils.Logger.log("an error", pb_utils.Logger.ERROR)\n'
        '        pb_utils.Logger.log_verbose("hidden")\n        responses = []\n', 1))
    server = serve(tmp_path, environment=ENVIRONMENT)
    call(server, "talking", np.ones((1, 4), np.float32))
    log = server.log()
    assert " I talking (model.py:6): some info\n" in log
    assert " W talking (model.py:7): a warning\n" in log and "model.py:7): of two lines\n" in log
    assert " E talking (model.py:8): an error\n" in log and "hidden" not in log


def test_tensors_pass_through_dlpack(serve, tmp_path):
    model = '''
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            x = pb_utils.get_input_tensor_by_name(request, "INPUT0")
            half = pb_utils.get_input_tensor_by_name(request, "INPUT1")
            assert np.from_dlpack(x).shape == x.as_numpy().shape and x.is_cpu()
            responses.append(pb_utils.InferenceResponse([
                pb_utils.Tensor.from_dlpack("OUTPUT0", x.to_dlpack()),
                pb_utils.Tensor.from_dlpack("OUTPUT1", half)]))
        return responses
'''
    write_python(tmp_path, "packed", model, [tensor("INPUT0"), tensor("INPUT1", "BF16", [2])],
                 [tensor("OUTPUT0"), tensor("OUTPUT1", "BF16", [2])])
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "grpc") as (api, client):
        inputs = [api.InferInput("INPUT0", [1, 4], "FP32"), api.InferInput("INPUT1", [1, 2], "BF16")]
        inputs[0].set_data_from_numpy(np.ones((1, 4), np.float32))
        inputs[1].set_data_from_numpy(np.array([[0.5, -2]], ml_dtypes.bfloat16))
        result = client.infer("packed", inputs)
        assert result.as_numpy("OUTPUT0").tolist() == [[1, 1, 1, 1]]
        assert result.as_numpy("OUTPUT1").tolist() == [[0.5, -2]]
