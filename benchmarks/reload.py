#!/usr/bin/env python3
"""reload.py [--cycles N] [--polls N]: reloads two models under load, through the API and through
poll mode. Answers carry the version that gave them, so that lost and mixed-up requests are counted;
the resident memory of the last cycles is held against that of earlier ones."""
import argparse
import contextlib
import pathlib
import statistics
import sys
import tempfile
import threading
import time

import numpy as np
import tritonclient.grpc
import tritonclient.http

import harness

from proa_server import ProaServer  # noqa: E402
from repositories import replace, write_add, write_identity  # noqa: E402
from start import resident_mib

CONNECTIONS = 8
ROW = 4
MIB_BAR = 1.0
APIS = (tritonclient.http, tritonclient.grpc)


class Versions:
    """Which answers are right: those of the newest version whose load has ended, or newer."""

    def __init__(self):
        self.written = 0  # the newest on disk
        self.loaded = 0  # the newest that must answer


class Client:
    """One connection that asks without a pause."""

    def __init__(self, server, number, versions, stop):
        self.api = APIS[number % len(APIS)]
        self.address = (server.http, server.grpc)[number % len(APIS)]
        self.number, self.versions, self.stop = number, versions, stop
        self.answered = 0
        self.failed, self.mixed_up = [], []
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def ask(self, client, model, values):
        tensor = self.api.InferInput("INPUT0", list(values.shape), "FP32")
        tensor.set_data_from_numpy(values)
        return client.infer(model, [tensor]).as_numpy("OUTPUT0")

    def run(self):
        with contextlib.closing(self.api.InferenceServerClient(self.address)) as client:
            while not self.stop.is_set():
                values = np.full((1, ROW), (self.answered % 1000) * CONNECTIONS + self.number,
                                 np.float32)
                at_least = self.versions.loaded
                try:
                    same = self.ask(client, "identity", values)
                    version = self.ask(client, "adder", values) - values
                except Exception as error:  # noqa: BLE001 - counted
                    self.failed.append(repr(error))
                    continue
                at_most = self.versions.written
                if (same != values).any() or not (
                        (version == version[0, 0]).all() and at_least <= version[0, 0] <= at_most):
                    self.mixed_up.append((at_least, version.tolist(), at_most))
                self.answered += 1


@contextlib.contextmanager
def clients(server, versions):
    stop = threading.Event()
    everybody = [Client(server, i, versions, stop) for i in range(CONNECTIONS)]
    try:
        yield everybody
    finally:
        stop.set()
        for client in everybody:
            client.thread.join()


def rows_of(name, everybody):
    failed = sum((client.failed for client in everybody), [])
    mixed_up = sum((client.mixed_up for client in everybody), [])
    answered = sum(client.answered for client in everybody)
    for what in (failed[:3] + mixed_up[:3]):
        print("  ", what)
    return [harness.Row(f"{name}: failed requests", len(failed), 0, detail={"answered": answered}),
            harness.Row(f"{name}: mixed-up requests", len(mixed_up), 0),
            harness.Row(f"{name}: answered requests", answered, None)]


def write(repository, versions):
    """The next version of both models."""
    versions.written += 1
    write_add(repository, "adder", versions.written)
    config = (repository / "identity" / "config.pbtxt").read_bytes()
    replace(repository / "identity" / "config.pbtxt", config)
    replace(repository / "identity" / "1" / "stamp", str(versions.written).encode())


def explicit_reloads(repository, cycles):
    versions, memory = Versions(), []
    with ProaServer(repository, "--model-control-mode=explicit", "--load-model=*") as server:
        with clients(server, versions) as everybody, \
                tritonclient.grpc.InferenceServerClient(server.grpc) as control:
            for _ in range(cycles):
                write(repository, versions)
                for model in ("adder", "identity"):
                    control.load_model(model)
                versions.loaded = versions.written
                memory.append(resident_mib(server.pid))
    rows = rows_of(f"{cycles} explicit reloads", everybody)
    # Cycles 401-500 against the last 100 of 1000; the same shares of fewer.
    share = max(1, cycles // 10)
    early, late = memory[4 * share:5 * share], memory[-share:]
    growth = statistics.median(late) - statistics.median(early)
    rows.append(harness.Row("growth of resident memory", growth, MIB_BAR, " MiB",
                            detail={"early": statistics.median(early), "memory": memory[::share]}))
    return rows


def poll_reloads(repository, count):
    versions, seen = Versions(), 0
    with ProaServer(repository, "--model-control-mode=poll",
                    "--repository-poll-secs=1") as server:
        with clients(server, versions) as everybody:
            for _ in range(count):
                write(repository, versions)
                deadline = time.monotonic() + 30
                while time.monotonic() < deadline:
                    if served_version(server) == versions.written:
                        seen += 1
                        break
                    time.sleep(0.01)
                versions.loaded = versions.written
    return rows_of(f"{count} poll reloads", everybody) + [
        harness.Row("poll reloads that were seen", seen, count, at_least=True)]


def served_version(server):
    with contextlib.closing(tritonclient.http.InferenceServerClient(server.http)) as client:
        tensor = tritonclient.http.InferInput("INPUT0", [1, ROW], "FP32")
        tensor.set_data_from_numpy(np.zeros((1, ROW), np.float32))
        return client.infer("adder", [tensor]).as_numpy("OUTPUT0")[0, 0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cycles", type=int, default=1000, help="explicit reloads of both models")
    parser.add_argument("--polls", type=int, default=30, help="poll reloads")
    options = parser.parse_args()
    rows = []
    for run, count in ((explicit_reloads, options.cycles), (poll_reloads, options.polls)):
        if count == 0:
            continue
        with tempfile.TemporaryDirectory() as name:
            repository = pathlib.Path(name)
            write_identity(repository, dims=(ROW,))
            write_add(repository, "adder", 0)
            rows += run(repository, count)
    for row in rows:
        print(row)
    return 0 if harness.finish("reload", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
