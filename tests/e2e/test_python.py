"""Backend python: model.py as Triton's users write it, served by worker processes."""
import concurrent.futures
import json

import numpy as np
import pytest
import tritonclient.utils

from clients import PROTOCOLS, connect, infer
from python_models import ADD_SUB, ENVIRONMENT, IDENTITY, tensor, write_python

TWO = {"inputs": [tensor("INPUT0"), tensor("INPUT1")],
       "outputs": [tensor("OUTPUT0"), tensor("OUTPUT1")]}


def ask(api, client, model, values, outputs=None, **options):
    """The result for a dict of arrays by input."""
    inputs = []
    for name, value in values.items():
        data_type = tritonclient.utils.np_to_triton_dtype(value.dtype)
        inputs.append(api.InferInput(name, list(value.shape), data_type))
        inputs[-1].set_data_from_numpy(value)
    wanted = None if outputs is None else [api.InferRequestedOutput(name) for name in outputs]
    return client.infer(model, inputs, outputs=wanted, **options)


def error_of(server, model, values, protocol="http"):
    with connect(server, protocol) as (api, client):
        with pytest.raises(tritonclient.utils.InferenceServerException) as caught:
            ask(api, client, model, values)
        return caught.value


def floats(*rows):
    return np.array(rows, np.float32)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_adds_and_subtracts(serve, tmp_path, protocol):
    write_python(tmp_path, "add_sub", ADD_SUB, **TWO)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, protocol) as (api, client):
        values = {"INPUT0": floats([1, 2, 3, 4], [5, 6, 7, 8]), "INPUT1": floats([1] * 4, [2] * 4)}
        result = ask(api, client, "add_sub", values)
        assert result.as_numpy("OUTPUT0").tolist() == [[2, 3, 4, 5], [7, 8, 9, 10]]
        assert result.as_numpy("OUTPUT1").tolist() == [[0, 1, 2, 3], [3, 4, 5, 6]]
        only = ask(api, client, "add_sub", values, outputs=["OUTPUT1"])
        assert only.as_numpy("OUTPUT0") is None
        assert only.as_numpy("OUTPUT1").tolist() == [[0, 1, 2, 3], [3, 4, 5, 6]]
    server.stop()
    assert "add_sub (model.py:23): Cleaning up..." in server.log()


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_small_and_large_tensors_come_back_whole(serve, tmp_path, protocol):
    """Inside of messages, through shared memory, in messages that are too large themselves."""
    write_python(tmp_path, "identity", IDENTITY, inputs=[tensor("INPUT0", dims=[-1])],
                 outputs=[tensor("OUTPUT0", dims=[-1])])
    server = serve(tmp_path, environment=ENVIRONMENT)
    random = np.random.default_rng(1)
    with connect(server, protocol) as (api, client):
        for size in (1, 16, 4096, 4097, 150_000, 3_000_000, 1):
            values = random.random((1, size), np.float32)
            for _ in range(3):
                assert np.array_equal(infer(api, client, "identity", values), values)


