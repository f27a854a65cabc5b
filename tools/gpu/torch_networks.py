#!/usr/bin/env python3
"""torch_networks.py [compile] [NETWORK:BATCH...]: PyTorch's networks (random weights, channels last), the yardstick of
tools/gpu/check_engine.sh. Without `compile`: ResNet-50 in one CUDA graph, FP16, FP32 and TF32. With it: FP16 by
torch.compile in its fastest mode, for the pairs given (default all). Median, fastest and slowest of 31 timings, in
milliseconds, over random pictures."""
import sys
import time

import timm
import torch
import torchvision

NETWORKS = {"resnet50": torchvision.models.resnet50,
            "mobilenet_v2": torchvision.models.mobilenet_v2,
            "efficientnet_lite0": lambda: timm.create_model("efficientnet_lite0")}


def picture(batch, dtype):
    x = torch.rand(batch, 3, 224, 224, device="cuda", dtype=dtype) * 2 - 1
    return x.to(memory_format=torch.channels_last)


def time_calls(call, batch):
    calls = 4 if batch >= 64 else 16
    for _ in range(5):
        call()
    times = []
    for _ in range(31):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(calls):
            call()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / calls)
    times.sort()
    return times[15], times[0], times[-1]


def time_graph(model, x):
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(5):
                model(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
    return time_calls(graph.replay, len(x))


def time_compiled(model, x):
    with torch.no_grad():
        compiled = torch.compile(model, mode="reduce-overhead", fullgraph=True)
        return time_calls(lambda: compiled(x), len(x))


def show(what, batch, times, more=""):
    print(f"TORCH {what} batch {batch:4}: {times[0]:.4f} ms (fastest {times[1]:.4f}, slowest "
          f"{times[2]:.4f}), torch {torch.__version__}{more}", flush=True)


def time_graphs():
    for name, dtype, tf32, batches in (("FP16", torch.float16, False, (1, 8, 64)),
                                       ("FP32", torch.float32, False, (8, 64)),
                                       ("TF32", torch.float32, True, (8, 64))):
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
        model = torchvision.models.resnet50().eval().to("cuda", dtype,
                                                        memory_format=torch.channels_last)
        for batch in batches:
            show(f"resnet50 {name}, one graph,", batch, time_graph(model, picture(batch, dtype)))


def time_compiles(pairs):
    for pair in pairs or [f"{name}:{batch}" for name in NETWORKS for batch in (1, 8, 64)]:
        name, batch = pair.split(":")
        torch.compiler.reset()
        model = NETWORKS[name]().eval().to("cuda", torch.float16,
                                           memory_format=torch.channels_last)
        begin = time.monotonic()
        times = time_compiled(model, picture(int(batch), torch.float16))
        show(f"{name} FP16, compiled,", int(batch), times, f", {time.monotonic() - begin:.0f} s")


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    if "compile" in sys.argv[1:2]:
        time_compiles(sys.argv[2:])
    else:
        time_graphs()


if __name__ == "__main__":
    main()
