"""Runs the real tritonserver that setup_tritonserver.sh unpacks."""
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "build" / "peers" / "triton"
PYTHON_FOLDER = FOLDER.with_name("triton_python")  # with its python backend, of setup_triton_python.sh


def free_ports(count):
    """Ports that were free a moment ago; tritonserver cannot choose its own."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class TritonServer:
    """One tritonserver over a repository, with the addresses that ProaServer has too. python: with its
    python backend too."""

    def __init__(self, repository, *flags, tool=(), log=None, python=False):
        script = "setup_triton_python.sh" if python else "setup_tritonserver.sh"
        subprocess.run([ROOT / "benchmarks" / "peers" / script], check=True)
        parts = PYTHON_FOLDER if python else FOLDER
        programs = (parts / "environment" if python else ROOT / ".venv") / "bin"
        http_port, grpc_port, metrics_port = free_ports(3)
        self.http, self.grpc = f"127.0.0.1:{http_port}", f"127.0.0.1:{grpc_port}"
        self.metrics = f"127.0.0.1:{metrics_port}"
        command = [*tool, str(FOLDER / "tritonserver"), f"--model-repository={repository}",
                   f"--backend-directory={parts / 'backends'}", "--http-address=127.0.0.1",
                   "--grpc-address=127.0.0.1", "--metrics-address=127.0.0.1",
                   f"--http-port={http_port}", f"--grpc-port={grpc_port}",
                   f"--metrics-port={metrics_port}", "--allow-gpu-metrics=false", *flags]
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log or subprocess.DEVNULL,
            stderr=subprocess.STDOUT, env=os.environ | {
                "LD_LIBRARY_PATH": str(FOLDER / "lib"),
                "PATH": f"{programs}:{os.environ['PATH']}"})

    @property
    def pid(self):
        return self.process.pid

    def __enter__(self):
        deadline = self.started_at + 120
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                raise RuntimeError("tritonserver did not get ready")
            time.sleep(0.002)
        return self

    def __exit__(self, *_):
        self.stop()

    def is_ready(self):
        connection = http.client.HTTPConnection(self.http, timeout=10)
        try:
            connection.request("GET", "/v2/health/ready")
            return connection.getresponse().status == 200
        except OSError:
            return False
        finally:
            connection.close()

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
