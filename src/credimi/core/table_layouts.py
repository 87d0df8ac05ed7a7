"""The ways to write down one table of counts: bare numbers, with labels, with `?` for missing, or as two columns.

    numbers             r rows of s counts; the margins, if any, are given beside them
    "?" in the corner   (r + 1) x (s + 1): the last row and column are the margins, and their common cell is not used
    labels              a frame, or lists whose first row, first column, or both, are text; the row and the column whose
                        label means missing are the margins. Numbers are labels, too, in a row below an empty corner
    two columns         one value per data row in each, some of them missing: they are counted here

`Table` takes all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import chain, pairwise
from numbers import Number
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Foreign, Value

MISSING = "?"
CORNER_REMEDY = (  # of a value that is missing there, which 0 would turn into another table
    'put "?" there if the last row and column are the counts of missing values, or pass these as target_only and '
    "feature_only"
)
MISSING_TEXTS = ("", MISSING, "NA", "NaN", "null")
_TOTALS = {"all", "total", "sum", "margin"}  # as pandas and others name them
_YEARS = range(1900, 2101)
_MAX_DIFFERENT_NUMBERS = 20  # of a column of fractions: more are measurements, which need cuts


@dataclass(frozen=True, slots=True)
class Layout:
    """Counts without labels and margins, and these beside them; None where there are none."""

    joint: Foreign
    target_only: Foreign = None
    feature_only: Foreign = None
    classes: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None


def layout_of(joint: Foreign, target_only: Foreign, feature_only: Foreign) -> Layout:
    """What was passed, with labels and margins taken out of the counts."""
    if are_columns(joint, target_only) and feature_only is None:
        return _layout_of_columns(list(joint), list(target_only))
    found = _layout_of_frame(joint) if hasattr(joint, "columns") else _layout_of_rows(joint)
    if (target_only is not None and found.target_only is not None) or (
        feature_only is not None and found.feature_only is not None
    ):
        raise CredimiError("the table has a margin of its own for missing values: do not pass it a second time")
    margins = (
        found.target_only if target_only is None else target_only,
        found.feature_only if feature_only is None else feature_only,
    )
    return Layout(found.joint, *margins, found.classes, found.values)


def means_missing(value: Value) -> bool:
    """Whether a label or a value stands for missing ones."""
    if isinstance(value, str):
        return value in MISSING_TEXTS
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in {"NAType", "NaTType"}


def _label(value: Value) -> str:
    """A label as text; pandas makes whole numbers beside a NaN fractions."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def are_columns(one: Foreign, other: Foreign) -> bool:
    """Whether these are two columns of data: no table of counts has one row that is no list, so that this is clear."""
    return _is_column(one) and _is_column(other)


def _is_column(values: Foreign) -> bool:
    """Whether these are single values, one after another."""
    if isinstance(values, list | tuple):
        return bool(values) and not any(hasattr(value, "__len__") and not isinstance(value, str) for value in values)
    return getattr(values, "shape", None) is not None and len(values.shape) == 1 and hasattr(values, "__iter__")


def _layout_of_columns(one: list[Value], other: list[Value]) -> Layout:
    """Count two columns; rows in which both are missing tell nothing."""
    if len(one) != len(other):
        raise CredimiError(
            f"two columns have one value for each data row, but these have {len(one)} and {len(other)}; for a table "
            "pass rows of counts, such as [[10, 2], [3, 15]]"
        )
    labels = [_labels_of(name, column) for name, column in (("first", one), ("second", other))]
    if not all(labels):
        raise CredimiError("one of the two columns has no value: nothing can depend on it")
    counts = Counter(
        (None if means_missing(a) else a, None if means_missing(b) else b) for a, b in zip(one, other, strict=True)
    )
    classes, values = labels
    return Layout(
        [[counts[a, b] for b in values] for a in classes],
        [counts[a, None] for a in classes],
        [counts[None, b] for b in values],
        tuple(map(_label, classes)),
        tuple(map(_label, values)),
    )


def _labels_of(name: str, column: list[Value]) -> list[Value]:
    """The different values of a column, in order."""
    found = {value for value in column if not means_missing(value)}
    if len(found) > _MAX_DIFFERENT_NUMBERS and any(isinstance(value, float) and value % 1.0 for value in found):
        raise CredimiError(
            f"the {name} column holds {len(found)} different numbers, not categories: cut it into ranges first, or "
            "pass the data to credimi.rank(data, target), which does"
        )
    try:
        return sorted(found)
    except TypeError:
        return sorted(found, key=str)


