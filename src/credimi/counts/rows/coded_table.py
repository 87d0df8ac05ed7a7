"""`CodedTable`: a whole table in memory as codes; `rows_of`: the same row by row, for callers that need the rows again.

The columns are settled as in `rank`: numbers are cut, identifiers and columns of one value are left out. So labels and
cuts depend on the whole table; apart from that, the code of a row does not depend on later rows.

A column has two kinds of codes. `Column.codes` come from encoding and stand for the labels in the order of their codes.
Settled codes stand for the values of the settled `Feature`: categories or ranges.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counts.batch import labels_of
from credimi.sources.count import source, with_target_cuts
from credimi.sources import sparse_matrices
from credimi.counts.request import CountRequest
from credimi.counts.rows.coded_parts import coded_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column, ColumnLabels
    from credimi.columns.feature import Feature
    from credimi.columns.interpret import SettledClasses
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import BooleanArray, Data, IntegerArray, Option, Record
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

    @classmethod
    def of(cls, data: Data, request: CountRequest) -> CodedTable:
        """A table from what `credimi.count` accepts."""
        if sparse_matrices.reads(data):
            raise CredimiError("a sparse matrix cannot be read row by row: pass X.toarray()")
        plan, parts = source(data, with_target_cuts(data, request))
        return cls(*coded_parts(list(parts), plan, request.threads))

    def classes(self, settled: SettledClasses | None = None) -> tuple[tuple[str, ...], Codes]:
        """The names of the classes, and the class of each row, MISSING if the row has no class."""
        class_labels, positions = (settled.labels, settled.positions) if settled else labels.typed(self.coded.classes)
        class_of_group = np.append(positions, MISSING).astype(np.int32)
        return class_labels.shown(), class_of_group[self.coded.groups]

    def values(self, feature: Feature) -> Codes:
        """The settled code of each row for this feature, MISSING if the value is missing."""
        return values_of(self.coded.columns[feature.name], self.coded.missing, self.labels[feature.name], feature)

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """The labels of each column as they were counted."""
        return dict(zip(self.counts.features, self.counts.labels, strict=True))


def values_of(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The settled code of each row of an encoded column.

    `counted_labels` are the labels of the column in the counts. Raises LookupError if later rows changed their
    spelling.
    """
    codes: Codes = np.take(settled_by_code(column, missing, counted_labels, feature), column.codes, mode="clip")
    return codes


def settled_by_code(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The settled code for each code of an encoded column, or MISSING; the last one is for missing values."""
    if column.values <= _MAX_CACHED_LABELS and sum(map(len, column.texts)) <= _MAX_CACHED_LETTERS:
        cached = _cached_settled_codes(
            column.without_codes(), missing, counted_labels, feature.typed_as.tobytes(), feature.places.tobytes()
        )
        if cached is not None:
            return cached
    occurs = _codes_that_occur(column.codes[:_FIRST_ROWS], column.values)
    if not occurs.all():
        occurs = _codes_that_occur(column.codes, column.values)
    occurs &= ~missing.among(column)
    return _settled_codes(column, occurs, counted_labels, feature.places[feature.typed_as], feature.name)


def _settled_codes(
    column: Column, occurs: BooleanArray, counted_labels: Labels, settled_values: IntegerArray, name: str
) -> Codes:
    """The same, given which codes occur; `settled_values` has the settled code of each counted label."""
    occurring_labels, positions = labels_of(column, occurs)
    merged, merged_position, _ = labels.union(occurring_labels, counted_labels)
    if len(merged) != len(counted_labels):
        raise LookupError(name)
    settled_codes = np.full(column.values + 1, MISSING, dtype=np.int32)
    settled_codes[:-1][occurs] = settled_values[merged_position[positions]]
    return settled_codes


@lru_cache(maxsize=1 << 9)
def _cached_settled_codes(
    column_labels: ColumnLabels,
    missing: MissingValues,
    counted_labels: Labels,
    typed_as: bytes,
    places: bytes,
) -> Codes | None:
    """The same with a cache, as many columns have the same labels; None if the result depends on which occur."""
    column = column_labels.column()
    settled_values = np.frombuffer(places, dtype=np.int64)[np.frombuffer(typed_as, dtype=np.int64)]
    try:
        settled_codes = _settled_codes(column, ~missing.among(column), counted_labels, settled_values, "")
    except LookupError:
        return None
    settled_codes.flags.writeable = False
    return settled_codes


def _codes_that_occur(codes: NDArray[np.unsignedinteger], value_count: int) -> BooleanArray:
    """Which of the codes below `value_count` occur."""
    occurs: BooleanArray = np.bincount(np.minimum(codes, value_count), minlength=value_count + 1)[:-1] > 0
    return occurs


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Codes of the rows that have a target; `values[j]` are the names of the codes of feature j."""

    codes: Codes  # rows x features, MISSING if the value is missing
    target: Codes
    features: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    left_out: dict[str, Record]  # the facts of the columns that are left out (see `Feature`)
    without_target: int = 0

    def __len__(self) -> int:
        return self.target.size

    @property
    def missing(self) -> int:
        """How many cells are missing."""
        return int(np.count_nonzero(self.codes == MISSING))


def rows_of(
    data: Data,
    target: object,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    missing_values: Iterable[str | float],
    discretize: str | Mapping[str, object] | None = "mdl",
    target_cuts: Option = None,
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Rows:
    """The rows of what `credimi.count` accepts, as codes."""
    options: Record = {"features": features, "exclude": exclude, "missing_values": missing_values}
    options |= {"discretize": discretize, "target_cuts": target_cuts, "delimiter": delimiter}
    options |= {"threads": threads, "progress": progress}
    table = CodedTable.of(data, CountRequest.of(target, **options))
    target_classes = table.counts.settled_classes() if table.counts.rows else None
    settled = table.counts.settled(classes=target_classes) if target_classes else []
    useful = [feature for feature in settled if not feature.useless]
    classes, row_classes = table.classes(target_classes)
    has_target = row_classes != MISSING
    columns = [table.values(feature) for feature in useful]
    codes = np.column_stack(columns) if columns else np.zeros((row_classes.size, 0), dtype=np.int32)
    return Rows(
        codes[has_target],
        row_classes[has_target],
        tuple(feature.name for feature in useful),
        tuple(feature.values for feature in useful),
        classes,
        {feature.name: feature.facts for feature in settled if feature.useless},
        int(np.count_nonzero(~has_target)),
    )
