"""The prior "adaptive": it learns from the table how far the cell probabilities are from independence.

A fixed pseudo-count in every cell says that strong dependence is as likely as any. With few rows, I is then
overestimated by about (r - 1)(s - 1)/2N nats, whatever the truth. Here the prior is a mixture. Around independent
probabilities a_i b_j,

    pi ~ Dirichlet(K a_i b_j),          K from loose (dependence of any strength) to tight (hardly any),

with K on a grid of `GRID` values (two thirds of them if (r - 1)(s - 1) < 16, which is enough). The grid is evenly
spaced in log K. It starts at `LOOSEST` = 4, where the prior weighs as much as four rows, and lets each class have
values of its own. It ends at `TIGHTEST` = 50 times n min(r, s), where n is the number of complete rows, or of cells if
there are more. All K have equal prior weights. With probability `P_ZERO` = 1/2 there is exact independence, the limit
of large K: an atom at I = 0. a and b are the margins: all rows that have the class, or the value, plus half a count
each. If (r - 1)(s - 1) >= 80 the evidence may have a peak between two points of the grid, which is then made finer
around the peak.

**The weights** are those of the counts n_ij given their margins. A multinomial with a Dirichlet(alpha) prior has the
evidence

    L(n; alpha) = log [Gamma(A)/Gamma(A + n)] + sum log [Gamma(alpha + n)/Gamma(alpha)],      A, n the sums,

and the log Bayes factor against independence is log B_K = L(n_ij; K a_i b_j) - L(n_i+; K a_i) - L(n_+j; K b_j): the
evidence of the table minus that of its margins. The margins tell nothing about dependence, and a and b were already
learned from them. log B_K is symmetric in target and feature and tends to 0 as K grows.

Rows in which one of the two is missing inform about one margin, and so about a and b. If only one side has missing
values, these rows tell nothing else: with the evidence of all rows instead of the complete ones, log B_K is the same.
If both sides have missing values, such rows tell more, and all rows are used. (If values are missing at random, but
more often for some classes and for some values, the odds ratios of the complete rows are not those of the population.)

**The components** are posteriors as with fixed pseudo-counts: K has the counts n_ij + K a_i b_j and the same margins.
The moments of `inference.moments.moments` apply to them for all patterns of missing values. Components with less than
`NEGLIGIBLE` weight are left out; for most tables two to seven remain. The weights cost O(rs GRID) (see
`adaptive_weights`), plus the moments of each component; if both sides have missing values, weights and
moments are computed together (see `inference.evidence.two_sided_weights`).

**Other odds.** A table may have been chosen among many because it is informative: a column of numbers is cut where the
cuts inform most. `columns.numbers.discretize` says what share of the evidence is left if it is averaged over all
possible cuts. This share multiplies the odds of dependence, (1 - p_zero) : p_zero, and with them the weights of all
components.

**Strata.** A candidate may have one table for each stratum. These tables share K, and either all or none of them are
independent: log B_K is summed over them. Two thirds of the grid suffice if their degrees of freedom together are below
16 (see `stratified_tables`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.inference.evidence import adaptive_weights, two_sided_weights
from credimi.inference.evidence.adaptive_weights import BOTH_SIDES_MISS
from credimi.inference.moments.moments import Moments, moments, parts

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, CountArray, FloatArray, Foreign, IntegerArray, Record

GRID = 18
LOOSEST = 4.0
TIGHTEST = 50.0
P_ZERO = 0.5
NEGLIGIBLE = 1e-4
SMOOTHING = 0.5
_SMALLEST_POSITIVE = 1e-300
_MARGIN = 1e-3  # of a Beta's largest mean and variance
_ROUNDING = 1e-15  # nats: a smaller mean or deviation is a rounding error


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveWeights:
    """The weight of independence of each candidate, and all components, table by table: their table, weight and block.

    A candidate is one table, or several tables that are its strata. `approximate` says whose weights may be off.
    """

    p_zero: FloatArray
    table: IntegerArray
    weight: FloatArray
    blocks: Tables
    approximate: BooleanArray


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorComponents:
    """The components of many tables with their moments.

    `approximate` says of which tables P(independent) may be off (see `allocation_sum`); None if of none.
    """

    p_zero: FloatArray
    table: IntegerArray
    weight: FloatArray
    mean: FloatArray
    variance: FloatArray
    approximate: BooleanArray | None = None

    @property
    def marks(self) -> BooleanArray:
        """`approximate` as a mask in any case."""
        return np.zeros(self.p_zero.size, dtype=np.bool_) if self.approximate is None else self.approximate


def components(
    blocks: Tables, *, matched: bool = True, threads: int | None = None, whole: BooleanArray | None = None
) -> PosteriorComponents:
    """Weights and moments of every table's components; for `whole` see `moments`."""
    return components_of(blocks, *mixtures_with_moments(blocks, whole=whole, matched=matched, threads=threads))


