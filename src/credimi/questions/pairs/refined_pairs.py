"""`Refinement`: the missing values of all columns, drawn several times from forests of the columns.

The table of a pair is judged from the rows that have both columns, and the margins of those that have one. That is
right if what is missing depends on these two columns alone. If it depends on a third column, the rows that have both
are a selected sample, in which the two may depend on each other more, or less, than in all rows. This is corrected if a
row's missing cells are drawn given all observed values of the row.

Gibbs sampling, in rounds:

1. Compute the log Bayes factors of all pairs of the current table; at first those of the rows as they are.
2. Draw a forest given these (`draw_forests`), with even prior odds of each edge, as in the judgement of pairs. With
   lower odds, a doubtful pair would be completed as if it were independent, and then appear to be.
3. Draw the probabilities of each column's values given its parent's, from their posterior given the current table.
4. Draw all missing cells, exactly, from the forest (`questions.pairs.forest_cells`).

Rounds are made until the likelihood of the observed values no longer rises. Then every fifth round gives a completed
table: completed cells support the forest that they were drawn from, so that the next forest is much like the last. The
posteriors of a pair in all completed tables are averaged (`mixed_figures`): completed cells do not count as observed.

Equal rows are exchangeable, so rows are drawn for in the order of their codes, and columns in the order of their names:
the order of the data changes nothing. A row of weight w is completed w times, each time for itself, as if it were
written w times (`DistinctRows` says what is done with weights that are not whole), unless all rows would be completed
more than `_MAX_COMPLETIONS` times together: then the heaviest rows are completed equally often, as often as this
allows. A row with a survey weight is completed once: it is one answer, and the square of its weight says how little
several such rows are worth.

A round takes at most O(N p s^2) for the cells, one count of all pairs with their evidence, and O(p^3) for the forest.
Memory: a completed table has the codes of the columns with missing values, mostly a byte for each cell, and all
completed tables are stored.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core import table_patterns
from credimi.core.threads import share
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.counts.rows.pair_tables import PairCounter
from credimi.inference.evidence.adaptive_prior import log_odds_of_dependence
from credimi.inference.tables.pair_figures import PairFigures, mixed_figures
from credimi.questions.pairs import forest_cells
from credimi.questions.pairs.forest import draw_forests
from credimi.questions.pairs.imputation import drawn_chances

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from credimi.core.types import FloatArray, IntegerArray, Record
    from credimi.counts.codes import CodeArray, Codes
    from credimi.inference.belief import Belief
    from credimi.questions.pairs.missing_by_others import MissingByOthers

_MIN_ROUNDS, _MAX_ROUNDS = 10, 60  # before the first completed table
_ROUNDS_BETWEEN_TABLES = 5
_LOG_HALF = float(np.log(0.5))  # even odds of an edge, which has two roots
_MAX_PARTS, _MIN_ROWS_PER_PART = 64, 1 << 10  # of rows that are completed together
_MAX_CELLS_PER_ROW = 3.0  # of the table of an edge: the evidence of thinner tables is too high
_MIN_PROBABILITY = 1e-12
_MAX_COMPLETIONS = 1 << 18  # of all rows together, or as many as there are rows


class Refinement:
    """A table whose missing cells are drawn again and again; `codes` is the current completion, column by column."""

    def __init__(self, table: Codes, seed: int, threads: int | None) -> None:
        self.in_data = np.argsort(np.argsort(np.array(table.names, dtype=object), kind="stable"), kind="stable")
        table = table.with_columns(table.book.order_by_name)
        self.observed, self.weights = _rows_to_complete(table)
        self.codes = list(self.observed)
        self.values = table.sizes
        self.is_survey, self.threads = table.is_survey, threads
        self.rows = self.codes[0].size if self.codes else 0
        self.generator = np.random.default_rng(seed)
        self.missing = [column for column, size in enumerate(table.sizes) if (self.observed[column] >= size).any()]
        self.rounds, self.settled = 0, True

    def counter(self) -> PairCounter:
        """A counter of all pairs of the current table, its columns in the order of the data."""
        return self._counter(self.in_data.tolist())

    def _counter(self, columns: Iterable[int]) -> PairCounter:
        chosen = list(columns)
        options: Record = {"weights": self.weights, "is_survey": self.is_survey, "threads": self.threads}
        return PairCounter([self.codes[column] for column in chosen], self.values[chosen].tolist(), **options)

    def tables(self, imputations: int, report_progress: Callable[[float], None]) -> list[PairCounter]:
        """Counters of so many completed tables."""
        if not self.missing:
            return [self.counter()]
        best, counters = -np.inf, list[PairCounter]()
        self.settled = False
        while not self.settled and self.rounds < _MAX_ROUNDS:
            log_likelihood = self.round()
            self.settled = self.rounds >= _MIN_ROUNDS and log_likelihood <= best
            best = max(best, log_likelihood)
            report_progress(self.rounds / (_MAX_ROUNDS + _ROUNDS_BETWEEN_TABLES * imputations))
        rounds_before, remaining_rounds = self.rounds, _ROUNDS_BETWEEN_TABLES * imputations
        while len(counters) < imputations:
            self.round()
            if (self.rounds - rounds_before) % _ROUNDS_BETWEEN_TABLES == 0:
                counters.append(self.counter())
            share_before = rounds_before / (_MAX_ROUNDS + remaining_rounds)
            report_progress(share_before + (1.0 - share_before) * (self.rounds - rounds_before) / remaining_rounds)
        return counters

    def round(self) -> float:
        """Draw a forest given the current table, then all missing cells given the forest.

        Returns the log likelihood of the observed values.
        """
        log_evidence = _evidence_of(self._counter(range(self.values.size)), self.threads)
        drawn = draw_forests(self._weights(log_evidence), 1, random_state=self.generator, threads=self.threads)
        parents, order = _rooted(drawn[0], self.values.size)
        self.rounds += 1
        return self._draw_cells(parents, order)

    def _weights(self, log_evidence: FloatArray) -> FloatArray:
        """The log weight of each edge, as a matrix; -inf for tables of far more cells than rows."""
        columns = self.values.size
        weights = np.full((columns, columns), -np.inf)
        weights[np.triu_indices(columns, 1)] = log_evidence
        weights = np.maximum(weights, weights.T)
        weights[np.outer(self.values, self.values) > _MAX_CELLS_PER_ROW * max(self.rows, 2)] = -np.inf
        result: FloatArray = weights + _LOG_HALF
        return result

    def _draw_cells(self, parents: IntegerArray, order: IntegerArray) -> float:
        """Draw probabilities given the current table, then the missing cells given these.

        Returns the log likelihood of the observed values.
        """
        counts = [self._counts_given_parent(column, int(parents[column])) for column in range(self.values.size)]
        sizes = np.array([column_counts.size for column_counts in counts])
        probabilities = np.concatenate(
            [drawn_chances(column_counts, self.generator).ravel() for column_counts in counts]
        )
        forest = self.values, order, parents, np.cumsum(sizes) - sizes, np.maximum(probabilities, _MIN_PROBABILITY)
        rows_per_part = max(_MIN_ROWS_PER_PART, -(-self.rows // _MAX_PARTS))
        seeds = self.generator.integers(1 << 63, size=(-(-self.rows // rows_per_part), 1), dtype=np.uint64)
        likelihood, codes = np.empty(self.rows), list(self.observed)
        for column in self.missing:
            codes[column] = np.empty_like(self.observed[column])

        def work(number: int) -> None:
            part = slice(number * rows_per_part, (number + 1) * rows_per_part)
            rows = np.ascontiguousarray(
                np.array([column_codes[part] for column_codes in self.observed], dtype=np.uint16).T
            )
            forest_cells.complete_rows(rows, *forest, seeds[number], likelihood[part])
            for column in self.missing:
                codes[column][part] = rows[:, column]

        share(work, range(len(seeds)), self.threads)
        self.codes = codes
        return float(likelihood.sum() if self.weights is None else likelihood @ self.weights)

    def _counts_given_parent(self, column: int, parent: int) -> FloatArray:
        """The counts of a column's values for each value of its parent, in rows that have both."""
        size, parent_size = int(self.values[column]), 1 if parent < 0 else int(self.values[parent])
        cell = self.codes[column].astype(np.int64)
        if parent >= 0:
            cell += self.codes[parent].astype(np.int64) * (size + 1)
        counts = np.bincount(cell, self.weights, minlength=(parent_size + 1) * (size + 1)).astype(np.float64)
        return counts[: (parent_size + 1) * (size + 1)].reshape(parent_size + 1, size + 1)[:parent_size, :size]