def test_batches_hold_the_requests_themselves(serve, tmp_path):
    model = IDENTITY.replace("        responses = []\n",
                             "        self.sizes = [len(requests)]\n        responses = []\n", 1)
    model = model.replace("tensor.as_numpy())]", "tensor.as_numpy() + 1000 * len(requests))]")
    write_python(tmp_path, "batching", model,
                 extra="dynamic_batching { max_queue_delay_microseconds: 200000 "
                       "preferred_batch_size: 8 }")
    server = serve(tmp_path, environment=ENVIRONMENT)

    def send(number):
        with connect(server, "http") as (api, client):
            return infer(api, client, "batching", np.full((1, 4), number, np.float32))

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(send, range(8)))
    together = {int(answer[0, 0]) // 1000 for answer in answers}
    assert max(together) > 1
    assert [int(answer[0, 0]) % 1000 for answer in answers] == list(range(8))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_strings_and_every_number_type(serve, tmp_path, protocol):
    names = ["BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64",
             "FP16", "FP32", "FP64", "STRING"]
    model = '''
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("O" + t.name()[1:], t.as_numpy())
                                            for t in request.inputs()]) for request in requests]
'''
    write_python(tmp_path, "types", model, [tensor(f"I{name}", name, [3]) for name in names],
                 [tensor(f"O{name}", name, [3]) for name in names], max_batch_size=0)
    server = serve(tmp_path, environment=ENVIRONMENT)
    values = {f"I{name}": np.array([0, 1, 1], tritonclient.utils.triton_to_np_dtype(name))
              for name in names if name != "STRING"}
    values["ISTRING"] = np.array([b"", "größer".encode(), b"\x00\xff" * 9000], np.object_)
    with connect(server, protocol) as (api, client):
        result = ask(api, client, "types", values)
        for name, value in values.items():
            assert result.as_numpy(f"O{name[1:]}").tolist() == value.tolist(), name


def test_a_model_sees_what_came_with_the_request(serve, tmp_path):
    model = '''
import json
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def initialize(self, args):
        self.args = {k: v for k, v in args.items() if k != "model_config"}
    def execute(self, requests):
        r = requests[0]
        seen = {"id": r.request_id(), "correlation": r.correlation_id(), "flags": r.flags(),
                "timeout": r.timeout(), "parameters": json.loads(r.parameters()),
                "outputs": r.requested_output_names(), "args": self.args,
                "cancelled": r.is_cancelled()}
        out = pb_utils.Tensor("OUTPUT0", np.array([json.dumps(seen).encode()], dtype=np.object_))
        return [pb_utils.InferenceResponse([out], parameters={"answer": 42, "text": "so"})]
'''
    write_python(tmp_path, "seen", model, outputs=[tensor("OUTPUT0", "STRING", [1])],
                 max_batch_size=0, inputs=[tensor("INPUT0", dims=[1])])
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "grpc") as (api, client):
        result = ask(api, client, "seen", {"INPUT0": floats(1)}, request_id="seven", timeout=5000000,
                     sequence_id=9, sequence_start=True, parameters={"kind": "a", "n": 3})
        seen = json.loads(result.as_numpy("OUTPUT0")[0])
        parameters = result.get_response().parameters
        assert parameters["answer"].int64_param == 42 and parameters["text"].string_param == "so"
    assert seen["id"] == "seven" and seen["correlation"] == 9 and seen["flags"] == 1
    assert seen["timeout"] == 5000000 and seen["parameters"] == {"kind": "a", "n": 3}
    assert seen["outputs"] == ["OUTPUT0"] and not seen["cancelled"]
    assert seen["args"] == {
        "model_instance_kind": "CPU", "model_instance_name": "seen_0", "model_name": "seen",
        "model_instance_device_id": "0", "model_repository": str(tmp_path / "seen"),
        "model_version": "1"}


FAILING = '''
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for request in requests:
            x = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            what = int(x.flat[0])
            if what == 1:
                raise ValueError("one is a bad number")
            if what == 2:
                responses.append(pb_utils.InferenceResponse(error=pb_utils.TritonError(
                    "no such row", pb_utils.TritonError.NOT_FOUND)))
                continue
            if what == 3:
                return []
            if what == 4:
                return None
            if what == 5:
                x = x.astype(np.float64)
            if what == 6:
                x = x[:, :2]
            if what == 7:
                responses.append("text")
                continue
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", x)]))
        return responses
'''


def test_errors_say_what_and_where(serve, tmp_path):
    write_python(tmp_path, "failing", FAILING)
    server = serve(tmp_path, environment=ENVIRONMENT)
    expected = {
        1: ("500", "message: ValueError: one is a bad number\n\nAt:\n  "
                   f"{tmp_path}/failing/1/model.py(11): execute"),
        2: ("404", "no such row"),
        3: ("500", "InferenceRequest(s) size is: 1, and InferenceResponse(s) size is: 0"),
        4: ("500", "execute() must return a list with one InferenceResponse for each request, not "
                   "NoneType"),
        5: ("500", "output 'OUTPUT0' of model.py is FP64, but the configuration says FP32"),
        6: ("500", "output 'OUTPUT0' of model.py has shape [1,2], but the configuration says [-1,4]"),
        7: ("500", "execute() must return a list of InferenceResponse; it has a str"),
    }
    for what, (status, text) in expected.items():
        error = error_of(server, "failing", {"INPUT0": np.full((1, 4), what, np.float32)})
        assert error.status() == status and text in error.message(), (what, error)
    error = error_of(server, "failing", {"INPUT0": np.full((1, 4), 2, np.float32)}, "grpc")
    assert error.status() == "StatusCode.NOT_FOUND"
    with connect(server, "http") as (api, client):
        values = np.full((1, 4), 9, np.float32)
        assert np.array_equal(infer(api, client, "failing", values), values)
    assert "ValueError: one is a bad number" in server.log()


