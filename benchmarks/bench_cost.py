#!/usr/bin/env python3
"""bench_cost.py [--pairs N] [--requests N]: `proa bench` against the native perf_analyzer on the same
server: processor time of the generator a request (identity model, 8 in flight, HTTP and gRPC), and
whether both report the same throughput where the server is the limit. Interleaved A B B A in one
run."""
import argparse
import csv
import dataclasses
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import harness
import load

from proa_server import BINARY, ProaServer  # noqa: E402
from repositories import write_identity  # noqa: E402

SETUP = harness.ROOT / "benchmarks" / "peers" / "setup_perf_analyzer.sh"
PERF_ANALYZER = harness.ROOT / "build" / "peers" / "perf_analyzer" / "run"
IN_FLIGHT = 8
DELAY_MS = 5  # of the model that limits throughput


@dataclasses.dataclass
class Sample:
    cpu_us: float  # of the generator, a request
    rate: float  # inferences a second, as it reports them


def run_generator(command, report, server, model):
    """Runs one generator to its end."""
    before = load.success_count(server, model)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # 3: proa bench measured, but says that windows differ; here the number of requests is fixed.
    if process.returncode not in (0, 3):
        raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}\n{output}")
    served = load.success_count(server, model) - before
    with report.open() as lines:
        (row,) = csv.DictReader(lines)
    cpu = usage.ru_utime + usage.ru_stime
    return Sample(cpu / served * 1e6, float(row["Inferences/Second"]))


class Generators:
    """Both, on one server, model and protocol."""

    def __init__(self, server, model, protocol, load_flags, folder):
        self.server, self.model, self.folder = server, model, folder
        self.flags = ["-m", model, "-i", protocol, "-u", getattr(server, protocol),
                      "--concurrency-range", str(IN_FLIGHT), *load_flags]

    def proa(self):
        report = self.folder / "proa.csv"
        return run_generator([BINARY, "bench", *self.flags, "-f", report], report, self.server,
                             self.model)

    def perf_analyzer(self):
        report = self.folder / "perf_analyzer.csv"
        return run_generator([PERF_ANALYZER, *self.flags, "--async", "-f", report], report,
                             self.server, self.model)


def cost_row(server, protocol, folder, pairs, requests):
    both = Generators(server, "inline", protocol, ["--request-count", str(requests)], folder)
    both.proa(), both.perf_analyzer()
    found = harness.interleaved(both.proa, both.perf_analyzer, pairs)
    ours, peer = ([pair[side].cpu_us for pair in found] for side in (0, 1))
    return harness.ratio_row(f"CPU of the generator, {protocol}, {IN_FLIGHT} in flight",
                             list(zip(ours, peer)), 0.5,
                             cpu_us=[statistics.median(ours), statistics.median(peer)])


def agreement_row(server, protocol, folder, pairs):
    both = Generators(server, "slow", protocol, ["-p", "1000", "-s", "20"], folder)
    found = harness.interleaved(both.proa, both.perf_analyzer, pairs)
    ours, peer = ([pair[side].rate for pair in found] for side in (0, 1))
    medians = [statistics.median(ours), statistics.median(peer)]
    return harness.Row(f"difference in throughput, {protocol}, {IN_FLIGHT} in flight",
                       abs(medians[0] / medians[1] - 1) * 100, 5, "%", False,
                       {"rates": medians, "pairs": list(zip(ours, peer))})


def write_repository(folder):
    instances = "instance_group [ { kind: KIND_CPU count: %d } ]\n"
    write_identity(folder, "inline", extra=instances % 1)
    write_identity(folder, "slow", extra=instances % (IN_FLIGHT // 2), execute_delay_ms=DELAY_MS)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--requests", type=int, default=30000, help="of each run for the cost")
    options = parser.parse_args()
    subprocess.run([SETUP], check=True)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_repository(folder / "models")
        with ProaServer(folder / "models") as server:
            for protocol in ("http", "grpc"):
                rows.append(cost_row(server, protocol, folder, options.pairs, options.requests))
                us = rows[-1].detail["cpu_us"]
                print(f"{rows[-1]}   {us[0]:.1f} / {us[1]:.1f} us", flush=True)
                rows.append(agreement_row(server, protocol, folder, options.pairs))
                rates = rows[-1].detail["rates"]
                print(f"{rows[-1]}   {rates[0]:.0f} / {rates[1]:.0f} a second", flush=True)
    return 0 if harness.finish("bench_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
