"""Columns of a Parquet file as codes, straight from its pages, if these hold indices into a small dictionary.

This is how writers store text of few distinct values. `sources.parquet.parquet_pages` reads the pages; pyarrow reads
whatever is stored in another way.

Footer and headers of pages are records of Thrift's compact protocol. pyarrow reads them, too, and refuses a file whose
records are broken. But the process ends if it is asked for a column of a footer in which numbers contradict each other,
or for an unknown codec. So they are read here. Fields that are asked for have to be of their kind, and in order.
pyarrow passes over the others, too.

A file may be damaged. So nothing is read that is not plain: the sizes and numbers of values that footer and headers
state have to be those of the pages, to the last byte. pyarrow reads such pages in the same way, or refuses the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns.column import Column
from credimi.columns.labels import TEXT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from credimi.core.types import Foreign

    ByteArray = NDArray[np.uint8]
    Record = dict[int, Foreign]  # numbers, truth values, bytes, records, and lists of records
    Bytes = bytes | memoryview
    Kinds = Mapping[int, Foreign]  # of fields: a kind, the kinds of a record, or of the records of a list

MAX_CELLS = 20_000_000  # of a block of columns of one group of rows, which is in memory at once
_MAX_COLUMN_BYTES = 1 << 24  # of a column in one group of rows, compressed
_MAX_PAGE_BYTES = 1 << 27  # decompressed
_MAX_TEXTS = 255
_HEADER_BYTES = 256  # enough for the header of a page
_CODECS = {0: None, 1: "snappy", 2: "gzip", 6: "zstd"}  # those that tell the size of a page
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_PLAIN, _PLAIN_DICTIONARY, _RUNS, _PACKED, _INDICES = 0, 2, 3, 4, 8  # encodings
_BYTE_ARRAY = 6  # the type of text
# Kinds of fields, and their bytes.
_TRUE, _FALSE, _BYTE, _SHORT, NUMBER, LONG, _REAL, BYTES, _LIST, _SET, _RECORD = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12
TRUTH = _FALSE  # how both are called in what is asked for
_LAST, _LOW_BITS = 128, 127  # bytes below this are the last of a number; their bits that count
_MAX_SHIFT = 63  # bits of a whole number
_MAX_NUMBER = 1 << 31  # of numbers that are not long
_MANY = 15  # a list of so many has its length in bytes of its own
# Fields of the footer, of its groups of rows, and of their columns; of the header of a page.
_GROUPS, _WRITER, _COLUMNS, _ROWS, _PATH, _COLUMN, _SECRET = 4, 6, 1, 3, 1, 3, 8
_TYPE, _CODEC, _VALUES, _BYTES, _FIRST_DATA, _FIRST = 1, 4, 5, 7, 9, 11
_KIND, _SIZE, _PACKED_SIZE, _OF_DATA, _OF_DICTIONARY, _OF_DATA_2 = 1, 2, 3, 5, 7, 8
_COLUMN_FIELDS = {_TYPE: NUMBER, _CODEC: NUMBER, _VALUES: LONG, _BYTES: LONG, _FIRST_DATA: LONG, _FIRST: LONG}
_CHUNK_FIELDS = {_PATH: BYTES, _COLUMN: _COLUMN_FIELDS, _SECRET: {}}
_FOOTER_FIELDS = {_GROUPS: [{_COLUMNS: [_CHUNK_FIELDS], _ROWS: LONG}], _WRITER: BYTES}
_HEADER_FIELDS = {
    **dict.fromkeys((_KIND, _SIZE, _PACKED_SIZE), NUMBER),
    _OF_DATA: dict.fromkeys(range(1, 5), NUMBER),
    _OF_DICTIONARY: dict.fromkeys(range(1, 3), NUMBER),
    _OF_DATA_2: {**dict.fromkeys(range(1, 7), NUMBER), 7: TRUTH},
}
_FOOTER_END = 8  # its length and a mark
_NO_BYTES = np.frombuffer(bytes(1), dtype=np.uint8)[:0]
_MISSING = 255
_GZIP = b"\x1f\x8b"  # the first bytes


class OtherStorageError(Exception):
    """The column is stored in a way that is not read here."""


_PAGE_FAULTS = (  # other storage, a broken header, text that is not UTF-8
    *(OtherStorageError, LookupError, ValueError, TypeError, RecursionError),
    *(pa.ArrowException, OSError, MemoryError),
)


@dataclass(frozen=True, slots=True)
class TextColumns:
    """An open file, and what its footer tells of the columns of each group of rows."""

    file: pq.ParquetFile
    source: pa.NativeFile
    schema: pa.Schema
    rows: list[int]
    columns: list[list[Record]]

    @classmethod
    def of(cls, file: pq.ParquetFile, source: pa.NativeFile, schema: pa.Schema) -> TextColumns | None:
        """An open file; None if its footer is not plain, or some columns are nested."""
        try:
            end = source.size() - _FOOTER_END
            size = int.from_bytes(source.read_at(4, end), "little")
            footer, _ = _read_record(memoryview(source.read_at(size, end - size)), 0, _FOOTER_FIELDS)
            if len(file.schema) != len(schema.names) or _hides_packing(bytes(footer.get(_WRITER, b""))):
                return None
            rows, columns = [group[_ROWS] for group in footer[_GROUPS]], [group[_COLUMNS] for group in footer[_GROUPS]]
            return cls(file, source, schema, rows, columns)
        except _PAGE_FAULTS:
            return None

    def readable(self, block: Sequence[str]) -> list[str]:
        """Those of the columns that may be stored as indices into a small dictionary; `coded` makes sure."""
        if not self.rows or not all(0 <= rows * len(block) <= MAX_CELLS for rows in self.rows):
            return []
        return list(filter(self._is_readable, block))

    def _is_readable(self, name: str) -> bool:
        index = self.schema.get_field_index(name)
        kind, leaf = self.schema.field(index).type, self.file.schema.column(index)
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or leaf.physical_type != "BYTE_ARRAY":
            return False
        if leaf.max_repetition_level or leaf.max_definition_level > 1:
            return False
        try:
            chunks = [columns[index] for columns in self.columns]
            return all(map(_is_plain, chunks, self.rows)) and self._has_small_dictionary(chunks[0][_COLUMN])
        except _PAGE_FAULTS:
            return False

    def _has_small_dictionary(self, column: Record) -> bool:
        """Whether the dictionary of a column chunk is small; checked before anything is decoded."""
        header, _ = _read_record(memoryview(self.source.read_at(_HEADER_BYTES, column[_FIRST])), 0, _HEADER_FIELDS)
        return bool(header[_OF_DICTIONARY][1] <= _MAX_TEXTS)

    def coded(self, group: int, names: Sequence[str]) -> dict[str, Column] | None:
        """Columns of one group of rows; None if one of them is stored in another way."""
        from credimi.sources.parquet.parquet_pages import MORE_ROOM  # noqa: PLC0415  (loads compiled code)

        rows = self.rows[group]
        room = np.empty((2, rows + MORE_ROOM), dtype=np.uint8)
        found: dict[str, Column] = {}
        try:
            for name in names:
                index = self.schema.get_field_index(name)
                optional = self.file.schema.column(index).max_definition_level == 1
                column = self.columns[group][index][_COLUMN]
                content = self.source.read_at(column[_BYTES], column[_FIRST])
                if len(content) < column[_BYTES]:
                    return None
                codes = np.empty(rows, dtype=np.uint8)
                texts = _decode(memoryview(content), _CODECS[column[_CODEC]], room, codes, optional=optional)
                found[name] = Column(codes, TEXT, texts)
        except _PAGE_FAULTS:  # pyarrow will report them
            return None
        return found


def _hides_packing(writer: bytes) -> bool:
    """Whether a file's writer packed pages, and called them not packed, as parquet-cpp did before Arrow had it."""
    return b"parquet-cpp" in writer.lower() and b"parquet-cpp-arrow" not in writer.lower()


