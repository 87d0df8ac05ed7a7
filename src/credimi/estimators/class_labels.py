"""The classes that a classifier knows: those that were named and those that came, as the values that y has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.encode import encode
from credimi.columns.labels import BOOLEAN, NUMBER, TEXT, Labels, of_numbers, of_texts, typed, union
from credimi.core.errors import CredimiError
from credimi.core.public import stored

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.core.types import AnyArray, Values


@stored
class Classes:
    """The classes so far, in order. A class that came once stays, whether or not its rows are taken away."""

    def __init__(self) -> None:
        self.labels = Labels(TEXT)
        self._like: Values = None  # an array of values as y has them
        self._array: AnyArray | None = None
        self._positions: tuple[Labels | None, NDArray[np.int64]] = (None, np.zeros(0, dtype=np.int64))

    def observe(self, values: Values) -> None:
        """Take the type of y from its values, if it is not known yet."""
        if self._like is None:
            self._like = _example(values)

    def declare(self, values: Values) -> None:
        """Classes that may come."""
        array = np.asarray(values)
        self.observe(array)
        column = encode(array, "classes")
        self.add(_sorted_labels(column)[0])

    def add(self, labels: Labels) -> None:
        """Classes that came."""
        found = typed(labels)[0]
        if found.kind == NUMBER and not found.integral:
            raise CredimiError(
                f"Unknown label type: continuous. y holds numbers such as {found.shown()[0]}, not classes: cut it into "
                "a few ranges first"
            )
        self.labels = union(self.labels, found)[0]
        self._array, self._positions = None, (None, self._positions[1])

    def positions(self, labels: Labels) -> NDArray[np.int64]:
        """Where these labels stand among the classes."""
        if self._positions[0] is not labels:
            self._positions = labels, union(self.labels, typed(labels)[0])[2]
        return self._positions[1]

    def codes(self, values: Values) -> NDArray[np.int64]:
        """Of each value the place of its class, -1 where it is none that is known."""
        column = encode(values, "y")
        own, positions = _sorted_labels(column)
        merged, in_known, in_own = union(self.labels, own)
        places = np.full(len(merged), -1, dtype=np.int64)
        places[in_known] = np.arange(len(self.labels))
        return np.append(places[in_own[positions]], -1)[np.minimum(column.codes, column.values)]

    def array(self) -> AnyArray:
        """The classes as y has them."""
        if self._array is None:
            self._array = self._as_y_has_them()
        return self._array

    def _as_y_has_them(self) -> AnyArray:
        if self.labels.kind == NUMBER:
            fractions = self._like is not None and self._like.dtype.kind == "f"
            return self.labels.numbers.astype(np.float64 if fractions else np.int64)
        if self.labels.kind == BOOLEAN:
            return np.array([text == "true" for text in self.labels.texts])
        text = self._like is not None and self._like.dtype.kind == "U"
        return np.array(self.labels.texts, dtype=np.str_ if text else object)


def _sorted_labels(column: Column) -> tuple[Labels, NDArray[np.int64]]:
    """The labels in order, and where each of the column's has gone."""
    return of_texts(column.texts, column.kind) if column.numbers is None else of_numbers(column.numbers)


def _example(values: Values) -> AnyArray:
    """An empty array of the type that the values have: whole numbers, others, text, or anything."""
    kind = getattr(values, "dtype", None)
    if not isinstance(kind, np.dtype):  # Arrow's, or codes with their values
        of_values = getattr(values, "values", None)
        arrow = str(getattr(values, "type", getattr(of_values, "type", "")))
        kind = np.dtype(float) if arrow in {"double", "float", "halffloat"} else np.dtype(object)
    if kind.kind == "O" and isinstance(values, np.ndarray):
        floats = any(isinstance(value, float) and value == value for value in values.tolist())  # noqa: PLR0124  (NaN)
        kind = np.dtype(float) if floats else kind
    return np.zeros(1, dtype=kind)
