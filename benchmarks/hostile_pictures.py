#!/usr/bin/env python3
"""hostile_pictures.py [--count N] [--proa BINARY]: sends pictures made to do harm (cut short, bytes
changed, bombs) to a server with backend image, each in a request of its own: every one must get one
answer, and the server must live on with its memory bounded. With --proa build/asan/bin/proa the
sanitizers judge as well."""
import argparse
import pathlib
import re
import sys
import tempfile

import harness
import load

from images import write_image_model  # noqa: E402
from picture_attacks import attack  # noqa: E402
from proa_server import BINARY, SANITIZER_MARKS, ProaServer  # noqa: E402

MOST_PIXELS = 4_000_000
# Four megapixels cost up to 36 MB in each of two instances; sanitizers keep what was freed.
MEMORY_MIB = {False: 250, True: 1200}


def most_memory_mib(server):
    status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s*(\d+) kB", status)[1]) / 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--proa", default=str(BINARY))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        models = pathlib.Path(name) / "models"
        write_image_model(models, resize="64", crop="48", max_pixels=str(MOST_PIXELS),
                          size_output="size", jpeg_scaled_decode="1/2",
                          extra="instance_group [ { count: 2 } ]\n")
        with ProaServer(models, command=(options.proa,)) as server:
            decoded, refused = attack(server, options.count)
            counts = load.statistics(server, "prepare")["inference_stats"]
            memory = most_memory_mib(server)
            log = server.log()
    sanitized = "asan" in options.proa
    counted = int(counts["success"]["count"]), int(counts["fail"]["count"])
    rows = [harness.Row("answered", decoded + refused, options.count, at_least=True),
            harness.Row("of them with an error", refused, None),
            harness.Row("counted otherwise by the server", abs(decoded - counted[0]) +
                        abs(refused - counted[1]), 0),
            harness.Row("reports of sanitizers", sum(log.count(mark) for mark in SANITIZER_MARKS), 0),
            harness.Row("most memory", memory, MEMORY_MIB[sanitized], " MiB")]
    for row in rows:
        print(row)
    return 0 if harness.finish("hostile_pictures", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
