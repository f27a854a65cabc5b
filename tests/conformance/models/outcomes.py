"""Ends a request in the way that its input HOW names: a method of Outcomes, or error_CODE."""
import os
import sys

import numpy as np
import triton_python_backend_utils as pb_utils


def answer(value=np.ones(1, np.float32), name="OUT", **more):
    return pb_utils.InferenceResponse([pb_utils.Tensor(name, value)], **more)


def error(*code):
    return pb_utils.TritonError("model.py says no", *code)


class Outcomes:
    def good(self, request):
        return [answer()]

    def parameters(self, request):
        return [answer(parameters={"text": "so", "number": -5, "yes": True, "half": 0.5})]

    def raises(self, request):
        raise ValueError("model.py says no")

    def raises_of_triton(self, request):
        raise pb_utils.TritonModelException("model.py says no")

    def raises_two_lines(self, request):
        raise ValueError("model.py says no\nand \u00fc")

    def leaves(self, request):
        sys.exit(0)

    def dies(self, request):
        os._exit(1)

    def error(self, request):
        return [pb_utils.InferenceResponse([], error())]

    def error_and_tensor(self, request):
        return [answer(error=error())]

    def error_as_text(self, request):
        return [pb_utils.InferenceResponse([], "text")]

    def nothing(self, request):
        return None

    def none_in_list(self, request):
        return [None]

    def no_response(self, request):
        return []

    def two_responses(self, request):
        return [answer(), answer()]

    def text_in_list(self, request):
        return ["text"]

    def one_response(self, request):
        return answer()

    def tuple_of_one(self, request):
        return (answer(),)

    def generator(self, request):
        return (answer() for _ in range(1))

    def no_tensors(self, request):
        return [pb_utils.InferenceResponse([])]

    def other_name(self, request):
        return [answer(name="OTHER")]

    def other_type(self, request):
        return [answer(np.ones(1, np.float64))]

    def text_for_numbers(self, request):
        return [answer(np.array([b"a"], np.object_))]

    def other_shape(self, request):
        return [answer(np.ones(3, np.float32))]

    def other_rank(self, request):
        return [answer(np.ones((1, 1), np.float32))]

    def scalar(self, request):
        return [answer(np.float32(1))]

    def list_as_tensor(self, request):
        return [answer([1.0])]

    def strided(self, request):
        return [answer(np.arange(2, dtype=np.float32)[::-2])]

    def twice(self, request):
        tensor = pb_utils.Tensor("OUT", np.ones(1, np.float32))
        return [pb_utils.InferenceResponse([tensor, tensor])]

    def sends(self, request):
        request.get_response_sender().send(
            answer(), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def sends_error(self, request):
        request.get_response_sender().send(
            pb_utils.InferenceResponse([], error(pb_utils.TritonError.NOT_FOUND)),
            pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)

    def sends_and_returns_none_in_list(self, request):
        self.sends(request)
        return [None]

    def sends_and_returns(self, request):
        self.sends(request)
        return [answer()]

    def sends_twice(self, request):
        sender = request.get_response_sender()
        sender.send(answer())
        sender.send(answer(), pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


class TritonPythonModel:
    def execute(self, requests):
        (request,) = requests
        how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0].decode()
        if how.startswith("error_of_"):
            code = getattr(pb_utils.TritonError, how.removeprefix("error_of_"))
            return [pb_utils.InferenceResponse([], error(code))]
        return getattr(Outcomes(), how)(request)
