"""`TreeRows`: a table's rows as codes, laid out for trees; the tables of all columns on the rows of one node.

Columns of up to 255 values are stored row by row, one byte a cell, so that a node's rows are read once for all of them.
Others are columns of their own, of two bytes a cell. Numbers keep all their values: they are cut in the nodes.

Counting a node costs O(rows x columns), and of the numbers' best cuts O(values x classes), of values that occur there.
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
from credimi.counting.batch import labels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import Methods
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.coded_table import CodedTable

_NARROW = 255  # the most values of a column of bytes; the largest byte is "missing"
_TWO = 2  # values: a cut between them is a split by value
_WORTH_SHARING = 1 << 20  # cells of one node that are worth several threads
_QUANTILE = "quantile"  # a way to cut that costs little, for columns whose cuts are not used


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeColumn:
    """A column that a tree may split on: its values in order, or the numbers that it is cut between.

    `labels` are the values of the data, and `places` the value that each has; `ordered` values are numbers or
    ranges.
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
        """How many codes there are; a code as large means missing."""
        return len(self.labels) if self.numbers else len(self.values)


@dataclass(frozen=True, slots=True, eq=False)
class NodeTables:
    """The tables of one node, of the columns that might tell something there.

    `places` has for numbers the codes below and above the cut.
    """

    tables: Tables
    columns: IntegerArray
    places: IntegerArray

    def without(self, column: int) -> NodeTables:
        """The same without one column."""
        kept = self.columns != column
        return self if kept.all() else NodeTables(self.tables.chosen(kept), self.columns[kept], self.places[kept])


@dataclass(frozen=True, slots=True, eq=False)
class TreeRows:
    """Class and values of all rows, for trees. A class as large as the number of classes is missing."""

    target: str
    classes: tuple[str, ...]
    groups: NDArray[np.uint16]
    columns: tuple[TreeColumn, ...]
    narrow: NDArray[np.uint8]  # rows x columns of few values
    wide: tuple[NDArray[np.uint16], ...]
    where: IntegerArray  # of each column its place in `narrow`, or -1 less its place in `wide`
    weights: FloatArray | None = None
    left_out: tuple[Feature, ...] = ()

    @classmethod
    def of(cls, table: CodedTable, threads: int | None = None, least_classes: int = 2) -> TreeRows:
        """Lay out a table that was encoded before."""
        counts = table.counts
        cheap = replace(counts, settings=replace(counts.settings, discretize=_cheaply(counts.settings.discretize)))
        settled = counts.settled_classes(least_classes)
        features = cheap.settled(classes=settled, threads=threads)
        ranked = [feature for feature in features if feature.kind.ranked]
        columns = tuple(_column(each, cut=counts.settings.method(each.name) == "mdl") for each in ranked)
        codes: dict[int, NDArray[np.unsignedinteger]] = {}

        def work(number: int) -> None:
            own = table.labels[columns[number].name]
            column = table.coded.columns[columns[number].name]
            codes[number] = _codes_of(column, table.coded.missing, own, ranked[number], columns[number])

        share(work, range(len(columns)), threads)
        classes, groups = table.classes(settled)
        rows = groups.size
        few = [number for number, column in enumerate(columns) if column.size <= _NARROW]
        many = [number for number in range(len(columns)) if number not in set(few)]
        narrow = np.empty((rows, len(few)), dtype=np.uint8)
        for place, number in enumerate(few):
            narrow[:, place] = codes[number]
        where = np.empty(len(columns), dtype=np.int64)
        where[few] = np.arange(len(few))
        where[many] = -1 - np.arange(len(many))
        return cls(
            table.coded.target,
            classes,
            np.where(groups < 0, len(classes), groups).astype(np.uint16),
            columns,
            narrow,
            tuple(np.ascontiguousarray(codes[number], dtype=np.uint16) for number in many),
            where,
            table.coded.weights,
            tuple(feature for feature in features if not feature.kind.ranked),
        )

    def codes(self, column: int, entries: IntegerArray) -> NDArray[np.unsignedinteger]:
        """The values of some rows."""
        place = int(self.where[column])
        found: NDArray[np.unsignedinteger] = (
            self.narrow[entries, place] if place >= 0 else self.wide[-1 - place][entries]
        )
        return found

    def counter(
        self, threads: int | None = None, groups: NDArray[np.uint16] | None = None, size: int | None = None
    ) -> NodeCounter:
        """What counts nodes: columns against the class, or against other groups, of which there are `size`."""
        own = self.groups if groups is None else groups
        return NodeCounter(self, cores(threads), own, len(self.classes) if size is None else size)


