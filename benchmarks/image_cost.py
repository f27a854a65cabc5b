#!/usr/bin/env python3
"""image_cost.py [--pairs N]: what it costs to make a tensor of a JPEG: against libjpeg-turbo's decode
alone, scaled against full decode, against Pillow and numpy, and through the server. Wants the target
image_cost_bench (`cmake --build --preset release --target image_cost_bench`)."""
import argparse
import io
import pathlib
import statistics
import struct
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image

import harness
import load

import repository  # noqa: E402
from images import write_image_model  # noqa: E402
from proa_server import ProaServer  # noqa: E402

PROGRAM = harness.ROOT / "build" / "release" / "bin" / "image_cost_bench"
SMALL, LARGE = (500, 375), (4000, 3000)
MEAN, STD = np.float32((0.485, 0.456, 0.406)), np.float32((0.229, 0.224, 0.225))


class Library:
    """The image library in a process of its own."""

    def __enter__(self):
        if not PROGRAM.is_file():
            sys.exit(f"{PROGRAM} is missing: cmake --build --preset release --target {PROGRAM.name}")
        self.process = subprocess.Popen([PROGRAM], text=True, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(60)

    def ms(self, what, count, path):
        """Processor milliseconds a picture."""
        self.process.stdin.write(f"{what} {count} {path}\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline()) / count * 1e3


def write_jpegs(folder):
    """Photographs of the two sizes."""
    source = Image.open(repository.packaged("scikit-image", "skimage/data/coffee.png")).convert("RGB")
    paths = []
    for size in (SMALL, LARGE):
        paths.append(folder / f"{size[0]}.jpg")
        source.resize(size, Image.Resampling.BICUBIC).save(paths[-1], quality=90)
    return paths


def pillow_ms(data, count):
    """The same tensor as `exact` with the numbers of torchvision, by Pillow and numpy."""
    begin = time.process_time()
    for _ in range(count):
        image = Image.open(io.BytesIO(data)).convert("RGB")
        pixels = image.resize((224, 224), Image.Resampling.BICUBIC)
        numbers = (np.asarray(pixels, np.float32) / 255 - MEAN) / STD
        np.ascontiguousarray(numbers.transpose(2, 0, 1))
    return (time.process_time() - begin) / count * 1e3


def compare(name, first, second, pairs, bar, at_least=False):
    """A row of first over second, both in milliseconds."""
    first(), second()
    found = harness.interleaved(first, second, pairs)
    ms = [statistics.median(pair[side] for pair in found) for side in (0, 1)]
    return harness.ratio_row(f"{name}: {ms[0]:.2f} ms against {ms[1]:.2f} ms", found, bar, at_least,
                             cpu_ms=ms)


def picture_call(folder, data):
    """An HTTP request that carries the file."""
    element = struct.pack("<I", len(data)) + data
    header = ('{"inputs":[{"name":"encoded_image","shape":[1,1],"datatype":"BYTES","parameters":'
              f'{{"binary_data_size":{len(element)}}}}}],"parameters":{{"binary_data_output":true}}}}')
    path = folder / "request"
    path.write_bytes(header.encode() + element)
    return load.Call("prepare", "http", path, len(header))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name, Library() as library:
        folder = pathlib.Path(name)
        small, large = write_jpegs(folder)
        data = small.read_bytes()
        write_image_model(folder / "models", resize="224x224", scale="1/255",
                          mean="0.485,0.456,0.406", std="0.229,0.224,0.225")
        call = picture_call(folder, data)
        with ProaServer(folder / "models") as server:
            rows = [
                compare("500x375 to tensor, decode alone", lambda: library.ms("exact", 100, small),
                        lambda: library.ms("decode", 100, small), options.pairs, 1.4),
                compare("the same by crop, decode alone", lambda: library.ms("crop", 100, small),
                        lambda: library.ms("decode", 100, small), options.pairs, None),
                compare("12 MP by scaled decode, decode alone in full",
                        lambda: library.ms("scaled", 3, large),
                        lambda: library.ms("decode", 3, large), options.pairs, 0.5),
                compare("12 MP by scaled decode, by full decode",
                        lambda: library.ms("scaled", 3, large),
                        lambda: library.ms("exact", 3, large), options.pairs, None),
                compare("Pillow and numpy, library", lambda: pillow_ms(data, 50),
                        lambda: library.ms("exact", 100, small), options.pairs, 2.2, True),
                compare("Pillow and numpy, server", lambda: pillow_ms(data, 50),
                        lambda: load.drive(server, call, 200, 1).cpu_us / 1e3, options.pairs, None)]
    for row in rows:
        print(row)
    return 0 if harness.finish("image_cost", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
