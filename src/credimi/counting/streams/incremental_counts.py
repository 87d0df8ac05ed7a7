"""Counts that are updated row by row in a stream.

A label has a line of its own, a class a column, in one array whose size doubles when it is full. Column 0 is for rows
without a class, and each feature has a line for rows in which it is missing. A row adds to one cell per feature, found
by a dictionary; a new label takes the next free line. So a row costs O(features) on average, however many rows and
labels were seen. `fade` is O(1) as well: it changes the scale that all cells share.

What `columns.labels.union` has to decide, such as numbers that come after texts, or more labels than are kept, is done
by `Counts.__add__` over all cells. This happens seldom: once for a change of kind, and once for each bit that is
dropped.

Rows that are subtracted leave no trace: a label without counts is forgotten, and its line is free. `kept` is all counts
as `Counts`, with their labels in order: O(cells), made when it is needed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.interpret import MOST_CLASSES, settle
from credimi.columns.labels import MANY, TEXT, Labels, most_bytes, most_labels
from credimi.columns.missing import missing_of
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counting.batch import Batch, tally
from credimi.counting.counts import Counts
from credimi.counting.request import Plan
from credimi.counting.streams.growing_counts import GrowingLabels, labels_of_cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from credimi.columns.feature import Feature
    from credimi.columns.reading_options import ReadingOptions
    from credimi.core.types import AnyArray, FloatArray, IntegerArray, Value
    from credimi.counting.streams.growing_counts import Key

_ROUNDING = 1e-9  # of the weights of rows that are subtracted
_SMALLEST_SCALE = 1e-100


@stored
class IncrementalCounts:
    """The counts so far. `version` changes with them, `layout` with their labels only."""

    def __init__(self, counts: Counts) -> None:
        self.missing = missing_of(counts.settings.missing_values)
        self.version = self.layout = 0
        self.whole = True  # no weight was ever a fraction
        self._load(counts)

    @classmethod
    def empty(cls, target: str, features: Sequence[str], settings: ReadingOptions) -> IncrementalCounts:
        """Of no rows."""
        blocks = {name: (Labels(TEXT), np.zeros((1, 1))) for name in features}
        return cls(Counts.join(target, Labels(TEXT), blocks, 0, settings))

    def _load(self, counts: Counts) -> None:
        """Start with these counts."""
        height, widths = len(counts.classes) + 1, [len(own) + 1 for own in counts.labels]
        self._base = replace(counts, flat=counts.flat[:0])  # target, settings and sources
        self.features = {name: place for place, name in enumerate(counts.features)}
        self._lines, self._groups = sum(widths), height
        self._free_lines: list[int] = []
        self._free_groups: list[int] = []
        self._cells = np.zeros((max(self._lines, 16), max(height, 4)))
        self._scale, self.rows = 1.0, counts.rows
        ends = np.cumsum(widths, dtype=np.int64)
        for block, own, end in zip(counts.blocks(), widths, ends.tolist(), strict=True):
            self._cells[end - own : end, 1:height] = block[:-1].T
            self._cells[end - own : end, 0] = block[-1]
        self.columns = [
            GrowingLabels(own, range(end - len(own) - 1, end - 1))
            for own, end in zip(counts.labels, ends.tolist(), strict=True)
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
            self._order = np.append(order, 0)  # of the columns: the classes in order, and last the one without a class

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
        """The number of classes, plus one."""
        return len(self._order)

    @property
    def kept(self) -> Counts:
        """All counts, as doubles; do not change them."""
        if self._kept is None:
            found = [self.block(place) for place in range(len(self.columns))]
            flat = [np.zeros(0), *(block.ravel() for _, block in found)]
            self._kept = replace(
                self._base,
                classes=self.classes,
                features=tuple(self.features),
                labels=tuple(own for own, _ in found),
                flat=np.concatenate(flat),
                rows=self.rows,
            )
        return self._kept

    @property
    def counts(self) -> Counts:
        """A copy of the counts; whole numbers, unless rows had weights."""
        kept = self.kept
        if self.whole:
            return replace(kept, flat=np.rint(kept.flat).astype(np.int64), rows=round(kept.rows))
        return replace(kept, flat=kept.flat.copy())

    def feature(self, place: int) -> Feature:
        """One feature as it is ranked."""
        name, (own, block) = list(self.features)[place], self.block(place)
        classes = self.classes, np.arange(len(self.classes))
        max_labels = most_labels(len(self.columns), self.height)
        return settle(name, own, block, classes, settings=self.settings, max_labels=max_labels)

    def block(self, place: int) -> tuple[Labels, FloatArray]:
        """The labels of one feature in order, and its counts as in `Counts`."""
        own, lines = self.columns[place].ordered()
        lines = np.append(lines, self.gone[place])
        return own, self._cells[lines[None, :], self._order[:, None]] * self._scale

    def totals(self) -> FloatArray:
        """How often each class occurred, and last how often the class was missing."""
        return np.asarray(self._totals[self._order] * self._scale)

    def of_lines(self, lines: IntegerArray) -> FloatArray:
        """(lines, classes + 1): the counts on these lines."""
        return np.asarray(self._cells[lines[:, None], self._order] * self._scale)

    def seen(self) -> FloatArray:
        """(features, classes + 1): how often each feature was seen with each class, and last without a class."""
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
        if self.rows == 0 or not self._adds_in_place(counts):  # the first counts are taken as they are
            self._load(self.kept + counts)

    def _adds_in_place(self, counts: Counts) -> bool:
        """Add to existing and new cells; False if labels have to be merged first."""
        keys, groups = self._keys_of(counts), self._groups_of.keys_of(counts.classes)
        if keys is None or groups is None or not self._room_for(keys, groups):
            return False
        columns = np.array([*(self._group(key, counts.classes) for key in groups), 0], dtype=np.int64)
        for place, (own, block, names) in enumerate(self._of_features(counts, keys)):
            lines = np.array([*(self._line(place, key, own) for key in names), self.gone[place]], dtype=np.int64)
            np.add.at(self._cells, (lines[None, :], columns[:, None]), block / self._scale)
            if place == 0:
                np.add.at(self._totals, columns, block.sum(axis=1) / self._scale)
        self.rows += counts.rows
        self._base = replace(self._base, sources=self._base.sources + counts.sources)
        self._changed()
        return True

    def subtract(self, counts: Counts) -> None:
        """Subtract counts that were added before."""
        if not self._subtracts_in_place(counts):
            self._load(self.kept - counts)

    def _subtracts_in_place(self, counts: Counts) -> bool:
        """Subtract from existing cells; False if that is not possible directly, and then nothing is done."""
        keys, groups = self._keys_of(counts), self._groups_of.keys_of(counts.classes)
        if keys is None or groups is None or any(key not in self._groups_of.where for key in groups):
            return False
        columns = np.array([*(self._groups_of.where[key] for key in groups), 0], dtype=np.int64)
        slack, found = _ROUNDING * max(float(counts.flat.max(initial=0)), 1.0), []
        for place, (_, block, names) in enumerate(self._of_features(counts, keys)):
            where = self.columns[place].where
            if len(set(names)) < len(names) or any(key not in where for key in names):
                return False
            lines = np.array([*(where[key] for key in names), self.gone[place]], dtype=np.int64)
            left = self._cells[lines[None, :], columns[:, None]] - block
            if np.any(left < -slack):
                return False
            found.append((lines, np.where(left > slack, left, 0.0)))
        for lines, left in found:
            self._cells[lines[None, :], columns[:, None]] = left
        self._totals[columns] -= next(self._of_features(counts, keys))[1].sum(axis=1) if found else 0.0
        self.rows -= counts.rows
        self._base = replace(self._base, sources=())
        self._changed()
        self._forget([(place, key) for place, names in enumerate(keys) for key in names], groups, slack)
        return True

    def enter(self, cells: Sequence[Value], label: Value, weight: float = 1.0) -> None:
        """Add one row, with one cell per feature; with a negative weight it is subtracted."""
        group, lines = self.group_of(label), self.lines_of(cells)
        if group is not None and lines is not None and (group < 0 or np.any(lines < 0)) and weight > 0.0:
            group = self._with_new(cells, label, group, lines)
        if group is None or lines is None or group < 0 or np.any(lines < 0):
            one = self.tally_row(cells, label, abs(weight))
            (self.add if weight > 0.0 else self.subtract)(one)
            return
        left = self._cells[lines, group] + weight / self._scale
        if weight < 0.0:
            if np.any(left < weight * _ROUNDING):
                name = list(self.features)[int(np.argmin(left))]
                raise CredimiError(f"column {name!r}: more is subtracted than was counted; pass rows that were counted")
            left[left <= -weight * _ROUNDING] = 0.0
        self.whole = self.whole and weight == round(weight)
        self._cells[lines, group] = left
        self._totals[group] += weight / self._scale
        self.rows += weight
        self._changed()
        if weight < 0.0:
            emptied = np.flatnonzero((left == 0.0) & (lines != self.gone)).tolist()
            keys = [(place, self.columns[place].key_of(cells[place])) for place in emptied]
            self._forget(keys, [self._groups_of.key_of(label)] if group else [], -weight * _ROUNDING)

    def _with_new(self, cells: Sequence[Value], label: Value, group: int, lines: IntegerArray) -> int | None:
        """Find a column for a new class and lines for new labels, and set them; None if not directly possible."""
        new: list[tuple[int, Key, Labels]] = []
        own = Labels(TEXT) if group >= 0 else labels_of_cell(label)
        if own is None or (groups := self._groups_of.keys_of(own)) is None:
            return None
        keys: list[list[Key]] = [[] for _ in lines]
        for place in np.flatnonzero(lines < 0).tolist():
            one = labels_of_cell(cells[place])
            if one is None or (found := self.columns[place].keys_of(one)) is None:
                return None
            keys[place] = found
            new.append((place, found[0], one))
        if not self._room_for(keys, groups):
            return None
        for place, key, one in new:
            lines[place] = self._line(place, key, one)
        return group if group >= 0 else self._group(groups[0], own)

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

    # Places of cells

    def lines_of(self, cells: Sequence[Value]) -> IntegerArray | None:
        """The line on which each cell is counted, -1 if it is new; None if one cannot be told here."""
        lines = self.gone.copy()
        for place, (cell, column) in enumerate(zip(cells, self.columns, strict=True)):
            if self.missing.means(cell):
                continue
            line = column.find(cell)
            if line is None:
                return None
            lines[place] = line
        return lines

    def group_of(self, label: Value) -> int | None:
        """The column in which this class is counted, -1 if it is new; None if it cannot be told here."""
        return 0 if self.missing.means(label) else self._groups_of.find(label)

    def _keys_of(self, counts: Counts) -> list[list[Key]] | None:
        """For each feature the keys of the labels in these counts; None if labels have to be merged."""
        if (counts.target, counts.features, counts.settings) != (self.target, tuple(self.features), self.settings):
            return None
        found = [column.keys_of(own) for column, own in zip(self.columns, counts.labels, strict=True)]
        return None if any(keys is None for keys in found) else found  # type: ignore[return-value]

    @staticmethod
    def _of_features(counts: Counts, keys: list[list[Key]]) -> Iterator[tuple[Labels, FloatArray, list[Key]]]:
        return zip(counts.labels, counts.blocks(), keys, strict=True)

    def _room_for(self, keys: list[list[Key]], groups: list[Key]) -> bool:
        """Whether no feature gets more or longer labels than are kept, and the target no more or longer classes."""
        if not self._groups_of.has_room_for(groups, MOST_CLASSES, most_bytes(1)):
            return False
        classes = sum(key not in self._groups_of.where for key in set(groups))
        max_bytes = most_bytes(len(self.columns))
        max_labels = most_labels(len(self.columns), len(self._groups_of) + classes + 1)
        if classes and self.sizes.max(initial=0) > max_labels:
            return False
        return all(
            column.has_room_for(own, max_labels, max_bytes)
            for column, own in zip(self.columns, keys, strict=True)
            if own
        )

    def _line(self, place: int, key: Key, own: Labels) -> int:
        """The line of a label; a free one if it is new."""
        column = self.columns[place]
        if key not in column.where:
            column.adopt(own)
            column.add(key, self._free_line())
            self.sizes[place] += 1
            self._changed(labels=True)
        return column.where[key]

    def _free_line(self) -> int:
        if self._free_lines:
            return self._free_lines.pop()
        if self._lines == self._cells.shape[0]:
            self._grow(2, 1)
        self._lines += 1
        return self._lines - 1

    def _group(self, key: Key, own: Labels) -> int:
        """The column of a class; a free one if it is new."""
        if key not in self._groups_of.where:
            self._groups_of.adopt(own)
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
        """Make room for so many times as many lines and columns."""
        height, width = self._cells.shape
        self._cells = np.pad(self._cells, ((0, (down - 1) * height), (0, (across - 1) * width)))
        self._totals = np.pad(self._totals, (0, (across - 1) * width))

    def _forget(self, keys: Iterable[tuple[int, Key]], groups: Iterable[Key], slack: float) -> None:
        """Free lines and columns that have no counts any more."""
        for place, key in keys:
            column = self.columns[place]
            if column.kind != MANY and not self._cells[column.where[key]].any():
                self._free_lines.append(column.remove(key))
                self.sizes[place] -= 1
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
