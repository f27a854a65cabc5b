"""The native perf_analyzer (C++ clients of Triton's own, libcurl and grpc++) against the server."""
import csv
import pathlib
import subprocess

import pytest

from repositories import write_identity

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETUP = ROOT / "benchmarks" / "peers" / "setup_perf_analyzer.sh"
PROGRAM = ROOT / "build" / "peers" / "perf_analyzer" / "run"
KINDS = {"http": ["-i", "http"], "grpc": ["-i", "grpc"], "grpc stream": ["-i", "grpc", "--streaming"]}


@pytest.fixture(scope="module")
def perf_analyzer():
    subprocess.run([SETUP], check=True)
    return PROGRAM


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch, concurrency", ((1, 4), (8, 2)))
def test_it_measures_without_errors(serve, perf_analyzer, tmp_path, kind, batch, concurrency):
    repository = tmp_path / "models"
    write_identity(repository, extra="dynamic_batching { }\n")
    server = serve(repository)
    protocol = kind.split()[0]
    report = tmp_path / "report.csv"
    run = subprocess.run(
        [perf_analyzer, "-m", "identity", "-u", getattr(server, protocol), *KINDS[kind],
         "-b", str(batch), "--concurrency-range", str(concurrency), "-f", report,
         # A fixed count: this checks the conversation, not the speed.
         "--request-count", "200"],
        capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stdout + run.stderr
    (row,) = csv.DictReader(report.open())
    assert float(row["Inferences/Second"]) > 0
    assert "Server Queue" in row  # it found the statistics extension
