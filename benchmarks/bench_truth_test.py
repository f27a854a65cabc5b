"""The judgement of bench_truth.py, on logs that are made up."""
import numpy as np

import bench_truth


def stalled_log(rate=bench_truth.STALL_RATE, seconds=20):
    """Evenly due requests of 2 ms, behind a stall of 500 ms that ends each 3.9 s."""
    due = np.arange(rate * seconds) / rate
    ends = (np.floor(due / 3.9) + 1) * 3.9
    answered = np.where(ends - due < 0.5, ends, due) + 0.002
    return due, sorted(zip(due.tolist(), answered.tolist()))


def level_of(log, factor=1.0):
    latencies = [(answered - came) * 1e6 for came, answered in log if answered - log[0][0] < 20]
    reported = {name: factor * float(np.percentile(latencies, p, method="higher"))
                for name, p in bench_truth.PERCENTILES.items()}
    windows = [{"start_s": 10.0 * i, "duration_s": 10.0, "used": True} for i in range(2)]
    return {"latency": reported, "windows": windows, "valid": True, "health": {}}


def row(factor):
    due, log = stalled_log()
    level = level_of(log, factor)
    came = np.array([came for came, _ in log])
    return bench_truth.percentile_row("x", level, "latency",
                                      bench_truth.true_percentiles(level, log, came))


def test_the_truth_passes_and_ten_percent_do_not():
    assert row(1.0).value <= 1
    assert len(row(1.0).detail["not_compared"]) <= 1
    assert row(1.1).value > 1 and row(0.9).value > 1


def test_due_instants_are_those_of_the_schedule():
    late = np.array([0, 0.002, 0.0052, 0.0061, 0.008]) + 7.00002
    np.testing.assert_allclose(bench_truth.due_instants(late, 500),
                               7.00002 + np.arange(5) / 500, atol=1e-9)
