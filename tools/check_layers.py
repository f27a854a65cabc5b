#!/usr/bin/env python3
"""Fails when a file of src/ includes a room that ARCHITECTURE.md does not allow it, or when the
table and the folders disagree."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ROW = re.compile(r"^\| `(\w+)` \|([^|]*)\|")
INCLUDE = re.compile(r'^\s*#\s*include\s+"(\w+)/')


def allowed_includes(text):
    """{room: set of rooms it may include} from the table of ARCHITECTURE.md."""
    rooms = {}
    for line in text.splitlines():
        if match := ROW.match(line):
            rooms[match.group(1)] = set(re.findall(r"`(\w+)`", match.group(2)))
    return rooms


def find_cycle(rooms):
    """A list of rooms that include each other in a circle, or None."""

    def visit(room, path):
        if room in path:
            return path[path.index(room):] + [room]
        for other in rooms.get(room, ()):
            if cycle := visit(other, path + [room]):
                return cycle
        return None

    for room in rooms:
        if cycle := visit(room, []):
            return cycle
    return None


def check(root):
    rooms = allowed_includes((root / "ARCHITECTURE.md").read_text())
    problems = []
    if cycle := find_cycle(rooms):
        problems.append("ARCHITECTURE.md: the table has a circle: " + " -> ".join(cycle))
    folders = {p.name for p in (root / "src").iterdir() if p.is_dir()}
    for room in sorted(folders - rooms.keys()):
        problems.append(f"src/{room}: not in the table of ARCHITECTURE.md")
    for room in sorted(rooms.keys() - folders):
        problems.append(f"ARCHITECTURE.md: names src/{room}, which does not exist")
    files = sorted(p for p in (root / "src").rglob("*") if p.suffix in (".h", ".cc", ".cu", ".cuh"))
    for path in files:
        room = path.relative_to(root / "src").parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match or match.group(1) not in rooms:
                continue
            other = match.group(1)
            if other != room and other not in rooms.get(room, set()):
                problems.append(f"{path.relative_to(root)}:{number}: {room} may not include {other}")
    return problems, len(files), len(rooms)


if __name__ == "__main__":
    found, file_count, room_count = check(ROOT)
    for problem in found:
        print(problem, file=sys.stderr)
    if found:
        print(f"{len(found)} layer problem(s)", file=sys.stderr)
        sys.exit(1)
    print(f"layers: {file_count} files in {room_count} rooms, all includes allowed")
