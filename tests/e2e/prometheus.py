"""Runs a real Prometheus (Debian's package) that scrapes servers under test."""
import json
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

CONFIG = """
global: {{ scrape_interval: {interval}, scrape_timeout: {interval}, evaluation_interval: {interval} }}
rule_files: {rules}
scrape_configs:
  - job_name: proa
    static_configs: [ {{ targets: {targets} }} ]
"""
LISTENING = re.compile(r'msg="Listening on" address=(\S+)')


class Prometheus:
    """One Prometheus on a free loopback port; use as a context manager."""

    def __init__(self, folder, targets, rules=(), interval="250ms"):
        folder = pathlib.Path(folder)
        folder.mkdir(exist_ok=True)
        config = folder / "prometheus.yml"
        config.write_text(CONFIG.format(interval=interval, rules=json.dumps([str(r) for r in rules]),
                                        targets=json.dumps(list(targets))))
        self._log = tempfile.NamedTemporaryFile("w+b", suffix=".log")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}",
             "--web.listen-address=127.0.0.1:0"], stdin=subprocess.DEVNULL, stdout=self._log,
            stderr=subprocess.STDOUT)
        self.address = None

    def __enter__(self):
        try:
            self.wait_until(self._find_address, "the address in its log")
            self.wait_until(self._is_ready, "/-/ready")
        except BaseException:
            self.process.kill()
            self.process.wait()
            raise
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def _find_address(self):
        found = LISTENING.search(pathlib.Path(self._log.name).read_text(errors="replace"))
        self.address = found and found[1]
        return found

    def _is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=10) as answer:
                return answer.status == 200
        except urllib.error.HTTPError:
            return False

    def wait_until(self, condition, what, limit_s=30):
        deadline = time.monotonic() + limit_s
        while not (found := condition()):
            ended = self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                log = pathlib.Path(self._log.name).read_text(errors="replace")
                raise RuntimeError(f"Prometheus: waited in vain for {what}\n{log[-3000:]}")
            time.sleep(0.02)
        return found

    def api(self, path, **parameters):
        """`data` of an API call's answer; an error's text fails the call."""
        url = f"http://{self.address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=10) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise ValueError(f"{parameters}: {error.read().decode()}") from None

    def query(self, expression):
        """[(labels, value)] of an instant query."""
        return [(sample["metric"], float(sample["value"][1]))
                for sample in self.api("query", query=expression)["result"]]

    def value(self, expression):
        """The value of a query that has exactly one; None when there is none yet."""
        samples = self.query(expression)
        assert len(samples) <= 1, f"{expression}: {samples}"
        return samples[0][1] if samples else None

    def wait_scraped(self, seconds=0):
        """Waits for a scrape that began after this call."""
        now = time.time() + seconds
        self.wait_until(lambda: (self.value("min(timestamp(up))") or 0) > now, "a scrape")