def components_of(blocks: Tables, mixture: AdaptiveWeights, component_moments: Moments) -> PosteriorComponents:
    """The same for mixtures whose moments are known."""
    upper = np.log(np.minimum(blocks.rows, blocks.columns))[mixture.table]
    component, weight, mean, variance = component_moments.components()  # several parts may belong to one component
    weight = weight * mixture.weight[component]
    return PosteriorComponents(
        mixture.p_zero,
        mixture.table[component],
        weight,
        np.minimum(mean, upper[component]),
        variance,
        mixture.approximate,
    )


def components_of_averages(table: int, averaged: FloatArray, upper: float) -> PosteriorComponents:
    """The posterior of a number averaged over all cuts, from `Tables.averaged`; the rows of the result are one table's.

    The prior of independence is `P_ZERO`, as for every table, and a Beta with these moments must exist on [0, upper].
    """
    evidence, mean, variance = averaged[:3]
    top = max(float(evidence.max()), 0.0)
    weight = (1.0 - P_ZERO) * np.exp(evidence - top)
    zero = P_ZERO * np.exp(-top)
    total = zero + weight.sum()
    matters = weight > NEGLIGIBLE * weight.max()
    weight = weight[matters] * (weight.sum() / weight[matters].sum()) / total
    mean = np.clip(mean[matters], _ROUNDING, upper * (1.0 - _MARGIN))
    variance = np.clip(variance[matters], _ROUNDING**2, (1.0 - _MARGIN) * mean * (upper - mean))
    return PosteriorComponents(np.array([zero / total]), np.full(weight.size, table), weight, mean, variance)


def mixtures_with_moments(
    blocks: Tables,
    strata: tuple[IntegerArray, IntegerArray] | None = None,
    whole: BooleanArray | None = None,
    *,
    matched: bool = True,
    threads: int | None = None,
) -> tuple[AdaptiveWeights, Moments]:
    """The mixtures, and the moments of every component; for `strata` see `mixtures`, for `whole` see `moments`."""
    mixture, mean, variance = _mixtures(blocks, strata, matched=matched, threads=threads)
    # If both sides have missing values, the moments come with the weights. A few are impossible: compute these again.
    unknown = ~(variance >= 0.0)
    if matched:
        upper = np.log(np.minimum(blocks.rows, blocks.columns))[mixture.table]
        unknown |= ~((variance > 0.0) & (mean < upper) & (variance < mean * (upper - mean)))
    split, no_parts = np.empty(0, dtype=np.int64), np.empty((0, 1))
    mean_given, variance_given = no_parts, no_parts
    if unknown.any():
        unknown_blocks = mixture.blocks if unknown.all() else mixture.blocks.chosen(unknown)
        keep_whole = None if whole is None else whole[mixture.table[unknown]]
        of_dependence = np.maximum(np.bincount(mixture.table, mixture.weight), _SMALLEST_POSITIVE)[mixture.table]
        needed: Record = {"whole": keep_whole, "weights": (mixture.weight / of_dependence)[unknown]}
        unknown_moments = moments(unknown_blocks, 0.0, matched=matched, threads=threads, **needed)
        mean[unknown], variance[unknown] = unknown_moments.mean, unknown_moments.variance
        split = np.flatnonzero(unknown)[unknown_moments.split]
        mean_given, variance_given = unknown_moments.mean_given, unknown_moments.variance_given
    # A component is no atom at 0, and rounding must not make it one.
    mean, variance = np.maximum(mean, _ROUNDING), np.maximum(variance, _ROUNDING**2)
    return mixture, Moments(mean, variance, split, mean_given, variance_given)


