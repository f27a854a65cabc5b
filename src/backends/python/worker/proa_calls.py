"""Requests of a model to other models of the server (BLS), and to the server itself."""
import asyncio
import collections
import itertools
import json
import struct

import proa_runtime
from proa_link import BY_NAME, CALL, U32, Draft
from proa_messages import FINAL, HAS_ERROR, HAS_PARAMETERS, get_parameters, get_string, get_tensor
from proa_messages import put_parameters
from proa_objects import InferenceResponse, TritonError, TritonModelException
from proa_types import BYTES, serialize_bytes

INFER, LOAD, UNLOAD, IS_READY, CANCEL, METRIC_VALUE = range(6)
CALL_HEAD = struct.Struct("<QII")       # call, what, 0
INFER_HEAD = struct.Struct("<QQIIII")   # correlation, timeout, flags, priority, outputs, inputs
ANSWER_HEAD = struct.Struct("<QQIIII")  # call, value, flags, code, outputs, 0

_numbers = itertools.count(1)


class Answers:
    """What the server says to one call, as it comes."""

    def __init__(self, number):
        self.number = number
        self.ready = collections.deque()
        self.ended = False
        proa_runtime.pump.answers[number] = self._take

    def _take(self, message):
        response, flags, value = get_answer(message)
        if flags & FINAL:
            self.ended = True
            proa_runtime.pump.answers.pop(self.number, None)
        self.ready.append((response, value))

    def wait(self):
        """The next (response, value). After the last one: None."""
        if not self.ready:
            if self.ended:
                return None
            proa_runtime.pump.wait(lambda: self.ready)
        return self.ready.popleft()


def get_answer(message):
    data = message.data
    _, value, flags, code, outputs, _ = ANSWER_HEAD.unpack_from(data, message.at)
    at = message.at + ANSWER_HEAD.size
    error, parameters = None, None
    if flags & HAS_ERROR:
        text, at = get_string(data, at)
        error = TritonError(text, code)
    if flags & HAS_PARAMETERS:
        parameters, at = get_parameters(data, at)
    at = message.body + ((at - message.body + 7) & ~7)
    tensors = []
    for _ in range(outputs):
        tensor, at = get_tensor(message, at, None, False)
        tensors.append(tensor)
    message.roots = None
    return InferenceResponse(tensors, error, parameters), flags, value


def new_call(what):
    """(the Draft of a call, its number)."""
    number = next(_numbers)
    draft = Draft(proa_runtime.link, CALL)
    draft.items = 1
    draft.body += CALL_HEAD.pack(number, what, 0)
    return draft, number


def put_named(draft, tensor):
    if tensor._array is None:
        content = bytes(tensor._raw)
    elif tensor._type == BYTES:
        content = serialize_bytes(tensor._array)
    else:
        content = tensor._array
    draft.put_tensor(BY_NAME, tensor._type, content, tensor.shape(), name=tensor._name.encode())


def start_infer(request):
    """Sends an InferenceRequest; its Answers."""
    if proa_runtime.model is None or not proa_runtime.model.serving:
        raise TritonModelException("exec() cannot be called in initialize() and finalize()")
    draft, number = new_call(INFER)
    text = request._correlation if isinstance(request._correlation, str) else ""
    draft.body += INFER_HEAD.pack(0 if text else request._correlation, request._timeout,
                                  request._flags, request._priority, len(request._outputs),
                                  len(request._inputs))
    version = request._model_version
    for part in (request._model_name, "" if version < 0 else str(version), request._id, text):
        draft.put_string(part)
    put_parameters(draft, request._parameters or {})
    for name in request._outputs:
        draft.put_string(name)
    draft.align(8)
    for tensor in request._inputs:
        put_named(draft, tensor)
    answers = Answers(number)
    draft.send()
    return answers


def one(answers):
    """The only response of a call: an empty last one does not count."""
    response, _ = answers.wait()
    for _, empty in iter(answers.wait, None):
        if not empty:
            response = InferenceResponse([], TritonError(
                "the model has sent more than one response: exec(decoupled=True) gives them all",
                TritonError.UNSUPPORTED))
    return response


def infer(request, decoupled=False):
    answers = start_infer(request)
    return ResponseIterator(answers) if decoupled else one(answers)


async def infer_async(request, decoupled=False):
    answers = start_infer(request)
    loop = asyncio.get_running_loop()
    if decoupled:
        return AsyncResponseIterator(answers)
    return await loop.run_in_executor(None, one, answers)


class ResponseIterator:
    """The responses of a decoupled model, as they come."""

    def __init__(self, answers):
        self._answers = answers

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            answer = self._answers.wait()
            if answer is None:
                raise StopIteration
            response, empty = answer
            if not empty:
                return response

    def cancel(self):
        """Tells the model that nobody wants the rest."""
        draft, _ = new_call(CANCEL)
        draft.body += struct.pack("<Q", self._answers.number)
        draft.send()


class AsyncResponseIterator(ResponseIterator):
    """The same for `async for`."""

    def __aiter__(self):
        return self

    async def __anext__(self):
        loop = asyncio.get_running_loop()
        response = await loop.run_in_executor(None, next, self, None)
        if response is None:
            raise StopAsyncIteration
        return response


def ask(what, *texts, tail=b""):
    """A call about a model; its (response, value). Errors: TritonModelException."""
    draft, number = new_call(what)
    for text in texts:
        draft.put_string(text)
    draft.body += tail
    answers = Answers(number)
    draft.send()
    response, value = answers.wait()
    if response.has_error():
        raise TritonModelException(response.error().message())
    return value


def load_model(model_name, config="", files=None):
    """Loads a model, or loads it anew; only where models are loaded by request."""
    files = files or {}
    if isinstance(config, dict):
        config = json.dumps(config)
    tail = bytearray(U32.pack(len(files)))
    for name, content in files.items():
        name = name.removeprefix("file:").encode()
        tail += U32.pack(len(name)) + name + U32.pack(len(content)) + bytes(content)
    ask(LOAD, model_name, config, tail=tail)


def unload_model(model_name, unload_dependents=False):
    ask(UNLOAD, model_name, "1" if unload_dependents else "")


def is_model_ready(model_name, model_version=""):
    return bool(ask(IS_READY, model_name, str(model_version)))
