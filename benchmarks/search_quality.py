#!/usr/bin/env python3
"""search_quality.py [--pictures N]: does lower precision change what an image search finds?

The emoji of Debian's Noto font and Debian's tuxpaint stamps are indexed by EfficientNet-Lite0's
features; queries are crops, mirrored and JPEG copies of them, whose only right answer is the original.
MAP@10 (with one right answer: the mean of 1 / rank) in FP32 and in bf16, and for HNSW."""
import argparse
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import tritonclient.grpc
from PIL import Image

import harness
from accuracy import fetch_stamps

sys.path.insert(0, str(harness.ROOT / "examples" / "image_search"))

import emoji  # noqa: E402
import search_models  # noqa: E402
from proa_server import BINARY, ProaServer  # noqa: E402

DEPTH, BATCH = 10, 8
# bf16 must lose no more than this share of FP32's MAP.
ALLOWED_LOSS = 0.01


def gather_pictures(folder, most):
    """Copies the originals below one folder, at most `most` of each collection (0 = all)."""
    emoji.write_emoji(folder / "emoji", most or None)
    stamps = fetch_stamps()
    for path in sorted(stamps.rglob("*.png"))[:most or None]:
        target = folder / "stamps" / path.relative_to(stamps)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def encoded(image, format_, **options):
    buffer = io.BytesIO()
    image.save(buffer, format_, **options)
    return buffer.getvalue()


def crop(image):
    """The middle 80 % of both sides."""
    width, height = image.size
    return image.crop((width // 10, height // 10, width - width // 10, height - height // 10))


VARIANTS = {
    "crop": lambda image: encoded(crop(image), "PNG"),
    "mirrored": lambda image: encoded(image.transpose(Image.Transpose.FLIP_LEFT_RIGHT), "PNG"),
    "JPEG 50": lambda image: encoded(image, "JPEG", quality=50),
}


def write_repository(folder, pictures, precision, kind):
    """Models and index; both with the network in that precision."""
    search_models.write_models(folder, DEPTH)
    with (folder / "network" / "config.pbtxt").open("a") as config:
        config.write(f'parameters {{ key: "inference_precision" value {{ string_value: "{precision}" }} }}\n')
    subprocess.run([BINARY, "index", "build", "--repository", folder, "--pipeline", "embed", "--pictures",
                    pictures, "--into", folder / "photos", "--kind", kind, "-k", str(DEPTH)], check=True)


def mean_average_precision(client, queries):
    """queries: [(name of the original, bytes)]."""
    found = []
    for at in range(0, len(queries), BATCH):
        part = queries[at:at + BATCH]
        tensor = tritonclient.grpc.InferInput("picture", [len(part), 1], "BYTES")
        tensor.set_data_from_numpy(np.array([[data] for _, data in part], dtype=object))
        names = client.infer("search", [tensor]).as_numpy("names")
        for (wanted, _), row in zip(part, names):
            ranks = [rank for rank, name in enumerate(row, 1) if name.decode() == wanted]
            found.append(1 / ranks[0] if ranks else 0.0)
    return float(np.mean(found))


def measure(pictures, queries, precision, kind):
    """{variant: MAP@10}"""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_repository(folder, pictures, precision, kind)
        with ProaServer(folder) as server, \
                tritonclient.grpc.InferenceServerClient(server.grpc) as client:
            return {variant: mean_average_precision(client, pairs)
                    for variant, pairs in queries.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=0, help="of each collection; 0 = all")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        pictures = pathlib.Path(name)
        gather_pictures(pictures, options.pictures)
        originals = sorted(pictures.rglob("*.png"))
        queries = {variant: [(str(path.relative_to(pictures)), make(Image.open(path).convert("RGB")))
                             for path in originals] for variant, make in VARIANTS.items()}
        exact = measure(pictures, queries, "f32", "flat")
        half = measure(pictures, queries, "bf16", "flat")
        graph = measure(pictures, queries, "f32", "hnsw")
    rows = []
    for variant in VARIANTS:
        rows.append(harness.Row(f"{variant}: MAP@{DEPTH} in FP32", exact[variant], None,
                                detail={"pictures": len(originals)}))
        rows.append(harness.Row(f"{variant}: bf16 / FP32", half[variant] / exact[variant],
                                1 - ALLOWED_LOSS, "x", at_least=True))
        rows.append(harness.Row(f"{variant}: HNSW / flat", graph[variant] / exact[variant],
                                1 - ALLOWED_LOSS, "x", at_least=True))
    for row in rows:
        print(row)
    return 0 if harness.finish("search_quality", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
