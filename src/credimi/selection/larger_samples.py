"""What a larger sample is likely to show: P(it decides whether I exceeds epsilon), of many candidates at once.

`selection.rows_to_decide` derives the formulas and names the symbols. A candidate is a table, or several that are its
strata; n, d, x^2/2 and the direction of the deviation are those of all its strata together.

Cost: the posteriors of `POINTS` tables for every candidate and growth, a few microseconds each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.batched.many_tables import posteriors
from credimi.inference.batched.mixture_tails import above, laws_of
from credimi.inference.conditional.stratified_tables import StratifiedTables, components
from credimi.selection.rules import backward, forward

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.adaptive_prior import PosteriorComponents
    from credimi.inference.options import PosteriorOptions

POINTS = 8  # tables from the weakest dependence that is likely to be seen to the strongest
_REACH = 2.5  # standard deviations that are likely
_WORTH = 0.02  # weight of a component that counts for what is likely
_NO_DEVIATION = 1e-4  # of n x^2/2: tables that are as good as independent have no direction
_NEVER_ONE = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Cells that are expected under independence, and how the counts deviate; n, d and x of every candidate."""

    inner: BooleanArray
    expected: FloatArray
    deviation: FloatArray
    length: FloatArray  # of the deviation, as x is that of the counts
    complete: FloatArray
    freedom: FloatArray
    observed: FloatArray

    @classmethod
    def of(cls, strata: StratifiedTables) -> Deviations:
        """Those of all candidates; each has a complete row."""
        tables, owner = strata.tables, strata.candidate
        table, row, column, inner = _places(tables)
        counts = np.where(inner, tables.flat, 0.0).astype(np.float64)
        total = _sums(table, counts, tables.rows.size)
        rows, values, freedom = _margins(tables, table, row, column, counts)
        with np.errstate(divide="ignore", invalid="ignore"):  # a stratum without a complete row
            expected = np.where(counts + rows * values > 0.0, rows * values / total[table], 0.0)
            terms = np.where(counts > 0.0, counts * np.log(counts / expected), 0.0)
        complete = _sums(owner, total)
        observed = np.sqrt(2.0 * np.maximum(_sums(owner[table], terms), 0.0) / complete)
        deviation, length = np.where(inner, counts - expected, 0.0), observed.copy()
        none = complete * observed**2 < 2.0 * _NO_DEVIATION
        if none.any():
            some = none[owner[table]]
            deviation[some] = _checkered(table, row, column, expected)[some]
            squares = np.divide(deviation**2, expected, out=np.zeros_like(expected), where=expected > 0.0)
            length[none] = np.sqrt(_sums(owner[table], squares) / complete)[none]
        freedom = np.maximum(_sums(owner, freedom), 1.0)
        return cls(inner, expected, deviation, length, complete, freedom, observed)


@dataclass(frozen=True, slots=True, eq=False)
class _Predicted:
    """What is likely to be seen of some candidates at some growth: mixtures of normal distributions around 0 or not.

    One entry a component; `case` says whose.
    """

    case: IntegerArray
    weight: FloatArray
    center: FloatArray
    spread: FloatArray
    freedom: FloatArray

    def below(self, length: FloatArray) -> FloatArray:
        """P(the deviation that is seen is not longer), of every case."""
        chance = _shorter(length[self.case], self.center, self.spread, self.freedom)
        return _sums(self.case, self.weight * chance, length.size)

    def likely(self, count: int) -> FloatArray:
        """The lengths between which nearly all is likely to be, in even steps: (cases, `POINTS`)."""
        middle = np.sqrt(self.center**2 + self.freedom * self.spread**2)
        reach, worth = _REACH * self.spread, self.weight >= _WORTH
        least, most = np.full(count, np.inf), np.zeros(count)
        np.minimum.at(least, self.case[worth], np.maximum(middle - reach, 0.0)[worth])
        np.maximum.at(most, self.case[worth], (middle + reach)[worth])
        found: FloatArray = least[:, np.newaxis] + (most - least)[:, np.newaxis] * np.linspace(0.0, 1.0, POINTS)
        return found


