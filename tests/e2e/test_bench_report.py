"""What `proa bench` writes: CSV with perf_analyzer's columns, HTML in a real browser, comparisons."""
import csv
import re
import subprocess

import pytest

from bench import bench
from perf_analyzer import perf_analyzer
from repositories import write_identity


@pytest.fixture
def identity(serve, tmp_path):
    repository = tmp_path / "models"
    write_identity(repository, extra="dynamic_batching { }\n")
    return serve(repository)


def columns(path):
    with path.open() as file:
        return next(csv.reader(file))


@pytest.mark.parametrize("flags", (
    ["--concurrency-range", "2"],
    ["--concurrency-range", "2", "--verbose-csv", "--percentile", "75"],
    ["--request-rate-range", "200", "--verbose-csv"]), ids=" ".join)
def test_the_csv_has_perf_analyzers_columns(proa, identity, tmp_path, flags):
    theirs, ours = tmp_path / "theirs.csv", tmp_path / "ours.csv"
    perf_analyzer("-m", "identity", "-u", identity.http, *flags, "-f", theirs)
    run = bench(proa, tmp_path, "-m", "identity", "-u", identity.http, *flags, "-f", ours)
    assert run.report is not None, run.out + run.err
    assert columns(ours) == columns(theirs)


def latency_parts(path):
    """A script that was written for perf_analyzer's CSV: mean latency in ms and its parts."""
    parts = ["Client Send", "Network+Server Send/Recv", "Server Queue", "Server Compute Input",
             "Server Compute Infer", "Server Compute Output", "Client Recv"]
    with path.open() as file:
        return [(int(row["Concurrency"]), float(row["Inferences/Second"]),
                 sum(int(row[part]) for part in parts) / 1000) for row in csv.DictReader(file)]


def test_a_script_for_perf_analyzers_csv_reads_ours(proa, identity, tmp_path):
    path = tmp_path / "perf.csv"
    run = bench(proa, tmp_path, "-m", "identity", "-u", identity.http, "--concurrency-range",
                "1:3:1", "-f", path)
    rows = latency_parts(path)
    assert sorted(row[0] for row in rows) == [1, 2, 3]
    assert [row[1] for row in rows] == sorted(row[1] for row in rows)
    for concurrency, _, mean_ms in rows:
        level = run.level(concurrency - 1)
        # Each of the seven parts is cut to whole microseconds.
        assert mean_ms == pytest.approx(level["latency"]["mean_us"] / 1e3, rel=0.1, abs=0.03)


def test_the_html_draws_itself_in_a_browser_without_network(proa, identity, tmp_path):
    page = tmp_path / "report.html"
    run = bench(proa, tmp_path, "-m", "identity", "-u", identity.http, "--concurrency-range",
                "1:3:1", "--html", page)
    assert run.report is not None, run.out + run.err
    browser = subprocess.run(
        ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=5000",
         "--host-resolver-rules=MAP * ~NOTFOUND", "--dump-dom", f"file://{page}"],
        capture_output=True, text=True, timeout=120)
    dom = browser.stdout
    assert 'data-drawn="yes"' in dom, browser.stderr
    assert "CONSOLE" not in browser.stderr, browser.stderr
    for title in ("Throughput against latency", "Latency distribution", "Where the mean latency goes",
                  "Throughput over time: ", "Latency over time: ", "Batch sizes: "):
        assert f"<h2>{title}" in dom, title
    assert dom.count("<svg") == 6
    assert len(re.findall(r"<tr[ >]", dom)) == 4
    assert "NaN" not in re.sub(r"<script.*?</script>", "", dom, flags=re.DOTALL)


def test_compare_ends_with_its_own_status_on_a_regression(proa, serve, tmp_path):
    fast, slow = tmp_path / "fast", tmp_path / "slow"
    write_identity(fast, execute_delay_ms=1)
    write_identity(slow, execute_delay_ms=20)
    old = tmp_path / "old.json"
    load = ("--concurrency-range", "1", "-p", "300", "--max-trials", "4", "-s", "1000")
    server = serve(fast)
    run = bench(proa, tmp_path, "-m", "identity", "-u", server.http, *load, short=False)
    assert run.report is not None, run.out + run.err
    old.write_bytes((tmp_path / "report.json").read_bytes())
    server = serve(slow)
    run = bench(proa, tmp_path, "-m", "identity", "-u", server.http, *load, "--compare", old,
                short=False)
    assert run.status == 4, run.out + run.err
    assert "REGRESSION" in run.out


def test_what_cannot_be_written_is_said_before_the_run(proa, identity, tmp_path):
    run = bench(proa, tmp_path, "-m", "identity", "-u", identity.http, "--html",
                tmp_path / "none" / "a.html")
    assert run.status == 2
    assert run.report is None
    assert "--html" in run.err and "there is no folder" in run.err
    run = bench(proa, tmp_path, "-m", "identity", "-u", identity.http, "--compare",
                tmp_path / "none.json")
    assert run.status == 2 and "--compare" in run.err
