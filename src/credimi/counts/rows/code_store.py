"""`CodeStore`: collects the codes of the rows of a second pass; the first pass counted, and made the codebook.

Each part of the rows is encoded independently of the others, wherever it is. Workers of a cluster keep their codes, or
send them, as pieces of bytes (`packed`).
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
    from collections.abc import Iterable, Iterator, Sequence

    from credimi.counts.batch import Batch
    from credimi.counts.codes import CodeArray, Codebook
    from credimi.counts.request import Plan
    from credimi.counts.rows.storage import Storage

_BYTES_PER_MESSAGE = 1 << 20  # approximately
_TWO_BYTES_FROM = 256  # values of a column
_HEADER_BYTES = 16
_SAME_BYTES = {1: "u1", 2: "<u2", 8: "<u8"}
_ALL_ROWS = slice(None)
_DATA_CHANGED = "the data changed between the two passes over them: run it again"


def coded(batches: Iterable[Batch], plan: Plan, book: Codebook, threads: int | None = None) -> Iterator[Codes]:
    """The codes of batches of rows."""
    for batch in weighted(batches, plan.settings):
        if batch.rows:
            encoded = without_values_of_no_weight(encode_batch(batch, plan, threads=threads))
            yield book.codes(encoded, threads)


def packed(codes: Codes) -> Iterator[bytes]:
    """Rows as bytes, in pieces of limited size."""
    row_bytes = sum(np.dtype(kind).itemsize for kind in _kinds(codes.book))
    step = max(1, _BYTES_PER_MESSAGE // row_bytes)
    return (packed_rows(codes, slice(start, start + step)) for start in range(0, codes.groups.size, step))


def packed_rows(codes: Codes, rows: slice = _ALL_ROWS) -> bytes:
    """Some rows as bytes: their number, a checksum, the classes, the weights if there are any, and each column."""
    weights = [] if codes.weights is None else [codes.weights]
    given = [codes.groups, *weights, *codes.columns]
    arrays = [values[rows].astype(kind) for values, kind in zip(given, _kinds(codes.book), strict=True)]
    cells = [array.view(_SAME_BYTES[array.dtype.itemsize]) for array in arrays]
    # a sum over rows: neither their order nor their division into pieces changes it
    checksum = sum((2 * place + 1) * int(array.sum(dtype=np.uint64)) for place, array in enumerate(cells))
    header = np.array([arrays[0].size, checksum % 2**64], dtype="<u8")
    return b"".join([header.tobytes(), *(array.tobytes() for array in arrays)])


def size_and_checksum(content: bytes) -> tuple[int, int]:
    """How many rows a piece has, and its checksum; those of pieces add up modulo 2^64."""
    rows, checksum = np.frombuffer(content, "<u8", 2).tolist()
    return rows, checksum


def unpacked(content: bytes, book: Codebook) -> Codes:
    """The rows of one piece that `packed` made."""
    rows, _ = size_and_checksum(content)
    arrays, start = [], _HEADER_BYTES
    for kind in _kinds(book):
        arrays.append(np.frombuffer(content, kind, rows, start))
        start += arrays[-1].nbytes
    weights = None if book.settings.weights is None else arrays.pop(1)
    return Codes(book, arrays[0], tuple(arrays[1:]), weights)


def joined(pieces: Sequence[bytes], book: Codebook) -> Codes:
    """The rows of several pieces, in arrays of their own."""
    parts = [unpacked(piece, book) for piece in pieces]
    narrow, wide, columns = book.empty_columns(sum(part.groups.size for part in parts))
    groups: CodeArray = np.empty(sum(part.groups.size for part in parts), code_type(len(book.classes)))
    weights = None if book.settings.weights is None else np.empty(groups.size)
    done = 0
    for part in parts:
        rows = slice(done, done + part.groups.size)
        done, groups[rows] = rows.stop, part.groups
        for column, codes in zip(columns, part.columns, strict=True):
            column[rows] = codes
        if weights is not None:
            weights[rows] = part.weights
    return Codes(book, groups, columns, weights, matrix=None if len(wide) else narrow)


def _kinds(book: Codebook) -> list[str]:
    """The types of the arrays of a piece: classes, weights, columns."""
    weight = [] if book.settings.weights is None else ["<f8"]
    return ["<u2", *weight, *("u1" if size < _TWO_BYTES_FROM else "<u2" for size in book.sizes.tolist())]


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