def _rows_to_complete(table: Codes) -> tuple[tuple[CodeArray, ...], FloatArray | None]:
    """The codes of the rows, each as often as it is completed, in the order of their codes; and their weights, if any.

    Which of equal rows a draw belongs to does not matter. A survey weight belongs to one answer: completed once.
    """
    if not table.columns:
        return (), table.weights
    codes = np.stack([column_codes.astype(np.uint16, copy=False) for column_codes in table.columns])
    if table.is_survey and table.weights is not None:
        order = np.lexsort((table.weights, *codes[::-1]))
        return tuple(column_codes[order] for column_codes in table.columns), table.weights[order]
    distinct = DistinctRows.of(codes, np.zeros(0) if table.weights is None else table.weights)
    is_whole = (codes < table.sizes[:, np.newaxis]).all() if table.weights is not None else False
    most = 1 if is_whole else _most_for(distinct.units, max(_MAX_COMPLETIONS, codes.shape[1]))
    times = np.minimum(distinct.units, most)
    weights = np.repeat(distinct.units * distinct.unit_weights / times, times)
    observed = tuple(
        np.repeat(distinct.codes[column].astype(column_codes.dtype), times)
        for column, column_codes in enumerate(table.columns)
    )
    return observed, None if table.weights is None or (weights == 1.0).all() else weights


