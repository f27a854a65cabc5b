#!/usr/bin/env python3
"""overload.py [--seconds N] [--protocol http|grpc]: three times what a model can do, open loop, against a
bounded queue. Refusals must come at once, accepted requests must wait no longer than the queue is, and
memory must stay where it is."""
import argparse
import asyncio
import dataclasses
import pathlib
import statistics
import struct
import sys
import tempfile
import time

import grpc
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from tritonclient.grpc import service_pb2

import harness
from load import statistics as model_statistics
from proa_server import ProaServer

# The model must be slow: the generator shares the processors, and sends OVERLOAD times what it can do.
WIDTH, LAYERS, QUEUE, OVERLOAD = 2048, 8, 16, 3.0
CONFIG = f"""
max_batch_size: 1
# One processor for the model, one for the generator: on two, threads of the model wait for each other
# whenever the generator is in the way, which says nothing about the queue.
parameters {{ key: "inference_num_threads" value {{ string_value: "1" }} }}
dynamic_batching {{ default_queue_policy {{ max_queue_size: {QUEUE} }} }}
"""
METHOD = "/inference.GRPCInferenceService/ModelInfer"


def write_model(folder):
    """Matrix products by WIDTH x WIDTH weights: some ten milliseconds of real work a request."""
    draw = np.random.default_rng(0)
    nodes, weights = [], []
    for i in range(LAYERS):
        weights.append(numpy_helper.from_array(
            draw.standard_normal((WIDTH, WIDTH), dtype=np.float32) / WIDTH**0.5, f"w{i}"))
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"]))
    shape = ["batch", WIDTH]
    graph = helper.make_graph(
        nodes, "matrices", [helper.make_tensor_value_info("x0", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(f"x{LAYERS}", TensorProto.FLOAT, shape)], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    (folder / "matrices" / "1").mkdir(parents=True)
    onnx.save(model, folder / "matrices" / "1" / "model.onnx")
    (folder / "matrices" / "config.pbtxt").write_text(CONFIG)


def grpc_request():
    message = service_pb2.ModelInferRequest(model_name="matrices")
    message.inputs.add(name="x0", datatype="FP32", shape=[1, WIDTH])
    message.raw_input_contents.append(np.ones(WIDTH, np.float32).tobytes())
    return message.SerializeToString()


def http_request():
    head = (b'{"inputs":[{"name":"x0","datatype":"FP32","shape":[1,%d],"parameters":'
            b'{"binary_data_size":%d}}],"parameters":{"binary_data_output":true}}'
            % (WIDTH, 4 * WIDTH))
    body = head + struct.pack(f"<{WIDTH}f", *[1.0] * WIDTH)
    return (b"POST /v2/models/matrices/infer HTTP/1.1\r\nHost: proa\r\nContent-Length: %d\r\n"
            b"Inference-Header-Content-Length: %d\r\n\r\n" % (len(body), len(head))) + body


class HttpClient:
    """Connections that are used one request at a time; new ones open when all are busy."""

    LIMIT = 800  # a server that refuses at once needs few

    def __init__(self, server):
        self.address, self.request, self.free = server.http.split(":"), http_request(), []
        self.opened = 0

    async def connection(self):
        if self.free:
            return self.free.pop()
        self.opened += 1
        if self.opened > self.LIMIT:
            raise RuntimeError(f"{self.LIMIT} requests wait: refusals do not come at once")
        return await asyncio.open_connection(*self.address)

    async def ask(self):
        """True when the answer is 200, False when it is 503."""
        reader, writer = await self.connection()
        writer.write(self.request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().split(b"\r\ncontent-length: ", 1)[1].split(b"\r\n")[0])
        await reader.readexactly(length)
        self.free.append((reader, writer))
        status = int(head.split(b" ", 2)[1])
        if status not in (200, 503):
            raise RuntimeError(f"the server answered {status}, wanted 200 or 503")
        return status == 200

    async def close(self):
        for _, writer in self.free:
            writer.close()


class GrpcClient:
    def __init__(self, server):
        self.channel, self.request = grpc.aio.insecure_channel(server.grpc), grpc_request()
        self.call = self.channel.unary_unary(METHOD)

    async def ask(self):
        """True when the answer is OK, False when it is UNAVAILABLE."""
        try:
            await self.call(self.request)
            return True
        except grpc.aio.AioRpcError as error:
            if error.code() != grpc.StatusCode.UNAVAILABLE:
                raise
            return False

    async def close(self):
        await self.channel.close()


CLIENTS = {"http": HttpClient, "grpc": GrpcClient}


@dataclasses.dataclass
class Outcome:
    accepted: list = dataclasses.field(default_factory=list)  # latencies in seconds
    refused: list = dataclasses.field(default_factory=list)
    late: list = dataclasses.field(default_factory=list)  # of the generator behind its schedule


def percentile(values, share):
    return sorted(values)[min(len(values) - 1, int(share * len(values)))] if values else 0.0


async def closed_loop(client, users, seconds):
    """Latencies of `users` that ask one request after the other."""
    latencies, end = [], time.monotonic() + seconds

    async def user():
        while (start := time.monotonic()) < end:
            if await client.ask():
                latencies.append(time.monotonic() - start)
    await asyncio.gather(*(user() for _ in range(users)))
    return latencies


async def open_loop(client, rate, seconds):
    """Sends on a fixed schedule, whatever the server does; latencies count from the schedule."""
    outcome, begin = Outcome(), time.monotonic()

    async def one(planned):
        outcome.late.append(time.monotonic() - planned)
        accepted = await client.ask()
        (outcome.accepted if accepted else outcome.refused).append(time.monotonic() - planned)

    async with asyncio.TaskGroup() as group:  # ends with the first failure
        for i in range(int(rate * seconds)):
            planned = begin + i / rate
            if (wait := planned - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            group.create_task(one(planned))
    return outcome


def resident_mib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")


async def watch_memory(pid, samples):
    while True:
        samples.append(resident_mib(pid))
        await asyncio.sleep(0.5)


async def measure(server, protocol, seconds):
    client = CLIENTS[protocol](server)
    await closed_loop(client, 1, 2)  # warm
    alone = await closed_loop(client, 1, 5)
    capacity = len(await closed_loop(client, 4, 5)) / 5
    memory = []
    watcher = asyncio.create_task(watch_memory(server.pid, memory))
    outcome = await open_loop(client, OVERLOAD * capacity, seconds)
    watcher.cancel()
    await client.close()
    return rows(protocol, alone, capacity, outcome, memory, seconds)


def rows(protocol, alone, capacity, outcome, memory, seconds):
    served = len(outcome.accepted) / seconds
    unloaded, bound = percentile(alone, 0.99), QUEUE / served
    accepted = percentile(outcome.accepted, 0.99)
    settled = memory[len(memory) // 6:]  # after the first ten seconds of sixty
    growth = statistics.median(settled[-10:]) - statistics.median(settled[:10])
    detail = {"capacity": capacity, "served": served, "unloaded_p99_ms": unloaded * 1e3,
              "queue_bound_ms": bound * 1e3, "accepted": len(outcome.accepted), "refused": len(outcome.refused),
              "refused_p50_ms": percentile(outcome.refused, 0.5) * 1e3,
              "generator_late_p99_ms": percentile(outcome.late, 0.99) * 1e3}
    offered = len(outcome.accepted) + len(outcome.refused)
    return [
        harness.Row(f"{protocol} accepted p99 / (alone + queue)", accepted / (unloaded + bound), 1.2,
                    "x", detail=detail),
        harness.Row(f"{protocol} refused p99", percentile(outcome.refused, 0.99) * 1e3,
                    unloaded * 1e3 + 10, "ms"),
        harness.Row(f"{protocol} served / capacity", served / capacity, 0.9, "x", at_least=True),
        harness.Row(f"{protocol} refused / offered", len(outcome.refused) / offered, 0.5, "x",
                    at_least=True),
        harness.Row(f"{protocol} memory growth", growth, 2, "MiB")]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--protocol", choices=CLIENTS, action="append")
    options = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write_model(folder)
        for protocol in options.protocol or CLIENTS:
            with ProaServer(folder) as server:
                for row in asyncio.run(measure(server, protocol, options.seconds)):
                    found.append(row)
                    print(row, flush=True)
                print("   ", {key: round(value, 2) for key, value in found[-5].detail.items()})
                counted = model_statistics(server, "matrices")["inference_stats"]["success"]["count"]
                print(f"    the server counts {counted} successes", flush=True)
    return 0 if harness.finish("overload", found) else 1


if __name__ == "__main__":
    sys.exit(main())
