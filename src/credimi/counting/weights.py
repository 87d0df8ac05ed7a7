"""The weight of each row, if a column has weights.

Whole weights are numbers of rows, as in a table in which equal rows were combined: the counts are exactly those of the
repeated rows. Other weights, such as those of surveys, are no numbers of rows. Their sum shows how they were scaled,
not how much is known. So the sum of their squares is stored beside the counts, and results treat them as (sum w)^2 /
sum w^2 rows (Kish's effective sample size). This is the number of rows if all weights are equal, and less otherwise
(`effective`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import BOOLEAN
from credimi.columns.missing import missing_of
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.columns.column import Column
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import FloatArray
    from credimi.counting.batch import Batch
    from credimi.counting.counts import Counts

_MAX_EXACT_SUM = 2.0**53  # larger sums of doubles are rounded
_SQUARES_RANGE = 1e-280, 1e280  # between these, doubles keep all digits of a sum of squares


def weighted(batches: Iterable[Batch], settings: ReadingOptions) -> Iterator[Batch]:
    """The same batches of a table or of files, with the weights from their column, if there is one."""
    name, start, path = settings.weights, 0, None
    for batch in batches:
        start = start if batch.path == path else 0
        yield batch if name is None else replace(batch, weights=_weights(batch, name, settings, start))
        start, path = start + batch.rows, batch.path


def with_squares(counts: Counts, weights: FloatArray) -> Counts:
    """The counts of one batch, with the squares of its weights; as whole numbers, if the weights are whole."""
    with np.errstate(over="ignore"):  # `effective` refuses infinity
        counts = replace(counts, squares=float(weights @ weights))
    if counts.rows >= _MAX_EXACT_SUM or not np.array_equal(weights, np.rint(weights)):
        return counts
    return replace(counts, flat=np.rint(counts.flat).astype(np.int64), rows=round(counts.rows))


def effective(counts: Counts) -> Counts:
    """The same counts; weights that are no numbers of rows are scaled to as many rows as they are worth.

    Counts that are already scaled stay the same.
    """
    if counts.settings.weights is None or not counts.rows > 0.0:
        return counts
    if counts.flat.dtype.kind != "f" and counts.rows < _MAX_EXACT_SUM:
        return counts
    share = _share(counts.rows, counts.squares, counts.settings)
    return replace(counts, flat=counts.flat * share, rows=counts.rows * share, squares=counts.squares * share**2)


def whole_but_too_large(counts: Counts) -> bool:
    """Whether weights look like numbers of rows, but were not used as such, because their sum is not exact."""
    return bool(counts.rows >= _MAX_EXACT_SUM and np.array_equal(counts.flat, np.rint(counts.flat)))


def worth_rows(weights: FloatArray, settings: ReadingOptions) -> FloatArray:
    """The same weights, if they are numbers of rows; others scaled as `effective` scales their counts."""
    total = float(weights.sum())
    if not total > 0.0 or (total < _MAX_EXACT_SUM and np.array_equal(weights, np.rint(weights))):
        return weights
    with np.errstate(over="ignore"):
        return weights * _share(total, float(weights @ weights), settings)


def _share(total: float, squares: float, settings: ReadingOptions) -> float:
    """The factor that scales weights with this sum, and this sum of squares, to numbers of rows."""
    if not _SQUARES_RANGE[0] < squares < _SQUARES_RANGE[1]:
        raise CredimiError(
            f"the squares of the weights {settings.weights!r} sum to {squares:g}, which is too "
            f"{'small' if squares < 1.0 else 'large'} to calculate with: divide all weights by their mean"
        )
    return total / squares


def _weights(batch: Batch, name: str, settings: ReadingOptions, start: int) -> FloatArray:
    missing = missing_of(settings.missing_values, raw=batch.raw)
    column = batch.encoded(name, missing)
    means_missing = np.append(missing.among(column), True)
    numbers = np.where(means_missing[:-1], np.nan, _numbers(column))
    codes = np.minimum(column.codes, column.values)
    weights: FloatArray = np.append(numbers, np.nan)[codes]
    is_valid = (weights >= 0.0) & (weights < np.inf)  # false for NaN
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        location, fault = (
            "" if batch.path is None else f"{batch.path}: ",
            "is missing" if means_missing[codes[row]] else _fault(column, int(codes[row])),
        )
        raise CredimiError(
            f"{location}the weight {name!r} of row {start + row + 1:,} (the first is 1) {fault}: weights are finite "
            "numbers from 0 up; correct it, or leave the row out"
        )
    return weights


def _numbers(column: Column) -> FloatArray:
    """The labels as numbers; NaN for a label that is no number."""
    if column.numbers is not None:
        return np.full(column.values, np.nan) if column.instants or column.spans else column.numbers
    if column.kind == BOOLEAN:
        return np.full(column.values, np.nan)
    read = [float(text) if text_types.is_number(text, names_too=True) else np.nan for text in column.texts]
    return np.array(read, dtype=np.float64)


def _fault(column: Column, code: int) -> str:
    if column.numbers is None:
        text = column.texts[code]
        return f"is {text if text_types.is_number(text) else repr(text)}"
    shown = text_types.shown_date if column.instants else text_types.shown_number
    return f"is {shown(column.numbers[code])}"
