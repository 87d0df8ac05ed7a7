"""How many rows would decide an unsure feature: the size at which half of all samples would, as far as is known now.

What is known now is the posterior of I, with its atom at I = 0: the truth is drawn from it, more rows are drawn from
the truth, and all rows together are looked at again. The number is the size at which P(I > epsilon) then leaves
(1 - level, level) with a probability of 1/2. The present table enlarged in all its cells would be a bad guess: the I of
a sample exceeds the true one, by (r - 1)(s - 1)/2n nats on average, which is all of it where the feature tells nothing.

**The forecast.** Near independence a table of n complete rows is a point X in d = (r - 1)(s - 1) dimensions: the
standardized deviation of the counts from independence, with I(table) = |X|^2/2. A sample scatters around the truth
theta with variance 1/n in each dimension. Let x be what is seen. In each component of the posterior theta is normal,
with mean s x and variance s/n in each dimension. The adaptive prior has s = n/(n + K); in general, s follows from the
mean, 2 E[I] = s^2 |x|^2 + s d/n. The atom has s = 0, theta = 0. With c n rows, n of them today's, the sample shows

    X_c = x/c + (1 - 1/c) Y,    Y around theta with variance 1/((c - 1) n),

hence X_c is normal with mean (1/c + (1 - 1/c) s) x and variance ((1 - 1/c)^2 s + (1 - 1/c)/c)/n, and |X_c|^2 has a
noncentral chi-squared distribution. So P(|X_c| <= u) is a sum over the components, the atom among them.

**Which |X_c| decide** is asked of the posterior itself. Tables of c n rows deviate from independence in the direction
of today's table, with |X_c| from the shortest to the longest that is likely, and have P(I > epsilon). The first of them
are dropped, the last ones kept; between the points the log odds of P(I > epsilon) are taken for straight lines. The two
lengths at which the verdict changes give P(decided) at c. Growths are doubled until it reaches 1/2, then the exponent
is halved `_HALVINGS` times, then interpolated: within about a tenth.

With strata (see `stratified_tables`) n, d and |X|^2/2 are sums over them. Rows that lack one of the two grow with the
others, and enter the posterior only.

**How good it is.** Of truths drawn from the prior, and tables drawn from them, about half decide at the forecast: 43 to
55 % for tables from 2 x 2 to 4 x 6 of 100 to 10,000 rows (tests/inference/test_rows_to_decide.py). Noise is decided
somewhat earlier (53 to 84 %), since today's table cannot rule out that it is none, and so is I far above epsilon. I at
epsilon is decided by a tenth to a third of the samples, however many rows there are. The forecast seldom exceeds seven
times the present rows: where the posterior is normal with mean epsilon, it is 1 + (1.645/0.674)^2 = 7 times as many.

**At epsilon.** Epsilon is a chosen threshold, hardly known to two digits. I lies at epsilon, and no number is given, if
its mean is within `_AT_EPSILON` = 5 % of epsilon, and I itself within `_ABOUT_EPSILON` = 50 % of it with a probability
of `level`. That leaves little room for independence.

**Cost.** `LENGTHS` = 8 posteriors for each growth that is tried, four to eight of them: 0.15 ms a table of few cells.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.larger_samples import LENGTHS, LargerSamples, complete_rows
from credimi.inference.rules import unsure
from credimi.inference.tables.many_tables import summed
from credimi.inference.tables.stratified_tables import StratifiedTables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.belief import Belief


_MAX_GROWTH = 4096.0
_HALVINGS = 3
_DOUBLINGS_AT_ONCE, _MAX_CELLS_FOR_DOUBLINGS = 2, 20_000
_COUNTS_AT_ONCE = 4_000_000
_AT_EPSILON = 0.05  # relative distance: a mean as near as this lies at epsilon,
_ABOUT_EPSILON = 0.5  # if I is surely as near as this


def growth_to_decide(
    tables: Tables, options: Belief, starts: IntegerArray | None = None
) -> tuple[FloatArray, BooleanArray]:
    """The factor by which the rows must grow until half of all samples decide; NaN if it would exceed `_MAX_GROWTH`.

    The second result is whether I lies at epsilon (see above); then the factor is NaN, too. `starts` are as in
    `StratifiedTables`, if there are strata.
    """
    strata = StratifiedTables.of(tables, np.arange(tables.rows.size + 1) if starts is None else starts)
    growth = np.full(strata.starts.size - 1, np.nan)
    at_epsilon = np.zeros(growth.size, dtype=np.bool_)
    for chunk in _chunks(strata):
        samples = LargerSamples(strata.chosen(chunk), options)
        growth[chunk], at_epsilon[chunk] = _growth(samples), _at_epsilon(samples, options.nats)
    growth[at_epsilon] = np.nan
    return growth, at_epsilon


def _chunks(strata: StratifiedTables) -> Iterator[BooleanArray]:
    """Masks of candidates whose counts fit into memory together; candidates without a complete row are left out."""
    tables = strata.tables
    has_complete_rows = complete_rows(strata) > 0.0
    cells = np.bincount(strata.candidate, (tables.rows + 1) * (tables.columns + 1))
    chunk_of_candidate = np.cumsum(cells * LENGTHS) // _COUNTS_AT_ONCE
    for chunk in np.unique(chunk_of_candidate[has_complete_rows]).tolist():
        yield has_complete_rows & (chunk_of_candidate == chunk)


def _growth(samples: LargerSamples) -> FloatArray:
    """The factor at which P(decided) is 1/2."""
    count = samples.strata.starts.size - 1
    low, high, p_low, p_high = np.ones(count), np.full(count, np.nan), np.zeros(count), np.ones(count)
    # several doublings in one call where tables are few: then the call itself takes most of the time
    few_cells = samples.strata.tables.flat.size * LENGTHS <= _MAX_CELLS_FOR_DOUBLINGS
    doublings = _DOUBLINGS_AT_ONCE if few_cells else 1
    undecided, factor = np.arange(count), 1.0
    while undecided.size and factor < _MAX_GROWTH:
        tried = factor * 2.0 ** np.arange(1, doublings + 1)
        p_decided = samples.p_decided(np.tile(undecided, doublings), np.repeat(tried, undecided.size))
        for tried_factor, p_at_factor in zip(tried.tolist(), p_decided.reshape(doublings, -1), strict=True):
            is_open = np.isnan(high[undecided])
            open_, p_open = undecided[is_open], p_at_factor[is_open]
            reached = p_open >= 0.5
            high[open_[reached]], p_high[open_[reached]] = tried_factor, p_open[reached]
            low[open_[~reached]], p_low[open_[~reached]] = tried_factor, p_open[~reached]
        undecided, factor = undecided[np.isnan(high[undecided])], float(tried[-1])
    bracketed = np.flatnonzero(~np.isnan(high))
    for _ in range(_HALVINGS if bracketed.size else 0):
        middle = np.sqrt(low[bracketed] * high[bracketed])
        p_middle = samples.p_decided(bracketed, middle)
        reached = p_middle >= 0.5
        high[bracketed[reached]], p_high[bracketed[reached]] = middle[reached], p_middle[reached]
        low[bracketed[~reached]], p_low[bracketed[~reached]] = middle[~reached], p_middle[~reached]
    share: FloatArray = (0.5 - p_low) / (p_high - p_low)
    return low * (high / low) ** share


def _at_epsilon(samples: LargerSamples, epsilon: float) -> BooleanArray:
    mean = summed(samples.present, samples.present.weight * samples.present.mean)
    is_near = np.abs(mean - epsilon) <= _AT_EPSILON * epsilon
    p_about = samples.p_within((1.0 - _ABOUT_EPSILON) * epsilon, (1.0 + _ABOUT_EPSILON) * epsilon)
    result: BooleanArray = is_near & (p_about >= samples.options.level) & (epsilon > 0.0)
    return result


def rows_to_decide(
    blocks: Tables, p_above: FloatArray, rows: float, options: Belief
) -> tuple[FloatArray, BooleanArray]:
    """For each unsure table: the number of rows that would decide, and whether its I lies at epsilon.

    `rows` is the present number of rows.
    """
    needed, at_epsilon = np.full(p_above.size, np.nan), np.zeros(p_above.size, dtype=bool)
    undecided = unsure(p_above, options.level)
    if undecided.any():
        growth, at_epsilon[undecided] = growth_to_decide(blocks.chosen(undecided), options)
        needed[undecided] = growth * rows
    return needed, at_epsilon


def rounded_up(rows: float) -> int | None:
    """Two digits, rounded up: more digits would be false precision, and fewer rows would not decide. None for NaN."""
    if math.isnan(rows):
        return None
    number = math.ceil(rows)
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit
