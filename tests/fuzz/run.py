#!/usr/bin/env python3
"""run.py [--seconds N] [--cpu] [--jobs N] [--keep] [TARGET...]: builds and runs the fuzzers.

Every target starts from the kept corpus tests/fuzz/corpus/TARGET and from the cases of the unit tests,
and runs for N seconds under AddressSanitizer and UndefinedBehaviorSanitizer. A crash, a leak, a wrong
result or an input that takes longer than 10 s (with --cpu: 10 minutes) fails the target; the input is then in
build/fuzz/findings, and `build/asan/bin/TARGET_fuzz FILE` repeats it. What is found goes into
build/fuzz/corpus; with --cpu the N seconds are of processor time, in rounds that go on from there, so that
a busy machine does not shorten them. --keep merges the inputs that reach new code into the kept corpus.
"""
import argparse
import concurrent.futures
import math
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree

import seeds

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "fuzz"
PROGRAMS = ROOT / "build" / "asan" / "bin"
KEPT = ROOT / "tests" / "fuzz" / "corpus"
# Larger inputs find little more, slowly.
MAX_BYTES = 4096
MOST_KEPT = 100  # files of a target's corpus
ROUND = 300  # seconds; a round of --cpu


def targets():
    return sorted(path.name.removesuffix("_fuzz.cc")
                  for path in pathlib.Path(__file__).parent.glob("*_fuzz.cc"))


def build(jobs):
    subprocess.run(["cmake", "--preset", "asan"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "asan", "-j", str(jobs), "--target", "fuzzers"],
                   cwd=ROOT, check=True, stdout=sys.stderr)


def command(target, *arguments):
    return [str(PROGRAMS / f"{target}_fuzz"), "-rss_limit_mb=2048",
            f"-max_len={MAX_BYTES}", f"-artifact_prefix={BUILD}/findings/{target}-", *arguments]


def run_round(target, seconds, timeout=10):
    """(executions, the end of the log or "" when all was well, seconds of processor time)."""
    found = BUILD / "corpus" / target
    start = BUILD / "seeds" / target
    for folder in (found, start, KEPT / target, BUILD / "findings"):
        folder.mkdir(parents=True, exist_ok=True)
    seeds.write(target, start)
    log_path = BUILD / f"{target}.log"
    with log_path.open("wb") as log:
        process = subprocess.Popen(
            command(target, f"-max_total_time={seconds}", f"-timeout={timeout}",
                    "-print_final_stats=1", str(found), str(KEPT / target), str(start)),
            cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    text = log_path.read_text(errors="replace")
    executed = re.search(r"number_of_executed_units:\s*(\d+)", text)
    executions = int(executed[1]) if executed else 0
    failed = process.returncode != 0 or executions == 0
    return executions, text[-4000:] if failed else "", usage.ru_utime + usage.ru_stime


def run_target(target, seconds, cpu):
    """(executions, the end of the log or "" when all was well, seconds of the clock or of --cpu)."""
    began = time.monotonic()
    if not cpu:
        executions, problem, _ = run_round(target, seconds)
        return executions, problem, time.monotonic() - began
    executions, used = 0, 0
    while used < seconds:
        # The clock goes on while others have the processor.
        more, problem, took = run_round(target, min(ROUND, math.ceil(seconds - used)), timeout=600)
        executions, used = executions + more, used + took
        print(f"{target}: {executions} runs in {used:.0f} s", file=sys.stderr, flush=True)
        if problem:
            break
    return executions, problem, used


def keep(target):
    """Makes the kept corpus of what reaches most code, the shortest inputs first."""
    folder = KEPT / target
    subprocess.run(command(target, "-set_cover_merge=1", "-use_counters=0", str(folder),
                           str(BUILD / "corpus" / target), str(BUILD / "seeds" / target)),
                   cwd=ROOT, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    for path in sorted(folder.iterdir(), key=lambda path: path.stat().st_size)[MOST_KEPT:]:
        path.unlink()


def reason(log):
    """What a fuzzer's log says of why it ended, and the input if that is short enough to be printed."""
    found = re.findall(r"^.*runtime error:.*$|SUMMARY: .*|Base64: .*", log, re.MULTILINE)
    return "; ".join(found) or "it ended without a reason; see the end of its log"


def write_junit(path, results):
    suite = ElementTree.Element("testsuite", name="fuzz", tests=str(len(results)))
    for target, (executions, problem, seconds) in results.items():
        case = ElementTree.SubElement(suite, "testcase", classname="fuzz", name=target,
                                      time=f"{seconds:.1f}")
        if problem:
            printable = re.sub(r"[^\x20-\x7e\n]", "?", problem)
            ElementTree.SubElement(case, "failure", message=reason(printable)).text = printable
    ElementTree.ElementTree(suite).write(path)


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60, help="time for each target (default 60)")
    parser.add_argument("--cpu", action="store_true", help="seconds of processor time")
    parser.add_argument("--jobs", type=int, default=2, help="targets side by side (default 2)")
    parser.add_argument("--keep", action="store_true", help="merge what was found into the corpus")
    parser.add_argument("--junit", type=pathlib.Path, help="write a report here")
    parser.add_argument("target", nargs="*", help=f"of: {', '.join(targets())} (default: all)")
    options = parser.parse_args()
    if unknown := set(options.target) - set(targets()):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(targets())}")
    return options


def main():
    options = parse_arguments()
    build(options.jobs)
    chosen = options.target or targets()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        runs = pool.map(lambda target: run_target(target, options.seconds, options.cpu), chosen)
        results = dict(zip(chosen, runs))
    for target, (executions, problem, seconds) in results.items():
        print(f"{target:<14}{'FAILED' if problem else 'passed':<8}{executions:>12} runs"
              f"{seconds:>8.0f} s")
        if problem:
            print(problem)
        elif options.keep:
            keep(target)
    if options.junit:
        write_junit(options.junit, results)
    return 1 if any(problem for _, problem, _ in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
