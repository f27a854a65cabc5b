#!/usr/bin/env python3
"""ensemble_cost.py [--pairs N] [--only TEXT]: what a step of an ensemble costs, against a real
tritonserver; how much of its slowest step's rate a pipeline keeps; what a JPEG costs on its way to an
answer, against its steps alone; interleaved A B B A in one run."""
import argparse
import dataclasses
import pathlib
import statistics
import sys
import tempfile

import harness
import load
from image_cost import picture_call, write_jpegs
from peers.tritonserver import TritonServer

import repository  # noqa: E402
from images import write_image_model  # noqa: E402
from proa_server import ProaServer  # noqa: E402
from repositories import write_ensemble, write_identity  # noqa: E402

STEPS = ("first", "second", "third")
CONNECTIONS, REQUESTS = 8, 12000
SHAPE = (1, 16)
STEP_BAR = 0.6
# Milliseconds that each step of the pipeline waits. In flight are more than both together hold.
WAITS = {"quick": 2, "slow": 5}
PIPELINE_CONNECTIONS, PIPELINE_REQUESTS = 16, 400
PIPELINE_BAR = 0.95
PICTURES = 200  # a sample
PICTURE_BAR = 1.05
CLASSIFY = """\
platform: "ensemble"
max_batch_size: 8
input { name: "encoded_image" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "probabilities" data_type: TYPE_FP32 dims: [ 1000 ] }
ensemble_scheduling { step [
  { model_name: "prepare" model_version: -1
    input_map { key: "encoded_image" value: "encoded_image" }
    output_map { key: "image" value: "picture" } },
  { model_name: "efficientnet_lite0" model_version: -1
    input_map { key: "input" value: "picture" }
    output_map { key: "probabilities" value: "probabilities" } }
] }
"""


def write_repository(folder):
    """What both servers can read; tritonserver's identity backend knows execute_delay_ms too."""
    one_instance = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
    for step in STEPS:
        write_identity(folder, step, extra=one_instance)
    write_ensemble(folder, "one", STEPS[:1])
    write_ensemble(folder, "three", STEPS)


def write_waiting(folder):
    one_instance = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
    for kind, blocking in (("waiting", False), ("sleeping", True)):
        steps = []
        for name, milliseconds in WAITS.items():
            steps.append(f"{kind}_{name}")
            write_identity(folder, steps[-1], extra=one_instance, execute_delay_ms=milliseconds,
                           blocking=blocking)
        write_ensemble(folder, f"{kind}_both", steps)


def step_cost(servers, folder, protocol, pairs):
    """The row of (three steps - one step) / 2."""
    calls = [load.make_call(folder, model, protocol, SHAPE) for model in ("one", "three")]

    def sample(server):
        one, three = (load.drive(server, call, REQUESTS, CONNECTIONS).cpu_us for call in calls)
        return (three - one) / 2, one

    for server in servers:
        sample(server)
    ours, peer = servers
    found = harness.interleaved(lambda: sample(ours), lambda: sample(peer), pairs)
    steps, ones = ([(pair[0][part], pair[1][part]) for pair in found] for part in (0, 1))
    return harness.ratio_row(
        f"CPU per extra step, {protocol}, {CONNECTIONS} conn.", steps, STEP_BAR,
        step_us=[statistics.median(pair[side] for pair in steps) for side in (0, 1)],
        one_step_us=[statistics.median(pair[side] for pair in ones) for side in (0, 1)])


def pipeline_rate(server, folder, kind, pairs):
    """The row of the pipeline's rate over that of its slower step alone."""
    both, alone = (load.make_call(folder, f"{kind}_{name}", "http", SHAPE)
                   for name in ("both", "slow"))

    def rate(call):
        return load.drive(server, call, PIPELINE_REQUESTS, PIPELINE_CONNECTIONS).rate

    rate(both)
    found = harness.interleaved(lambda: rate(both), lambda: rate(alone), pairs)
    return harness.ratio_row(f"rate of two {kind} steps over the slower alone", found, PIPELINE_BAR,
                             at_least=True,
                             rates=[statistics.median(pair[side] for pair in found)
                                    for side in (0, 1)])


def write_pictures(folder):
    repository.write_classifier(folder / repository.MODEL)
    write_image_model(folder, resize="224x224", mean="127", std="128", extra="dynamic_batching { }\n")
    repository.write_model(folder / "classify", CLASSIFY)


def picture_cost(server, folder, pairs):
    """The row of JPEG -> answer in one request over the two steps asked one after the other."""
    prepare = picture_call(folder, write_jpegs(folder)[0].read_bytes())
    whole = dataclasses.replace(prepare, model="classify")
    net = load.make_call(folder, repository.MODEL, "http", (1, 3, 224, 224), "input", "probabilities")

    def cost(*calls):
        return sum(load.drive(server, call, PICTURES, CONNECTIONS).cpu_us for call in calls) / 1e3

    cost(whole)
    found = harness.interleaved(lambda: cost(whole), lambda: cost(prepare, net), pairs)
    return harness.ratio_row(
        "CPU per picture, JPEG to Lite0, over the steps alone", found, PICTURE_BAR,
        cpu_ms=[statistics.median(pair[side] for pair in found) for side in (0, 1)])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", default="", help="step, rate or picture")
    options = parser.parse_args()
    rows = []

    def add(row):
        rows.append(row)
        detail = {key: [round(value, 2) for value in row.detail[key]]
                  for key in ("step_us", "one_step_us", "rates", "cpu_ms") if key in row.detail}
        print(row, detail, flush=True)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_repository(folder / "steps")
        write_waiting(folder / "waiting")
        if options.only in "step":
            with ProaServer(folder / "steps") as ours, TritonServer(folder / "steps") as peer:
                for protocol in ("http", "grpc"):
                    add(step_cost((ours, peer), folder, protocol, options.pairs))
        if options.only in "rate":
            with ProaServer(folder / "waiting") as server:
                for kind in ("waiting", "sleeping"):
                    add(pipeline_rate(server, folder, kind, options.pairs))
        if options.only in "picture":
            write_pictures(folder / "pictures")
            with ProaServer(folder / "pictures") as server:
                add(picture_cost(server, folder, options.pairs))
    return 0 if harness.finish("ensemble_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
