"""What can be observed of target and feature, drawn from its posterior: the basis of bounds without "at random".

A data row shows class and value, only one of them, or neither. Such a row is not counted, but how many there are for
each counted row is drawn, too, if it is known: its count is one more variate. The probabilities of what it
shows, o_ij, a_i and b_j (see `inference.bounds.least_information`), need no assumption about why values are missing.
Their posterior is

    (o, a, b) ~ Dirichlet(c_ij, n_i?, n_?j),                c_ij = n_ij + the prior's pseudo-counts.

The centre, the cell probabilities if values are missing at random, is a function of them. If only the feature is
missing, a_i + o_i+ ~ Dirichlet(c_i+ + n_i?) and o_ij/o_i+ ~ Dirichlet(c_i.): the posterior of the centre is exactly the
one that `mutual_information` has. If both sides have missing values, the two differ in what they take as the prior of
the margins, less than by one row; see "Coupling".

**Adaptive prior.** A component has the counts n_ij + K a_i b_j, and draws are shared out among the components by their
weights. The atom is independence of the centre: o_ij = w_i b_j (1 - l_i - m_j), a_i = w_i l_i, b_j m_j, where l_i is
how often the feature is missing in class i and m_j how often the target is missing with value j. The margins of the
complete rows are drawn apart, so that their sums differ, and have to be scaled to one number of complete rows: the sum
of the side that is complete, or a mean of both. (With two numbers, l_i or m_j would exceed 1 where nearly all is
missing.) Then the least I is 0, so that the least I has at least the atom of I. But the largest I is not 0: it gets
draws of its own.

**Draws without noise.** Each Dirichlet is a row of Gamma variates, which are quantiles of fixed normal scores: those of
one cell are in a random order (Latin hypercube), always the same one. So an answer does not change from call to call,
it changes smoothly with the counts, and bounds at different factors are bounds of the same draws. Tables are first
arranged by their counts: neither the order of rows and columns matters, nor which of the two is the target. From
`_MANY` counts on the quantile is that of Wilson and Hilferty, c (1 - 1/(9 c) + z/(3 sqrt c))^3.

**Coupling.** The distribution of I that `mutual_information` gives is more accurate than a few hundred draws. So the
draws are sorted by the I of their centre. The k-th of D draws takes the (k - 1/2)/D quantile of that distribution, J
say, in place of its own I. The least I becomes J (least/I), the largest J + (largest - I). At the factor 1 the bounds
are then that distribution itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import normal_below
from credimi.core.table import Table
from credimi.inference.belief import ADAPTIVE
from credimi.inference.bounds.least_information import centres
from credimi.inference.distributions.gamma_tails import gamma_quantile
from credimi.inference.evidence.adaptive_prior import PosteriorComponents, components_of, mixtures_with_moments
from credimi.inference.information import distribution_of_table
from credimi.inference.moments.tables_without_closed_form import Arrangement
from credimi.inference.sampling import information_of
from credimi.inference.tables.many_tables import drawn_distribution, posteriors, pseudo_counts_of
from credimi.inference.tables.mixture_tails import mixtures_of, quantiles

if TYPE_CHECKING:
    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.belief import Belief
    from credimi.inference.distributions.distribution import Distribution

DRAWS = 256
_FEW_DRAWS = 32
_LITTLE = 0.01
_MANY = 10.0
_NO_ATOM = 1e-9
_OF_NEITHER = 2 << 20  # the cell whose scores rows that lack both have
_OF_DRAWS = ("seen", "row_only", "column_only", "centre", "neither", "centre_information", "information")
_HALF = 0.5  # of a count, which smooths the margins of independent tables, as the adaptive prior does


@dataclass(frozen=True, slots=True, eq=False)
class ObservedDraws:
    """Probabilities of what can be observed, (draws, r, s), (draws, r) and (draws, s), and the centre.

    `neither` has the rows that lack both, relative to the others. `both_missing` tells whether some rows lack one side
    and others the other, or some lack both. `centre_information` is the I of the centre, and `information` the I that
    it is coupled with. All draws together
    weigh `mass`.
    """

    seen: FloatArray
    row_only: FloatArray
    column_only: FloatArray
    centre: FloatArray
    neither: FloatArray
    centre_information: FloatArray
    information: FloatArray
    mass: float
    both_missing: bool

    @property
    def size(self) -> int:
        """The number of draws."""
        return self.information.size

    @property
    def probabilities(self) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """The arguments that the kernels take first."""
        return self.seen, self.row_only, self.column_only, self.centre

    def of(self, some: BooleanArray | IntegerArray) -> ObservedDraws:
        """Some of the draws, with their share of the mass."""
        chosen = {name: getattr(self, name)[some] for name in _OF_DRAWS}
        return replace(self, **chosen, mass=self.mass * chosen["information"].size / max(self.size, 1))

    def mean(self) -> ObservedDraws:
        """The mean of the draws, as one draw."""
        means = {name: getattr(self, name).mean(axis=0, keepdims=True) for name in _OF_DRAWS}
        return replace(self, **means | {"information": means["centre_information"]})


@dataclass(frozen=True, slots=True, eq=False)
class Observed:
    """The draws of one table: those of dependent tables and, with an atom, those of independent ones."""

    dependent: ObservedDraws
    independent: ObservedDraws
    upper: float


def observed(blocks: Tables, options: Belief) -> list[Observed]:
    """The draws of every table."""
    count = blocks.rows.size
    if options.prior == ADAPTIVE:
        mixed, moments = mixtures_with_moments(blocks, matched=options.matched, threads=options.threads)
        components = components_of(blocks, mixed, moments)
        counts, weight, table, p_zero = mixed.blocks, mixed.weight, mixed.table, mixed.p_zero
    else:
        components = posteriors(blocks, options, shaped=True)
        counts, weight, table, p_zero = blocks, np.ones(count), np.arange(count), np.zeros(count)
    pseudo = np.zeros(count) if options.prior == ADAPTIVE else pseudo_counts_of(blocks, options.prior)
    ends = np.searchsorted(table, np.arange(count + 1))
    drawn = []
    for index in range(count):
        part_numbers = range(ends[index], ends[index + 1])
        arrangement = Arrangement.of(blocks.block(index))
        parts = [arrangement.applied(counts.block(part)).astype(np.float64) for part in part_numbers]
        block = arrangement.applied(blocks.block(index)).astype(np.float64)
        upper = float(np.log(min(block.shape) - 1))
        dependent = _dependent(block, parts, weight[ends[index] : ends[index + 1]], float(pseudo[index]))
        if options.approximation == "sampled":
            odds = 1.0 if blocks.odds is None else float(blocks.odds[index])
            distribution = drawn_distribution(Table.of_block(blocks.block(index)), options, odds)
            levels = _levels_of_distribution(distribution, dependent.size)
        else:
            levels = _levels(components, index, upper, dependent.size, gaussian=options.gaussian)
        drawn.append(
            Observed(
                _coupled(dependent, levels, 1.0 - float(p_zero[index])),
                _independent(block, float(p_zero[index])),
                upper,
            )
        )
    return drawn


@lru_cache(maxsize=4)
def _sorted_scores(count: int) -> FloatArray:
    """The normal quantiles of (k - 1/2)/count."""
    inverse = NormalDist().inv_cdf
    return np.array([inverse((rank + 0.5) / count) for rank in range(count)])


@lru_cache(maxsize=4096)
def _scores_of(count: int, cell: int) -> FloatArray:
    """The scores of one cell in its own order."""
    return _sorted_scores(count)[np.random.default_rng((20, cell)).permutation(count)]


def _gammas(shapes: FloatArray, first: int = 0) -> FloatArray:
    """Gamma variates (draws, cells) of these shapes, whose columns take the scores from `first` on; 0 for shape 0."""
    count, cells = shapes.shape
    scores = np.stack([_scores_of(count, first + cell) for cell in range(cells)], axis=1)
    safe = np.maximum(shapes, 1.0)
    drawn = safe * (1.0 - 1.0 / (9.0 * safe) + scores / (3.0 * np.sqrt(safe))) ** 3
    few = (shapes < _MANY) & (shapes > 0.0)
    if few.any():
        drawn[few] = gamma_quantile(shapes[few], normal_below(scores[few]))
    drawn[shapes <= 0.0] = 0.0
    return drawn


def _dependent(block: FloatArray, parts: list[FloatArray], weights: FloatArray, pseudo: float) -> ObservedDraws:
    """Draws from a mixture; `parts` are its blocks, with pseudo-counts but for `pseudo`."""
    count = _number(float(weights.sum()))
    r, s = block.shape[0] - 1, block.shape[1] - 1
    if not parts:
        return _empty(r, s)
    order = np.random.default_rng(20).permutation(count)
    shares = np.cumsum(weights) / weights.sum()
    which = np.minimum(np.searchsorted(shares, (order + 0.5) / count), len(parts) - 1)
    cells = np.stack([part[:r, :s].ravel() + pseudo for part in parts])
    margins = np.concatenate([block[:r, s], block[r, :s]])
    shapes = np.concatenate([cells[which], np.broadcast_to(margins, (count, r + s))], axis=1)
    drawn = _gammas(shapes)
    total = drawn.sum(axis=1, keepdims=True)
    drawn /= total
    seen = np.ascontiguousarray(drawn[:, : r * s]).reshape(count, r, s)
    row_only, column_only = (np.ascontiguousarray(each) for each in np.split(drawn[:, r * s :], [r], axis=1))
    centre = np.empty_like(seen)
    centres(seen, row_only, column_only, centre)
    probabilities = seen, row_only, column_only, centre, _neither(block, total[:, 0])
    information = information_of(centre)
    return ObservedDraws(*probabilities, information, information, 1.0, both_missing(block))


def _neither(block: FloatArray, others: FloatArray) -> FloatArray:
    """Draws of the rows that lack both, relative to the others."""
    count = np.full((others.size, 1), block[-1, -1])
    return _gammas(count, _OF_NEITHER)[:, 0] / others if block[-1, -1] > 0.0 else np.zeros(others.size)


def both_missing(block: FloatArray) -> bool:
    """Whether some rows lack one side and others the other, or some lack both."""
    return bool(block[-1, -1] > 0.0 or (block[:-1, -1].any() and block[-1, :-1].any()))


def _independent(block: FloatArray, p_zero: float) -> ObservedDraws:
    """Draws of independent tables, which have the weight of the atom."""
    r, s = block.shape[0] - 1, block.shape[1] - 1
    if p_zero <= _NO_ATOM:
        return _empty(r, s)
    shapes = np.concatenate(
        [block[:r, :s].sum(axis=1) + _HALF, block[:r, :s].sum(axis=0) + _HALF, block[:r, s], block[r, :s]]
    )
    count = _number(p_zero)
    drawn = _gammas(np.broadcast_to(shapes, (count, shapes.size)), 1 << 20)
    of_rows, of_columns, row_only, column_only = np.split(drawn, [r, r + s, 2 * r + s], axis=1)
    row_shares, complete_rows = _shares_and_sum(of_rows)
    column_shares, complete_columns = _shares_and_sum(of_columns)
    lack_feature, lack_target = block[:r, s].sum(), block[r, :s].sum()
    share = lack_feature / max(lack_feature + lack_target, 1e-300)
    seen = share * complete_rows + (1.0 - share) * complete_columns
    total = seen + row_only.sum(axis=1, keepdims=True) + column_only.sum(axis=1, keepdims=True)
    (rows, _), (columns, _) = (
        _shares_and_sum(seen * row_shares + row_only),
        _shares_and_sum(seen * column_shares + column_only),
    )
    row_only, column_only = row_only / total, column_only / total
    complete = 1.0 - (row_only / rows)[:, :, np.newaxis] - (column_only / columns)[:, np.newaxis, :]
    centre = rows[:, :, np.newaxis] * columns[:, np.newaxis, :]
    zero, margins = np.zeros(count), (np.ascontiguousarray(row_only), np.ascontiguousarray(column_only))
    probabilities = centre * np.maximum(complete, 0.0), *margins, centre, _neither(block, total[:, 0])
    return ObservedDraws(*probabilities, zero, zero, p_zero, both_missing(block))


def _shares_and_sum(drawn: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The shares of the cells in each draw, and their sum."""
    total = drawn.sum(axis=1, keepdims=True)
    return drawn / total, total


