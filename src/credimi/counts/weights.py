"""The weight of each row, if a column has weights.

Weights are one of two things (`weights_are`). **Rows**: whole weights are numbers of rows, as in a table in which equal
rows were combined; the counts are exactly those of the repeated rows. **Survey**: a row stands for so many people. Such
weights are no numbers of rows: their sum shows how they were scaled, not how much is known. If the user does not say
which, whole weights are rows, and all others survey weights.

The sums of the squares of the weights are counted beside the weights, in each cell and in total. From those of the
cells, `survey_rows` finds how many rows a table is worth. Where only the total is known, or no table is concerned,
survey weights are worth (sum w)^2/sum w^2 rows (Kish's effective sample size). This is the number of rows if all
weights are equal, and less otherwise. `effective` scales counts to this number.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

import numpy as np

from credimi.columns import text_types
from credimi.columns.labels import BOOLEAN
from credimi.columns.missing import missing_of
from credimi.core.errors import CredimiError
from credimi.results.remarks import Remark, RemarkKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from credimi.columns.column import Column
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import FloatArray
    from credimi.counts.batch import Batch
    from credimi.counts.codes import Codebook
    from credimi.counts.counts import Counts

_MAX_EXACT_SUM = 2.0**53  # larger sums of doubles are rounded
_LARGE_WEIGHT, _MANY_ROWS = 20.0, 100  # the mean of the weights, each counted so often as it says; rows in effect
_SQUARES_RANGE = 1e-280, 1e280  # between these, doubles keep all digits of a sum of squares


def weighted(batches: Iterable[Batch], settings: ReadingOptions) -> Iterator[Batch]:
    """The same batches of a table or of files, with the weights from their column, if there is one."""
    name, start, path = settings.weights, 0, None
    for batch in batches:
        start = start if batch.path == path else 0
        yield batch if name is None else replace(batch, weights=_weights(batch, name, settings, start))
        start, path = start + batch.rows, batch.path


def with_squares(counts: Counts, weights: FloatArray) -> Counts:
    """The counts of one batch, with the sum of the squares of its weights; whole numbers, if the weights are whole."""
    with np.errstate(over="ignore", under="ignore"):
        counts = replace(counts, squares=float(weights @ weights))
    if not counts.squares < np.inf:
        raise CredimiError(_no_doubles(counts.squares, counts.settings))
    if counts.rows >= _MAX_EXACT_SUM or not np.array_equal(weights, np.rint(weights)):
        return counts
    return replace(counts, flat=np.rint(counts.flat).astype(np.int64), rows=round(counts.rows))


def are_survey(counts: Counts) -> bool:
    """Whether the counts are sums of survey weights."""
    kind, total = counts.settings.weights_are, counts.rows
    if counts.settings.weights is None or not total > 0.0:
        return False
    are_whole = counts.flat.dtype.kind != "f" and total < _MAX_EXACT_SUM
    if kind == "rows" and total >= _MAX_EXACT_SUM:
        raise CredimiError(_too_many_rows(counts.settings, total))
    return kind == "survey" or (kind is None and not are_whole)


def effective(counts: Counts) -> Counts:
    """The same counts; survey weights are scaled to as many rows as all of them are worth.

    Numbers of rows stay the same, and need no squares. So do counts that are already scaled.
    """
    if not are_survey(counts):
        return counts if counts.flat_squares is None else replace(counts, flat_squares=None)
    share = _share(counts.rows, counts.squares, counts.settings)
    return rescaled(counts, share)


def rescaled(counts: Counts, share: float) -> Counts:
    """The counts of all weights times `share`."""
    flat_squares = None if counts.flat_squares is None else counts.flat_squares * share**2
    scaled = replace(counts, flat=counts.flat * share, rows=counts.rows * share)
    return replace(scaled, squares=counts.squares * share**2, flat_squares=flat_squares)


def scaled_alike(samples: Mapping[str, Counts]) -> dict[str, Counts]:
    """Counts of several groups of the same rows; survey weights are all scaled by the same number.

    So the groups keep their sizes where they are added. If the weights of one group are no numbers of rows, those of
    all groups are none.
    """
    if not any(map(are_survey, samples.values())):
        return {name: effective(counts) for name, counts in samples.items()}
    rows, squares = (sum(getattr(counts, name) for counts in samples.values()) for name in ("rows", "squares"))
    share = _share(float(rows), float(squares), next(iter(samples.values())).settings)
    return {name: rescaled(counts, share) for name, counts in samples.items()}


def whole_but_too_large(counts: Counts) -> bool:
    """Whether weights look like numbers of rows, but were not used as such, because their sum is not exact."""
    too_large = counts.settings.weights_are is None and counts.rows >= _MAX_EXACT_SUM
    return bool(too_large and np.array_equal(counts.flat, np.rint(counts.flat)))


def mean_if_survey(total: float, squares: float, settings: ReadingOptions) -> float | None:
    """The mean weight of whole weights that were taken for numbers of rows, but look like survey weights; or None.

    Tables of combined rows have few rows, or small weights. Survey weights are large, in many rows. `total` is the sum
    of the weights, and `squares` that of their squares.
    """
    if settings.weights is None or settings.weights_are is not None or not total > 0:
        return None
    mean = squares / total
    return mean if mean >= _LARGE_WEIGHT and total >= _MANY_ROWS * mean else None


class Weighed(Protocol):
    """Rows that may have weights: a counter, or codes."""

    @property
    def book(self) -> Codebook:
        """The columns and classes."""

    @property
    def rows(self) -> float:
        """The number of rows, or the sum of their weights."""

    @property
    def squares(self) -> float:
        """The sum of the squares of the weights."""

    @property
    def is_survey(self) -> bool:
        """Whether the weights are survey weights."""


def on_weights(rows: Weighed) -> tuple[Remark, ...]:
    """The remarks on the weights of all rows; survey weights are scaled already."""
    return _remarks(float(rows.rows), rows.squares, rows.book.settings, is_survey=rows.is_survey)


def on_weights_of(samples: Sequence[Counts]) -> tuple[Remark, ...]:
    """The same for the counts of samples that are compared."""
    samples = [sample for sample in samples if sample.settings.weights is not None]
    if not samples:
        return ()
    total, squares = (float(sum(getattr(sample, name) for sample in samples)) for name in ("rows", "squares"))
    return _remarks(total, squares, samples[0].settings, is_survey=any(map(are_survey, samples)))


def _remarks(total: float, squares: float, settings: ReadingOptions, *, is_survey: bool) -> tuple[Remark, ...]:
    if settings.weights is None:
        return ()
    if is_survey:
        return (Remark(RemarkKind.WEIGHTS_SCALED, rows=round(total)),)
    mean = mean_if_survey(total, squares, settings)
    return () if mean is None else (Remark(RemarkKind.WEIGHTS_LARGE, rows=round(total), rows_each=mean),)


def weighing_one(counts: Counts, settings: ReadingOptions) -> Counts:
    """Counts of rows without weights as if each had the weight 1, so that they can be added to weighted ones."""
    if settings.weights is None or counts.settings.weights is not None:
        return counts
    settings = replace(counts.settings, weights=settings.weights, weights_are=settings.weights_are)
    flat_squares = counts.flat.astype(np.float64) if settings.needs_squares else None
    return replace(counts, settings=settings, squares=float(counts.rows), flat_squares=flat_squares)


def worth_rows(weights: FloatArray, settings: ReadingOptions) -> tuple[FloatArray, bool]:
    """The same weights, if they are numbers of rows; survey weights scaled as `effective` scales their counts.

    The second result is whether they are survey weights. The last digits of a sum depend on the order of its terms, and
    the keys of rows would depend on them (see `row_keys`): so the weights are added up in their own order.
    """
    in_order = np.sort(weights)
    with np.errstate(over="ignore"):  # `_share` refuses infinity
        total, squares = float(in_order.sum()), float(np.square(in_order).sum())
    if not total > 0.0 or not _are_survey_weights(weights, total, settings):
        return weights, False
    return weights * _share(total, squares, settings), True


def _are_survey_weights(weights: FloatArray, total: float, settings: ReadingOptions) -> bool:
    """Whether the weights of all rows are survey weights."""
    if settings.weights_are == "rows" and total >= _MAX_EXACT_SUM:
        raise CredimiError(_too_many_rows(settings, total))
    if settings.weights_are is not None:
        return settings.weights_are == "survey"
    return total >= _MAX_EXACT_SUM or not np.array_equal(weights, np.rint(weights))


def _too_many_rows(settings: ReadingOptions, total: float) -> str:
    return (
        f"the weights {settings.weights!r} sum to {total:g} rows, more than can be added exactly (2^53): divide all of "
        "them by the same number, or take them for survey weights (weights_are='survey', --weights-are survey)"
    )


def _share(total: float, squares: float, settings: ReadingOptions) -> float:
    """The factor that scales weights with this sum, and this sum of squares, to numbers of rows."""
    if not _SQUARES_RANGE[0] < squares < _SQUARES_RANGE[1]:
        raise CredimiError(_no_doubles(squares, settings))
    return total / squares


def _no_doubles(squares: float, settings: ReadingOptions) -> str:
    return (
        f"the squares of the weights {settings.weights!r} sum to {squares:g}, which is too "
        f"{'small' if squares < 1.0 else 'large'} to calculate with: divide all weights by their mean"
    )


def _weights(batch: Batch, name: str, settings: ReadingOptions, start: int) -> FloatArray:
    missing = missing_of(settings.missing_values, raw=batch.raw)
    column = batch.encoded(name, missing)
    means_missing = np.append(missing.among(column), True)
    numbers = np.where(means_missing[:-1], np.nan, _numbers(column))
    codes = np.minimum(column.codes, column.values)
    weights: FloatArray = np.append(numbers, np.nan)[codes]
    is_valid = (weights >= 0.0) & (weights < np.inf)  # false for NaN
    expected = "weights are finite numbers from 0 up; correct it, or leave the row out"
    if settings.weights_are == "rows" and is_valid.all():
        is_valid = weights == np.rint(weights)
        expected = (
            "numbers of rows are whole; correct it, or take the weights for survey weights (weights_are='survey', "
            "--weights-are survey)"
        )
    if not is_valid.all():
        row = int(np.argmin(is_valid))
        location, fault = (
            "" if batch.path is None else f"{batch.path}: ",
            "is missing" if means_missing[codes[row]] else _fault(column, int(codes[row])),
        )
        raise CredimiError(
            f"{location}the weight {name!r} of row {start + row + 1:,} (the first is 1) {fault}: {expected}"
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
