"""How many rows would decide an unsure feature: the sizes at which a quarter, half and three quarters of samples would.

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
lengths at which the verdict changes give P(decided) at c. Growths are doubled until it reaches 3/4, then the exponent
is halved `_HALVINGS` times around 1/2, then interpolated: within about a tenth.

**How much the forecast is worth.** P(decided) at c is the distribution function of the needed size, as far as is known
now: its median is the forecast, and its quartiles say how well the size is known. The median alone is shown only where
the upper quartile is at most 3 times the lower one (`results.sentences`), and otherwise the range between them. Where
it is more than `_WORTH_SAYING` = 10 times as large, or not reached, the size is not known to an order of magnitude, and
there is no forecast.

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

**Cost.** `LENGTHS` = 8 posteriors for each growth that is tried, six to ten of them: 0.2 ms a table of few cells.
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
    from collections.abc import Iterator, Sequence

    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.belief import Belief


_MAX_GROWTH = 4096.0
_HALVINGS = 3
_DOUBLINGS_AT_ONCE, _MAX_CELLS_FOR_DOUBLINGS = 2, 20_000
_COUNTS_AT_ONCE = 4_000_000
_AT_EPSILON = 0.05  # relative distance: a mean as near as this lies at epsilon,
_ABOUT_EPSILON = 0.5  # if I is surely as near as this
_QUARTILES = (0.25, 0.5, 0.75)
_WORTH_SAYING = 10.0  # the upper quartile over the lower one, at most


def growth_to_decide(
    tables: Tables, options: Belief, starts: IntegerArray | None = None
) -> tuple[FloatArray, BooleanArray]:
    """The factor by which the rows must grow until half of all samples decide; NaN if that is not known.

    The second result is whether I lies at epsilon (see above); then the factor is NaN, too. `starts` are as in
    `StratifiedTables`, if there are strata.
    """
    quartiles, at_epsilon = quartiles_of_growth(tables, options, starts)
    return quartiles[1], at_epsilon


def quartiles_of_growth(
    tables: Tables, options: Belief, starts: IntegerArray | None = None
) -> tuple[FloatArray, BooleanArray]:
    """The same, (3, candidates): the factors at which a quarter, half and three quarters of all samples decide."""
    strata = StratifiedTables.of(tables, np.arange(tables.rows.size + 1) if starts is None else starts)
    growth = np.full((3, strata.starts.size - 1), np.nan)
    at_epsilon = np.zeros(growth.shape[1], dtype=np.bool_)
    for chunk in _chunks(strata):
        samples = LargerSamples(strata.chosen(chunk), options)
        growth[:, chunk], at_epsilon[chunk] = _growth(samples), _at_epsilon(samples, options.nats)
    growth[:, at_epsilon | ~(growth[2] <= _WORTH_SAYING * growth[0])] = np.nan
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
    """The factors at which P(decided) is 1/4, 1/2 and 3/4: (3, candidates); NaN above `_MAX_GROWTH`."""
    count = samples.strata.starts.size - 1
    tried, p_tried = [np.ones(count)], [np.zeros(count)]

    def try_at(candidates: IntegerArray, growths: FloatArray) -> FloatArray:
        """P(decided) of the candidates at each of the growths, which are those of all candidates, or of each."""
        growths = np.broadcast_to(growths, (len(growths), candidates.size))
        p_decided = samples.p_decided(np.tile(candidates, len(growths)), growths.ravel()).reshape(growths.shape)
        for growth, p in zip(growths, p_decided, strict=True):
            for all_of_them, known in ((tried, growth), (p_tried, p)):
                all_of_them.append(np.full(count, np.nan))
                all_of_them[-1][candidates] = known
        return p_decided

    # several doublings in one call where tables are few: then the call itself takes most of the time
    few_cells = samples.strata.tables.flat.size * LENGTHS <= _MAX_CELLS_FOR_DOUBLINGS
    doublings = 2.0 ** np.arange(1.0, 1.0 + (_DOUBLINGS_AT_ONCE if few_cells else 1))
    undecided, factor = np.arange(count), 1.0
    while undecided.size and factor < _MAX_GROWTH:
        p_decided = try_at(undecided, factor * doublings[:, np.newaxis])
        undecided, factor = undecided[p_decided.max(axis=0) < _QUARTILES[-1]], factor * float(doublings[-1])
    for _ in range(_HALVINGS):
        low, high, _, _ = _around(_QUARTILES[1], tried, p_tried)
        bracketed = np.flatnonzero(~np.isnan(high))
        if bracketed.size:
            try_at(bracketed, np.sqrt(low * high)[np.newaxis, bracketed])
    found = []
    for quartile in _QUARTILES:
        low, high, p_low, p_high = _around(quartile, tried, p_tried)
        with np.errstate(divide="ignore", invalid="ignore"):  # where it is not reached
            found.append(low * (high / low) ** ((quartile - p_low) / (p_high - p_low)))
    return np.array(found)


def _around(
    quartile: float, tried: Sequence[FloatArray], p_tried: Sequence[FloatArray]
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """The two growths between which P(decided) reaches a quartile first, and its values there; NaN if it does not."""
    growths, p = np.array(tried), np.array(p_tried)
    order = np.argsort(growths, axis=0)  # NaN last
    growths, p = np.take_along_axis(growths, order, axis=0), np.take_along_axis(p, order, axis=0)
    reached = p >= quartile
    after = np.where(reached.any(axis=0), reached.argmax(axis=0), 0)  # the first one, 1, has P = 0
    rows = np.array([np.maximum(after - 1, 0), after])
    places = np.arange(after.size)
    low, high = np.where(after, growths[rows, places], np.nan)
    return low, high, *p[rows, places]


def _at_epsilon(samples: LargerSamples, epsilon: float) -> BooleanArray:
    mean = summed(samples.present, samples.present.weight * samples.present.mean)
    is_near = np.abs(mean - epsilon) <= _AT_EPSILON * epsilon
    p_about = samples.p_within((1.0 - _ABOUT_EPSILON) * epsilon, (1.0 + _ABOUT_EPSILON) * epsilon)
    result: BooleanArray = is_near & (p_about >= samples.options.level) & (epsilon > 0.0)
    return result


def rows_to_decide(
    blocks: Tables, p_above: FloatArray, rows: float, options: Belief
) -> tuple[FloatArray, FloatArray, FloatArray, BooleanArray]:
    """For each unsure table: the number of rows that would decide, its quartiles, and whether its I lies at epsilon.

    `rows` is the present number of rows.
    """
    needed, at_epsilon = np.full((3, p_above.size), np.nan), np.zeros(p_above.size, dtype=bool)
    undecided = unsure(p_above, options.level)
    if undecided.any():
        growth, at_epsilon[undecided] = quartiles_of_growth(blocks.chosen(undecided), options)
        needed[:, undecided] = growth * rows
    return needed[1], needed[0], needed[2], at_epsilon


def rounded_up(rows: float) -> int | None:
    """Two digits, rounded up: more digits would be false precision, and fewer rows would not decide. None for NaN."""
    if math.isnan(rows):
        return None
    number = math.ceil(rows)
    unit: int = 10 ** max(len(str(number)) - 2, 0)
    return math.ceil(number / unit) * unit
