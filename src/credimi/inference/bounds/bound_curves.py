"""Quantiles of the least and of the largest I of many tables at many factors, for the page of a ranking."""

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
    from credimi.inference.belief import Belief


def curves(blocks: Tables, factors: Sequence[float], levels: FloatArray, options: Belief) -> FloatArray:
    """Quantiles at these levels, (tables, 2, factors, levels): first those of the least I, then of the largest.

    The factors must ascend. Quantiles are NaN for tables without missing values.
    """
    quantiles = np.full((blocks.rows.size, 2, len(factors), levels.size), np.nan)
    incomplete = misses(blocks)
    table_indices, drawn = np.flatnonzero(incomplete), observed(blocks.chosen(incomplete), options)

    def work(number: int) -> None:
        of_table = quantiles[table_indices[number]]
        for factor_index, factor in enumerate(factors):
            of_table[0, factor_index] = _quantiles(*least_values(drawn[number], factor), levels)
            of_table[1, factor_index] = _quantiles(*largest_values(drawn[number], factor), levels)
        # The bounds move apart as the factor grows, except if the search for the largest I, which is not exact, fails.
        of_table[0] = np.minimum.accumulate(of_table[0], axis=0)
        of_table[1] = np.maximum.accumulate(of_table[1], axis=0)

    share(work, range(table_indices.size), options.threads)
    return quantiles


def _quantiles(values: FloatArray, weight: FloatArray, levels: FloatArray) -> FloatArray:
    """Weighted quantiles, interpolated linearly between the middles of the weights."""
    order = np.argsort(values, kind="stable")
    middle = np.cumsum(weight[order]) - 0.5 * weight[order]
    return np.interp(levels, middle / weight.sum(), values[order])
