#!/usr/bin/env python3
"""pack_engine.py OUT.tar.xz: packs what tools/gpu/check_engine.sh needs on a GPU machine: the built
engine_check and proa with their libraries (OpenVINO's too, not NVIDIA's), operator cases, model generators, the
trained EfficientNet-Lite0.

Build first: cmake --build --preset release --target engine_check proa"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# h2load (Debian's nghttp2-client) makes the load.
PROGRAMS = (pathlib.Path("/usr/bin/h2load"), ROOT / "build/release/bin/engine_check", ROOT / "build/release/bin/proa")
# OpenVINO loads these by name; ldd does not see them.
PLUGINS = ("libopenvino_intel_cpu_plugin.so", "libopenvino_onnx_frontend.so",
           "libopenvino_ir_frontend.so")
# On every machine, or of the GPU machine's own CUDA.
LEFT_OUT = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++", "libgcc_s",
            "ld-linux", "linux-vdso", "libcud", "libcublas", "libnvrtc")


def needed_libraries(program):
    """Paths of the shared libraries that the program loads, without the ones left out."""
    lines = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [pathlib.Path(line.split()[2]) for line in lines.splitlines() if "=> /" in line]
    return [path for path in paths if not path.name.startswith(LEFT_OUT)]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    openvino = next(ROOT.glob(".venv/lib/python3*/site-packages/openvino/libs"))
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "engine"
        (folder / "lib").mkdir(parents=True)
        for program in PROGRAMS:
            shutil.copy(program, folder)
            for path in needed_libraries(program):
                shutil.copy(path, folder / "lib" / path.name)
        for name in PLUGINS:
            path = next(openvino.glob(name + "*"))
            shutil.copy(path, folder / "lib" / path.name)
        for path in folder.rglob("*"):
            if path.is_file():
                subprocess.run(["strip", "--strip-unneeded", path], check=True)
        shutil.copytree(ROOT / "src/engine/testing/cases", folder / "cases")
        for name in ("resnet.py", "mobilenet.py"):
            shutil.copy(ROOT / "tools/models" / name, folder)
        subprocess.run([ROOT / ".venv/bin/python", ROOT / "tools/models/efficientnet_lite0.py",
                        folder / "efficientnet_lite0.onnx"], check=True)
        for name in ("check_engine.sh", "serve_resnet50.py", "serve_load.py", "torch_resnet50.py"):
            shutil.copy(ROOT / "tools/gpu" / name, folder)
        subprocess.run(["tar", "-C", scratch, "-I", "xz -2 -T2", "-cf", sys.argv[1], "engine"],
                       check=True)


if __name__ == "__main__":
    main()
