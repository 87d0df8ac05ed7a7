"""`NodeCounter`: the tables of all columns in the nodes of a tree, which grows meanwhile.

A question says how a node is divided; which rows are in which node is kept in `NodeRows`. Numbers keep all their
values: they are cut in the nodes.

Counting a node costs O(rows x columns). The best cut of a column of numbers costs O(values x classes) more, for the
values that occur in the node.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.labels import NUMBER
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.core.threads import cores, share
from credimi.counts.codes import Codebook, keeps_all_numbers
from credimi.counts.local_counter import LocalCounter
from credimi.counts.nodes.node_rows import MAX_NARROW_VALUES, NodeRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.counts.codes import Codes, EncodedTable
    from credimi.counts.nodes.node_rows import Members

_CELLS_WORTH_THREADS = 1 << 20  # a node with fewer cells is counted by one thread


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeColumn:
    """A column that a tree may split on: its values in order, or the numbers between which it is cut.

    `labels` are the labels of the data, and `places` has the index of the value of each label; `ordered` values are
    numbers or ranges.
    """

    name: str
    values: tuple[str, ...]
    labels: Labels
    places: IntegerArray
    numbers: bool = False
    ordered: bool = False
    cuts: FloatArray = field(default_factory=lambda: np.zeros(0))  # of ranges that the caller asked for

    @classmethod
    def of(cls, feature: Feature, *, numbers: bool) -> TreeColumn:
        """The column of a feature; `numbers` says whether it is cut in the nodes."""
        if numbers:
            places = np.arange(len(feature.labels))
            return cls(feature.name, (), feature.labels, places, numbers=True, ordered=True)
        is_cut = feature.cut_by is not None
        ordered = is_cut or feature.labels.kind == NUMBER  # also whole numbers, if the caller does not want them cut
        cuts = feature.cuts if is_cut else np.zeros(0)
        return cls(feature.name, feature.values, feature.labels, feature.places, ordered=ordered, cuts=cuts)

    @property
    def size(self) -> int:
        """The number of codes; this number itself is the code of a missing value."""
        return len(self.labels) if self.numbers else len(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class NodeTables:
    """The tables of one node, for the columns that have at least two classes and two values there.

    For numbers, `places` has the codes below and above the cut.
    """

    tables: Tables
    columns: IntegerArray
    places: IntegerArray

    def chosen(self, columns: BooleanArray) -> NodeTables:
        """The same with some of the columns."""
        if columns.all():
            return self
        return NodeTables(self.tables.chosen(columns), self.columns[columns], self.places[columns])


class NodeCounter(NodeRows):
    """Counts nodes, which have numbers; 0 is the root, with all rows."""

    def __init__(self, codes: Codes, threads: int | None = None) -> None:
        super().__init__(codes)
        self.book, self.threads = codes.book, cores(threads)
        self.columns = tree_columns(self.book)
        self.room: dict[int, _Room] = {}  # by the number of classes, or of branches
        self._last = self.members[0]

    def tables(self, node: int) -> NodeTables:
        """The tables of all columns that have at least two classes and two values in a node."""
        return self._counted(self.members[node], self.groups, len(self.codes.classes))

    def value_counts(self, node: int, column: int) -> FloatArray:
        """The weight of each value of a column with each class, (values, classes), in the node."""
        return self._values(self.members[node], column, self.groups, len(self.codes.classes))

    def value_counts_of_last(self, column: int) -> FloatArray:
        """The same in the node whose tables were made last, if they hold the counts; without values that lack."""
        members, classes = self._last, len(self.codes.classes)
        place = int(np.searchsorted(self.narrow_columns, column))
        if place < self.narrow_columns.size and self.narrow_columns[place] == column:
            counts: FloatArray = self.room[classes].block(place)[:-1, :-1].T
        else:
            counts = self._values(members, column, self.groups, classes)
        result: FloatArray = counts[counts.sum(axis=1) > 0.0]
        return result

    def branch_tables(self, node: int, branches: int, column: int) -> NodeTables:
        """The tables of all other columns against the branches of a divided node, of which `column` was the split."""
        members = self.members[node]
        counted = self._counted(members, self._groups_of_branches(members, branches), branches)
        return counted.chosen(counted.columns != column)

    def occurs_in_branches(self, node: int, column: int) -> BooleanArray:
        """Which values of a column occur in the rows of a divided node that have a branch."""
        members = self.members[node]
        known = members.branch >= 0
        codes = self.codes.columns[column][members.rows[known]]
        occurs: BooleanArray = np.bincount(codes, members.weights[known], self.columns[column].size + 1)[:-1] > 0.0
        return occurs

    def _values(self, members: Members, column: int, groups: NDArray[np.uint16], classes: int) -> FloatArray:
        codes, size = self.codes.columns[column][members.rows].astype(np.int64), self.columns[column].size
        own_groups = groups[members.rows]
        known = (codes < size) & (own_groups < classes)
        cells = np.bincount(codes[known] * classes + own_groups[known], members.weights[known], size * classes)
        return cells.reshape(size, classes).astype(np.float64)

    def _counted(self, members: Members, groups: NDArray[np.uint16], classes: int) -> NodeTables:
        """The tables of all columns that have at least two groups and two values in these rows."""
        from credimi.counts.nodes import node_tables  # noqa: PLC0415  (loads compiled code)

        if classes not in self.room:
            self.room[classes] = _Room(self.columns, self.narrow_columns, classes)
        self._last, room = members, self.room[classes]
        room.flat[:] = 0.0
        rows, weights, count = members.rows, members.weights, self.narrow_columns.size

        def work(part: tuple[int, int]) -> None:
            node_tables.count_columns(self.narrow, groups, rows, weights, *part, room.offsets, room.widths, room.flat)

        parts = min(self.threads, count) if rows.size * count >= _CELLS_WORTH_THREADS else 1
        edges = [count * part // parts for part in range(parts + 1)] if count else [0]
        share(work, list(pairwise(edges)), self.threads)
        shapes, cuts = np.zeros((count, 2), dtype=np.int64), np.full((count, 2), -1, dtype=np.int64)
        shares = np.ones(count)
        used = node_tables.interpret_columns(
            room.flat, room.offsets, room.widths, classes, room.numbers, room.out, shapes, cuts, shares, room.scratch
        )
        cells, interpreted = [room.out[:used].copy()], [(self.narrow_columns, shapes, cuts, shares)]
        for index in self.wide_columns.tolist():
            column, codes = self.columns[index], self.codes.columns[index]
            sparse = room.occurs, room.position, room.flat_wide
            width = 1 + node_tables.count_wide_column(codes, groups, rows, weights, classes, column.size, *sparse)
            block = room.flat_wide, np.zeros(1, dtype=np.int64), np.array([width])
            number = np.array([column.numbers], dtype=np.uint8)
            found = np.zeros((1, 2), dtype=np.int64), np.full((1, 2), -1, dtype=np.int64), np.ones(1)
            used = node_tables.interpret_columns(*block, classes, number, room.out_wide, *found, room.scratch)
            cells.append(room.out_wide[:used].copy())
            shape, cut, share_left = found
            interpreted.append((np.array([index]), shape, np.where(cut < 0, cut, room.position[cut]), share_left))
        columns, shapes, cuts, shares = (np.concatenate(arrays) for arrays in zip(*interpreted, strict=True))
        has_table = shapes[:, 0] > 0
        tables = Tables(np.concatenate(cells), shapes[has_table, 0], shapes[has_table, 1], shares[has_table])
        return NodeTables(tables, columns[has_table].astype(np.int64), cuts[has_table])


def tree_columns(book: Codebook) -> tuple[TreeColumn, ...]:
    """The columns that a tree may split on."""
    return tuple(TreeColumn.of(feature, numbers=keeps_all_numbers(feature, book.settings)) for feature in book.features)


class _Room:
    """The memory in which all nodes are counted against so many classes or branches."""

    def __init__(self, columns: Sequence[TreeColumn], narrow_columns: IntegerArray, classes: int) -> None:
        narrow = [columns[index] for index in narrow_columns.tolist()]
        self.classes = classes
        self.widths = np.array([column.size + 1 for column in narrow], dtype=np.int64)
        sizes = (classes + 1) * self.widths
        self.offsets = np.cumsum(sizes) - sizes
        self.numbers = np.array([column.numbers for column in narrow], dtype=np.uint8)
        widest = max((column.size for column in columns if column.size > MAX_NARROW_VALUES), default=0)
        self.flat, self.out = np.zeros(int(sizes.sum())), np.empty(int(sizes.sum()))
        self.flat_wide, self.out_wide = np.empty((2, (classes + 1) * (widest + 1)))
        self.occurs, self.position = np.zeros(widest + 1, dtype=np.uint8), np.empty(widest + 1, dtype=np.int64)
        self.scratch = np.empty(2 * classes + max(MAX_NARROW_VALUES, widest) + 1)

    def block(self, place: int) -> FloatArray:
        """The counts of a narrow column in the node that was counted last."""
        start, width = int(self.offsets[place]), int(self.widths[place])
        block: FloatArray = self.flat[start : start + (self.classes + 1) * width].reshape(self.classes + 1, width)
        return block


def node_counter(table: EncodedTable, threads: int | None = None, least_classes: int = 2) -> NodeCounter:
    """The counter of the nodes of a tree that is to be grown from a table."""
    book = Codebook.of(table.counts, least_classes=least_classes, uncut=True, threads=threads)
    return LocalCounter(table.codes(threads, book), threads).by_node()
