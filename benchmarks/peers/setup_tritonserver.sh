#!/usr/bin/env bash
# Unpacks a real tritonserver 2.51.0 (inside PyPI's nvidia-pytriton) into build/peers/triton and gives it
# an identity backend, so that proa can be measured beside it. Does nothing when it is there.
set -euo pipefail
cd "$(dirname "$0")/../.."
target=build/peers/triton
stamp=$target/stamp
source=benchmarks/peers/triton_identity.cc
version=nvidia-pytriton==0.7.0

wanted="$version $(sha256sum "$0" "$source" | cut -d' ' -f1 | xargs)"
[ "$(cat "$stamp" 2>/dev/null)" != "$wanted" ] || exit 0

echo "setup: unpacking tritonserver into $target" >&2
rm -rf "$target"
mkdir -p "$target/wheel" "$target/lib" "$target/backends/identity"
.venv/bin/python -m pip download -q --no-deps --only-binary=:all: -d "$target/wheel" "$version"
.venv/bin/python -m zipfile -e "$target"/wheel/*.whl "$target/wheel"
mv "$target"/wheel/nvidia_pytriton.libs/* "$target/lib/"
install -m755 "$target/wheel/pytriton/tritonserver/bin/tritonserver" "$target/tritonserver"
rm -rf "$target/wheel"

library=$(basename "$target"/lib/libtritonserver-*.so)
g++ -O2 -fPIC -shared -o "$target/backends/identity/libtriton_identity.so" "$source" \
  -L"$target/lib" -l:"$library" -Wl,--no-as-needed -Wl,--allow-shlib-undefined
echo "$wanted" >"$stamp"
