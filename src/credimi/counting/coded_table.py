"""`CodedTable`: a whole table in memory as codes; `rows_of`: the same row by row, for what goes through them.

The columns are settled as `rank` settles them: numbers are cut, identifiers and columns of one value are left out. So
the labels, and the cuts, are those of the whole table: a row's code says nothing of later rows but this.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns import labels
from credimi.columns.column import PrecodedColumn, UnreadableColumn
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.counting.batch import Batch, count_coded, encode_batch, labels_of
from credimi.counting.count import source
from credimi.counting.request import CountRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import ColumnValues
    from credimi.columns.feature import Feature
    from credimi.columns.interpret import SettledClasses
    from credimi.core.types import Data, Foreign, Record
    from credimi.counting.batch import CodedBatch
    from credimi.counting.counts import Counts

    Codes = NDArray[np.int32]

MISSING = -1


@dataclass(frozen=True, slots=True, eq=False)
class CodedTable:
    """A whole table in memory as codes, and its counts: every column is encoded once, for all that is asked of it.

    `coded` has codes and labels of each column and of the target, and the rows' weights.
    """

    coded: CodedBatch
    counts: Counts

    @classmethod
    def of(cls, data: Data, request: CountRequest) -> CodedTable:
        """From what `credimi.count` takes."""
        plan, parts = source(data, request)
        batch = _joined(list(parts), plan.wanted)
        asked: Record = {"threads": request.threads, "required": plan.required}
        coded = encode_batch(batch, plan.target, plan.features, plan.settings, **asked)
        return cls(coded, count_coded(coded, threads=request.threads))

    def classes(self, settled: SettledClasses | None = None) -> tuple[tuple[str, ...], Codes]:
        """The names of the classes, and of each row which it has, MISSING where it has none."""
        named, onward = (settled.labels, settled.positions) if settled else labels.typed(self.coded.classes)
        moved = np.append(onward, MISSING).astype(np.int32)
        return named.shown(), moved[self.coded.groups]

    def values(self, feature: Feature) -> Codes:
        """Of each row which of the values of a settled feature it has, MISSING where it has none."""
        codes, settled = self.settled_as(feature)
        found: Codes = settled[codes]
        return found

    def settled_as(self, feature: Feature) -> tuple[NDArray[np.unsignedinteger], Codes]:
        """The codes of a column as it was encoded, and of each which value of the settled feature it is, or MISSING."""
        column = self.coded.columns[feature.name]
        codes = np.minimum(column.codes, column.values)
        known = np.bincount(codes, minlength=column.values + 1)[:-1] > 0
        known &= ~self.coded.missing.among(column)
        here, positions = labels_of(column, known)
        own = self.counts.labels[self.counts.features.index(feature.name)]
        _, onward, _ = labels.union(here, own)
        moved = np.full(column.values + 1, MISSING, dtype=np.int32)
        moved[:-1][known] = feature.places[feature.typed_as][onward[positions]]
        return codes, moved


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Codes of the rows that have a target. `values[j]` names the codes of feature j, `classes` those of the target."""

    codes: Codes  # rows x features, MISSING where the value is
    target: Codes
    features: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    classes: tuple[str, ...]
    left_out: dict[str, Record]  # of the columns that are left out: their facts (see `Feature`)
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
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Rows:
    """The rows of what `credimi.count` takes, as codes."""
    asked: Record = {"features": features, "exclude": exclude, "missing_values": missing_values}
    asked |= {"discretize": discretize, "delimiter": delimiter, "threads": threads, "progress": progress}
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
        raise CredimiError("there are no rows: nothing can be learned from them")
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
