"""Plain parts of a CSV file as codes, straight from their bytes (`sources.csv.csv_fields`).

A part with a quote inside a field, or with line ends of two kinds, is refused, and pyarrow parses it. The same holds
for parts of few rows, as in wide tables: several of them are counted together (see `csv_files`). A column of many
distinct texts, or of long ones, is returned as Arrow's text, as pyarrow would have parsed it.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from credimi.columns.column import Column
from credimi.columns.labels import RAW

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.core.types import ArrowColumn

MAX_COLUMNS = 1_000  # each column takes 33 kB for the texts that occurred in it, on each thread
_MAX_PART_BYTES = 1 << 30  # so that 32 bits are enough for the positions of fields


class CodedRows(NamedTuple):
    """Some rows: a `Column` or Arrow's text for each name, and the number of rows."""

    columns: dict[str, Column | ArrowColumn]
    rows: int


class FieldCoders:
    """The coders of one file: one for each thread that works at the same time."""

    def __init__(self, names: Sequence[str], wanted: Sequence[str], delimiter: str, line_end: str) -> None:
        self._made = names, wanted, delimiter, line_end
        self._idle: SimpleQueue[_FieldCoder] = SimpleQueue()
        self._useful = 1 < len(names) <= MAX_COLUMNS  # in a file of a single column, blank lines are no rows

    def coded(self, content: pa.Buffer, min_rows: int) -> CodedRows | None:
        """The rows of a part of whole lines; None if it is not plain, or has fewer than `min_rows` rows."""
        if not self._useful or not 0 < content.size <= _MAX_PART_BYTES:
            return None
        try:
            coder = self._idle.get_nowait()
        except Empty:
            coder = _FieldCoder(*self._made)
        coded_rows = coder.coded(content)
        self._idle.put(coder)
        if coded_rows is not None and coded_rows.rows < min_rows:
            self._useful = False
            return None
        return coded_rows


class _FieldCoder:
    """The texts that one thread has seen in each column so far, and memory for the ends of the fields of a part."""

    def __init__(self, names: Sequence[str], wanted: Sequence[str], delimiter: str, line_end: str) -> None:
        from credimi.sources.csv import csv_fields  # noqa: PLC0415  (loads compiled code)

        size = len(wanted)
        self._kernels = csv_fields
        self._width, self._names = len(names), list(wanted)
        self._wanted = np.array([names.index(name) for name in wanted], dtype=np.int64)
        self._delimiter, self._returns = ord(delimiter), int(line_end == "\r\n")
        self._table = np.zeros((size, csv_fields.SLOTS * csv_fields.SLOT), dtype=np.uint64)
        self._letters = np.zeros((size, csv_fields.MAX_TEXTS, csv_fields.LONGEST), dtype=np.uint8)
        self._lengths = np.zeros((size, csv_fields.MAX_TEXTS), dtype=np.int64)
        self._text_counts = np.zeros(size, dtype=np.int64)
        self._tail = np.zeros(csv_fields.TAIL, dtype=np.uint8)
        self._ends = np.zeros(0, dtype=np.int32)
        self._texts: list[tuple[str, ...]] = [()] * size

    def coded(self, content: pa.Buffer) -> CodedRows | None:
        """The rows of a part."""
        data = np.frombuffer(content, dtype=np.uint8)
        data.flags.writeable = False  # like Arrow's arrays: the kernels are compiled for read-only arrays
        if self._ends.size < data.size + self._kernels.MORE_ENDS:
            self._ends = np.empty(data.size + self._kernels.MORE_ENDS, dtype=np.int32)
        codes = np.empty((len(self._names), data.size // self._width + 1), dtype=np.uint8)  # fields may all be empty
        known_texts = self._table, self._letters, self._lengths, self._text_counts
        format_options = self._delimiter, self._width, self._returns, self._wanted, self._tail, self._ends
        rows = self._kernels.encode_fields(data, *format_options, *known_texts, codes)
        if rows < 0:
            return None
        columns: dict[str, Column | ArrowColumn] = {}
        for index, (name, text_count) in enumerate(zip(self._names, self._text_counts.tolist(), strict=True)):
            if text_count < 0:
                columns[name] = self._text(data, rows, index)
            else:
                columns[name] = Column(codes[index, :rows], RAW, self._shown(index, text_count))
        return CodedRows(columns, rows)

    def _shown(self, index: int, text_count: int) -> tuple[str, ...]:
        """The texts of a column, in the order of their codes."""
        known = self._texts[index]
        if len(known) < text_count:
            new_texts = zip(
                self._letters[index, len(known) : text_count],
                self._lengths[index, len(known) : text_count].tolist(),
                strict=True,
            )
            known += tuple(str(letters.data[:length], "utf-8") for letters, length in new_texts)
            self._texts[index] = known
        return known

    def _text(self, data: NDArray[np.uint8], rows: int, index: int) -> pa.Array:
        """A column as Arrow's text."""
        column, width = int(self._wanted[index]), self._width
        carriage_return = self._returns if column == width - 1 else 0
        ends = self._ends[: rows * width + 1]
        size = int(ends[column + 1 :: width].sum(dtype=np.int64) - ends[column:-1:width].sum(dtype=np.int64))
        # Fewer are used if fields are in quotes.
        letters = np.empty(size - rows * (1 + carriage_return), dtype=np.uint8)
        offsets = np.empty(rows + 1, dtype=np.int32)
        used = self._kernels.copy_fields(data, width, column, carriage_return, ends, offsets, letters)
        return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(letters[:used])])
