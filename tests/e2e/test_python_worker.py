"""Worker processes of backend python that die, hang or are left behind."""
import os
import pathlib
import signal
import threading
import time

import grpc
import numpy as np
import pytest
import tritonclient.utils
from tritonclient.grpc import service_pb2, service_pb2_grpc

from clients import connect, infer
from python_models import ENVIRONMENT, IDENTITY, tensor, write_python
from waiting import wait_until

ONES = np.ones((1, 4), np.float32)
DANGEROUS = '''
import os, signal, time
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def initialize(self, args):
        self.mark = os.path.join(args["model_repository"], "begun")
    def execute(self, requests):
        responses = []
        for request in requests:
            x = pb_utils.get_input_tensor_by_name(request, "INPUT0").as_numpy()
            if x.flat[0] == -1:
                os.kill(os.getpid(), signal.SIGSEGV)
            if x.flat[0] == -2:
                os._exit(7)
            if x.flat[0] == -3:
                time.sleep(1000)
            if x.flat[0] == -4:
                open(self.mark, "w").close()
                time.sleep(1000)
            responses.append(pb_utils.InferenceResponse([pb_utils.Tensor("OUTPUT0", x)]))
        return responses
'''


def children(pid):
    text = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return sorted(int(child) for task in text
                  for child in (task / "children").read_text().split())


