#!/usr/bin/env python3
"""serve_load.py FOLDER [GPUS [FLAG...]]: on a GPU machine, loads `proa serve` (packed by tools/gpu/pack_engine.py) with ResNet-50
FP16 over batch-1 requests of 150 kB UINT8 pixels from h2load on the same machine, closed loop, over
gRPC and HTTP/1.1. Prints rates, latencies, what the server's threads used and how busy the GPU was.
GPUS: those that have two instances each, with commas (default 0); more of them get more connections. Flags for
`proa serve` may follow."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np

from proa_client import ask, grpc_request, http_request
from serve_resnet50 import MODEL, serve, write_model

CONFIG = """
platform: "onnxruntime_onnx"
max_batch_size: 64
dynamic_batching { max_queue_delay_microseconds: 1000 }
instance_group [ { kind: KIND_GPU count: 2 gpus: [ GPUS ] } ]
parameters { key: "inference_precision" value { string_value: "f16" } }
parameters { key: "gpu_buckets" value { string_value: "1,8,32,48,64" } }
"""
SECONDS = 6


class GpuWatch(threading.Thread):
    """The share of time in which kernels ran on the idlest GPU, as nvidia-smi sees it, each half second."""

    def __init__(self):
        super().__init__(daemon=True)
        self.values, self.ended = [], threading.Event()

    def run(self):
        while not self.ended.wait(0.5):
            out = subprocess.run(["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,"
                                  "nounits"], capture_output=True, text=True).stdout
            self.values.append(min(int(value) for value in out.split()))


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def thread_seconds(pid):
    """CPU seconds by thread name, numbers cut off."""
    sums = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            text = (task / "stat").read_text()
        except OSError:
            continue
        name = re.sub(r"[-\d]+$", "", text[text.index("(") + 1:text.rindex(")")])
        fields = text.rsplit(")", 1)[1].split()
        seconds = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        sums[name] = sums.get(name, 0) + seconds
    return sums


def load(folder, server, picture, what, connections, streams, threads):
    with tempfile.TemporaryDirectory() as scratch:
        body, log = pathlib.Path(scratch, "body"), pathlib.Path(scratch, "log")
        if what == "grpc":
            message = grpc_request(MODEL, {"input": picture})
            body.write_bytes(b"\0" + len(message).to_bytes(4, "big") + message)
            target = ["-H", "content-type: application/grpc", "-H", "te: trailers",
                      f"http://{server.grpc}/inference.GRPCInferenceService/ModelInfer"]
        else:
            content, json_length = http_request({"input": picture})
            body.write_bytes(content)
            target = ["--h1", "-H", "content-type: application/octet-stream", "-H",
                      f"Inference-Header-Content-Length: {json_length}",
                      f"http://{server.http}/v2/models/{MODEL}/infer"]
        measure(server, f"{what}: {connections} connections x {streams}", log,
                [folder / "h2load", "-D", str(SECONDS), "-c", str(connections), "-m", str(streams),
                 "-t", str(threads), "-d", body, f"--log-file={log}", *target])


def statistics(server):
    answer = ask(server.ports["HTTP"], "GET", f"/v2/models/{MODEL}/stats")[1]
    return json.loads(answer)["model_stats"][0]


def successes(server):
    """What the model has answered well, by its own count; a refusal over gRPC has status 200 too."""
    return int(statistics(server)["inference_stats"]["success"]["count"])


def measure(server, title, log, command):
    watch, pid, succeeded = GpuWatch(), server.pid, successes(server)
    before, threads_before, begin = cpu_seconds(pid), thread_seconds(pid), time.monotonic()
    watch.start()
    done = subprocess.run(command, capture_output=True, text=True)
    took = time.monotonic() - begin
    watch.ended.set()
    if done.returncode != 0 or not log.exists():
        sys.exit(f"h2load failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    rows = np.loadtxt(log, dtype=np.int64, usecols=(1, 2), ndmin=2)
    good = rows[rows[:, 0] == 200][:, 1] / 1000
    answered = successes(server) - succeeded
    if not len(good) or answered < len(good):
        sys.exit(f"LOAD {title}: {len(good)} answers, {answered} of them good:\n{server.log()[-2000:]}")
    used = {name: seconds - threads_before.get(name, 0)
            for name, seconds in thread_seconds(pid).items()}
    top = sorted(used.items(), key=lambda item: -item[1])[:5]
    busy = sorted(watch.values)
    print(f"LOAD {title}: {len(good) / SECONDS:.0f} pictures/s, "
          f"{len(rows) - len(good)} not answered with 200; latency ms median "
          f"{np.median(good):.2f}, p99 {np.percentile(good, 99):.2f}; server {1 / took * (cpu_seconds(pid) - before):.1f} "
          f"cores ({', '.join(f'{name} {seconds / took:.1f}' for name, seconds in top)}); GPU busy "
          f"{busy[len(busy) // 2] if busy else 0} %", flush=True)


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    gpus = sys.argv[2] if len(sys.argv) > 2 else "0"
    model = folder / "resnet50_pixels.onnx"
    if not model.exists():
        subprocess.run([sys.executable, folder / "resnet.py", model, "--input", "pixels"], check=True)
    picture = np.random.default_rng(3).integers(0, 256, (1, 224, 224, 3), np.uint8)
    count = len(gpus.split(","))
    with tempfile.TemporaryDirectory(dir=folder) as repository:
        write_model(repository, model, CONFIG.replace("GPUS", gpus))
        with serve(folder, repository, *sys.argv[3:]) as server:
            print(f"ready after {time.monotonic() - server.started_at:.1f} s", flush=True)
            for connections, streams in ((16, 8), (32, 8), (32, 12), (64, 8)):
                load(folder, server, picture, "grpc", connections * count, streams, 4 * count)
            load(folder, server, picture, "http", 256 * count, 1, 4 * count)
            stats = statistics(server)
    sizes = {entry["batch_size"]: entry["compute_infer"]["count"] for entry in stats["batch_stats"]}
    print("batches by size:", dict(sorted(sizes.items(), key=lambda item: -item[1])[:8]))


if __name__ == "__main__":
    main()
