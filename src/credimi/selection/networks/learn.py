"""From codes to the probability of every edge and direction.

1. `candidates`: which columns may be neighbours.
2. `parent_sets`: the evidence of each small set of parents of each column.
3. `orders`: networks sampled in proportion to evidence and prior; their edges and directions averaged.
4. The prior odds of an edge are those of two neighbours a column, or of as many as the networks have on average,
   if that is fewer: columns that do not hang together are not made to.

5. What the networks cannot know is taken off: a single column separates the pair, or might, but has too many values to
   be tried; the pair does not clearly depend given some set of columns; both columns would need larger sets of parents
   than there are rows for; or other columns determine one of the two, and might be its neighbours instead. The shares
   that are left are about what was true of such edges in public networks.

Where values are missing, tests on different columns have different complete rows, and their evidence cannot be
compared: what more rows tell would be taken for what more columns tell. The first network is learned from evidence
that is scaled down to the rows of a test of four columns. Then tables are completed from it (see `imputation`), each by
itself: a network is learned, the table completed again from that, and learned from once more. The last are averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.conditional.edge_evidence import EdgeEvidence
from credimi.selection.networks.candidates import CLEAR, candidates, pairs_alone
from credimi.selection.networks.imputation import Imputation
from credimi.selection.networks.orders import Sampled, sampled
from credimi.selection.networks.parent_sets import ParentSets, Separators, parent_sets

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

DEGREE = 2.0  # neighbours of a column, before the data are seen; fewer if the data show fewer
_LEAST_DEGREE = 0.02
_START_DEGREE = 0.05  # where learning starts: where columns show nothing, whatever it starts from remains
_MOST_ODDS = 0.25  # of an edge: where columns are few
_MOST_PARTNERS = 10
_TURNS = 8  # of learning the prior odds, at most
_SHORT = 0.1  # effort of these
_SEPARATED = 0.6  # what is left of P(edge) if one column separates the pair
_MOST = np.array([1.0, 0.9, 0.6])  # of P(edge), if no set nearly separates the pair or determines one of the two; 1; 2
_SETTLED = 0.1  # change of the log odds that ends them
_SWEEPS = (20, 10)  # of drawing missing values, before the first network of a completed table and before the second


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """What is believed of all pairs: matrices, columns by columns.

    `arcs[a, b]` is P(a -> b) and `forced` its part with no other direction; `least` is the least log Bayes factor of a
    pair that was met, `given` what was given there. `alone` is that of the pair alone, from rows that have both.
    """

    arcs: FloatArray
    forced: FloatArray
    alone: FloatArray
    least: FloatArray
    given: IntegerArray
    degree: float
    completions: int
    parents: tuple[IntegerArray, ...]
    agree: int  # walks that ended among the best

    @property
    def edges(self) -> FloatArray:
        """P(edge) of each pair."""
        return np.minimum(self.arcs + self.arcs.T, 1.0)


@dataclass(frozen=True, slots=True)
class LearnOptions:
    """How to learn.

    `degree` is the number of neighbours expected of a column, None where it is learned; `imputations` says how many
    completed tables are averaged where values are missing.
    """

    degree: float | None = None
    max_parents: int = 5
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
    missing = bool((codes >= values[:, np.newaxis]).any())
    if not missing:
        return _once(evidence, options, DEGREE, options.seed)[0]
    alone = pairs_alone(evidence)
    pairs = np.column_stack(np.triu_indices(values.size, 1))
    complete = evidence.with_rows(pairs)[1]
    usual = float(np.median(complete)) if complete.size else 0.0
    scaled = EdgeEvidence(codes, values, weights, options.threads, max(usual**2 / max(evidence.rows, 1.0), 1.0))
    found, first = _once(scaled, options, DEGREE, options.seed)
    results = []
    for number in range(options.imputations):
        table, last = Imputation(codes, values, weights, options.seed + number), first
        for turn, sweeps in enumerate(_SWEEPS):
            told(0.1 + 0.9 * (number + turn / len(_SWEEPS)) / options.imputations)
            table.sweep(_probable(last), sweeps)
            completed = EdgeEvidence(table.codes, values, weights, options.threads)
            found, last = _once(completed, options, found.degree, options.seed + 100 * turn + number + 1)
        results.append(found)
    if not results:
        return found
    arcs, forced = (np.mean([getattr(each, name) for each in results], axis=0) for name in ("arcs", "forced"))
    least = np.mean([each.least for each in results], axis=0)
    return Learned(arcs, forced, alone, least, found.given, found.degree, len(results), found.parents, found.agree)


def _probable(last: Sampled) -> tuple[IntegerArray, ...]:
    """The parents of the network that was drawn, without those whose edge is less probable than not."""
    edges = last.edges
    return tuple(own[edges[column, own] >= 0.5] for column, own in enumerate(last.parents))


def _once(evidence: EdgeEvidence, options: LearnOptions, degree: float, seed: int) -> tuple[Learned, Sampled]:
    """Learn from one table."""
    columns = evidence.columns
    degree = options.degree if options.degree is not None else degree
    log_odds = _log_odds(degree, columns)
    near = candidates(evidence, _log_odds(max(degree, DEGREE), columns), _MOST_PARTNERS)
    given = np.full((columns, columns, max(options.max_parents - 1, 1)), -1)
    given[:, :, 0] = near.given
    separators = Separators(near.least.copy(), given, near.determined)
    sets = parent_sets(evidence, near.partners, options.max_parents, log_odds, separators)
    settled = options.degree is not None or columns < 2
    log_odds = log_odds if settled else _log_odds(_START_DEGREE, columns)
    for _ in range(0 if settled else _TURNS):
        short = sampled(sets, log_odds, seed=seed, effort=_SHORT, threads=options.threads)
        degree = float(np.clip(short.edges.sum() / columns, _LEAST_DEGREE, DEGREE))
        before, log_odds = log_odds, _log_odds(degree, columns)
        if abs(log_odds - before) < _SETTLED:
            break
    final = sampled(sets, log_odds, seed=seed, threads=options.threads)
    cut = _cut_short(evidence, sets, near.least, log_odds)
    unclear = np.outer(cut, cut) | (separators.least < CLEAR)
    most = _MOST[unclear.astype(np.int64) + separators.determined]
    believed = most / np.maximum(final.edges, most)
    believed[near.untried | (near.least < 0.0)] = _SEPARATED
    found = Learned(
        final.arcs * believed,
        final.forced * believed,
        near.alone,
        separators.least,
        separators.given,
        degree,
        0,
        final.parents,
        final.agree,
    )
    return found, final


def _cut_short(evidence: EdgeEvidence, sets: list[ParentSets], least: FloatArray, log_odds: float) -> NDArray[np.bool_]:
    """Columns whose best set might be larger, if the table of the larger had not too many cells to be weighed."""
    found = np.zeros(len(sets), dtype=bool)
    for column, own in enumerate(sets):
        best = int(own.arrays(log_odds)[0][0])
        places = np.arange(own.candidates.size)
        inside = own.candidates[best >> places & 1 == 1]
        others = own.candidates[(best >> places & 1 == 0) & (least[column, own.candidates] > 0.0)]
        cells = evidence.values[column] * np.prod(evidence.values[inside], dtype=np.float64)
        found[column] = bool((cells * evidence.values[others] > evidence.most_cells).any())
    return found


def _log_odds(degree: float, columns: int) -> float:
    """The prior log odds of an edge, where a column has so many neighbours among the others."""
    return log(min(degree / max(columns, 1), _MOST_ODDS))
