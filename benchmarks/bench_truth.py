#!/usr/bin/env python3
"""bench_truth.py [--short] [--only PART]: does `proa bench` tell the truth? Its figures against those computed from
the log of a server with scripted delays (tests/scripted_server), whose capacity is made of waiting.
--short: a few seconds a case, to try the script. --only: percentiles (and rates) or find-max, which are recorded
each by itself."""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import harness

from proa_server import BINARY  # noqa: E402
from scripted_server import ScriptedServer  # noqa: E402

SCRIPTS = {"constant 5 ms": dict(service_us=5000),
           "bimodal 2 or 20 ms": dict(service_us=2000, second_us=20000, second_share=0.2),
           # None ends near the edge of a window, where hundreds of answers could count or not, and p90 lies well
           # within the eighth of the requests that wait.
           "500 ms stall every 3.9 s": dict(service_us=2000, stall_ms=500, stall_every_ms=3900)}
PERCENTILES = {"p50_us": 50, "p90_us": 90, "p95_us": 95, "p99_us": 99, "p99_9_us": 99.9}
EDGE_S = 0.001
# Of the open loops whose percentiles are compared. Latencies within a stall lie 1 / rate apart, and a percentile
# is known no better than that.
OPEN_RATE, STALL_RATE = 500, 2000
SLOTS, SERVICE_US = 8, 5000  # of the server with a capacity
# Gaps shorter than what a send costs (10 to 20 us) do not exist: tens of thousands of gaps of a millisecond
# show it to the test, those of a slower server do not.
SLOW_SERVICE_US = 20_000
CAPACITY = SLOTS / SERVICE_US * 1e6
POISSON = ["--request-distribution", "poisson"]


def run_bench(url, protocol, *flags):
    """The JSON report and the profile of a run; fails unless there is a report."""
    with tempfile.TemporaryDirectory() as folder:
        report, profile = pathlib.Path(folder, "report.json"), pathlib.Path(folder, "profile.json")
        command = [BINARY, "bench", "-m", ScriptedServer.model, "-u", url, "-i", protocol,
                   "--json", report, "--profile-export-file", profile, *map(str, flags)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=900)
        if not report.exists():
            raise RuntimeError(f"{' '.join(map(str, command))}\n{run.stdout}{run.stderr}")
        return json.loads(report.read_text()), json.loads(profile.read_text())


def due_instants(came, rate):
    """When an open loop of this even rate meant to send what came, by the server's clock: the schedule begins
    so that nothing came before it was due."""
    schedule = np.arange(len(came)) / rate
    return np.min(came - schedule) + schedule


def true_percentiles(level, log, begins):
    """What the server's log says about the windows that the report used, for latencies that begin there:
    {name: (lowest, highest)}. Both clocks are known to EDGE_S of each other, so the windows may lie that much
    earlier or later."""
    answered = np.array([answered for _, answered in log])
    latencies = (answered - begins) * 1e6
    found = {name: [] for name in PERCENTILES}
    for shift in np.linspace(-EDGE_S, EDGE_S, 21):
        at = answered - log[0][0] - shift
        used = np.zeros(len(at), bool)
        for window in level["windows"]:
            if window["used"]:
                used |= (at >= window["start_s"]) & (at < window["start_s"] + window["duration_s"])
        for name, p in PERCENTILES.items():
            found[name].append(float(np.percentile(latencies[used], p, method="higher")))
    return {name: (min(values), max(values)) for name, values in found.items()}


def disturbance(level):
    """What tells an outlier of the machine from an error of the tool."""
    health = level["health"]
    late = {name: health["lateness"][name] for name in PERCENTILES if name in health.get("lateness", {})}
    return {"late_us": late, "stolen_share": health.get("stolen", 0), "waited_share": health.get("waited", 0)}


def percentile_row(title, level, key, true):
    """How much of what is allowed (1 % or 50 us, the larger) the worst percentile of level[key] takes. Where the
    log does not know one to twice that, it is not compared; more than one such is a miss."""
    errors = {name: level[key][name] - min(max(level[key][name], low), high)
              for name, (low, high) in true.items()}
    allowed = {name: max(0.01 * low, 50) for name, (low, _) in true.items()}
    unknown = [name for name, (low, high) in true.items() if high - low > 2 * allowed[name]]
    used = {name: abs(errors[name]) / allowed[name] for name in true if name not in unknown}
    if len(unknown) > 1:
        used = {"too much unknown": math.inf}
    worst = max(used, key=used.get)
    return harness.Row(f"{title}: {worst} of the allowance", used[worst], 1, "x",
                       detail={"percentile": worst, "not_compared": unknown, "errors_us": errors, "true_us": true,
                               "valid": level["valid"], **disturbance(level)})


def rate_of(script_name):
    return STALL_RATE if "stall" in script_name else OPEN_RATE


def percentile_rows(protocol, script_name, loop, flags):
    """In open loop a latency begins when the request was due, which the schedule tells, and `latency_from_send`
    when it was sent; the server sees it come."""
    with ScriptedServer(**SCRIPTS[script_name]) as server:
        report, _ = run_bench(getattr(server, protocol), protocol, *flags)
        server.stop()
        level = report["levels"][-1]
        log = sorted(server.log())
    came = np.array([came for came, _ in log])
    title = f"{protocol}, {loop}, {script_name}"
    if loop == "open loop":
        rows = [percentile_row(f"{title}, from due", level, "latency",
                               true_percentiles(level, log, due_instants(came, rate_of(script_name)))),
                percentile_row(f"{title}, from send", level, "latency_from_send",
                               true_percentiles(level, log, came))]
    else:
        rows = [percentile_row(title, level, "latency", true_percentiles(level, log, came))]
    if "stall" in script_name and loop == "open loop":
        rows.append(harness.Row(f"{protocol}: the stall in the open loop's p99.9",
                                level["latency"]["p99_9_us"] / 1e3, 400, " ms", at_least=True))
    if "stall" in script_name and loop == "closed loop":
        said = any("are missing from the percentiles" in note["text"] for note in report["notes"])
        rows.append(harness.Row(f"{protocol}: a closed loop says what it cannot see", float(said), 1,
                                "", at_least=True))
    return rows