def with_odds(p_zero: FloatArray, odds: FloatArray | float) -> FloatArray:
    """Convert P(independent | data) from even prior odds of dependence to the given odds."""
    converted: FloatArray = p_zero / (p_zero + (1.0 - p_zero) * odds)
    return converted


def prior_blocks(block: CountArray) -> list[FloatArray]:
    """The parameters K a_i b_j of all components of one table's prior, which have equal weights."""
    counts = block.astype(np.float64)
    (rows, columns), total = (size - 1 for size in block.shape), float(counts[:-1, :-1].sum())
    classes, values = counts[:-1].sum(axis=1) + SMOOTHING, counts[:, :-1].sum(axis=0) + SMOOTHING
    points = adaptive_weights.grid_size((rows - 1) * (columns - 1), GRID)
    ratio = adaptive_weights.grid_ratio(LOOSEST, TIGHTEST, total, rows, columns, points)
    probabilities = np.zeros(block.shape)
    probabilities[:-1, :-1] = np.outer(classes / classes.sum(), values / values.sum())
    return [LOOSEST * ratio**point * probabilities for point in range(points)]


def mixtures(
    blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None = None, *, threads: int | None = None
) -> AdaptiveWeights:
    """The weights of every candidate, and the counts with pseudo-counts of its components.

    `strata` are the first table of each candidate, and the one after its last; together they cover all tables. Without
    them every table is a candidate.
    """
    return _mixtures(blocks, strata, matched=True, threads=threads)[0]


def independence(
    blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None = None, *, threads: int | None = None
) -> FloatArray:
    """P(independent) of every candidate, without the cost of moments; for `strata` see `mixtures`."""
    return independence_and_marks(blocks, strata, threads=threads)[0]


def independence_and_marks(
    blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None = None, *, threads: int | None = None
) -> tuple[FloatArray, BooleanArray]:
    """The same, and a mask of the candidates of which it may be off (see `allocation_sum`)."""
    weighed = _weigh(blocks, *_spans(blocks, strata), matched=False, threads=threads)
    return weighed.p_zero, weighed.approximate


def log_odds_of_dependence(blocks: Tables, *, threads: int | None = None) -> FloatArray:
    """The log Bayes factor of dependence of every table, even if it is so large that P(independent) is 0 in doubles."""
    return _weigh(blocks, *_spans(blocks, None), matched=False, threads=threads).log_odds


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """The weights of each candidate. `two_sided` are the candidates in which both sides have missing values.

    `log_odds` are those of dependence, from even prior odds, whatever `odds` the tables have. `mean` and `variance` are
    those of their components, (tables of all these candidates one after the other, points).
    `approximate` says whose weights may be off: see `two_sided_weights`.
    """

    p_zero: FloatArray
    log_odds: FloatArray
    strengths: FloatArray
    weights: FloatArray
    component_counts: IntegerArray
    two_sided: IntegerArray
    mean: FloatArray
    variance: FloatArray
    approximate: BooleanArray


def _spans(blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None) -> tuple[IntegerArray, IntegerArray]:
    table = np.arange(blocks.rows.size)
    return (table, table + 1) if strata is None else strata


