"""`CodedTable`: a whole table in memory as codes; `rows_of`: the same row by row, for callers that need the rows again.

The columns are settled as in `rank`: numbers are cut, identifiers and columns of one value are left out. So the labels
and the cuts are those of the whole table; apart from that, a row's code does not depend on later rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns import labels
from credimi.columns.column import PrecodedColumn, UnreadableColumn
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counting.batch import Batch, count_coded, encode_batch, labels_of
from credimi.counting.count import source, with_target_cuts
from credimi.counting.engines import sparse_matrices
from credimi.counting.request import CountRequest
from credimi.counting.weights import weighted, worth_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column, ColumnLabels, ColumnValues
    from credimi.columns.feature import Feature
    from credimi.columns.interpret import SettledClasses
    from credimi.columns.labels import Labels
    from credimi.columns.missing import MissingValues
    from credimi.core.types import BooleanArray, Data, Foreign, IntegerArray, Option, Record
    from credimi.counting.batch import CodedBatch
    from credimi.counting.counts import Counts

    Codes = NDArray[np.int32]

MISSING = -1
_SHORT, _LETTERS = 256, 1 << 12  # the most labels whose places are remembered, and their letters
_FIRST_ROWS = 4_096  # in which all values of most columns occur already


@dataclass(frozen=True, eq=False)
class CodedTable:
    """A whole table in memory as codes, with its counts: every column is encoded once, whatever is asked of it.

    `coded` has codes and labels of each column and of the target, and the rows' weights.
    """

    coded: CodedBatch
    counts: Counts

    @classmethod
    def of(cls, data: Data, request: CountRequest) -> CodedTable:
        """A table from what `credimi.count` accepts."""
        if sparse_matrices.reads(data):
            raise CredimiError("a sparse matrix cannot be read row by row: pass X.toarray()")
        plan, parts = source(data, with_target_cuts(data, request))
        batch = next(weighted([_joined(list(parts), plan.wanted)], plan.settings))
        if batch.weights is not None:
            batch = replace(batch, weights=worth_rows(batch.weights, plan.settings))
        coded = without_values_of_no_weight(encode_batch(batch, plan, threads=request.threads))
        return cls(coded, count_coded(coded, threads=request.threads))

    def classes(self, settled: SettledClasses | None = None) -> tuple[tuple[str, ...], Codes]:
        """The names of the classes, and the class of each row, MISSING if it has none."""
        named, onward = (settled.labels, settled.positions) if settled else labels.typed(self.coded.classes)
        moved = np.append(onward, MISSING).astype(np.int32)
        return named.shown(), moved[self.coded.groups]

    def values(self, feature: Feature) -> Codes:
        """The value of a settled feature in each row, as a code, MISSING if there is none."""
        return values_of(self.coded.columns[feature.name], self.coded.missing, self.labels[feature.name], feature)

    @cached_property
    def labels(self) -> dict[str, Labels]:
        """The labels of each column as they were counted."""
        return dict(zip(self.counts.features, self.counts.labels, strict=True))


def without_values_of_no_weight(coded: CodedBatch) -> CodedBatch:
    """The same rows; what only rows of weight 0 have is no label, as in the counts."""
    if coded.weights is None or coded.weights.all():
        return coded
    weightless = coded.weights == 0.0
    columns = {
        name: replace(each, codes=np.where(weightless, np.iinfo(each.codes.dtype).max, each.codes))
        for name, each in coded.columns.items()
    }
    return replace(coded, columns=columns)


def values_of(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """The value of the settled feature in each row of an encoded column.

    `counted_labels` are the column's labels in the counts. A LookupError if later rows have changed their spelling.
    """
    found: Codes = np.take(settled_places(column, missing, counted_labels, feature), column.codes, mode="clip")
    return found


def settled_places(column: Column, missing: MissingValues, counted_labels: Labels, feature: Feature) -> Codes:
    """For each code of an encoded column, missing last, the value of the settled feature, or MISSING."""
    if column.values <= _SHORT and sum(map(len, column.texts)) <= _LETTERS:
        found = _known_places(
            column.without_codes(), missing, counted_labels, feature.typed_as.tobytes(), feature.places.tobytes()
        )
        if found is not None:
            return found
    known = _occur(column.codes[:_FIRST_ROWS], column.values)
    if not known.all():
        known = _occur(column.codes, column.values)
    known &= ~missing.among(column)
    return _places(column, known, counted_labels, feature.places[feature.typed_as], feature.name)


def _places(column: Column, known: BooleanArray, counted_labels: Labels, settled: IntegerArray, name: str) -> Codes:
    """The same, if it is known which codes occur; `settled` has the value of each label that was counted."""
    here, positions = labels_of(column, known)
    merged, onward, _ = labels.union(here, counted_labels)
    if len(merged) != len(counted_labels):
        raise LookupError(name)
    moved = np.full(column.values + 1, MISSING, dtype=np.int32)
    moved[:-1][known] = settled[onward[positions]]
    return moved


@lru_cache(maxsize=1 << 9)
def _known_places(
    alike: ColumnLabels,
    missing: MissingValues,
    counted_labels: Labels,
    typed_as: bytes,
    places: bytes,
) -> Codes | None:
    """The same with a cache, as many columns have the same labels; None if it matters which of them occur."""
    column = alike.column()
    settled = np.frombuffer(places, dtype=np.int64)[np.frombuffer(typed_as, dtype=np.int64)]
    try:
        found = _places(column, ~missing.among(column), counted_labels, settled, "")
    except LookupError:
        return None
    found.flags.writeable = False
    return found


def _occur(codes: NDArray[np.unsignedinteger], values: int) -> BooleanArray:
    """Which codes of values occur."""
    found: BooleanArray = np.bincount(np.minimum(codes, values), minlength=values + 1)[:-1] > 0
    return found


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Codes of the rows that have a target. `values[j]` names the codes of feature j, `classes` those of the target."""

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
    asked: Record = {"features": features, "exclude": exclude, "missing_values": missing_values}
    asked |= {"discretize": discretize, "target_cuts": target_cuts, "delimiter": delimiter}
    asked |= {"threads": threads, "progress": progress}
    table = CodedTable.of(data, CountRequest.of(target, **asked))
    target_classes = table.counts.settled_classes() if table.counts.rows else None
    settled = table.counts.settled(classes=target_classes) if target_classes else []
    kept = [feature for feature in settled if not feature.useless]
    classes, answers = table.classes(target_classes)
    seen = answers != MISSING
    columns = [table.values(feature) for feature in kept]
    codes = np.column_stack(columns) if columns else np.zeros((answers.size, 0), dtype=np.int32)
    return Rows(
        codes[seen],
        answers[seen],
        tuple(feature.name for feature in kept),
        tuple(feature.values for feature in kept),
        classes,
        {feature.name: feature.facts for feature in settled if feature.useless},
        int(np.count_nonzero(~seen)),
    )


def _joined(parts: list[Batch], wanted: Sequence[str]) -> Batch:
    """One batch of all rows."""
    if not parts:
        raise CredimiError("there are no rows: nothing can be learned")
    if len(parts) == 1:
        return parts[0]
    columns = {name: _column([part.columns[name] for part in parts]) for name in wanted}
    return Batch(columns, sum(part.rows for part in parts), parts[0].raw, parts[0].cells, parts[0].fault)


def _column(parts: list[Foreign]) -> ColumnValues:
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    if isinstance(parts[0], UnreadableColumn):
        return UnreadableColumn(np.concatenate([part.seen for part in parts]), parts[0].fault)
    if isinstance(parts[0], PrecodedColumn):
        return PrecodedColumn(np.concatenate([part.codes for part in parts]), parts[0].values)
    arrays = [chunk for part in parts for chunk in (part.chunks if isinstance(part, pa.ChunkedArray) else [part])]
    return pa.chunked_array(arrays)
