#!/usr/bin/env python3
"""serve_photographs.py FOLDER: on a GPU machine, classifies the labelled photographs that tools/gpu/pack_engine.py
packed with the trained EfficientNet-Lite0: by the CUDA engine in FP32 and in FP16 and by OpenVINO in FP32 on the CPU.
The classes must be the same on all but at most one."""
import pathlib
import sys
import tempfile

import numpy as np

from proa_client import infer
from proa_server import ProaServer
from serve_networks import write_models

NAME = "efficientnet_lite0"
BATCH = 4


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    packed = np.load(folder / "photographs.npz")
    pictures = (packed["pixels"].astype(np.float32) - 127) / 128
    accepted = packed["accepted"]  # (picture, class) pairs
    classes = {}
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        write_models(pathlib.Path(scratch), NAME, folder / f"{NAME}.onnx")
        with ProaServer(scratch, "--gpu-tuning-cache", folder / "tuning.txt",
                        command=(str(folder / "proa"),), start_limit_s=300) as server:
            for variant in ("cpu", "f32", "f16"):
                answers = [next(iter(infer(server.ports["HTTP"], f"{NAME}_{variant}",
                                           {"": pictures[at:at + BATCH]}).values()))
                           for at in range(0, len(pictures), BATCH)]
                classes[variant] = np.concatenate(answers).reshape(len(pictures), -1).argmax(1)
    good = {(int(picture), int(number)) for picture, number in accepted}
    for variant, found in classes.items():
        right = sum((index, int(number)) in good for index, number in enumerate(found))
        other = int((found != classes["cpu"]).sum())
        print(f"PHOTOGRAPHS {variant}: {right} of {len(found)} right, {other} unlike FP32 on the CPU")
    sys.exit(0 if all((found != classes["cpu"]).sum() <= 1 for found in classes.values()) else 1)


if __name__ == "__main__":
    main()
