"""I(X; Y) where Y is a number, from the bits of its rank.

**Bits.** Let Y_0 say whether Y is in the lower or the upper half of its ranks, Y_1 in which half of that half, and so
on. The chain rule is exact:

    I(X; Y) = sum over levels l of I(X; Y_l | Y_0 ... Y_(l-1)).

At level l the first bits are 2^l strata, and the next bit is two classes: so a target of numbers becomes questions with
two classes in strata. A value that many rows share has the bits of its middle rank; a bit that is the same for all rows
of a stratum carries nothing, and is left out.

**A level.** X enters by its rank within the stratum, and one segmentation of these ranks, common to all
strata of the level, is averaged over all segmentations (see `bits_kernels`). The evidence relative to independence is
that of the adaptive prior, with K on a grid from 1 to 8 n, n the number of rows. The number of borders is learned, too:
each border is there with a probability q, which makes 1, 2, 4, ... borders likely, all equally. Cells are 8, 16, ... up
to `MOST_CELLS` for each stratum, with equal weight, at most half a cell for each row.

**Depth.** The bits up to some level inform, and finer ones do not: d levels with the prior 2^-d, so that a level has to
pay. The evidence of a depth is the product of its levels'. Each depth is a component, with the mean and the variance of
the sum. What finer bits would add to the deepest is what follows if they go on falling as the last two did, and half of
it is its deviation. With probability 1/2 there is independence.

**Symmetry.** Of two numbers either may be the one that has bits. Both ways are averaged by their evidence, so that
I(X; Y) = I(Y; X).

**Missing values.** The evidence is that of the complete rows. I is taken of their counts with weights: those of the
fixed point pi_ij = (n_ij + n_i? pi_ij/pi_i+ + n_?j pi_ij/pi_+j)/N of the paper, on at most `GROUPS` ranges of either.

The cost of two numbers is O(rows + 2^l cells^2) for each level, and the product is bounded by `MOST_RANGES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.evidence.adaptive_prior import NEGLIGIBLE, P_ZERO
from credimi.inference.numbers import bits_kernels, bits_sums

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import CountArray, FloatArray, IntegerArray

MOST_LEVELS = 7  # 128 ranges
LEAST_ROWS = 12  # in a stratum, on average
STRENGTHS = 8
MOST_CELLS = 64
LEAST_CELLS = 8
MOST_RANGES = 1 << 13  # strata times pairs of borders, in one level
GROUPS = 8
_ROWS_OF_GROUP = 20
_LEAST_OF_STRATUM = 4  # rows of a stratum that is used
_NEGLIGIBLE = 1e-2  # of the largest weight: settings without moments
_UNREACHED = 1e-3  # the probability of a level below which its moments are not needed
_FIXED_POINT_STEPS = 50
_LEAST_MEAN = 1e-12


@dataclass(frozen=True, eq=False)
class Pairs:
    """Two columns of ordered values as a sparse table: positions x and y, and how many rows have both.

    `x_rows` and `y_rows` count the rows of each value, also those in which the other is missing.
    """

    x: IntegerArray
    y: IntegerArray
    counts: FloatArray
    x_rows: FloatArray
    y_rows: FloatArray

    @cached_property
    def y_seen(self) -> FloatArray:
        """The complete rows of each value of Y."""
        return _sums(self.y, self.counts, self.y_rows.size)

    @classmethod
    def of_block(cls, block: CountArray) -> Pairs:
        """The pairs of a block, (values of Y + 1) x (values of X + 1), the missing last."""
        y, x = np.nonzero(block[:-1, :-1])
        counts = np.asarray(block[y, x], dtype=np.float64)
        x_rows, y_rows = block[:, :-1].sum(axis=0), block[:-1].sum(axis=1)
        return cls(x.astype(np.int64), y.astype(np.int64), counts, x_rows.astype(np.float64), y_rows.astype(np.float64))

    @property
    def exchanged(self) -> Pairs:
        """The same with X and Y exchanged."""
        return Pairs(self.y, self.x, self.counts, self.y_rows, self.x_rows)

    @property
    def rows(self) -> float:
        """The complete rows."""
        return float(self.counts.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """What one bit says given those before: the log evidence of dependence, mean and variance of its information."""

    log_evidence: float = 0.0
    mean: float = 0.0
    variance: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Dependence:
    """The posterior of one pair of columns given dependence, and the log evidence of dependence.

    The components have weights that sum to 1; there are none if nothing can depend.
    """

    log_evidence: float
    weight: FloatArray
    mean: FloatArray
    variance: FloatArray

    @property
    def components(self) -> FloatArray:
        """Log evidence relative to independence, mean and variance of each component, as `Tables.averaged` has it."""
        if not self.weight.size:
            return np.array([[-math.inf], [_LEAST_MEAN], [_LEAST_MEAN**2]])
        return np.stack([self.log_evidence + np.log(self.weight), self.mean, self.variance])


NOTHING = Dependence(-math.inf, *np.zeros((3, 0)))


def middle_ranks(rows: FloatArray) -> FloatArray:
    """The middle of the ranks of each value, from 0 to 1."""
    above = np.cumsum(rows)
    ranks: FloatArray = (above - 0.5 * rows) / max(rows.sum(), np.finfo(np.float64).tiny)
    return ranks


def bits_of(middles: FloatArray, level: int) -> IntegerArray:
    """The first level + 1 bits of values with these middle ranks, as a number."""
    codes: IntegerArray = np.minimum((middles * 2.0 ** (level + 1)).astype(np.int64), 2 ** (level + 1) - 1)
    return codes


def levels_for(rows: float) -> int:
    """How many levels so many complete rows allow."""
    return sum(rows >= LEAST_ROWS * 2**level for level in range(MOST_LEVELS))


def of_numbers(pairs: Pairs) -> Dependence:
    """The posterior of two numbers."""
    weights = _weights_of_missing(pairs)
    return averaged([one_way(pairs, weights), one_way(pairs.exchanged, weights)])


def averaged(ways: Sequence[Dependence]) -> Dependence:
    """The average of several ways to look at one pair of columns, with equal prior weights."""
    possible = [way for way in ways if way.weight.size]
    if not possible:
        return NOTHING
    evidence = np.array([way.log_evidence for way in possible])
    top = evidence.max()
    share = np.exp(evidence - top)
    total = share.sum()
    weight = np.concatenate([way.weight * part for way, part in zip(possible, share / total, strict=True)])
    mean, variance = (np.concatenate([getattr(way, name) for way in possible]) for name in ("mean", "variance"))
    return Dependence(float(top + math.log(total / len(possible))), weight, mean, variance)


def one_way(pairs: Pairs, weights: FloatArray) -> Dependence:
    """The posterior from the bits of Y."""
    count, rows = levels_for(pairs.rows), pairs.rows
    if not count:
        return NOTHING
    finest, order = bits_of(middle_ranks(pairs.y_rows), count - 1), np.argsort(pairs.x, kind="stable")
    seen = _sums(finest, pairs.y_seen, 2**count)
    entries = pairs.x[order], finest[pairs.y][order], pairs.counts[order], weights[order]
    weighted = float(pairs.counts @ weights)
    looks = [_Look.of(entries, (rows, weighted), seen.reshape(2 ** (level + 1), -1)) for level in range(count)]
    if not any(looks):
        return NOTHING
    evidence = [look.log_evidence if look else 0.0 for look in looks]
    reached = _reached(evidence)
    levels = [
        look.level(rows) if look and share > _UNREACHED else Level(each)
        for look, each, share in zip(looks, evidence, reached, strict=True)
    ]
    return by_depth(levels)


def _depths(evidence: Sequence[float]) -> FloatArray:
    """The log weight of each depth: its prior and its evidence."""
    count = len(evidence)
    log_weight = np.cumsum(evidence) - math.log(2.0) * np.arange(1, count + 1)
    log_weight[-1] += math.log(2.0)  # so that the priors sum to 1
    return np.asarray(log_weight)


def _reached(evidence: Sequence[float]) -> FloatArray:
    """P(a level informs)."""
    log_weight = _depths(evidence)
    top = max(log_weight.max(), math.log(P_ZERO / (1.0 - P_ZERO)))
    weight = np.exp(log_weight - top)
    total = weight.sum() + math.exp(math.log(P_ZERO / (1.0 - P_ZERO)) - top)
    return np.asarray(weight[::-1].cumsum()[::-1] / total)


def by_depth(levels: Sequence[Level]) -> Dependence:
    """The posterior from the levels: a component for each depth."""
    log_weight = _depths([level.log_evidence for level in levels])
    top = log_weight.max()
    weight = np.exp(log_weight - top)
    log_evidence = float(top + math.log(weight.sum()))
    weight /= weight.sum()
    mean, variance = (np.cumsum([getattr(level, name) for level in levels]) for name in ("mean", "variance"))
    finer = _finer(weight, [level.mean for level in levels])
    mean[-1] += finer
    variance[-1] += (0.5 * finer) ** 2
    has_weight = weight > NEGLIGIBLE
    weight = weight[has_weight] / weight[has_weight].sum()
    mean, variance = mean[has_weight], variance[has_weight]
    return Dependence(log_evidence, weight, np.maximum(mean, _LEAST_MEAN), np.maximum(variance, _LEAST_MEAN**2))


def _finer(weight: FloatArray, means: Sequence[float]) -> float:
    """What finer bits add, if the deepest level informs."""
    if len(means) < 3:
        return 0.0
    before, last = (weight[-2] + weight[-1]) * means[-2], weight[-1] * means[-1]
    if before <= 0.0 or last <= 0.0:
        return 0.0
    ratio = min(0.5, last / before)
    return float(means[-1] * ratio / (1.0 - ratio))


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """One level of two numbers: its counts, and the weights of strength, resolution and rate of borders."""

    log_evidence: float
    share: float
    weighted: FloatArray
    strengths: FloatArray
    log_f: FloatArray
    strides: IntegerArray
    rates: FloatArray
    weights: FloatArray

    @classmethod
    def of(
        cls,
        entries: tuple[IntegerArray, IntegerArray, FloatArray, FloatArray],
        rows_and_weight: tuple[float, float],
        by_class: FloatArray,
    ) -> _Look | None:
        """Look at a level; None if no stratum has both classes.

        The entries have the value of X, the finest bits of Y, count and weight; `by_class` are the rows of the finest
        bits, a line for each class of each stratum.
        """
        rows, weight = rows_and_weight
        seen = by_class.sum(axis=1).reshape(-1, 2)
        used = (seen > 0.0).all(axis=1) & (seen.sum(axis=1) >= _LEAST_OF_STRATUM)
        if not used.any():
            return None
        strata = int(used.sum())
        codes = np.repeat(np.arange(by_class.shape[0]), by_class.shape[1])
        stratum_of = np.where(used, np.cumsum(used) - 1, -1)[codes >> 1]
        width = _width(rows / used.size, strata)
        below, weighted = np.zeros((2, strata, width + 1, 2))
        bits_kernels.count_cells(*entries, stratum_of, codes & 1, below, weighted)
        strengths = np.exp(np.linspace(0.0, math.log(8.0 * max(rows, 1.0)), STRENGTHS))
        halvings = range(int(math.log2(max(width // LEAST_CELLS, 1))) + 1)
        strides = np.array([1 << halving for halving in halvings], dtype=np.int64)
        rates: FloatArray = 2.0 ** np.arange(int(math.log2(width)), dtype=np.float64)
        log_f = np.zeros((STRENGTHS, width + 1, width + 1))
        evidence = np.empty((STRENGTHS, strides.size, rates.size))
        bits_kernels.fill_evidence(below, strengths, log_f)
        bits_sums.sum_over_cuts(log_f, strides, rates, evidence)
        possible = np.isfinite(evidence[0])
        evidence -= np.log(possible.sum(axis=1, keepdims=True) * strides.size * STRENGTHS)
        top = evidence.max()
        share = np.exp(evidence - top)
        total = share.sum()
        share = np.where(share >= _NEGLIGIBLE, share, 0.0)
        share /= share.sum()
        of_rows = float(weighted[:, -1].sum() / weight)
        return cls(float(top + math.log(total)), of_rows, weighted, strengths, log_f, strides, rates, share)

    def level(self, rows: float) -> Level:
        """The same with the moments of its information."""
        moments = np.zeros((*self.weights.shape, 3))
        for point in np.flatnonzero(self.weights.any(axis=(1, 2))).tolist():
            bits_sums.moments_over_cuts(
                self.weighted,
                float(self.strengths[point]),
                self.log_f[point],
                self.strides,
                self.rates,
                self.weights[point],
                moments[point],
            )
        first, second, square = ((self.weights * moments[..., place]).sum() for place in range(3))
        mean = self.share * first
        of_cuts, of_rows = self.share**2 * (second - first**2), (self.share * square - mean**2) / rows
        return Level(self.log_evidence, float(mean), float(max(of_cuts, 0.0) + max(of_rows, 0.0)))


def _width(rows: float, strata: int) -> int:
    """The cells of each stratum: a power of two."""
    width = int(min(MOST_CELLS, max(4, 2 ** round(math.log2(max(rows, 1.0)) - 1.0))))
    while strata * width * width > 2 * MOST_RANGES and width > LEAST_CELLS:
        width //= 2
    return width


def _weights_of_missing(pairs: Pairs) -> FloatArray:
    """The weight of each entry: pi_ij/(n_ij/n) of the fixed point, on a few ranges of either number."""
    x_seen, y_seen = _sums(pairs.x, pairs.counts, pairs.x_rows.size), pairs.y_seen
    x_only, y_only = np.maximum(pairs.x_rows - x_seen, 0.0), np.maximum(pairs.y_rows - y_seen, 0.0)
    if not (x_only.any() or y_only.any()) or not pairs.counts.size:
        return np.ones(pairs.counts.size)
    groups = int(np.clip(pairs.rows / _ROWS_OF_GROUP, 1, GROUPS))
    x_group, y_group = _groups(x_seen, groups), _groups(y_seen, groups)
    table = np.zeros((groups, groups))
    np.add.at(table, (y_group[pairs.y], x_group[pairs.x]), pairs.counts)
    weights = fixed_point(table, _sums(y_group, y_only, groups), _sums(x_group, x_only, groups))
    return np.asarray(weights[y_group[pairs.y], x_group[pairs.x]])


def _groups(rows: FloatArray, groups: int) -> IntegerArray:
    """About equal groups of neighbouring values."""
    return np.minimum((middle_ranks(rows) * groups).astype(np.int64), groups - 1)


def fixed_point(table: FloatArray, row_only: FloatArray, column_only: FloatArray) -> FloatArray:
    """pi_ij/(n_ij/n) of a table and its margins of missing values; 1 where the table is empty."""
    counted, total = table.sum(), table.sum() + row_only.sum() + column_only.sum()
    chances = table / counted
    for _ in range(_FIXED_POINT_STEPS):
        by_row, by_column = chances.sum(axis=1, keepdims=True), chances.sum(axis=0, keepdims=True)
        rows = np.divide(row_only[:, np.newaxis], by_row, out=np.zeros_like(by_row), where=by_row > 0.0)
        columns = np.divide(column_only[np.newaxis], by_column, out=np.zeros_like(by_column), where=by_column > 0.0)
        chances = (table + chances * (rows + columns)) / total
        chances /= chances.sum()
    weights: FloatArray = np.divide(chances * counted, table, out=np.ones_like(table), where=table > 0.0)
    return weights


def _sums(places: IntegerArray, values: FloatArray, size: int) -> FloatArray:
    return np.bincount(places, values, size).astype(np.float64)
