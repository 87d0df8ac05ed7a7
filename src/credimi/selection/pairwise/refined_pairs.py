"""`Refinement`: the missing values of all columns, drawn from forests of the columns, several times over.

The table of a pair is judged from the rows that have both columns, and the margins of those that have one. That is
right if what is missing depends on these two columns alone. If a third column decides, the rows that have both are a
selection, in which the two may depend on each other more, or less, than in all rows. A row's missing cells, drawn given
all that is seen in the row, allow for that.

Gibbs sampling, in rounds:

1. The log Bayes factors of all pairs of the present table. At first those of the rows as they are.
2. A forest, drawn with its probability given these (`draw_forests`), from even odds of each edge, as pairs are judged.
   With less, a pair whose dependence is in doubt would be completed as if it were independent, and then seem to be.
3. The probabilities of each column's values given its parent's, drawn given the counts of the present table.
4. All missing cells, drawn exactly from the forest (`kernels.pairs.forest_cells`).

Rounds are made until the likelihood of what is seen does not rise any more. Then every fifth round gives a completed
table: completed cells speak for the forest that they were drawn from, so that the next forest is much like the last.
What the tables say of a pair is averaged (`mixed_figures`): completed cells are not taken for seen ones.

A round takes O(N p s^2) at most for the cells, one count of all pairs with their evidence, and O(p^3) for the forest.
Memory: a completed table has the codes of the columns with missing values, mostly a byte a cell, and all are kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.counting.rows.pair_tables import PairCounter
from credimi.inference.adaptive_prior import log_odds_of_dependence
from credimi.inference.batched.pair_figures import PairFigures, mixed_figures
from credimi.kernels.moments import many_tables
from credimi.kernels.pairs import forest_cells
from credimi.selection.networks.imputation import drawn_chances
from credimi.selection.pairwise.forest import draw_forests

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.settled_columns import SettledColumns
    from credimi.inference.options import PosteriorOptions
    from credimi.selection.pairwise.missing_by_others import MissingByOthers

    Codes = NDArray[np.unsignedinteger]

_FEWEST_ROUNDS, _MOST_ROUNDS = 10, 60  # before the first table that is kept
_BETWEEN = 5  # rounds from one table that is kept to the next
_LOG_HALF = float(np.log(0.5))  # even odds of an edge, which has two roots
_PARTS, _FEWEST_ROWS = 64, 1 << 10  # rows that are completed together
_CELLS_A_ROW = 3.0  # of an edge's table: the evidence of thinner ones is too high
_LEAST_CHANCE = 1e-12


class Refinement:
    """A table whose missing cells are drawn again and again; `codes` is the present completion, column by column."""

    def __init__(self, table: SettledColumns, seed: int, threads: int | None) -> None:
        self.seen, self.codes = table.codes, list(table.codes)
        self.values = np.array(table.values, dtype=np.int64)
        self.weights, self.threads = table.weights, threads
        self.rows = self.codes[0].size
        self.generator = np.random.default_rng(seed)
        self.missing = [column for column, size in enumerate(table.values) if (self.seen[column] >= size).any()]
        self.rounds, self.settled = 0, True

    def counter(self) -> PairCounter:
        """Counts all pairs of the present table."""
        return PairCounter(self.codes, self.values.tolist(), weights=self.weights, threads=self.threads)

    def tables(self, imputations: int, told: Callable[[float], None]) -> list[PairCounter]:
        """So many completed tables, ready to be counted."""
        if not self.missing:
            return [self.counter()]
        best, found = -np.inf, list[PairCounter]()
        self.settled = False
        while not self.settled and self.rounds < _MOST_ROUNDS:
            last = self.round()
            self.settled = self.rounds >= _FEWEST_ROUNDS and last <= best
            best = max(best, last)
            told(self.rounds / (_MOST_ROUNDS + _BETWEEN * imputations))
        first, every = self.rounds, _BETWEEN * imputations
        while len(found) < imputations:
            self.round()
            if (self.rounds - first) % _BETWEEN == 0:
                found.append(self.counter())
            done = first / (_MOST_ROUNDS + every)
            told(done + (1.0 - done) * (self.rounds - first) / every)
        return found

    def round(self) -> float:
        """Draw a forest given the present table, then all missing cells given the forest; its log likelihood before."""
        log_evidence = _evidence_of(self.counter(), self.threads)
        drawn = draw_forests(self._weights(log_evidence), 1, random_state=self.generator, threads=self.threads)
        parents, order = _rooted(drawn[0], self.values.size)
        self.rounds += 1
        return self._draw_cells(parents, order)

    def _weights(self, log_evidence: FloatArray) -> FloatArray:
        """The log weight of each edge, a matrix; -inf for tables of far more cells than rows."""
        columns = self.values.size
        weights = np.full((columns, columns), -np.inf)
        weights[np.triu_indices(columns, 1)] = log_evidence
        weights = np.maximum(weights, weights.T)
        weights[np.outer(self.values, self.values) > _CELLS_A_ROW * max(self.rows, 2)] = -np.inf
        found: FloatArray = weights + _LOG_HALF
        return found

    def _draw_cells(self, parents: IntegerArray, order: IntegerArray) -> float:
        """Draw probabilities given the present table, then the missing cells given these; the log likelihood."""
        chances = [self._counted(column, int(parents[column])) for column in range(self.values.size)]
        sizes = np.array([each.size for each in chances])
        flat = np.concatenate([drawn_chances(each, self.generator).ravel() for each in chances])
        forest = self.values, order, parents, np.cumsum(sizes) - sizes, np.maximum(flat, _LEAST_CHANCE)
        length = max(_FEWEST_ROWS, -(-self.rows // _PARTS))
        seeds = self.generator.integers(1 << 63, size=(-(-self.rows // length), 1), dtype=np.uint64)
        likelihood, codes = np.empty(self.rows), list(self.seen)
        for column in self.missing:
            codes[column] = np.empty_like(self.seen[column])

        def work(number: int) -> None:
            part = slice(number * length, (number + 1) * length)
            rows = np.ascontiguousarray(np.array([each[part] for each in self.seen], dtype=np.uint16).T)
            forest_cells.complete_rows(rows, *forest, seeds[number], likelihood[part])
            for column in self.missing:
                codes[column][part] = rows[:, column]

        share(work, range(len(seeds)), self.threads)
        self.codes = codes
        return float(likelihood.sum() if self.weights is None else likelihood @ self.weights)

    def _counted(self, column: int, parent: int) -> FloatArray:
        """How often a column's values occur with each of its parent's, in rows that have both."""
        size, above = int(self.values[column]), 1 if parent < 0 else int(self.values[parent])
        where = self.codes[column].astype(np.int64)
        if parent >= 0:
            where += self.codes[parent].astype(np.int64) * (size + 1)
        counts = np.bincount(where, self.weights, minlength=(above + 1) * (size + 1)).astype(np.float64)
        return counts[: (above + 1) * (size + 1)].reshape(above + 1, size + 1)[:above, :size]


def refined(
    refinement: Refinement,
    options: PosteriorOptions,
    imputations: int,
    found: PairFigures,
    *,
    missing: MissingByOthers,
    told: Callable[[float], None],
) -> None:
    """Fill the figures of all pairs: averages over so many completed tables, and the rows that have both as seen.

    `missing` is shown the tables of the rows as they are.
    """
    counter, done = refinement.counter(), 0
    completed = refinement.tables(imputations, lambda share_done: told(0.6 * share_done))
    for first, after in counter.blocks():
        own = mixed_figures([each.tables(first, after) for each in completed], options)
        seen = counter.tables(first, after)
        pattern = np.empty(seen.rows.size, dtype=np.int8)
        many_tables.classify(seen.flat, seen.offsets, seen.rows, seen.columns, pattern, own.complete)
        missing.look(seen, *counter.pairs(first, after))
        found.put(done, own)
        done += seen.rows.size
        told(0.6 + 0.4 * done / len(counter))


def _evidence_of(counter: PairCounter, threads: int | None) -> FloatArray:
    """The log Bayes factor of dependence of every pair."""
    found, done = np.empty(len(counter)), 0
    for first, after in counter.blocks():
        tables = counter.tables(first, after)
        found[done : done + tables.rows.size] = log_odds_of_dependence(tables, threads=threads)
        done += tables.rows.size
    return found


def _rooted(edges: IntegerArray, columns: int) -> tuple[IntegerArray, IntegerArray]:
    """The parent of each column, -1 for roots, and all columns, parents before children."""
    near: list[list[int]] = [[] for _ in range(columns)]
    for one, other in edges.tolist():
        near[one].append(other)
        near[other].append(one)
    parents, order, met = np.full(columns, -1), [], np.zeros(columns, dtype=bool)
    for root in range(columns):
        waiting = [] if met[root] else [root]
        while waiting:
            column = waiting.pop()
            met[column] = True
            order.append(column)
            for other in near[column]:
                if not met[other]:
                    parents[other] = column
                    waiting.append(other)
    return parents, np.array(order, dtype=np.int64)
