"""The labels of one column in a stream of rows: they are found, added and removed without touching the others.

`columns.labels.Labels` are sorted, so a new label moves the others. Here a label never moves: a dictionary says at
which place (a line or column of the counts) it is counted, and labels are sorted when this is needed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.labels import BOOLEAN, EXACT, MANY, NUMBER, TEXT, Labels, of_numbers
from credimi.columns.missing import is_number
from credimi.columns.python_objects import is_no_double
from credimi.columns.text_types import shown, shown_number
from credimi.core.public import stored

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.core.types import IntegerArray, Value

    Key = Value  # text or a number that identifies a label; None for a column that is counted as seen or missing only

_MAX_INSERTED = 32  # new labels; if there are more, all labels are sorted again


@stored
class GrowingLabels:
    """Labels of one kind, in the order in which they came; `where` says at which place each is counted."""

    def __init__(self, labels: Labels, places: Iterable[int]) -> None:
        self.where: dict[Key, int] = {}
        self._ordered: tuple[Labels, IntegerArray] | None = None
        self._new: list[Key] = []  # since the labels were last ordered
        self._become(labels)
        self.where.update(zip(_keys(labels), places, strict=True))
        self.bytes = sum(map(_bytes_of, self.where))  # of texts

    def __len__(self) -> int:
        return len(self.where)

    def _become(self, labels: Labels) -> None:
        self.kind, self.dropped_bits, self.instants = labels.kind, labels.dropped_bits, labels.instants
        self.uncounted = labels.texts if labels.kind == MANY else ()
        self._ordered = None

    def adopt(self, other: Labels) -> None:
        """Take the kind of other labels, if there are none yet: a column with only missing values has no kind."""
        if not self.where and len(other):
            self._become(other)

    def add(self, key: Key, place: int) -> None:
        """Add a new label."""
        self.where[key] = place
        self.bytes += _bytes_of(key)
        self._new.append(key)

    def remove(self, key: Key) -> int:
        """Forget a label; its place becomes free."""
        self._ordered = None
        self.bytes -= _bytes_of(key)
        return self.where.pop(key)

    def has_room_for(self, keys: Iterable[Key], max_labels: int, max_bytes: int) -> bool:
        """Whether, with these keys, there are at most `max_labels` labels, and at most `max_bytes` bytes of texts."""
        new = {key for key in keys if key not in self.where}
        return len(self) + len(new) <= max_labels and self.bytes + sum(map(_bytes_of, new)) <= max_bytes

    def find(self, cell: Value) -> int | None:
        """The place of a value that is not missing, -1 if it is new; None if labels have to be merged first."""
        key = self.key_of(cell)
        if key is not None:
            return self.where.get(key, -1)
        if labels_of_cell(cell) is None:
            return None
        if self.kind == MANY:
            return self.where[None]
        return None if self.where else -1

    def key_of(self, cell: Value) -> Key:
        """The key of a value, whether it is present or not; None if it is of another kind."""
        kind = self.kind
        if isinstance(cell, str):
            return cell if kind == TEXT else None
        if isinstance(cell, bool | np.bool_):
            return shown(cell) if kind in (BOOLEAN, TEXT) else None
        if not is_number(cell) or is_no_double(cell):
            return None
        if kind == NUMBER and not self.instants:
            return cell
        return shown_number(float(cell)) if kind == TEXT and -EXACT <= cell <= EXACT else None

    def keys_of(self, other: Labels) -> list[Key] | None:  # noqa: PLR0911  (one way for each pair of kinds)
        """The keys, in this column, of labels that were counted elsewhere; None if `union` has to decide."""
        if not len(other):
            return []
        if not self.where:
            return _keys(other)
        if self.kind == MANY:
            return [None] * len(other) if other.kind != MANY or other.texts in ((), self.uncounted) else None
        if self.kind == TEXT and other.kind in (NUMBER, BOOLEAN):
            return None if other.dropped_bits else list(other.shown())
        if self.kind != other.kind or other.dropped_bits > self.dropped_bits or self.instants > other.instants:
            return None
        if self.dropped_bits:
            coarse, positions = of_numbers(other.numbers, self.dropped_bits)
            return [*coarse.numbers[positions].tolist()]
        return _keys(other)

    def ordered(self) -> tuple[Labels, IntegerArray]:
        """The labels in order, and the place of each."""
        if self._ordered is None or len(self._new) > _MAX_INSERTED:
            keys = list(self.where) if self.kind == MANY else sorted(self.where)
            places = np.array([self.where[key] for key in keys], dtype=np.int64)
            self._ordered = self._labels(keys), places
        elif self._new:
            labels, places = self._ordered
            new_keys = sorted(self._new)
            if labels.kind == NUMBER:
                insert_at = np.searchsorted(labels.numbers, new_keys)
                labels = replace(labels, numbers=np.insert(labels.numbers, insert_at, new_keys))
            else:
                insert_at = np.array([bisect_left(labels.texts, key) for key in new_keys], dtype=np.int64)
                texts = list(labels.texts)
                for position, key in zip(insert_at[::-1].tolist(), reversed(new_keys), strict=True):
                    texts.insert(position, key)
                labels = replace(labels, texts=tuple(texts))
            self._ordered = labels, np.insert(places, insert_at, [self.where[key] for key in new_keys])
        self._new.clear()
        return self._ordered

    def glimpse(self, max_labels: int) -> Labels:
        """At most `max_labels` of the labels, unordered: enough to see their kind, and whether they are few."""
        return self._labels(list(islice(self.where, max_labels)))

    def _labels(self, keys: list[Key]) -> Labels:
        if self.kind == MANY:
            return Labels(MANY, self.uncounted)
        if self.kind != NUMBER:
            return Labels(self.kind, tuple(keys))
        return Labels(NUMBER, (), np.array(keys, dtype=np.float64), self.dropped_bits, self.instants)


def labels_of_cell(cell: Value) -> Labels | None:
    """The label of one value that is not missing; None if `encode` has to decide."""
    if isinstance(cell, str):
        return Labels(TEXT, (shown(cell),))
    if isinstance(cell, bool | np.bool_):
        return Labels(BOOLEAN, (shown(cell),))
    if is_number(cell) and -EXACT <= cell <= EXACT:
        return Labels(NUMBER, numbers=np.array([float(cell) + 0.0]))  # no -0.0
    return None


def _bytes_of(key: Key) -> int:
    return len(key.encode(errors="surrogatepass")) if isinstance(key, str) else 0


def _keys(labels: Labels) -> list[Key]:
    if labels.kind == MANY:
        return [None]
    return labels.numbers.tolist() if labels.kind == NUMBER else list(labels.texts)
