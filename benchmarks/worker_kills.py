#!/usr/bin/env python3
"""worker_kills.py [--kills N]: kill -9 of a model.py's worker process under load, again and again: who
fails, when the model is ready again, what is left behind."""
import argparse
import os
import pathlib
import signal
import statistics
import sys
import tempfile
import threading
import time

import numpy as np
import tritonclient.utils

import harness

from clients import connect, infer  # noqa: E402
from proa_server import ProaServer  # noqa: E402
from python_models import ENVIRONMENT, IDENTITY, write_python  # noqa: E402

CONNECTIONS = 8


class Load:
    """Clients that ask on and on, and judge every answer."""

    def __init__(self, server):
        self.server = server
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.good = self.held = 0
        self.wrong = []
        self.threads = [threading.Thread(target=self.run, args=(number,))
                        for number in range(CONNECTIONS)]

    def run(self, number):
        values = np.full((1, 4), number, np.float32)
        with connect(self.server, "http") as (api, client):
            while not self.stopping.is_set():
                try:
                    same = np.array_equal(infer(api, client, "identity", values), values)
                    with self.lock:
                        self.good += same
                        if not same:
                            self.wrong.append("another's values")
                except tritonclient.utils.InferenceServerException as error:
                    with self.lock:
                        if "that had this request was killed by signal 9" in error.message():
                            self.held += 1
                        else:
                            self.wrong.append(error.message())

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        for thread in self.threads:
            thread.join()


def wait_until(condition, limit_s=60):
    deadline = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > deadline:
            raise RuntimeError("it does not come about")
        time.sleep(0.001)


def workers(server):
    return harness.family(server.pid)[1:]


def kill_one(server, load):
    """Seconds until the model is ready again."""
    good = load.good
    wait_until(lambda: load.good > good + 20 and len(workers(server)) == 1)
    (worker,) = workers(server)
    os.kill(worker, signal.SIGKILL)
    start = time.monotonic()
    wait_until(lambda: worker not in workers(server)
               and server.get("/v2/models/identity/ready")[0] == 200)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    options = parser.parse_args()
    shared = set(os.listdir("/dev/shm"))
    with tempfile.TemporaryDirectory() as name:
        write_python(pathlib.Path(name), "identity", IDENTITY)
        with ProaServer(name, environment=ENVIRONMENT) as server:
            load_s = time.monotonic() - server.started_at
            files = len(os.listdir(f"/proc/{server.pid}/fd"))
            with Load(server) as load:
                times = [kill_one(server, load) for _ in range(options.kills)]
            left_files = len(os.listdir(f"/proc/{server.pid}/fd")) - files
            left_workers = len(workers(server)) - 1
    left_shared = len(set(os.listdir("/dev/shm")) - shared)
    print(f"{load.good} good answers, {load.held} that a worker had; the model's load {load_s:.2f} s; "
          f"ready again after {statistics.median(times):.2f} s")
    for text in sorted(set(load.wrong))[:5]:
        print(f"  wrong: {text}")
    rows = [harness.Row("failed requests that no worker had", len(load.wrong), 0),
            harness.Row("failed requests a kill", load.held / options.kills, 1),
            harness.Row("longest until ready, beyond the load", max(times) - load_s, 1, " s"),
            harness.Row("processes left", left_workers, 0),
            harness.Row("files of the server left", max(0, left_files - CONNECTIONS), 2),
            harness.Row("files in /dev/shm left", left_shared, 0)]
    for row in rows:
        print(row)
    return 0 if harness.finish("worker_kills", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
