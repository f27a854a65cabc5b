"""Runs every case against proa and a real tritonserver over one repository, once a session."""
import contextlib
import pathlib
import sys
import time

import grpc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "benchmarks")]

import forward_cases  # noqa: E402
import grpc_cases  # noqa: E402
import http_cases  # noqa: E402
import repository_cases  # noqa: E402
from compare import differences  # noqa: E402
from exchange import HttpCase, ask_grpc, ask_http  # noqa: E402
from peers.tritonserver import TritonServer  # noqa: E402
from proa_server import BINARY, ProaServer  # noqa: E402
from repository import write_repository  # noqa: E402


def named(prefix, cases):
    return {f"{prefix}-{case.name}": case for case in cases}


# Per run of both servers: what writes their repository, their flags, and what is asked in this order.
RUNS = [
    (write_repository, (),
     named("http", http_cases.cases()) | named("grpc", grpc_cases.cases())),
    (write_repository, forward_cases.FLAGS, named("forward-http", forward_cases.over_http())
     | named("forward-grpc", forward_cases.over_grpc())),
    (write_repository, repository_cases.FLAGS, named("explicit-http", repository_cases.over_http())
     | named("explicit-grpc", repository_cases.over_grpc())),
]
NAMES = [name for _, _, cases in RUNS for name in cases]
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

    def __init__(self, repository, flags):
        # One model is broken on purpose; readiness is that of the server, as proa's is.
        self.arguments = (repository, "--exit-on-error=false", "--strict-readiness=false", *flags)
        super().__init__(TritonServer(*self.arguments).__enter__())

    def ask(self, case):
        answer = super().ask(case)
        if answer["status"] in (0, "UNAVAILABLE") and self.has_ended():
            self.channel.close()
            super().__init__(TritonServer(*self.arguments).__enter__())
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
def both(proa, repository, flags):
    """(proa, tritonserver) over that repository."""
    with ProaServer(repository, *flags, command=(proa,)) as server:
        ours = Ours(server)
        peer = Peer(repository, flags)
        try:
            yield ours, peer
        finally:
            peer.stop()
            ours.stop()


@pytest.fixture(scope="session")
def found(tmp_path_factory, pytestconfig):
    """{case: {place: (our value, the peer's)}}: every difference of every case."""
    repositories = {}
    for write in {write for write, _, _ in RUNS}:
        repositories[write] = tmp_path_factory.mktemp("models")
        write(repositories[write])
    all_found = {}
    for write, flags, cases in RUNS:
        repository = repositories[write]
        with both(pytestconfig.getoption("--proa"), repository, flags) as servers:
            for name, case in cases.items():
                all_found[name] = differences(*(server.ask(case) for server in servers))
                if "unload" in name:
                    for server in servers:
                        server.settle()
    return all_found
