"""`ClusterCounter`: a `Counter` of a DataFrame of Spark or Dask. Rows stay where they are; only counts are sent.

The first pass counts each column, as for a ranking; these counts make the codebook: what each column is, and where its
numbers are cut. In the second pass, the workers make codes of the rows, and keep them: a byte or two for each cell, in
their memory, or on their disks. Then whatever a question asks is asked of these codes (see `asked`), in one step each;
they are released when the question is answered, interrupted, or fails.

Survey weights are scaled by the sum of all weights, and rows are told apart by their scaled weights. The last digits of
a sum depend on its order, and so would the sample: the codes of rows with such weights are fetched (`sources.codes`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.counts.counter import ByValue, Strata
from credimi.counts.local_counter import at_once, stratum_tables
from credimi.counts.rows.pair_tables import PairTables
from credimi.sources.clusters.asked import ByPair, ByRow, ByStratum
from credimi.sources.clusters.cluster_sample import sampled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.codes import Codebook, Codes
    from credimi.counts.counter import Rule
    from credimi.counts.counts import Counts
    from credimi.counts.rows.class_pairs import ClassPairs
    from credimi.counts.rows.distinct_rows import DistinctRows
    from credimi.sources.clusters.asked import RowsElsewhere
    from credimi.sources.clusters.cluster_nodes import NodesElsewhere

_PAIR_CELLS = 1 << 22  # of the tables of pairs that are asked for at once


class ClusterCounter:
    """A `Counter` of rows that are kept as codes by the workers of a cluster."""

    def __init__(self, book: Codebook, counts: Counts, elsewhere: RowsElsewhere, threads: int | None = None) -> None:
        self.book, self.threads, self.elsewhere, self._counts = book, threads, elsewhere, counts
        self.rows, self.squares, self.is_survey = counts.rows, float(counts.squares), False

    def by_name(self) -> ClusterCounter:
        """The same with the columns in the order of their names."""
        order = self.book.order_by_name
        return ClusterCounter(self.book.chosen(order), self._counts, self.elsewhere.with_columns(order), self.threads)

    def by_target(self, columns: Iterable[int] | None = None, *, plain: bool = False) -> Tables:
        """The table of each of these columns, by default all, and the classes; if `plain`, weights do not count."""
        chosen = np.array([*(range(len(self.book.features)) if columns is None else columns)], dtype=np.int64)
        parts = [self._strata(None, 1, part, plain=plain)[0] for part in at_once(self.book, 1, chosen)]
        return Tables.joined(parts) if parts else stratum_tables(self.book, np.zeros(0), 1, [])[0]

    def by_stratum(self, rule: Rule | None, columns: IntegerArray) -> Iterator[Strata]:
        """The same in each stratum, some columns at a time, so that memory is bounded; without a rule, one stratum."""
        if not isinstance(rule, ByValue | None):
            raise TypeError(f"{type(rule).__name__} is a rule for rows here: ask a sample of them")
        count = 1 if rule is None else int(self.book.sizes[rule.column])
        for chosen in at_once(self.book, count, columns):
            yield Strata(chosen, *self._strata(rule, count, chosen))

    def by_pair(self) -> PairTables:
        """The tables of every two columns."""
        return _PairsElsewhere(self.book.sizes, self.elsewhere)

    def by_pair_and_class(self) -> ClassPairs:
        """The tables of every two columns in each class."""
        from credimi.sources.clusters.cluster_pairs import class_pairs  # noqa: PLC0415  (loads compiled code)

        return class_pairs(self)

    def by_node(self) -> NodesElsewhere:
        """Tables of the nodes of a tree."""
        from credimi.sources.clusters.cluster_nodes import NodesElsewhere  # noqa: PLC0415  (only trees need it)

        return NodesElsewhere(self.book, self.elsewhere)

    def by_row(self) -> DistinctRows:
        """The different rows, whatever their class, and how often each occurs."""
        ask = ByRow(len(self.book.features))
        return ask.rows(self.elsewhere.ask(ask))

    def sample(self, rows: int) -> Codes:
        """At most so many rows, evenly spread over the order of their hashes; all rows if there are no more."""
        return sampled(self.elsewhere, self.book, rows)

    def _strata(
        self, rule: Rule | None, count: int, columns: IntegerArray, *, plain: bool = False
    ) -> tuple[Tables, IntegerArray]:
        chosen = columns.tolist()
        flat = self.elsewhere.numbers(ByStratum(rule, tuple(chosen), plain))
        if not flat.size:  # there are no rows
            flat = np.zeros(int((count * (len(self.book.classes) + 1) * (self.book.sizes[columns] + 1)).sum()))
        return stratum_tables(self.book, flat, count, chosen)


class _PairsElsewhere(PairTables):
    """Tables that are asked for, some at a time."""

    def __init__(self, values: IntegerArray, elsewhere: RowsElsewhere) -> None:
        super().__init__(values)
        self._elsewhere = elsewhere

    def blocks(self, cells: int = _PAIR_CELLS) -> Iterator[tuple[int, int]]:
        """Ranges of first columns; their tables are larger than those of rows in memory, so that they are few."""
        return super().blocks(cells)

    def tables(self, first: int = 0, after: int | None = None) -> Tables:
        """The tables of the columns from `first` up to `after`, each with all larger ones; all pairs by default."""
        after = self.values.size if after is None else after
        one, other = self.pairs(first, after)
        flat: FloatArray = self._elsewhere.numbers(ByPair(first, after))
        return Tables(flat if flat.size else np.zeros(self.cells(first, after)), self.values[one], self.values[other])
