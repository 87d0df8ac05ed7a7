"""From codes to the probability of every edge and direction.

1. `candidates`: which columns may be neighbours.
2. `parent_sets`: the evidence of each small set of parents of each column.
3. `orders`: networks sampled in proportion to evidence and prior; their edges and directions averaged.
4. The prior odds of an edge are those of two neighbours a column, or of as many as the networks have on average,
   if that is fewer: columns that do not hang together are not made to.

5. What the networks cannot know is taken off: a single column separates the pair, or might, but has too many values to
   be tried; the pair does not clearly depend given some set of columns; both columns would need larger sets of parents
   than there are rows for; or other columns determine one of the two, and might be its neighbours instead. The shares
   that are left are about what was true of such edges in public networks. Two columns that are independent alone, and
   both depend on a third, are its causes rather than neighbours. Arrows may not contradict triples (`directions`).

Where values are missing, tests on different columns have different complete rows, and their evidence cannot be
compared: what more rows tell would be taken for what more columns tell. The first network is learned from evidence
that is scaled down to the rows of a test of four columns. Then tables are completed from it (see `imputation`), each by
itself: a network is learned, the table completed again from that, and learned from once more. The last are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.conditional.edge_evidence import EdgeEvidence
from credimi.selection.networks.candidates import CLEAR, candidates, pairs_alone
from credimi.selection.networks.directions import arrow_bounds
from credimi.selection.networks.imputation import Imputation
from credimi.selection.networks.orders import sampled
from credimi.selection.networks.parent_sets import ParentSets, Separators, parent_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.selection.networks.pair_set import PairSet

MAX_PARENTS = 8
DEGREE = 2.0  # neighbours of a column, before the data are seen; fewer if the data show fewer
_LEAST_DEGREE = 0.02
_START_DEGREE = 0.05  # where learning starts: where columns show nothing, whatever it starts from remains
_MOST_ODDS = 0.25  # of an edge: where columns are few
_MOST_PARTNERS = 10
_TURNS = 8  # of learning the prior odds, at most
_SHORT = 0.1  # effort of these
_SEPARATED = 0.6  # what is left of P(edge) if one column separates the pair
_COMMON_EFFECT = 0.4  # if the pair is independent alone, and a common neighbour may be the effect of both
_MOST = np.array([1.0, 0.9, 0.6])  # of P(edge), if no set nearly separates the pair or determines one of the two; 1; 2
_SETTLED = 0.1  # change of the log odds that ends them
_SWEEPS = (20, 10)  # of drawing missing values, before the first network of a completed table and before the second


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What is believed of the pairs that may have an edge; `alone` is the log Bayes factor of every pair, a matrix.

    Of a pair (one, other), `arcs` has P(one -> other) and P(other -> one), and `forced` the part of each with no other
    direction; `least` is the least log Bayes factor that was met, and `given` what was given there. `parents` are the
    probable parents of each column in one network that was drawn.
    """

    pairs: PairSet
    arcs: FloatArray
    forced: FloatArray
    least: FloatArray
    given: NDArray[np.int32]
    alone: FloatArray
    degree: float
    completions: int
    parents: tuple[IntegerArray, ...]
    agree: int  # walks that ended among the best

    @property
    def edges(self) -> FloatArray:
        """P(edge) of each pair."""
        both: FloatArray = np.minimum(self.arcs.sum(axis=1), 1.0)
        return both

    @property
    def edge_matrix(self) -> FloatArray:
        """P(edge) of all columns by all columns; 0 for pairs that are not among these."""
        return self.pairs.matrix(self.edges, self.edges)

    def of_more_pairs(self, pairs: PairSet) -> Learned:
        """The same with more pairs, which have no edge, and of which no more is known than of the two columns alone."""
        places = pairs.places(self.pairs.one, self.pairs.other)
        arcs, forced = np.zeros((2, len(pairs), 2))
        least = self.alone[pairs.one, pairs.other]
        given = np.full((len(pairs), self.given.shape[1]), -1, dtype=np.int32)
        arcs[places], forced[places], least[places] = self.arcs, self.forced, self.least
        given[places] = self.given
        return replace(self, pairs=pairs, arcs=arcs, forced=forced, least=least, given=given)

    def plus(self, other: Learned) -> Learned:
        """The sums of what two tables tell; what was given, and the rest, is that of the other."""
        pairs = self.pairs.union(other.pairs)
        mine, others = self.of_more_pairs(pairs), other.of_more_pairs(pairs)
        return replace(
            others,
            arcs=mine.arcs + others.arcs,
            forced=mine.forced + others.forced,
            least=mine.least + others.least,
            alone=self.alone + other.alone,
            completions=self.completions + other.completions,
        )


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """How to learn.

    `degree` is the number of neighbours expected of a column, None where it is learned; `imputations` says how many
    completed tables are averaged where values are missing.
    """

    degree: float | None = None
    max_parents: int = MAX_PARENTS
    imputations: int = 4
    seed: int = 0
    threads: int | None = None


