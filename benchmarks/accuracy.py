#!/usr/bin/env python3
"""accuracy.py: top-1 of EfficientNet-Lite0 on 58 labelled pictures, those of Debian's
tuxpaint-stamps-default, through the server and through onnxruntime: they must agree on all but at
most one."""
import subprocess
import sys

import numpy as np
import onnxruntime
import tritonclient.grpc
from PIL import Image

import harness

import efficientnet_lite0  # noqa: E402
import repository  # noqa: E402
from proa_server import ProaServer  # noqa: E402

PACKAGE = "tuxpaint-stamps-default"
TABLE = harness.ROOT / "tools" / "models" / "stamps_imagenet.tsv"
FOLDER = harness.ROOT / "build" / "bench" / "stamps"
MARGIN = 1.2


def fetch_stamps():
    """The folder of the pictures; fetches and unpacks the package (160 MB), installs nothing."""
    stamps = FOLDER / "usr" / "share" / "tuxpaint" / "stamps"
    if not stamps.is_dir():
        FOLDER.mkdir(parents=True, exist_ok=True)
        print(f"fetching Debian's {PACKAGE}", flush=True)
        subprocess.run(["apt-get", "-o", "APT::Sandbox::User=root", "download", PACKAGE],
                       cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
        (package,) = FOLDER.glob("*.deb")
        subprocess.run(["dpkg-deb", "-x", package, FOLDER], check=True)
        package.unlink()
    return stamps


def load_table():
    """[(picture's path below the stamps, its accepted class numbers)]."""
    rows = [line.split("\t") for line in TABLE.read_text().splitlines()
            if line and not line.startswith("#")]
    return [(path, {int(number) for number in numbers.split(",")}) for path, numbers in rows]


def load_picture(path):
    """The stamp in the middle of a white square, as the network wants it."""
    stamp = Image.open(path).convert("RGBA")
    stamp = stamp.crop(stamp.getchannel("A").getbbox())
    side = round(max(stamp.size) * MARGIN)
    square = Image.new("RGBA", (side, side), "white")
    square.alpha_composite(stamp, ((side - stamp.width) // 2, (side - stamp.height) // 2))
    return efficientnet_lite0.normalise(square)


def main():
    models, _ = repository.prepare(harness.ROOT / "build" / "demo")
    stamps, table = fetch_stamps(), load_table()
    pictures = [load_picture(stamps / path)[np.newaxis] for path, _ in table]
    reference = onnxruntime.InferenceSession(models / repository.MODEL / "1" / "model.onnx")
    wanted = [int(reference.run(None, {"input": picture})[0].argmax()) for picture in pictures]
    found = []
    with ProaServer(models) as server, \
            tritonclient.grpc.InferenceServerClient(server.grpc) as client:
        for picture in pictures:
            tensor = tritonclient.grpc.InferInput("input", picture.shape, "FP32")
            tensor.set_data_from_numpy(picture)
            answer = client.infer(repository.MODEL, [tensor]).as_numpy("probabilities")
            found.append(int(answer.argmax()))

    def right(classes):
        return 100 * sum(c in accepted for c, (_, accepted) in zip(classes, table)) / len(table)

    differing = [path for (path, _), a, b in zip(table, found, wanted) if a != b]
    rows = [harness.Row(f"of {len(table)} pictures, top-1 unlike onnxruntime's", len(differing), 1,
                        detail={"pictures": differing}),
            harness.Row("top-1 accuracy through the server", right(found), None, " %"),
            harness.Row("top-1 accuracy of onnxruntime", right(wanted), None, " %")]
    for row in rows:
        print(row)
    return 0 if harness.finish("accuracy", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
