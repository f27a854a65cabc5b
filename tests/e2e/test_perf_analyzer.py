"""The native perf_analyzer against the server."""
import csv

import pytest

from perf_analyzer import perf_analyzer
from repositories import write_identity

KINDS = {"http": ["-i", "http"], "grpc": ["-i", "grpc"], "grpc stream": ["-i", "grpc", "--streaming"]}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch, concurrency", ((1, 4), (8, 2)))
def test_it_measures_without_errors(serve, tmp_path, kind, batch, concurrency):
    repository = tmp_path / "models"
    write_identity(repository, extra="dynamic_batching { }\n")
    server = serve(repository)
    protocol = kind.split()[0]
    report = tmp_path / "report.csv"
    perf_analyzer("-m", "identity", "-u", getattr(server, protocol), *KINDS[kind], "-b", batch,
                  "--concurrency-range", concurrency, "-f", report)
    (row,) = csv.DictReader(report.open())
    assert float(row["Inferences/Second"]) > 0
    assert "Server Queue" in row  # it found the statistics extension
