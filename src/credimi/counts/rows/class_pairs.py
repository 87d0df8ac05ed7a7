"""`ClassPairs`: all columns as sets of bits, from which every pair is counted in each class.

`counts.rows.pair_bits` explains how they are counted.

Rows without a class are left out: they say nothing about what columns tell. A column of more than `MAX_VALUES` - 1
values keeps the most frequent ones, and the others become one value, `OTHER_VALUES`; otherwise the tables of a pair
would be mostly empty. A missing value is a value, too.

The sets take one bit per row for each value but one: (V - 1) N/8 bytes per column, besides one byte per cell for the
codes. Both are stored where the given codes are: in memory, or in a scratch folder. Rows with weights have no sets;
their pairs are counted row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.counts.local_counter import LocalCounter
from credimi.counts.rows import pair_bits
from credimi.counts.rows.pair_bits import BLOCK, MAX_VALUES, PANEL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.counts.codes import CodeArray, Codebook

    Bytes = NDArray[np.uint8]

OTHER_VALUES = "(other values)"
_WORD = 64
_CELLS_PER_CALL = 1 << 20  # of the kernel that sets bits
_CELLS_AT_ONCE = 4_000_000  # of joint tables


@dataclass(frozen=True, eq=False)
class ClassPairs:
    """Codes, sets and margins of all columns, for the rows that have a class.

    `pair_evidence` explains `layout` and `blocks`; `totals[number, class]` are the counts of every value,
    rounded if rows have weights.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]  # of the values that are not missing
    classes: tuple[str, ...]
    groups: NDArray[np.uint16]
    codes: tuple[Bytes, ...]
    weights: FloatArray
    totals: IntegerArray
    layout: IntegerArray
    blocks: IntegerArray
    ends: IntegerArray
    bits: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, counter: LocalCounter) -> ClassPairs:
        """Prepare all columns."""
        interpreted, threads = counter.codes, counter.threads
        has_class = interpreted.groups < len(interpreted.classes)
        class_occurs = np.bincount(interpreted.groups, minlength=len(interpreted.classes) + 1)[:-1] > 0
        groups = (np.cumsum(class_occurs) - 1).astype(np.uint16)[
            interpreted.groups if (all_have_class := bool(has_class.all())) else interpreted.groups[has_class]
        ]
        classes = tuple(name for name, occurs in zip(interpreted.classes, class_occurs, strict=True) if occurs)
        reduced = ReducedValues.of_rows(counter, class_occurs)
        if all_have_class and interpreted.matrix is not None and not reduced.new_codes:
            matrix = interpreted.matrix
        else:
            matrix = interpreted.storage.zeros((len(interpreted.columns), groups.size), np.uint8)

            def put(index: int) -> None:
                codes = interpreted.columns[index]
                matrix[index] = reduced.codes(index, codes if all_have_class else codes[has_class])

            share(put, range(len(matrix)), threads)
        layout = reduced.layout
        blocks = _blocks(layout)
        weights = np.zeros(0)
        if interpreted.weights is not None:
            weights = np.ascontiguousarray(interpreted.weights if all_have_class else interpreted.weights[has_class])
        words = (np.bincount(groups, minlength=len(classes)) + _WORD - 1) // _WORD
        ends = np.cumsum(words)
        panels = int(blocks[-1, 2] + -(-blocks[-1, 3] // PANEL)) if len(matrix) and interpreted.weights is None else 0
        bits = interpreted.storage.zeros((panels, int(ends[-1]) if ends.size else 0, PANEL), np.uint64)
        if panels:
            firsts = np.repeat(blocks[:, 2] * PANEL, np.diff(blocks[:, :2], axis=1).ravel()) + layout[:, 3]
            columns_per_call = max(1, _CELLS_PER_CALL // max(groups.size, 1))

            def fill(start: int) -> None:
                columns = np.arange(start, min(start + columns_per_call, len(matrix)))
                pair_bits.fill_columns(matrix, groups, _WORD * (ends - words), columns, firsts, reduced.values, bits)

            share(fill, range(0, len(matrix), columns_per_call), threads)  # no two columns share a word
        totals = reduced.totals(layout[:, 0])
        named = interpreted.names, reduced.labels, classes
        return cls(*named, groups, tuple(matrix), weights, totals, layout, blocks, ends, bits)

    @property
    def rows(self) -> int:
        """The number of rows that have a class."""
        return int(self.groups.size)

    @property
    def of_class(self) -> IntegerArray:
        """The number of rows of each class."""
        return np.bincount(self.groups, minlength=len(self.classes))

    @property
    def has_sets(self) -> bool:
        """Whether there are sets of bits; otherwise every pair is counted for itself."""
        return not self.weights.size

    @property
    def counts_rows(self) -> bool:
        """Whether rows are counted, not weights."""
        return not self.weights.size

    @property
    def total(self) -> float:
        """The number of rows that have a class, or the sum of their weights."""
        return float(self.weights.sum()) if self.weights.size else self.rows

    @property
    def pairs(self) -> int:
        """The number of pairs of columns."""
        return len(self.names) * (len(self.names) - 1) // 2

    def chunks(self, pairs: IntegerArray) -> Iterator[slice]:
        """Parts of some pairs, whose joint tables are of limited size."""
        sizes = np.cumsum(len(self.classes) * self.layout[pairs[:, 0], 1] * self.layout[pairs[:, 1], 1])
        first = 0
        while first < len(pairs):
            before = sizes[first - 1] if first else 0
            stop = max(int(np.searchsorted(sizes, before + _CELLS_AT_ONCE, side="right")), first + 1)
            yield slice(first, stop)
            first = stop

    def tables(self, pairs: IntegerArray, threads: int | None = None) -> list[FloatArray]:
        """The joint tables of some pairs, (class, first value, second value) with missing last.

        `pairs` has two columns: the indices of the two columns of each pair.
        """
        joint_tables: list[FloatArray] = [np.zeros(0)] * len(pairs)

        def work(part: slice) -> None:
            for index in range(part.start, part.stop):
                one, other = pairs[index].tolist()
                cells = np.zeros((len(self.classes), self.layout[one, 1], self.layout[other, 1]))
                pair_bits.count_pair(self.codes[one], self.codes[other], self.groups, self.weights, cells)
                joint_tables[index] = cells

        step = max(1, 2_000_000 // max(self.rows, 1))
        share(work, [slice(start, min(start + step, len(pairs))) for start in range(0, len(pairs), step)], threads)
        return joint_tables


class ReducedValues:
    """The values of every column after rare values were joined and values that do not occur were removed.

    `values` is the number of values of each column, where missing counts as one of them, and `missing` says whether it
    occurs. `new_codes` has, for the columns whose values changed, the new code of each old one, missing last.
    """

    def __init__(
        self, book: Codebook, class_occurs: BooleanArray, counted: NDArray[np.number], sums: NDArray[np.number] | None
    ) -> None:
        """From the cells of all columns against the target: `counted` rows, and sums of weights if there are any."""
        self._sums = self._counts = _by_size(counted, book.sizes, class_occurs)
        if sums is not None:  # rows of weight 0 have values, too
            self._sums = _by_size(sums, book.sizes, class_occurs)
        self.new_codes: dict[int, Bytes] = {}
        self.missing, self.values = (np.zeros(len(book.features), dtype=np.int64) for _ in range(2))
        labels = [feature.values for feature in book.features]
        for size, (columns, counts) in self._counts.items():
            value_counts = counts.sum(axis=1)
            self.missing[columns] = value_counts[:, size] > 0
            self.values[columns] = size + self.missing[columns]
            unchanged = (value_counts[:, :size] > 0).all(axis=1) & (self.values[columns] <= MAX_VALUES)
            for index in np.flatnonzero(~unchanged).tolist():
                column = int(columns[index])
                self.new_codes[column], labels[column] = _reduce_values(value_counts[index], labels[column])
                self.values[column] = len(labels[column]) + self.missing[column]
        self.labels = tuple(labels)

    @classmethod
    def of_rows(cls, counter: LocalCounter, class_occurs: BooleanArray) -> ReducedValues:
        """Those of rows that are here."""
        codes, threads = counter.codes, counter.threads
        counted = LocalCounter(replace(codes, weights=None), threads).by_target().flat
        weighted = None if codes.weights is None else LocalCounter(replace(codes, is_survey=False), threads)
        return cls(codes.book, class_occurs, counted, None if weighted is None else weighted.by_target().flat)

    @property
    def layout(self) -> IntegerArray:
        """The layout that `pair_evidence` explains; the sets have no place yet."""
        layout = np.zeros((self.values.size, 4), dtype=np.int64)
        layout[:, 0] = np.cumsum(self.values) - self.values
        layout[:, 1], layout[:, 2] = self.values, self.missing
        return layout

    def codes(self, number: int, codes: CodeArray) -> CodeArray:
        """The new codes of a column, for some rows."""
        return self.new_codes[number][codes] if number in self.new_codes else codes

    def totals(self, firsts: IntegerArray) -> IntegerArray:
        """(values of all columns, classes): the counts, rounded if rows have weights.

        The values of each column start at the line that `firsts` says.
        """
        classes = max((sums.shape[1] for _, sums in self._sums.values()), default=0)
        totals = np.zeros((int(self.values.sum()), classes))
        for size, (columns, sums) in self._sums.items():
            for missing in (0, 1):
                unchanged = np.flatnonzero((self.missing[columns] == missing) & ~np.isin(columns, [*self.new_codes]))
                lines = firsts[columns[unchanged]][:, np.newaxis] + np.arange(size + missing)
                totals[lines] = sums[unchanged].transpose(0, 2, 1)[:, : size + missing]
            for index in np.flatnonzero(np.isin(columns, [*self.new_codes])).tolist():
                new_codes, by_value = self.new_codes[int(columns[index])], sums[index].T
                is_present = new_codes < self.values[columns[index]]
                np.add.at(totals, firsts[columns[index]] + new_codes[is_present].astype(np.int64), by_value[is_present])
        return np.rint(totals).astype(np.int64)


def _by_size(
    cells: NDArray[np.number], values: IntegerArray, class_occurs: BooleanArray
) -> dict[int, tuple[IntegerArray, FloatArray]]:
    """For each number of values: the columns with so many, and their counts (column, class, value), missing last."""
    flat = np.asarray(cells, dtype=np.float64)
    height = class_occurs.size + 1
    starts = np.cumsum(height * (values + 1)) - height * (values + 1)
    counts_of_size = {}
    for size in np.unique(values).tolist():
        columns = np.flatnonzero(values == size)
        cells = starts[columns][:, np.newaxis] + np.arange(height * (size + 1))
        counts_of_size[size] = columns, flat[cells].reshape(-1, height, size + 1)[:, :-1][:, class_occurs]
    return counts_of_size


def _reduce_values(counts: FloatArray, labels: tuple[str, ...]) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """The new code of each value of a column with too many values, or with some that do not occur, and the new labels.

    The last code is that of a missing value.
    """
    missing = len(labels)
    new_codes = np.zeros(missing + 1, dtype=np.uint8)
    present = np.flatnonzero(counts[:missing])
    max_values = MAX_VALUES - int(counts[missing] > 0)
    if present.size > max_values:
        order = present[np.argsort(-counts[present], kind="stable")]
        kept_values = np.sort(order[: max_values - 1])
        new_codes[:missing] = max_values - 1
        labels = (*(labels[value] for value in kept_values.tolist()), OTHER_VALUES)
    else:
        kept_values = present
        labels = tuple(labels[value] for value in kept_values.tolist())
    new_codes[kept_values] = np.arange(kept_values.size)
    new_codes[missing] = len(labels)
    return new_codes, labels


def _blocks(layout: IntegerArray) -> IntegerArray:
    """Blocks of columns with at most `BLOCK` sets; also writes to `layout` where the sets of each column start."""
    blocks: list[list[int]] = []
    for column, values in enumerate(layout[:, 1].tolist()):
        sets = max(values - 1, 0)
        if not blocks or blocks[-1][3] + sets > BLOCK:
            panel = blocks[-1][2] + -(-blocks[-1][3] // PANEL) if blocks else 0
            blocks.append([column, column, panel, 0])
        layout[column, 3] = blocks[-1][3]
        blocks[-1][1] = column + 1
        blocks[-1][3] += sets
    return np.array(blocks, dtype=np.int64).reshape(-1, 4)
