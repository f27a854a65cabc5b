#!/usr/bin/env python3
"""Makes docs/bench-example.md and its pictures: `proa bench` against `proa serve` with
EfficientNet-Lite0 and photographs, the reports photographed in a headless Chromium. Wants a quiet
machine."""
import pathlib
import subprocess
import sys
import tempfile

from PIL import Image

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "models"))

import repository  # noqa: E402
from proa_server import BINARY, ProaServer  # noqa: E402

PAGE = ROOT / "docs" / "bench-example.md"
PICTURES = ROOT / "docs" / "bench-example"
TEXT = """# A load test, read
EfficientNet-Lite0, served by `proa serve` over HTTP on the machine that also makes the load; every request
is a photograph, decoded and prepared beforehand (602 kB). Made by `tools/bench_example.py`. Where the machine
had other work meanwhile, the report says so: unstable, INVALID.

## How much, and what does it cost? Closed loop, 1 to 6 in flight
    {closed_command}
{closed}
The page that `--html` writes (it follows the system's light or dark mode):

![Report of the closed loop, light](bench-example/closed-light.png)

![The same, dark](bench-example/closed-dark.png)

## What does it hold within 100 ms? `--find-max`
    {open_command}
{open}
![Report of the search](bench-example/find-max-light.png)
"""


def photograph(page, name, dark, height):
    """A screenshot of the page in docs/bench-example/, with few colours to keep it small."""
    with tempfile.TemporaryDirectory() as profile:
        shot = pathlib.Path(profile, "shot.png")
        subprocess.run(
            ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             f"--user-data-dir={profile}", f"--blink-settings=preferredColorScheme={0 if dark else 1}",
             f"--window-size=1180,{height}", "--virtual-time-budget=5000", f"--screenshot={shot}",
             f"file://{page}"], check=True, capture_output=True, timeout=120)
        PICTURES.mkdir(exist_ok=True)
        Image.open(shot).convert("RGB").quantize(160).save(PICTURES / name, optimize=True)


def measure(server, folder, *flags):
    """(command as a user writes it, text, page) of one run in `folder`, where the photos are."""
    words = ["proa", "bench", "-m", repository.MODEL, "-u", server.http, "--input-data", "photos",
             *flags, "--html", "report.html"]
    # Named and placed as a user would, so that the report shows no path of this machine.
    run = subprocess.run(words, executable=BINARY, cwd=folder, capture_output=True, text=True,
                         timeout=900)
    page = folder / "report.html"
    if not page.exists():
        raise RuntimeError(run.stdout + run.stderr)
    lines = [line for line in run.stdout.splitlines() if not line.startswith("HTML: ")]
    return " ".join(words), "".join(f"    {line}".rstrip() + "\n" for line in lines), page


def main():
    models, photos = repository.prepare(ROOT / "build" / "demo")
    with tempfile.TemporaryDirectory() as name, ProaServer(models) as server:
        folder = pathlib.Path(name)
        (folder / "photos").symlink_to(photos)
        closed_command, closed, page = measure(server, folder, "--concurrency-range", "1:6",
                                               "-p", "2000", "-r", "6")
        photograph(page, "closed-light.png", False, 1900)
        photograph(page, "closed-dark.png", True, 1900)
        open_command, found, page = measure(server, folder, "--find-max", "--latency-ms",
                                            "100", "--request-distribution", "poisson")
        photograph(page, "find-max-light.png", False, 1700)
    PAGE.write_text(TEXT.format(closed_command=closed_command, closed=closed,
                                open_command=open_command, open=found))
    print(f"{PAGE.relative_to(ROOT)} and {PICTURES.relative_to(ROOT)}/")


if __name__ == "__main__":
    main()
