"""Runs `proa bench` for the tests."""
import json
import subprocess

# Short windows that agree whatever the machine does: these tests count, they do not time.
SHORT = ("-p", "200", "--max-trials", "4", "-s", "1000")


class Run:
    """A finished run: status, stdout, stderr, and the JSON report when there is one."""

    def __init__(self, process, path):
        self.status, self.out, self.err = process.returncode, process.stdout, process.stderr
        self.report = json.loads(path.read_text()) if path.exists() else None

    def level(self, index=0):
        assert self.report is not None, self.out + self.err
        return self.report["levels"][index]

    def notes(self, severity):
        return [note["text"] for note in self.report["notes"] if note["severity"] == severity]


def bench(proa, folder, *flags, short=True):
    """proa bench with these flags and --json in `folder`."""
    path = folder / "report.json"
    path.unlink(missing_ok=True)
    process = subprocess.run(
        [proa, "bench", *map(str, flags), *(SHORT if short else ()), "--json", path],
        capture_output=True, text=True, timeout=400)  # --find-max takes up to 5 minutes
    return Run(process, path)
