#!/usr/bin/env python3
"""The demo: serves EfficientNet-Lite0 with `proa serve`, sends photographs over HTTP and gRPC, shows
the labels, and fails when a label is wrong."""
import pathlib
import sys
import time

import numpy as np
import tritonclient.grpc
import tritonclient.http
from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "models")]

import efficientnet_lite0  # noqa: E402
import repository  # noqa: E402
from proa_server import ProaServer, ServerError  # noqa: E402

FOLDER = ROOT / "build" / "demo"
TOP = 5


def classify(api, client, pixels):
    """[(score, label)] of the best classes and the seconds one request took."""
    image = api.InferInput("input", [1, *pixels.shape], "FP32")
    image.set_data_from_numpy(pixels[np.newaxis])
    output = api.InferRequestedOutput("probabilities", class_count=TOP)
    client.infer(repository.MODEL, [image], outputs=[output])  # the first one warms the connection
    start = time.perf_counter()
    result = client.infer(repository.MODEL, [image], outputs=[output])
    seconds = time.perf_counter() - start
    rows = [row.decode().split(":", 2) for row in result.as_numpy("probabilities").ravel()]
    return [(float(score), label) for score, _, label in rows], seconds


def show(path, answers):
    """Prints one photograph's answers; whether they are right and the same over both protocols."""
    (best, http_s), (other, grpc_s) = answers
    print(f"\n{path.name}   HTTP {http_s * 1e3:.1f} ms, gRPC {grpc_s * 1e3:.1f} ms")
    for score, label in best:
        print(f"  {score:6.3f}  {label}")
    expected = repository.PHOTOGRAPHS[path.name][1]
    if best[0][1] not in expected:
        print(f"  WRONG: wanted {' or '.join(sorted(expected))} first")
        return False
    if [label for _, label in other] != [label for _, label in best]:
        print(f"  WRONG: gRPC says {other}")
        return False
    return True


def classify_all(server, photos):
    clients = [(api, api.InferenceServerClient(address))
               for api, address in ((tritonclient.http, server.http),
                                    (tritonclient.grpc, server.grpc))]
    right = True
    for name in repository.PHOTOGRAPHS:
        pixels = efficientnet_lite0.normalise(Image.open(photos / name))
        right &= show(photos / name, [classify(api, client, pixels) for api, client in clients])
    for _, client in clients:
        client.close()
    return right


def write_curl_request(photos):
    """Writes coffee.png as the body of one HTTP inference request; (its path, its JSON's length)."""
    pixels = efficientnet_lite0.normalise(Image.open(photos / "coffee.png"))[np.newaxis]
    image = tritonclient.http.InferInput("input", pixels.shape, "FP32")
    image.set_data_from_numpy(pixels)
    output = tritonclient.http.InferRequestedOutput("probabilities", binary_data=False,
                                                    class_count=TOP)
    body, json_length = tritonclient.http.InferenceServerClient.generate_request_body(
        [image], outputs=[output])
    path = FOLDER / "coffee.request"
    path.write_bytes(body)
    return path, json_length


BY_HAND = """\

The same by hand:
  {proa} serve --model-repository {models}
then, in another terminal,
  {proa} infer {model} {photos}/coffee.png --url localhost:8000
  curl localhost:8000/v2/models/{model}/infer --data-binary @{body} \\
    -H 'Inference-Header-Content-Length: {json_length}'
  .venv/bin/python examples/classify.py {photos}/coffee.png --url localhost:8000
Your own ONNX file: put it at models/NAME/1/model.onnx and serve that folder:
  {proa} serve --model-repository models
"""


def main():
    models, photos = repository.prepare(FOLDER)
    try:
        with ProaServer(models) as server:
            seconds = time.monotonic() - server.started_at
            print(f"proa serves {repository.MODEL} (ready after {seconds:.2f} s): HTTP "
                  f"{server.http}, gRPC {server.grpc}, metrics {server.metrics}")
            right = classify_all(server, photos)
    except ServerError as error:
        print(error, file=sys.stderr)
        return 1
    body, json_length = write_curl_request(photos)
    print(BY_HAND.format(proa="build/release/bin/proa", model=repository.MODEL,
                         models=models.relative_to(ROOT), photos=photos.relative_to(ROOT),
                         body=body.relative_to(ROOT), json_length=json_length))
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
