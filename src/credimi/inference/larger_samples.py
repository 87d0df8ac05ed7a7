"""What a larger sample is likely to show: P(it decides whether I exceeds epsilon), of many candidates at once.

`inference.rows_to_decide` derives the formulas and names the symbols. A candidate is a table, or several that are its
strata; n, d, x^2/2 and the direction of the deviation are those of all its strata together.

Cost: the posteriors of `LENGTHS` tables for every candidate and growth, a few microseconds each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.rules import backward, forward
from credimi.inference.tables.many_tables import posteriors
from credimi.inference.tables.mixture_tails import above, mixtures_of
from credimi.inference.tables.stratified_tables import StratifiedTables, components

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.belief import Belief
    from credimi.inference.evidence.adaptive_prior import PosteriorComponents

LENGTHS = 8  # deviations that are tried, from the shortest that is likely to be seen to the longest
_REACH = 2.5  # standard deviations that are likely
_MIN_WEIGHT = 0.02  # of a component that counts for what is likely
_MIN_DEVIATION = 1e-4  # of n x^2/2: tables with less are as good as independent, and have no direction
_MIN_PROBABILITY = 1e-6  # log odds are finite


@dataclass(frozen=True, slots=True, eq=False)
class Deviations:
    """Cells that are expected under independence, and how the counts deviate; n, d and x of every candidate."""

    is_complete: BooleanArray  # whether a cell counts complete rows
    expected: FloatArray
    deviation: FloatArray
    length: FloatArray  # of the deviation, as x is that of the counts
    complete: FloatArray
    freedom: FloatArray
    observed: FloatArray

    @classmethod
    def of(cls, strata: StratifiedTables) -> Deviations:
        """The deviations of all candidates, each of which has a complete row."""
        tables, candidate_of_table = strata.tables, strata.candidate
        table, row, column, is_complete = _cells(tables)
        candidate = candidate_of_table[table]
        counts = np.where(is_complete, tables.flat, 0.0).astype(np.float64)
        total = _sums(table, counts, tables.rows.size)
        row_sums, column_sums, freedom = _margins(tables, table, row, column, counts)
        with np.errstate(divide="ignore", invalid="ignore"):  # a stratum without a complete row
            expected = np.where(counts + row_sums * column_sums > 0.0, row_sums * column_sums / total[table], 0.0)
            terms = np.where(counts > 0.0, counts * np.log(counts / expected), 0.0)
        complete = _sums(candidate_of_table, total)
        observed = np.sqrt(2.0 * np.maximum(_sums(candidate, terms), 0.0) / complete)
        deviation, length = np.where(is_complete, counts - expected, 0.0), observed.copy()
        no_direction = complete * observed**2 < 2.0 * _MIN_DEVIATION
        if no_direction.any():
            replaced = no_direction[candidate]
            deviation[replaced] = _checkered(table, row, column, expected)[replaced]
            squares = np.divide(deviation**2, expected, out=np.zeros_like(expected), where=expected > 0.0)
            length[no_direction] = np.sqrt(_sums(candidate, squares) / complete)[no_direction]
        freedom = np.maximum(_sums(candidate_of_table, freedom), 1.0)
        return cls(is_complete, expected, deviation, length, complete, freedom, observed)


@dataclass(frozen=True, slots=True, eq=False)
class _Prediction:
    """The deviations that are likely to be seen in larger samples, as mixtures of normal distributions.

    A case is a candidate at some growth. There is one entry a component; `case` is the case that it belongs to.
    """

    case: IntegerArray
    weight: FloatArray
    center: FloatArray
    spread: FloatArray
    freedom: FloatArray

    def p_shorter(self, length: FloatArray) -> FloatArray:
        """P(the deviation that is seen is not longer), of every case."""
        p_of_component = p_shorter(length[self.case], self.center, self.spread, self.freedom)
        return _sums(self.case, self.weight * p_of_component, length.size)

    def likely_lengths(self, count: int) -> FloatArray:
        """Lengths in even steps that cover nearly all that is likely to be seen: (cases, `LENGTHS`)."""
        middle = np.sqrt(self.center**2 + self.freedom * self.spread**2)
        reach, counts = _REACH * self.spread, self.weight >= _MIN_WEIGHT
        shortest, longest = np.full(count, np.inf), np.zeros(count)
        np.minimum.at(shortest, self.case[counts], np.maximum(middle - reach, 0.0)[counts])
        np.maximum.at(longest, self.case[counts], (middle + reach)[counts])
        steps = np.linspace(0.0, 1.0, LENGTHS)
        lengths: FloatArray = shortest[:, np.newaxis] + (longest - shortest)[:, np.newaxis] * steps
        return lengths


class LargerSamples:
    """Samples of more rows of the same candidates; each has a complete row."""

    def __init__(self, strata: StratifiedTables, options: Belief) -> None:
        self.strata, self.options = strata, options
        self.present = _posteriors(strata, options)
        self.deviations = Deviations.of(strata)
        candidate, mean = self.present.table, self.present.mean
        per_row = (self.deviations.freedom / self.deviations.complete)[candidate]
        # E[I] of the component is (s^2 x^2 + s d/n)/2: that is solved for s
        root = np.sqrt(per_row**2 + 8.0 * self.deviations.observed[candidate] ** 2 * mean)
        self.shrinkage = 4.0 * mean / (per_row + root)

    def p_within(self, low: float, high: float) -> FloatArray:
        """P(low < I <= high) at present."""
        distributions = mixtures_of(self.present, self.strata.upper, gaussian=self.options.gaussian)
        return above(distributions, low, self.options.threads) - above(distributions, high, self.options.threads)

    def p_decided(self, candidates: IntegerArray, growth: FloatArray) -> FloatArray:
        """P(decided) of some candidates with so many times the rows; a candidate may be asked for more than once."""
        prediction = self._prediction(candidates, growth)
        lengths = prediction.likely_lengths(candidates.size)
        repeated = np.repeat(candidates, LENGTHS)
        tables = self._tables(repeated, lengths.ravel(), np.repeat(growth, LENGTHS))
        distributions = mixtures_of(
            _posteriors(tables, self.options, whole=True), self.strata.upper[repeated], gaussian=self.options.gaussian
        )
        p_above = above(distributions, self.options.nats, self.options.threads).reshape(lengths.shape)
        # Dependence gets stronger along the lengths: the first tables may be dropped, and the last ones kept.
        dropped = ~backward(p_above, self.options.level)
        kept = forward(p_above, self.options.level)
        log_odds = _log_odds(p_above)
        needed = float(_log_odds(np.array([self.options.level]))[0])
        longest_dropped = _crossing(lengths, log_odds, dropped.sum(axis=1), -needed)
        shortest_kept = _crossing(lengths, log_odds, LENGTHS - kept.sum(axis=1), needed)
        return prediction.p_shorter(longest_dropped) + 1.0 - prediction.p_shorter(shortest_kept)

    def _prediction(self, candidates: IntegerArray, growth: FloatArray) -> _Prediction:
        present, deviations = self.present, self.deviations
        counts = np.bincount(present.table, minlength=present.p_zero.size)
        component = _ranges((np.cumsum(counts) - counts)[candidates], counts[candidates])
        cases = np.arange(candidates.size)
        case = np.concatenate([np.repeat(cases, counts[candidates]), cases])  # the last ones are independence
        weight = np.concatenate([present.weight[component], present.p_zero[candidates]])
        shrinkage = np.concatenate([self.shrinkage[component], np.zeros(candidates.size)])
        candidate, share_new = candidates[case], 1.0 - 1.0 / growth[case]
        center = (1.0 - share_new + share_new * shrinkage) * deviations.observed[candidate]
        variance = (share_new**2 * shrinkage + share_new * (1.0 - share_new)) / deviations.complete[candidate]
        return _Prediction(case, weight, center, np.sqrt(variance), deviations.freedom[candidate])

    def _tables(self, candidates: IntegerArray, lengths: FloatArray, growth: FloatArray) -> StratifiedTables:
        """The tables of candidates, with deviations of these lengths, and so many times the rows."""
        tables, starts, deviations = self.strata.tables, self.strata.starts, self.deviations
        bounds = np.append(tables.offsets, tables.flat.size)
        sizes = (bounds[starts[1:]] - bounds[starts[:-1]])[candidates]
        cell = _ranges(bounds[starts[candidates]], sizes)
        present_lengths = deviations.length[candidates]
        factor = np.divide(lengths, present_lengths, out=np.zeros_like(lengths), where=present_lengths > 0.0)
        counts = np.maximum(deviations.expected[cell] + np.repeat(factor, sizes) * deviations.deviation[cell], 0.0)
        case = np.repeat(np.arange(candidates.size), sizes)
        # cells that would be negative are 0: the sum has to be corrected
        counts *= (deviations.complete[candidates] / _sums(case, counts, candidates.size))[case]
        flat = np.where(deviations.is_complete[cell], counts, tables.flat[cell]) * np.repeat(growth, sizes)
        strata_counts = np.diff(starts)[candidates]
        table = _ranges(starts[candidates], strata_counts)
        odds = None if tables.odds is None else tables.odds[candidates]
        larger = Tables(flat, tables.rows[table], tables.columns[table], odds)
        return StratifiedTables(larger, np.concatenate([[0], np.cumsum(strata_counts)]))


def _posteriors(strata: StratifiedTables, options: Belief, *, whole: bool = False) -> PosteriorComponents:
    """The mixture of every candidate; without strata from `posteriors`: the same, with fewer kernels to load."""
    one_table_each = strata.starts.size == strata.tables.rows.size + 1
    return posteriors(strata.tables, options, whole=whole) if one_table_each else components(strata, options)


def complete_rows(strata: StratifiedTables) -> FloatArray:
    """The number of complete rows of each candidate."""
    table, _, _, is_complete = _cells(strata.tables)
    return _sums(strata.candidate[table], np.where(is_complete, strata.tables.flat, 0.0).astype(np.float64))


def _cells(tables: Tables) -> tuple[IntegerArray, IntegerArray, IntegerArray, BooleanArray]:
    """The table, row and column of each cell, and whether it counts complete rows."""
    sizes = (tables.rows + 1) * (tables.columns + 1)
    table = np.repeat(np.arange(sizes.size), sizes)
    row, column = np.divmod(np.arange(tables.flat.size) - tables.offsets[table], tables.columns[table] + 1)
    return table, row, column, (row < tables.rows[table]) & (column < tables.columns[table])


def _margins(
    tables: Tables, table: IntegerArray, row: IntegerArray, column: IntegerArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The sums of the row and of the column of each cell; the degrees of freedom of each table."""
    margins, occurring = [], []
    for index, sizes in ((row, tables.rows + 1), (column, tables.columns + 1)):
        line = (np.cumsum(sizes) - sizes)[table] + index
        sums = np.bincount(line, counts, int(sizes.sum()))
        margins.append(sums[line])
        occurring.append(np.bincount(np.repeat(np.arange(sizes.size), sizes), sums > 0.0))
    return margins[0], margins[1], np.maximum(occurring[0] - 1.0, 0.0) * np.maximum(occurring[1] - 1.0, 0.0)


