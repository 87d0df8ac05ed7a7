"""Plain parts of a CSV file as codes, straight from their bytes (`kernels.reading.csv_fields`).

A part with a quote inside a field, or with line ends of two kinds, is refused, and pyarrow parses it. So are parts of
few rows, as wide tables have them: of these several are counted together (see `csv_files`). A column of many distinct
texts, or of long ones, is handed on as Arrow's text, as pyarrow would have parsed it.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from credimi.columns.column import Column
from credimi.columns.labels import RAW
from credimi.counting.engines.csv import csv_split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.core.types import ArrowColumn

MOST_COLUMNS = 1_000  # each takes 33 kB for the texts that it has shown, on each thread
_LARGEST = 1 << 30  # bytes of a part, of which 32 bits can tell where a field ends


class CodedRows(NamedTuple):
    """Some rows: a `Column` of each name, or Arrow's text, and how many there are."""

    columns: dict[str, Column | ArrowColumn]
    rows: int


class FieldCoders:
    """Coders of one file, as many as threads ask for one at a time."""

    def __init__(self, names: Sequence[str], wanted: Sequence[str], delimiter: str, line_end: str) -> None:
        self._made = names, wanted, delimiter, line_end
        self._idle: SimpleQueue[_FieldCoder] = SimpleQueue()
        self._useful = 1 < len(names) <= MOST_COLUMNS  # of a single column blank lines are no rows

    def coded(self, content: pa.Buffer, least_rows: int) -> CodedRows | None:
        """The rows of a part of whole lines; None if it is not plain, or has less rows than that."""
        if not self._useful or not 0 < content.size <= _LARGEST:
            return None
        try:
            coder = self._idle.get_nowait()
        except Empty:
            coder = _FieldCoder(*self._made)
        found = coder.coded(content)
        self._idle.put(coder)
        if found is not None and found.rows < least_rows:
            self._useful = False
            return None
        return found


class _FieldCoder:
    """What the columns of a file have shown so far to one thread, and room for where the fields of a part end."""

    def __init__(self, names: Sequence[str], wanted: Sequence[str], delimiter: str, line_end: str) -> None:
        from credimi.kernels.reading import csv_fields  # noqa: PLC0415  (loads compiled code)

        size = len(wanted)
        self._kernels = csv_fields
        self._width, self._names = len(names), list(wanted)
        self._wanted = np.array([names.index(name) for name in wanted], dtype=np.int64)
        self._delimiter, self._returns = ord(delimiter), int(line_end == "\r\n")
        self._table = np.zeros((size, csv_fields.SLOTS * csv_fields.SLOT), dtype=np.uint64)
        self._letters = np.zeros((size, csv_fields.MOST_TEXTS, csv_fields.LONGEST), dtype=np.uint8)
        self._lengths = np.zeros((size, csv_fields.MOST_TEXTS), dtype=np.int64)
        self._seen = np.zeros(size, dtype=np.int64)
        self._tail = np.zeros(csv_fields.TAIL, dtype=np.uint8)
        self._ends = np.zeros(0, dtype=np.int32)
        self._texts: list[tuple[str, ...]] = [()] * size

    def coded(self, content: pa.Buffer) -> CodedRows | None:
        """The rows of a part."""
        data = np.frombuffer(content, dtype=np.uint8)
        data.flags.writeable = False  # as all of Arrow's: the kernels are compiled for one kind only
        if self._ends.size < data.size + self._kernels.MORE_ENDS:
            self._ends = np.empty(data.size + self._kernels.MORE_ENDS, dtype=np.int32)
        codes = np.empty((len(self._names), data.size // self._width + 1), dtype=np.uint8)  # fields may all be empty
        shown = self._table, self._letters, self._lengths, self._seen
        how = self._delimiter, self._width, self._returns, self._wanted, self._tail, self._ends
        rows = self._kernels.encode_fields(data, *how, *shown, codes)
        if rows < 0:
            return None
        columns: dict[str, Column | ArrowColumn] = {}
        for place, (name, seen) in enumerate(zip(self._names, self._seen.tolist(), strict=True)):
            if seen < 0:
                columns[name] = self._text(data, rows, place)
            else:
                columns[name] = Column(codes[place, :rows], RAW, self._shown(place, seen))
        return CodedRows(columns, rows)

    def _shown(self, place: int, seen: int) -> tuple[str, ...]:
        """The texts of a column, in the order of their codes."""
        known = self._texts[place]
        if len(known) < seen:
            fresh = zip(
                self._letters[place, len(known) : seen], self._lengths[place, len(known) : seen].tolist(), strict=True
            )
            known += tuple(str(letters.data[:length], "utf-8") for letters, length in fresh)
            self._texts[place] = known
        return known

    def _text(self, data: NDArray[np.uint8], rows: int, place: int) -> pa.Array:
        """A column as Arrow's text."""
        column, width = int(self._wanted[place]), self._width
        cut = self._returns if column == width - 1 else 0
        ends = self._ends[: rows * width + 1]
        size = int(ends[column + 1 :: width].sum(dtype=np.int64) - ends[column:-1:width].sum(dtype=np.int64))
        letters = np.empty(size - rows * (1 + cut), dtype=np.uint8)  # less where they stand in quotes
        offsets = np.empty(rows + 1, dtype=np.int32)
        used = self._kernels.copy_fields(data, width, column, cut, ends, offsets, letters)
        return pa.Array.from_buffers(pa.string(), rows, [None, pa.py_buffer(offsets), pa.py_buffer(letters[:used])])


def last_line_end(content: pa.Buffer, delimiter: str) -> tuple[int, bool, bool]:
    """As `csv_split.last_line_end`, at the speed of memory unless a quote stands inside a field."""
    from credimi.kernels.reading import csv_fields  # noqa: PLC0415  (loads compiled code)

    data = np.frombuffer(content, dtype=np.uint8)
    data.flags.writeable = False
    found, tail = np.zeros(3, dtype=np.int64), np.empty(csv_fields.TAIL, dtype=np.uint8)
    if not csv_fields.find_line_end(data, ord(delimiter), tail, found):
        return csv_split.last_line_end(content, delimiter)
    end, quoted, unclosed = found.tolist()
    return end, bool(quoted), bool(unclosed)
