"""Counts that are updated row by row in a stream.

All counts are in one array, whose size doubles when it is full. Each label of a feature has a line (a row of the
array), and each class has a column, which is called its group. Column 0 is for rows without a class, and each feature
has a line for rows in which it is missing. A row of the stream adds to one cell per feature, found by a dictionary; a
new label takes the next free line. So a row costs O(features) on average, however many rows and labels were seen.
`fade` is O(1) as well: it changes the scale that all cells share.

Some cases need `columns.labels.union`, such as numbers that come after texts, or more labels than can be stored. Then
`Counts.__add__` works on all cells. This happens seldom: once for a change of kind, and once for each bit that is
dropped.

Rows that are subtracted leave no trace: a label without counts is removed, and its line is free. `kept` is all counts
as `Counts`, with their labels in order: O(cells), made when it is needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.interpret import MAX_CLASSES, interpret
from credimi.columns.labels import MANY, TEXT, Labels, most_bytes, most_labels
from credimi.columns.missing import missing_of
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counts.batch import Batch, tally
from credimi.counts.counts import Counts
from credimi.counts.growing_counts import GrowingLabels, labels_of_cell
from credimi.counts.request import Plan

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from credimi.columns.feature import Feature
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import AnyArray, FloatArray, IntegerArray, Value
    from credimi.counts.growing_counts import Key

_ROUNDING = 1e-9  # relative to the weights of rows that are subtracted
_SMALLEST_SCALE = 1e-100


@stored
class IncrementalCounts:
    """The counts so far. `version` grows when a count changes, `layout` when the labels change."""

    def __init__(self, counts: Counts) -> None:
        self.missing = missing_of(counts.settings.missing_values)
        self.version = self.layout = 0
        self.whole = True  # no weight was ever a fraction
        self._load(counts)

    @classmethod
    def empty(cls, target: str, features: Sequence[str], settings: ReadingOptions) -> IncrementalCounts:
        """The counts of no rows."""
        blocks = {name: (Labels(TEXT), np.zeros((1, 1))) for name in features}
        return cls(Counts.join(target, Labels(TEXT), blocks, 0, settings))

    def _load(self, counts: Counts) -> None:
        """Start with these counts."""
        height, widths = len(counts.classes) + 1, [len(width) + 1 for width in counts.labels]
        self._base = replace(counts, flat=counts.flat[:0], flat_squares=None)  # target, settings and sources
        self.features = {name: index for index, name in enumerate(counts.features)}
        self._lines, self._groups = sum(widths), height
        self._free_lines: list[int] = []
        self._free_groups: list[int] = []
        self._cells = np.zeros((max(self._lines, 16), max(height, 4)))
        self._scale, self.rows = 1.0, counts.rows
        ends = np.cumsum(widths, dtype=np.int64)
        for block, width, end in zip(counts.blocks(), widths, ends.tolist(), strict=True):
            self._cells[end - width : end, 1:height] = block[:-1].T
            self._cells[end - width : end, 0] = block[-1]
        self.columns = [
            GrowingLabels(width, range(end - len(width) - 1, end - 1))
            for width, end in zip(counts.labels, ends.tolist(), strict=True)
        ]
        self.gone = ends - 1  # the lines of the missing values
        self.sizes = np.array(widths, dtype=np.int64) - 1  # how many labels each feature has
        self._groups_of = GrowingLabels(counts.classes, range(1, height))
        self._totals = np.zeros(self._cells.shape[1])
        if widths:
            self._totals += self._cells[: widths[0]].sum(axis=0)
        self._changed(labels=True, classes=True)

    def _changed(self, *, labels: bool = False, classes: bool = False) -> None:
        self.version += 1
        self._kept: Counts | None = None
        if labels or classes:
            self.layout += 1
        if classes:
            self.classes, order = self._groups_of.ordered()
            # Columns of the array: sorted classes, and last the column of rows without a class.
            self._order = np.append(order, 0)

    # What was counted

    @property
    def target(self) -> str:
        """The target's name."""
        return self._base.target

    @property
    def settings(self) -> ReadingOptions:
        """How values are read."""
        return self._base.settings

    @property
    def height(self) -> int:
        """The number of classes, plus one for rows without a class."""
        return len(self._order)

    @property
    def current_counts(self) -> Counts:
        """All counts, as doubles; do not change them."""
        if self._kept is None:
            columns = [self.block(index) for index in range(len(self.columns))]
            flat = [np.zeros(0), *(block.ravel() for _, block in columns)]
            self._kept = replace(
                self._base,
                classes=self.classes,
                features=tuple(self.features),
                labels=tuple(labels for labels, _ in columns),
                flat=np.concatenate(flat),
                rows=self.rows,
            )
        return self._kept

    @property
    def counts(self) -> Counts:
        """A copy of the counts; whole numbers, unless rows had weights."""
        counts = self.current_counts
        if self.whole:
            return replace(counts, flat=np.rint(counts.flat).astype(np.int64), rows=round(counts.rows))
        return replace(counts, flat=counts.flat.copy())

    def feature(self, index: int) -> Feature:
        """One feature as it is ranked."""
        name, (labels, block) = list(self.features)[index], self.block(index)
        classes = self.classes, np.arange(len(self.classes))
        max_labels = most_labels(len(self.columns), self.height)
        return interpret(name, labels, block, classes, settings=self.settings, max_labels=max_labels)

    def block(self, index: int) -> tuple[Labels, FloatArray]:
        """The labels of one feature in order, and its counts as in `Counts`."""
        labels, lines = self.columns[index].ordered()
        lines = np.append(lines, self.gone[index])
        return labels, self._cells[lines[None, :], self._order[:, None]] * self._scale

    def totals(self) -> FloatArray:
        """How often each class occurred, and last how often the class was missing."""
        return np.asarray(self._totals[self._order] * self._scale)

    def of_lines(self, lines: IntegerArray) -> FloatArray:
        """(lines, classes + 1): the counts in these lines."""
        return np.asarray(self._cells[lines[:, None], self._order] * self._scale)

    def seen(self) -> FloatArray:
        """(features, classes + 1): how often each feature was present with each class, and last without a class."""
        return self.totals() - self.of_lines(self.gone)

    # More rows, or fewer

    def fade(self, factor: float) -> None:
        """Reduce the weight of everything counted so far."""
        self.whole = False
        self._scale *= factor
        self.rows *= factor
        if self._scale < _SMALLEST_SCALE:
            self._cells *= self._scale
            self._totals *= self._scale
            self._scale = 1.0
        self._changed()

    def add(self, counts: Counts) -> None:
        """Add counts of the same features."""
        self.whole = self.whole and counts.flat.dtype.kind != "f"
        if self.rows == 0 or not self._adds_in_place(counts):  # the first counts are loaded as they are
            self._load(self.current_counts + counts)

    def _adds_in_place(self, counts: Counts) -> bool:
        """Add to existing and new cells; False, and nothing is done, if labels have to be merged first."""
        keys, groups = self._keys_of(counts), self._groups_of.keys_of(counts.classes)
        if keys is None or groups is None or not self._room_for(keys, groups):
            return False
        columns = np.array([*(self._group(key, counts.classes) for key in groups), 0], dtype=np.int64)
        for index, (labels, block, column_keys) in enumerate(self._of_features(counts, keys)):
            lines = np.array(
                [*(self._line(index, key, labels) for key in column_keys), self.gone[index]], dtype=np.int64
            )
            np.add.at(self._cells, (lines[None, :], columns[:, None]), block / self._scale)
            if index == 0:
                np.add.at(self._totals, columns, block.sum(axis=1) / self._scale)
        self.rows += counts.rows
        self._base = replace(self._base, sources=self._base.sources + counts.sources)
        self._changed()
        return True

    def subtract(self, counts: Counts) -> None:
        """Subtract counts that were added before."""
        if not self._subtracts_in_place(counts):
            self._load(self.current_counts - counts)

    def _subtracts_in_place(self, counts: Counts) -> bool:
        """Subtract from existing cells; False, and nothing is done, if that is not possible."""
        keys, groups = self._keys_of(counts), self._groups_of.keys_of(counts.classes)
        if keys is None or groups is None or any(key not in self._groups_of.where for key in groups):
            return False
        columns = np.array([*(self._groups_of.where[key] for key in groups), 0], dtype=np.int64)
        slack, changed = _ROUNDING * max(float(counts.flat.max(initial=0)), 1.0), []
        for index, (_, block, column_keys) in enumerate(self._of_features(counts, keys)):
            line_of = self.columns[index].where
            if len(set(column_keys)) < len(column_keys) or any(key not in line_of for key in column_keys):
                return False
            lines = np.array([*(line_of[key] for key in column_keys), self.gone[index]], dtype=np.int64)
            remaining = self._cells[lines[None, :], columns[:, None]] - block
            if np.any(remaining < -slack):
                return False
            changed.append((lines, np.where(remaining > slack, remaining, 0.0)))
        for lines, remaining in changed:
            self._cells[lines[None, :], columns[:, None]] = remaining
        self._totals[columns] -= next(self._of_features(counts, keys))[1].sum(axis=1) if changed else 0.0
        self.rows -= counts.rows
        self._base = replace(self._base, sources=())
        self._changed()
        self._forget([(index, key) for index, column_keys in enumerate(keys) for key in column_keys], groups, slack)
        return True

    def enter(self, cells: Sequence[Value], label: Value, weight: float = 1.0) -> None:
        """Add one row, with one cell per feature; with a negative weight it is subtracted."""
        group, lines = self.group_of(label), self.lines_of(cells)
        if group is not None and lines is not None and (group < 0 or np.any(lines < 0)) and weight > 0.0:
            group = self._with_new(cells, label, group, lines)
        if group is None or lines is None or group < 0 or np.any(lines < 0):
            row_counts = self.tally_row(cells, label, abs(weight))
            (self.add if weight > 0.0 else self.subtract)(row_counts)
            return
        new_counts = self._cells[lines, group] + weight / self._scale
        if weight < 0.0:
            if np.any(new_counts < weight * _ROUNDING):
                name = list(self.features)[int(np.argmin(new_counts))]
                raise CredimiError(f"column {name!r}: more is subtracted than was counted; pass rows that were counted")
            new_counts[new_counts <= -weight * _ROUNDING] = 0.0
        self.whole = self.whole and weight == round(weight)
        self._cells[lines, group] = new_counts
        self._totals[group] += weight / self._scale
        self.rows += weight
        self._changed()
        if weight < 0.0:
            emptied = np.flatnonzero((new_counts == 0.0) & (lines != self.gone)).tolist()
            keys = [(index, self.columns[index].key_of(cells[index])) for index in emptied]
            self._forget(keys, [self._groups_of.key_of(label)] if group else [], -weight * _ROUNDING)

    def _with_new(self, cells: Sequence[Value], label: Value, group: int, lines: IntegerArray) -> int | None:
        """Make a column for a new class and lines for new labels, and return the column of the row's class.

        The new lines are written to `lines`. None, and nothing is done, if labels have to be merged first.
        """
        new_labels: list[tuple[int, Key, Labels]] = []
        class_labels = Labels(TEXT) if group >= 0 else labels_of_cell(label)
        if class_labels is None or (groups := self._groups_of.keys_of(class_labels)) is None:
            return None
        keys: list[list[Key]] = [[] for _ in lines]
        for index in np.flatnonzero(lines < 0).tolist():
            cell_labels = labels_of_cell(cells[index])
            if cell_labels is None or (cell_keys := self.columns[index].keys_of(cell_labels)) is None:
                return None
            keys[index] = cell_keys
            new_labels.append((index, cell_keys[0], cell_labels))
        if not self._room_for(keys, groups):
            return None
        for index, key, cell_labels in new_labels:
            lines[index] = self._line(index, key, cell_labels)
        return group if group >= 0 else self._group(groups[0], class_labels)

    def tally_row(self, cells: Sequence[Value], label: Value, weight: float = 1.0) -> Counts:
        """The counts of a single row."""
        columns = dict(zip((self.target, *self.features), map(_single, (label, *cells)), strict=True))
        weights = None if weight == 1.0 else np.array([weight])
        batch = Batch(columns, 1, weights=weights)
        names = tuple(self.features)
        return tally(batch, Plan(self.target, names, self.settings, required=frozenset(names)), threads=1)

    def extend(self, names: Sequence[str]) -> None:
        """Add new features: they are missing in all rows so far."""
        lines = []
        for name in names:
            self.features[name] = len(self.columns)
            self.columns.append(GrowingLabels(Labels(TEXT), ()))
            lines.append(self._free_line())
            self._cells[lines[-1]] = self._totals
        self.gone = np.append(self.gone, lines).astype(np.int64)
        self.sizes = np.append(self.sizes, np.zeros(len(names), dtype=np.int64))
        self._changed(labels=True)

    # Where cells are

    def lines_of(self, cells: Sequence[Value]) -> IntegerArray | None:
        """The line in which each cell is counted, -1 if it is new; None if labels have to be merged first."""
        lines = self.gone.copy()
        for index, (cell, column) in enumerate(zip(cells, self.columns, strict=True)):
            if self.missing.means(cell):
                continue
            line = column.find(cell)
            if line is None:
                return None
            lines[index] = line
        return lines

    def group_of(self, label: Value) -> int | None:
        """The column in which this class is counted, -1 if it is new; None if labels have to be merged first."""
        return 0 if self.missing.means(label) else self._groups_of.find(label)

    def _keys_of(self, counts: Counts) -> list[list[Key]] | None:
        """For each feature the keys of the labels in these counts; None if labels have to be merged."""
        if (counts.target, counts.features, counts.settings) != (self.target, tuple(self.features), self.settings):
            return None
        keys_of_features = [column.keys_of(labels) for column, labels in zip(self.columns, counts.labels, strict=True)]
        return None if any(keys is None for keys in keys_of_features) else keys_of_features  # type: ignore[return-value]

    @staticmethod
    def _of_features(counts: Counts, keys: list[list[Key]]) -> Iterator[tuple[Labels, FloatArray, list[Key]]]:
        return zip(counts.labels, counts.blocks(), keys, strict=True)

    def _room_for(self, keys: list[list[Key]], groups: list[Key]) -> bool:
        """Whether, with these keys, the labels of all features and the classes stay within their limits."""
        if not self._groups_of.has_room_for(groups, MAX_CLASSES, most_bytes(1)):
            return False
        new_classes = sum(key not in self._groups_of.where for key in set(groups))
        max_bytes = most_bytes(len(self.columns))
        max_labels = most_labels(len(self.columns), len(self._groups_of) + new_classes + 1)
        if new_classes and self.sizes.max(initial=0) > max_labels:
            return False
        return all(
            column.has_room_for(column_keys, max_labels, max_bytes)
            for column, column_keys in zip(self.columns, keys, strict=True)
            if column_keys
        )

    def _line(self, index: int, key: Key, labels: Labels) -> int:
        """The line of a label; a new label gets a free line."""
        column = self.columns[index]
        if key not in column.where:
            column.adopt(labels)
            column.add(key, self._free_line())
            self.sizes[index] += 1
            self._changed(labels=True)
        return column.where[key]

    def _free_line(self) -> int:
        if self._free_lines:
            return self._free_lines.pop()
        if self._lines == self._cells.shape[0]:
            self._grow(2, 1)
        self._lines += 1
        return self._lines - 1

    def _group(self, key: Key, labels: Labels) -> int:
        """The column of a class; a new class gets a free column."""
        if key not in self._groups_of.where:
            self._groups_of.adopt(labels)
            self._groups_of.add(key, self._free_group())
            self._changed(classes=True)
        return self._groups_of.where[key]

    def _free_group(self) -> int:
        if self._free_groups:
            return self._free_groups.pop()
        if self._groups == self._cells.shape[1]:
            self._grow(1, 2)
        self._groups += 1
        return self._groups - 1

    def _grow(self, down: int, across: int) -> None:
        """Multiply the number of lines by `down`, and the number of columns by `across`."""
        height, width = self._cells.shape
        self._cells = np.pad(self._cells, ((0, (down - 1) * height), (0, (across - 1) * width)))
        self._totals = np.pad(self._totals, (0, (across - 1) * width))

    def _forget(self, keys: Iterable[tuple[int, Key]], groups: Iterable[Key], slack: float) -> None:
        """Free those of these lines and columns that have no counts any more."""
        for index, key in keys:
            column = self.columns[index]
            if column.kind != MANY and not self._cells[column.where[key]].any():
                self._free_lines.append(column.remove(key))
                self.sizes[index] -= 1
                self._changed(labels=True)
        for key in groups:
            if self._totals[group := self._groups_of.where[key]] <= slack:
                self._free_groups.append(self._groups_of.remove(key))
                self._totals[group] = self._cells[:, group] = 0.0
                self._changed(classes=True)


def _single(value: object) -> AnyArray:
    array = np.empty(1, dtype=object)
    array[0] = value
    return array