def _checkered(table: IntegerArray, row: IntegerArray, column: IntegerArray, expected: FloatArray) -> FloatArray:
    """A deviation that does not change the margins: cells lose and win in turn."""
    deviation = expected
    total = np.maximum(np.bincount(table, expected), 1.0)
    for index in (row, column):
        sign = np.where(index % 2 == 1, 1.0, -1.0)
        deviation = deviation * (sign - (np.bincount(table, expected * sign) / total)[table])
    return deviation


def _ranges(starts: IntegerArray, sizes: IntegerArray) -> IntegerArray:
    """start, start + 1, ... of each range, one range after the other."""
    before = np.cumsum(sizes) - sizes
    return np.repeat(starts - before, sizes) + np.arange(int(sizes.sum()))


def _sums(group: IntegerArray, values: FloatArray, count: int = 0) -> FloatArray:
    return np.bincount(group, values, count).astype(np.float64)


def _log_odds(p: FloatArray) -> FloatArray:
    clipped = np.clip(p, _MIN_PROBABILITY, 1.0 - _MIN_PROBABILITY)
    return np.log(clipped / (1.0 - clipped))


def _crossing(lengths: FloatArray, log_odds: FloatArray, before: IntegerArray, value: float) -> FloatArray:
    """The length at which log odds reach a value, just before the index `before`; 0 or infinite if there is none."""
    rows, after = np.arange(before.size), np.clip(before, 1, LENGTHS - 1)
    low, high = log_odds[rows, after - 1], log_odds[rows, after]
    rise = high - low
    share = np.clip(np.divide(value - low, rise, out=np.full_like(rise, 0.5), where=rise > 0.0), 0.0, 1.0)
    between = lengths[rows, after - 1] + share * (lengths[rows, after] - lengths[rows, after - 1])
    return np.where(before == 0, 0.0, np.where(before == LENGTHS, np.inf, between))


