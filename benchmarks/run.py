#!/usr/bin/env python3
"""run.py [NAME...]: runs the benchmarks one after the other (default: all). They want a quiet
machine."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
BENCHMARKS = ("start", "accuracy", "picture_cost", "overload", "instructions", "bench_cost",
              "bench_truth", "server_cost", "ensemble_cost", "python_cost", "worker_kills", "reload",
              "many_models", "pipeline_cost", "image_cost", "hostile_pictures", "search_quality")


def main():
    names = sys.argv[1:] or BENCHMARKS
    if unknown := set(names) - set(BENCHMARKS):
        sys.exit(f"no benchmark {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    failed = []
    for name in names:
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, HERE / f"{name}.py"]).returncode != 0:
            failed.append(name)
    if failed:
        sys.exit(f"missed bars or failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