def _layout_of_frame(frame: Foreign) -> Layout:
    """A frame of pandas, whose index labels the rows, or of polars, whose first column does if it is text."""
    if not hasattr(frame, "index"):
        rows = [list(row) for row in frame.rows()]
        _refuse_data(frame.columns, rows)
        return _without_margins([list(frame.columns), *rows], heads=True, names=_is_label_column(rows))
    values, index = list(frame.columns), list(frame.index)
    rows = frame.to_numpy().tolist()
    _refuse_data(values, rows)
    if all(type(labels).__name__ == "RangeIndex" for labels in (frame.index, frame.columns)):
        return _layout_of_rows(rows)
    if type(frame.index).__name__ == "RangeIndex":
        return _without_margins([values, *rows], heads=True, names=_is_label_column(rows))
    labelled = [[label, *row] for label, row in zip(index, rows, strict=True)]
    return _without_margins([["", *values], *labelled], heads=True, names=True)


def _refuse_data(names: Sequence[Value], rows: list[list[Value]]) -> None:
    """Refuse two columns of data in one frame: counts are numbers."""
    seconds = [row[1] for row in rows] if len(names) == 2 else []
    if any(isinstance(each, str) and not _is_number(each) and not means_missing(each) for each in seconds):
        one, other = (f"frame[{name!r}]" for name in names)
        raise CredimiError(f"the frame holds two columns of data, not counts: pass the two columns, {one}, {other}")


def _layout_of_rows(joint: Foreign) -> Layout:
    """Lists or arrays; those of numbers only stay as they are."""
    if getattr(getattr(joint, "dtype", None), "kind", "O") not in "OUST":
        return Layout(joint)
    rows = joint.tolist() if hasattr(joint, "tolist") else joint
    if not isinstance(rows, list | tuple) or not all(isinstance(row, list | tuple) and row for row in rows) or not rows:
        return Layout(joint)
    rows = [list(row) for row in rows]
    heads = len(rows) > 1 and _is_head(rows[0], rows[1:])
    names = _is_label_column(rows[heads:]) or (heads and rows[0][0] == "" and _are_as_long(rows[1:], len(rows[0])))
    if names and not heads:
        _refuse_doubtful_head(rows[0])
    if heads or names:
        return _without_margins(rows, heads=heads, names=names)
    corner, shortest = rows[-1][-1], min(len(rows), len(rows[0]))
    if shortest > 1 and isinstance(corner, str) and corner.strip() == MISSING:
        joint, target_only = [row[:-1] for row in rows[:-1]], [row[-1] for row in rows[:-1]]
        return Layout(joint, target_only, rows[-1][:-1])
    if shortest > 2 and means_missing(corner):
        raise CredimiError(f"joint[{len(rows) - 1}][{len(rows[0]) - 1}] is {corner!r}: {CORNER_REMEDY}")
    return Layout(joint)


def _is_number(cell: Value) -> bool:
    if isinstance(cell, str):
        try:
            return math.isfinite(float(cell))
        except ValueError:
            return False
    return isinstance(cell, Number)


def _is_head(first: Sequence[Value], others: list[list[Value]]) -> bool:
    """Whether the first row holds labels: text, or numbers if a corner is left empty, or left out beside labels."""
    if not any(map(_is_number, first)):
        return True
    names = _is_label_column(others)
    if first[0] == "" and min(len(first) - 1, len(others)) > 1:
        return names or _are_as_long(others, len(first))
    if names and means_missing(first[0]) and first[0] != MISSING:  # this may be the row of the missing
        return True
    return names and _are_as_long(others, len(first) + 1)


def _are_as_long(rows: list[list[Value]], length: int) -> bool:
    """Whether each row has so many cells; that of the missing, if it is the last, may lack the corner."""
    *others, last = rows
    is_short = len(last) == length - 1 > 0 and means_missing(last[0])
    return all(len(row) == length for row in (others if is_short and others else rows))


