"""Runs `proa serve` for the demo, the end-to-end tests and the benchmarks: free loopback ports read
from its log, readiness waited for, a clean end checked."""
import http.client
import pathlib
import re
import signal
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "bin" / "proa"
LISTENING = re.compile(r"(HTTP|gRPC|metrics)\b.* listening on \S*:(\d+)")
SERVICES = {"HTTP", "gRPC", "metrics"}
SANITIZER_MARKS = ("ERROR: AddressSanitizer", "WARNING: ThreadSanitizer", "runtime error:",
                   "ERROR: LeakSanitizer")


class ServerError(RuntimeError):
    """The server did not start, did not get ready, or did not end well; carries its log."""


class ProaServer:
    """One `proa serve` process. Use as a context manager: ready inside, ended after.

    command: how to start it, for runs under another tool or another binary.
    """

    def __init__(self, repository, *flags, command=(str(BINARY),), start_limit_s=60,
                 environment=None):
        self.start_limit_s = start_limit_s
        self._log_file = tempfile.NamedTemporaryFile("w+b", suffix=".log")
        self.arguments = [*command, "serve", "--model-repository", str(repository),
                          "--http-address", "127.0.0.1", "--grpc-address", "127.0.0.1",
                          "--http-port", "0", "--grpc-port", "0", "--metrics-port", "0", *flags]
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(self.arguments, stdin=subprocess.DEVNULL,
                                        stdout=self._log_file, stderr=subprocess.STDOUT,
                                        env=environment)
        self.ports = {}

    def __enter__(self):
        try:
            self.wait_listening()
            self.wait_ready()
        except BaseException:
            self.kill()
            raise
        return self

    def __exit__(self, kind, value, trace):
        if kind is not None:
            self.kill()
            return
        self.stop()

    @property
    def pid(self):
        return self.process.pid

    @property
    def http(self):
        return f"127.0.0.1:{self.ports['HTTP']}"

    @property
    def grpc(self):
        return f"127.0.0.1:{self.ports['gRPC']}"

    @property
    def metrics(self):
        return f"127.0.0.1:{self.ports['metrics']}"

    def log(self):
        return pathlib.Path(self._log_file.name).read_text(errors="replace")

    def error(self, what):
        return ServerError(f"{what}\n$ {' '.join(self.arguments)}\n{self.log()}")

    def wait_until(self, condition, what):
        """Polls condition until it holds; fails with the log when the server ends or time is up."""
        deadline = self.started_at + self.start_limit_s
        while not condition():
            if self.process.poll() is not None:
                raise self.error(f"proa ended with status {self.process.returncode}, wanted: {what}")
            if time.monotonic() > deadline:
                raise self.error(f"after {self.start_limit_s} s still not: {what}")
            time.sleep(0.002)

    def wait_listening(self, services=frozenset(SERVICES)):
        def found():
            self.ports = {name: int(port) for name, port in LISTENING.findall(self.log())}
            return services <= self.ports.keys()

        self.wait_until(found, f"listening lines of {', '.join(sorted(services))} in its log")

    def wait_ready(self):
        self.wait_until(lambda: self.get("/v2/health/ready")[0] == 200, "/v2/health/ready")

    def get(self, path, service="HTTP"):
        """(status, body) of a GET; status 0 when there was no connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[service], timeout=10)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read()
        except ConnectionError:
            return 0, b""
        finally:
            connection.close()

    def stop(self, limit_s=30):
        """SIGTERM; fails unless the server ends by itself with status 0 and a clean log."""
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(limit_s)
        except subprocess.TimeoutExpired:
            self.kill()
            raise self.error(f"proa did not end within {limit_s} s of SIGTERM") from None
        if status != 0:
            raise self.error(f"proa ended with status {status} after SIGTERM, wanted 0")
        if any(mark in self.log() for mark in SANITIZER_MARKS):
            raise self.error("a sanitizer complained")

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