def _number(mass: float) -> int:
    """How many draws: fewer if they weigh so little that they hardly move a quantile."""
    return DRAWS if mass > _LITTLE else _FEW_DRAWS


def _empty(r: int, s: int) -> ObservedDraws:
    none = np.zeros(0)
    cells = np.zeros((0, r, s))
    return ObservedDraws(cells, np.zeros((0, r)), np.zeros((0, s)), cells, none, none, none, 0.0, both_missing=False)


def _coupled(drawn: ObservedDraws, levels: FloatArray, mass: float) -> ObservedDraws:
    """The draws with the information that the distribution has at their rank."""
    information = np.empty(drawn.size)
    information[np.argsort(drawn.centre_information, kind="stable")] = levels
    return replace(drawn, information=information, mass=mass)


def _levels(components: PosteriorComponents, index: int, upper: float, count: int, *, gaussian: bool) -> FloatArray:
    """Quantiles of one mixture without its atom, in the middle of `count` equal shares."""
    here = components.table == index
    weight, mean, variance = components.weight[here], components.mean[here], components.variance[here]
    if not count:
        return np.zeros(0)
    weight = weight / weight.sum()
    repeated = PosteriorComponents(
        np.zeros(count),
        np.repeat(np.arange(count), weight.size),
        np.tile(weight, count),
        np.tile(mean, count),
        np.tile(variance, count),
    )
    mixtures = mixtures_of(repeated, np.full(count, upper), gaussian=gaussian)
    if not mixtures.trusted.all():
        distribution = distribution_of_table(
            PosteriorComponents(np.zeros(1), np.zeros(weight.size, int), weight, mean, variance),
            0,
            upper,
            gaussian=gaussian,
        )
        return _levels_of_distribution(distribution, count)
    return quantiles(mixtures, 1.0 - (np.arange(count) + 0.5) / count, 1)


def _levels_of_distribution(distribution: Distribution, count: int) -> FloatArray:
    """The same quantiles of any distribution."""
    middle = (np.arange(count) + 0.5) / count
    levels: FloatArray = distribution.ppf(distribution.p_zero + (1.0 - distribution.p_zero) * middle)
    return levels
