#!/usr/bin/env python3
"""ocr.py [PICTURE...]: the lines of text on each picture, read by three nets on one server.

Writes the models, starts `proa serve` on them, asks, and ends it. Without pictures: a photographed page."""
import argparse
import pathlib
import sys

import numpy as np
import ocr_models
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

ROOT = ocr_models.ROOT
sys.path.insert(0, str(ROOT / "tools"))

import repository  # noqa: E402
from proa_server import ProaServer  # noqa: E402


def read(client, data):
    """[(text, score, corners)] of the lines of a picture file."""
    picture = triton.InferInput("picture", [1], "BYTES")
    picture.set_data_from_numpy(np.array([data], dtype=object))
    answer = client.infer("ocr", [picture])
    texts, scores, boxes = (answer.as_numpy(name) for name in ("texts", "scores", "boxes"))
    return [(text.decode(), float(score), box) for text, score, box in zip(texts, scores, boxes)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    models = ROOT / "build" / "examples" / "ocr" / "models"
    ocr_models.write_models(models)
    pictures = options.pictures or [repository.packaged("scikit-image", "skimage/data/page.png")]
    failed = False
    with ProaServer(models) as server, triton.InferenceServerClient(server.http) as client:
        for path in pictures:
            try:
                lines = read(client, path.read_bytes())
            except (OSError, InferenceServerException) as error:
                failed = True
                print(f"{path.name}: {error}", file=sys.stderr)
                continue
            print(f"{path.name}: {len(lines)} lines")
            for text, score, box in lines:
                print(f"{score:6.2f}  at {box[0, 0]:4.0f},{box[0, 1]:4.0f}  {text}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
