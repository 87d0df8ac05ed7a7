"""Quantiles of the least and of the largest I of many tables at many factors, for those who ask about all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.inference.bounds.information_bounds import largest_values, least_values, misses
from credimi.inference.bounds.observed_draws import observed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.tables import Tables
    from credimi.core.types import FloatArray
    from credimi.inference.options import PosteriorOptions


def curves(blocks: Tables, factors: Sequence[float], levels: FloatArray, options: PosteriorOptions) -> FloatArray:
    """Quantiles at these levels, (tables, 2, factors, levels), the least I first; the factors ascend.

    They are NaN for tables without missing values.
    """
    found = np.full((blocks.rows.size, 2, len(factors), levels.size), np.nan)
    incomplete = misses(blocks)
    places, drawn = np.flatnonzero(incomplete), observed(blocks.chosen(incomplete), options)

    def work(number: int) -> None:
        own = found[places[number]]
        for place, factor in enumerate(factors):
            own[0, place] = _quantiles(*least_values(drawn[number], factor), levels)
            own[1, place] = _quantiles(*largest_values(drawn[number], factor), levels)
        own[0] = np.minimum.accumulate(own[0], axis=0)  # but for the search for the largest, this is so anyway
        own[1] = np.maximum.accumulate(own[1], axis=0)

    share(work, range(places.size), options.threads)
    return found


def _quantiles(values: FloatArray, weight: FloatArray, levels: FloatArray) -> FloatArray:
    """Between the middles of the weights, straight lines."""
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.interp(levels, middle / weight.sum(), values[order])
