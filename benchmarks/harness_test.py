import os
import time

import pytest

import harness
from harness import Row, interleaved, ratio_of, ratio_row


def test_pairs_run_a_b_b_a():
    order = []
    pairs = interleaved(lambda: order.append("a") or len(order),
                        lambda: order.append("b") or len(order), 4)
    assert "".join(order) == "abbaabba"
    assert pairs == [(1, 2), (4, 3), (5, 6), (8, 7)]


def test_the_ratio_is_the_median_of_the_pairs_and_lies_in_its_interval():
    ratio = ratio_of([(1, 2), (1, 4), (3, 4), (2, 4), (1, 2)])
    assert ratio.median == 0.5
    assert 0.25 <= ratio.low <= 0.5 <= ratio.high <= 0.75


def test_a_bar_is_a_ceiling_unless_it_is_a_floor():
    assert Row("r", 0.6, 0.65).met and not Row("r", 0.66, 0.65).met
    assert Row("r", 4.0, 4, at_least=True).met and not Row("r", 3.9, 4, at_least=True).met
    assert Row("r", 9e9, None).met
    assert "MISSED" in str(ratio_row("r", [(2, 1)] * 3, 1.0))


def test_processor_time_counts_work_and_not_waiting():
    before = harness.cpu_seconds(os.getpid())
    deadline = time.process_time() + 0.05
    while time.process_time() < deadline:
        pass
    assert harness.cpu_seconds(os.getpid()) - before == pytest.approx(0.05, abs=0.03)
