"""Asks the model TARGET, with IN as its input WHERE, in the way HOW; SEEN is what came, as JSON."""
import json

import numpy as np
import triton_python_backend_utils as pb_utils

CODES = ("UNKNOWN", "INTERNAL", "NOT_FOUND", "INVALID_ARG", "UNAVAILABLE", "UNSUPPORTED",
         "ALREADY_EXISTS", "CANCELLED")


def described(response):
    if response.has_error():
        code = response.error().code()
        return {"error": [name for name in CODES if getattr(pb_utils.TritonError, name) == code]}
    return {tensor.name(): [value.decode() if isinstance(value, bytes) else value
                            for value in tensor.as_numpy().ravel().tolist()]
            for tensor in response.output_tensors()}


def text(request, name):
    return pb_utils.get_input_tensor_by_name(request, name).as_numpy()[0].decode()


class TritonPythonModel:
    async def execute(self, requests):
        return [await self.answer(request) for request in requests]

    async def answer(self, request):
        how, wanted = text(request, "HOW"), text(request, "WANTED")
        value = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
        call = pb_utils.InferenceRequest(
            model_name=text(request, "TARGET"), requested_output_names=wanted.split(),
            inputs=[pb_utils.Tensor(text(request, "WHERE"), value)], request_id="of the caller",
            correlation_id=7, parameters={"mine": "abc"})
        if how == "async":
            came = described(await call.async_exec())
        elif how == "decoupled":
            came = [described(response) for response in call.exec(decoupled=True)]
        else:
            came = described(call.exec())
        return pb_utils.InferenceResponse([pb_utils.Tensor(
            "SEEN", np.array([json.dumps(came, sort_keys=True).encode()], np.object_))])
