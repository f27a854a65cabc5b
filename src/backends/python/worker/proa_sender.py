"""Responses that do not come out of execute(): any number, from any thread, at any time."""
import proa_runtime
from proa_link import RESPONSES, Draft
from proa_messages import FINAL, Outputs, failure, put_response
from proa_objects import InferenceResponse, TritonError

COMPLETE_FINAL = 1   # of the flags of send()


class InferenceResponseSender:
    """Sends the responses of one request."""
    __slots__ = ("_number", "_slot", "_wanted", "_model", "_ended")

    def __init__(self, request):
        self._number = request._number
        self._slot = request._slot
        self._wanted = request._outputs
        self._model = request._model
        self._ended = False

    def send(self, response=None, flags=0):
        """One response, and the end with TRITONSERVER_RESPONSE_COMPLETE_FINAL. Waits while the
        client does not take what it has."""
        if self._ended or (self._model.decoupled and self._number not in self._model.open):
            raise proa_runtime.exception("Unable to send response. Response sender has been closed.")
        if response is None and not flags & COMPLETE_FINAL:
            raise proa_runtime.exception(
                "Inference Response object must be provided when the response flags is not "
                "TRITONSERVER_RESPONSE_COMPLETE_FINAL.")
        if response is not None and not isinstance(response, InferenceResponse):
            raise TypeError("send() wants an InferenceResponse, not a "
                            f"{type(response).__name__}")
        final = bool(flags & COMPLETE_FINAL)
        outputs = Outputs(self._number, response, self._wanted, self._model, final)
        if proa_runtime.is_paused(self) and not final:
            proa_runtime.pump.wait(lambda: not proa_runtime.is_paused(self)
                                   or proa_runtime.is_cancelled(self))
        if final:
            self._ended = True
            self._model.open.pop(self._number, None)
        send(outputs)

    def close(self):
        """Whether it had sent the end already; it sends nothing more."""
        ended, self._ended = self._ended, True
        return ended

    def is_cancelled(self):
        return proa_runtime.is_cancelled(self)

    def __del__(self):
        if not self._ended:
            self._ended = True
            text = ("model.py dropped the response sender of a request without "
                    "TRITONSERVER_RESPONSE_COMPLETE_FINAL")
            if self._model.decoupled:
                end(self._number, self._model, text)
            else:
                send(failure(self._number, TritonError(text)))


def send(outputs):
    draft = Draft(proa_runtime.link, RESPONSES)
    put_response(draft, outputs, None)
    draft.send()


def end(number, model, text):
    """Ends a request with an error, if it has not ended."""
    if model.open.pop(number, None) is not None:
        send(failure(number, TritonError(text)))
