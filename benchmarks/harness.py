"""What the whole-system benchmarks share: processor time of a process, interleaved pairs, the spread of
a ratio, and result files that say where they come from."""
import dataclasses
import datetime
import json
import os
import pathlib
import platform
import random
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tools" / "models"), str(ROOT / "tests" / "e2e")]


def cpu_seconds(pid):
    """Processor seconds that all threads of the process have used so far."""
    total_ns = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            total_ns += int(pathlib.Path(f"/proc/{pid}/task/{task}/schedstat").read_text().split()[0])
        except FileNotFoundError:
            pass  # the thread ended in between
    return total_ns / 1e9


def family(pid):
    """The process and all that come from it, as they are now."""
    parents = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents[int(entry.name)] = int(text.rsplit(")", 1)[1].split()[1])
    found = [pid]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def family_cpu_seconds(pid):
    """Processor seconds that the process and all that come from it have used so far."""
    return sum(cpu_seconds(process) for process in family(pid))


def interleaved(first, second, pairs):
    """Calls the two A B B A, A B B A, ... until there are that many pairs: [(a, b)]."""
    found = []
    while len(found) < pairs:
        a1, b1, b2, a2 = first(), second(), second(), first()
        found += [(a1, b1), (a2, b2)]
    return found


@dataclasses.dataclass
class Ratio:
    """Median of a / b over pairs, with the 90 % bootstrap interval of that median."""

    median: float
    low: float
    high: float

    def __str__(self):
        return f"{self.median:.3f} [{self.low:.3f}, {self.high:.3f}]"


def ratio_of(pairs):
    ratios = [a / b for a, b in pairs]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(2000))
    return Ratio(statistics.median(ratios), medians[100], medians[1899])


@dataclasses.dataclass
class Row:
    """One measured figure and the bar it is held against (None: shown only)."""

    name: str
    value: float
    bar: float | None
    unit: str = ""
    at_least: bool = False  # the bar is a floor, not a ceiling
    detail: dict = dataclasses.field(default_factory=dict)

    @property
    def met(self):
        if self.bar is None:
            return True
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    def __str__(self):
        text = f"{self.name:<52}{self.value:>10.3f}{self.unit:<8}"
        if "interval" in self.detail:
            low, high = self.detail["interval"]
            text += f" [{low:.3f}, {high:.3f}]"
        if self.bar is not None:
            text += f"  bar {'>=' if self.at_least else '<='} {self.bar:g}: "
            text += "met" if self.met else "MISSED"
        return text


def ratio_row(name, pairs, bar, at_least=False, **detail):
    """The row of a ratio over pairs."""
    ratio = ratio_of(pairs)
    return Row(name, ratio.median, bar, "x", at_least,
               {"interval": [ratio.low, ratio.high], "pairs": pairs, **detail})


def commit():
    run = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True,
                         text=True)
    return run.stdout.strip() or "unknown"


def machine():
    cpu = next((line.split(":", 1)[1].strip()
                for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                if line.startswith("model name")), platform.machine())
    return {"processor": cpu, "cores": os.cpu_count(), "kernel": platform.release()}


def finish(name, rows):
    """Prints where the rows come from, records them, and tells whether every bar was met."""
    RESULTS.mkdir(exist_ok=True)
    record = {"benchmark": name, "commit": commit(), "machine": machine(),
              "command": " ".join([f"benchmarks/{pathlib.Path(sys.argv[0]).name}", *sys.argv[1:]]),
              "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
              "rows": [dataclasses.asdict(row) | {"met": row.met} for row in rows]}
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(record, indent=1) + "\n")
    missed = sum(not row.met for row in rows)
    print(f"{name}: {len(rows)} figures, {missed} bars missed; recorded in {path.relative_to(ROOT)}")
    return missed == 0