def sends(profile):
    return np.sort([r["timestamp"] for r in profile["experiments"][-1]["requests"]]) / 1e9


def rate_row(protocol, seconds):
    """The sent rate at 80 % of the capacity."""
    asked = 0.8 * CAPACITY
    with ScriptedServer(service_us=SERVICE_US, slots=SLOTS) as server:
        report, profile = run_bench(getattr(server, protocol), protocol, "--request-rate-range", asked,
                                    "-p", seconds * 500, "--max-trials", 3)
    at = sends(profile)
    sent = (len(at) - 1) / (at[-1] - at[0])
    return harness.Row(f"{protocol}: sent rate against asked, at 80 % of capacity",
                       float(abs(sent / asked - 1) * 100), 0.5, " %",
                       detail={"asked": asked, "sent": float(sent),
                               "reported": report["levels"][-1]["health"]["sent_rate"]})


def poisson_row(protocol, seconds, service_us, bar):
    """Poisson gaps at 80 % of a capacity, by a Kolmogorov-Smirnov test."""
    asked = 0.8 * SLOTS / service_us * 1e6
    with ScriptedServer(service_us=service_us, slots=SLOTS) as server:
        _, profile = run_bench(getattr(server, protocol), protocol, "--request-rate-range", asked,
                               "-p", seconds * 500, "--max-trials", 3, *POISSON)
    gaps = np.sort(np.diff(sends(profile)))
    steps = np.arange(len(gaps) + 1) / len(gaps)
    expected = 1 - np.exp(-asked * gaps)
    distance = max(np.max(steps[1:] - expected), np.max(expected - steps[:-1]))
    critical = 1.628 / math.sqrt(len(gaps))  # 1 % of true Poisson processes are farther away
    return harness.Row(f"{protocol}: Poisson gaps at {asked:.0f}/s, distance of the critical one (KS, 1 %)",
                       float(distance / critical), bar, "x",
                       detail={"gaps": len(gaps), "off_us": float(distance / asked * 1e6)})


def poisson_p99_ms(rate, seconds, seed):
    """p99 of SLOTS x SERVICE_US under Poisson arrivals, by simulation. As services are equally long,
    slots take requests in turn."""
    service = SERVICE_US / 1e6
    count = int(rate * seconds) // SLOTS * SLOTS
    came = np.cumsum(np.random.default_rng(seed).exponential(1 / rate, count)).reshape(-1, SLOTS)
    served = np.arange(1, len(came) + 1)[:, None] * service
    done = np.maximum.accumulate(came - served + service, axis=0) + served
    return np.percentile(done - came, 99) * 1e3


def true_maximum(bound_ms):
    """The highest rate of Poisson arrivals whose p99 keeps the bound: 6000 s of simulation know it
    to a quarter of a percent, 60 s would know it to one."""
    low, high = 0.5 * CAPACITY, CAPACITY
    while high - low > 0.001 * CAPACITY:
        rate = (low + high) / 2
        low, high = (rate, high) if poisson_p99_ms(rate, 6000, 1) <= bound_ms else (low, rate)
    return (low + high) / 2


def find_max_rows(protocol, bound_ms):
    rows = []
    true = true_maximum(bound_ms)
    for turn in (1, 2):
        with ScriptedServer(service_us=SERVICE_US, slots=SLOTS) as server:
            report, _ = run_bench(getattr(server, protocol), protocol, "--find-max", "--latency-ms",
                                  bound_ms, "--percentile", 99, "--seed", 1000 * turn, *POISSON)
        found = report["find_max"]
        rows.append(harness.Row(f"{protocol}: --find-max against the true maximum, time {turn}",
                                abs(found["rate"] / true - 1) * 100, 2, " %",
                                detail={"true": true, "found": found, "capacity": CAPACITY}))
    return rows


def percentiles_and_rates(protocols, short):
    seconds = 4 if short else 20
    windows = ["-p", seconds * 1000 // 2, "--max-trials", 4]
    rows = []
    for protocol in protocols:
        for name in SCRIPTS:
            for loop, load in (("closed loop", ["--concurrency-range", 4]),
                               ("open loop", ["--request-rate-range", rate_of(name)])):
                rows += percentile_rows(protocol, name, loop, [*load, *windows])
        rows += [rate_row(protocol, seconds), poisson_row(protocol, seconds, SLOW_SERVICE_US, 1),
                 poisson_row(protocol, seconds, SERVICE_US, None)]
    return rows


def finish(name, rows):
    for row in rows:
        print(row)
    return harness.finish(name, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--protocols", nargs="+", default=["http", "grpc"])
    parser.add_argument("--only", choices=("percentiles", "find-max"))
    options = parser.parse_args()
    met = True
    if options.only != "find-max":
        met &= finish("bench_truth", percentiles_and_rates(options.protocols, options.short))
    if options.only != "percentiles":
        met &= finish("bench_find_max", [row for protocol in options.protocols
                                         for row in find_max_rows(protocol, 20)])
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
