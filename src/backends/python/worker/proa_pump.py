"""Who reads the socket: the main loop, or whichever thread waits for something while that is busy."""
import collections
import threading

import proa_link
from proa_link import Closed


class Pump:
    """Brings messages to the main loop, and answers to the threads that wait for them."""

    def __init__(self, link):
        self.link = link
        self.answers = {}   # by call: what takes its answers
        self._pending = collections.deque()   # for the main loop
        self._reading = threading.Lock()
        self._changed = threading.Condition()
        self._waiting = 0
        self._closed = False

    def next(self):
        """The next message for the main loop. Only that calls it."""
        while not self._pending:
            if self._waiting or not self._reading.acquire(False):
                self.wait(lambda: self._pending)
                break
            try:
                message = self.link.receive()
            finally:
                self._reading.release()
                if self._waiting:
                    with self._changed:
                        self._changed.notify_all()
            if message is None or self._take(message):
                continue
            return message
        return self._pending.popleft()

    def wait(self, done):
        """Returns when done() is true, and hears the server meanwhile unless another thread does.
        What makes it true is a message. Errors: Closed."""
        with self._changed:
            self._waiting += 1
        try:
            while not self._wait_for_turn(done):
                try:
                    message = self.link.receive()
                    if message is not None and not self._take(message):
                        self._pending.append(message)
                except Closed:
                    self._closed = True
                    raise
                finally:
                    with self._changed:
                        self._reading.release()
                        self._changed.notify_all()
        finally:
            with self._changed:
                self._waiting -= 1

    def _wait_for_turn(self, done):
        """True when done() is; False when it is this thread's turn to read."""
        with self._changed:
            while not done():
                if self._closed:
                    raise Closed
                if self._reading.acquire(False):
                    return False
                self._changed.wait()
            return True

    def _take(self, message):
        """Whether the message was not for the main loop."""
        if message.kind == proa_link.ANSWER:
            call = int.from_bytes(message.data[message.at:message.at + 8], "little")
            take = self.answers.get(call)
            if take is not None:
                take(message)
            return True
        return message.kind == proa_link.CREDIT
