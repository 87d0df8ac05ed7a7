"""The page of pairs: that of a network, with the links of all pairs in place of edges.

A link may go by way of other columns, and has no direction. If there are many columns, those with the strongest links
are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.core.version import __version__
from credimi.results.graph_layout import GRAPH_SCRIPTS, clipped, column_positions
from credimi.results.page import filled

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

MAX_PAIRS = 20_000
_MAX_COLUMNS = 1_000
_PULLS_PER_COLUMN = 4  # links for each column that decide where it is drawn
_LEVEL = 0.95
_MIN_P_LINKED = 0.01  # other pairs are not shown
_WORDS = {
    "heading": "What every two columns tell about each other",
    "one": "a link",
    "edge": "link",
    "edges": "links",
    "probability": "P(linked)",
}


def pairs_page(pairs: Record) -> str:
    """The HTML of the plain data of pairs, the best first, with `source`."""
    shown = [pair for pair in pairs["pairs"] if pair["p_linked"] >= _MIN_P_LINKED]
    columns, remarks = pairs["columns"], list(pairs["remarks"])
    if len(columns) > _MAX_COLUMNS:
        linked_columns = dict.fromkeys(name for pair in shown for name in (pair["a"], pair["b"]))
        columns = [*linked_columns, *(name for name in columns if name not in linked_columns)][:_MAX_COLUMNS]
        remarks.append(f"of {len(pairs['columns']):,} columns the {len(columns):,} with the strongest links are shown")
    index_of = {name: index for index, name in enumerate(columns)}
    shown = [pair for pair in shown if pair["a"] in index_of and pair["b"] in index_of]
    largest = max((pair["mi"] for pair in shown), default=0.0) or 1.0
    drawn_links = [
        (index_of[pair["a"]], index_of[pair["b"]], (pair["mi"] / largest) ** 0.5)
        for pair in shown[: _PULLS_PER_COLUMN * len(columns)]
        if pair["p_linked"] >= _LEVEL
    ]
    data = {
        "title": _WORDS["heading"],
        "words": _WORDS,
        "direct": False,
        "directions": "a link may go by way of other columns; credimi network tells which are direct",
        "source": pairs["source"],
        "version": f"credimi {__version__}",
        "level": _LEVEL,
        "settings": pairs["settings"],
        "remarks": remarks,
        "columns": [clipped(name) for name in columns],
        "all_columns": len(pairs["columns"]),
        "missing": None,
        "rows": pairs["rows"],
        "places": [[round(float(x), 3), round(float(y), 3)] for x, y in column_positions(len(index_of), drawn_links)],
        "pairs": [_pair(pair, index_of) for pair in shown],
        "tables": [],
    }
    return filled("network.html", ("page.css", "network.css"), GRAPH_SCRIPTS, data)


def write_page(pairs: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(pairs_page(pairs).encode(errors="backslashreplace"), path)


def _pair(pair: Record, index_of: dict[str, int]) -> list[object]:
    """A pair as the script reads it, by position: as of a network, without direction and separators; the share last."""
    figures = [pair["p_linked"], *(float(f"{pair[name]:.5g}") for name in ("mi", "low", "high"))]
    share = float(f"{pair['share'] or 0.0:.5g}")
    return [index_of[pair["a"]], index_of[pair["b"]], *figures, 0.0, 0.0, 0.0, "--", None, pair["complete"], share]
