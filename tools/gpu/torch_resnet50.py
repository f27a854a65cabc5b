#!/usr/bin/env python3
"""PyTorch's ResNet-50 (random weights) in one CUDA graph, channels last: the yardstick of
tools/gpu/check_engine.sh. Median, fastest and slowest of 31 timings, in milliseconds."""
import torch
import torchvision


def time_graph(model, x, replays):
    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            for _ in range(5):
                model(x)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            model(x)
    for _ in range(5):
        graph.replay()
    times = []
    for _ in range(31):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        for _ in range(replays):
            graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) / replays)
    times.sort()
    return times[15], times[0], times[-1]


def main():
    torch.manual_seed(0)
    torch.backends.cudnn.benchmark = True
    for name, dtype, tf32, batches in (("FP16", torch.float16, False, (1, 8, 64)),
                                       ("FP32", torch.float32, False, (8, 64)),
                                       ("TF32", torch.float32, True, (8, 64))):
        torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = tf32
        model = torchvision.models.resnet50().eval().to("cuda", dtype,
                                                        memory_format=torch.channels_last)
        for batch in batches:
            x = torch.rand(batch, 3, 224, 224, device="cuda", dtype=dtype).to(
                memory_format=torch.channels_last) * 2 - 1
            median, fastest, slowest = time_graph(model, x, 4 if batch >= 64 else 16)
            print(f"TORCH {name} batch {batch:4}: {median:.4f} ms a graph (fastest {fastest:.4f}, "
                  f"slowest {slowest:.4f}), torch {torch.__version__}", flush=True)


if __name__ == "__main__":
    main()
