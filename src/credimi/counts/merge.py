"""Merges the counts of parts of a table: parts of the rows by `+` (see `counts`), parts of the columns by `beside`.

Engines that count in several places send `Counts` as bytes, in the format of counts files.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from credimi.columns import labels
from credimi.core.errors import CredimiError
from credimi.counts.counts import Counts, bounded, merged
from credimi.counts.request import Plan, checked
from credimi.counts.rows import sampled_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_ROUNDING = 1e-12  # of sums of weights, in batches of other sizes; whole numbers of rows differ by more


def merged_bytes(parts: Iterable[bytes]) -> bytes:
    """The same for counts as bytes."""
    total = merged(map(Counts.from_bytes, parts))
    return b"" if total is None else total.to_bytes()


def beside(blocks: Sequence[Counts], plan: Plan) -> Counts:
    """One `Counts` from counts of the same rows and different columns."""
    first = blocks[0]
    for other in blocks[1:]:
        if not math.isclose(other.rows, first.rows, rel_tol=_ROUNDING) or other.classes != first.classes:
            raise CredimiError(
                "the table changed between two passes, or its rows are drawn at random: store it, and count the result"
            )
    return _joined(blocks, plan)


def _joined(blocks: Sequence[Counts], plan: Plan) -> Counts:
    first = blocks[0]
    max_labels = plan.most_labels(len(first.classes))
    columns = {
        name: bounded(column_labels, block, max_labels, plan.most_bytes)
        for counts in blocks
        for name, column_labels, block in zip(counts.features, counts.labels, counts.blocks(), strict=True)
    }
    whole = Counts.join(plan.target, first.classes, columns, first.rows, plan.settings)
    squares = [part for part in (counts.of_squares() for counts in blocks) if part is not None]
    flat_squares = _joined(squares, plan).flat if len(squares) == len(blocks) else None
    sample = sampled_rows.beside(counts.sample for counts in blocks)
    return replace(whole, squares=first.squares, flat_squares=flat_squares, sample=sample)


def within_plan(counts: Counts, plan: Plan) -> Counts:
    """The same counts with no more labels than the number of all features allows; `+` knows only its own columns."""
    max_labels = plan.most_labels(len(counts.classes))
    within_limits = all(
        len(column_labels) <= max_labels and not labels.too_long(column_labels, plan.most_bytes)
        for column_labels in counts.labels
    )
    return counts if within_limits else _joined([counts], plan)


def as_planned(content: bytes, plan: Plan) -> Counts:
    """Counts from bytes, with the settings of the plan: in JSON, tuples of the settings have become lists."""
    return checked(replace(Counts.from_bytes(content), settings=plan.settings), plan)
