"""`Codes`: rows as small integers, column by column. This is the one shape in which rows are kept.

A column of s values has the codes 0 .. s - 1, and s where the value is missing; the target's r classes have 0 .. r - 1,
and r where the class is missing. Codes of up to 255 values are bytes, others have two bytes. What they mean is in a
`Codebook`: the classes, and the columns as they are interpreted (categories, or ranges of numbers).

From rows to codes there are two steps. `batch.encode_batch` gives each label of a part of the rows a code of its own
(`CodedBatch`), and `count_coded` counts these. The counts of all rows say which values a column has, where numbers are
cut, and what is no feature: this makes the codebook. Then the codebook turns encoded parts into `Codes`. Parts may be
anywhere: a codebook can be sent to workers. A table in memory is one part, and is encoded once for both steps
(`EncodedTable`); scratch files and clusters need two passes (`rows.code_store`).

Arrays of the length of the table are in memory or in scratch files (`Codes.storage`); both are arrays of numpy, so that
nobody has to know which. Questions do not look at codes: they ask a `counter`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.columns.arrow_buffers import code_type
from credimi.columns.feature import CutBy
from credimi.columns.labels import NUMBER
from credimi.core.defaults import DISCRETIZE
from credimi.core.errors import CredimiError
from credimi.core.threads import share
from credimi.counts.batch import labels_of
from credimi.counts.rows.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.columns.feature import Feature
    from credimi.columns.interpret import InterpretedClasses
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.columns.reading_options import Methods, ReadingOptions
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.counts.batch import CodedBatch
    from credimi.counts.counts import Counts

    CodeArray = NDArray[np.unsignedinteger]

_FIRST_ROWS = 4_096  # they contain all values of most columns
_MAX_NARROW = 255  # values of a column of bytes
_COLUMNS_AT_ONCE, _CELLS_AT_ONCE = 64, 1 << 20
_BINARY_VALUES = 2  # a cut between two values is the same as a split by value
_LOOK_AT_CLASSES = (DISCRETIZE, "mdl")  # cut numbers by what they tell: a tree does so in its nodes
_CHEAP_METHOD = "quantile"  # a fast way to cut, for columns whose cuts are not used


@dataclass(frozen=True, slots=True, eq=False)
class EncodedTable:
    """All rows of a table, encoded once, with their counts; survey weights are scaled to the rows they are worth."""

    coded: CodedBatch
    counts: Counts
    is_survey: bool = False

    def codes(self, threads: int | None = None, book: Codebook | None = None) -> Codes:
        """The rows as codes, by a codebook of these counts; by default, that of all columns that are ranked."""
        codes = (book or Codebook.of(self.counts, threads=threads)).codes(self.coded, threads)
        return replace(codes, is_survey=self.is_survey)


def _is_ranked(feature: Feature) -> bool:
    return feature.kind.ranked


@dataclass(frozen=True, slots=True, eq=False)
class Codebook:
    """What codes mean: the classes of a target, and its `features`; `left_out` are the columns that have no codes.

    `labels` are those of the features as they were counted, and `places` has the code of each of them; `sizes` has the
    number of codes of each feature, without that of a missing value.
    """

    target: str
    settings: ReadingOptions
    counted_classes: Labels
    interpreted: InterpretedClasses
    features: tuple[Feature, ...]
    labels: tuple[Labels, ...]
    places: tuple[IntegerArray, ...]
    sizes: IntegerArray
    left_out: tuple[Feature, ...] = ()

    @classmethod
    def of(
        cls,
        counts: Counts,
        *,
        least_classes: int = 2,
        wanted: Callable[[Feature], bool] = _is_ranked,
        uncut: bool = False,
        threads: int | None = None,
    ) -> Codebook:
        """The codebook of the wanted columns, from the counts of all rows.

        If `uncut`, numbers that are cut by what they tell keep all their values: a tree cuts them in its nodes.
        """
        counts = replace(counts, settings=counts.settings.in_ranges)
        settings, classes = counts.settings, counts.interpreted_classes(least_classes)
        if uncut:  # which cuts there would be does not matter
            cheap = replace(settings, discretize=_with_cheap_cuts(settings.discretize))
            counts = replace(counts, settings=cheap)
        interpreted = counts.interpreted(classes=classes, threads=threads)
        features = tuple(feature for feature in interpreted if wanted(feature))
        keeps_numbers = [uncut and keeps_all_numbers(feature, settings) for feature in features]
        labels_of_column = dict(zip(counts.features, counts.labels, strict=True))
        return cls(
            counts.target,
            settings,
            counts.classes,
            classes,
            features,
            tuple(labels_of_column[feature.name] for feature in features),
            tuple(
                feature.typed_as if keep else feature.counted_places
                for feature, keep in zip(features, keeps_numbers, strict=True)
            ),
            np.array(
                [
                    len(feature.labels if keep else feature.values)
                    for feature, keep in zip(features, keeps_numbers, strict=True)
                ],
                dtype=np.int64,
            ),
            tuple(feature for feature in interpreted if not wanted(feature)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.interpreted.labels.shown()

    @property
    def bare(self) -> Codebook:
        """The same without what the values mean: all that is needed to count codes, and small whatever the labels."""
        return replace(self, features=(), labels=(), places=(), left_out=())

    def chosen(self, order: Sequence[int]) -> Codebook:
        """The same with some of the features, in this order."""
        known = order if self.features else ()  # not if it is bare
        features, counted = tuple(self.features[index] for index in known), tuple(self.labels[index] for index in known)
        places = tuple(self.places[index] for index in known)
        return replace(self, features=features, labels=counted, places=places, sizes=self.sizes[list(order)])

    @property
    def order_by_name(self) -> tuple[int, ...]:
        """The order of the columns by their names, for what must not depend on their order."""
        return tuple(sorted(range(len(self.features)), key=lambda column: self.names[column]))

    def codes(self, coded: CodedBatch, threads: int | None = None) -> Codes:
        """The codes of encoded rows, wherever these are from."""
        narrow, wide, columns = self.empty_columns(coded.rows)

        def work(indices: range) -> None:
            # Most columns have the same codes as the previous one.
            previous, is_identity = None, False
            for index in indices:
                column, out = coded.columns[self.features[index].name], columns[index]
                new_code = self._new_codes(index, column, coded.missing)
                if new_code is not previous:
                    previous, is_identity = new_code, np.array_equal(new_code, np.arange(new_code.size))
                if column.codes.dtype == out.dtype and is_identity:
                    np.minimum(column.codes, out.dtype.type(new_code.size - 1), out=out)
                else:
                    np.take(new_code, column.codes, out=out, mode="clip")

        step = max(min(_COLUMNS_AT_ONCE, _CELLS_AT_ONCE // max(coded.rows, 1)), 1)
        count = len(columns)
        share(work, [range(start, min(start + step, count)) for start in range(0, count, step)], threads)
        return Codes(self, self._classes(coded), columns, coded.weights, matrix=None if len(wide) else narrow)

    def empty_columns(
        self, rows: int, storage: Storage | None = None
    ) -> tuple[NDArray[np.uint8], NDArray[np.uint16], tuple[CodeArray, ...]]:
        """Room for the codes of rows: the columns of one byte, those of two, and all of them in their order."""
        is_narrow = self.sizes <= _MAX_NARROW
        count = int(is_narrow.sum())
        if storage is None:
            narrow, wide = np.empty((count, rows), dtype=np.uint8), np.empty((is_narrow.size - count, rows), np.uint16)
        else:
            narrow = storage.zeros((count, rows), np.uint8)
            wide = storage.zeros((is_narrow.size - count, rows), np.uint16)
        lines: tuple[Iterator[CodeArray], Iterator[CodeArray]] = iter(wide), iter(narrow)
        return narrow, wide, tuple(next(lines[in_narrow]) for in_narrow in is_narrow.tolist())

    def _new_codes(self, index: int, column: Column, missing: MissingValues) -> CodeArray:
        try:
            return recoded(column, missing, self.labels[index], self.places[index], int(self.sizes[index]))
        except LookupError:
            raise CredimiError(
                f"column {self.features[index].name!r} looks different in parts of the data than in all of them: "
                "exclude it, or give it one kind of values"
            ) from None

    def _classes(self, coded: CodedBatch) -> CodeArray:
        """The class of each row; the number of classes if it is missing."""
        missing = len(self.interpreted.labels)
        _, own_positions, counted_positions = labels.union(coded.classes, self.counted_classes)
        class_of_merged = np.full(int(counted_positions.max(initial=-1)) + 1, missing)
        class_of_merged[counted_positions] = self.interpreted.positions
        class_of_group = np.append(class_of_merged[own_positions], missing)
        class_of_group[class_of_group < 0] = missing
        codes: CodeArray = class_of_group.astype(code_type(missing))[coded.groups]
        return codes


@dataclass(frozen=True, eq=False)
class Codes:
    """Rows as codes: `groups` are the classes, `columns` the values of each feature of the codebook, row by row."""

    book: Codebook
    groups: CodeArray
    columns: tuple[CodeArray, ...]
    weights: FloatArray | None = None
    is_survey: bool = False  # whether the weights are survey weights
    matrix: NDArray[np.uint8] | None = None  # the same columns as one array, if all have codes of one byte
    storage: Storage = field(default_factory=Storage)  # where further arrays of the length of the table are stored

    @property
    def features(self) -> tuple[Feature, ...]:
        """The columns."""
        return self.book.features

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""
        return self.book.names

    @property
    def sizes(self) -> IntegerArray:
        """How many values each column has."""
        return self.book.sizes

    @property
    def left_out(self) -> tuple[Feature, ...]:
        """The columns that have no codes: identifiers, columns of one value, and others that are no features."""
        return self.book.left_out

    @property
    def target(self) -> str:
        """The target's name."""
        return self.book.target

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.book.classes

    @property
    def rows(self) -> int | float:
        """The number of rows, or the sum of their weights."""
        return self.groups.size if self.weights is None else float(self.weights.sum())

    @property
    def squares(self) -> float:
        """The sum of the squares of the weights."""
        return float(self.groups.size if self.weights is None else self.weights @ self.weights)

    def chosen(self, rows: IntegerArray) -> Codes:
        """Some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        columns = tuple(codes[rows] for codes in self.columns)
        return Codes(self.book, self.groups[rows], columns, weights, self.is_survey)

    def with_columns(self, order: Sequence[int]) -> Codes:
        """The same with some of the columns, in this order."""
        columns = tuple(self.columns[index] for index in order)
        return replace(self, book=self.book.chosen(order), columns=columns, matrix=None)


def recoded(
    column: Column, missing: MissingValues, counted_labels: Labels, places: IntegerArray, size: int
) -> CodeArray:
    """The new code for each code of an encoded column: the place of its label, `size` if missing; missing comes last.

    `counted_labels` are the labels of the column in the counts of all rows, and `places` has the new code of each.
    Raises LookupError if other rows changed how they are spelled.
    """
    occurs = _occurs(column.codes[:_FIRST_ROWS], column.values)
    if not occurs.all():
        occurs = _occurs(column.codes, column.values)
    occurs &= ~missing.among(column)
    occurring_labels, positions = labels_of(column, occurs)
    merged, merged_position, counted_position = labels.union(occurring_labels, counted_labels)
    if len(merged) != len(counted_labels):
        raise LookupError(column.kind)
    place_of_merged = np.zeros(len(merged), dtype=np.int64)
    place_of_merged[counted_position] = places
    new_code: CodeArray = np.full(column.values + 1, size, dtype=code_type(size))
    new_code[:-1][occurs] = place_of_merged[merged_position[positions]]
    return new_code


def _occurs(codes: CodeArray, value_count: int) -> BooleanArray:
    """Which of the codes below `value_count` occur."""
    occurs: BooleanArray = np.bincount(np.minimum(codes, value_count), minlength=value_count + 1)[:-1] > 0
    return occurs


def keeps_all_numbers(feature: Feature, settings: ReadingOptions) -> bool:
    """Whether a tree cuts this column of numbers in its nodes, also whole numbers if there are more than two.

    A split by each of a few whole numbers would give small nodes, and it would ignore the order of the numbers.
    """
    whole = feature.cut_by is None and feature.labels.kind == NUMBER and len(feature.labels) > _BINARY_VALUES
    return settings.method(feature.name) in _LOOK_AT_CLASSES and (whole or feature.cut_by == CutBy.QUANTILE)


def _with_cheap_cuts(discretize: Methods) -> Methods:
    """The same methods, with a fast one for the columns that are cut in the nodes."""
    if isinstance(discretize, dict):
        methods = {
            column: _CHEAP_METHOD if method in _LOOK_AT_CLASSES else method for column, method in discretize.items()
        }
        return {"*": _CHEAP_METHOD} | methods
    return _CHEAP_METHOD if discretize in _LOOK_AT_CLASSES else discretize
