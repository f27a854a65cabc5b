#!/usr/bin/env python3
"""classification.py [PICTURE...]: what is on each picture; the server decodes and prepares it.

Writes the models, starts `proa serve` on them, asks, and ends it. Without pictures: five photographs."""
import argparse
import pathlib
import sys

import numpy as np
import tritonclient.http as triton
from tritonclient.utils import InferenceServerException

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "models")]

import repository  # noqa: E402
from proa_server import ProaServer  # noqa: E402

TOP = 3
CLASSIFY = """\
platform: "ensemble"
max_batch_size: 8
input [ { name: "picture" data_type: TYPE_STRING dims: [ 1 ] } ]
output [ { name: "probabilities" data_type: TYPE_FP32 dims: [ 1000 ] label_filename: "labels.txt" } ]
ensemble_scheduling {
  step [
    {
      model_name: "prepare" model_version: -1
      input_map { key: "file" value: "picture" }
      output_map { key: "tensor" value: "tensor" }
    },
    {
      model_name: "efficientnet_lite0" model_version: -1
      input_map { key: "input" value: "tensor" }
      output_map { key: "probabilities" value: "probabilities" }
    }
  ]
}
"""


def write_models(folder):
    """The repository: (its folder, the folder of the five photographs)."""
    models, photographs = repository.prepare(folder)
    repository.write_model(models / "prepare", repository.PREPARE)
    repository.write_model(models / "classify", CLASSIFY)
    (models / "classify" / "labels.txt").write_text("\n".join(repository.imagenet_labels()) + "\n")
    return models, photographs


def classify(client, data):
    """[(probability, label)] of the best classes of a picture file."""
    picture = triton.InferInput("picture", [1, 1], "BYTES")
    picture.set_data_from_numpy(np.array([[data]], dtype=object))
    classes = triton.InferRequestedOutput("probabilities", class_count=TOP)
    answer = client.infer("classify", [picture], outputs=[classes]).as_numpy("probabilities")
    rows = [row.decode().split(":", 2) for row in answer.ravel()]
    return [(float(probability), label) for probability, _, label in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pictures", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    models, photographs = write_models(ROOT / "build" / "examples" / "classification")
    failed = False
    with ProaServer(models) as server, triton.InferenceServerClient(server.http) as client:
        for path in options.pictures or sorted(photographs.iterdir()):
            try:
                best = classify(client, path.read_bytes())
            except (OSError, InferenceServerException) as error:
                failed = True
                print(f"{path.name:<16}{error}", file=sys.stderr)
                continue
            print(f"{path.name:<16}" + "   ".join(f"{p:.3f} {label}" for p, label in best))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
