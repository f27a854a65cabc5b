"""Decoupled: one response for each element of IN. -1 is an error response, -2 an exception; the end
comes with the last response when that is 9, else by itself."""
import numpy as np
import triton_python_backend_utils as pb_utils

FINAL = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL


def response(value):
    if value == -1:
        return pb_utils.InferenceResponse([], pb_utils.TritonError(
            "model.py says no", pb_utils.TritonError.NOT_FOUND))
    return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", np.array([value], np.float32))])


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            self.answer(request.get_response_sender(),
                        pb_utils.get_input_tensor_by_name(request, "IN").as_numpy())

    def answer(self, sender, values):
        for value in values:
            if value == -2:
                raise ValueError("model.py says no")
            if value == 9:
                return sender.send(response(value), FINAL)
            sender.send(response(value))
        sender.send(flags=FINAL)
