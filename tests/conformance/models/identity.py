"""OUTPUTx = INPUTx; async."""
import asyncio

import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    async def execute(self, requests):
        await asyncio.sleep(0)
        return [pb_utils.InferenceResponse(
            [pb_utils.Tensor(tensor.name().replace("INPUT", "OUTPUT"), tensor.as_numpy())
             for tensor in request.inputs()]) for request in requests]
