"""Quantiles of a target, from a first pass over its values: the cuts by which rows are then counted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.missing import missing_of
from credimi.columns.numbers.target_ranges import TargetValues, bins_asked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.columns.reading_options import ReadingOptions
    from credimi.counts.batch import Batch


def with_quantiles(settings: ReadingOptions, batches: Iterable[Batch], target: str) -> ReadingOptions:
    """The same settings, with cuts instead of the quantiles that they ask for."""
    values = TargetValues(target)
    for batch in batches:
        missing = missing_of(settings.missing_values, raw=batch.raw)
        column = batch.encoded(target, missing)
        codes = np.minimum(column.codes, column.values)
        totals = np.bincount(codes, batch.weights, minlength=column.values + 1)[:-1].astype(np.float64)
        keep = (totals > 0) & ~missing.among(column)
        values.add(column, keep, totals[keep])
    return replace(settings, target_cuts=values.quantiles(bins_asked(settings.target_cuts) or 1))
