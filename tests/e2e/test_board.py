"""The Grafana board of deploy/: what Grafana wants of its file, and that it is what board.py writes."""
import json
import re
import sys

import pytest
from proa_server import ROOT

sys.path.insert(0, str(ROOT / "deploy" / "grafana"))
import board  # noqa: E402

BOARD = json.loads(board.OUTPUT.read_text())
PANELS = BOARD["panels"]
CHARTS = [panel for panel in PANELS if panel["type"] != "row"]


def test_the_file_is_what_its_script_writes():
    assert board.OUTPUT.read_text() == board.text(), "run deploy/grafana/board.py"


def test_panels_lie_beside_each_other():
    """A grid of 24 columns, each cell taken once."""
    taken = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                 for y in range(place["y"], place["y"] + place["h"])}
        assert cells and not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24, panel["title"]
        taken |= cells
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)


@pytest.mark.parametrize("panel", CHARTS, ids=lambda panel: f"{panel['id']} {panel['title']}")
def test_a_panel_is_complete(panel):
    assert panel["title"] and panel["description"] and panel["fieldConfig"]["defaults"]["unit"]
    assert panel["datasource"] == board.SOURCE
    references = [target["refId"] for target in panel["targets"]]
    assert references and len(set(references)) == len(references)


def test_queries_use_the_variables_that_there_are():
    names = {variable["name"] for variable in BOARD["templating"]["list"]} | {"__rate_interval"}
    used = set(re.findall(r"\$\{?(\w+)", json.dumps(CHARTS)))
    assert used == names
    for panel in CHARTS:
        for target in panel["targets"]:
            assert '$instance"' in target["expr"], target["expr"]


def test_it_answers_what_operators_ask():
    titles = {panel["title"] for panel in CHARTS}
    assert {"Requests per second", "Latency", "Where the time goes", "Mean batch size",
            "Why batches close", "Busy share of instances", "Requests in the queue",
            "Failures by reason", "Processors", "Memory"} <= titles