def learn(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    weights: FloatArray,
    options: LearnOptions,
    told: Callable[[float], None] = lambda _: None,
) -> Learned:
    """Learn the network of coded columns, (columns, rows); a code is the number of values where one is missing."""
    evidence = EdgeEvidence(codes, values, weights, options.threads)
    if not (codes >= values[:, np.newaxis]).any():
        return _once(evidence, pairs_alone(evidence), options, DEGREE, options.seed)
    complete = np.zeros((values.size, values.size))
    alone = pairs_alone(evidence, complete)
    usual = float(np.median(complete[np.triu_indices(values.size, 1)])) if values.size > 1 else 0.0
    scaled = EdgeEvidence(codes, values, weights, options.threads, max(usual**2 / max(evidence.rows, 1.0), 1.0))
    alone_scaled = alone * np.minimum(1.0, scaled.scaled_to / np.maximum(complete, 1.0))
    del complete
    result = start = _once(scaled, alone_scaled, options, DEGREE, options.seed)
    total: Learned | None = None
    for number in range(options.imputations):
        table, last = Imputation(codes, values, weights, options.seed + number), start
        for turn, sweeps in enumerate(_SWEEPS):
            told(0.1 + 0.9 * (number + turn / len(_SWEEPS)) / options.imputations)
            table.sweep(last.parents, sweeps)
            completed = EdgeEvidence(table.codes, values, weights, options.threads)
            seed = options.seed + 100 * turn + number + 1
            result = last = _once(completed, pairs_alone(completed), options, result.degree, seed)
        result = replace(result, completions=1)
        total = result if total is None else total.plus(result)
    if total is None:
        return replace(result, alone=alone)
    many = total.completions
    return replace(total, arcs=total.arcs / many, forced=total.forced / many, least=total.least / many, alone=alone)


def _once(evidence: EdgeEvidence, alone: FloatArray, options: LearnOptions, degree: float, seed: int) -> Learned:
    """Learn from one table."""
    columns = evidence.columns
    degree = options.degree if options.degree is not None else degree
    log_odds = _log_odds(degree, columns)
    near = candidates(evidence, alone, _log_odds(max(degree, DEGREE), columns), _MOST_PARTNERS)
    pairs, separators = near.pairs, Separators.of(near, max(options.max_parents - 1, 1))
    sets = parent_sets(evidence, near.partners, options.max_parents, log_odds, separators)
    settled = options.degree is not None or columns < 2
    log_odds = log_odds if settled else _log_odds(_START_DEGREE, columns)
    for _ in range(0 if settled else _TURNS):
        short = sampled(sets, log_odds, seed=seed, effort=_SHORT, threads=options.threads)
        edges = np.minimum(short.of_pairs(pairs, short.arcs).sum(axis=1), 1.0)
        degree = float(np.clip(2.0 * edges.sum() / columns, _LEAST_DEGREE, DEGREE))
        before, log_odds = log_odds, _log_odds(degree, columns)
        if abs(log_odds - before) < _SETTLED:
            break
    final = sampled(sets, log_odds, seed=seed, threads=options.threads)
    arcs, forced = (final.of_pairs(pairs, each) for each in (final.arcs, final.forced))
    edges = np.minimum(arcs.sum(axis=1), 1.0)
    forced = np.minimum(forced, edges[:, np.newaxis] * arrow_bounds(evidence, separators, edges, forced))
    cut = _cut_short(evidence, sets, near.least, pairs, log_odds)
    unclear = cut[pairs.one] & cut[pairs.other] | (separators.least < CLEAR)
    most = _MOST[unclear.astype(np.int64) + separators.determined]
    believed = most / np.maximum(edges, most)
    believed[near.untried | (near.least < 0.0)] = _SEPARATED
    believed[_share_an_effect(pairs, alone, edges)] = _COMMON_EFFECT
    return Learned(
        pairs,
        arcs * believed[:, np.newaxis],
        forced * believed[:, np.newaxis],
        separators.least,
        separators.given,
        alone,
        degree,
        0,
        tuple(
            own[edges[pairs.places(np.full(own.size, column), own)] >= 0.5] for column, own in enumerate(final.parents)
        ),
        final.agree,
    )


def _share_an_effect(pairs: PairSet, alone: FloatArray, edges: FloatArray) -> NDArray[np.bool_]:
    """Pairs that are independent alone, and have a common neighbour that each of them clearly depends on."""
    direct = np.flatnonzero((edges >= 0.5) & (alone[pairs.one, pairs.other] > CLEAR))
    neighbours: list[set[int]] = [set() for _ in range(pairs.columns)]
    for a, b in zip(pairs.one[direct].tolist(), pairs.other[direct].tolist(), strict=True):
        neighbours[a].add(b)
        neighbours[b].add(a)
    found = np.zeros(len(pairs), dtype=bool)
    for place in np.flatnonzero((alone[pairs.one, pairs.other] < CLEAR) & (edges > 0.0)).tolist():
        found[place] = not neighbours[pairs.one[place]].isdisjoint(neighbours[pairs.other[place]])
    return found


def _cut_short(
    evidence: EdgeEvidence, sets: list[ParentSets], least: FloatArray, pairs: PairSet, log_odds: float
) -> NDArray[np.bool_]:
    """Columns whose best set might be larger, if the table of the larger had not too many cells to be weighed."""
    found = np.zeros(len(sets), dtype=bool)
    for column, own in enumerate(sets):
        best = int(own.arrays(log_odds)[0][0])
        inside = best >> np.arange(own.candidates.size) & 1 == 1
        depends = least[pairs.places(np.full(own.candidates.size, column), own.candidates)] > 0.0
        others = own.candidates[~inside & depends]
        cells = evidence.values[column] * np.prod(evidence.values[own.candidates[inside]], dtype=np.float64)
        found[column] = bool((cells * evidence.values[others] > evidence.most_cells).any())
    return found


def _log_odds(degree: float, columns: int) -> float:
    """The prior log odds of an edge, where a column has so many neighbours among the others."""
    return log(min(degree / max(columns, 1), _MOST_ODDS))
