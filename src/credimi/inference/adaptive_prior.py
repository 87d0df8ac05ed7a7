"""The prior "adaptive": the table itself shows how far the cell probabilities are from independence.

A fixed pseudo-count in every cell says that strong dependence is as likely as any; few rows then look informative, by
(r - 1)(s - 1)/2N nats, whatever the truth. Here the prior is a mixture. Around independent probabilities a_i b_j,

    pi ~ Dirichlet(K a_i b_j),          K from loose (dependence of any strength) to tight (hardly any),

with K on a grid of `GRID` values (two thirds of them if (r - 1)(s - 1) < 16, which is enough). The grid is evenly
spaced in log K from `LOOSEST` = 4 (the prior weighs as much as four rows, and lets each class have values of its own)
to `TIGHTEST` = 50 times n min(r, s), where n is the number of complete rows, or of cells if there are more. The weights
are equal. With probability `P_ZERO` = 1/2 there is exact independence, the limit of large K: an atom at I = 0. a and b
are the margins: all rows that have the class, or the value, plus half a count each. If (r - 1)(s - 1) >= 80 the
evidence may have a peak between two points of the grid, which is then made finer around the peak.

**The weights** are those of the counts n_ij given their margins. A multinomial with a Dirichlet(alpha) prior has the
evidence

    L(n; alpha) = log [Gamma(A)/Gamma(A + n)] + sum log [Gamma(alpha + n)/Gamma(alpha)],      A, n the sums,

and relative to independence the table has log B_K = L(n_ij; K a_i b_j) - L(n_i+; K a_i) - L(n_+j; K b_j): the evidence
of the whole minus that of its margins, which tell nothing about dependence, and from which a and b were already
learned. It is symmetric in target and feature and tends to 0 as K grows. Rows in which one of the two is missing inform
about one margin, hence through a and b. If only one side has missing values, they tell nothing else: with the evidence
of all rows instead of the complete ones, log B_K is the same. If both sides have missing values, such rows tell more,
and all rows are used: if values are missing at random, but more often for some classes and for some values, the odds
ratios of the complete rows are not those of the population.

**The components** are posteriors as with fixed pseudo-counts, of the counts n_ij + K a_i b_j with the same margins. The
moments of `inference.moments` apply to them for all patterns of missingness. Components with less than `NEGLIGIBLE`
weight are left out; for most tables two to seven remain. The weights cost O(rs GRID) (see
`kernels.evidence.adaptive_weights`), plus the moments of each component; if both sides have missing values, weights and
moments are computed together (see `kernels.evidence.two_sided_weights`).

**Other odds.** A table may have been chosen among many for what it tells: a column of numbers is cut where it tells
most. `columns.numbers.discretize` says what share of the evidence is left when it is averaged over all places where the
cuts might have been. This share multiplies the odds of dependence, (1 - p_zero) : p_zero, and with them the weights of
all components.

**Strata.** Tables of one candidate, one for each stratum, share K and independence: log B_K is summed over them, and
two thirds of the grid suffice where their degrees of freedom together are below 16 (see `stratified_tables`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.inference.moments import Moments, moments, parts
from credimi.kernels.evidence import adaptive_weights, evidence_at, two_sided_weights
from credimi.kernels.evidence.adaptive_weights import BOTH_SIDES_MISS

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, CountArray, FloatArray, IntegerArray

GRID = 18
LOOSEST = 4.0
TIGHTEST = 50.0
P_ZERO = 0.5
NEGLIGIBLE = 1e-4
SMOOTHING = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class AdaptiveWeights:
    """Of each candidate the weight of independence, and all components, table by table: their table, weight and block.

    A candidate is a table, or several that are its strata.
    """

    p_zero: FloatArray
    table: IntegerArray
    weight: FloatArray
    blocks: Tables


@dataclass(frozen=True, slots=True, eq=False)
class PosteriorComponents:
    """The components of many tables with their moments."""

    p_zero: FloatArray
    table: IntegerArray
    weight: FloatArray
    mean: FloatArray
    variance: FloatArray


def components(
    blocks: Tables, *, matched: bool = True, threads: int | None = None, whole: BooleanArray | None = None
) -> PosteriorComponents:
    """Weights and moments of every table's components; `whole` as `moments` has it."""
    return components_of(blocks, *mixtures_with_moments(blocks, whole=whole, matched=matched, threads=threads))


