"""/metrics: what a real Prometheus makes of it under load, the board and the rules of deploy/ on
top of that, and the same families as the real tritonserver."""
import collections
import concurrent.futures
import importlib.util
import json
import math
import re
import subprocess
import time
import urllib.error
import urllib.request

import numpy as np
import pytest
import yaml
from clients import connect, infer
from proa_server import ROOT, ProaServer
from prometheus import Prometheus
from repositories import write_identity
from tritonclient.utils import InferenceServerException

RULES = ROOT / "deploy" / "prometheus" / "proa.rules.yml"
BOARD = ROOT / "deploy" / "grafana" / "proa.json"
REQUESTS = {"tagged": 300, "batched": 300, "failing": 90}  # per model, half of them by gRPC
FAMILY = re.compile(r"^# TYPE (\S+) (\S+)$", re.MULTILINE)
SAMPLE = re.compile(r"^([a-z_]+)(?:\{(.*)\})? \S+$", re.MULTILINE)
LABEL = re.compile(r'(\w+)="(?:[^"\\]|\\.)*"')

Watched = collections.namedtuple("Watched", "server prometheus")


def write_models(folder):
    write_identity(folder, "tagged", dims=(4,), extra='metric_tags { key: "team" value: "a \\"b\\"" }\n')
    write_identity(folder, "batched", dims=(4,), blocking=True, execute_delay_ms=2,
                   extra="dynamic_batching { max_queue_delay_microseconds: 500 }\n")
    write_identity(folder, "failing", dims=(4,), fail_every=3)


def send(server, protocol, model, count):
    failed = 0
    with connect(server, protocol) as (api, client):
        for _ in range(count):
            try:
                infer(api, client, model, np.ones((2, 4), np.float32))
            except InferenceServerException:
                failed += 1
    return failed


