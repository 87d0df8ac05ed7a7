"""What classifiers share: their classes, as values of y, how they predict and how they are scored."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from credimi.columns.encode import encode
from credimi.columns.interpret import look_like_row_names, look_measured
from credimi.columns.labels import BOOLEAN, NUMBER, TEXT, Labels, of_numbers, of_texts, typed, union
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.estimators.counted_xy import labelled, share_right
from credimi.estimators.validation import checked_target, checked_weights

if TYPE_CHECKING:
    from credimi.columns.column import Column
    from credimi.columns.missing import MissingValues
    from credimi.core.types import AnyArray, Data, FloatArray, Foreign, IntegerArray, Value, Values
    from credimi.counts.counts import Counts


@stored
class Classes:
    """The classes so far, in order. A class that occurred once stays, even if its rows are removed."""

    def __init__(self) -> None:
        self.labels = Labels(TEXT)
        self._like: Values = None  # an array of one element, with the type of y
        self._array: AnyArray | None = None
        self._positions: tuple[Labels | None, IntegerArray] = (None, np.zeros(0, dtype=np.int64))

    def observe(self, values: Values) -> None:
        """Remember the type of y, if it is not known yet."""
        if self._like is None:
            self._like = _example(values)

    def declare(self, values: Values) -> None:
        """Add classes that may occur."""
        array = np.asarray(values)
        self.observe(array)
        column = encode(array, "classes")
        self.add(_sorted_labels(column)[0])

    def add(self, labels: Labels) -> None:
        """Add classes that occurred."""
        typed_labels = typed(labels)[0]
        if typed_labels.kind == NUMBER and not typed_labels.integral:
            raise CredimiError(
                f"Unknown label type: continuous. y holds {typed_labels.noun} such as {typed_labels.shown()[0]}, not "
                "classes: cut it into a few ranges first"
            )
        self.labels = union(self.labels, typed_labels)[0]
        self._array, self._positions = None, (None, self._positions[1])

    def positions(self, labels: Labels) -> IntegerArray:
        """The positions of these labels among the classes."""
        if self._positions[0] is not labels:
            self._positions = labels, union(self.labels, typed(labels)[0])[2]
        return self._positions[1]

    def codes(self, values: Values) -> IntegerArray:
        """The position of the class of each value, -1 if it is unknown."""
        column = encode(values, "y")
        column_labels, positions = _sorted_labels(column)
        merged, in_known, in_column = union(self.labels, column_labels)
        class_of_merged = np.full(len(merged), -1, dtype=np.int64)
        class_of_merged[in_known] = np.arange(len(self.labels))
        return np.append(class_of_merged[in_column[positions]], -1)[np.minimum(column.codes, column.values)]

    def array(self) -> AnyArray:
        """The classes as values of y."""
        if self._array is None:
            self._array = self._in_type_of_y()
        return self._array

    def _in_type_of_y(self) -> AnyArray:
        if self.labels.kind == NUMBER:
            is_float = self._like is not None and self._like.dtype.kind == "f"
            return self.labels.numbers.astype(np.float64 if is_float else np.int64)
        if self.labels.kind == BOOLEAN:
            return np.array([is_text == "true" for is_text in self.labels.texts])
        is_text = self._like is not None and self._like.dtype.kind == "U"
        return np.array(self.labels.texts, dtype=np.str_ if is_text else object)


class Classifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # scikit-learn carries no types
    """What classifiers do alike; each says what it finds of each class (`_figures`), and what means missing in y."""

    unlabeled: Value
    _known: Classes

    @property
    def classes_(self) -> AnyArray:
        """The classes, in order."""
        check_is_fitted(self)
        return self._known.array()

    def predict(self, X: Data) -> AnyArray:
        """The most probable class of each row; the first one if several are equal."""
        return np.asarray(self.classes_[self._figures(X).argmax(axis=1)])

    def score(self, X: Data, y: Values, sample_weight: Values = None) -> float:
        """The share of correct predictions among the rows whose class is known.

        `cross_val_score` does the same; NaN in y needs splits that do not look at it, such as `cv=KFold(5)`.
        """
        predicted = self._figures(X).argmax(axis=1)
        target = checked_target(y, predicted.size, type(self).__name__)
        weights = checked_weights(sample_weight, predicted.size)
        known = labelled(target, self._missing_in_y(), self.unlabeled)
        return share_right(predicted, self._known.codes(target), known, weights)

    def __sklearn_tags__(self) -> Foreign:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _figures(self, X: Data) -> FloatArray:
        """(rows, classes): larger for classes that are more probable."""
        raise NotImplementedError

    def _missing_in_y(self) -> MissingValues:
        raise NotImplementedError


def warn_if_measured(counts: Counts, how: str = "first") -> None:
    """Warn the caller of `fit` if the classes look like a measurement; `how` says how it can be cut into ranges."""
    if counts.settings.target_cuts is None and look_measured(counts.classes):
        message = (
            f"the target {counts.target!r} has {len(counts.classes):,} classes, all of them numbers, and looks like a "
            f"measurement: cut it into a few ranges {how}"
        )
        warnings.warn(message, UserWarning, stacklevel=3)
    if look_like_row_names(counts.classes, counts.rows):
        message = (
            f"the target {counts.target!r} has {len(counts.classes):,} classes, with fewer than two rows each on "
            "average, and looks like an identifier: nothing can be learned about classes of one row"
        )
        warnings.warn(message, UserWarning, stacklevel=3)


def _sorted_labels(column: Column) -> tuple[Labels, IntegerArray]:
    """The labels in order, and the position of each of the column's labels."""
    return of_texts(column.texts, column.kind) if column.numbers is None else of_numbers(column.numbers)


def _example(values: Values) -> AnyArray:
    """An array of one element, with the type that the classes should have: integers, floats, text or objects."""
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype):  # Arrow's type, or codes with their values
        dictionary = getattr(values, "values", None)
        arrow_type = str(getattr(values, "type", getattr(dictionary, "type", "")))
        dtype = np.dtype(float) if arrow_type in {"double", "float", "halffloat"} else np.dtype(object)
    if dtype.kind == "O" and isinstance(values, np.ndarray):
        floats = any(isinstance(value, float) and value == value for value in values.tolist())  # noqa: PLR0124  (NaN)
        dtype = np.dtype(float) if floats else dtype
    return np.zeros(1, dtype=dtype)