def _is_plain(chunk: Record, rows: int) -> bool:
    """Whether a column chunk may be its dictionary and then its pages, without a gap, with a value for each row."""
    column = chunk[_COLUMN]
    size, first = column[_BYTES], column[_FIRST]
    return bool(
        column[_CODEC] in _CODECS
        and column[_TYPE] == _BYTE_ARRAY
        and 0 < size <= _MAX_COLUMN_BYTES
        and 0 < first < column[_FIRST_DATA] < first + size
        and column[_VALUES] == rows
        and not chunk.get(_PATH)
        and _SECRET not in chunk
    )


def _decode(
    content: memoryview, codec: str | None, room: ByteArray, codes: ByteArray, *, optional: bool
) -> tuple[str, ...]:
    """Fill the codes of a column from its pages; return the dictionary, which is the first page."""
    from credimi.sources.parquet.parquet_pages import decode_page  # noqa: PLC0415  (loads compiled code)

    texts: tuple[str, ...] | None = None
    position = done = 0
    while position < len(content):
        header, position = _read_record(content, position, _HEADER_FIELDS)
        packed_size, size = header[_PACKED_SIZE], header[_SIZE]
        if not 0 <= packed_size <= len(content) - position or not 0 <= size <= _MAX_PAGE_BYTES:
            raise OtherStorageError
        page = content[position : position + packed_size]
        position += packed_size
        if texts is None:
            texts = _texts(header, _unpacked(page, codec, size))
            continue
        values, missing, levels, indices = _streams(header, page, codec, optional=optional)
        part = codes[done : done + values]
        if part.size < values or not decode_page(_byte_array(levels), _byte_array(indices), len(texts), room, part):
            raise OtherStorageError
        if missing is not None and np.count_nonzero(part == _MISSING) != missing:
            raise OtherStorageError
        done += values
    if texts is None or done < codes.size:
        raise OtherStorageError
    return texts


