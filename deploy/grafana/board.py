#!/usr/bin/env python3
"""board.py: writes proa.json, the Grafana board, from the table of panels below."""
import json
import pathlib

OUTPUT = pathlib.Path(__file__).with_name("proa.json")
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
SERVER = 'instance=~"$instance"'
MODEL = f'{SERVER}, model=~"$model"'
RATE = "[$__rate_interval]"


def rate(name, by="model", labels=MODEL):
    return f"sum by ({by}) (rate({name}{{{labels}}}{RATE}))"


def quantile(share, name, by="model"):
    return f"histogram_quantile({share}, {rate(name + '_bucket', f'{by}, le')})"


def per_request(part):
    """Mean seconds that a request spends in that part."""
    return f"{rate(f'nv_inference_{part}_duration_us')} / {rate('nv_inference_request_success')} / 1e6"


FAILURES = rate("nv_inference_request_failure", "")
ALL = f"({rate('nv_inference_request_success', '')} + {FAILURES})"

# (row, [(title, kind, unit, width, [(query, legend)], what it tells)]); a line of panels is 24 wide.
ROWS = [
    ("Overview", [
        ("Requests per second", "stat", "reqps", 4,
         [(rate("nv_inference_request_success", ""), "")], "Answered requests, all models."),
        ("Failed share", "stat", "percentunit", 4, [(f"{FAILURES} / {ALL}", "")],
         "Requests that got an error, of all."),
        ("p99 latency", "stat", "s", 4,
         [(f"histogram_quantile(0.99, {rate('proa_request_duration_seconds_bucket', 'le')})", "")],
         "From a request's last byte to its last response."),
        ("Model versions ready", "stat", "short", 4,
         [(f"sum(proa_model_ready{{{SERVER}}})", "ready"),
          (f"count(proa_model_ready{{{SERVER}}})", "known")],
         "When they differ, POST /v2/repository/index says why."),
        ("Memory of requests", "gauge", "percentunit", 4,
         [(f"max(proa_in_flight_bytes{{{SERVER}}} / proa_in_flight_limit_bytes{{{SERVER}}})", "")],
         "Bytes that requests in flight hold, of --max-in-flight-bytes; at 1 requests are refused."),
        ("Servers ready", "stat", "short", 4,
         [(f"sum(proa_ready{{{SERVER}}})", "ready"), (f"count(proa_ready{{{SERVER}}})", "running")],
         "Servers that are ready, and that run.")]),
    ("Models", [
        ("Requests per second", "timeseries", "reqps", 8,
         [(rate("nv_inference_request_success"), "{{model}}")], "Answered requests."),
        ("Latency", "timeseries", "s", 8,
         [(quantile(0.5, "proa_request_duration_seconds"), "{{model}} p50"),
          (quantile(0.99, "proa_request_duration_seconds"), "{{model}} p99")],
         "From a request's last byte to its last response."),
        ("Failures by reason", "timeseries", "reqps", 8,
         [(rate("nv_inference_request_failure", "model, reason"), "{{model}} {{reason}}")],
         "REJECTED: queue full, time-out or shutting down. BACKEND: the model failed."),
        ("Where the time goes", "stacked", "s", 8,
         [(per_request(part), "{{model}} " + name) for part, name in
          (("queue", "queue"), ("compute_input", "inputs"), ("compute_infer", "compute"),
           ("compute_output", "outputs"))],
         "Mean time of a request. Much queue: more instances or larger batches."),
        ("Time in the queue", "timeseries", "s", 8,
         [(quantile(0.5, "proa_queue_duration_seconds"), "{{model}} p50"),
          (quantile(0.99, "proa_queue_duration_seconds"), "{{model}} p99")],
         "From a request's acceptance to its batch."),
        ("Requests in the queue", "timeseries", "short", 8,
         [(f"sum by (model) (nv_inference_pending_request_count{{{MODEL}}})", "{{model}}")],
         "Waiting for an instance at the moment of the scrape."),
        ("Mean batch size", "timeseries", "short", 8,
         [(f"{rate('nv_inference_count')} / {rate('nv_inference_exec_count')}", "{{model}}")],
         "Inferences per execution. 1 with many clients: look at why batches close."),
        ("Why batches close", "stacked", "ops", 8,
         [(rate("proa_batch_closed_total", "model, reason"), "{{model}} {{reason}}")],
         "Why no further request was waited for."),
        ("Busy share of instances", "timeseries", "percentunit", 8,
         [(f"avg by (model, model_instance) "
           f"(rate(proa_instance_busy_seconds_total{{{MODEL}}}{RATE}))",
           "{{model}} {{model_instance}}")],
         "Near 1 in all instances: the model is the bottleneck."),
        ("Inferences per second", "timeseries", "ops", 8,
         [(rate("nv_inference_count"), "{{model}}")], "A request counts as often as its batch size."),
        ("Batch sizes", "heatmap", "short", 8,
         [(f"sum by (le) (increase(proa_batch_size_bucket{{{MODEL}}}{RATE}))", "{{le}}")],
         "Executions by batch size."),
        ("Load time", "bars", "s", 8,
         [(f"max by (model, version) (nv_model_load_duration_secs{{{MODEL}}})",
           "{{model}} {{version}}")], "What loading took, warming included.")]),
    ("Process and container", [
        ("Processors", "timeseries", "short", 8,
         [(rate("process_cpu_seconds_total", "instance", SERVER), "{{instance}} used"),
          (f"proa_processors{{{SERVER}}}", "{{instance}} usable"),
          (rate("proa_cgroup_throttled_seconds_total", "instance", SERVER), "{{instance}} throttled")],
         "Throttled: the container's quota holds the process back."),
        ("Memory", "timeseries", "bytes", 8,
         [(f"process_resident_memory_bytes{{{SERVER}}}", "{{instance}} resident"),
          (f"proa_memory_limit_bytes{{{SERVER}}}", "{{instance}} limit"),
          (f"proa_in_flight_bytes{{{SERVER}}}", "{{instance}} requests")],
         "Limit: of the machine or the container, whichever is less."),
        ("Connections", "timeseries", "short", 8,
         [(f"proa_connections_open{{{SERVER}}}", "{{instance}} open"),
          (f'{rate("proa_connections_total", "instance, result", SERVER)}',
           "{{instance}} {{result}}/s")],
         "refused: over the limit; abused: closed for floods or time-outs."),
        ("Network", "timeseries", "Bps", 8,
         [(rate("proa_network_bytes_total", "instance, direction", SERVER),
           "{{instance}} {{direction}}")], "Bytes of all ports."),
        ("HTTP requests per second", "timeseries", "reqps", 8,
         [(rate("proa_http_requests_total", "instance, version", SERVER),
           "{{instance}} HTTP/{{version}}")], "gRPC calls are HTTP/2; health probes count."),
        ("Machine", "timeseries", "percentunit", 8,
         [(f"nv_cpu_utilization{{{SERVER}}}", "{{instance}} processors"),
          (f"nv_cpu_memory_used_bytes{{{SERVER}}} / nv_cpu_memory_total_bytes{{{SERVER}}}",
           "{{instance}} memory"),
          (f"process_open_fds{{{SERVER}}} / process_max_fds{{{SERVER}}}", "{{instance}} descriptors")],
         "The whole machine, other processes included; descriptors are the process's.")]),
]
KINDS = {"stacked": "timeseries", "bars": "bargauge"}
LINE_HEIGHT = 8


