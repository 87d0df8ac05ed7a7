"""The page of a network: one HTML file that asks nothing of the network, filled with plain data.

As on the page of a ranking, what comes from the user's data travels in one block of JSON, and the page's script puts it
on the screen as text. Where columns are drawn is computed here; the script draws, and lets readers move them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.core.atomic_files import write_bytes
from credimi.core.version import __version__
from credimi.report.networks.network_layout import places
from credimi.report.networks.network_text import direction_line, remark_lines, title
from credimi.report.page import filled

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

SCRIPTS = ("network_matrix.js", "network.js")
_LONGEST = 200  # characters of a name
_WORDS = {
    "heading": "Which columns hang together",
    "one": "an edge",
    "edge": "edge",
    "edges": "edges",
    "probability": "P(edge)",
}


def network_page(network: Record) -> str:
    """The HTML of a network's plain data, with `pairs`, `tables` and `source`."""
    number = {name: place for place, name in enumerate(network["columns"])}
    pairs = network["pairs"]
    level = network["settings"]["level"]
    most = max((pair["mi"] for pair in pairs), default=0.0) or 1.0
    drawn = [
        (number[pair["a"]], number[pair["b"]], (pair["mi"] / most) ** 0.5)
        for pair in pairs
        if pair["probability"] >= min(level, 0.5)
    ]
    where = places(len(number), drawn)
    data = {
        "title": title(network),
        "words": _WORDS,
        "direct": True,
        "directions": direction_line(network),
        "source": network["source"],
        "version": f"credimi {__version__}",
        "level": level,
        "settings": network["settings"],
        "remarks": remark_lines(network["remarks"], network["reader"]),
        "columns": [clipped(name) for name in network["columns"]],
        "all_columns": len(network["columns"]),
        "missing": list(network["missing"].values()),
        "rows": network["rows"],
        "places": [[round(float(x), 3), round(float(y), 3)] for x, y in where],
        "pairs": [_pair(pair, number) for pair in pairs],
        "tables": network["tables"],
    }
    return filled("network.html", ("page.css", "network.css"), SCRIPTS, data)


def write_page(network: Record, path: str | Path) -> None:
    """The page into a file, whole or not at all."""
    write_bytes(network_page(network).encode(errors="backslashreplace"), path)


def _pair(pair: Record, number: dict[str, int]) -> list[object]:
    """What the script reads by place: ends, figures to five digits, direction, what separates the pair."""
    figures = [pair[name] for name in ("probability", "mi", "low", "high", "p_forward", "p_backward", "p_separated")]
    given = pair["separated_by"]
    return [
        number[pair["a"]],
        number[pair["b"]],
        *(float(f"{each:.5g}") for each in figures),
        pair["direction"],
        None if given is None else [number[name] for name in given],
        pair["rows"],
    ]


def clipped(text: str) -> str:
    """A name that has room on a page."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
