"""A first pass over the target: where it is cut, if its quantiles are asked for, or if it is a number."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels, text_types
from credimi.columns.interpret import is_number
from credimi.columns.meaning.meaning import CATEGORIES
from credimi.columns.missing import is_missing, missing_of
from credimi.columns.numbers import target_ranges

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.columns.column import Column, ColumnValues
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import BooleanArray, FloatArray
    from credimi.counts.batch import Batch


def with_quantiles(settings: ReadingOptions, batches: Iterable[Batch], target: str) -> ReadingOptions:
    """The same settings, with cuts instead of the quantiles that they ask for, by a first pass over the target."""
    values = target_ranges.TargetValues(target)
    for batch in batches:
        values.add(*_target_of(batch, settings, target))
    return replace(settings, target_cuts=values.quantiles(target_ranges.bins_asked(settings.target_cuts) or 1))


def _target_of(batch: Batch, settings: ReadingOptions, target: str) -> tuple[Column, BooleanArray, FloatArray]:
    """The target of a batch, which of its labels are values, and how often each of these occurs."""
    missing = missing_of(settings.missing_values, raw=batch.raw)
    column = batch.encoded(target, missing)
    codes = np.minimum(column.codes, column.values)
    totals = np.bincount(codes, batch.weights, minlength=column.values + 1)[:-1].astype(np.float64)
    keep = (totals > 0) & ~missing.among(column)
    return column, keep, totals[keep]


def _may_be_numbers(values: ColumnValues) -> bool:
    """Whether the values of a table may be numbers, by their type or their first value that is not missing.

    A column of texts is not encoded for that.
    """
    kind = getattr(getattr(values, "dtype", None), "kind", None)
    if kind == "O" and isinstance(values, np.ndarray):
        first = next((value for value in values.tolist() if not is_missing(value)), None)
        return first is not None and not isinstance(first, str | bool)
    named = str(getattr(values, "type", kind))
    return named.startswith(("int", "uint", "float", "double", "halffloat", "decimal", "i", "u", "f"))


def _are_numbers(column: Column, keep: BooleanArray) -> bool:
    """Whether the kept labels are numbers, or texts of a file that look like numbers."""
    if column.numbers is not None:
        return not column.instants
    kept = (text for text, is_kept in zip(column.texts, keep.tolist(), strict=True) if is_kept)
    return column.kind == labels.RAW and all(map(text_types.NUMBER_TEXT.fullmatch, kept))


def may_be_number(glimpse: Batch, settings: ReadingOptions, target: str, *, peek: bool, is_whole: bool) -> bool:
    """Whether a first pass over the target is worth it, judged by the first rows of a source; or by a type, of no rows.

    With `peek`, few numbers in these rows are classes, until it is known better.
    """
    if settings.target_as is not None:
        return True
    if not (glimpse.raw or _may_be_numbers(glimpse.columns[target])):
        return False
    if not (glimpse.rows and glimpse.raw):
        return not is_whole
    column, keep, _ = _target_of(glimpse, settings, target)
    if not keep.any():
        return not is_whole
    if not _are_numbers(column, keep):
        return False
    values = len(np.unique(target_ranges.target_numbers(column, keep, target)[0]))
    return values > CATEGORIES or not (is_whole or (peek and 2 * values <= glimpse.rows))


def with_cells(
    settings: ReadingOptions, batches: Iterable[Batch], target: str, *, peek: bool = False
) -> ReadingOptions:
    """The same settings, with the cuts of its cells if the target is a number, by a first pass over the target.

    If it is not said to be one, its values decide; with `peek`, one batch in which they are few is enough to leave the
    decision to whoever counts the rest.
    """
    values = target_ranges.TargetValues(target)
    for batch in batches:
        if not batch.rows:
            continue
        if settings.target_as is None and not (batch.raw or _may_be_numbers(batch.columns[target])):
            return settings
        column, keep, totals = _target_of(batch, settings, target)
        if settings.target_as is None and keep.any() and not _are_numbers(column, keep):
            return settings
        values.add(column, keep, totals)
        if settings.target_as is None and peek and len(values.labels) > 0 and not is_number(values.labels):
            return settings
    if settings.target_as is None and not is_number(values.labels):
        return settings
    return replace(settings, target_cuts=values.cells(), target_as="number")
