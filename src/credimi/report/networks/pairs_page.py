"""The page of pairs: that of a network, with the links of all pairs in place of edges.

A link may go by way of other columns, and has no direction. Of many columns those with the strongest links are shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.core.version import __version__
from credimi.report.networks.network_layout import places
from credimi.report.networks.network_page import SCRIPTS, clipped
from credimi.report.page import filled

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

MOST_PAIRS = 20_000
_MOST_COLUMNS = 1_000
_MOST_PULLS = 4  # links a column that say where it is drawn
_LEVEL = 0.95
_LEAST = 0.01  # of P(linked): others are not worth a line
_WORDS = {
    "heading": "What every two columns tell about each other",
    "one": "a link",
    "edge": "link",
    "edges": "links",
    "probability": "P(linked)",
}


def pairs_page(pairs: Record) -> str:
    """The HTML of the plain data of pairs, the best first, with `source`."""
    shown = [pair for pair in pairs["pairs"] if pair["p_linked"] >= _LEAST]
    columns, remarks = pairs["columns"], list(pairs["remarks"])
    if len(columns) > _MOST_COLUMNS:
        named = dict.fromkeys(name for pair in shown for name in (pair["a"], pair["b"]))
        columns = [*named, *(name for name in columns if name not in named)][:_MOST_COLUMNS]
        remarks.append(f"of {len(pairs['columns']):,} columns the {len(columns):,} with the strongest links are shown")
    number = {name: place for place, name in enumerate(columns)}
    shown = [pair for pair in shown if pair["a"] in number and pair["b"] in number]
    most = max((pair["mi"] for pair in shown), default=0.0) or 1.0
    drawn = [
        (number[pair["a"]], number[pair["b"]], (pair["mi"] / most) ** 0.5)
        for pair in shown[: _MOST_PULLS * len(columns)]
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
        "places": [[round(float(x), 3), round(float(y), 3)] for x, y in places(len(number), drawn)],
        "pairs": [_pair(pair, number) for pair in shown],
        "tables": [],
    }
    return filled("network.html", ("page.css", "network.css"), SCRIPTS, data)


def write_page(pairs: Record, path: str | Path) -> None:
    """The page into a file, whole or not at all."""
    write_bytes(pairs_page(pairs).encode(errors="backslashreplace"), path)


def _pair(pair: Record, number: dict[str, int]) -> list[object]:
    """What the script reads by place: as of a network, without directions and what separates; the share at last."""
    figures = [float(f"{pair[name]:.5g}") for name in ("p_linked", "mi", "low", "high")]
    share = float(f"{pair['share'] or 0.0:.5g}")
    return [number[pair["a"]], number[pair["b"]], *figures, 0.0, 0.0, 0.0, "--", None, pair["complete"], share]
