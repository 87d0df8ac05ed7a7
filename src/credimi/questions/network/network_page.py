"""The page of a network: one HTML file that asks nothing of the network, filled with plain data.

As on the page of a ranking, what comes from the user's data travels in one block of JSON, and the page's script puts it
on the screen as text. The positions of columns are computed here; the script draws, and lets readers move them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.atomic_files import write_bytes
from credimi.core.version import __version__
from credimi.questions.network.network_text import ARROW_MEANS, remark_lines
from credimi.results.graph_layout import GRAPH_SCRIPTS, clipped, column_positions
from credimi.results.page import filled

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import CountArray, Record
    from credimi.counts.codes import Codebook


_MAX_SHOWN_VALUES = 12  # rows and columns of a table
_WORDS = {
    "heading": "Which columns hang together",
    "one": "an edge",
    "edge": "edge",
    "edges": "edges",
    "probability": "P(edge)",
}


def network_page(network: Record) -> str:
    """The HTML of a network's plain data, with `pairs`, `tables` and `source`."""
    index_of = {name: index for index, name in enumerate(network["columns"])}
    pairs = network["pairs"]
    level = network["settings"]["level"]
    largest = max((pair["mi"] for pair in pairs), default=0.0) or 1.0
    drawn_edges = [
        (index_of[pair["a"]], index_of[pair["b"]], (pair["mi"] / largest) ** 0.5)
        for pair in pairs
        if pair["probability"] >= min(level, 0.5)
    ]
    positions = column_positions(len(index_of), drawn_edges)
    data = {
        "title": _WORDS["heading"],
        "words": _WORDS,
        "direct": True,
        "directions": f"an arrow: {ARROW_MEANS}; none: the direction cannot be told",
        "source": network["source"],
        "version": f"credimi {__version__}",
        "level": level,
        "settings": network["settings"],
        "remarks": remark_lines(network["remarks"], network["reader"]),
        "columns": [clipped(name) for name in network["columns"]],
        "all_columns": len(network["columns"]),
        "missing": list(network["missing"].values()),
        "rows": network["rows"],
        "places": [[round(float(x), 3), round(float(y), 3)] for x, y in positions],
        "pairs": [_pair(pair, index_of) for pair in pairs],
        "tables": network["tables"],
    }
    return filled("network.html", ("page.css", "network.css"), GRAPH_SCRIPTS, data)


def write_page(network: Record, path: str | Path) -> None:
    """Write the page to a file, which is complete or absent."""
    write_bytes(network_page(network).encode(errors="backslashreplace"), path)


def _pair(pair: Record, index_of: dict[str, int]) -> list[object]:
    """A pair as the script reads it, by position.

    These are the ends, the probability, figures to five digits, the direction, what separates the pair, its rows,
    nothing (the share of entropy on the page of pairs), and whether the two surely depend.
    """
    figures = [pair[name] for name in ("mi", "low", "high", "p_forward", "p_backward", "p_separated")]
    given = pair["separated_by"]
    return [
        index_of[pair["a"]],
        index_of[pair["b"]],
        pair["probability"],  # not rounded: the script compares it with the level, as Python does, and counts
        *(float(f"{figure:.5g}") for figure in figures),
        pair["direction"],
        None if given is None else [index_of[name] for name in given],
        pair["rows"],
        None,
        pair["depends"],
    ]


def shown_table(block: CountArray, book: Codebook, one: int, other: int) -> Record:
    """A table for the page: the most frequent values, the other values merged, missing values last."""
    value_names = [book.features[each].values for each in (one, other)]
    counts, labels = block, []
    for axis in (0, 1):
        values = [*value_names[axis]]
        if len(values) > _MAX_SHOWN_VALUES:
            totals = counts.sum(axis=1 - axis)[: len(values)]
            frequent = np.sort(np.argsort(-totals, kind="stable")[: _MAX_SHOWN_VALUES - 1])
            rest = np.setdiff1d(np.arange(len(values)), frequent)
            frequent_counts = np.take(counts, frequent, axis=axis)
            rest_counts = np.take(counts, rest, axis=axis).sum(axis=axis, keepdims=True)
            counts = np.concatenate(
                [frequent_counts, rest_counts, np.take(counts, [len(values)], axis=axis)], axis=axis
            )
            values = [*(values[each] for each in frequent), f"({rest.size} others)"]
        labels.append(values)
    return {"rows": labels[0], "columns": labels[1], "counts": np.round(counts, 3).tolist()}
