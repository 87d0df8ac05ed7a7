"""From codes to the probability of every edge and direction.

1. `candidates`: which columns may be neighbours.
2. `parent_sets`: the evidence of each small set of parents of each column.
3. `orders`: networks sampled in proportion to evidence and prior; their edges and directions averaged.
4. The prior odds of an edge correspond to two neighbours per column, or to the number that is expected given the data,
   if that is smaller: the average of the sampled networks, and what is expected of the pairs that they leave out
   (`_other_pairs`). So the prior adds no edges where columns do not depend on each other.

   The grid of strengths of the sets of parents ends at 5 n min(r, s), not at 50 (see `adaptive_prior`). Edges beyond
   that cannot be told from none with n rows. They would take most of the prior, and so evidence from all others.
5. Probabilities are lowered where the networks cannot know better: a single column separates the pair, or might but has
   too many values to be tested; the pair does not clearly depend given some set of columns; both columns would need
   larger sets of parents than there are rows for; or other columns determine one of the two, and might be its
   neighbours instead. The lowered probabilities are about the share of such edges that were true in public networks.
   If two columns are independent unconditionally, and both depend on a third, they are taken for its causes rather than
   for neighbours. Arrows may not contradict triples of columns (see `directions`).

Where values are missing, tests on different columns have different complete rows, and their evidence cannot be
compared: more rows would look like a stronger dependence. So the first network is learned from evidence that is scaled
down to the rows of a test of four columns. Then several tables are completed from that network (see `imputation`).
For each of them separately, a network is learned, the table is completed again from it, and a second network is
learned. The second networks of all completed tables are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING

import numpy as np

from credimi.questions.network.candidates import CLEAR_EVIDENCE, Candidates, candidates, unconditional_evidence
from credimi.questions.network.directions import arrow_bounds
from credimi.questions.network.edge_evidence import EdgeEvidence
from credimi.questions.network.orders import sampled
from credimi.questions.network.parent_sets import ParentSets, Separators, parent_sets
from credimi.questions.pairs.imputation import Imputation

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.rows.distinct_rows import DistinctRows
    from credimi.questions.network.pair_set import PairSet

MAX_PARENTS = 8
DEGREE = 2.0  # neighbours of a column that are expected a priori; fewer if the data show fewer
_MIN_DEGREE = 0.02
_START_DEGREE = 0.05  # where learning starts: if the data say nothing about the degree, it stays there
_MAX_ODDS = 0.25  # prior odds of an edge; reached where columns are few
_MAX_PARTNERS = 10
_MAX_ODDS_ROUNDS = 8  # in which the prior odds are learned
_ROUND_EFFORT = 0.1  # of the sampling in such a round, relative to the final sampling
_MAX_LOG_FACTOR, _BINS_PER_UNIT = 30, 100  # of the histogram of pairs that cannot have an edge
_TIGHTEST = 5.0  # times n min(r, s): where the grid of strengths ends
_SEPARATED_SHARE = 0.8  # P(edge) is multiplied by this if one column separates the pair
_UNTRIED_SHARE = 0.6  # the same if a column that might separate the pair has too many values to be tried
_COMMON_EFFECT_SHARE = 0.4  # the same if the two are independent, and a common neighbour may be the effect of both
# maximum of P(edge) by the number of doubts: a set of columns nearly separates the pair, or determines one of the two
_MAX_PROBABILITIES = np.array([1.0, 0.9, 0.6])
_SETTLED_CHANGE = 0.1  # of the log odds: a smaller change ends the rounds
_SWEEPS = (20, 10)  # draws of all missing values before the first and the second network of a completed table


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """The learned figures of all pairs that may have an edge.

    For a pair (one, other), `arcs` has P(one -> other) and P(other -> one), and `forced` the part of each from networks
    in which the other direction is impossible. `least_evidence` is the smallest log Bayes factor found for the pair,
    and `given` the columns it was conditioned on. `unconditional` is the log Bayes factor of every pair of columns
    given nothing, as a matrix. `parents` are the probable parents of each column in one network that was drawn.
    """

    pairs: PairSet
    arcs: FloatArray
    forced: FloatArray
    least_evidence: FloatArray
    given: NDArray[np.int32]
    unconditional: FloatArray
    degree: float
    completions: int
    parents: tuple[IntegerArray, ...]
    agree: int  # number of walks that ended near the best
    completed: FloatArray | None = None  # `unconditional` of the completed tables, on average; None if there are none

    @property
    def edges(self) -> FloatArray:
        """P(edge) of each pair."""
        return _edge_probabilities(self.arcs)

    @property
    def edge_matrix(self) -> FloatArray:
        """P(edge) as a square matrix over all columns; 0 for pairs that are not in `pairs`."""
        return self.pairs.matrix(self.edges, self.edges)

    def of_more_pairs(self, pairs: PairSet) -> Learned:
        """The same figures for a larger set of pairs; the added pairs have no edge and only unconditional evidence."""
        indices = pairs.index_of(self.pairs.one, self.pairs.other)
        arcs, forced = np.zeros((2, len(pairs), 2))
        least_evidence = self.unconditional[pairs.one, pairs.other]
        given = np.full((len(pairs), self.given.shape[1]), -1, dtype=np.int32)
        arcs[indices], forced[indices], least_evidence[indices] = self.arcs, self.forced, self.least_evidence
        given[indices] = self.given
        return replace(self, pairs=pairs, arcs=arcs, forced=forced, least_evidence=least_evidence, given=given)

    def sum_with(self, other: Learned) -> Learned:
        """The figures of two tables added; `given` and everything that cannot be added is that of `other`."""
        pairs = self.pairs.union(other.pairs)
        own_figures, other_figures = self.of_more_pairs(pairs), other.of_more_pairs(pairs)
        return replace(
            other_figures,
            arcs=own_figures.arcs + other_figures.arcs,
            forced=own_figures.forced + other_figures.forced,
            least_evidence=own_figures.least_evidence + other_figures.least_evidence,
            unconditional=self.unconditional + other.unconditional,
            completions=self.completions + other.completions,
        )


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """How to learn.

    `degree` is the expected number of neighbours of a column, None if it is learned; `imputations` is the number of
    completed tables that are averaged where values are missing.
    """

    degree: float | None = None
    max_parents: int = MAX_PARENTS
    imputations: int = 4
    seed: int = 0
    threads: int | None = None


def learn(
    table: DistinctRows,
    values: IntegerArray,
    options: LearnOptions,
    report_progress: Callable[[float], None] = lambda _: None,
) -> Learned:
    """Learn the network of columns; the code of a missing value is the number of values of its column."""
    evidence = EdgeEvidence(table.codes, values, table.weights, options.threads)
    if not (table.codes >= values[:, np.newaxis]).any():
        return _learn_table(evidence, unconditional_evidence(evidence), options, DEGREE, options.seed)
    complete_rows = np.zeros((values.size, values.size))
    unconditional = unconditional_evidence(evidence, complete_rows)
    usual_rows = float(np.median(complete_rows[np.triu_indices(values.size, 1)])) if values.size > 1 else 0.0
    scaled = replace(evidence, scaled_to=max(usual_rows**2 / max(evidence.rows, 1.0), 1.0))
    scaled_unconditional = unconditional * np.minimum(1.0, scaled.scaled_to / np.maximum(complete_rows, 1.0))
    del complete_rows
    result = first = _learn_table(scaled, scaled_unconditional, options, DEGREE, options.seed)
    total: Learned | None = None
    for completion in range(options.imputations):
        imputation, previous = Imputation(table, values, options.seed + completion), first
        for stage, sweeps in enumerate(_SWEEPS):
            report_progress(0.1 + 0.9 * (completion + stage / len(_SWEEPS)) / options.imputations)
            imputation.sweep(previous.parents, sweeps)
            rows = imputation.completed.merged()
            completed = EdgeEvidence(rows.codes, values, rows.weights, options.threads)
            seed = options.seed + 100 * stage + completion + 1
            result = previous = _learn_table(completed, unconditional_evidence(completed), options, result.degree, seed)
        result = replace(result, completions=1)
        total = result if total is None else total.sum_with(result)
    if total is None:
        return replace(result, unconditional=unconditional)
    completions = total.completions
    return replace(
        total,
        arcs=total.arcs / completions,
        forced=total.forced / completions,
        least_evidence=total.least_evidence / completions,
        unconditional=unconditional,
        completed=total.unconditional / completions,
    )


def _learn_table(
    evidence: EdgeEvidence, unconditional: FloatArray, options: LearnOptions, degree: float, seed: int
) -> Learned:
    """Learn from one table."""
    columns = evidence.columns
    degree = options.degree if options.degree is not None else degree
    log_odds = _log_odds(degree, columns)
    neighbours = candidates(evidence, unconditional, _log_odds(max(degree, DEGREE), columns), _MAX_PARTNERS)
    pairs, separators = neighbours.pairs, Separators.of(neighbours, max(options.max_parents - 1, 1))
    evidence = replace(evidence, tightest=_TIGHTEST)
    sets = parent_sets(evidence, neighbours.partners, options.max_parents, log_odds, separators)
    settled = options.degree is not None or columns < 2
    log_odds = log_odds if settled else _log_odds(_START_DEGREE, columns)
    others, other_counts = _other_pairs(unconditional, neighbours)
    for _ in range(0 if settled else _MAX_ODDS_ROUNDS):
        trial = sampled(sets, log_odds, seed=seed, effort=_ROUND_EFFORT, threads=options.threads)
        edges = _edge_probabilities(trial.of_pairs(pairs, trial.arcs))
        expected = float(edges.sum() + (other_counts / (1.0 + np.exp(-log_odds - others))).sum())
        degree = min(max(2.0 * expected / columns, _MIN_DEGREE), DEGREE)
        previous, log_odds = log_odds, _log_odds(degree, columns)
        if abs(log_odds - previous) < _SETTLED_CHANGE:
            break
    final = sampled(sets, log_odds, seed=seed, threads=options.threads)
    arcs, forced = (final.of_pairs(pairs, figures) for figures in (final.arcs, final.forced))
    edges = _edge_probabilities(arcs)
    forced = np.minimum(forced, edges[:, np.newaxis] * arrow_bounds(evidence, separators, edges, forced))
    larger_untested = _larger_sets_untested(evidence, sets, neighbours.least_evidence, pairs, log_odds)
    unclear = larger_untested[pairs.one] & larger_untested[pairs.other] | (separators.least_evidence < CLEAR_EVIDENCE)
    max_probability = _MAX_PROBABILITIES[unclear.astype(np.int64) + separators.determined]
    shares = max_probability / np.maximum(edges, max_probability)
    shares[neighbours.least_evidence < 0.0] = _SEPARATED_SHARE
    shares[neighbours.untried] = _UNTRIED_SHARE
    shares[_may_share_an_effect(pairs, unconditional, edges)] = _COMMON_EFFECT_SHARE
    return Learned(
        pairs,
        arcs * shares[:, np.newaxis],
        forced * shares[:, np.newaxis],
        separators.least_evidence,
        separators.given,
        unconditional,
        degree,
        0,
        tuple(
            column_parents[edges[pairs.index_of(np.full(column_parents.size, column), column_parents)] >= 0.5]
            for column, column_parents in enumerate(final.parents)
        ),
        final.agree,
    )


def _other_pairs(unconditional: FloatArray, neighbours: Candidates) -> tuple[FloatArray, IntegerArray]:
    """The pairs of columns neither of which is a possible neighbour of the other: their evidence, and how many have it.

    The evidence is a log Bayes factor, rounded, at most 0. No sampled network has these edges. If they counted as
    surely absent, the degree that is learned would be too low: that they have little evidence, for lack of rows, would
    count against all edges. Where the evidence is above 0, stronger partners explain it.
    """
    columns, pairs = unconditional.shape[0], neighbours.pairs
    column = np.repeat(np.arange(columns), [partners.size for partners in neighbours.partners])
    partner = np.concatenate([np.zeros(0, dtype=np.int64), *neighbours.partners])
    listed = np.unique(np.minimum(column, partner) * columns + np.maximum(column, partner))
    first, first_listed = (np.searchsorted(each, np.arange(columns + 1)) for each in (pairs.one, listed // columns))
    counts = np.zeros(_MAX_LOG_FACTOR * _BINS_PER_UNIT + 1, dtype=np.int64)
    for one in range(columns):
        factors, tested = unconditional[one].copy(), slice(first[one], first[one + 1])
        factors[pairs.other[tested]] = neighbours.least_evidence[tested]
        factors[listed[first_listed[one] : first_listed[one + 1]] % columns] = np.nan
        others = np.clip(-factors[one + 1 :], 0.0, _MAX_LOG_FACTOR)
        bins = np.rint(others[~np.isnan(others)] * _BINS_PER_UNIT).astype(np.int64)
        counts += np.bincount(bins, minlength=counts.size)
    return -np.arange(counts.size) / _BINS_PER_UNIT, counts


def _edge_probabilities(arcs: FloatArray) -> FloatArray:
    """P(edge) of pairs, from the probabilities of both directions; rounding may leave a little more than 1."""
    probabilities: FloatArray = np.minimum(arcs.sum(axis=1), 1.0)
    return probabilities


def _may_share_an_effect(pairs: PairSet, unconditional: FloatArray, edges: FloatArray) -> NDArray[np.bool_]:
    """Mask of the pairs that do not clearly depend, and have a common neighbour that each of the two depends on."""
    evidence = unconditional[pairs.one, pairs.other]
    direct = np.flatnonzero((edges >= 0.5) & (evidence > CLEAR_EVIDENCE))
    neighbours: list[set[int]] = [set() for _ in range(pairs.columns)]
    for one, other in zip(pairs.one[direct].tolist(), pairs.other[direct].tolist(), strict=True):
        neighbours[one].add(other)
        neighbours[other].add(one)
    mask = np.zeros(len(pairs), dtype=bool)
    for pair in np.flatnonzero((evidence < CLEAR_EVIDENCE) & (edges > 0.0)).tolist():
        mask[pair] = not neighbours[pairs.one[pair]].isdisjoint(neighbours[pairs.other[pair]])
    return mask


def _larger_sets_untested(
    evidence: EdgeEvidence, sets: list[ParentSets], least_evidence: FloatArray, pairs: PairSet, log_odds: float
) -> NDArray[np.bool_]:
    """Mask of the columns whose best set of parents might be larger, but larger tables have too many cells to test."""
    result = np.zeros(len(sets), dtype=bool)
    for column, column_sets in enumerate(sets):
        best = int(column_sets.arrays(log_odds)[0][0])
        inside = best >> np.arange(column_sets.candidates.size) & 1 == 1
        depends = (
            least_evidence[pairs.index_of(np.full(column_sets.candidates.size, column), column_sets.candidates)] > 0.0
        )
        others = column_sets.candidates[~inside & depends]
        cells = evidence.values[column] * np.prod(evidence.values[column_sets.candidates[inside]], dtype=np.float64)
        result[column] = bool((cells * evidence.values[others] > evidence.max_cells).any())
    return result


def _log_odds(degree: float, columns: int) -> float:
    """The prior log odds of an edge, if a column has `degree` neighbours on average."""
    return log(min(degree / max(columns, 1), _MAX_ODDS))
