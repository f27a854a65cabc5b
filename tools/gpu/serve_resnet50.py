#!/usr/bin/env python3
"""serve_resnet50.py FOLDER [--plant] [FLAG...]: on a GPU machine, runs `proa serve` (packed by
tools/gpu/pack_engine.py) with ResNet-50 FP16 on the GPU, asks it over HTTP and gRPC at several batch
sizes and compares every answer with ONNX Runtime's. Prints what it measured, exits with 1 on a wrong answer.

--plant: with an operator in the middle of the network that the engine does not know.
FLAG: for `proa serve`; with --gpu-models-on-cpu this script can be tried without a GPU."""
import argparse
import pathlib
import sys
import tempfile
import threading
import time

import numpy as np
import onnxruntime

from proa_client import GrpcClient, distance, infer
from proa_server import ProaServer

MODEL = "resnet50"
CONFIG = """
platform: "onnxruntime_onnx"
max_batch_size: 16
dynamic_batching { }
instance_group [ { kind: KIND_GPU count: 2 } ]
parameters { key: "inference_precision" value { string_value: "f16" } }
parameters { key: "gpu_buckets" value { string_value: "1,4,16" } }
"""
FIRST_KERNELS = 'parameters { key: "gpu_tuning" value { string_value: "first" } }\n'
LIMIT = 5e-3


def write_model(repository, model, config):
    version = pathlib.Path(repository) / MODEL / "1"
    version.mkdir(parents=True)
    (version / "model.onnx").write_bytes(model.read_bytes())
    (version.parent / "config.pbtxt").write_text(config)


def plant(source, target):
    """Puts an Erf, which the engine does not know, behind the middle one of the Relus."""
    import onnx
    model = onnx.load(source)
    nodes = list(model.graph.node)
    relus = [node for node in nodes if node.op_type == "Relu"]
    middle = relus[len(relus) // 2].output[0]
    for node in nodes:
        for index, name in enumerate(node.input):
            if name == middle:
                node.input[index] = "planted"
    at = next(index for index, node in enumerate(nodes) if middle in node.output)
    model.graph.node.insert(at + 1, onnx.helper.make_node("Erf", [middle], ["planted"], "planted"))
    onnx.save(model, target)


def serve(folder, repository, *flags):
    """A ProaServer; inside, its models are ready."""
    return ProaServer(repository, "--gpu-tuning-cache", "tuning.txt", *flags,
                      command=(str(folder / "proa"),), start_limit_s=300)


def ask_alone(server, name, reference, random):
    """One request after the other, of several batch sizes; the largest distance."""
    by_grpc, worst = GrpcClient(server.ports["gRPC"]), 0.0
    for batch in (1, 2, 3, 4, 7, 16):
        rows = random.uniform(-1, 1, (batch, 3, 224, 224)).astype(np.float32)
        (wanted,) = reference.run(None, {name: rows})
        (over_http,) = infer(server.ports["HTTP"], MODEL, {name: rows}).values()
        distances = distance(over_http, wanted), distance(by_grpc.infer(MODEL, {name: rows}), wanted)
        print(f"batch {batch}: distance over HTTP {distances[0]:.3g}, over gRPC {distances[1]:.3g}")
        worst = max(worst, *distances)
    return worst


def ask_side_by_side(server, name, reference, random, threads=16, each=20):
    """Batch-1 requests from several threads, which the server batches; the largest distance."""
    pictures = random.uniform(-1, 1, (threads, 1, 3, 224, 224)).astype(np.float32)
    wanted = [reference.run(None, {name: picture})[0] for picture in pictures]
    client, worst = GrpcClient(server.ports["gRPC"]), [np.inf] * threads

    def ask(index):
        worst[index] = max(distance(client.infer(MODEL, {name: pictures[index]}), wanted[index])
                           for _ in range(each))

    pool = [threading.Thread(target=ask, args=(index,)) for index in range(threads)]
    begin = time.monotonic()
    for thread in pool:
        thread.start()
    for thread in pool:
        thread.join()
    took = time.monotonic() - begin
    print(f"{threads} clients: {threads * each / took:.0f} pictures/s of 602 kB, largest distance "
          f"{max(worst):.3g}")
    return max(worst)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--plant", action="store_true")
    options, flags = parser.parse_known_args()
    folder = options.folder.resolve()
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        model = folder / f"{MODEL}.onnx"
        if options.plant:
            plant(model, pathlib.Path(scratch) / "planted.onnx")
            model = pathlib.Path(scratch) / "planted.onnx"
        repository = pathlib.Path(scratch) / "repository"
        write_model(repository, model, CONFIG + (FIRST_KERNELS if options.plant else ""))
        reference = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        name, random = reference.get_inputs()[0].name, np.random.default_rng(5)
        with serve(folder, repository, *flags) as server:
            print(f"ready after {time.monotonic() - server.started_at:.1f} s", flush=True)
            worst = max(ask_alone(server, name, reference, random),
                        ask_side_by_side(server, name, reference, random))
    print(f"largest distance {worst:.3g} (limit {LIMIT})")
    sys.exit(0 if worst < LIMIT else 1)


if __name__ == "__main__":
    main()
