#!/usr/bin/env python3
"""classify.py PICTURE [--url HOST:PORT] [--model NAME]: asks a running server what is on a picture.

Needs tritonclient[http], numpy and pillow. The model is EfficientNet-Lite0, as `make demo` writes it.
"""
import argparse

import numpy as np
import tritonclient.http as triton
from PIL import Image


def load_picture(path):
    """f32[1, 3, 224, 224]: short side to 256, centre 224 x 224, (x - 127) / 128."""
    picture = Image.open(path).convert("RGB")
    scale = 256 / min(picture.size)
    picture = picture.resize([round(side * scale) for side in picture.size], Image.Resampling.BICUBIC)
    left, top = ((side - 224) // 2 for side in picture.size)
    pixels = np.asarray(picture.crop((left, top, left + 224, top + 224)), np.float32)
    return np.ascontiguousarray(((pixels - 127) / 128).transpose(2, 0, 1)[np.newaxis])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("picture")
    parser.add_argument("--url", default="localhost:8000")
    parser.add_argument("--model", default="efficientnet_lite0")
    options = parser.parse_args()

    pixels = load_picture(options.picture)
    image = triton.InferInput("input", pixels.shape, "FP32")
    image.set_data_from_numpy(pixels)
    classes = triton.InferRequestedOutput("probabilities", class_count=5)
    with triton.InferenceServerClient(options.url) as client:
        result = client.infer(options.model, [image], outputs=[classes])
    for row in result.as_numpy("probabilities").ravel():
        score, _, label = row.decode().split(":", 2)
        print(f"{float(score):6.3f}  {label}")


if __name__ == "__main__":
    main()