def field_options(kind, unit):
    defaults = {"unit": unit, "min": 0, "color": {"mode": "palette-classic"}}
    if kind == "gauge":
        defaults["max"] = 1
    if kind in ("timeseries", "stacked"):
        defaults["custom"] = {"drawStyle": "line", "lineWidth": 1, "showPoints": "never",
                              "fillOpacity": 40 if kind == "stacked" else 0,
                              "stacking": {"mode": "normal" if kind == "stacked" else "none"}}
    return {"defaults": defaults, "overrides": []}


def panel(number, description, x, y, height):
    title, kind, unit, width, queries, text = description
    targets = [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": query,
                "legendFormat": legend or "__auto",
                "format": "heatmap" if kind == "heatmap" else "time_series"}
               for i, (query, legend) in enumerate(queries)]
    options = {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}}
    return {"id": number, "type": KINDS.get(kind, kind), "title": title, "description": text,
            "datasource": SOURCE, "gridPos": {"x": x, "y": y, "w": width, "h": height},
            "fieldConfig": field_options(kind, unit), "targets": targets,
            **({"options": options} if kind in ("timeseries", "stacked") else {})}


def panels():
    found, y = [], 0
    for row, descriptions in ROWS:
        found.append({"id": len(found) + 1, "type": "row", "title": row, "collapsed": False,
                      "panels": [], "gridPos": {"x": 0, "y": y, "w": 24, "h": 1}})
        x, y = 0, y + 1
        height = LINE_HEIGHT // 2 if row == "Overview" else LINE_HEIGHT
        for description in descriptions:
            if x + description[3] > 24:
                x, y = 0, y + height
            found.append(panel(len(found) + 1, description, x, y, height))
            x += description[3]
        y += height
    return found


def variable(name, label, query):
    return {"name": name, "label": label, "type": "query", "datasource": SOURCE, "query": query,
            "refresh": 2, "includeAll": True, "multi": True, "allValue": ".*",
            "current": {"text": "All", "value": "$__all"}, "sort": 1}


def board():
    variables = [{"name": "datasource", "label": "Data source", "type": "datasource",
                  "query": "prometheus"},
                 variable("instance", "Server", "label_values(proa_build_info, instance)"),
                 variable("model", "Model", 'label_values(nv_inference_count{instance=~"$instance"}, model)')]
    return {"uid": "proa", "title": "proa", "tags": ["proa"], "schemaVersion": 36, "version": 1,
            "editable": True, "refresh": "10s", "time": {"from": "now-30m", "to": "now"},
            "timezone": "browser", "templating": {"list": variables}, "panels": panels()}


def text():
    return json.dumps(board(), indent=1) + "\n"


if __name__ == "__main__":
    OUTPUT.write_text(text())
