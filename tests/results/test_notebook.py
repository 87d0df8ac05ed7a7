"""Every result in a fresh notebook: a picture or a table as HTML, figures without pyplot, no escape codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

CLINIC = str(Path(__file__).parents[2] / "examples" / "clinic.csv")
FEW = '["glucose", "age", "bmi", "smoking"]'
RESULTS = {  # what a cell ends with, and what its HTML has to hold
    "rank": (f"credimi.rank(path, 'diabetes', features={FEW})", '<svg class="bars"'),
    "effects": (f"credimi.rank(path, 'diabetes', features={FEW}).effects('age')", '<svg class="bars"'),
    "select": (f"credimi.select(path, 'diabetes', features={FEW})", '<svg class="interval"'),
    "interactions": (f"credimi.interactions(path, 'diabetes', features={FEW})", "background:#"),
    "pairs": (f"credimi.pairs(path, features={FEW})", '<svg class="map"'),
    "network": (f"credimi.network(path, features={FEW}, imputations=0)", '<svg class="map"'),
    "tree": (f"credimi.tree(path, 'diabetes', features={FEW}, max_depth=2)", "<details"),
    "compare": (f"credimi.compare(path, path, 'diabetes', features={FEW})", '<svg class="interval"'),
    "rank_by": (f"credimi.rank_by(path, 'diabetes', by='sex', features={FEW})", "<table>"),
    "report": (f"credimi.report(path, 'diabetes', features={FEW}, seconds=5)", "<table>"),
    "distribution": ("credimi.mutual_information([[10, 2], [3, 15]])", "<polyline"),
    "table": ("credimi.Table([[10, 2], [3, 15]])", "<table>"),
    "counts": (f"credimi.count(path, 'diabetes', features={FEW})", "<table>"),
    "plot": (f"credimi.rank(path, 'diabetes', features={FEW}).plot()", "image/png"),
}
PROGRAM = """
import json, sys
import nbformat
from nbclient import NotebookClient
cells = json.loads(sys.argv[1])
book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
NotebookClient(book, timeout=300, kernel_name="python3").execute()
print(json.dumps([[dict(output) for output in cell["outputs"]] for cell in book.cells]))
"""


@pytest.fixture(scope="module")
def outputs() -> dict[str, list[dict[str, Any]]]:
    """What a notebook with a cell for each result shows, run in a process of its own."""
    for needed in ("nbclient", "nbformat", "ipykernel"):
        pytest.importorskip(needed, reason=f"NOT TESTED: {needed} is not installed, so no notebook was executed")
    import json  # noqa: PLC0415

    cells = [f"import sys, credimi\npath = {CLINIC!r}", *(cell for cell, _ in RESULTS.values())]
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM, json.dumps(cells)], capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    shown = json.loads(ran.stdout.splitlines()[-1])
    return dict(zip(RESULTS, shown[1:], strict=True))


@pytest.mark.parametrize("name", RESULTS)
def test_a_fresh_notebook_shows(name: str, outputs: dict[str, list[dict[str, Any]]]) -> None:
    wanted, data = RESULTS[name][1], [each["data"] for each in outputs[name] if "data" in each]
    if wanted == "image/png":
        assert any(wanted in each for each in data)
        return
    (html,) = [each["text/html"] for each in data if "text/html" in each]
    html = html if isinstance(html, str) else "".join(html)
    assert wanted in html
    assert "\x1b" not in html
    assert "<script" not in html
    assert re.search(r"<(table|svg|details)", html)
