"""Runs the native perf_analyzer (C++ clients of Triton's own, libcurl and grpc++) for the tests."""
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PEER = ROOT / "build" / "peers" / "perf_analyzer" / "run"
ATTEMPTS = 3


def perf_analyzer(*flags, count=200):
    """A finished run of `count` requests, which must succeed. A count, because a measurement by time fails where
    a busy machine does not let it settle. Once in some hundred runs there, perf_analyzer 2.50 waits for ever
    for a count that it has reached, of tritonserver's answers too: then it is run again."""
    subprocess.run([ROOT / "benchmarks" / "peers" / "setup_perf_analyzer.sh"], check=True)
    command = [PEER, *map(str, flags), "--request-count", str(count)]
    for attempt in range(ATTEMPTS):
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=30)
        except subprocess.TimeoutExpired:
            if attempt == ATTEMPTS - 1:
                raise
            continue
        assert run.returncode == 0, run.stdout + run.stderr
        return run
