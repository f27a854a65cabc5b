"""SEEN is what a request brings beside its numbers, as JSON. TOLD is never made."""
import json

import numpy as np
import triton_python_backend_utils as pb_utils


def seen(request):
    return json.dumps({
        "id": request.request_id(), "correlation": request.correlation_id(),
        "flags": request.flags(), "timeout": request.timeout(),
        "parameters": json.loads(request.parameters() or "{}"),
        "outputs": sorted(request.requested_output_names()),
        "inputs": sorted((tensor.name(), list(tensor.shape()), tensor.is_cpu())
                         for tensor in request.inputs()),
        "cancelled": request.is_cancelled()}, sort_keys=True)


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "SEEN", np.array([seen(request).encode()], np.object_))]) for request in requests]
