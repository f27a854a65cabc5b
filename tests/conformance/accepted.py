#!/usr/bin/env python3
"""The accepted differences of differences.toml: which answers each covers, and their page.

accepted.py --write puts the tables into docs/differences.md; a test fails when they differ."""
import dataclasses
import fnmatch
import pathlib
import sys
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "differences.md"
MARK = "<!-- What follows is written by tests/conformance/accepted.py from differences.toml. -->\n"


@dataclasses.dataclass(frozen=True)
class Cover:
    """"CASE @ PLACE", or "CASE @ PLACE : OURS / THEIRS" for those two values only; * is anything."""

    text: str

    def matches(self, case, place, ours, theirs):
        where, _, values = self.text.partition(" : ")
        case_pattern, place_pattern = where.split(" @ ")
        if not fnmatch.fnmatchcase(case, case_pattern):
            return False
        if not fnmatch.fnmatchcase(place, place_pattern.replace("[", "[[]")):
            return False
        return not values or all(
            fnmatch.fnmatchcase(str(value), pattern)
            for value, pattern in zip((ours, theirs), values.split(" / ")))


@dataclasses.dataclass(frozen=True)
class Accepted:
    """One deliberate difference: a row of the page."""

    area: str
    here: str
    peer: str
    why: str
    covers: tuple


def load():
    rows = tomllib.loads((HERE / "differences.toml").read_text())["difference"]
    return [Accepted(**{**row, "covers": tuple(Cover(text) for text in row["covers"])})
            for row in rows]


def tables(rows):
    """The rows as Markdown, one table an area, in the order of the file."""
    text = ""
    for area in dict.fromkeys(row.area for row in rows):
        text += f"\n## {area}\n| here | Triton | why |\n|---|---|---|\n"
        text += "".join(f"| {row.here} | {row.peer} | {row.why} |\n"
                        for row in rows if row.area == area)
    return text


def page_with(rows):
    """The page as it stands, with the tables of these rows."""
    return PAGE.read_text().partition(MARK)[0] + MARK + tables(rows)


if __name__ == "__main__":
    if sys.argv[1:] != ["--write"]:
        sys.exit(__doc__)
    PAGE.write_text(page_with(load()))
