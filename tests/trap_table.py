"""One small table that holds every trap of the libraries that bring tables, and what its counts are, in plain words.

NaN and null both; whole numbers with holes, which pandas makes doubles; True, 1 and 1.0, which Python takes for one;
text that means missing; capitals; names with dots; rows without a class.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from credimi.columns import labels, text_types

if TYPE_CHECKING:
    from credimi import Counts

Row = dict[str, Any]

ROWS: list[Row] = [
    {
        "word": (None, "red", "green", "?", "Red", "blå")[row % 6],
        "whole": None if row % 7 == 0 else row % 5 - 2,
        "real": (math.nan, None, row / 8, -0.0, 0.0)[row % 5],
        "truth": (True, False, None)[row % 3],
        "one": (1, 0)[row % 2],
        "one.real": (1.0, 0.0, 2.5)[row % 3],
        "holes": None,
        "late": None if row < 100 else ("x", "y")[row % 2],
        "class": (None, "?", "yes", "no", "yes", "no", "no")[row % 7],
    }
    for row in range(240)
]
SCHEMA = pa.schema(
    [
        ("word", pa.string()),
        ("whole", pa.int64()),
        ("real", pa.float64()),
        ("truth", pa.bool_()),
        ("one", pa.int64()),
        ("one.real", pa.float64()),
        ("holes", pa.string()),
        ("late", pa.string()),
        ("class", pa.string()),
    ]
)


def table(rows: list[Row] = ROWS) -> pa.Table:
    """The rows as Arrow; NaN stays NaN, None is null."""
    return pa.table({field.name: pa.array([row[field.name] for row in rows], field.type) for field in SCHEMA})


def expected(rows: list[Row] = ROWS) -> str:
    """The digest that everybody has to arrive at, by dictionaries alone."""
    found: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        for name, value in row.items():
            if name != "class":
                found[name, _named(row["class"]), _named(value)] += 1
    return _digest(found)


def digest(counts: Counts) -> str:
    """Of all cells and labels."""
    found: Counter[tuple[str, str, str]] = Counter()
    classes, to_class = _names(counts.classes)
    for name, own, block in zip(counts.features, counts.labels, counts.blocks(), strict=True):
        values, to_value = _names(own)
        for i, j in np.argwhere(block):
            found[name, classes[to_class[i]], values[to_value[j]]] += int(block[i, j])
    assert counts.rows == sum(found.values()) // max(len(counts.features), 1)
    return _digest(found)


def _names(own: labels.Labels) -> tuple[list[str], list[int]]:
    kept, places = labels.typed(own)
    return [f"{kept.kind} {text}" for text in kept.shown()] + ["missing"], [*places.tolist(), -1]


def _named(value: object) -> str:
    if value is None or value == "?" or value != value:  # noqa: PLR0124  (NaN)
        return "missing"
    if isinstance(value, bool):
        return f"boolean {str(value).lower()}"
    return f"text {value}" if isinstance(value, str) else f"number {text_types.shown_number(float(value) + 0.0)}"


def _digest(cells: Counter[tuple[str, str, str]]) -> str:
    return hashlib.sha256(repr(sorted(cells.items())).encode()).hexdigest()
