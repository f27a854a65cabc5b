#!/usr/bin/env python3
"""picture_cost.py [--pairs N]: EfficientNet-Lite0 through the server against a bare OpenVINO loop:
processor seconds a picture at batch 8, then dynamic batching of 32 connections that send one picture
each."""
import argparse
import pathlib
import statistics
import sys
import tempfile

import harness
import load
from bare_loop import BareLoop

import repository  # noqa: E402
from proa_server import ProaServer  # noqa: E402

BATCH = 8
BATCHES = 30  # a sample
CONNECTIONS = 32
PICTURES = 320  # a sample of the batching run


def cost_at_full_batch(server, loop, folder, pairs):
    """Processor time a picture, the client's not counted."""
    call = load.make_call(folder, repository.MODEL, "http", (BATCH, 3, 224, 224), "input",
                          "probabilities")

    def served():
        return load.drive(server, call, BATCHES, connections=1).cpu_us / BATCH / 1e3

    def bare():
        return loop.run(BATCH, BATCHES)[0] / BATCHES / BATCH * 1e3

    served(), bare()
    found = harness.interleaved(served, bare, pairs)
    ms = [statistics.median(pair[side] for pair in found) for side in (0, 1)]
    return harness.ratio_row(f"CPU a picture at batch {BATCH}: {ms[0]:.2f} ms, bare {ms[1]:.2f} ms",
                             found, 1.05, cpu_ms=ms)


def executed(server):
    """(pictures, batches) the model has run."""
    counts = load.statistics(server, repository.MODEL)
    return int(counts["inference_count"]), int(counts["execution_count"])


def dynamic_batching(server, loop, folder, pairs):
    """Mean batch and throughput of many clients with one picture each."""
    call = load.make_call(folder, repository.MODEL, "http", (1, 3, 224, 224), "input",
                          "probabilities")

    def served():
        return load.drive(server, call, PICTURES, CONNECTIONS).rate

    served()
    before = executed(server)
    served()
    after = executed(server)
    mean_batch = (after[0] - before[0]) / (after[1] - before[1])
    batch = round(mean_batch)
    count = max(1, PICTURES // batch)

    def bare():
        return batch * count / loop.run(batch, count)[1]

    bare()
    found = harness.interleaved(served, bare, pairs)
    rates = [statistics.median(pair[side] for pair in found) for side in (0, 1)]
    return [harness.Row(f"mean batch, {CONNECTIONS} connections of one picture", mean_batch, 4,
                        at_least=True),
            harness.ratio_row(f"throughput: {rates[0]:.0f} a second, bare loop at batch {batch} "
                              f"{rates[1]:.0f}", found, 0.95, at_least=True, rates=rates)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    models, _ = repository.prepare(harness.ROOT / "build" / "demo")
    model = models / repository.MODEL / "1" / "model.onnx"
    with tempfile.TemporaryDirectory() as name, ProaServer(models) as server, \
            BareLoop(model) as loop:
        folder = pathlib.Path(name)
        rows = [cost_at_full_batch(server, loop, folder, options.pairs)]
        rows += dynamic_batching(server, loop, folder, options.pairs)
    for row in rows:
        print(row)
    return 0 if harness.finish("picture_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
