"""Fixtures of the end-to-end tests: a real `proa serve` on free ports over a repository of its own."""
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "models")]

from proa_server import BINARY, ProaServer  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--proa", default=str(BINARY), help="the executable to test")


@pytest.fixture(scope="session")
def proa(pytestconfig):
    """Path of the executable under test."""
    return pytestconfig.getoption("--proa")


@pytest.fixture
def serve(proa):
    """serve(repository, *flags): a ready ProaServer; at the end of the test it must stop cleanly."""
    servers = []

    def start(repository, *flags, **options):
        server = ProaServer(repository, *flags, command=(proa,), **options)
        servers.append(server)
        return server.__enter__()

    yield start
    failures = []
    for server in servers:
        # A test that stopped or killed its server itself has judged that.
        if server.process.returncode is None:
            try:
                server.stop()
            except RuntimeError as error:
                failures.append(str(error))
    assert not failures, "\n".join(failures)