def components_of(blocks: Tables, mixed: AdaptiveWeights, found: Moments) -> PosteriorComponents:
    """The same, of mixtures whose moments are known."""
    upper = np.log(np.minimum(blocks.rows, blocks.columns))[mixed.table]
    number, weight, mean, variance = found.components()  # of the component, which some are parts of
    weight = weight * mixed.weight[number]
    return PosteriorComponents(mixed.p_zero, mixed.table[number], weight, np.minimum(mean, upper[number]), variance)


def mixtures_with_moments(
    blocks: Tables,
    strata: tuple[IntegerArray, IntegerArray] | None = None,
    whole: BooleanArray | None = None,
    *,
    matched: bool = True,
    threads: int | None = None,
) -> tuple[AdaptiveWeights, Moments]:
    """The mixtures, and the moments of every component; `strata` as `mixtures` has them, `whole` as `moments`."""
    mixed, mean, variance = _mixtures(blocks, strata, matched=matched, threads=threads)
    # If both sides have missing values, the moments come with the weights; a few of them no distribution can have.
    unknown = ~(variance >= 0.0)
    if matched:
        upper = np.log(np.minimum(blocks.rows, blocks.columns))[mixed.table]
        unknown |= ~((variance > 0.0) & (mean < upper) & (variance < mean * (upper - mean)))
    if not unknown.any():
        none = np.empty((0, 1))
        return mixed, Moments(mean, variance, np.empty(0, dtype=np.int64), none, none)
    some = mixed.blocks if unknown.all() else mixed.blocks.chosen(unknown)
    undivided = None if whole is None else whole[mixed.table[unknown]]
    found = moments(some, 0.0, matched=matched, threads=threads, whole=undivided)
    mean[unknown], variance[unknown] = found.mean, found.variance
    split = np.flatnonzero(unknown)[found.split]
    return mixed, Moments(mean, variance, split, found.mean_given, found.variance_given)


def with_odds(p_zero: FloatArray, odds: FloatArray | float) -> FloatArray:
    """Convert P(independent | data) from even prior odds of dependence to the given odds."""
    found: FloatArray = p_zero / (p_zero + (1.0 - p_zero) * odds)
    return found


