import pathlib
import sys

import run_tests
from run_tests import Step, judge

CTEST_REPORT = """<?xml version="1.0"?>
<testsuite tests="3" failures="1">
  <testcase name="A.Passes" classname="A.Passes" status="run"/>
  <testcase name="A.Fails" classname="A.Fails" status="fail"><failure message=""/></testcase>
  <testcase name="A.Skips" classname="A.Skips" status="notrun"><skipped message=""/></testcase>
</testsuite>
"""
PYTEST_REPORT = """<?xml version="1.0"?>
<testsuites><testsuite tests="2" errors="1">
  <testcase classname="tests.x" name="test_a" time="0.1"/>
  <testcase classname="tests.x" name="test_b" time="0.1"><error message="fixture"/></testcase>
</testsuite></testsuites>
"""
GREEN_REPORT = '<testsuite><testcase name="a" status="run"/></testsuite>'
EMPTY_REPORT = "<testsuite/>"


def junit_step(tmp_path, text):
    path = tmp_path / "report.xml"
    path.write_text(text)
    return Step(["runner"], path)


def test_counts_every_case_of_a_ctest_report(tmp_path):
    outcome = judge(junit_step(tmp_path, CTEST_REPORT), 8)
    assert outcome.passed == 1
    assert outcome.failed == ["A.Fails.A.Fails"]
    assert outcome.skipped == ["A.Skips.A.Skips"]


def test_an_error_in_a_pytest_report_is_a_failure(tmp_path):
    outcome = judge(junit_step(tmp_path, PYTEST_REPORT), 1)
    assert (outcome.passed, outcome.failed) == (1, ["tests.x.test_b: fixture"])


def test_a_crash_after_green_cases_is_one_failure(tmp_path):
    outcome = judge(junit_step(tmp_path, GREEN_REPORT), -11)
    assert outcome.passed == 1
    assert len(outcome.failed) == 1 and "no case failed" in outcome.failed[0]


def test_a_run_without_tests_is_a_failure(tmp_path):
    assert "ran no test" in judge(junit_step(tmp_path, EMPTY_REPORT), 0).failed[0]


def test_a_missing_or_broken_report_is_a_failure(tmp_path):
    missing = judge(Step(["runner"], tmp_path / "none.xml"), 0)
    broken = judge(junit_step(tmp_path, "<testsuite><testca"), 0)
    assert len(missing.failed) == 1 and len(broken.failed) == 1


def test_a_gate_counts_only_when_it_fails():
    assert judge(Step(["cmake"], gate=True), 0).passed == 0
    assert len(judge(Step(["cmake"], gate=True), 1).failed) == 1
    assert judge(Step(["check"]), 0).passed == 1


def test_a_failed_gate_ends_its_stage(tmp_path, monkeypatch):
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    mark = tmp_path / "mark"
    outcome = run_tests.run_stage("stage", [Step(["false"], gate=True), Step(["touch", str(mark)])])
    assert len(outcome.failed) == 1 and not mark.exists()


def test_a_failed_check_does_not_hide_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr(run_tests, "LOGS", tmp_path)
    outcome = run_tests.run_stage("stage", [Step(["false"]), Step(["true"]), Step(["no-such-tool"])])
    assert outcome.passed == 1
    assert outcome.failed == ["false (status 1)", "no-such-tool (status 127)"]


def test_a_command_past_its_limit_is_ended(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        assert run_tests.run_command([sys.executable, "-c", "input(); import time; time.sleep(60)"],
                                     log, 60) != 0  # no standard input to read from
        assert run_tests.run_command(["sleep", "60"], log, 0.05) == -9


def test_the_last_line_is_the_count(capsys):
    outcomes = {"a": run_tests.Outcome(passed=3), "b": run_tests.Outcome(passed=1, failed=["x: why"])}
    assert run_tests.report(outcomes) == 1
    assert capsys.readouterr().out.splitlines()[-2:] == ["failed: b: x: why", "4 passed, 1 failed"]
    assert run_tests.report({"a": run_tests.Outcome(passed=3)}) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed"


def test_every_threaded_room_exists():
    source = pathlib.Path(run_tests.ROOT, "src")
    assert [room for room in run_tests.THREADED_ROOMS if not (source / room).is_dir()] == []
