#!/usr/bin/env bash
# Unpacks the native perf_analyzer 2.50 (inside PyPI's tritonclient) into build/peers/perf_analyzer; run it
# as build/peers/perf_analyzer/run. Needs Debian's libb64-0d. Does nothing when it is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=build/peers/perf_analyzer
mkdir -p build/peers
exec 9>"$target.lock"
flock 9 # tests that run side by side ask at the same time
[ ! -x "$target/run" ] || exit 0

echo "setup: unpacking perf_analyzer into $target" >&2
rm -rf "$target"
mkdir -p "$target/wheel"
.venv/bin/python -m pip download -q --no-deps --only-binary=:all: -d "$target/wheel" \
  tritonclient==2.50.0 nvidia-cuda-runtime-cu12==12.9.79
for wheel in "$target"/wheel/*.whl; do .venv/bin/python -m zipfile -e "$wheel" "$target/wheel"; done
install -m755 "$target"/wheel/tritonclient-*.data/data/bin/perf_analyzer "$target/perf_analyzer"
mv "$target"/wheel/nvidia/cuda_runtime/lib/libcudart.so.12 "$target/"
rm -rf "$target/wheel"
cat >"$target/run" <<'RUN'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here exec "$here/perf_analyzer" "$@"
RUN
chmod +x "$target/run"
