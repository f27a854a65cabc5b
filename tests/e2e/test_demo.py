"""`make demo`, as a user runs it."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_demo_knows_its_photographs():
    run = subprocess.run(["make", "demo"], cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "espresso" in run.stdout and "tripod" in run.stdout
    assert "proa infer" in run.stdout and "curl" in run.stdout
