"""What a tritonserver with models of backend python needs, and leaves behind."""
import os
import pathlib
import subprocess

from peers.tritonserver import PYTHON_FOLDER, ROOT

SHARED_MEMORY = f"proa_conformance_{os.getpid()}_"
FLAGS = (f"--backend-config=python,shm-region-prefix-name={SHARED_MEMORY}", "--exit-timeout-secs=1")


def path():
    """PATH with the peer's Python, for the workers of both servers."""
    subprocess.run([ROOT / "benchmarks" / "peers" / "setup_triton_python.sh"], check=True)
    return f"{PYTHON_FOLDER / 'environment' / 'bin'}:{os.environ['PATH']}"


def clear():
    """Removes the shared memory of one that did not end in time, as requests that it loses make it."""
    for left in pathlib.Path("/dev/shm").glob(f"{SHARED_MEMORY}*"):
        left.unlink(missing_ok=True)
