#!/usr/bin/env bash
# Puts the python backend of the same tritonserver beside it, into build/peers/triton_python/backends. Does
# nothing when it is there. Its stub needs Debian's libpython3.11 and an environment with a numpy before 2: with a
# newer one it takes every array for an empty one. Everything else comes from .venv.
set -euo pipefail
cd "$(dirname "$0")/../.."
benchmarks/peers/setup_tritonserver.sh
target=build/peers/triton_python
version=nvidia-pytriton==0.7.0
numpy=numpy==1.26.4
[ "$(cat "$target/stamp" 2>/dev/null)" != "$version $numpy" ] || exit 0

echo "setup: unpacking tritonserver's python backend into $target" >&2
rm -rf "$target"
mkdir -p "$target/wheel" "$target/backends"
.venv/bin/python -m pip download -q --no-deps --only-binary=:all: -d "$target/wheel" "$version"
.venv/bin/python -m zipfile -e "$target"/wheel/*.whl "$target/wheel"
parts=$target/wheel/pytriton/tritonserver
mv "$parts/backends/python" "$target/backends/"
install -m755 "$parts/python_backend_stubs/3.11/triton_python_backend_stub" "$target/backends/python/"
ln -s ../../triton/backends/identity "$target/backends/identity"
rm -rf "$target/wheel"
.venv/bin/python -m venv --without-pip "$target/environment"
packages=$target/environment/lib/python3.11/site-packages
.venv/bin/python -m pip install -q --no-deps --target "$packages" "$numpy"
.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$packages/all_others.pth"
echo "$version $numpy" >"$target/stamp"