def _byte_array(content: bytes | memoryview) -> ByteArray:
    """Bytes as a read-only array: the kernels are compiled for read-only arrays."""
    return np.frombuffer(content, dtype=np.uint8) if len(content) else _NO_BYTES


def _streams(
    header: Record, page: memoryview, codec: str | None, *, optional: bool
) -> tuple[int, int | None, Bytes, Bytes]:
    """The number of rows of a page, how many of them are missing, if it says so, and its two streams.

    The levels say which rows have a value; the indices are those of the values.
    """
    missing: int | None = None
    levels: Bytes
    indices: Bytes
    if header[_KIND] == _DATA:
        values, encoding, kind, other_kind = (header[_OF_DATA][field] for field in (1, 2, 3, 4))
        content = _unpacked(page, codec, header[_SIZE])
        start = 4 if optional else 0
        size = int.from_bytes(content[:start], "little")
        if (optional and kind != _RUNS) or other_kind not in (_RUNS, _PACKED) or size > len(content) - start:
            raise OtherStorageError
        levels, indices = content[start : start + size], content[start + size :]
    elif header[_KIND] == _DATA_2:
        page_header = header[_OF_DATA_2]
        values, missing, rows, encoding, size, other_size = (page_header[field] for field in range(1, 7))
        if rows != values or other_size or not 0 <= size <= min(len(page), header[_SIZE]):
            raise OtherStorageError
        packed = codec if page_header.get(7, True) else None
        levels, indices = page[:size], _unpacked(page[size:], packed, header[_SIZE] - size)
    else:
        raise OtherStorageError
    if encoding not in (_PLAIN_DICTIONARY, _INDICES) or values <= 0 or bool(size) != optional:
        raise OtherStorageError
    return values, missing, levels, indices


def _unpacked(page: memoryview, codec: str | None, size: int) -> Bytes:
    """The bytes of a page, which have to be as many as its header says.

    pyarrow compares the sizes of zstd itself. For others it leaves what is not filled as it was in memory.
    """
    if codec is None or not len(page):
        own_size = len(page)
    elif codec == "snappy":
        own_size, _ = _read_number(page, 0)
    elif codec == "gzip":
        own_size = int.from_bytes(page[-4:], "little") if bytes(page[:2]) == _GZIP else -1
    else:
        own_size = size
    if own_size != size:
        raise OtherStorageError
    return page if codec is None or not len(page) else memoryview(pa.decompress(page, size, codec, asbytes=True))


