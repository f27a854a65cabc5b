#!/usr/bin/env python3
"""format.py [--check]: formats every C++ file with clang-format-19, or only checks."""
import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src", "apps", "tests", "benchmarks", "tools")
SUFFIXES = (".h", ".cc", ".cu", ".cuh")


def cpp_files(root):
    """Every C++ file of the project below root, sorted."""
    found = []
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*") if path.suffix in SUFFIXES]
    return sorted(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, fail on a difference")
    options = parser.parse_args()
    files = cpp_files(ROOT)
    mode = ["--dry-run", "--Werror"] if options.check else ["-i"]
    status = subprocess.run(["clang-format-19", *mode, *map(str, files)]).returncode
    if status == 0:
        print(f"format: {len(files)} files " + ("checked" if options.check else "formatted"))
    return status


if __name__ == "__main__":
    sys.exit(main())
