"""What `proa bench` says against what a server with scripted delays did. Bounds are wide where the
machine could matter: benchmarks/bench_truth.py measures how near the figures are."""
import json
import signal
import subprocess
import threading

import pytest

from bench import SHORT, bench
from scripted_server import ScriptedServer

PROTOCOLS = ("http", "grpc")


def scripted(server, protocol):
    return "-m", server.model, "-u", getattr(server, protocol), "-i", protocol


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("load", (("--concurrency-range", 4), ("--request-rate-range", 300)),
                         ids=("closed", "open"))
def test_it_counts_what_the_server_answered(proa, tmp_path, protocol, load):
    profile = tmp_path / "profile.json"
    with ScriptedServer(service_us=2000) as server:
        run = bench(proa, tmp_path, *scripted(server, protocol), *load, "--profile-export-file",
                    profile)
        server.stop()
        log = server.log()
    level = run.level()
    assert level["counts"]["errors"] == 0
    requests = json.loads(profile.read_text())["experiments"][0]["requests"]
    # Requests that were under way when the load ended may have no answer in the profile.
    assert 0 <= len(log) - len(requests) <= 8
    # No answer can be sooner than scripted.
    assert level["latency"]["min_us"] >= 2000
    used = sum(window["completed"] for window in level["windows"] if window["used"])
    assert level["counts"]["completed"] == used == level["latency"]["count"]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_failures_are_counted_by_kind_and_change_the_status(proa, tmp_path, protocol):
    with ScriptedServer(service_us=1000, fail_every=5) as server:
        run = bench(proa, tmp_path, *scripted(server, protocol), "--concurrency-range", 2)
    assert run.status not in (0, 2), run.out + run.err
    (group,) = run.level()["errors"]
    assert group["kind"] == {"http": "HTTP 503", "grpc": "gRPC UNAVAILABLE"}[protocol]
    assert "scripted failure" in group["sample"]
    counts = run.level()["counts"]
    assert counts["errors"] == pytest.approx((counts["errors"] + counts["completed"]) / 5, rel=0.2)
    assert run.notes("warning")


def test_a_stall_shows_in_the_open_loop_and_the_closed_loop_says_that_it_cannot_see_it(
        proa, tmp_path):
    stall = dict(service_us=1000, stall_ms=400, stall_every_ms=1000)
    long_enough = ("-p", "1000", "--max-trials", "3", "-s", "1000")
    with ScriptedServer(**stall) as server:
        run = bench(proa, tmp_path, *scripted(server, "http"), "--request-rate-range", 200,
                    *long_enough, short=False)
    # 40 % of the requests fall into a stall, evenly: their latency is 0..400 ms.
    latency = run.level()["latency"]
    assert latency["p90_us"] > 200_000
    assert latency["p99_9_us"] > 300_000
    with ScriptedServer(**stall) as server:
        run = bench(proa, tmp_path, *scripted(server, "http"), "--concurrency-range", 1,
                    *long_enough, short=False)
    assert run.level()["latency"]["p90_us"] < 100_000
    assert any("coordinated omission" in note for note in run.notes("info"))
    assert any("missing from the percentiles" in note for note in run.notes("warning"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_overloaded_server_is_not_the_generators_fault(proa, tmp_path, protocol):
    """Nor are requests failures that the load's end cuts off."""
    with ScriptedServer(service_us=5000, slots=1) as server:
        run = bench(proa, tmp_path, *scripted(server, protocol), "--request-rate-range", 1000,
                    "--max-connections", 8, "-p", 300, "--max-trials", 4, short=False)
    level = run.level()
    assert level["valid"], run.out
    assert level["stability"]["reason"] == "server_overloaded", run.out
    assert level["errors"] == []
    assert run.status == 3


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_interrupted_it_still_writes_its_report(proa, tmp_path, protocol):
    path = tmp_path / "report.json"
    with ScriptedServer(service_us=1000) as server:
        process = subprocess.Popen(
            [proa, "bench", *scripted(server, protocol), "--concurrency-range", "2", "-p", "60000",
             "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The server has answered: the load is on. Its log is written at the end only, so the
        # connection is watched for from outside.
        interrupt_when_busy(process, server)
        out, err = process.communicate(timeout=60)
    report = json.loads(path.read_text())
    assert report["interrupted"], out + err
    assert process.returncode not in (0, 2), out + err
    assert report["levels"][0]["series"], out + err


def interrupt_when_busy(process, server):
    """Sends Ctrl-C once the server has used processor time for the load."""
    stat = f"/proc/{server.process.pid}/schedstat"
    start = used(stat)
    wait = threading.Event()
    for _ in range(600):
        if used(stat) > start + 100_000_000 or process.poll() is not None:
            break
        wait.wait(0.05)
    process.send_signal(signal.SIGINT)


def used(stat):
    with open(stat) as file:
        return int(file.read().split()[0])


def test_a_server_that_is_not_there_is_said(proa, tmp_path):
    with ScriptedServer() as server:
        url = server.http
    run = bench(proa, tmp_path, "-m", "scripted", "-u", url)
    assert run.status not in (0, 3)
    assert url in run.err


def test_a_server_that_dies_is_reported(proa, tmp_path):
    path = tmp_path / "report.json"
    with ScriptedServer(service_us=1000) as server:
        process = subprocess.Popen(
            [proa, "bench", *scripted(server, "http"), "--request-rate-range", "200", "-p", "1000",
             "--max-trials", "2", "--json", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True)
        wait = threading.Event()
        stat = f"/proc/{server.process.pid}/schedstat"
        start = used(stat)
        for _ in range(600):
            if used(stat) > start + 5_000_000 or process.poll() is not None:
                break
            wait.wait(0.02)
        server.kill()
        out, err = process.communicate(timeout=60)
    assert process.returncode not in (0, 2, 3), out + err
    assert process.returncode > 0, f"it crashed: {out}{err}"
    report = json.loads(path.read_text())
    assert sum(group["count"] for group in report["levels"][0]["errors"]) > 0