def _refuse_doubtful_head(first: Sequence[Value]) -> None:
    """Refuse a labelled first row of years, or of 0, 1, ...: labels of values are much more probable than counts."""
    numbers = [float(cell) for cell in first[1:] if _is_number(cell)]
    steps = {after - before for before, after in pairwise(numbers)}
    is_year = all(number in _YEARS for number in numbers)
    if len(numbers) > 1 and len(numbers) == len(first) - 1 and steps == {1.0} and (is_year or numbers[0] == 0.0):
        shown = ", ".join(_label(number) for number in numbers)
        raise CredimiError(
            f"the first row, {first[0]!r}, may be the labels {shown} or their counts: leave its first cell empty if "
            "they are labels; if they are counts, put a row of labels above"
        )


def _is_label_column(rows: Sequence[Sequence[Value]]) -> bool:
    """Whether each row starts with text; one that means missing may be among them."""
    if min(map(len, rows)) < 2:
        return False
    firsts = [row[0] for row in rows]
    texts = [isinstance(first, str) and not _is_number(first) for first in firsts]
    return all(text or means_missing(first) for text, first in zip(texts, firsts, strict=True)) and any(
        text and not means_missing(first) for text, first in zip(texts, firsts, strict=True)
    )


def _without_margins(rows: list[list[Value]], *, heads: bool, names: bool) -> Layout:
    """Take labels, and the row and column of the missing, out of labelled rows."""
    body = rows[heads:]
    classes = [row[0] for row in body] if names else None
    cells = [row[names:] for row in body]
    width = max(map(len, cells))
    values = rows[0][len(rows[0]) - width :] if heads else None
    if values is not None and len(values) != width:
        raise CredimiError(f"the first row has {len(rows[0])} labels for {width} columns: give one for each")
    row, column = _place_of_missing(classes, "row"), _place_of_missing(values, "column")
    if row is not None and len(cells[row]) == width - 1 and column == width - 1:
        cells[row] = [*cells[row], 0]  # the corner, in which neither is seen, may be left out
    for place, line in enumerate(cells):
        if len(line) != width:
            raise CredimiError(f"row {place + 1} has {len(line)} counts, but there are {width} columns")
    _refuse_totals(classes, values, cells)
    inner_rows = [index for index in range(len(cells)) if index != row]
    inner_columns = [index for index in range(width) if index != column]
    return Layout(
        [[cells[i][j] for j in inner_columns] for i in inner_rows],
        None if column is None else [cells[i][column] for i in inner_rows],
        None if row is None else [cells[row][j] for j in inner_columns],
        None if classes is None else tuple(_label(classes[i]) for i in inner_rows),
        None if values is None else tuple(_label(values[j]) for j in inner_columns),
    )


def _place_of_missing(labels: Sequence[Value] | None, line: str) -> int | None:
    places = [place for place, label in enumerate(labels or ()) if means_missing(label)]
    if len(places) > 1:
        raise CredimiError(f"{len(places)} {line}s are labelled as missing values: keep one of them")
    return places[0] if places else None


def _refuse_totals(classes: Sequence[Value] | None, values: Sequence[Value] | None, cells: list[list[Value]]) -> None:
    """Sums of the other counts would be counted twice."""
    if not all(map(_is_number, chain(*cells))):
        return
    numbers = [[float(cell) for cell in row] for row in cells]
    for labels, line, lines in ((classes, "row", numbers), (values, "column", list(zip(*numbers, strict=True)))):
        if labels and str(labels[-1]).lower() in _TOTALS and _last_is_sum(lines):
            raise CredimiError(f"the {line} {labels[-1]!r} holds the sums of the others: leave it out")
    refuse_sums(numbers)


def refuse_sums(cells: Sequence[Sequence[float]]) -> None:
    """Refuse a table whose last row and last column are the sums of the others, whatever their labels.

    With counts in two rows and two columns at least, hardly any other table is like that.
    """
    inner = [row[:-1] for row in cells[:-1]]
    filled = min((sum(map(any, lines)) for lines in (inner, list(zip(*inner, strict=True)))), default=0)
    if filled > 1 and _last_is_sum(cells) and _last_is_sum(list(zip(*cells, strict=True))):
        raise CredimiError(
            "the last row and the last column hold the sums of the others: leave them out (if they are counts of their "
            "own, pass a Table with classes and values)"
        )


def _last_is_sum(lines: Sequence[Sequence[float]]) -> bool:
    """Whether the last line is the sum of the others, but for rounding."""
    return all(math.isclose(sum(others), last) for *others, last in zip(*lines, strict=True))