def send_all(server):
    with concurrent.futures.ThreadPoolExecutor(6) as pool:
        return sum(pool.map(lambda job: send(server, *job),
                            [(protocol, model, count // 2) for model, count in REQUESTS.items()
                             for protocol in ("http", "grpc")]))


@pytest.fixture(scope="module")
def watched(proa, tmp_path_factory):
    """A server that has answered REQUESTS while a Prometheus with our rules scraped it."""
    folder = tmp_path_factory.mktemp("metrics")
    write_models(folder / "models")
    with (ProaServer(folder / "models", "--metrics-config", "summary_latencies=true",
                     "--metrics-config", "histogram_latencies=true", command=(proa,)) as server,
          Prometheus(folder / "prometheus", [server.metrics], [RULES]) as prometheus):
        prometheus.wait_scraped()
        assert send_all(server) == REQUESTS["failing"] // 3
        prometheus.wait_scraped()
        yield Watched(server, prometheus)


def text_of(server):
    return server.get("/metrics", "metrics")[1].decode()


def families(text):
    """{family: (type, names of its labels)} of Prometheus' text format."""
    types = dict(FAMILY.findall(text))
    labels = collections.defaultdict(set)
    for name, pairs in SAMPLE.findall(text):
        family = name if name in types else re.sub("_(bucket|count|sum)$", "", name)
        labels[family] |= set(LABEL.findall(pairs or "")) - {"le", "quantile"}
    return {name: (kind, labels[name]) for name, kind in types.items()}


def documented_families():
    """{name: type} of the tables of docs/metrics.md."""
    rows = re.findall(r"^\| (`.*?) \| (\w+) \|", (ROOT / "docs/metrics.md").read_text(), re.MULTILINE)
    return {name: kind for names, kind in rows for name in re.findall("`([^`]+)`", names)}


def test_prometheus_types_are_those_of_the_documents(watched):
    targets = watched.prometheus.api("targets/metadata", match_target='{job="proa"}')
    assert {entry["metric"]: entry["type"] for entry in targets} == documented_families()


def test_promtool_finds_no_fault_but_in_tritons_names(watched):
    check = subprocess.run(["promtool", "check", "metrics"], input=text_of(watched.server),
                           capture_output=True, text=True, timeout=60)
    complaints = (check.stdout + check.stderr).splitlines()
    # "nv_inference_count counter metrics should have "_total" suffix": the names are Triton's.
    assert [line for line in complaints if not line.startswith("nv_")] == []


def test_counters_agree_with_what_was_sent(watched):
    value = watched.prometheus.value
    for model, sent in REQUESTS.items():
        failed = sent // 3 if model == "failing" else 0
        assert value(f'nv_inference_request_success{{model="{model}"}}') == sent - failed
        assert value(f'nv_inference_count{{model="{model}"}}') == 2 * (sent - failed)
        assert value(f'nv_inference_request_failure{{model="{model}",reason="BACKEND"}}') == failed
        for family in ("proa_request_duration_seconds", "proa_queue_duration_seconds",
                       "nv_inference_request_summary_us", "nv_inference_first_response_histogram_ms"):
            assert value(f'{family}_count{{model="{model}"}}') == sent - failed, family
        batches = value(f'sum(proa_batch_closed_total{{model="{model}"}})')
        assert value(f'nv_inference_exec_count{{model="{model}"}}') == batches - failed
    assert value('nv_inference_request_success{_team="a \\"b\\""}') == REQUESTS["tagged"]


def test_counters_never_go_back(watched):
    suffixes = {"counter": [""], "histogram": ["_count", "_sum", "_bucket"], "summary": ["_count", "_sum"]}
    for name, kind in documented_families().items():
        for suffix in suffixes.get(kind, ()):
            assert watched.prometheus.value(f"sum(resets({name}{suffix}[10m]))") == 0, name


def test_rates_agree_with_what_was_sent(watched):
    """increase() between the first scrape, at 0, and the last, at all."""
    sent = REQUESTS["batched"]
    (_, increase), = watched.prometheus.query(
        'max_over_time(nv_inference_request_success{model="batched"}[10m]) - '
        'min_over_time(nv_inference_request_success{model="batched"}[10m])')
    assert increase == sent
    # rate() extrapolates to the ends of its window, by up to a scrape interval each.
    (_, rate), = watched.prometheus.query('rate(nv_inference_request_success{model="batched"}[10m])')
    assert rate * 600 == pytest.approx(sent, rel=0.5)


def test_time_adds_up(watched):
    """A request's time is at least that of its parts, and a busy instance's that of its batches."""
    value = watched.prometheus.value
    parts = sum(value(f'nv_inference_{part}_duration_us{{model="batched"}}')
                for part in ("queue", "compute_input", "compute_infer", "compute_output"))
    whole = value('nv_inference_request_duration_us{model="batched"}')
    assert 0 < parts <= whole
    busy = value('sum(proa_instance_busy_seconds_total{model="batched"})')
    assert busy >= 0.002 * value('nv_inference_exec_count{model="batched"}')
    assert value('proa_request_duration_seconds_sum{model="batched"}') == pytest.approx(whole / 1e6, rel=0.01)


def test_quantiles_lie_where_the_histograms_say(watched):
    value = watched.prometheus.value
    for quantile in (0.5, 0.99):
        summary = value(f'nv_inference_request_summary_us{{model="batched",quantile="{quantile}"}}')
        at_most = value('sum(proa_request_duration_seconds_bucket{model="batched",le="10"})')
        assert 2000 <= summary and at_most == REQUESTS["batched"]
        histogram = value('histogram_quantile(%s, proa_request_duration_seconds_bucket{model="batched"})'
                          % quantile)
        # Buckets are a factor of 2 to 2.5 wide.
        assert histogram / 2.5 <= summary / 1e6 <= histogram * 2.5


def board_queries():
    return [pytest.param(target["expr"], id=f"{panel['id']} {panel['title']} {target['refId']}")
            for panel in json.loads(BOARD.read_text())["panels"] for target in panel.get("targets", ())]


def assert_has_data(prometheus, expression):
    samples = prometheus.query(expression)
    assert samples, f"no data: {expression}"
    assert any(not math.isnan(value) for _, value in samples), f"only NaN: {expression}"


@pytest.mark.parametrize("expression", board_queries())
def test_every_query_of_the_board_returns_data(watched, expression):
    for name, value in (("$__rate_interval", "5m"), ("$instance", ".*"), ("$model", ".*")):
        expression = expression.replace(name, value)
    assert "$" not in expression
    assert_has_data(watched.prometheus, expression)


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def test_prometheus_evaluates_every_rule(watched):
    def loaded():
        groups = watched.prometheus.api("rules")["groups"]
        found = [rule for group in groups for rule in group["rules"]]
        return found if all(rule["health"] != "unknown" for rule in found) else None

    found = watched.prometheus.wait_until(loaded, "an evaluation of every rule")
    assert [rule["name"] for rule in found if rule["health"] != "ok"] == []
    assert len(found) == len(rules())


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.get("record") or rule["alert"])
def test_every_rule_finds_its_metrics(watched, rule):
    """The name that a recording rule makes, or an alert's expression without its thresholds."""
    expression = rule.get("record") or re.sub(r"\s(==|>)\s[\d.]+", "", rule["expr"])
    watched.prometheus.wait_until(lambda: watched.prometheus.query(expression), expression)
    assert_has_data(watched.prometheus, expression)


