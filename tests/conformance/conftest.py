"""Runs every case against proa and a real tritonserver over one repository, once a session."""
import pathlib
import sys
import time

import grpc
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "benchmarks")]

import grpc_cases  # noqa: E402
import http_cases  # noqa: E402
from compare import differences  # noqa: E402
from exchange import ask_grpc, ask_http  # noqa: E402
from peers.tritonserver import TritonServer  # noqa: E402
from proa_server import BINARY, ProaServer  # noqa: E402
from repository import write_repository  # noqa: E402

HTTP = {f"http-{case.name}": case for case in http_cases.cases()}
GRPC = {f"grpc-{case.name}": case for case in grpc_cases.cases()}
NAMES = [*HTTP, *GRPC]
ENDED = {"status": "the server has ended"}


def pytest_addoption(parser):
    parser.addoption("--proa", default=str(BINARY), help="the executable to test")


class Peer:
    """A tritonserver that is started again when a request has ended it: some do."""

    def __init__(self, repository):
        self.repository = repository
        self.start()

    def start(self):
        # One model is broken on purpose; readiness is that of the server, as proa's is.
        self.server = TritonServer(self.repository, "--exit-on-error=false",
                                   "--strict-readiness=false").__enter__()
        self.channel = grpc.insecure_channel(self.server.grpc)

    def ask(self, ask, case, address):
        answer = ask(getattr(self, address), case)
        if answer["status"] in (0, "UNAVAILABLE") and self.has_ended():
            self.channel.close()
            self.start()
            return ENDED
        return answer

    @property
    def http(self):
        return self.server.http

    def has_ended(self):
        """Whether it does not live any more; it takes a moment to die."""
        deadline = time.monotonic() + 2
        while self.server.process.poll() is None:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    def stop(self):
        self.channel.close()
        self.server.stop()


@pytest.fixture(scope="session")
def servers(tmp_path_factory, pytestconfig):
    """(proa, tritonserver), both with every model that can be loaded."""
    folder = tmp_path_factory.mktemp("models")
    write_repository(folder)
    peer = Peer(folder)
    try:
        with ProaServer(folder,
                        command=(pytestconfig.getoption("--proa"),)) as ours:
            yield ours, peer
    finally:
        peer.stop()


@pytest.fixture(scope="session")
def found(servers):
    """{case: {place: (our value, the peer's)}}: every difference of every case."""
    ours, peer = servers
    all_found = {}
    for name, case in HTTP.items():
        all_found[name] = differences(ask_http(ours.http, case),
                                      peer.ask(ask_http, case, "http"))
    with grpc.insecure_channel(ours.grpc) as channel:
        for name, case in GRPC.items():
            all_found[name] = differences(ask_grpc(channel, case),
                                          peer.ask(ask_grpc, case, "channel"))
    return all_found