def _texts(header: Record, content: Bytes) -> tuple[str, ...]:
    """The texts of a dictionary page."""
    dictionary_header = header.get(_OF_DICTIONARY, {})
    if (
        header[_KIND] != _DICTIONARY
        or dictionary_header[2] not in (_PLAIN, _PLAIN_DICTIONARY)
        or not 0 <= dictionary_header[1] <= _MAX_TEXTS
    ):
        raise OtherStorageError
    texts, start = [], 0
    for _ in range(dictionary_header[1]):
        end = start + 4 + int.from_bytes(content[start : start + 4], "little")
        if end > len(content):
            raise OtherStorageError
        texts.append(str(content[start + 4 : end], "utf-8"))
        start = end
    if start < len(content) or len(set(texts)) < len(texts):
        raise OtherStorageError
    return tuple(texts)


def _read_record(content: Bytes, position: int, kinds: Kinds) -> tuple[Record, int]:
    """The fields of a record that are asked for, by number, and where it ends."""
    fields: Record = {}
    field = 0
    while head := content[position]:
        kind, field, position = head & 15, field + (head >> 4), position + 1
        if head <= _MANY:
            raise OtherStorageError
        wanted = kinds.get(field)
        if wanted is None:
            position = _after(content, position, kind)
        else:
            fields[field], position = _value(content, position, kind, wanted)
    return fields, position + 1


def _value(content: Bytes, position: int, kind: int, wanted: Foreign) -> tuple[Foreign, int]:
    """The value of a field that has to be of the wanted kind, and where it ends."""
    if wanted == kind and kind in (NUMBER, LONG):  # nearly all are numbers
        number, position = _read_number(content, position)
        number = (number >> 1) ^ -(number & 1)
        if kind == LONG or -_MAX_NUMBER <= number < _MAX_NUMBER:
            return number, position
    elif isinstance(wanted, dict) and kind == _RECORD:
        return _read_record(content, position, wanted)
    elif isinstance(wanted, list) and kind == _LIST:
        size, kind, position = _list_header(content, position)
        records = []
        for _ in range(size if kind == _RECORD else 0):
            record, position = _read_record(content, position, wanted[0])
            records.append(record)
        if len(records) == size:
            return records, position
    elif wanted == TRUTH and kind in (_TRUE, _FALSE):
        return kind == _TRUE, position
    elif wanted == kind == BYTES:
        size, position = _read_number(content, position)
        return content[position : position + size], position + size
    raise OtherStorageError


def _read_number(content: Bytes, position: int) -> tuple[int, int]:
    """A whole number of seven bits a byte, and where it ends."""
    if content[position] < _LAST:  # most numbers have one byte
        return content[position], position + 1
    number = shift = 0
    while True:
        byte = content[position]
        number |= (byte & _LOW_BITS) << shift
        position, shift = position + 1, shift + 7
        if byte < _LAST:
            return number, position
        if shift > _MAX_SHIFT:
            raise OtherStorageError


def _list_header(content: Bytes, position: int) -> tuple[int, int, int]:
    """How many items a list has, of which kind, and where they begin."""
    size, kind = content[position] >> 4, content[position] & 15
    position += 1
    if size == _MANY:
        size, position = _read_number(content, position)
    return size, kind, position


def _after(content: Bytes, position: int, kind: int) -> int:
    """Where a value of this kind ends."""
    if kind in (_SHORT, NUMBER, LONG):
        return _read_number(content, position)[1]
    if kind == BYTES:
        size, position = _read_number(content, position)
        return position + size
    if kind in (_TRUE, _FALSE):
        return position
    if kind in (_LIST, _SET):
        size, kind, position = _list_header(content, position)
        for _ in range(size):
            position = position + 1 if kind in (_TRUE, _FALSE) else _after(content, position, kind)
        return position
    if kind == _RECORD:
        while head := content[position]:
            position += 1
            if head < _MANY + 1:  # the number of the field follows
                position = _read_number(content, position)[1]
            position = _after(content, position, head & 15)
        return position + 1
    if kind in (_BYTE, _REAL):
        return position + (1 if kind == _BYTE else 8)
    raise OtherStorageError
