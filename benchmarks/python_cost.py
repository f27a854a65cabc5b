#!/usr/bin/env python3
"""python_cost.py [--pairs N] [--only TEXT]: processor time a request of an identity model.py, server and
worker process together, proa against a real tritonserver's python backend; interleaved A B B A in one
run."""
import argparse
import dataclasses
import os
import pathlib
import sys
import tempfile

import harness
import load
from peers.tritonserver import TritonServer

from proa_server import ProaServer  # noqa: E402
from python_models import ENVIRONMENT, IDENTITY, tensor, write_python  # noqa: E402

SMALL, PICTURE = (1, 16), (1, 3, 224, 224)


@dataclasses.dataclass
class Case:
    model: str
    protocol: str
    connections: int
    bar: float
    shape: tuple = SMALL

    @property
    def name(self):
        return f"{self.model} {self.protocol}, {self.connections} conn."

    @property
    def requests(self):
        if self.shape == PICTURE:
            return 400
        return 2000 if self.connections == 1 else 5000


CASES = [Case("small", protocol, connections, 0.8)
         for protocol in ("http", "grpc") for connections in (1, 8)]
CASES += [Case("picture", protocol, connections, 0.5, PICTURE)
          for protocol in ("http", "grpc") for connections in (1, 4)]


def write_repository(folder):
    one_instance = "instance_group [ { kind: KIND_CPU count: 1 } ]\n"
    for name, shape in (("small", SMALL), ("picture", PICTURE)):
        write_python(folder, name, IDENTITY, [tensor("INPUT0", dims=shape[1:])],
                     [tensor("OUTPUT0", dims=shape[1:])], extra=one_instance)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--only", default="", help="only cases whose name contains this")
    options = parser.parse_args()
    rows = []
    # One thread for what numpy brings, on both sides.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    environment = ENVIRONMENT | {"OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_repository(folder / "models")
        with ProaServer(folder / "models", environment=environment) as first, \
                TritonServer(folder / "models", python=True) as second:
            for case in CASES:
                if options.only in case.name:
                    rows.append(load.compare_cost(case, (first, second), folder, options.pairs,
                                                  cpu_seconds=harness.family_cpu_seconds))
    return 0 if harness.finish("python_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
