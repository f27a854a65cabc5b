"""Requests: those to this model, and those that it makes to others."""
import json

import proa_calls
import proa_runtime
from proa_objects import Tensor
from proa_sender import InferenceResponseSender, end


class InferenceRequest:
    """A question: to this model, or made by it for another one of the server."""
    __slots__ = ("_number", "_slot", "_inputs", "_id", "_correlation", "_flags", "_timeout",
                 "_parameters", "_outputs", "_priority", "_model", "_model_name",
                 "_model_version", "_sender")

    def __init__(self, model_name="", requested_output_names=(), inputs=(), request_id="",
                 correlation_id=0, model_version=-1, flags=0, timeout=0, preferred_memory=None,
                 trace=None, parameters=None):
        for tensor in inputs:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"inputs must be Tensor, not {type(tensor).__name__}")
        if parameters is not None and not isinstance(parameters, dict):
            raise TypeError("parameters must be a dict")
        self._model_name = str(model_name)
        self._model_version = int(model_version)
        self._outputs = [str(name) for name in requested_output_names]
        self._inputs = list(inputs)
        self._id = str(request_id)
        self._correlation = correlation_id
        self._flags = int(flags)
        self._timeout = int(timeout)
        self._parameters = parameters
        self._priority = 0
        self._model = self._sender = None
        self._number = self._slot = 0

    def inputs(self):
        return self._inputs

    def request_id(self):
        return self._id

    def correlation_id(self):
        return self._correlation

    def flags(self):
        return self._flags

    def set_flags(self, flags):
        self._flags = int(flags)

    def timeout(self):
        return self._timeout

    def parameters(self):
        return json.dumps(self._parameters) if self._parameters else "{}"

    def requested_output_names(self):
        return list(self._outputs)

    def preferred_memory(self):
        return PreferredMemory(TRITONSERVER_MEMORY_CPU, 0)

    def trace(self):
        return InferenceTrace()

    def set_release_flags(self, flags):
        """Requests are never given back to be scheduled again."""
        if flags & 2:
            raise proa_runtime.exception("request rescheduling is not supported: answer the request")

    def is_cancelled(self):
        return self._model is not None and proa_runtime.is_cancelled(self)

    def get_response_sender(self):
        """What sends this request's responses instead of execute()."""
        if self._model is None:
            raise proa_runtime.exception("only a request to this model has a response sender")
        if self._sender is None:
            self._sender = InferenceResponseSender(self)
        return self._sender

    def exec(self, decoupled=False):
        """Asks the model; its InferenceResponse, with `decoupled` an iterator over them."""
        return proa_calls.infer(self, decoupled)

    def async_exec(self, decoupled=False):
        """The same, to be awaited."""
        return proa_calls.infer_async(self, decoupled)


class DecoupledRequest(InferenceRequest):
    """A request that somebody has to end: with its sender, which goes with the request."""
    __slots__ = ()

    def __del__(self):
        if self._sender is None:
            end(self._number, self._model, "model.py dropped a request of a decoupled model without "
                "an answer: end each with its response sender")


TRITONSERVER_MEMORY_CPU, TRITONSERVER_MEMORY_CPU_PINNED, TRITONSERVER_MEMORY_GPU = range(3)


class MemoryType:
    TRITONSERVER_MEMORY_CPU = TRITONSERVER_MEMORY_CPU
    TRITONSERVER_MEMORY_GPU = TRITONSERVER_MEMORY_GPU


class PreferredMemory:
    """Where a model wants the outputs of its calls. They come in the machine's memory."""
    __slots__ = ("_kind", "_device")

    def __init__(self, preferred_memory_type, preferred_device_id=0):
        self._kind = preferred_memory_type
        self._device = preferred_device_id


class InferenceTrace:
    """Traces are not kept."""

    def get_context(self):
        return None
