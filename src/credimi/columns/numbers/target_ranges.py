"""A target of numbers or dates, cut into ranges that are its classes.

The cuts must be known before anything is counted: a table for each feature and each number would be too large. Rows are
then counted by the position of their range, from 0 to the number of cuts, and the ranges get their names when the
counts are read. Cuts are numbers, or dates as text; "quantile:4" asks for four ranges of about equal counts, and needs
a first pass over all values (`quantiles`).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import MANY, NUMBER, TEXT, Labels, of_numbers, union
from credimi.columns.numbers.ranges import bins_of, cut_texts, named_ranges, quantile_cuts
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from credimi.columns.column import Column
    from credimi.core.types import BooleanArray, CountArray, FloatArray, IntegerArray, Option, Value

    Cuts: TypeAlias = tuple[float | str, ...]  # numbers, or dates as text

_QUANTILE = re.compile(r"quantile:([1-9]\d{0,3})")
_MAX_RANGES = 1000  # classes of a target
CELLS, ROWS_OF_CELL = 128, 6  # of a target that is a number: the most cells, and the fewest rows of one
RANGES_OF_NUMBER = 4  # where a number has to be classes
QUARTILES = (0.25, 0.5, 0.75)


def checked_cuts(given: Option) -> Cuts | str | None:
    """The cuts in order, or "quantile:K", or None."""
    if given is None:
        return None
    if (
        isinstance(given, str)
        and (quantiles := _QUANTILE.fullmatch(given.strip()))
        and 2 <= int(quantiles[1]) <= _MAX_RANGES
    ):
        return quantiles[0]
    cuts = [given] if isinstance(given, str | int | float) or not hasattr(given, "__iter__") else list(given)
    try:
        dates = sorted({text_types.days_of(cut) for cut in cuts if not _is_number(cut)})
        numbers = sorted({float(cut) for cut in cuts if _is_number(cut)})
    except (OverflowError, TypeError, ValueError):
        dates = numbers = []
    if bool(dates) == bool(numbers) or not np.isfinite(numbers).all() or len(cuts) >= _MAX_RANGES:
        raise CredimiError(
            f"{given!r} are no cuts of a target: pass numbers, such as [30, 50], dates, such as ['2024-02-29'], or "
            "'quantile:4' for four ranges of about equal counts, of 2 to 1,000 (target_cuts, --target-cuts)"
        )
    return tuple(numbers) if numbers else tuple(map(text_types.shown_date, dates))


def _is_number(cut: Value) -> bool:
    if isinstance(cut, str):
        return text_types.is_number(cut, names_too=True)
    return isinstance(cut, int | float | np.number) and not isinstance(cut, bool)


def named_classes(positions: Labels, cuts: Cuts) -> Labels:
    """The names of the ranges whose positions are the labels, in the same order."""
    names = named_ranges([cut if isinstance(cut, str) else text_types.shown_number(cut) for cut in cuts])
    return Labels(TEXT, tuple(names[int(position)] for position in positions.numbers))


def joined_classes(positions: Labels, cuts: Cuts) -> tuple[Labels, IntegerArray]:
    """A few ranges of a number, each of as many of its cells, and the range of each cell whose position is a label."""
    cells = len(cuts) + 1
    count = min(RANGES_OF_NUMBER, cells)
    firsts = -(-np.arange(1, count) * cells // count)  # the first cell of each range but the first
    names = named_classes(
        Labels(NUMBER, numbers=np.arange(count, dtype=np.float64)), tuple(cuts[cell - 1] for cell in firsts.tolist())
    )
    range_of = positions.numbers.astype(np.int64) * count // cells
    occurring, places = np.unique(range_of, return_inverse=True)
    return Labels(TEXT, tuple(names.texts[place] for place in occurring.tolist())), places.astype(np.int64).ravel()


def quartiles(block: CountArray, cuts: FloatArray) -> list[list[float | None]]:
    """The quartiles of a number in the rows of each value; `block` has its cells, (cells + 1) x (values + 1).

    Within a cell rows are spread evenly; the first and the last cell end at their only cut. None: no rows.
    """
    counts = np.asarray(block[:-1, :-1], dtype=np.float64)
    edges = np.concatenate([cuts[:1], cuts, cuts[-1:]])
    found: list[list[float | None]] = []
    for rows in counts.T:
        below = np.concatenate([[0.0], np.cumsum(rows)])
        if not below[-1] > 0.0:
            found.append([None] * 3)
            continue
        filled = np.append(True, np.diff(below) > 0.0)  # rows below an edge rise from one of these to the next
        found.append(np.interp(below[-1] * np.array(QUARTILES), below[filled], edges[filled]).tolist())
    return found


def ranges(column: Column, keep: BooleanArray, cuts: Cuts, target: str) -> tuple[Labels, IntegerArray]:
    """The positions of the ranges that occur among the kept labels, and the range of each label."""
    numbers, dates = target_numbers(column, keep, target)
    cuts_are_dates = isinstance(cuts[0], str)
    if dates is not None and dates != cuts_are_dates:
        held, other, such = ("dates", "numbers", "2024-02-29") if dates else ("numbers", "dates", "30,50")
        raise CredimiError(
            f"target {target!r} holds {held}, but its cuts are {other}: pass {held}, such as {such} "
            "(target_cuts, --target-cuts)"
        )
    edges = [text_types.days_of(cut) if isinstance(cut, str) else cut for cut in cuts]
    occurring, positions = np.unique(bins_of(numbers, edges), return_inverse=True)
    return Labels(NUMBER, numbers=occurring.astype(np.float64)), positions.astype(np.int64).ravel()


def target_numbers(column: Column, keep: BooleanArray, target: str) -> tuple[FloatArray, bool | None]:
    """The kept labels as numbers, and whether these are dates; None if there are none."""
    if column.numbers is not None:
        return column.numbers[keep], column.instants if keep.any() else None
    if column.kind == MANY:
        raise CredimiError(f"target {target!r} holds more texts than are kept: only numbers and dates can be cut")
    texts = [text for text, kept in zip(column.texts, keep.tolist(), strict=True) if kept]
    read = [_number(text, target) for text in texts]
    kinds = {dated for _, dated in read}
    if len(kinds) > 1:
        stray = next(text for text, (_, dated) in zip(texts, read, strict=True) if dated != read[0][1])
        raise CredimiError(
            f"target {target!r} holds both numbers and dates, {texts[0]!r} and {stray!r}: only one of them can be cut"
        )
    return np.array([number for number, _ in read], dtype=np.float64), kinds.pop() if kinds else None


def _number(text: str, target: str) -> tuple[float, bool]:
    """A text as a number, and whether it is a date; independent of the other texts."""
    found = text_types.readable([text])
    if found is None:
        raise CredimiError(
            f"target {target!r} holds {text!r}, which is neither a number nor a date, and cannot be cut: write it as a "
            "plain number, say that it means missing (missing_values, --missing), or leave the cuts out "
            "(target_cuts, --target-cuts)"
        )
    return float(found[0][0]), found[1] == text_types.DATES


class TargetValues:
    """The distinct values of a target so far, and how often each occurs; quantiles are computed from them."""

    def __init__(self, target: str) -> None:
        self.target = target
        self.labels, self.totals = Labels(NUMBER), np.zeros(0)
        self.dates: bool | None = None

    def add(self, column: Column, keep: BooleanArray, totals: FloatArray) -> None:
        """Add rows; `totals` are the counts of the kept labels."""
        numbers, dates = target_numbers(column, keep, self.target)
        if dates is None:
            return
        if self.dates is not None and dates != self.dates:
            raise CredimiError(f"target {self.target!r} holds both numbers and dates: only one of them can be cut")
        self.dates = dates
        new_labels, positions = of_numbers(numbers, instants=dates)
        merged, old_positions, new_positions = union(self.labels, new_labels)
        merged_totals = np.zeros(len(merged))
        np.add.at(merged_totals, old_positions, self.totals)
        np.add.at(merged_totals, new_positions[positions], totals)
        self.labels, self.totals = merged, merged_totals

    def cells(self) -> Cuts:
        """The cuts of the cells of a number: up to `CELLS`, each of `ROWS_OF_CELL` rows at least."""
        rows = max(float(self.totals.sum()), 1.0)
        return self.quantiles(int(np.clip(2.0 ** np.floor(np.log2(rows / ROWS_OF_CELL)), RANGES_OF_NUMBER, CELLS)))

    def quantiles(self, bins: int) -> Cuts:
        """Cuts into `bins` ranges of about equal counts, with as few digits as keep the values in their ranges."""
        cuts = quantile_cuts(self.labels.numbers, self.totals, bins)
        if not cuts.size:
            raise CredimiError(f"target {self.target!r} has fewer than two different values: nothing can be cut")
        if not self.dates:
            return tuple(map(float, cut_texts(cuts, self.labels.numbers)))
        values_below = np.searchsorted(self.labels.numbers, cuts, side="right") - 1
        return tuple(
            self._date_text(cut, value_below)
            for cut, value_below in zip(cuts.tolist(), values_below.tolist(), strict=True)
        )

    def _date_text(self, cut: float, value_below: int) -> str:
        """A cut between the date at this position and the next, as text: a day if both are days, else an instant."""
        low, high = self.labels.numbers[value_below : value_below + 2].tolist()
        text = text_types.shown_date(float(np.floor(cut)) if self.labels.integral else cut)
        return text if low <= text_types.days_of(text) < high else text_types.shown_date(low)


def bins_asked(cuts: Cuts | str | None) -> int | None:
    """How many ranges "quantile:K" asks for; None if cuts are given, or nothing."""
    return int(cuts.partition(":")[2]) if isinstance(cuts, str) else None