def test_each_alert_fires_when_it_should():
    check = subprocess.run(["promtool", "test", "rules", RULES.with_suffix(".test.yml")],
                           capture_output=True, text=True, timeout=60)
    assert check.returncode == 0, check.stdout + check.stderr
    tested = RULES.with_suffix(".test.yml").read_text()
    for rule in rules():
        if "alert" in rule:
            assert re.search(rf"alertname: {rule['alert']}\n\s+exp_alerts:", tested), rule["alert"]


# Queries of the kind that dashboards and alerts for Triton are made of.
TRITON_QUERIES = (
    'sum by (model) (rate(nv_inference_request_success[1m]))',
    'sum(increase(nv_inference_count[1m])) by (model, version)',
    'rate(nv_inference_count[1m]) / rate(nv_inference_exec_count[1m])',
    '(rate(nv_inference_queue_duration_us[1m]) / 1000) / rate(nv_inference_request_success[1m])',
    'delta(nv_inference_compute_infer_duration_us[1m]) / delta(nv_inference_request_success[1m])',
    'avg(delta(nv_inference_queue_duration_us[1m]) / (1 + delta(nv_inference_request_success[1m])))',
    'sum(rate(nv_inference_request_failure[1m])) by (model, reason)',
    'nv_inference_pending_request_count', 'nv_inference_request_summary_us{quantile="0.99"}',
    'nv_cpu_utilization', 'nv_cpu_memory_used_bytes / nv_cpu_memory_total_bytes',
    'nv_pinned_memory_pool_used_bytes', 'nv_model_load_duration_secs')


@pytest.mark.parametrize("expression", TRITON_QUERIES)
def test_queries_of_tritons_dashboards_return_data(watched, expression):
    assert_has_data(watched.prometheus, expression)


def load_module(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_family_of_tritonserver_is_here_with_its_type_and_labels(proa, tmp_path):
    write_models(tmp_path)
    triton = load_module(ROOT / "benchmarks" / "peers" / "tritonserver.py")
    flags = ("--metrics-config=summary_latencies=true", "--metrics-config=histogram_latencies=true")
    with triton.TritonServer(tmp_path, *flags) as peer:
        send(peer, "http", "tagged", 2)
        wanted = families(peer_metrics(peer))
    with ProaServer(tmp_path, *flags, command=(proa,)) as server:
        send(server, "http", "tagged", 2)
        ours = families(text_of(server))
    assert len([name for name in wanted if name.startswith("nv_")]) > 15
    assert {name: ours.get(name) for name in wanted} == wanted


def peer_metrics(peer):
    """Its /metrics, which opens a moment after the other ports."""
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(f"http://{peer.metrics}/metrics", timeout=10) as answer:
                return answer.read().decode()
        except urllib.error.URLError:
            assert time.monotonic() < deadline, "tritonserver opens no metrics port"
            time.sleep(0.02)