@pytest.mark.parametrize("model, text", [
    ("import nowhere_at_all\n", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
    ("class TritonPythonModel\n", "SyntaxError"),
    ("x = 1\n", "has no class TritonPythonModel"),
    ("class TritonPythonModel:\n    pass\n", "TritonPythonModel has no method execute()"),
    (IDENTITY + "    def initialize(self, args):\n        raise RuntimeError('no weights')\n",
     "RuntimeError: no weights\n\nAt:\n  "),
    (IDENTITY + "    def initialize(self, args):\n        import os; os._exit(3)\n",
     "the worker process ended before it was ready: it exited with status 3"),
])
def test_a_model_that_does_not_start_says_why(serve, tmp_path, model, text):
    write_python(tmp_path, "broken", model)
    write_python(tmp_path, "good", IDENTITY)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (_, client):
        states = {entry["name"]: entry for entry in client.get_model_repository_index()}
        assert states["good"]["state"] == "READY" and states["broken"]["state"] == "UNAVAILABLE"
        assert text in states["broken"]["reason"]


def test_the_configuration_completes_itself(serve, tmp_path):
    model = '''
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    @staticmethod
    def auto_complete_config(config):
        config.add_input({"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]})
        config.add_output({"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]})
        config.set_max_batch_size(16)
        config.set_dynamic_batching()
        return config
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", pb_utils.
                get_input_tensor_by_name(r, "INPUT0").as_numpy())]) for r in requests]
'''
    write_python(tmp_path, "complete", model, config=False)
    contradicting = write_python(tmp_path, "contradicting", model, [tensor("INPUT0", "INT8")])
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (api, client):
        config = client.get_model_config("complete")
        assert config["max_batch_size"] == 16 and config["backend"] == "python"
        assert config["input"][0]["dims"] == [4] and "dynamic_batching" in config
        values = np.ones((5, 4), np.float32)
        assert np.array_equal(infer(api, client, "complete", values), values)
        states = {entry["name"]: entry for entry in client.get_model_repository_index()}
    assert "has data_type TYPE_INT8 in the configuration, but model.py sets TYPE_FP32" in \
        states[contradicting.name]["reason"]


def test_async_execute(serve, tmp_path):
    model = IDENTITY.replace("    def execute", "    async def execute").replace(
        "        responses = []\n", "        import asyncio\n        await asyncio.sleep(0)\n"
        "        responses = []\n", 1)
    write_python(tmp_path, "coroutine", model)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (api, client):
        values = np.ones((5, 4), np.float32)
        assert np.array_equal(infer(api, client, "coroutine", values), values)


def test_files_beside_model_py_are_imported(serve, tmp_path):
    model = "from .beside import f\nimport other\n" + IDENTITY.replace(
        "tensor.as_numpy())]", "other.g(f(tensor.as_numpy())))]")
    folder = write_python(tmp_path, "parts", model)
    (folder / "1" / "beside.py").write_text("def f(x):\n    return x + 1\n")
    (folder / "1" / "other.py").write_text("def g(x):\n    return x * 2\n")
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (api, client):
        assert infer(api, client, "parts", floats([1, 2, 3, 4])).tolist() == [[4, 6, 8, 10]]
    assert not list(folder.rglob("__pycache__"))


def test_a_model_that_keeps_and_changes_inputs(serve, tmp_path):
    """Arrays kept after execute() stay what they were; changed in place, they change nobody else's."""
    model = '''
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def initialize(self, args):
        self.kept = []
    def execute(self, requests):
        x = pb_utils.get_input_tensor_by_name(requests[0], "INPUT0").as_numpy()
        first = x[0, 0]
        self.kept.append((first, x))
        assert all((array == value).all() for value, array in self.kept), "somebody wrote"
        answer = x.copy()
        return [pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", answer)])]
'''
    write_python(tmp_path, "keeping", model, [tensor("INPUT0", dims=[-1])],
                 [tensor("OUTPUT0", dims=[-1])], kept_input_mib=2)
    write_python(tmp_path, "changing", IDENTITY.replace(
        "            responses.append", "            tensor.as_numpy()[:] *= 2\n"
        "            responses.append"), [tensor("INPUT0", dims=[-1])],
        [tensor("OUTPUT0", dims=[-1])])
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (api, client):
        for number in range(20):
            values = np.full((1, 100_000), number, np.float32)
            assert np.array_equal(infer(api, client, "keeping", values), values)
            assert np.array_equal(infer(api, client, "changing", values), values * 2)


