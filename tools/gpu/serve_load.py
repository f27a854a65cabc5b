#!/usr/bin/env python3
"""serve_load.py FOLDER [GPUS]: on a GPU machine, loads `proa serve` (packed by tools/gpu/pack_engine.py) with ResNet-50
FP16 over batch-1 requests of 150 kB UINT8 pixels from h2load on the same machine, closed loop, over
gRPC and HTTP/1.1. Prints rates, latencies, what the server's threads used and how busy the GPU was.
GPUS: those that have two instances each, with commas (default 0); more of them get more connections."""
import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

import numpy as np

from serve_resnet50 import Server, field, varint

CONFIG = """
platform: "onnxruntime_onnx"
max_batch_size: 64
dynamic_batching { max_queue_delay_microseconds: 1000 }
instance_group [ { kind: KIND_GPU count: 2 gpus: [ GPUS ] } ]
parameters { key: "inference_precision" value { string_value: "f16" } }
parameters { key: "gpu_buckets" value { string_value: "1,8,32,64" } }
"""
MODEL = "resnet50"
SECONDS = 6


def write_repository(repository, model, gpus):
    version = repository / MODEL / "1"
    version.mkdir(parents=True, exist_ok=True)
    (version / "model.onnx").write_bytes(model.read_bytes())
    (repository / MODEL / "config.pbtxt").write_text(CONFIG.replace("GPUS", gpus))


def grpc_body(picture):
    """One gRPC message: the five bytes of its frame, then a ModelInferRequest."""
    shape = b"".join(varint(extent) for extent in picture.shape)
    tensor = field(1, b"input") + field(2, b"UINT8") + field(3, shape)
    message = field(1, MODEL.encode()) + field(5, tensor) + field(7, picture.tobytes())
    return b"\0" + len(message).to_bytes(4, "big") + message


def http_body(picture):
    header = json.dumps({"inputs": [{"name": "input", "shape": picture.shape, "datatype": "UINT8",
                                     "parameters": {"binary_data_size": picture.nbytes}}],
                         "parameters": {"binary_data_output": True}}).encode()
    return header + picture.tobytes(), len(header)


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


def load(folder, server, what, connections, streams, threads):
    log = pathlib.Path("h2load.log")
    log.unlink(missing_ok=True)
    command = [folder / "h2load", "-D", str(SECONDS), "-c", str(connections), "-m", str(streams),
               "-t", str(threads), "-d", f"body.{what}", f"--log-file={log}"]
    if what == "grpc":
        command += ["-H", "content-type: application/grpc", "-H", "te: trailers",
                    f"http://127.0.0.1:{server.grpc}/inference.GRPCInferenceService/ModelInfer"]
    else:
        command += ["--h1", "-H", "content-type: application/octet-stream", "-H",
                    f"Inference-Header-Content-Length: {server.json_length}",
                    f"http://127.0.0.1:{server.http}/v2/models/{MODEL}/infer"]
    watch, pid = GpuWatch(), server.process.pid
    before, threads_before, begin = cpu_seconds(pid), thread_seconds(pid), time.monotonic()
    watch.start()
    done = subprocess.run(command, capture_output=True, text=True)
    took = time.monotonic() - begin
    watch.ended.set()
    if done.returncode != 0 or not log.exists():
        sys.exit(f"h2load failed: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    rows = np.loadtxt(log, dtype=np.int64, usecols=(1, 2), ndmin=2)
    good = rows[rows[:, 0] == 200][:, 1] / 1000
    used = {name: seconds - threads_before.get(name, 0)
            for name, seconds in thread_seconds(pid).items()}
    top = sorted(used.items(), key=lambda item: -item[1])[:5]
    busy = sorted(watch.values)
    print(f"LOAD {what}: {connections} connections x {streams}: {len(good) / SECONDS:.0f} pictures/s, "
          f"{len(rows) - len(good)} not answered with 200; latency ms median "
          f"{np.median(good):.2f}, p99 {np.percentile(good, 99):.2f}; server {1 / took * (cpu_seconds(pid) - before):.1f} "
          f"cores ({', '.join(f'{name} {seconds / took:.1f}' for name, seconds in top)}); GPU busy "
          f"{busy[len(busy) // 2] if busy else 0} %", flush=True)


def main():
    import http.client
    folder = pathlib.Path(sys.argv[1]).resolve()
    if not pathlib.Path("pixels.onnx").exists():
        subprocess.run([sys.executable, folder / "resnet.py", "pixels.onnx", "--input", "pixels"], check=True)
    repository = pathlib.Path("load_repository").resolve()
    gpus = sys.argv[2] if len(sys.argv) > 2 else "0"
    write_repository(repository, pathlib.Path("pixels.onnx"), gpus)
    picture = np.random.default_rng(3).integers(0, 256, (1, 224, 224, 3), np.uint8)
    pathlib.Path("body.grpc").write_bytes(grpc_body(picture))
    body, length = http_body(picture)
    pathlib.Path("body.http").write_bytes(body)
    server = Server(folder, repository, pathlib.Path("load.log"))
    server.json_length = length
    print(f"ready after {server.wait_ready():.1f} s", flush=True)
    connection = http.client.HTTPConnection("127.0.0.1", server.http)
    count = len(gpus.split(","))
    for connections, streams in ((16, 8), (32, 8), (32, 12), (64, 8)):
        load(folder, server, "grpc", connections * count, streams, 4 * count)
    load(folder, server, "http", 256 * count, 1, 4 * count)
    connection.request("GET", f"/v2/models/{MODEL}/stats")
    stats = json.loads(connection.getresponse().read())["model_stats"][0]
    sizes = {entry["batch_size"]: entry["compute_infer"]["count"] for entry in stats["batch_stats"]}
    print("batches by size:", dict(sorted(sizes.items(), key=lambda item: -item[1])[:8]))
    print("the server ended with", server.stop())


if __name__ == "__main__":
    main()
