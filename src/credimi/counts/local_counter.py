"""`LocalCounter`: counts the rows of this machine, in memory or in scratch files.

**Strata.** A stratum and a class make one composite class: with R = r + 1 classes, the last of which is "missing", row
number z R + i of a block counts class i of stratum z. So the blocks of the strata, (r + 1) x (s + 1) each with the
missing counts last, follow each other as in `Tables`, and the kernels that count a target count strata as well. Each
stratum has its own counts of missing targets and missing features. Rows that belong to no stratum are left out.

One pass reads all codes once, one byte per cell for columns of up to 255 values; blocks have (strata)(r + 1)(s + 1)
cells per column. At most `_CELLS_AT_ONCE` are made at a time, so that memory stays bounded whatever the number of
columns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.arrow_buffers import code_type
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.counts import tabulate
from credimi.counts.counter import Strata
from credimi.counts.rows.distinct_rows import DistinctRows
from credimi.counts.rows.row_keys import evenly_chosen
from credimi.counts.survey.survey_rows import scaled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray, Record
    from credimi.counts.codes import CodeArray, Codebook, Codes
    from credimi.counts.counter import Rule
    from credimi.counts.nodes.node_counter import NodeCounter
    from credimi.counts.rows.class_pairs import ClassPairs
    from credimi.counts.rows.pair_tables import PairCounter

_CELLS_AT_ONCE = 8_000_000
_CELLS_WORTH_COMPILING = 2_000_000  # less than for a single pass, as several passes are made


class LocalCounter:
    """A `Counter` of rows that are codes in this process."""

    def __init__(self, codes: Codes, threads: int | None = None) -> None:
        self.codes, self.threads = codes, threads

    @property
    def book(self) -> Codebook:
        """The columns and classes."""
        return self.codes.book

    @property
    def rows(self) -> float:
        """The number of rows, or the sum of their weights."""
        return self.codes.rows

    def by_name(self) -> LocalCounter:
        """The same with the columns in the order of their names."""
        return LocalCounter(self.codes.with_columns(self.book.order_by_name), self.threads)

    @property
    def squares(self) -> float:
        """The sum of the squares of the weights."""
        return self.codes.squares

    @property
    def is_survey(self) -> bool:
        """Whether the weights are survey weights, scaled to the rows that they are worth."""
        return self.codes.is_survey

    def by_target(self, columns: Iterable[int] | None = None) -> Tables:
        """The table of each of these columns, by default all, and the classes."""
        chosen = range(len(self.codes.columns)) if columns is None else columns
        return self._stratified(np.zeros(self.codes.groups.size, dtype=np.uint8), 1, list(chosen))[0]

    def by_stratum(self, rule: Rule | None, columns: IntegerArray) -> Iterator[Strata]:
        """The same in each stratum, some columns at a time, so that memory is bounded; without a rule, one stratum."""
        codes = self.codes
        strata, count = (np.zeros(codes.groups.size, dtype=np.uint8), 1) if rule is None else rule.strata(codes)
        for chosen in at_once(codes.book, count, columns):
            yield Strata(chosen, *self._stratified(strata, count, chosen.tolist()))

    def by_pair(self) -> PairCounter:
        """The tables of every two columns."""
        from credimi.counts.rows.pair_tables import PairCounter  # noqa: PLC0415  (loads compiled code)

        codes = self.codes
        options: Record = {"weights": codes.weights, "is_survey": codes.is_survey, "threads": self.threads}
        return PairCounter(codes.columns, codes.sizes, **options)

    def by_pair_and_class(self) -> ClassPairs:
        """The tables of every two columns in each class."""
        from credimi.counts.rows.class_pairs import ClassPairs  # noqa: PLC0415  (loads compiled code)

        return ClassPairs.of(self)

    def by_node(self) -> NodeCounter:
        """Tables of the nodes of a tree."""
        from credimi.counts.nodes.node_counter import NodeCounter  # noqa: PLC0415  (only trees need it)

        return NodeCounter(self.codes, self.threads)

    def by_row(self) -> DistinctRows:
        """The different rows, whatever their class, and how often each occurs."""
        codes = np.zeros((len(self.codes.columns), self.codes.groups.size), dtype=np.uint16)
        for line, column in zip(codes, self.codes.columns, strict=True):
            line[:] = column
        return DistinctRows.of(codes, np.zeros(0) if self.codes.weights is None else self.codes.weights)

    def sample(self, rows: int) -> Codes:
        """At most so many rows, evenly spread over the order of their hashes; all rows if there are no more."""
        return self.codes if self.codes.groups.size <= rows else self.codes.chosen(evenly_chosen(self.codes, rows))

    def _stratified(self, strata: NDArray[np.integer], count: int, columns: list[int]) -> tuple[Tables, IntegerArray]:
        """The tables of some columns with `count` strata each, and where the tables of each column start."""
        codes = self.codes
        kinds = [] if codes.weights is None else [codes.weights]
        kinds += [kinds[0] ** 2] if codes.is_survey and kinds else []
        flat = stratum_counts(codes, strata, count, columns, kinds, threads=self.threads)
        tables, starts = stratum_tables(codes.book, flat[0], count, columns)
        return tables if len(flat) == 1 else scaled(tables, flat[1].astype(np.float64), starts), starts


def stratum_counts(
    codes: Codes,
    strata: NDArray[np.integer],
    count: int,
    columns: list[int],
    kinds: list[FloatArray],
    *,
    threads: int | None = None,
) -> list[NDArray[np.number]]:
    """The cells of the tables of some columns with `count` strata each; for each kind of weights, or of rows.

    `strata` has a number below `count` for each row; any other number means that the row belongs to none.
    """
    if strata.shape != codes.groups.shape:
        raise CredimiError(f"there are {strata.size} strata for {codes.groups.size} rows: give one a row")
    height = len(codes.classes) + 1
    known = (strata >= 0) & (strata < count)
    dtype = code_type(count * height)
    groups: CodeArray = np.where(known, strata, 0).astype(dtype) * dtype(height) + codes.groups.astype(dtype)
    groups[~known] = count * height
    cells = groups.size * len(columns)
    ready = cells >= tabulate.CELLS_WORTH_CALLING and tabulate.kernels_are_ready()
    blocks = tabulate.count_codes(
        groups,
        count * height + 1,
        [codes.columns[column] for column in columns],
        codes.sizes[columns].tolist(),
        weights=kinds,
        compiled=ready or cells >= _CELLS_WORTH_COMPILING,
        threads=threads,
    )
    flat = ([block[kind][: count * height].ravel() for block in blocks] for kind in range(max(len(kinds), 1)))
    return [np.concatenate([np.zeros(0), *cells_of_kind]) for cells_of_kind in flat]


def stratum_tables(
    book: Codebook, flat: NDArray[np.number], count: int, columns: list[int]
) -> tuple[Tables, IntegerArray]:
    """These cells as tables, and where the tables of each column start."""
    odds = np.array([book.features[column].odds for column in columns], dtype=np.float64)
    rows, starts = np.full(count * len(columns), len(book.classes)), np.arange(len(columns) + 1) * count
    return Tables(flat, rows, np.repeat(book.sizes[columns], count), odds), starts


def at_once(book: Codebook, count: int, columns: IntegerArray) -> Iterator[IntegerArray]:
    """The columns in parts, so that the tables of a part, with `count` strata each, take bounded memory."""
    cells = count * (len(book.classes) + 1) * (book.sizes[columns] + 1)
    part_of_column = np.cumsum(cells) // _CELLS_AT_ONCE
    for part in np.unique(part_of_column).tolist():
        yield columns[part_of_column == part]
