"""`ClassPairs` of rows that are elsewhere: joint tables are asked for, some pairs at a time.

Here is only what `ClassPairs` knows of each column: its values, after rare ones were joined, and their counts. The
workers get this map of values, and the numbers of the columns of some pairs; they return the joint tables.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.counts.rows import pair_bits
from credimi.counts.rows.class_pairs import ClassPairs, ReducedValues
from credimi.sources.clusters.asked import Added

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, FloatArray, IntegerArray
    from credimi.counts.codes import Codes
    from credimi.sources.clusters.asked import RowsElsewhere
    from credimi.sources.clusters.cluster_counter import ClusterCounter

_BLOCK_CELLS = 1 << 22  # of the joint tables of two blocks of columns


@dataclass(frozen=True, eq=False)
class PairsElsewhere(ClassPairs):
    """The same without codes and sets."""

    elsewhere: RowsElsewhere
    new_codes: dict[int, NDArray[np.uint8]]  # of the columns whose values changed
    class_of: IntegerArray  # the number of each class among those that occur, -1 for the others
    counted_class: IntegerArray

    @property
    def rows(self) -> int:
        """The number of rows that have a class."""
        return int(self.of_class.sum())

    @property
    def of_class(self) -> IntegerArray:
        """The number of rows of each class."""
        return self.counted_class

    @property
    def has_sets(self) -> bool:
        """There are no sets of bits."""
        return False

    def tables(self, pairs: IntegerArray, _threads: int | None = None) -> list[FloatArray]:
        """The joint tables of some pairs, (class, first value, second value) with missing last."""
        tables: list[FloatArray] = []
        values, classes = self.layout[:, 1], len(self.classes)
        for some in self.chunks(pairs):
            chosen = pairs[some]
            shapes = [(classes, int(values[one]), int(values[other])) for one, other in chosen.tolist()]
            flat = self._flat(chosen, sum(map(np.prod, shapes)))
            ends = np.cumsum([np.prod(shape) for shape in shapes])
            tables += [cells.reshape(shape) for cells, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]
        return tables

    def _flat(self, pairs: IntegerArray, size: int) -> FloatArray:
        columns = np.unique(pairs)
        new_codes = {column: codes for column, codes in self.new_codes.items() if column in columns}
        ask = JointTables(pairs, self.layout[:, 1], self.class_of, len(self.classes), new_codes)
        flat = self.elsewhere.numbers(ask)
        return flat if flat.size else np.zeros(size)


def class_pairs(counter: ClusterCounter) -> PairsElsewhere:
    """What is known of all columns of these rows."""
    book, weighted = counter.book, counter.book.settings.weights is not None
    counted = counter.by_target(plain=True)
    none = np.zeros(len(book.classes))
    of_class = np.asarray(counted.block(0).sum(axis=1)[:-1] if book.features else none, dtype=np.int64)
    occurs = of_class > 0
    sums = counter.by_target() if weighted else None
    reduced = ReducedValues(book, occurs, counted.flat, None if sums is None else sums.flat)
    layout = reduced.layout
    return PairsElsewhere(
        book.names,
        reduced.labels,
        tuple(name for name, is_one in zip(book.classes, occurs.tolist(), strict=True) if is_one),
        np.zeros(0, dtype=np.uint16),
        (),
        sums.block(0).sum(axis=1)[:-1] if sums is not None else np.zeros(0),
        reduced.totals(layout[:, 0]),
        layout,
        _blocks(layout[:, 1], int(occurs.sum())),
        np.zeros(0, dtype=np.int64),
        np.zeros((0, 0, 0), dtype=np.uint64),
        counter.elsewhere,
        reduced.new_codes,
        np.where(occurs, np.cumsum(occurs) - 1, -1),
        of_class[occurs],
    )


def _blocks(values: IntegerArray, classes: int) -> IntegerArray:
    """Blocks of columns, so that the joint tables of two blocks are of limited size; there are no sets."""
    blocks: list[list[int]] = []
    most, width = (_BLOCK_CELLS / max(classes, 1)) ** 0.5, 0
    for column, count in enumerate(values.tolist()):
        width += count
        if not blocks or width > most:
            blocks.append([column, column, 0, 0])
            width = count
        blocks[-1][1] = column + 1
    return np.array(blocks, dtype=np.int64).reshape(-1, 4)


@dataclass(frozen=True, slots=True, eq=False)
class JointTables(Added):
    """The joint tables of some pairs of columns, one after the other; `values` are those of all columns."""

    pairs: IntegerArray
    values: IntegerArray
    class_of: IntegerArray
    classes: int
    new_codes: dict[int, NDArray[np.uint8]]

    def numbers(self, codes: Codes) -> AnyArray:
        """The cells."""
        class_of = np.append(self.class_of, -1)[codes.groups]
        has_class = class_of >= 0
        groups = class_of[has_class].astype(np.uint16)
        weights = np.zeros(0) if codes.weights is None else codes.weights[has_class]
        new = {column: self._column(column, codes, has_class) for column in np.unique(self.pairs).tolist()}
        tables = [np.zeros((self.classes, *self.values[pair].tolist())) for pair in self.pairs]
        for (one, other), cells in zip(self.pairs.tolist(), tables, strict=True):
            pair_bits.count_pair(new[one], new[other], groups, weights, cells)
        return np.concatenate([np.zeros(0), *(cells.ravel() for cells in tables)])

    def _column(self, column: int, codes: Codes, has_class: AnyArray) -> AnyArray:
        own = codes.columns[column]
        new = self.new_codes[column][own] if column in self.new_codes else own
        return np.ascontiguousarray(new[has_class], dtype=np.uint8)
