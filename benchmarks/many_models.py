#!/usr/bin/env python3
"""many_models.py [--models N]: starts with many models, one of them broken and one that takes 5 s, and
looks when each can be used."""
import argparse
import contextlib
import json
import pathlib
import re
import sys
import tempfile
import time

import tritonclient.http

import harness

from proa_server import ProaServer  # noqa: E402
from repositories import write_add, write_identity  # noqa: E402

LOAD_SECONDS = re.compile(r'nv_model_load_duration_secs\{.*model="([^"]+)".*\} (\S+)')
# 50 requests that take 0.1 s each, before the model is ready.
SLOW = ('model_warmup { name: "slow" batch_size: 1 count: 50\n'
        '  inputs { key: "INPUT0" value { data_type: TYPE_FP32 dims: 16 zero_data: true } } }\n')


def prepare(repository, count):
    """The names of the models that are neither broken nor slow."""
    names = [f"model{i:03}" for i in range(count - 2)]
    for i, name in enumerate(names):
        if i % 2 == 0:
            write_add(repository, name, i)
        else:
            write_identity(repository, name)
    broken = write_identity(repository, "broken")
    (broken / "config.pbtxt").write_text('backend: "identity"\nmax_batch_sise: 8\n')
    write_identity(repository, "slow", extra=SLOW, execute_delay_ms=100, blocking=True)
    return names


def watch(server, names):
    """Seconds from the start of the process until it was live and each model was first seen ready,
    and the index as it was before the slow model was ready."""
    server.wait_listening()
    while server.get("/v2/health/live")[0] != 200:
        pass
    live = time.monotonic() - server.started_at
    seen, early = {}, None
    with contextlib.closing(tritonclient.http.InferenceServerClient(server.http)) as client:
        while len(seen) < len(names) + 1:
            index = client.get_model_repository_index()
            now = time.monotonic() - server.started_at
            for line in index:
                if line["state"] == "READY":
                    seen.setdefault(line["name"], now)
            if set(names) <= seen.keys() and early is None:
                early = index
            if now > 120:
                sys.exit(f"after {now:.0f} s not ready: {sorted(set(names) - seen.keys())}")
            time.sleep(0.005)
    return live, seen, {line["name"]: line for line in early}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        names = prepare(pathlib.Path(name), options.models)
        server = ProaServer(name, "--log-info=true")
        try:
            live, seen, early = watch(server, names)
            server.wait_ready()
            own = {model: float(seconds) for model, seconds in
                   LOAD_SECONDS.findall(server.get("/metrics", "metrics")[1].decode())}
            server.stop()
        finally:
            server.kill()
    beyond = {model: seen[model] - own[model] for model in names}
    reasons = ("max_batch_size" in early["broken"].get("reason", "")
               and early["broken"]["state"] == "UNAVAILABLE" and early["slow"]["state"] == "LOADING")
    rows = [harness.Row("start to live", live, 0.2, " s"),
            harness.Row("models usable", len(beyond), options.models - 2, at_least=True),
            harness.Row("the last one, beyond its own load time", max(beyond.values()), 2.0, " s",
                        detail={"seconds": beyond}),
            harness.Row("the slow model", seen["slow"], None, " s",
                        detail={"own": own["slow"]}),
            harness.Row("reasons in the index", int(reasons), 1, at_least=True,
                        detail={"broken": json.dumps(early["broken"])})]
    for row in rows:
        print(row)
    return 0 if harness.finish("many_models", rows) else 1


if __name__ == "__main__":
    sys.exit(main())
