"""One worker process of proa's python backend: runs TritonPythonModel for the server at the other end
of descriptor 3. Started by the server only."""
import os
import sys

# This folder is for `import triton_python_backend_utils`; what the model brings itself goes first.
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [folder for folder in sys.path if folder != HERE] + [HERE]


def fail_early(text):
    """Before the ordinary way of telling: one kFailed message."""
    import socket
    import struct
    encoded = text.encode()
    with socket.socket(fileno=3) as channel:
        channel.send(struct.pack("<BBHIIII", 67, 1, 0, 0, 0, 0, len(encoded)) + encoded)
        while channel.recv(1):  # a socket closed before all is read takes with it what it sent
            pass
    sys.exit(1)


if sys.version_info < (3, 9):
    fail_early(f"{sys.executable} is Python {sys.version_info[0]}.{sys.version_info[1]}; wanted 3.9 or "
               "newer: install it, or name an environment in the parameter EXECUTION_ENV_PATH")
try:
    import numpy
except ImportError as missing:
    fail_early(f"{sys.executable} cannot import numpy ({missing}): install it there (pip install numpy, or "
               "apt install python3-numpy), or name an environment in the parameter "
               "EXECUTION_ENV_PATH")

# Reading a repository must not change it: polling would load the model again.
sys.dont_write_bytecode = True

import asyncio
import inspect
import json
import threading

import proa_link as link_module
import proa_runtime
from proa_link import Closed, Draft, Link
from proa_messages import (Outputs, failure, get_requests, get_string, own_arrays, put_response)
from proa_model import Model, describe, full_traceback
from proa_model_config import ModelConfig
from proa_objects import InferenceResponse, TritonError
from proa_pump import Pump
from proa_sender import end


