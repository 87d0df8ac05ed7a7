"""`CodeStore`: collects the codes of the rows of a second pass; the first pass counted, and made the codebook.

Each part of the rows is encoded independently of the others, wherever it is: workers of a cluster send their codes as
bytes, row by row (`packed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.arrow_buffers import code_type
from credimi.core.errors import CredimiError
from credimi.counts.batch import encode_batch
from credimi.counts.codes import Codes
from credimi.counts.rows.coded_parts import without_values_of_no_weight
from credimi.counts.weights import weighted, worth_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from credimi.counts.batch import Batch
    from credimi.counts.codes import CodeArray, Codebook
    from credimi.counts.request import Plan
    from credimi.counts.rows.storage import Storage

_BYTES_PER_MESSAGE = 1 << 20  # approximately
_TWO_BYTES_FROM = 256  # values of a column
_GROUP, _WEIGHT = "group", "weight"  # fields of a row; columns have numbers
_DATA_CHANGED = "the data changed between the two passes over them: run it again"


def coded(batches: Iterable[Batch], plan: Plan, book: Codebook, threads: int | None = None) -> Iterator[Codes]:
    """The codes of batches of rows."""
    for batch in weighted(batches, plan.settings):
        if batch.rows:
            encoded = without_values_of_no_weight(encode_batch(batch, plan, threads=threads))
            yield book.codes(encoded, threads)


def packed(codes: Codes) -> Iterator[bytes]:
    """Rows as bytes, in pieces of limited size."""
    rows = np.empty(codes.groups.size, dtype=_row_type(codes.book))
    rows[_GROUP] = codes.groups
    if codes.weights is not None:
        rows[_WEIGHT] = codes.weights
    for index, column in enumerate(codes.columns):
        rows[str(index)] = column
    step = max(1, _BYTES_PER_MESSAGE // rows.itemsize)
    for start in range(0, rows.size, step):
        yield rows[start : start + step].tobytes()


def unpacked(content: bytes, book: Codebook) -> Codes:
    """The rows of one piece that `packed` made."""
    rows = np.frombuffer(content, _row_type(book))
    weights = None if book.settings.weights is None else rows[_WEIGHT]
    return Codes(book, rows[_GROUP], tuple(rows[str(index)] for index in range(len(book.features))), weights)


def _row_type(book: Codebook) -> np.dtype[np.void]:
    columns = [(str(index), "u1" if size < _TWO_BYTES_FROM else "<u2") for index, size in enumerate(book.sizes)]
    weight = [] if book.settings.weights is None else [(_WEIGHT, "<f8")]
    return np.dtype([(_GROUP, "<u2"), *weight, *columns])


class CodeStore:
    """Collects the codes of all rows in a `Storage`; the parts are added in the order of the rows."""

    def __init__(self, book: Codebook, rows: int, storage: Storage) -> None:
        self.book, self.storage, self._done = book, storage, 0
        row_bytes = book.sizes.size + int((book.sizes >= _TWO_BYTES_FROM).sum())
        storage.require(row_bytes * rows, f"the codes of {rows:,} rows x {len(book.features):,} columns")
        narrow, wide, self._columns = book.empty_columns(rows, storage)
        self._matrix = None if len(wide) else narrow
        self._groups: CodeArray = np.empty(rows, dtype=code_type(len(book.classes)))
        self._weights = None if book.settings.weights is None else np.empty(rows)

    def put(self, rows: Codes) -> None:
        """Add the next rows."""
        new_rows = slice(self._done, self._done + rows.groups.size)
        self._done = new_rows.stop
        if self._done > self._groups.size:
            raise CredimiError(_DATA_CHANGED)
        self._groups[new_rows] = rows.groups
        for column, codes in zip(self._columns, rows.columns, strict=True):
            column[new_rows] = codes
        if self._weights is not None and rows.weights is not None:
            self._weights[new_rows] = rows.weights

    def codes(self) -> Codes:
        """The codes of all rows; an error if rows are lacking."""
        if self._done != self._groups.size:
            raise CredimiError(_DATA_CHANGED)
        weights, is_survey = self._weights, False
        if weights is not None:
            weights, is_survey = worth_rows(weights, self.book.settings)
        return Codes(self.book, self._groups, self._columns, weights, is_survey, self._matrix, self.storage)