def _most_for(units: IntegerArray, rows: int) -> int:
    """How often a row may be completed at most, so that all rows together are completed at most so often."""
    low, high = 1, max(int(units.max(initial=1)), 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(units, middle).sum() <= rows else (low, middle - 1)
    return low


def refined(
    refinement: Refinement,
    options: Belief,
    imputations: int,
    figures: PairFigures,
    *,
    missing: MissingByOthers,
    report_progress: Callable[[float], None],
) -> None:
    """Set the figures of all pairs: averages over so many completed tables; complete rows are counted as observed.

    `missing` gets the tables of the observed rows.
    """
    counter, done = refinement.counter(), 0
    completed = refinement.tables(imputations, lambda share_done: report_progress(0.6 * share_done))
    for first, stop in counter.blocks():
        block_figures = mixed_figures([table_counter.tables(first, stop) for table_counter in completed], options)
        observed = counter.tables(first, stop)
        pattern = np.empty(observed.rows.size, dtype=np.int8)
        table_patterns.classify(
            observed.flat, observed.offsets, observed.rows, observed.columns, pattern, block_figures.complete
        )
        missing.add(observed, *counter.pairs(first, stop))
        figures.put(done, block_figures)
        done += observed.rows.size
        report_progress(0.6 + 0.4 * done / len(counter))


def _evidence_of(counter: PairCounter, threads: int | None) -> FloatArray:
    """The log Bayes factor of dependence of every pair."""
    log_evidence, done = np.empty(len(counter)), 0
    for first, stop in counter.blocks():
        tables = counter.tables(first, stop)
        log_evidence[done : done + tables.rows.size] = log_odds_of_dependence(tables, threads=threads)
        done += tables.rows.size
    return log_evidence


def _rooted(edges: IntegerArray, columns: int) -> tuple[IntegerArray, IntegerArray]:
    """The parent of each column (-1 for roots), and the order of all columns, parents before children."""
    neighbours: list[list[int]] = [[] for _ in range(columns)]
    for one, other in edges.tolist():
        neighbours[one].append(other)
        neighbours[other].append(one)
    parents, order, visited = np.full(columns, -1), [], np.zeros(columns, dtype=bool)
    for root in range(columns):
        waiting = [] if visited[root] else [root]
        while waiting:
            column = waiting.pop()
            visited[column] = True
            order.append(column)
            for other in neighbours[column]:
                if not visited[other]:
                    parents[other] = column
                    waiting.append(other)
    return parents, np.array(order, dtype=np.int64)
