"""What the missing values of a feature tell about the target, and what a feature tells about missing targets.

Both are the information of an indicator (present or missing): the indicator of the feature with the target's classes,
and the indicator of the target with the feature's values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.feature import indicator, target_indicator
from credimi.core.tables import Tables
from credimi.counts.survey.survey_rows import scaled_blocks
from credimi.inference.tables.many_tables import summarize

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.columns.feature import Feature
    from credimi.core.types import CountArray, FloatArray
    from credimi.inference.belief import Belief


def missingness(features: Sequence[Feature], options: Belief) -> dict[str, FloatArray]:
    """The ranking's columns missing_mi to missing_p_above; 0 if a feature is never or always missing."""
    varies = [bool(each.block[:-1, -1].any() and each.block[:-1, :-1].any()) for each in features]
    return _information("missing", features, indicator, varies, options)


def target_missingness(features: Sequence[Feature], options: Belief) -> dict[str, FloatArray]:
    """The ranking's columns target_missing_mi to target_missing_p_above: how far a missing target depends on a feature.

    0 where the target is never missing, and for features that are not ranked.
    """
    varies = [feature.kind.ranked and bool(feature.block[-1].any()) for feature in features]
    return _information("target_missing", features, target_indicator, varies, options)


def mi_with_target(features: Sequence[Feature], options: Belief) -> dict[str, float]:
    """The mean of I of these features, by name, computed only from the rows that have the target."""
    if not features:
        return {}
    cells = [_cells(feature) for feature in features]
    squares = [None if each is None else _labelled(each) for _, each in cells]
    blocks = scaled_blocks([_labelled(block) for block, _ in cells], squares)
    tables = Tables.of(blocks, [feature.odds for feature in features])
    means = summarize(tables, options, if_dependent=False).mean
    return dict(zip((feature.name for feature in features), means.tolist(), strict=True))


def _cells(feature: Feature) -> tuple[FloatArray, FloatArray | None]:
    """The counts of a feature, and the sums of the squares of its weights, if they are survey weights."""
    return feature.block.astype(np.float64), feature.squares


def _labelled(block: FloatArray) -> FloatArray:
    """The counts of only the rows that have the target."""
    return np.vstack([block[:-1], np.zeros_like(block[-1:])])


def _information(
    prefix: str,
    features: Sequence[Feature],
    indicator_of: Callable[[CountArray], CountArray],
    varies: list[bool],
    options: Belief,
) -> dict[str, FloatArray]:
    """Four columns of all features: the information of the indicators that vary; 0 for the others."""
    names = {"mean": f"{prefix}_mi"} | {name: f"{prefix}_{name}" for name in ("low", "high", "p_above")}
    columns = {shown: np.zeros(len(varies)) for shown in names.values()}
    if any(varies):
        cells = [_cells(feature) for feature, varying in zip(features, varies, strict=True) if varying]
        blocks = [indicator_of(block) for block, _ in cells]
        squares = [None if each is None else indicator_of(each) for _, each in cells]
        if any(each is not None for each in squares):
            blocks = scaled_blocks(blocks, squares)
        summary = summarize(Tables.of(blocks), options, if_dependent=False)
        for name, shown in names.items():
            columns[shown][np.array(varies, dtype=bool)] = getattr(summary, name)
    return columns
