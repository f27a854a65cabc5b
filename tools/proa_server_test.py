"""ProaServer against a small stand-in for the executable."""
import sys

import pytest

from proa_server import ProaServer, ServerError

STAND_IN = """
import http.server, signal, sys, threading
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response({status})
        self.send_header("Content-Length", "0")
        self.end_headers()
    def log_message(self, *_):
        pass
server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
port = server.server_address[1]
def stop(*_):
    {on_sigterm}
signal.signal(signal.SIGTERM, stop)
print("HTTP/KServe v2 listening on 127.0.0.1:%d" % port, flush=True)
print("gRPC listening on 127.0.0.1:50051", flush=True)
print("metrics listening on 127.0.0.1:50052", flush=True)
server.serve_forever()
"""


def start(tmp_path, status=200, on_sigterm="sys.exit(0)", text=STAND_IN, limit_s=30):
    script = tmp_path / "stand_in.py"
    script.write_text(text.replace("{status}", str(status)).replace("{on_sigterm}", on_sigterm))
    return ProaServer(tmp_path, command=(sys.executable, str(script)), start_limit_s=limit_s)


def test_finds_the_ports_and_waits_until_ready(tmp_path):
    with start(tmp_path) as server:
        assert server.get("/v2/health/ready")[0] == 200
        assert (server.grpc, server.metrics) == ("127.0.0.1:50051", "127.0.0.1:50052")
    assert server.process.returncode == 0


def test_a_server_that_ends_early_is_shown_with_its_log(tmp_path):
    with pytest.raises(ServerError, match="(?s)status 3.*no such model repository"):
        start(tmp_path, text="print('no such model repository'); raise SystemExit(3)").__enter__()


def test_a_server_that_never_gets_ready_is_given_up_and_ended(tmp_path):
    server = start(tmp_path, status=400, limit_s=1)
    with pytest.raises(ServerError, match="still not: /v2/health/ready"):
        server.__enter__()
    assert server.process.returncode is not None


@pytest.mark.parametrize("on_sigterm, complaint", [
    ("sys.exit(1)", "status 1 after SIGTERM"),
    ("print('x.cc:1: runtime error: shift'); sys.exit(0)", "sanitizer"),
])
def test_a_bad_end_is_an_error(tmp_path, on_sigterm, complaint):
    server = start(tmp_path, on_sigterm=on_sigterm).__enter__()
    with pytest.raises(ServerError, match=complaint):
        server.stop()


def test_a_server_deaf_to_sigterm_is_killed(tmp_path):
    server = start(tmp_path, on_sigterm="pass").__enter__()
    with pytest.raises(ServerError, match="did not end"):
        server.stop(limit_s=0.1)
    assert server.process.returncode is not None
