#!/usr/bin/env python3
"""start.py [--runs N] [--peer]: from the start of the process to /v2/health/ready, and resident
memory then, with an identity model and with EfficientNet-Lite0. --peer shows a tritonserver with the
identity model too."""
import argparse
import pathlib
import re
import statistics
import sys
import tempfile
import time

import harness
from peers.tritonserver import TritonServer

import repository  # noqa: E402
from proa_server import ProaServer  # noqa: E402
from repositories import write_identity  # noqa: E402


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+) kB", status).group(1)) / 1024


def measure(name, kind, models, runs, seconds_bar=None, memory_bar=None):
    """Rows of one server over one repository: median over the runs."""
    seconds, memory = [], []
    for _ in range(runs):
        with kind(models) as server:
            seconds.append(time.monotonic() - server.started_at)
            memory.append(resident_mib(server.pid))
    return [harness.Row(f"{name}: start to ready", statistics.median(seconds), seconds_bar, " s",
                        detail={"runs": seconds, "interval": [min(seconds), max(seconds)]}),
            harness.Row(f"{name}: resident when ready", statistics.median(memory), memory_bar,
                        " MiB", detail={"runs": memory, "interval": [min(memory), max(memory)]})]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--peer", action="store_true", help="show a tritonserver too")
    options = parser.parse_args()
    lite0, _ = repository.prepare(harness.ROOT / "build" / "demo")
    with tempfile.TemporaryDirectory() as name:
        identity = pathlib.Path(name)
        write_identity(identity)
        rows = measure("identity", ProaServer, identity, options.runs, 0.05, 30)
        rows += measure("EfficientNet-Lite0", ProaServer, lite0, options.runs, 0.6)
        if options.peer:
            rows += measure("identity, tritonserver", TritonServer, identity, options.runs)
    for row in rows:
        print(row)
    return 0 if harness.finish("start", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
