#!/usr/bin/env python3
"""instructions.py [--peer]: instructions of the server a request, under valgrind's callgrind.

The server runs twice, for two counts of requests, and the difference counts. It repeats to within
1 %, whatever else the machine does. --peer counts a tritonserver too."""
import argparse
import pathlib
import re
import sys
import tempfile

import harness
import load
from peers.tritonserver import TritonServer

from proa_server import BINARY, ProaServer  # noqa: E402
from repositories import write_identity  # noqa: E402

FEW, MANY = 1000, 4000
BARS = {"http": 45.0, "grpc": 35.0}  # thousand instructions


def callgrind(output):
    return ("valgrind", "--tool=callgrind", f"--callgrind-out-file={output}")


def start_proa(models, output):
    return ProaServer(models, command=(*callgrind(output), str(BINARY)), start_limit_s=120)


def start_triton(models, output):
    return TritonServer(models, tool=callgrind(output))


def count(start, models, call, requests):
    """Thousand instructions of one whole run of the server that answers that many requests."""
    output = models.parent / "callgrind.out"
    with start(models, output) as server:
        load.drive(server, call, requests, connections=1)
    total = re.search(r"^(?:summary|totals): (\d+)", output.read_text(), re.MULTILINE)
    return int(total.group(1)) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peer", action="store_true", help="count a tritonserver too")
    options = parser.parse_args()
    servers = {"proa": start_proa} | ({"tritonserver": start_triton} if options.peer else {})
    rows = []
    with tempfile.TemporaryDirectory() as name:
        models = pathlib.Path(name) / "models"
        write_identity(models)
        for protocol, bar in BARS.items():
            call = load.make_call(models.parent, "identity", protocol, (1, 16))
            for server, start in servers.items():
                few, many = (count(start, models, call, requests) for requests in (FEW, MANY))
                rows.append(harness.Row(f"{server} {protocol} identity, 1 connection",
                                        (many - few) / (MANY - FEW),
                                        bar if server == "proa" else None, "k instr."))
                print(rows[-1], flush=True)
    return 0 if harness.finish("instructions", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
