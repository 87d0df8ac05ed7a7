"""How many rows would decide an unsure feature.

A table with all its counts multiplied by c represents c times the rows with the same shares. Samples of that size
scatter around it, and about half of them decide: the number is a median. An I that lies at epsilon is never decided.
Epsilon is a chosen threshold, hardly known to two digits. I lies at epsilon if the mean of I is within
`_AT_EPSILON` = 5 % of it, at a c that is large enough to decide, or at the largest c that is tried. Nobody collects
millions of rows, and ten times the present ones, to decide about one feature: an I that would need so many also lies at
epsilon if it is within `_ABOUT_EPSILON` = 50 % of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.batched.many_tables import posteriors, summed
from credimi.inference.batched.mixture_tails import above, laws_of
from credimi.selection.rules import unsure

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.adaptive_prior import PosteriorComponents
    from credimi.inference.options import PosteriorOptions


_MAX_GROWTH = 4096.0
_DOUBLINGS_AT_ONCE, _MAX_CELLS_FOR_DOUBLINGS = 4, 20_000
_AT_EPSILON = 0.05  # relative distance: an I as near as this lies at epsilon
_ABOUT_EPSILON = 0.5  # the same for an I that needs more rows than anybody collects,
_TOO_MANY_ROWS, _TOO_MANY_TIMES = 1_000_000, 10.0  # which is at least so many, and so many times the present rows


def growth_to_decide(blocks: Tables, options: PosteriorOptions, rows: float = 0.0) -> tuple[FloatArray, BooleanArray]:
    """The factor by which the rows must grow until P(I > epsilon) leaves (1 - level, level), with the same shares.

    The second result is whether I lies at epsilon (see above); then the factor is NaN. `rows` is the present number.

    The factor is also NaN if it would exceed `_MAX_GROWTH`. It is found by doubling, then by bisection of the
    exponent, and is about 2 % too large.
    """
    count, epsilon = blocks.rows.size, options.epsilon
    upper = np.log(np.minimum(blocks.rows, blocks.columns))

    def grown(chosen: IntegerArray, factors: FloatArray) -> PosteriorComponents:
        """The posteriors of the chosen tables at each row of factors, one row after the other."""
        mask = np.zeros(count, dtype=np.bool_)
        mask[chosen] = True
        tables = blocks.chosen(mask)
        sizes = (tables.rows + 1) * (tables.columns + 1)
        larger = np.concatenate([tables.flat * np.repeat(table_factors, sizes) for table_factors in factors])
        shapes = np.tile(tables.rows, len(factors)), np.tile(tables.columns, len(factors))
        odds = None if tables.odds is None else np.tile(tables.odds, len(factors))
        return posteriors(Tables(larger, *shapes, odds), options)

    def decided(chosen: IntegerArray, factors: FloatArray) -> BooleanArray:
        """Whether the chosen tables are decided at the factors, (rows of factors, tables)."""
        distributions = laws_of(grown(chosen, factors), np.tile(upper[chosen], len(factors)), gaussian=options.gaussian)
        return ~unsure(above(distributions, epsilon, options.threads), options.level).reshape(factors.shape)

    low, high = np.ones(count), np.full(count, np.nan)
    undecided, factor = np.arange(count), 1.0
    while undecided.size and factor < _MAX_GROWTH:
        # several doublings in one call where tables are few: then the call itself takes most of the time
        doublings = _DOUBLINGS_AT_ONCE if blocks.flat.size <= _MAX_CELLS_FOR_DOUBLINGS else 1
        tried = factor * 2.0 ** np.arange(1, doublings + 1)
        tried = tried[tried <= _MAX_GROWTH]
        is_decided = decided(undecided, np.repeat(tried[:, np.newaxis], undecided.size, axis=1))
        first_decided = np.where(is_decided.any(axis=0), is_decided.argmax(axis=0), tried.size)
        bounds = np.concatenate([[factor], tried, [np.nan]])
        low[undecided], high[undecided] = bounds[first_decided], bounds[first_decided + 1]
        undecided, factor = undecided[first_decided == tried.size], float(tried[-1])
    decided_tables = np.flatnonzero(~np.isnan(high))
    for _ in range(5 if decided_tables.size else 0):
        middle = np.sqrt(low[decided_tables] * high[decided_tables])
        is_decided = decided(decided_tables, middle[np.newaxis])[0]
        high[decided_tables], low[decided_tables] = (
            np.where(is_decided, middle, high[decided_tables]),
            np.where(is_decided, low[decided_tables], middle),
        )
    at_largest = grown(np.arange(count), np.where(np.isnan(high), _MAX_GROWTH, high)[np.newaxis])
    distance = np.abs(summed(at_largest, at_largest.weight * at_largest.mean) - epsilon)
    too_many = (high * rows >= _TOO_MANY_ROWS) & (high >= _TOO_MANY_TIMES)
    at_epsilon = (distance <= np.where(too_many, _ABOUT_EPSILON, _AT_EPSILON) * epsilon) & (epsilon > 0.0)
    high[at_epsilon] = np.nan
    return high, at_epsilon


def rows_to_decide(
    blocks: Tables, p_above: FloatArray, rows: float, options: PosteriorOptions
) -> tuple[FloatArray, BooleanArray]:
    """For each unsure table: the number of rows that would decide, and whether its I lies at epsilon.

    `rows` is the present number of rows.
    """
    needed, at_epsilon = np.full(p_above.size, np.nan), np.zeros(p_above.size, dtype=bool)
    undecided = unsure(p_above, options.level)
    if undecided.any():
        growth, at_epsilon[undecided] = growth_to_decide(blocks.chosen(undecided), options, rows)
        needed[undecided] = growth * rows
    return needed, at_epsilon


def rounded_up(rows: float) -> int | None:
    """Two digits, rounded up: more digits would be false precision, and fewer rows would not decide. None for NaN."""
    if math.isnan(rows):
        return None
    number = math.ceil(rows)
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit
