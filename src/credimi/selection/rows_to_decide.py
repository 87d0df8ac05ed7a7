"""How many rows would decide an unsure feature.

A table with all its counts multiplied by c stands for c times the rows with the same shares. Samples of that size
scatter around it, and about half of them decide: the number is a median. An I that lies at epsilon is never decided.
Epsilon is a chosen threshold, hardly known to two digits. I lies at epsilon if the mean of I is within `_AT` = 5 % of
it, at a c that is large enough to decide, or at the largest c that is tried. Nobody collects millions of rows, and ten
times the present ones, to decide about one feature: an I that would need so many lies at epsilon, too, if it is within
`_ABOUT` = 50 % of it.
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


_MOST_GROWTH = 4096.0
_DOUBLINGS, _FEW_CELLS = 4, 20_000  # that are tried at once, and of how many counts
_AT = 0.05  # share of epsilon: an I as near as this lies at epsilon
_ABOUT = 0.5  # the same for an I that needs more rows than anybody collects:
_TOO_MANY, _TIMES = 1_000_000, 10.0  # so many, and so many times the present rows


def growth_to_decide(blocks: Tables, options: PosteriorOptions, rows: float = 0.0) -> tuple[FloatArray, BooleanArray]:
    """The factor by which the rows must grow until P(I > epsilon) leaves (1 - level, level), with the same shares.

    The second result is whether I lies at epsilon (see above); then there is none. `rows` is how many there are.

    The factor is NaN if it would exceed `_MOST_GROWTH`. It is found by doubling, then halving the exponent, and is
    about 2 % too large.
    """
    count, epsilon = blocks.rows.size, options.epsilon
    upper = np.log(np.minimum(blocks.rows, blocks.columns))

    def grown(chosen: IntegerArray, factors: FloatArray) -> PosteriorComponents:
        """Posteriors of some tables, which follow each other, at one or more factors each, one after the other."""
        own = np.zeros(count, dtype=np.bool_)
        own[chosen] = True
        tables = blocks.chosen(own)
        sizes = (tables.rows + 1) * (tables.columns + 1)
        larger = np.concatenate([tables.flat * np.repeat(each, sizes) for each in factors])
        shapes = np.tile(tables.rows, len(factors)), np.tile(tables.columns, len(factors))
        odds = None if tables.odds is None else np.tile(tables.odds, len(factors))
        return posteriors(Tables(larger, *shapes, odds), options)

    def decided(chosen: IntegerArray, factors: FloatArray) -> BooleanArray:
        """Whether so many factors, a row each, decide the tables."""
        laws = laws_of(grown(chosen, factors), np.tile(upper[chosen], len(factors)), gaussian=options.gaussian)
        return ~unsure(above(laws, epsilon, options.threads), options.level).reshape(factors.shape)

    low, high = np.ones(count), np.full(count, np.nan)
    waiting, factor = np.arange(count), 1.0
    while waiting.size and factor < _MOST_GROWTH:
        ahead = _DOUBLINGS if blocks.flat.size <= _FEW_CELLS else 1  # most of the time of few tables is that of a call
        tried = factor * 2.0 ** np.arange(1, ahead + 1)
        tried = tried[tried <= _MOST_GROWTH]
        done = decided(waiting, np.repeat(tried[:, np.newaxis], waiting.size, axis=1))
        first = np.where(done.any(axis=0), done.argmax(axis=0), tried.size)
        reached = np.concatenate([[factor], tried, [np.nan]])
        low[waiting], high[waiting] = reached[first], reached[first + 1]
        waiting, factor = waiting[first == tried.size], float(tried[-1])
    found = np.flatnonzero(~np.isnan(high))
    for _ in range(5 if found.size else 0):
        middle = np.sqrt(low[found] * high[found])
        done = decided(found, middle[np.newaxis])[0]
        high[found], low[found] = np.where(done, middle, high[found]), np.where(done, low[found], middle)
    most = grown(np.arange(count), np.where(np.isnan(high), _MOST_GROWTH, high)[np.newaxis])
    apart = np.abs(summed(most, most.weight * most.mean) - epsilon)
    too_many = (high * rows >= _TOO_MANY) & (high >= _TIMES)
    at_epsilon = (apart <= np.where(too_many, _ABOUT, _AT) * epsilon) & (epsilon > 0.0)
    high[at_epsilon] = np.nan
    return high, at_epsilon


def rows_to_decide(
    blocks: Tables, p_above: FloatArray, rows: float, options: PosteriorOptions
) -> tuple[FloatArray, BooleanArray]:
    """The number of rows that would decide each unsure table, given `rows`, and whether its I lies at epsilon."""
    needed, at_epsilon = np.full(p_above.size, np.nan), np.zeros(p_above.size, dtype=bool)
    open_ = unsure(p_above, options.level)
    if open_.any():
        growth, at_epsilon[open_] = growth_to_decide(blocks.chosen(open_), options, rows)
        needed[open_] = growth * rows
    return needed, at_epsilon


def rounded_up(rows: float) -> int | None:
    """Two digits, rounded up: more digits would be false precision, and fewer rows would not decide. None for NaN."""
    if math.isnan(rows):
        return None
    number = math.ceil(rows)
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit
