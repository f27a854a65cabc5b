"""Drives a KServe v2 server with h2load (Debian's nghttp2-client) in closed loop."""
import dataclasses
import http.client
import json
import pathlib
import re
import statistics as numbers
import struct
import subprocess
import time

import numpy as np
import tritonclient.http
from tritonclient.grpc import service_pb2

import harness


@dataclasses.dataclass
class Call:
    """One FP32 request, the same every time, ready to send over one protocol."""

    model: str
    protocol: str  # "http" (binary tensors) or "grpc"
    body: pathlib.Path
    json_length: int = 0

    def h2load(self, server, requests, connections, streams=1):
        """The command that sends it `requests` times over `connections` x `streams`."""
        command = ["h2load", "-n", str(requests), "-c", str(connections), "-m", str(streams),
                   "-t", "1", "-d", str(self.body)]
        if self.protocol == "grpc":
            return command + ["-H", "content-type: application/grpc", "-H", "te: trailers",
                              f"http://{server.grpc}/inference.GRPCInferenceService/ModelInfer"]
        return command + ["--h1", "-H", "content-type: application/octet-stream",
                          "-H", f"Inference-Header-Content-Length: {self.json_length}",
                          f"http://{server.http}/v2/models/{self.model}/infer"]


def make_call(folder, model, protocol, shape, input_name="INPUT0", output_name="OUTPUT0"):
    """Writes the request's body into folder."""
    values = np.random.default_rng(0).random(shape, dtype=np.float32)
    path = folder / f"{model}.{'x'.join(map(str, shape))}.{protocol}"
    if protocol == "grpc":
        request = service_pb2.ModelInferRequest(model_name=model)
        request.inputs.add(name=input_name, datatype="FP32", shape=shape)
        request.raw_input_contents.append(values.tobytes())
        message = request.SerializeToString()
        path.write_bytes(b"\0" + struct.pack(">I", len(message)) + message)
        return Call(model, protocol, path)
    tensor = tritonclient.http.InferInput(input_name, shape, "FP32")
    tensor.set_data_from_numpy(values)
    output = tritonclient.http.InferRequestedOutput(output_name, binary_data=True)
    body, json_length = tritonclient.http.InferenceServerClient.generate_request_body(
        [tensor], outputs=[output])
    path.write_bytes(body)
    return Call(model, protocol, path, json_length)


@dataclasses.dataclass
class Sample:
    cpu_us: float  # of the server, a request
    rate: float  # requests a second


def statistics(server, model):
    """The model's entry of the statistics extension."""
    connection = http.client.HTTPConnection(server.http, timeout=10)
    connection.request("GET", f"/v2/models/{model}/stats")
    answer = json.load(connection.getresponse())
    connection.close()
    return answer["model_stats"][0]


def success_count(server, model):
    return int(statistics(server, model)["inference_stats"]["success"]["count"])


def drive(server, call, requests, connections, streams=1, cpu_seconds=harness.cpu_seconds):
    """Sends the requests; fails unless the server counts every one as a success. cpu_seconds: whose
    processor time of that process id."""
    served, cpu = success_count(server, call.model), cpu_seconds(server.pid)
    start = time.monotonic()
    run = subprocess.run(call.h2load(server, requests, connections, streams), capture_output=True,
                         text=True, timeout=300, check=True)
    wall = time.monotonic() - start
    cpu = cpu_seconds(server.pid) - cpu
    served = success_count(server, call.model) - served
    answered = re.search(r"status codes: (\d+) 2xx", run.stdout)
    if served != requests or not answered or int(answered.group(1)) != requests:
        raise RuntimeError(f"{call.model} over {call.protocol}: sent {requests}, the server counts "
                           f"{served} successes\n{run.stdout}")
    return Sample(cpu / requests * 1e6, requests / wall)


def compare_cost(case, servers, folder, pairs, **options):
    """The row of the processor time a request of the first server over the second's, interleaved; printed
    with both times and rates. case: name, model, protocol, shape, requests, connections, bar; options:
    drive()'s."""
    call = make_call(folder, case.model, case.protocol, case.shape)

    def sample(server):
        return drive(server, call, case.requests, case.connections, **options)

    for server in servers:
        sample(server)
    ours, peer = servers
    found = harness.interleaved(lambda: sample(ours), lambda: sample(peer), pairs)
    costs = [(a.cpu_us, b.cpu_us) for a, b in found]
    us = [numbers.median(pair[side] for pair in costs) for side in (0, 1)]
    rates = [numbers.median(pair[side].rate for pair in found) for side in (0, 1)]
    row = harness.ratio_row(case.name, costs, case.bar, cpu_us=us, rates=rates)
    print(f"{row}   {us[0]:.1f} / {us[1]:.1f} us, {rates[0]:.0f} / {rates[1]:.0f} a second", flush=True)
    return row
