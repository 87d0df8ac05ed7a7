"""`CodedTable`: a whole table in memory as codes.

The columns are interpreted as in `rank`: numbers are cut, identifiers and columns of one value are left out. So labels
and cuts depend on the whole table; apart from that, the code of a row does not depend on later rows.

A column has two kinds of codes. `Column.codes` come from encoding and stand for the labels in the order of their codes.
Interpreted codes stand for the values of the interpreted `Feature`: categories or ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.counts.batch import labels_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.column import Column, ColumnLabels
    from credimi.columns.feature import Feature
    from credimi.columns.interpret import InterpretedClasses
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import BooleanArray, IntegerArray
    from credimi.counts.batch import CodedBatch
    from credimi.counts.counts import Counts

    Codes = NDArray[np.int32]

MISSING = -1
_MAX_CACHED_LABELS, _MAX_CACHED_LETTERS = 256, 1 << 12  # larger sets of labels are not cached
_FIRST_ROWS = 4_096  # they contain all values of most columns


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A whole table in memory as codes, with its counts; every column is encoded only once.

    `coded` has codes and labels of each column and of the target, and the weights of the rows. If these are survey
    weights (`is_survey`), they are scaled to as many rows as all of them are worth.
    """

    coded: CodedBatch
    counts: Counts
    is_survey: bool = False

    def classes(self, interpreted: InterpretedClasses | None = None) -> tuple[tuple[str, ...], Codes]:
        """The names of the classes, and the class of each row, MISSING if the row has no class."""
        class_labels, positions = (
            (interpreted.labels, interpreted.positions) if interpreted else labels.typed(self.coded.classes)
        )
        class_of_group = np.append(positions, MISSING).astype(np.int32)
        return class_labels.shown(), class_of_group[self.coded.groups]

    def values(self, feature: Feature) -> Codes:
        """The interpreted code of each row for this feature, MISSING if the value is missing."""
        return values_of(self.coded.columns[feature.name], self.coded.missing, self.labels[feature.name], feature)

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """The labels of each column as they were counted."""
        return dict(zip(self.counts.features, self.counts.labels, strict=True))


def values_of(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The interpreted code of each row of an encoded column.

    `counted_labels` are the labels of the column in the counts. Raises LookupError if later rows changed their
    spelling.
    """
    codes: Codes = np.take(interpreted_by_code(column, missing, counted_labels, feature), column.codes, mode="clip")
    return codes


def interpreted_by_code(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The interpreted code for each code of an encoded column, or MISSING; the last one is for missing values."""
    if column.values <= _MAX_CACHED_LABELS and sum(map(len, column.texts)) <= _MAX_CACHED_LETTERS:
        cached = _cached_interpreted_codes(
            column.without_codes(), missing, counted_labels, feature.typed_as.tobytes(), feature.places.tobytes()
        )
        if cached is not None:
            return cached
    occurs = _codes_that_occur(column.codes[:_FIRST_ROWS], column.values)
    if not occurs.all():
        occurs = _codes_that_occur(column.codes, column.values)
    occurs &= ~missing.among(column)
    return _interpreted_codes(column, occurs, counted_labels, feature.places[feature.typed_as], feature.name)


def _interpreted_codes(
    column: Column, occurs: BooleanArray, counted_labels: Labels, interpreted_values: IntegerArray, name: str
) -> Codes:
    """The same, given which codes occur; `interpreted_values` has the interpreted code of each counted label."""
    occurring_labels, positions = labels_of(column, occurs)
    merged, merged_position, _ = labels.union(occurring_labels, counted_labels)
    if len(merged) != len(counted_labels):
        raise LookupError(name)
    interpreted_codes = np.full(column.values + 1, MISSING, dtype=np.int32)
    interpreted_codes[:-1][occurs] = interpreted_values[merged_position[positions]]
    return interpreted_codes


@lru_cache(maxsize=1 << 9)
def _cached_interpreted_codes(
    column_labels: ColumnLabels,
    missing: MissingValues,
    counted_labels: Labels,
    typed_as: bytes,
    places: bytes,
) -> Codes | None:
    """The same with a cache, as many columns have the same labels; None if the result depends on which occur."""
    column = column_labels.column()
    interpreted_values = np.frombuffer(places, dtype=np.int64)[np.frombuffer(typed_as, dtype=np.int64)]
    try:
        interpreted_codes = _interpreted_codes(column, ~missing.among(column), counted_labels, interpreted_values, "")
    except LookupError:
        return None
    interpreted_codes.flags.writeable = False
    return interpreted_codes


def _codes_that_occur(codes: NDArray[np.unsignedinteger], value_count: int) -> BooleanArray:
    """Which of the codes below `value_count` occur."""
    occurs: BooleanArray = np.bincount(np.minimum(codes, value_count), minlength=value_count + 1)[:-1] > 0
    return occurs
