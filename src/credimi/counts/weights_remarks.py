"""What was done with the weights of the rows, as remarks: the same for every question that takes weights.

Survey weights were scaled to the rows that they are worth. Whole weights were taken for numbers of rows; a caution asks
whether that is right, if they look like survey weights.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.counts.weights import are_survey, mean_if_survey
from credimi.results.remarks import Remark, RemarkKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.reading_options import ReadingOptions
    from credimi.counts.codes import Codes
    from credimi.counts.counts import Counts


def on_weights(codes: Codes) -> tuple[Remark, ...]:
    """The remarks on the weights of all rows; survey weights are scaled already."""
    weights = codes.weights
    if weights is None:
        return ()
    return _remarks(float(weights.sum()), float(weights @ weights), codes.book.settings, is_survey=codes.is_survey)


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
