"""Runs tests/scripted_server: a KServe v2 server with scripted delays that logs its own instants."""
import pathlib
import signal
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = ROOT / "build" / "release" / "bin" / "scripted_server"


class ScriptedServer:
    """One scripted server; a context manager. script: service_us=5000, slots=8, stall_ms=500, ...
    After the end, log() holds (came, answered) of each success in seconds of its own clock."""

    model = "scripted"

    def __init__(self, **script):
        self._log = tempfile.NamedTemporaryFile("r", suffix=".log")
        flags = [word for key, value in script.items()
                 for word in (f"--{key.replace('_', '-')}", str(value))]
        self.process = subprocess.Popen([BINARY, *flags, "--log", self._log.name],
                                        stdout=subprocess.PIPE, text=True)
        words = self.process.stdout.readline().split()
        if len(words) != 4:
            self.process.wait()
            raise RuntimeError(f"{BINARY} did not start")
        self.http, self.grpc = f"127.0.0.1:{words[1]}", f"127.0.0.1:{words[3]}"

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()

    def stop(self):
        """Ends it, which writes the log."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=20)

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=20)

    def log(self):
        entries = (line.split() for line in pathlib.Path(self._log.name).read_text().splitlines())
        return [(int(came) / 1e9, int(answered) / 1e9) for came, answered in entries]