class LargerSamples:
    """Samples of more rows of the same candidates; each has a complete row."""

    def __init__(self, strata: StratifiedTables, options: PosteriorOptions) -> None:
        self.strata, self.options = strata, options
        self.now = _believed(strata, options)
        self.seen = Deviations.of(strata)
        own = self.now.table
        per_row = (self.seen.freedom / self.seen.complete)[own]
        # E[I] of the component is (s^2 x^2 + s d/n)/2: that is solved for s.
        root = np.sqrt(per_row**2 + 8.0 * self.seen.observed[own] ** 2 * self.now.mean)
        self.shrinkage = 4.0 * self.now.mean / (per_row + root)

    def p_within(self, low: float, high: float) -> FloatArray:
        """P(low < I <= high) at present."""
        laws = laws_of(self.now, self.strata.upper, gaussian=self.options.gaussian)
        return above(laws, low, self.options.threads) - above(laws, high, self.options.threads)

    def p_decided(self, candidates: IntegerArray, growth: FloatArray) -> FloatArray:
        """P(decided) of some candidates with so many times the rows; a candidate may be asked for more than once."""
        predicted = self._predicted(candidates, growth)
        lengths = predicted.likely(candidates.size)
        each = np.repeat(candidates, POINTS)
        tables = self._tables(each, lengths.ravel(), np.repeat(growth, POINTS))
        found = _believed(tables, self.options)
        laws = laws_of(found, self.strata.upper[each], gaussian=self.options.gaussian)
        p_above = above(laws, self.options.epsilon, self.options.threads).reshape(lengths.shape)
        dropped = ~backward(p_above, self.options.level)
        kept = forward(p_above, self.options.level)
        # Where dependence gets stronger along the points, first some are dropped, and the last ones are kept.
        odds = _log_odds(p_above)
        sure = float(_log_odds(np.array([self.options.level]))[0])
        lowest = _crossing(lengths, odds, dropped.sum(axis=1), -sure)
        highest = _crossing(lengths, odds, POINTS - kept.sum(axis=1), sure)
        return predicted.below(lowest) + 1.0 - predicted.below(highest)

    def _predicted(self, candidates: IntegerArray, growth: FloatArray) -> _Predicted:
        now = self.now
        count = np.bincount(now.table, minlength=now.p_zero.size)
        case = np.repeat(np.arange(candidates.size), count[candidates])
        part = _ranges((np.cumsum(count) - count)[candidates], count[candidates])
        case = np.concatenate([case, np.arange(candidates.size)])  # and independence
        weight = np.concatenate([now.weight[part], now.p_zero[candidates]])
        shrinkage = np.concatenate([self.shrinkage[part], np.zeros(candidates.size)])
        owner, new = candidates[case], 1.0 - 1.0 / growth[case]
        center = (1.0 - new + new * shrinkage) * self.seen.observed[owner]
        variance = (new**2 * shrinkage + new * (1.0 - new)) / self.seen.complete[owner]
        return _Predicted(case, weight, center, np.sqrt(variance), self.seen.freedom[owner])

    def _tables(self, candidates: IntegerArray, lengths: FloatArray, growth: FloatArray) -> StratifiedTables:
        """Candidates whose deviation has another length, and that have more rows."""
        tables, starts, seen = self.strata.tables, self.strata.starts, self.seen
        ends = np.append(tables.offsets, tables.flat.size)
        sizes = (ends[starts[1:]] - ends[starts[:-1]])[candidates]
        cell = _ranges(ends[starts[candidates]], sizes)
        length = seen.length[candidates]
        times = np.divide(lengths, length, out=np.zeros_like(lengths), where=length > 0.0)
        counts = np.maximum(seen.expected[cell] + np.repeat(times, sizes) * seen.deviation[cell], 0.0)
        owner = np.repeat(np.arange(candidates.size), sizes)
        counts *= (seen.complete[candidates] / _sums(owner, counts, candidates.size))[owner]  # some were below 0
        flat = np.where(seen.inner[cell], counts, tables.flat[cell]) * np.repeat(growth, sizes)
        number = np.diff(starts)[candidates]
        table = _ranges(starts[candidates], number)
        odds = None if tables.odds is None else tables.odds[candidates]
        larger = Tables(flat, tables.rows[table], tables.columns[table], odds)
        return StratifiedTables(larger, np.concatenate([[0], np.cumsum(number)]))


def _believed(strata: StratifiedTables, options: PosteriorOptions) -> PosteriorComponents:
    """The mixture of every candidate; of tables without strata, which say the same, with fewer kernels to load."""
    each_alone = strata.starts.size == strata.tables.rows.size + 1
    return posteriors(strata.tables, options) if each_alone else components(strata, options)


def complete_rows(strata: StratifiedTables) -> FloatArray:
    """Of each candidate the rows that lack nothing."""
    table, _, _, inner = _places(strata.tables)
    return _sums(strata.candidate[table], np.where(inner, strata.tables.flat, 0.0).astype(np.float64))