def p_shorter(length: FloatArray, center: FloatArray, spread: FloatArray, freedom: FloatArray) -> FloatArray:
    """P(|X| <= length) if X is normal in `freedom` dimensions, |E X| is the center and `spread` the deviation of each.

    |X|^2 / spread^2 is noncentral chi-squared: exact for one dimension but for `_normal_below`, by Sankaran's power of
    it for more (within 0.016 for two dimensions, 0.008 for three, 0.006 for more).
    """
    finite = np.isfinite(length)
    length = np.where(finite, length, 1.0)
    one_dimension = _normal_below((length - center) / spread) - _normal_below((-length - center) / spread)
    noncentrality = (center / spread) ** 2
    mean, twice, thrice = freedom + noncentrality, freedom + 2.0 * noncentrality, freedom + 3.0 * noncentrality
    power = 1.0 - 2.0 / 3.0 * mean * thrice / twice**2
    p = twice / mean**2
    m = (power - 1.0) * (1.0 - 3.0 * power)
    center_of_power = 1.0 + power * p * (power - 1.0 - 0.5 * (2.0 - power) * m * p)
    spread_of_power = power * np.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
    more = _normal_below((((length / spread) ** 2 / mean) ** power - center_of_power) / spread_of_power)
    return np.where(finite, np.where(freedom == 1.0, one_dimension, more), 1.0)


def _normal_below(z: FloatArray) -> FloatArray:
    """The standard normal distribution, within 0.0002; `special.normal_below` has all digits and takes longer."""
    clipped = np.clip(z, -8.0, 8.0)
    p: FloatArray = 1.0 / (1.0 + np.exp(-clipped * (1.5976 + 0.070565 * clipped**2)))
    return p