def _weigh(
    blocks: Tables, starts: IntegerArray, stops: IntegerArray, *, matched: bool, threads: int | None
) -> _Weights:
    tables = blocks.flat, blocks.offsets, blocks.rows, blocks.columns
    count = starts.size
    p_zero, log_odds, component_counts = np.empty(count), np.empty(count), np.empty(count, dtype=np.int64)
    strengths, weights = np.empty((count, GRID)), np.empty((count, GRID))
    approximate = np.zeros(count, dtype=np.bool_)
    hyperparameters = SMOOTHING, LOOSEST, TIGHTEST, P_ZERO, NEGLIGIBLE

    fields: tuple[Foreign, ...] = p_zero, log_odds, strengths, weights, component_counts

    def weigh(part: slice) -> None:
        results = (field[part] for field in fields)
        adaptive_weights.weigh(*tables, starts[part], stops[part], *hyperparameters, *results)

    share(weigh, parts(count, GRID * blocks.flat.size, threads), threads)
    two_sided = np.flatnonzero(component_counts == BOTH_SIDES_MISS)
    # The tables of all two-sided candidates follow each other: those of each end here.
    ends = np.concatenate([[0], np.cumsum((stops - starts)[two_sided])])
    mean, variance = np.empty((2, int(ends[-1]), GRID))
    if two_sided.size:
        fields += (approximate,)
        of_both = [field[two_sided] for field in fields]

        def weigh_two_sided(part: slice) -> None:
            chosen, span = two_sided[part], slice(ends[part.start], ends[part.stop])
            results = *(field[part] for field in of_both), mean[span], variance[span]
            two_sided_weights.weigh_two_sided(
                *tables, starts[chosen], stops[chosen], *hyperparameters, matched, *results
            )

        share(weigh_two_sided, parts(two_sided.size, 10 * GRID * blocks.flat.size, threads), threads)
        for field, found in zip(fields, of_both, strict=True):
            field[two_sided] = found
    if blocks.odds is not None:
        from_even, p_zero = p_zero, with_odds(p_zero, blocks.odds)
        weights *= np.divide(1.0 - p_zero, 1.0 - from_even, where=from_even < 1.0, out=np.zeros(count))[:, np.newaxis]
    return _Weights(p_zero, log_odds, strengths, weights, component_counts, two_sided, mean, variance, approximate)


def _mixtures(
    blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None, *, matched: bool, threads: int | None
) -> tuple[AdaptiveWeights, FloatArray, FloatArray]:
    """The mixtures, and the means and variances of two-sided components; those of the others are NaN."""
    starts, stops = _spans(blocks, strata)
    weighed = _weigh(blocks, starts, stops, matched=matched, threads=threads)
    strata_counts, two_sided, component_counts = stops - starts, weighed.two_sided, weighed.component_counts
    candidate = np.repeat(np.arange(starts.size), strata_counts)
    known_moments = np.full((2, int((component_counts * strata_counts).sum())), np.nan)
    if two_sided.size:
        is_component = weighed.weights[np.repeat(two_sided, strata_counts[two_sided])] > 0.0
        known_moments[:, np.repeat(np.isin(candidate, two_sided), component_counts[candidate])] = (
            weighed.mean[is_component],
            weighed.variance[is_component],
        )
    strengths, weights = weighed.strengths, weighed.weights
    if strata is not None:
        component_counts, strengths, weights = component_counts[candidate], strengths[candidate], weights[candidate]
    sizes = component_counts * (blocks.rows + 1) * (blocks.columns + 1)
    first_components, first_cells = np.cumsum(component_counts) - component_counts, np.cumsum(sizes) - sizes
    weight, flat = np.empty(int(component_counts.sum())), np.empty(int(sizes.sum()))

    def augment(part: slice) -> None:
        tables = blocks.flat, blocks.offsets[part], blocks.rows[part], blocks.columns[part], SMOOTHING
        adaptive_weights.augment(
            *tables, strengths[part], weights[part], first_components[part], first_cells[part], weight, flat
        )

    share(augment, parts(blocks.rows.size, GRID * blocks.flat.size, threads), threads)
    table = np.repeat(np.arange(blocks.rows.size), component_counts)
    return (
        AdaptiveWeights(
            weighed.p_zero,
            table,
            weight,
            Tables(flat, blocks.rows[table], blocks.columns[table]),
            weighed.approximate,
        ),
        known_moments[0],
        known_moments[1],
    )
