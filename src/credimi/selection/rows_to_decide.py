"""How many rows would decide what is unsure.

A table with all its counts multiplied by c stands for c times the rows with the same shares. Samples of that size
scatter around it, and about half of them decide: the figure holds in the median. An I that lies at epsilon is never
decided. Epsilon is a threshold that somebody chose, and hardly to two digits: I lies at it if, where c is large enough
to decide, or at the largest c that is tried, the mean of I is within `_AT` = 5 % of it. Nobody collects millions of
rows, and ten times those there are, to decide about one feature: an I that would need them lies at epsilon, too, if it
is within `_ABOUT` = 50 % of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.many_tables import posteriors, summed
from credimi.inference.mixture_tails import above, laws_of
from credimi.selection.rules import unsure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.inference.adaptive_prior import PosteriorComponents
    from credimi.inference.options import PosteriorOptions

    FloatArray = NDArray[np.float64]

_MOST_GROWTH = 4096.0
_AT = 0.05  # of epsilon: an I as near as this lies at it
_ABOUT = 0.5  # the same of one that needs more rows than anybody collects:
_TOO_MANY, _TIMES = 1_000_000, 10.0  # so many, and so many times those there are


def growth_to_decide(
    blocks: Tables, options: PosteriorOptions, rows: float = 0.0
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """By what factor the rows must grow until P(I > epsilon) leaves (1 - level, level), if the shares stay as they are.

    And whether I lies at epsilon (see above), which has no such factor; `rows` is how many there are.

    NaN where it would not within `_MOST_GROWTH`. Found by doubling, then halving the exponent: about 2 % too large.
    """
    count, epsilon = blocks.rows.size, options.epsilon
    upper = np.log(np.minimum(blocks.rows, blocks.columns))

    def grown(chosen: NDArray[np.int64], factor: FloatArray) -> PosteriorComponents:
        larger = [blocks.block(table) * scale for table, scale in zip(chosen.tolist(), factor.tolist(), strict=True)]
        odds = None if blocks.odds is None else blocks.odds[chosen].tolist()
        return posteriors(Tables.of(larger, odds), options)

    def decided(chosen: NDArray[np.int64], factor: FloatArray) -> NDArray[np.bool_]:
        laws = laws_of(grown(chosen, factor), upper[chosen], gaussian=options.gaussian)
        return ~unsure(above(laws, epsilon, options.threads), options.level)

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
    apart = np.abs(summed(most, most.weight * most.mean) - epsilon)
    too_many = (high * rows >= _TOO_MANY) & (high >= _TIMES)
    at_epsilon = (apart <= np.where(too_many, _ABOUT, _AT) * epsilon) & (epsilon > 0.0)
    high[at_epsilon] = np.nan
    return high, at_epsilon


def rows_to_decide(
    blocks: Tables, p_above: FloatArray, rows: float, options: PosteriorOptions
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The rows that would decide each table that is unsure, out of `rows`, and whether its I lies at epsilon."""
    needed, at_epsilon = np.full(p_above.size, np.nan), np.zeros(p_above.size, dtype=bool)
    open_ = unsure(p_above, options.level)
    if open_.any():
        growth, at_epsilon[open_] = growth_to_decide(blocks.chosen(open_), options, rows)
        needed[open_] = growth * rows
    return needed, at_epsilon


def rounded_up(rows: float) -> int | None:
    """Two digits of it: more would say more than is known, and less than it would not decide. None of NaN."""
    if math.isnan(rows):
        return None
    number = math.ceil(rows)
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit
