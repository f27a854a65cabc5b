"""Runs every case against proa and a real tritonserver over the same repository, once a session."""
import collections.abc
import contextlib
import dataclasses
import os
import pathlib
import sys
import time

import grpc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "benchmarks")]

import ensemble_cases  # noqa: E402
import ensemble_repository  # noqa: E402
import forward_cases  # noqa: E402
import grpc_cases  # noqa: E402
import http_cases  # noqa: E402
import python_cases  # noqa: E402
import python_peer  # noqa: E402
import python_repository  # noqa: E402
import repository_cases  # noqa: E402
from compare import differences  # noqa: E402
from exchange import HttpCase, ask_grpc, ask_http  # noqa: E402
from peers.tritonserver import TritonServer  # noqa: E402
from proa_server import BINARY, ProaServer  # noqa: E402
from repository import write_repository  # noqa: E402


def named(prefix, cases):
    return {f"{prefix}-{case.name}": case for case in cases}


@dataclasses.dataclass(frozen=True)
class Run:
    """One start of both servers, and what they are asked in this order."""

    cases: dict
    write: collections.abc.Callable = write_repository
    flags: tuple = ()
    python: bool = False  # whether models of backend python are among those


RUNS = [
    Run(named("http", http_cases.cases()) | named("grpc", grpc_cases.cases())),
    Run(named("forward-http", forward_cases.over_http())
        | named("forward-grpc", forward_cases.over_grpc()), flags=forward_cases.FLAGS),
    Run(named("explicit-http", repository_cases.over_http())
        | named("explicit-grpc", repository_cases.over_grpc()), flags=repository_cases.FLAGS),
    Run(named("ensemble-http", ensemble_cases.over_http())
        | named("ensemble-grpc", ensemble_cases.over_grpc()), ensemble_repository.write),
    Run(named("ensemble-explicit-http", ensemble_cases.life()), ensemble_repository.write,
        repository_cases.FLAGS),
    Run(named("python-http", python_cases.over_http())
        | named("python-grpc", python_cases.over_grpc()), python_repository.write,
        python_repository.FLAGS, python=True),
]
NAMES = [name for run in RUNS for name in run.cases]
ENDED = {"status": "the server has ended"}


def pytest_addoption(parser):
    parser.addoption("--proa", default=str(BINARY), help="the executable to test")


class Ours:
    """proa, over HTTP and one gRPC channel."""

    def __init__(self, server):
        self.server = server
        self.channel = grpc.insecure_channel(server.grpc)

    def ask(self, case):
        if isinstance(case, HttpCase):
            return ask_http(self.server.http, case)
        return ask_grpc(self.channel, case)

    def settle(self):
        """Waits until no model is on its way in or out: unloading goes on behind the answer."""
        index = HttpCase("", "POST", "/v2/repository/index")
        while any(entry.get("state") in ("LOADING", "UNLOADING")
                  for entry in ask_http(self.server.http, index)["body"]):
            time.sleep(0.01)

    def stop(self):
        self.channel.close()


class Peer(Ours):
    """A tritonserver that is started again when a request has ended it: some do."""

    def __init__(self, *arguments, **options):
        # Some models are broken on purpose; readiness is that of the server, as proa's is.
        self.start = lambda: TritonServer(*arguments, "--exit-on-error=false",
                                          "--strict-readiness=false", **options).__enter__()
        super().__init__(self.start())

    def ask(self, case):
        answer = super().ask(case)
        if answer["status"] in (0, "UNAVAILABLE") and self.has_ended():
            self.channel.close()
            super().__init__(self.start())
            return ENDED
        return answer

    def has_ended(self):
        """Whether it does not live any more; it takes a moment to die."""
        deadline = time.monotonic() + 2
        while self.server.process.poll() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def stop(self):
        super().stop()
        self.server.stop()


@contextlib.contextmanager
def both(proa, repository, run):
    """(proa, tritonserver) over that repository."""
    path = python_peer.path() if run.python else os.environ["PATH"]
    flags = (*run.flags, *python_peer.FLAGS) if run.python else run.flags
    with ProaServer(repository, *run.flags, command=(proa,),
                    environment=os.environ | {"PATH": path}) as server:
        ours = Ours(server)
        peer = Peer(repository, *flags, python=run.python)
        try:
            yield ours, peer
        finally:
            peer.stop()
            python_peer.clear()
            ours.stop()


class Found(dict):
    """{case: {place: (our value, the peer's)}}; a case that is asked for runs, with its whole run."""

    def __init__(self, proa, make_folder):
        super().__init__()
        self.proa, self.make_folder = proa, make_folder

    def __missing__(self, name):
        run = next(run for run in RUNS if name in run.cases)
        self.update(dict.fromkeys(run.cases))  # None stays when the run breaks off
        repository = self.make_folder("models")
        run.write(repository)
        with both(self.proa, repository, run) as servers:
            for asked, case in run.cases.items():
                self[asked] = differences(*(server.ask(case) for server in servers))
                if "unload" in asked:
                    for server in servers:
                        server.settle()
        return self[name]


@pytest.fixture(scope="session")
def found(tmp_path_factory, pytestconfig):
    return Found(pytestconfig.getoption("--proa"), tmp_path_factory.mktemp)