def prior_blocks(block: CountArray) -> list[FloatArray]:
    """Of one table, the parameters K a_i b_j of all components of its prior, which have equal weights."""
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

    `strata` are the first table of each candidate and the one after its last, which leaves out no table; without them
    every table is a candidate.
    """
    return _mixtures(blocks, strata, matched=True, threads=threads)[0]


def independence(
    blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None = None, *, threads: int | None = None
) -> FloatArray:
    """P(independent) of every candidate, without the cost of moments; `strata` as `mixtures` has them."""
    return _weigh(blocks, *_spans(blocks, strata), matched=False, threads=threads).p_zero


def log_odds_of_dependence(blocks: Tables, *, threads: int | None = None) -> FloatArray:
    """The log Bayes factor of dependence of every table, however large, where P(independent) is 0 in doubles.

    The point K of the grid with the most weight has w = B_K p_K / (B_K p_K + ...), which gives the sum.
    """
    count = blocks.rows.size
    found = _weigh(blocks, *_spans(blocks, None), matched=False, threads=threads)
    known = found.weights.max(axis=1, initial=0.0) > 0.0
    log_odds = np.where(known, 0.0, -np.inf)
    best = found.weights.argmax(axis=1) if count else np.zeros(0, dtype=np.int64)
    strength = np.where(known, found.strengths[np.arange(count), best], 1.0)
    strengths = np.where(known[:, np.newaxis], found.strengths, np.arange(1.0, GRID + 1.0))

    def work(part: slice) -> None:
        tables = blocks.flat, blocks.offsets[part], blocks.rows[part], blocks.columns[part], SMOOTHING
        log_evidence, log_prior = np.empty(part.stop - part.start), np.empty(part.stop - part.start)
        evidence_at.log_evidence_at(*tables, strength[part], log_evidence)
        evidence_at.log_prior_of_points(*tables, LOOSEST, TIGHTEST, strengths[part], log_prior)
        share_of_best = found.weights[np.arange(part.start, part.stop), best[part]] / (1.0 - found.p_zero[part])
        log_odds[part] += np.where(known[part], log_evidence + log_prior - np.log(share_of_best), 0.0)

    with np.errstate(divide="ignore", invalid="ignore"):  # of tables that tell nothing
        share(work, parts(count, GRID * blocks.flat.size, threads), threads)
    return log_odds


@dataclass(frozen=True, slots=True, eq=False)
class _Weights:
    """Of each candidate the weights; of those in `both`, whose sides both miss, the moments that come with them.

    These are (tables of all these candidates one after the other, points).
    """

    p_zero: FloatArray
    strengths: FloatArray
    weights: FloatArray
    staying: IntegerArray
    both: IntegerArray
    mean: FloatArray
    variance: FloatArray


def _spans(blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None) -> tuple[IntegerArray, IntegerArray]:
    each = np.arange(blocks.rows.size)
    return (each, each + 1) if strata is None else strata


def _weigh(
    blocks: Tables, starts: IntegerArray, stops: IntegerArray, *, matched: bool, threads: int | None
) -> _Weights:
    tables = blocks.flat, blocks.offsets, blocks.rows, blocks.columns
    count = starts.size
    p_zero, staying = np.empty(count), np.empty(count, dtype=np.int64)
    strengths, weights = np.empty((count, GRID)), np.empty((count, GRID))
    hyper = SMOOTHING, LOOSEST, TIGHTEST, P_ZERO, NEGLIGIBLE

    def weigh(part: slice) -> None:
        results = p_zero[part], strengths[part], weights[part], staying[part]
        adaptive_weights.weigh(*tables, starts[part], stops[part], *hyper, *results)

    share(weigh, parts(count, GRID * blocks.flat.size, threads), threads)
    both = np.flatnonzero(staying == BOTH_SIDES_MISS)
    ends = np.concatenate(
        [[0], np.cumsum((stops - starts)[both])]
    )  # of the tables of these candidates, one after the other
    mean, variance = np.empty((2, int(ends[-1]), GRID))
    if both.size:
        p_zero_of_both, strengths_of_both = p_zero[both], strengths[both]
        weights_of_both, staying_of_both = weights[both], staying[both]

        def weigh_two_sided(part: slice) -> None:
            which, rows = both[part], slice(ends[part.start], ends[part.stop])
            results = p_zero_of_both[part], strengths_of_both[part], weights_of_both[part], staying_of_both[part]
            two_sided_weights.weigh_two_sided(
                *tables, starts[which], stops[which], *hyper, matched, *results, mean[rows], variance[rows]
            )

        share(weigh_two_sided, parts(both.size, 10 * GRID * blocks.flat.size, threads), threads)
        p_zero[both], strengths[both] = p_zero_of_both, strengths_of_both
        weights[both], staying[both] = weights_of_both, staying_of_both
    if blocks.odds is not None:
        from_even, p_zero = p_zero, with_odds(p_zero, blocks.odds)
        weights *= np.divide(1.0 - p_zero, 1.0 - from_even, where=from_even < 1.0, out=np.zeros(count))[:, np.newaxis]
    return _Weights(p_zero, strengths, weights, staying, both, mean, variance)


def _mixtures(
    blocks: Tables, strata: tuple[IntegerArray, IntegerArray] | None, *, matched: bool, threads: int | None
) -> tuple[AdaptiveWeights, FloatArray, FloatArray]:
    """The mixtures, and the moments of those components that come with them: the others' are NaN."""
    starts, stops = _spans(blocks, strata)
    found = _weigh(blocks, starts, stops, matched=matched, threads=threads)
    own, both, staying = stops - starts, found.both, found.staying
    candidate = np.repeat(np.arange(starts.size), own)
    known = np.full((2, int((staying * own).sum())), np.nan)
    if both.size:
        stays = found.weights[np.repeat(both, own[both])] > 0.0
        known[:, np.repeat(np.isin(candidate, both), staying[candidate])] = found.mean[stays], found.variance[stays]
    strengths, weights = found.strengths, found.weights
    if strata is not None:
        staying, strengths, weights = staying[candidate], strengths[candidate], weights[candidate]
    sizes = staying * (blocks.rows + 1) * (blocks.columns + 1)
    numbers, targets = np.cumsum(staying) - staying, np.cumsum(sizes) - sizes
    weight, flat = np.empty(int(staying.sum())), np.empty(int(sizes.sum()))

    def augment(part: slice) -> None:
        some = blocks.flat, blocks.offsets[part], blocks.rows[part], blocks.columns[part], SMOOTHING
        adaptive_weights.augment(*some, strengths[part], weights[part], numbers[part], targets[part], weight, flat)

    share(augment, parts(blocks.rows.size, GRID * blocks.flat.size, threads), threads)
    table = np.repeat(np.arange(blocks.rows.size), staying)
    return (
        AdaptiveWeights(found.p_zero, table, weight, Tables(flat, blocks.rows[table], blocks.columns[table])),
        known[0],
        known[1],
    )
