"""`RowCoder`: turns batches into interpreted codes when the counts are known; `CodeStore` collects the codes.

A first pass counts. Its counts say which values each column has, where numbers are cut and what is an identifier. Then
each part of the rows is encoded independently of the others, wherever it is: a coder can be sent to workers, and the
codes come back as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels
from credimi.core.errors import CredimiError
from credimi.core.threads import share
from credimi.counts.batch import encode_batch
from credimi.counts.rows.coded_parts import without_values_of_no_weight
from credimi.counts.rows.coded_table import interpreted_by_code
from credimi.counts.rows.stratified_counts import InterpretedCodes, split_by_ranked, unsigned_codes
from credimi.counts.weights import weighted, worth_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.columns.interpret import InterpretedClasses
    from credimi.columns.labels import Labels
    from credimi.core.types import AnyArray, FloatArray
    from credimi.counts.batch import Batch, CodedBatch
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan
    from credimi.counts.rows.storage import Storage

    Codes = NDArray[np.unsignedinteger]

_MAX_VALUES_IN_BYTE = 255
_BYTES_PER_MESSAGE = 1 << 20  # approximately


@dataclass(frozen=True, slots=True, eq=False)
class CodedRows:
    """Some rows: their classes and weights, and the codes of the columns, of one byte (`narrow`) or two (`wide`)."""

    groups: NDArray[np.uint16]
    weights: FloatArray | None
    narrow: NDArray[np.uint8]
    wide: NDArray[np.uint16]


@dataclass(frozen=True, slots=True, eq=False)
class RowCoder:
    """Encodes batches of rows: knows the interpreted `features`, their labels that were counted, and the classes."""

    plan: Plan
    features: tuple[Feature, ...]
    labels: tuple[Labels, ...]
    classes: Labels
    interpreted: InterpretedClasses

    @classmethod
    def of(cls, plan: Plan, counts: Counts) -> tuple[RowCoder, tuple[Feature, ...]]:
        """The coder for these counts of all rows, and the columns that get no codes, as they are not ranked."""
        interpreted = counts.interpreted_classes()
        features, left_out = split_by_ranked(counts.interpreted(classes=interpreted))
        labels_of_column = dict(zip(counts.features, counts.labels, strict=True))
        names = tuple(feature.name for feature in features)
        plan_of_ranked = replace(plan, features=names, table=len(plan.features))
        return cls(
            plan_of_ranked, features, tuple(labels_of_column[name] for name in names), counts.classes, interpreted
        ), left_out

    @property
    def is_narrow(self) -> list[bool]:
        """For each column, whether its codes fit into one byte."""
        return [len(feature.values) <= _MAX_VALUES_IN_BYTE for feature in self.features]

    def row_bytes(self) -> int:
        """The number of bytes of one row in `packed` form."""
        narrow = sum(self.is_narrow)
        return 2 + 8 * (self.plan.settings.weights is not None) + narrow + 2 * (len(self.features) - narrow)

    def coded(self, batches: Iterable[Batch], threads: int | None = None) -> Iterator[CodedRows]:
        """The codes of batches of rows."""
        plan = self.plan
        for batch in weighted(batches, plan.settings):
            if not batch.rows:
                continue
            yield self._interpreted(without_values_of_no_weight(encode_batch(batch, plan, threads=threads)), threads)

    def _interpreted(self, coded: CodedBatch, threads: int | None) -> CodedRows:
        is_narrow = self.is_narrow
        narrow = np.empty((sum(is_narrow), coded.rows), dtype=np.uint8)
        wide = np.empty((len(is_narrow) - len(narrow), coded.rows), dtype=np.uint16)
        columns = [*_columns_in_order(is_narrow, narrow, wide)]

        def work(number: int) -> None:
            feature, column = self.features[number], coded.columns[self.features[number].name]
            try:
                interpreted_codes = interpreted_by_code(column, coded.missing, self.labels[number], feature)
            except LookupError:
                raise CredimiError(
                    f"column {feature.name!r} looks different in parts of the data than in all of them: exclude it, or "
                    "give it one kind of values"
                ) from None
            out = columns[number]
            np.take(
                unsigned_codes(interpreted_codes, len(feature.values)).astype(out.dtype),
                column.codes,
                out=out,
                mode="clip",
            )

        share(work, range(len(self.features)), threads)
        return CodedRows(self._classes(coded), coded.weights, narrow, wide)

    def _classes(self, coded: CodedBatch) -> NDArray[np.uint16]:
        """The class of each row; the number of classes if it is missing."""
        missing = len(self.interpreted.labels)
        _, batch_positions, counted_positions = labels.union(coded.classes, self.classes)
        class_of_merged = np.full(int(counted_positions.max(initial=-1)) + 1, missing)
        class_of_merged[counted_positions] = self.interpreted.positions
        row_classes = np.append(class_of_merged[batch_positions], missing)[coded.groups]
        return np.where(row_classes < 0, missing, row_classes).astype(np.uint16)

    def packed(self, rows: CodedRows) -> Iterator[bytes]:
        """These rows as bytes, in pieces of limited size."""
        step = max(1, _BYTES_PER_MESSAGE // self.row_bytes())
        for start in range(0, rows.groups.size, step):
            part = slice(start, start + step)
            weights = b"" if rows.weights is None else rows.weights[part].astype("<f8").tobytes()
            wide = rows.wide[:, part].astype("<u2").tobytes()
            yield rows.groups[part].astype("<u2").tobytes() + weights + rows.narrow[:, part].tobytes() + wide

    def unpacked(self, content: bytes) -> CodedRows:
        """The rows of one piece that `packed` made."""
        count = len(content) // self.row_bytes()
        narrow_count = sum(self.is_narrow)
        groups = np.frombuffer(content, "<u2", count)
        start, weights = groups.nbytes, None
        if self.plan.settings.weights is not None:
            weights = np.frombuffer(content, "<f8", count, start)
            start += weights.nbytes
        narrow_codes = np.frombuffer(content, np.uint8, narrow_count * count, start).reshape(narrow_count, count)
        wide_codes = np.frombuffer(content, "<u2", offset=start + narrow_codes.nbytes).reshape(-1, count)
        return CodedRows(groups, weights, narrow_codes, wide_codes)


class CodeStore:
    """Collects the codes of all rows in a `Storage`; the parts are added in the order of the rows."""

    def __init__(self, coder: RowCoder, rows: int, storage: Storage) -> None:
        self.coder, self.storage, self._done = coder, storage, 0
        narrow = sum(coder.is_narrow)
        wide = len(coder.features) - narrow
        storage.require((narrow + 2 * wide) * rows, f"the codes of {rows:,} rows x {narrow + wide:,} columns")
        self._narrow: NDArray[np.uint8] = storage.zeros((narrow, rows), np.uint8)
        self._wide: NDArray[np.uint16] = storage.zeros((wide, rows), np.uint16)
        kind = np.uint8 if len(coder.interpreted.labels) <= _MAX_VALUES_IN_BYTE else np.uint16
        self._groups: AnyArray = np.empty(rows, dtype=kind)
        self._weights = np.empty(rows) if coder.plan.settings.weights is not None else None

    def put(self, rows: CodedRows) -> None:
        """Add the next rows."""
        new_rows = slice(self._done, self._done + rows.groups.size)
        self._done = new_rows.stop
        if self._done > self._groups.size:
            raise CredimiError(_DATA_CHANGED)
        self._groups[new_rows] = rows.groups
        self._narrow[:, new_rows] = rows.narrow
        self._wide[:, new_rows] = rows.wide
        if self._weights is not None and rows.weights is not None:
            self._weights[new_rows] = rows.weights

    def put_packed(self, content: bytes) -> None:
        """Add the next rows, which come as bytes."""
        self.put(self.coder.unpacked(content))

    def interpreted(self, left_out: tuple[Feature, ...]) -> InterpretedCodes:
        """The codes of all rows; an error if rows are lacking."""
        if self._done != self._groups.size:
            raise CredimiError(_DATA_CHANGED)
        coder = self.coder
        codes = tuple(_columns_in_order(coder.is_narrow, self._narrow, self._wide))
        weights, is_survey = None, False
        if self._weights is not None:
            weights, is_survey = worth_rows(self._weights, coder.plan.settings)
        matrix = self._narrow if not len(self._wide) else None
        classes = coder.interpreted.labels.shown()
        interpreted_fields = coder.plan.target, classes, self._groups, coder.features, codes, weights, left_out, matrix
        return InterpretedCodes(*interpreted_fields, self.storage, is_survey)


def _columns_in_order(is_narrow: list[bool], narrow: NDArray[np.uint8], wide: NDArray[np.uint16]) -> Iterator[Codes]:
    """The columns of both matrices, in the order of the table."""
    narrow_columns, wide_columns = iter(narrow), iter(wide)
    for in_narrow in is_narrow:
        yield next(narrow_columns) if in_narrow else next(wide_columns)


_DATA_CHANGED = "the data changed between the two passes over them: run it again"
