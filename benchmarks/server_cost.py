#!/usr/bin/env python3
"""server_cost.py [--pairs N] [--only TEXT] [--against-itself]: processor time of the server a
request, proa against a real tritonserver, both with their identity backend; interleaved A B B A in
one run."""
import argparse
import dataclasses
import pathlib
import sys
import tempfile

import harness
import load
from peers.tritonserver import TritonServer

from proa_server import ProaServer  # noqa: E402
from repositories import write_identity  # noqa: E402

SMALL, PICTURE = (1, 16), (1, 3, 224, 224)


@dataclasses.dataclass
class Case:
    model: str
    protocol: str
    connections: int
    streams: int
    bar: float
    shape: tuple = SMALL

    @property
    def name(self):
        streams = f" x {self.streams} streams" if self.streams > 1 else ""
        return f"{self.model} {self.protocol}, {self.connections} conn.{streams}"

    @property
    def requests(self):
        if self.shape == PICTURE:
            return 600
        return 5000 if self.connections * self.streams == 1 else 12000


CASES = [
    Case("inline", "http", 1, 1, 0.65),
    Case("inline", "http", 8, 1, 0.4),
    Case("inline", "grpc", 1, 1, 0.4),
    Case("inline", "grpc", 8, 1, 0.4),
    Case("inline", "grpc", 1, 16, 0.3),
    Case("blocking", "http", 1, 1, 0.85),
    Case("blocking", "http", 8, 1, 0.6),
    Case("blocking", "grpc", 1, 1, 0.55),
    Case("blocking", "grpc", 8, 1, 0.65),
    Case("blocking", "grpc", 1, 16, 0.45),
    Case("picture", "http", 1, 1, 0.4, PICTURE),
    Case("picture", "http", 4, 1, 0.4, PICTURE),
    Case("picture", "grpc", 1, 1, 0.65, PICTURE),
    Case("picture", "grpc", 4, 1, 0.65, PICTURE),
]


def write_repository(folder):
    """The models of CASES, readable by both servers; tritonserver ignores proa's parameters."""
    one_instance = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
    write_identity(folder, "inline", extra=one_instance)
    write_identity(folder, "blocking", extra=one_instance, blocking=True)
    write_identity(folder, "picture", dims=PICTURE[1:], extra=one_instance)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    parser.add_argument("--against-itself", action="store_true",
                        help="tritonserver on both sides: what the method itself gives (1.0)")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_repository(folder / "models")
        ours = TritonServer if options.against_itself else ProaServer
        with ours(folder / "models") as first, TritonServer(folder / "models") as second:
            for case in CASES:
                if options.only in case.name:
                    rows.append(load.compare_cost(case, (first, second), folder, options.pairs,
                                                  streams=case.streams))
    if options.against_itself:
        return 0
    return 0 if harness.finish("server_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
