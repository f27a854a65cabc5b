#!/usr/bin/env python3
"""bare_loop.py MODEL: OpenVINO alone, FP32, one stream over all processors: what a server is measured
against. Reads lines `BATCH COUNT`, runs that many inferences, prints `CPU_SECONDS WALL_SECONDS`."""
import os
import subprocess
import sys
import time

import numpy as np


class BareLoop:
    """Runs this file as a process of its own, so that its processor time is its own."""

    def __init__(self, model):
        self.process = subprocess.Popen([sys.executable, __file__, str(model)], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)

    def run(self, batch, count):
        """(processor seconds, wall seconds) of `count` inferences at that batch size."""
        self.process.stdin.write(f"{batch} {count}\n")
        self.process.stdin.flush()
        cpu, wall = self.process.stdout.readline().split()
        return float(cpu), float(wall)


def compile_request(core, path, batch):
    """An infer request of the model reshaped to that batch, with its input filled."""
    model = core.read_model(path)
    picture = [extent.get_length() for extent in list(model.input(0).partial_shape)[1:]]
    model.reshape({0: [batch, *picture]})
    compiled = core.compile_model(model, "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1,
        "INFERENCE_NUM_THREADS": len(os.sched_getaffinity(0))})
    request = compiled.create_infer_request()
    shape = request.get_input_tensor(0).shape
    request.get_input_tensor(0).data[:] = np.random.default_rng(0).random(shape, dtype=np.float32)
    return request


def serve(path):
    import openvino
    core, requests = openvino.Core(), {}
    for line in sys.stdin:
        batch, count = map(int, line.split())
        if batch not in requests:
            requests[batch] = compile_request(core, path, batch)
            requests[batch].infer()
        cpu, wall = time.process_time(), time.monotonic()
        for _ in range(count):
            requests[batch].start_async()
            requests[batch].wait()
        print(time.process_time() - cpu, time.monotonic() - wall, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1])
