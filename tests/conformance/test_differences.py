"""proa and a real tritonserver answer the same requests alike, but for the accepted differences."""
import pytest

from accepted import PAGE, load, page_with
from conftest import NAMES

ROWS = load()
COVERS = [cover for row in ROWS for cover in row.covers]


@pytest.mark.parametrize("name", NAMES)
def test_case(found, name):
    assert found[name] is not None, "its run has broken off"
    unexplained = {
        place: values for place, values in found[name].items()
        if not any(cover.matches(name, place, *values) for cover in COVERS)}
    assert not unexplained, "\n".join(
        f"{place}: proa {ours!r}, tritonserver {theirs!r}"
        for place, (ours, theirs) in unexplained.items())


@pytest.mark.parametrize("cover", COVERS, ids=lambda cover: cover.text)
def test_an_accepted_difference_still_occurs(found, cover):
    assert any(cover.matches(name, place, *values)
               for name in NAMES for place, values in found[name].items())


def test_every_row_gives_its_reason():
    for row in ROWS:
        assert row.here and row.peer and row.why and row.covers, row


def test_the_page_holds_the_rows():
    assert PAGE.read_text() == page_with(ROWS), "run tests/conformance/accepted.py --write"