class Worker:
    """The conversation with the server: one message after the other."""

    def __init__(self):
        self.link = Link()
        self.pump = Pump(self.link)
        self.model = None
        self.begun = None   # a view of the status page: the last batch that was begun
        self.loop = None    # of async models

    def run(self):
        while True:
            message = self.pump.next()
            kind = message.kind
            if kind == link_module.EXECUTE:
                self.execute(message)
            elif kind == link_module.START:
                if not self.start(message):
                    return
            elif kind == link_module.COMPLETE:
                self.complete(message)
                return
            elif kind == link_module.STOP:
                self.stop()
                return
            elif kind == link_module.CHECK:
                self.check()
            del message
            if self.link.returns:
                self.flush()

    def flush(self):
        """Gives back what the model has let go of, when no response takes it along."""
        Draft(self.link, link_module.RESPONSES).send()

    def log(self, level, text, file="model.py", line=0):
        proa_runtime.log(level, text, file, line)

    def arguments(self, message):
        arguments = {}
        at = message.at
        for _ in range(message.items):
            name, at = get_string(message.data, at)
            arguments[name], at = get_string(message.data, at)
        return arguments

    def start(self, message):
        page = memoryview(message.roots[0])
        self.begun = page[:8].cast("Q")
        proa_runtime.start(self.link, self.pump, page)
        try:
            self.model = Model(self.arguments(message), self.log)
            proa_runtime.model = self.model
            self.model.initialize()
        except Exception as error:
            self.fail(f"model.py cannot be started: {describe(error)}", error)
            return False
        draft = Draft(self.link, link_module.READY)
        draft.body.append(hasattr(self.model.instance, "is_ready"))
        draft.send()
        return True

    def complete(self, message):
        """Answers with the configuration as auto_complete_config() leaves it; "" without that."""
        proa_runtime.start(self.link, self.pump, memoryview(message.roots[0]))
        try:
            model = Model(self.arguments(message), self.log)
            complete = getattr(model.load(), "auto_complete_config", None)
            text = ""
            if complete is not None:
                config = complete(ModelConfig(json.loads(model.arguments["model_config"])))
                if not isinstance(config, ModelConfig):
                    raise TypeError("auto_complete_config must return the ModelConfig that it "
                                    f"got, not {type(config).__name__}")
                text = json.dumps(config.as_dict())
        except Exception as error:
            self.fail(f"auto_complete_config: {describe(error)}", error)
            return
        draft = Draft(self.link, link_module.COMPLETED)
        draft.put_string(text)
        draft.send()

    def fail(self, text, error):
        self.log(2, full_traceback(error))
        draft = Draft(self.link, link_module.FAILED)
        draft.put_string(text)
        draft.send()

    def stop(self):
        self.model.serving = False
        finalize = getattr(self.model.instance, "finalize", None)
        if finalize is not None:
            try:
                finalize()
            except Exception as error:
                self.log(2, f"finalize() failed: {full_traceback(error)}")

    def check(self):
        try:
            ready = self.finish(self.model.instance.is_ready())
        except Exception as error:
            self.log(2, f"is_ready() failed: {full_traceback(error)}")
            ready = False
        draft = Draft(self.link, link_module.CHECKED)
        draft.body.append(bool(ready))
        draft.send()

    def finish(self, result):
        """What a method returned, awaited if it is async."""
        if not inspect.isawaitable(result):
            return result
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
        if self.loop.is_running():
            return asyncio.run_coroutine_threadsafe(result, self.loop).result()
        return self.loop.run_until_complete(result)

    def execute(self, message):
        model = self.model
        if model.decoupled:
            self.execute_decoupled(message)
            return
        self.begun[0], requests = get_requests(message, model)
        roots, message.roots = message.roots, None
        about = [(request._number, request._outputs) for request in requests]
        try:
            responses = model.execute(requests)
            if responses.__class__ is not list:
                responses = self.finish(responses)
            answers = self.answers(responses, about, requests)
        except (Exception, SystemExit) as error:
            answers = self.failures(error, about, requests)
        requests = responses = None
        if not answers:
            return
        owned = own_arrays(self.link, roots, answers) if roots else None
        roots = None
        draft = Draft(self.link, link_module.RESPONSES)
        for answer in answers:
            put_response(draft, answer, owned)
        draft.send()

    def answers(self, responses, about, requests):
        """One Outputs for each response of execute(); none for what a sender answers."""
        if responses is None and all(request._sender is not None for request in requests):
            return []
        if not isinstance(responses, (list, tuple)):
            raise TypeError("execute() must return a list with one InferenceResponse for each "
                            f"request, not {type(responses).__name__}")
        if len(responses) != len(about):
            raise ValueError("Number of InferenceResponse objects do not match the number of "
                             f"InferenceRequest objects. InferenceRequest(s) size is: {len(about)}, "
                             f"and InferenceResponse(s) size is: {len(responses)}")
        answers = []
        for i, (response, (number, wanted)) in enumerate(zip(responses, about)):
            if response is None and requests[i]._sender is not None:
                continue
            if not isinstance(response, InferenceResponse):
                raise TypeError("execute() must return a list of InferenceResponse; it has a "
                                f"{type(response).__name__}")
            answers.append(Outputs(number, response, wanted, self.model))
        return answers

    def failures(self, error, about, requests):
        """The same error for every request that has not ended."""
        text = TritonError(self.failed(error))
        error.__traceback__ = None
        return [failure(number, text) for (number, _), request in zip(about, requests)
                if request._sender is None or not request._sender.close()]

    def failed(self, error):
        self.log(2, full_traceback(error))
        return ("Failed to process the request(s) for model instance "
                f"'{self.model.instance_name}', message: {describe(error)}")

    def execute_decoupled(self, message):
        """execute() of a decoupled model: the responses come by senders, from anywhere."""
        model = self.model
        self.begun[0], requests = get_requests(message, model)
        message.roots = None
        numbers = [request._number for request in requests]
        for number in numbers:
            model.open[number] = True
        try:
            result = model.execute(requests)
            if inspect.isawaitable(result):
                self.finish_later(result, numbers)
            elif result is not None:
                raise TypeError("Python model '" + model.name + "' is using the decoupled mode and "
                                "the execute function must return None")
        except (Exception, SystemExit) as error:
            self.end_all(error, numbers)

    def end_all(self, error, numbers):
        text = self.failed(error)
        error.__traceback__ = None
        for number in numbers:
            end(number, self.model, text)

    def finish_later(self, coroutine, numbers):
        """Runs an async execute() beside the others, on a thread for all of them."""
        if self.loop is None:
            self.loop = asyncio.new_event_loop()
            threading.Thread(target=self.loop.run_forever, daemon=True).start()

        def done(future):
            if future.exception() is not None:
                self.end_all(future.exception(), numbers)

        asyncio.run_coroutine_threadsafe(coroutine, self.loop).add_done_callback(done)


def main():
    worker = Worker()
    try:
        worker.run()
    except Closed:
        pass
    sys.stdout.flush()
    # Threads of the model that go on would keep the process.
    os._exit(0)


if __name__ == "__main__":
    main()
