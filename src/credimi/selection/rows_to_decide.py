"""How many rows would decide what is unsure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.many_tables import components_of, pseudo_counts_of, summed
from credimi.inference.mixture_tails import above, laws_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.inference.adaptive_prior import PosteriorComponents

    FloatArray = NDArray[np.float64]

_MOST_GROWTH = 4096.0
_AT = 0.05  # of epsilon: an I as near as this lies at it


def growth_to_decide(
    blocks: Tables, *, prior: str | float, approximation: str, epsilon: float, level: float, threads: int | None = None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """By what factor the rows must grow until P(I > epsilon) leaves (1 - level, level), if the shares stay as they are.

    And whether I lies at epsilon (see above), which has no such factor.

    NaN where it would not within `_MOST_GROWTH`. Found by doubling, then halving the exponent: about 2 % too large.
    """
    count = blocks.rows.size
    pseudo = pseudo_counts_of(blocks, prior)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))

    def grown(chosen: NDArray[np.int64], factor: FloatArray) -> PosteriorComponents:
        sizes = (blocks.rows[chosen] + 1) * (blocks.columns[chosen] + 1)
        flat = [
            blocks.flat[start : start + size] * scale
            for start, size, scale in zip(blocks.offsets[chosen].tolist(), sizes.tolist(), factor.tolist(), strict=True)
        ]
        odds = None if blocks.odds is None else blocks.odds[chosen]
        larger = Tables(np.concatenate([np.zeros(0), *flat]), blocks.rows[chosen], blocks.columns[chosen], odds)
        matched = approximation in ("matched", "sampled")
        return components_of(larger, pseudo[chosen], prior, matched=matched, threads=threads)

    def decided(chosen: NDArray[np.int64], factor: FloatArray) -> NDArray[np.bool_]:
        laws = laws_of(grown(chosen, factor), upper[chosen], gaussian=approximation == "leading")
        p_above = above(laws, epsilon, threads)
        return (p_above >= level) | (p_above <= 1.0 - level)

    low, high = np.ones(count), np.full(count, np.nan)
    waiting, factor = np.arange(count), 1.0
    while waiting.size and factor < _MOST_GROWTH:
        factor *= 2.0
        done = decided(waiting, np.full(waiting.size, factor))
        high[waiting[done]] = factor
        low[waiting[~done]] = factor
        waiting = waiting[~done]
    found = np.flatnonzero(~np.isnan(high))
    for _ in range(5 if found.size else 0):
        middle = np.sqrt(low[found] * high[found])
        done = decided(found, middle)
        high[found], low[found] = np.where(done, middle, high[found]), np.where(done, low[found], middle)
    most = grown(np.arange(count), np.where(np.isnan(high), _MOST_GROWTH, high))
    at_epsilon = np.abs(summed(most, most.weight * most.mean) - epsilon) <= _AT * epsilon
    at_epsilon &= epsilon > 0.0
    high[at_epsilon] = np.nan
    return high, at_epsilon
