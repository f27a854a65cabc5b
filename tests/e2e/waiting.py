"""Waiting without guessing how long things take."""
import time


def wait_until(condition, what, limit_s=20):
    """Polls the condition until it holds."""
    deadline = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline, f"still not: {what}"
        time.sleep(0.002)