class NodeCounter:
    """Counts nodes, with memory that is used again for each."""

    def __init__(self, rows: TreeRows, threads: int, groups: NDArray[np.uint16], classes: int) -> None:
        self.rows, self.threads, self.groups, self.classes = rows, threads, groups, classes
        self.few = np.flatnonzero(rows.where >= 0)
        self.many = np.flatnonzero(rows.where < 0)
        self.widths = np.array([rows.columns[number].size + 1 for number in self.few], dtype=np.int64)
        sizes = (classes + 1) * self.widths
        self.offsets = np.cumsum(sizes) - sizes
        self.numbers = np.array([rows.columns[number].numbers for number in self.few], dtype=np.uint8)
        widest = max((rows.columns[number].size for number in self.many), default=0)
        self.flat = np.zeros(int(sizes.sum()))
        self.out = np.empty(max(int(sizes.sum()), 0))
        self.out_wide = np.empty((classes + 1) * (widest + 1))
        self.seen, self.position = np.zeros(widest + 1, dtype=np.uint8), np.empty(widest + 1, dtype=np.int64)
        self.room = np.empty(2 * classes + max(_NARROW, widest) + 1)

    def count(self, entries: IntegerArray, weights: FloatArray) -> NodeTables:
        """The tables of all columns that may tell something about the groups in these rows."""
        from credimi.kernels.trees import node_tables  # noqa: PLC0415  (loads compiled code)

        rows, classes = self.rows, self.classes
        self.flat[:] = 0.0
        arguments = rows.narrow, self.groups, entries, weights

        def work(part: tuple[int, int]) -> None:
            node_tables.count_columns(*arguments, *part, self.offsets, self.widths, self.flat)

        share(work, self._parts(entries.size), self.threads)
        shapes, places = np.zeros((self.few.size, 2), dtype=np.int64), np.full((self.few.size, 2), -1, dtype=np.int64)
        shares = np.ones(self.few.size)
        used = node_tables.settle_columns(
            self.flat, self.offsets, self.widths, classes, self.numbers, self.out, shapes, places, shares, self.room
        )
        parts = [self.out[:used].copy()]
        settled = [(self.few, shapes, places, shares)]
        for number in self.many:
            column = rows.columns[number]
            shape, place = np.zeros(2, dtype=np.int64), np.full(2, -1, dtype=np.int64)
            own = node_tables.settle_wide_column(
                rows.wide[-1 - int(rows.where[number])],
                self.groups,
                entries,
                weights,
                classes,
                column.size,
                column.numbers,
                self.seen,
                self.position,
                self.out_wide,
                shape,
                place,
                self.room,
            )
            parts.append(self.out_wide[: int(np.prod(shape + 1)) if shape[0] else 0].copy())
            settled.append((np.array([number]), shape[np.newaxis], place[np.newaxis], np.array([own])))
        columns, shapes, places, shares = (np.concatenate(each) for each in zip(*settled, strict=True))
        some = shapes[:, 0] > 0
        tables = Tables(np.concatenate(parts), shapes[some, 0], shapes[some, 1], shares[some])
        return NodeTables(tables, columns[some].astype(np.int64), places[some])

    def _parts(self, entries: int) -> Sequence[tuple[int, int]]:
        """The columns that each thread counts."""
        columns = self.few.size
        if not columns:
            return ()
        count = min(self.threads, columns) if entries * columns >= _WORTH_SHARING else 1
        edges = [columns * part // count for part in range(count + 1)]
        return [(edges[part], edges[part + 1]) for part in range(count)]


def _cheaply(discretize: Methods) -> Methods:
    """The same ways to cut, but a quick one for the columns that are cut in the nodes."""
    if isinstance(discretize, dict):
        named = {column: _QUANTILE if method == "mdl" else method for column, method in discretize.items()}
        return {"*": _QUANTILE} | named
    return _QUANTILE if discretize == "mdl" else discretize


def _column(feature: Feature, *, cut: bool) -> TreeColumn:
    """The column as trees see it; with `cut` numbers are cut in the nodes, also whole ones, if there are more than two.

    A split by each of a few whole numbers would leave small nodes behind, and the order tells much.
    """
    numbers = feature.labels.kind == NUMBER
    whole = feature.cut_by is None and numbers and len(feature.labels) > _TWO
    if cut and (whole or feature.cut_by == CutBy.QUANTILE):
        places = np.arange(len(feature.labels))
        return TreeColumn(feature.name, (), feature.labels, places, numbers=True, ordered=True)
    ordered = feature.cut_by is not None or numbers  # also of whole numbers, if the caller does not want them cut
    cuts = feature.cuts if feature.cut_by is not None else np.zeros(0)
    return TreeColumn(feature.name, feature.values, feature.labels, feature.places, ordered=ordered, cuts=cuts)


def _codes_of(
    column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature, wanted: TreeColumn
) -> NDArray[np.unsignedinteger]:
    """Of each row the value of the column, or its number; the largest code is missing."""
    codes = np.minimum(column.codes, column.values)
    known = np.bincount(codes, minlength=column.values + 1)[:-1] > 0
    known &= ~missing.among(column)
    here, positions = labels_of(column, known)
    merged, onward, back = labels.union(here, counted_labels)
    counted = np.full(len(merged), -1, dtype=np.int64)  # labels of rows without weight were not counted
    counted[back] = np.arange(len(counted_labels))
    places = counted[onward[positions]]
    known[known] = places >= 0
    typed = feature.typed_as[places[places >= 0]]
    kind = np.uint8 if wanted.size <= _NARROW else np.uint16
    moved: NDArray[np.unsignedinteger] = np.full(column.values + 1, wanted.size, dtype=kind)
    moved[:-1][known] = typed if wanted.numbers else wanted.places[typed]
    found: NDArray[np.unsignedinteger] = moved[codes]
    return found
