"""`make demo`, as a user runs it, and the commands it ends with."""
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def demo():
    """What `make demo` printed."""
    run = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_the_demo_knows_its_photographs(demo):
    assert "espresso" in demo and "tripod" in demo and "WRONG" not in demo


@pytest.mark.parametrize("tool", ("proa infer", "curl", "examples/classify.py"))
def test_its_commands_work_when_typed(serve, demo, tool):
    server = serve(ROOT / "build" / "demo" / "models")
    lines = demo.replace("\\\n", "").splitlines()
    (command,) = [line for line in lines if tool in line]
    assert "localhost:8000" in command
    command = command.replace("localhost:8000", server.http)
    run = subprocess.run(command, shell=True, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and "espresso" in run.stdout, run.stdout + run.stderr
