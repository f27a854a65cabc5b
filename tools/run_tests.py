#!/usr/bin/env python3
"""run_tests.py [--jobs N] [--list] [STAGE...]: builds and runs the tests, stage by stage.

Every ctest case, pytest case and check counts as one. A stage whose command fails without naming a
failed case counts as one failure; nothing is skipped silently. The last line is exactly
`N passed, N failed`; the exit status is 1 when any failed.
"""
import argparse
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
LOGS = ROOT / "build" / "test-logs"
# Rooms whose unit tests run threads against each other; ThreadSanitizer builds only these.
THREADED_ROOMS = ("base", "core", "lifecycle", "net", "frontends", "observe", "loadgen")
# An end-to-end test that does everything at once.
RACES = "tests/e2e/test_races.py"
# End-to-end tests that send what no proper client sends.
HOSTILE = ("tests/e2e/test_hostile.py", "tests/e2e/test_hostile_http.py")
STEP_LIMIT_S = 30 * 60


@dataclasses.dataclass
class Step:
    """One command of a stage. It counts as one check, or, with a junit file, as that file's cases."""

    command: list[str]
    junit: pathlib.Path | None = None
    # What follows needs it: a failure ends the stage, a success is not counted.
    gate: bool = False


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: list[str] = dataclasses.field(default_factory=list)
    skipped: list[str] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped


def first_line(text):
    return (text or "").strip().split("\n")[0][:800]


def read_junit(path):
    """The outcome that a junit file of ctest, pytest or tests/fuzz/run.py reports."""
    outcome = Outcome()
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
        failures = [found for found in map(case.find, ("failure", "error")) if found is not None]
        if failures:
            outcome.failed.append(": ".join(filter(None, (name, first_line(failures[0].get("message"))))))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            outcome.skipped.append(name)
        else:
            outcome.passed += 1
    return outcome


def judge(step, status):
    """The outcome of a step whose command ended with that status (0 = well)."""
    title = " ".join(step.command)
    if step.junit is None:
        if status != 0:
            return Outcome(failed=[f"{title} (status {status})"])
        return Outcome(passed=0 if step.gate else 1)
    try:
        outcome = read_junit(step.junit)
    except (OSError, ElementTree.ParseError) as error:
        return Outcome(failed=[f"{title} (status {status}): no readable report: {error}"])
    if status != 0 and not outcome.failed:
        outcome.failed.append(f"{title} (status {status}, no case failed)")
    if outcome.passed + len(outcome.failed) == 0:
        outcome.failed.append(f"{title}: ran no test")
    return outcome


