#!/usr/bin/env python3
"""classify.py PICTURE [--url HOST:PORT] [--model NAME]: asks a running server what is on a picture.

Needs tritonclient[http], numpy and pillow. The model is EfficientNet-Lite0, as `make demo` writes it.
"""
import argparse
import sys

import numpy as np
import tritonclient.http as triton
from PIL import Image, ImageOps, UnidentifiedImageError
from tritonclient.utils import InferenceServerException


def to_rgb(picture):
    """Upright, 8 bits a channel."""
    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I"):  # grey with 16 bits, which convert() would cut off at 255
        picture = Image.fromarray((np.asarray(picture, np.uint32) >> 8).astype(np.uint8))
    return picture.convert("RGB")


def load_picture(path):
    """f32[1, 3, 224, 224]: short side to 256, centre 224 x 224, (x - 127) / 128."""
    with Image.open(path) as file:
        picture = to_rgb(file)
    scale = 256 / min(picture.size)
    picture = picture.resize([round(side * scale) for side in picture.size], Image.Resampling.BICUBIC)
    left, top = ((side - 224) // 2 for side in picture.size)
    pixels = np.asarray(picture.crop((left, top, left + 224, top + 224)), np.float32)
    return np.ascontiguousarray(((pixels - 127) / 128).transpose(2, 0, 1)[np.newaxis])


def classify(pixels, url, model):
    """The best classes, as the server writes them: b"SCORE:INDEX:LABEL"."""
    image = triton.InferInput("input", pixels.shape, "FP32")
    image.set_data_from_numpy(pixels)
    classes = triton.InferRequestedOutput("probabilities", class_count=5)
    with triton.InferenceServerClient(url) as client:
        return client.infer(model, [image], outputs=[classes]).as_numpy("probabilities").ravel()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture")
    parser.add_argument("--url", default="localhost:8000")
    parser.add_argument("--model", default="efficientnet_lite0")
    options = parser.parse_args()
    try:
        pixels = load_picture(options.picture)
    except UnidentifiedImageError:
        sys.exit(f"classify: {options.picture} is no picture that Pillow reads")
    except (OSError, SyntaxError) as error:  # missing, or broken behind its header
        sys.exit(f"classify: {options.picture}: {getattr(error, 'strerror', None) or error}")
    try:
        rows = classify(pixels, options.url, options.model)
    except OSError as error:
        sys.exit(f"classify: no server at {options.url} ({error}); "
                 "start one with: proa serve --model-repository DIR")
    except InferenceServerException as error:
        sys.exit(f"classify: the server refuses: {error.message()}")
    for row in rows:
        score, _, label = row.decode().split(":", 2)
        print(f"{float(score):6.3f}  {label}")


if __name__ == "__main__":
    main()
