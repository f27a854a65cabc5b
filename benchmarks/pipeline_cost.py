#!/usr/bin/env python3
"""pipeline_cost.py [--pairs N]: pictures a processor second, JPEG to EfficientNet-Lite0's probabilities in one
request: proa's ensemble (backends image and openvino) against a model.py with Pillow and onnxruntime on a
real tritonserver; interleaved A B B A in one run. Both have an instance with one thread for each processor,
which costs them least."""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import numpy as np
import tritonclient.http

import harness
import load
from ensemble_cost import CLASSIFY
from image_cost import picture_call, write_jpegs
from peers.tritonserver import TritonServer

import repository  # noqa: E402
from proa_server import ProaServer  # noqa: E402
from python_models import tensor, write_python  # noqa: E402
from repositories import PARAMETER  # noqa: E402

CONNECTIONS, PICTURES = 8, 200
BAR = 1.25
# What people write: a batch is prepared picture by picture, then computed at once.
MODEL = '''
import io
import os

import numpy as np
import onnxruntime
import triton_python_backend_utils as pb_utils
from PIL import Image


def prepare(data):
    image = Image.open(io.BytesIO(data)).convert("RGB")
    scale = 256 / min(image.size)
    image = image.resize([round(scale * side) for side in image.size], Image.Resampling.BICUBIC)
    left, top = ((side - 224) // 2 for side in image.size)
    pixels = np.asarray(image.crop((left, top, left + 224, top + 224)), np.float32)
    return ((pixels - 127) / 128).transpose(2, 0, 1)


class TritonPythonModel:
    def initialize(self, args):
        path = os.path.join(args["model_repository"], args["model_version"], "model.onnx")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

    def execute(self, requests):
        files = [pb_utils.get_input_tensor_by_name(request, "encoded_image").as_numpy()
                 for request in requests]
        batch = np.stack([prepare(file) for row in files for file in row.ravel()])
        answers, first = self.session.run(None, {"input": batch})[0], 0
        responses = []
        for row in files:
            output = pb_utils.Tensor("probabilities", answers[first:first + len(row)])
            responses.append(pb_utils.InferenceResponse(output_tensors=[output]))
            first += len(row)
        return responses
'''


def write_ours(folder, precision):
    """The ensemble of two steps whose network computes in that precision."""
    repository.write_classifier(folder / repository.MODEL)
    config = folder / repository.MODEL / "config.pbtxt"
    config.write_text(config.read_text().replace("count: 1", f"count: {os.cpu_count()}") +
                      PARAMETER % ("inference_precision", precision))
    repository.write_model(
        folder / "prepare", repository.PREPARE.replace('"file"', '"encoded_image"').replace('"tensor"', '"image"'))
    repository.write_model(folder / "classify", CLASSIFY)


def write_theirs(folder, network):
    version = write_python(
        folder, "classify", MODEL, [tensor("encoded_image", "STRING", (1,))],
        [tensor("probabilities", dims=(1000,))],
        extra=f"dynamic_batching {{ }}\ninstance_group [ {{ kind: KIND_CPU count: {os.cpu_count()} }} ]\n"
        ) / "1"
    shutil.copyfile(network, version / "model.onnx")


def answer(server, data):
    """The probabilities of one picture."""
    with tritonclient.http.InferenceServerClient(server.http, network_timeout=60) as client:
        file = tritonclient.http.InferInput("encoded_image", [1, 1], "BYTES")
        file.set_data_from_numpy(np.array([[data]], object))
        return client.infer("classify", [file]).as_numpy("probabilities").ravel()


def compare(ours, theirs, call, precision, pairs, bar):
    """The row of pictures a processor second, ours over theirs."""
    def cost(server):
        return load.drive(server, call, PICTURES, CONNECTIONS,
                          cpu_seconds=harness.family_cpu_seconds).cpu_us / 1e3

    cost(ours), cost(theirs)
    found = harness.interleaved(lambda: cost(theirs), lambda: cost(ours), pairs)
    ms = [statistics.median(pair[side] for pair in found) for side in (1, 0)]
    row = harness.ratio_row(f"pictures a CPU second, {precision}", found, bar, at_least=True, cpu_ms=ms)
    print(f"{row}   {ms[0]:.1f} / {ms[1]:.1f} ms a picture", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    # numpy's own threads have nothing to do here.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for precision in ("f32", "bf16"):
            write_ours(folder / precision, precision)
        write_theirs(folder / "theirs", folder / "f32" / repository.MODEL / "1" / "model.onnx")
        data = write_jpegs(folder)[0].read_bytes()
        call = picture_call(folder, data)
        call.model = "classify"
        with TritonServer(folder / "theirs", python=True) as theirs:
            for precision, bar in (("f32", BAR), ("bf16", None)):
                with ProaServer(folder / precision) as ours:
                    apart = np.abs(answer(ours, data) - answer(theirs, data)).max()
                    if apart > (0.02 if precision == "f32" else 0.1):
                        sys.exit(f"{precision}: the two answers are {apart:.3f} apart")
                    rows.append(compare(ours, theirs, call, precision, options.pairs, bar))
    return 0 if harness.finish("pipeline_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