def _places(tables: Tables) -> tuple[IntegerArray, IntegerArray, IntegerArray, BooleanArray]:
    """Of each cell its table, row and column, and whether it counts rows that lack nothing."""
    sizes = (tables.rows + 1) * (tables.columns + 1)
    table = np.repeat(np.arange(sizes.size), sizes)
    row, column = np.divmod(np.arange(tables.flat.size) - tables.offsets[table], tables.columns[table] + 1)
    return table, row, column, (row < tables.rows[table]) & (column < tables.columns[table])


def _margins(
    tables: Tables, table: IntegerArray, row: IntegerArray, column: IntegerArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each cell the sums of its row and of its column; of each table the degrees of freedom."""
    found, occurring = [], []
    for place, sizes in ((row, tables.rows + 1), (column, tables.columns + 1)):
        number = (np.cumsum(sizes) - sizes)[table] + place
        sums = np.bincount(number, counts, int(sizes.sum()))
        found.append(sums[number])
        occurring.append(np.bincount(np.repeat(np.arange(sizes.size), sizes), sums > 0.0))
    return found[0], found[1], np.maximum(occurring[0] - 1.0, 0.0) * np.maximum(occurring[1] - 1.0, 0.0)


def _checkered(table: IntegerArray, row: IntegerArray, column: IntegerArray, expected: FloatArray) -> FloatArray:
    """A deviation that leaves the margins: cells lose and win in turn."""
    found = expected
    total = np.maximum(np.bincount(table, expected), 1.0)
    for place in (row, column):
        sign = np.where(place % 2 == 1, 1.0, -1.0)
        found = found * (sign - (np.bincount(table, expected * sign) / total)[table])
    return found


def _ranges(starts: IntegerArray, sizes: IntegerArray) -> IntegerArray:
    """start, start + 1, ... of each range, one range after the other."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _sums(owner: IntegerArray, values: FloatArray, count: int = 0) -> FloatArray:
    return np.bincount(owner, values, count).astype(np.float64)


def _log_odds(chance: FloatArray) -> FloatArray:
    inside = np.clip(chance, _NEVER_ONE, 1.0 - _NEVER_ONE)
    return np.log(inside / (1.0 - inside))


def _crossing(lengths: FloatArray, odds: FloatArray, before: IntegerArray, value: float) -> FloatArray:
    """The length at which log odds reach a value, just before the point `before`; 0 or infinite if there is none."""
    rows, after = np.arange(before.size), np.clip(before, 1, POINTS - 1)
    low, high = odds[rows, after - 1], odds[rows, after]
    rise = high - low
    share = np.clip(np.divide(value - low, rise, out=np.full_like(rise, 0.5), where=rise > 0.0), 0.0, 1.0)
    between = lengths[rows, after - 1] + share * (lengths[rows, after] - lengths[rows, after - 1])
    return np.where(before == 0, 0.0, np.where(before == POINTS, np.inf, between))


def _shorter(length: FloatArray, center: FloatArray, spread: FloatArray, freedom: FloatArray) -> FloatArray:
    """P(|X| <= length) if X is normal in `freedom` dimensions, |E X| is the center and `spread` the deviation of each.

    |X|^2 / spread^2 is noncentral chi-squared: exact for one dimension, by Sankaran's power of it for more (within
    about 0.005).
    """
    finite = np.isfinite(length)
    length = np.where(finite, length, 1.0)
    one = _normal_below((length - center) / spread) - _normal_below((-length - center) / spread)
    apart = (center / spread) ** 2
    mean, twice, thrice = freedom + apart, freedom + 2.0 * apart, freedom + 3.0 * apart
    power = 1.0 - 2.0 / 3.0 * mean * thrice / twice**2
    p = twice / mean**2
    m = (power - 1.0) * (1.0 - 3.0 * power)
    where = 1.0 + power * p * (power - 1.0 - 0.5 * (2.0 - power) * m * p)
    scale = power * np.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
    many = _normal_below((((length / spread) ** 2 / mean) ** power - where) / scale)
    return np.where(finite, np.where(freedom == 1.0, one, many), 1.0)


def _normal_below(z: FloatArray) -> FloatArray:
    """The standard normal distribution, within 0.0002."""
    near = np.clip(z, -8.0, 8.0)
    found: FloatArray = 1.0 / (1.0 + np.exp(-near * (1.5976 + 0.070565 * near**2)))
    return found
