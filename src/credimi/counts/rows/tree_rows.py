"""`TreeRows`: the rows of a table as codes, laid out for trees; the tables of all columns on the rows of one node.

Columns of up to 255 values are stored row by row, one byte per cell, so that the rows of a node are read once for all
of them. Each other column is an array of two bytes per cell. Numbers keep all their values: they are cut in the nodes.

Counting a node costs O(rows x columns). The best cut of a column of numbers costs O(values x classes) more, for the
values that occur in the node.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.columns.feature import CutBy
from credimi.columns.labels import NUMBER
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.core.threads import cores, share
from credimi.counts.batch import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import Methods
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.counts.rows.coded_table import CodedTable

_MAX_NARROW_VALUES = 255  # of a column of bytes; the largest byte is "missing"
_BINARY_VALUES = 2  # a cut between two values is the same as a split by value
_CELLS_WORTH_THREADS = 1 << 20  # a node with fewer cells is counted by one thread
_CHEAP_METHOD = "quantile"  # a fast way to cut, for columns whose cuts are not used


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

    def without(self, column: int) -> NodeTables:
        """The same without one column."""
        return self.chosen(self.columns != column)

    def chosen(self, columns: BooleanArray) -> NodeTables:
        """The same with some of the columns."""
        if columns.all():
            return self
        return NodeTables(self.tables.chosen(columns), self.columns[columns], self.places[columns])


@dataclass(frozen=True, slots=True, eq=False)
class TreeRows:
    """Class and values of all rows, for trees. A class that equals the number of classes is missing."""

    target: str
    classes: tuple[str, ...]
    groups: NDArray[np.uint16]
    columns: tuple[TreeColumn, ...]
    narrow: NDArray[np.uint8]  # rows x columns of few values
    wide: tuple[NDArray[np.uint16], ...]
    where: IntegerArray  # for each column: its index in `narrow`, or -1 minus its index in `wide`
    weights: FloatArray | None = None
    left_out: tuple[Feature, ...] = ()

    @classmethod
    def of(cls, table: CodedTable, threads: int | None = None, least_classes: int = 2) -> TreeRows:
        """The rows of an encoded table, laid out for trees."""
        counts = table.counts
        cheaply_cut = replace(
            counts, settings=replace(counts.settings, discretize=_with_cheap_cuts(counts.settings.discretize))
        )
        interpreted = counts.interpreted_classes(least_classes)
        features = cheaply_cut.interpreted(classes=interpreted, threads=threads)
        ranked = [feature for feature in features if feature.kind.ranked]
        columns = tuple(_tree_column(feature, cut=counts.settings.method(feature.name) == "mdl") for feature in ranked)
        codes: dict[int, NDArray[np.unsignedinteger]] = {}

        def work(index: int) -> None:
            counted_labels = table.labels[columns[index].name]
            column = table.coded.columns[columns[index].name]
            codes[index] = _tree_codes(column, table.coded.missing, counted_labels, ranked[index], columns[index])

        share(work, range(len(columns)), threads)
        classes, groups = table.classes(interpreted)
        rows = groups.size
        narrow_columns = [index for index, column in enumerate(columns) if column.size <= _MAX_NARROW_VALUES]
        wide_columns = [index for index in range(len(columns)) if index not in set(narrow_columns)]
        narrow = np.empty((rows, len(narrow_columns)), dtype=np.uint8)
        for narrow_index, index in enumerate(narrow_columns):
            narrow[:, narrow_index] = codes[index]
        where = np.empty(len(columns), dtype=np.int64)
        where[narrow_columns] = np.arange(len(narrow_columns))
        where[wide_columns] = -1 - np.arange(len(wide_columns))
        return cls(
            table.coded.target,
            classes,
            np.where(groups < 0, len(classes), groups).astype(np.uint16),
            columns,
            narrow,
            tuple(np.ascontiguousarray(codes[index], dtype=np.uint16) for index in wide_columns),
            where,
            table.coded.weights,
            tuple(feature for feature in features if not feature.kind.ranked),
        )

    def codes(self, column: int, entries: IntegerArray) -> NDArray[np.unsignedinteger]:
        """The codes of a column in the rows `entries`."""
        index = int(self.where[column])
        codes: NDArray[np.unsignedinteger] = (
            self.narrow[entries, index] if index >= 0 else self.wide[-1 - index][entries]
        )
        return codes

    def counter(
        self, threads: int | None = None, groups: NDArray[np.uint16] | None = None, size: int | None = None
    ) -> NodeCounter:
        """The object that counts nodes: columns against the class, or against other groups, `size` of them."""
        counted_groups = self.groups if groups is None else groups
        return NodeCounter(self, cores(threads), counted_groups, len(self.classes) if size is None else size)


class NodeCounter:
    """Counts nodes; all nodes share the same memory."""

    def __init__(self, rows: TreeRows, threads: int, groups: NDArray[np.uint16], classes: int) -> None:
        self.rows, self.threads, self.groups, self.classes = rows, threads, groups, classes
        self.narrow_columns = np.flatnonzero(rows.where >= 0)
        self.wide_columns = np.flatnonzero(rows.where < 0)
        self.widths = np.array([rows.columns[index].size + 1 for index in self.narrow_columns], dtype=np.int64)
        sizes = (classes + 1) * self.widths
        self.offsets = np.cumsum(sizes) - sizes
        self.numbers = np.array([rows.columns[index].numbers for index in self.narrow_columns], dtype=np.uint8)
        widest = max((rows.columns[index].size for index in self.wide_columns), default=0)
        self.flat = np.zeros(int(sizes.sum()))
        self.out = np.empty(max(int(sizes.sum()), 0))
        self.out_wide = np.empty((classes + 1) * (widest + 1))
        self.occurs, self.position = np.zeros(widest + 1, dtype=np.uint8), np.empty(widest + 1, dtype=np.int64)
        self.scratch = np.empty(2 * classes + max(_MAX_NARROW_VALUES, widest) + 1)

    def count(self, entries: IntegerArray, weights: FloatArray) -> NodeTables:
        """The tables of all columns that have at least two groups and two values in these rows."""
        from credimi.counts.rows import node_tables  # noqa: PLC0415  (loads compiled code)

        rows, classes = self.rows, self.classes
        self.flat[:] = 0.0
        arguments = rows.narrow, self.groups, entries, weights

        def work(part: tuple[int, int]) -> None:
            node_tables.count_columns(*arguments, *part, self.offsets, self.widths, self.flat)

        share(work, self._parts(entries.size), self.threads)
        shapes, cuts = (
            np.zeros((self.narrow_columns.size, 2), dtype=np.int64),
            np.full((self.narrow_columns.size, 2), -1, dtype=np.int64),
        )
        shares = np.ones(self.narrow_columns.size)
        used = node_tables.interpret_columns(
            self.flat, self.offsets, self.widths, classes, self.numbers, self.out, shapes, cuts, shares, self.scratch
        )
        flat_parts = [self.out[:used].copy()]
        interpreted = [(self.narrow_columns, shapes, cuts, shares)]
        for index in self.wide_columns:
            column = rows.columns[index]
            shape, cut = np.zeros(2, dtype=np.int64), np.full(2, -1, dtype=np.int64)
            evidence_share = node_tables.interpret_wide_column(
                rows.wide[-1 - int(rows.where[index])],
                self.groups,
                entries,
                weights,
                classes,
                column.size,
                column.numbers,
                self.occurs,
                self.position,
                self.out_wide,
                shape,
                cut,
                self.scratch,
            )
            flat_parts.append(self.out_wide[: int(np.prod(shape + 1)) if shape[0] else 0].copy())
            interpreted.append((np.array([index]), shape[np.newaxis], cut[np.newaxis], np.array([evidence_share])))
        columns, shapes, cuts, shares = (np.concatenate(arrays) for arrays in zip(*interpreted, strict=True))
        has_table = shapes[:, 0] > 0
        tables = Tables(np.concatenate(flat_parts), shapes[has_table, 0], shapes[has_table, 1], shares[has_table])
        return NodeTables(tables, columns[has_table].astype(np.int64), cuts[has_table])

    def class_counts(self, column: int, entries: IntegerArray, weights: FloatArray) -> FloatArray:
        """The weight of each value with each group, (values, groups), of the node that was counted last.

        `entries` and `weights` are those of this node.
        """
        place, size = int(self.rows.where[column]), self.rows.columns[column].size
        if place >= 0:
            width = int(self.widths[place])
            start = int(self.offsets[place])
            block = self.flat[start : start + (self.classes + 1) * width].reshape(self.classes + 1, width)
            return block[:-1, :-1].T
        codes, groups = self.rows.codes(column, entries), self.groups[entries].astype(np.int64)
        known = (codes < size) & (groups < self.classes)
        values, positions = np.unique(codes[known], return_inverse=True)
        cells = np.bincount(
            positions * self.classes + groups[known], weights[known], values.size * self.classes
        ).reshape(values.size, self.classes)
        return cells.astype(np.float64)

    def _parts(self, entries: int) -> Sequence[tuple[int, int]]:
        """The first column of each thread, and the end of its columns."""
        columns = self.narrow_columns.size
        if not columns:
            return ()
        count = min(self.threads, columns) if entries * columns >= _CELLS_WORTH_THREADS else 1
        edges = [columns * part // count for part in range(count + 1)]
        return [(edges[part], edges[part + 1]) for part in range(count)]


def _with_cheap_cuts(discretize: Methods) -> Methods:
    """The same methods, with a fast one for the columns that are cut in the nodes."""
    if isinstance(discretize, dict):
        methods = {column: _CHEAP_METHOD if method == "mdl" else method for column, method in discretize.items()}
        return {"*": _CHEAP_METHOD} | methods
    return _CHEAP_METHOD if discretize == "mdl" else discretize


def _tree_column(feature: Feature, *, cut: bool) -> TreeColumn:
    """The column for trees. With `cut`, numbers are cut in the nodes, also whole numbers if there are more than two.

    A split by each of a few whole numbers would give small nodes, and it would ignore the order of the numbers.
    """
    numbers = feature.labels.kind == NUMBER
    whole = feature.cut_by is None and numbers and len(feature.labels) > _BINARY_VALUES
    if cut and (whole or feature.cut_by == CutBy.QUANTILE):
        places = np.arange(len(feature.labels))
        return TreeColumn(feature.name, (), feature.labels, places, numbers=True, ordered=True)
    ordered = feature.cut_by is not None or numbers  # also of whole numbers, if the caller does not want them cut
    cuts = feature.cuts if feature.cut_by is not None else np.zeros(0)
    return TreeColumn(feature.name, feature.values, feature.labels, feature.places, ordered=ordered, cuts=cuts)


def _tree_codes(
    column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature, tree_column: TreeColumn
) -> NDArray[np.unsignedinteger]:
    """The code of each row: the index of its value, or of its number; the largest code is missing."""
    codes = np.minimum(column.codes, column.values)
    occurs = np.bincount(codes, minlength=column.values + 1)[:-1] > 0
    occurs &= ~missing.among(column)
    occurring_labels, positions = labels_of(column, occurs)
    merged, merged_position, counted_position = labels.union(occurring_labels, counted_labels)
    position_in_counts = np.full(len(merged), -1, dtype=np.int64)  # labels of rows without weight were not counted
    position_in_counts[counted_position] = np.arange(len(counted_labels))
    positions_counted = position_in_counts[merged_position[positions]]
    occurs[occurs] = positions_counted >= 0
    typed = feature.typed_as[positions_counted[positions_counted >= 0]]
    dtype = np.uint8 if tree_column.size <= _MAX_NARROW_VALUES else np.uint16
    tree_code: NDArray[np.unsignedinteger] = np.full(column.values + 1, tree_column.size, dtype=dtype)
    tree_code[:-1][occurs] = typed if tree_column.numbers else tree_column.places[typed]
    row_codes: NDArray[np.unsignedinteger] = tree_code[codes]
    return row_codes
