"""Counts of fewer rows: without rows that were counted before, or only of rows whose class is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import BooleanArray
    from credimi.counts.counts import Counts

_ROUNDING = 1e-9  # of weights that are subtracted


def difference(counts: Counts, other: Counts) -> Counts:
    """The counts without those of other rows, which were counted before."""
    negated = None if other.flat_squares is None else -other.flat_squares
    both = counts + replace(
        other, flat=-other.flat, rows=-other.rows, squares=-other.squares, flat_squares=negated, sources=()
    )
    slack = _ROUNDING * max(float(counts.flat.max(initial=0)), 1.0) if both.flat.dtype.kind == "f" else 0
    for name, block in zip(both.features, both.blocks(), strict=True):
        if np.any(block < -slack):
            raise CredimiError(f"column {name!r}: more is subtracted than was counted; pass rows that were counted")
    remains = both.flat > slack
    squares = None if both.flat_squares is None else np.where(remains, np.maximum(both.flat_squares, 0.0), 0.0)
    return _trimmed(replace(both, flat=np.where(remains, both.flat, 0), flat_squares=squares))


def labelled(counts: Counts) -> Counts:
    """The counts of only those rows whose class is known."""
    squares, kept = counts.of_squares(), _with_class(counts)
    if squares is not None:
        squares = _with_class(squares)
        kept = replace(kept, squares=squares.rows, flat_squares=squares.flat)
    return _trimmed(kept)


def _with_class(counts: Counts) -> Counts:
    blocks = [block.copy() for block in counts.blocks()]
    rows = counts.rows - blocks[0][-1].sum().item() if blocks else counts.rows  # the same for every feature
    for block in blocks:
        block[-1] = 0
    return replace(counts, flat=np.concatenate([counts.flat[:0], *(block.ravel() for block in blocks)]), rows=rows)


def _trimmed(counts: Counts) -> Counts:
    """The counts without labels and classes that do not occur."""
    class_occurs = np.zeros(len(counts.classes), dtype=bool)
    for block in counts.blocks():
        class_occurs |= block[:-1].any(axis=1)
    occurs = [
        np.asarray(block[:, :-1].any(axis=0) | (column_labels.kind == labels.MANY))
        for column_labels, block in zip(counts.labels, counts.blocks(), strict=True)
    ]
    squares = counts.of_squares()
    flat_squares = None if squares is None else _chosen(squares, class_occurs, occurs).flat
    whole = _chosen(counts, class_occurs, occurs)
    return replace(whole, squares=max(counts.squares, 0.0), flat_squares=flat_squares)


def _chosen(counts: Counts, classes: BooleanArray, values: Sequence[BooleanArray]) -> Counts:
    """The counts of some of the classes, and of some values of each feature."""
    rows, columns = np.append(classes, True), {}
    for name, column_labels, block, chosen in zip(counts.features, counts.labels, counts.blocks(), values, strict=True):
        columns[name] = column_labels.chosen(chosen), block[np.ix_(rows, np.append(chosen, True))]
    return counts.join(counts.target, counts.classes.chosen(classes), columns, counts.rows, counts.settings)