def run_command(command, log, limit_s):
    """Runs it with its output in log; its exit status, or -9 when it had to be ended."""
    process = subprocess.Popen(command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log,
                               stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return process.wait(timeout=limit_s)
    except subprocess.TimeoutExpired:
        log.write(f"\nstopped after {limit_s} s\n".encode())
        return -signal.SIGKILL
    finally:
        # Whatever the command left running must not disturb the next stage.
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def run_stage(name, steps):
    """Runs the steps in order, up to the first gate that fails."""
    log_path = LOGS / f"{name}.log"
    outcome, start = Outcome(), time.monotonic()
    with log_path.open("wb") as log:
        for step in steps:
            log.write(("$ " + " ".join(step.command) + "\n").encode())
            log.flush()
            if step.junit:
                step.junit.unlink(missing_ok=True)
            try:
                status = run_command(step.command, log, STEP_LIMIT_S)
            except OSError as error:
                log.write(f"{error}\n".encode())
                status = 127
            result = judge(step, status)
            outcome.add(result)
            if result.failed and step.gate:
                break
    outcome.seconds = time.monotonic() - start
    return outcome


def ctest(folder, report, jobs):
    junit = LOGS / report
    return Step(["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error",
                 "-j", str(jobs), "--output-junit", str(junit)], junit)


def pytest(report, *arguments, jobs=0, environment=()):
    """jobs: tests that run side by side (0: in this order). environment: NAME=VALUE for the tests and what
    they start."""
    junit = LOGS / report
    side_by_side = ["-n", str(jobs), "--dist", "worksteal"] if jobs else []
    return Step([*(["env", *environment] if environment else []), sys.executable, "-m", "pytest", "-q",
                 "-p", "no:cacheprovider", f"--junit-xml={junit}", *side_by_side, *arguments], junit)


def fuzz(report, seconds, jobs):
    junit = LOGS / report
    return Step([sys.executable, "tests/fuzz/run.py", "--seconds", str(seconds), "--jobs", str(jobs),
                 "--junit", str(junit)], junit)


def configure(preset):
    return Step(["cmake", "--preset", preset], gate=True)


def build(preset, jobs, *targets):
    selected = ["--target", *targets] if targets else []
    return Step(["cmake", "--build", "--preset", preset, "-j", str(jobs), *selected], gate=True)


def threaded_rooms():
    """Those of THREADED_ROOMS that have unit tests."""
    return [room for room in THREADED_ROOMS if any((ROOT / "src" / room).rglob("*_test.cc"))]


def stages(jobs):
    """{name: (what it does, steps)}, in the order they run."""
    python = sys.executable
    threaded = threaded_rooms()
    return {
        "checks": ("C++ format, includes against ARCHITECTURE.md", [
            Step([python, "tools/format.py", "--check"]),
            Step([python, "tools/check_layers.py"])]),
        "tools": ("unit tests of tools/ and benchmarks/", [
            pytest("tools.xml", "tools", "benchmarks")]),
        "unit": ("release build, unit tests", [
            configure("release"),
            build("release", jobs),
            ctest("build/release", "unit.xml", jobs)]),
        "e2e": ("tests/e2e against build/release/bin/proa", [
            configure("release"),
            build("release", jobs, "proa", "grpcpp_client"),
            # Tests of a server wait more than they compute.
            pytest("e2e.xml", "tests/e2e", jobs=jobs + 1)]),
        "conformance": ("tests/conformance: the same requests to proa and a real tritonserver", [
            configure("release"),
            build("release", jobs, "proa"),
            pytest("conformance.xml", "tests/conformance")]),
        "asan": ("clang-19 with -Wthread-safety -Werror; unit tests and hostile clients under "
                 "AddressSanitizer and UndefinedBehaviorSanitizer", [
            configure("asan"),
            build("asan", jobs),
            ctest("build/asan", "asan.xml", jobs),
            # Freed memory is kept aside to find its later use; the tests look at what a server holds.
            pytest("asan-hostile.xml", *HOSTILE, "--proa", "build/asan/bin/proa", jobs=jobs,
                   environment=["ASAN_OPTIONS=quarantine_size_mb=16"])]),
        "tsan": ("unit tests of " + ", ".join(threaded) + " and a busy server under ThreadSanitizer", [
            configure("tsan"),
            build("tsan", jobs, "proa", *(f"src/{room}/all" for room in threaded)),
            *(ctest(f"build/tsan/src/{room}", f"tsan-{room}.xml", jobs) for room in threaded),
            pytest("tsan-races.xml", RACES, "--proa", "build/tsan/bin/proa")]),
        "fuzz": ("every parser, 60 s each under libFuzzer with the sanitizers", [
            fuzz("fuzz.xml", 60, jobs)]),
    }


def show_failure(name):
    lines = (LOGS / f"{name}.log").read_text(errors="replace").splitlines()
    print(f"--- {name}: end of build/test-logs/{name}.log")
    print("\n".join(lines[-60:]))


def report(outcomes):
    """Prints the table and the closing line; the exit status."""
    print(f"\n{'stage':<10}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}")
    for name, outcome in outcomes.items():
        print(f"{name:<10}{outcome.passed:>8}{len(outcome.failed):>8}"
              f"{len(outcome.skipped):>9}{outcome.seconds:>9.0f}")
    for name, outcome in outcomes.items():
        for case in outcome.skipped:
            print(f"skipped: {name}: {case}")
    for name, outcome in outcomes.items():
        for case in outcome.failed:
            print(f"failed: {name}: {case}")
    failed = sum(len(outcome.failed) for outcome in outcomes.values())
    print(f"{sum(outcome.passed for outcome in outcomes.values())} passed, {failed} failed")
    return 1 if failed else 0


def parse_arguments(known):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="parallel processes")
    parser.add_argument("--list", action="store_true", help="list the stages and stop")
    parser.add_argument("stage", nargs="*", help="stages to run (default: all)")
    options = parser.parse_args()
    if unknown := set(options.stage) - set(known):
        parser.error(f"no stage {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    return options


def main():
    options = parse_arguments(stages(1))
    plan = stages(options.jobs)
    if options.list:
        for name, (title, _) in plan.items():
            print(f"{name:<10}{title}")
        return 0
    shutil.rmtree(LOGS, ignore_errors=True)
    LOGS.mkdir(parents=True)
    outcomes = {}
    for name, (title, steps) in plan.items():
        if options.stage and name not in options.stage:
            continue
        print(f"{name}: {title}", flush=True)
        outcomes[name] = run_stage(name, steps)
        if outcomes[name].failed:
            show_failure(name)
    return report(outcomes)


if __name__ == "__main__":
    sys.exit(main())