def files(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def row(*values):
    return np.array([values], np.float32)


def failure(server, values):
    with connect(server, "http") as (api, client):
        with pytest.raises(tritonclient.utils.InferenceServerException) as caught:
            infer(api, client, "dangerous", values)
        return caught.value


@pytest.mark.parametrize("value, how", [(-1, "was killed by signal 11 (SIGSEGV)"),
                                        (-2, "exited with status 7"),
                                        (-3, "did not answer within 1 s")])
def test_a_worker_that_ends_costs_what_it_held(serve, tmp_path, value, how):
    write_python(tmp_path, "dangerous", DANGEROUS, execute_timeout_s=1)
    write_python(tmp_path, "other", IDENTITY)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (api, client):
        for _ in range(2):
            error = failure(server, row(value, 0, 0, 0))
            assert error.status() == "503", error
            assert f"the worker process that had this request {how}" in error.message()
            # Waits for the next process.
            assert np.array_equal(infer(api, client, "dangerous", ONES), ONES)
            assert client.is_model_ready("dangerous")
        assert np.array_equal(infer(api, client, "other", ONES), ONES)
    assert f"the worker process of 'dangerous_0' {how}" in server.log()


# 64 responses of 1 MiB to a request: more than clients and the kernel keep for one who reads nothing.
CHATTY = '''
import numpy as np
import triton_python_backend_utils as pb_utils
class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            sender = request.get_response_sender()
            for number in range(64):
                out = pb_utils.Tensor("OUTPUT0", np.full((1, 1 << 18), number, np.float32))
                sender.send(pb_utils.InferenceResponse([out]))
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
'''


def write_chatty(folder):
    write_python(folder, "chatty", CHATTY, outputs=[tensor("OUTPUT0", dims=[-1])],
                 extra="model_transaction_policy { decoupled: true }", execute_timeout_s=1)


def ask_chatty(channel):
    request = service_pb2.ModelInferRequest(model_name="chatty", raw_input_contents=[ONES.tobytes()])
    request.inputs.add(name="INPUT0", datatype="FP32", shape=ONES.shape)
    return service_pb2_grpc.GRPCInferenceServiceStub(channel).ModelStreamInfer(iter([request]))


def test_a_worker_that_waits_for_a_slow_reader_does_not_hang(serve, tmp_path):
    write_chatty(tmp_path)
    write_python(tmp_path, "dangerous", DANGEROUS, execute_timeout_s=1)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with grpc.insecure_channel(server.grpc) as channel:
        answers = ask_chatty(channel)
        values = [np.frombuffer(next(answers).infer_response.raw_output_contents[0], np.float32)[0]]
        # Reads nothing while another worker gets its time-out, twice.
        for _ in range(2):
            assert "did not answer within 1 s" in failure(server, row(-3, 0, 0, 0)).message()
        for answer in answers:
            assert not answer.error_message
            values += [np.frombuffer(content, np.float32)[0]
                       for content in answer.infer_response.raw_output_contents]
    assert values == list(range(64))
    assert "worker process of 'chatty_0'" not in server.log()


def test_a_client_that_reads_nothing_loses_its_request_alone(serve, tmp_path):
    write_chatty(tmp_path)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with grpc.insecure_channel(server.grpc) as stuck, grpc.insecure_channel(server.grpc) as other:
        unread = ask_chatty(stuck)
        next(unread)
        # The worker is held up by the first request, for ten times its time-out of a second.
        assert not any(answer.error_message for answer in ask_chatty(other))
        last = list(unread)[-1]
        assert "the client took no response for so long" in last.error_message
    assert "worker process of 'chatty_0'" not in server.log()


def test_requests_behind_a_dying_one_are_not_lost(serve, tmp_path):
    folder = write_python(tmp_path, "dangerous", DANGEROUS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    (worker,) = children(server.pid)
    answers = []

    def send(values):
        with connect(server, "http") as (api, client):
            try:
                answers.append(infer(api, client, "dangerous", values)[0, 3])
            except tritonclient.utils.InferenceServerException as error:
                answers.append(error.message())

    first = threading.Thread(target=send, args=(row(-4, 0, 0, 0),))
    first.start()
    wait_until((folder / "begun").exists, "the worker has begun the first")
    others = [threading.Thread(target=send, args=(row(1, 0, 0, number),)) for number in range(4)]
    for thread in others:
        thread.start()
    # One is with the worker, behind the first; three are in the queue.
    wait_until(lambda: 'nv_inference_pending_request_count{model="dangerous",version="1"} 3' in
               server.get("/metrics", "metrics")[1].decode(), "all wait")
    os.kill(worker, signal.SIGKILL)
    for thread in [first, *others]:
        thread.join()
    messages = [answer for answer in answers if isinstance(answer, str)]
    assert len(messages) == 1 and "was killed by signal 9 (SIGKILL)" in messages[0]
    assert sorted(answer for answer in answers if not isinstance(answer, str)) == [0, 1, 2, 3]


def test_kills_under_load_leave_nothing_behind(serve, tmp_path):
    write_python(tmp_path, "dangerous", DANGEROUS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    shared = set(os.listdir("/dev/shm"))
    stop = threading.Event()
    counts = {"good": 0, "held": 0}
    wrong = []

    def load(number):
        values = row(number, 1, 2, 3)
        with connect(server, "http") as (api, client):
            while not stop.is_set():
                try:
                    if not np.array_equal(infer(api, client, "dangerous", values), values):
                        wrong.append("other values")
                    counts["good"] += 1
                except tritonclient.utils.InferenceServerException as error:
                    if "that had this request was killed by signal 9" in error.message():
                        counts["held"] += 1
                    else:
                        wrong.append(error.message())

    threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    before = None
    for _ in range(20):
        done = counts["good"]
        wait_until(lambda: counts["good"] > done + 5 and len(children(server.pid)) == 1, "answers")
        before = before or files(server.pid)
        (worker,) = children(server.pid)
        os.kill(worker, signal.SIGKILL)
        wait_until(lambda: not pathlib.Path(f"/proc/{worker}").exists(), "it is gone")
    done = counts["good"]
    wait_until(lambda: counts["good"] > done + 5, "answers after the last")
    stop.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[:3]
    # Of a batch that was not begun nobody hears.
    assert counts["held"] <= 20
    assert files(server.pid) <= before + 2
    assert len(children(server.pid)) == 1
    assert set(os.listdir("/dev/shm")) <= shared


def test_a_worker_that_never_answers_is_started_later_each_time(serve, tmp_path):
    """Refused meanwhile, with the reason; not ready."""
    write_python(tmp_path, "dangerous", DANGEROUS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    with connect(server, "http") as (_, client):
        messages = []

        def refused():
            messages.append(failure(server, row(-2, 0, 0, 0)).message())
            return "end again and again without an answer" in messages[-1]

        wait_until(refused, "refusals")
        assert not client.is_model_ready("dangerous")
        wait_until(lambda: client.is_model_ready("dangerous"), "it comes again")


def test_a_model_without_its_file_after_the_start(serve, tmp_path):
    folder = write_python(tmp_path, "dangerous", DANGEROUS)
    server = serve(tmp_path, environment=ENVIRONMENT)
    (folder / "1" / "model.py").write_text("raise RuntimeError('changed under its feet')\n")
    failure(server, row(-2, 0, 0, 0))
    error = failure(server, ONES)
    assert error.status() == "503" and "changed under its feet" in error.message()


def test_a_killed_server_takes_its_workers_along(serve, tmp_path):
    write_python(tmp_path, "dangerous", DANGEROUS, extra="instance_group { count: 2 }")
    server = serve(tmp_path, environment=ENVIRONMENT)
    workers = children(server.pid)
    assert len(workers) == 2
    server.kill()
    wait_until(lambda: not any(pathlib.Path(f"/proc/{worker}").exists() for worker in workers),
               "the workers are gone")


def test_instances_stand_in_for_each_other(serve, tmp_path):
    write_python(tmp_path, "dangerous", DANGEROUS, extra="instance_group { count: 2 }")
    server = serve(tmp_path, environment=ENVIRONMENT)
    for worker in children(server.pid):
        os.kill(worker, signal.SIGKILL)
        with connect(server, "http") as (api, client):
            for _ in range(5):
                assert np.array_equal(infer(api, client, "dangerous", ONES), ONES)


def test_is_ready_of_the_model_counts(serve, tmp_path):
    flag = tmp_path / "flag"
    repository = tmp_path / "repository"
    write_python(repository, "moody", IDENTITY + f'''
    def is_ready(self):
        import os
        return not os.path.exists({str(flag)!r})
''')
    server = serve(repository, environment=ENVIRONMENT)
    with connect(server, "http") as (_, client):
        assert client.is_model_ready("moody")
        flag.write_text("")
        wait_until(lambda: not client.is_model_ready("moody"), "not ready")
        flag.unlink()
        wait_until(lambda: client.is_model_ready("moody"), "ready")


def test_a_stubborn_model_does_not_hold_the_end_up(serve, tmp_path):
    write_python(tmp_path, "stubborn", IDENTITY + '''
    def finalize(self):
        import time
        time.sleep(1000)
''', finalize_timeout_s=1)
    server = serve(tmp_path, environment=ENVIRONMENT)
    (worker,) = children(server.pid)
    begun = time.monotonic()
    server.stop()
    assert time.monotonic() - begun < 10
    assert not pathlib.Path(f"/proc/{worker}").exists()
    assert "did not finalize within 1 s" in server.log()
