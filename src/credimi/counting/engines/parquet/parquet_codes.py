"""Columns of a Parquet file as codes, straight from its pages, if these hold indices into a small dictionary.

This is how writers store text of few distinct values. This module reads the header of a page, and
`kernels.reading.parquet_pages` the page itself; pyarrow reads whatever is stored in another way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns.column import Column
from credimi.columns.labels import TEXT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow.parquet as pq
    from numpy.typing import NDArray

    from credimi.core.types import Foreign

    ByteArray = NDArray[np.uint8]
    Header = dict[int, Foreign]  # numbers, booleans, and records of them; anything in a broken file
    Bytes = bytes | memoryview

MAX_CELLS = 20_000_000  # of a block of columns of one group of rows, which is in memory at once
_MAX_COLUMN_BYTES = 1 << 24  # of a column in one group of rows, compressed
_MAX_PAGE_BYTES = 1 << 27  # decompressed
_MAX_TEXTS = 255
_HEADER_BYTES = 256  # enough for the header of a page
_MAX_BITS = 63  # of a whole number
_CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd", "LZ4_RAW": "lz4_raw"}
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_PLAIN, _PLAIN_DICTIONARY, _RUNS, _INDICES = 0, 2, 3, 8  # encodings
_TYPE, _SIZE, _PACKED, _DATA_HEADER, _DICTIONARY_HEADER, _DATA_HEADER_2 = 1, 2, 3, 5, 7, 8  # fields of a header
_NO_BYTES = np.frombuffer(bytes(1), dtype=np.uint8)[:0]


class _OtherStorageError(Exception):
    """The column is stored in a way that this module does not read."""


_PAGE_FAULTS = (  # other storage, a broken header, text that is not UTF-8
    *(_OtherStorageError, LookupError, ValueError, TypeError, AttributeError, RecursionError),
    *(pa.ArrowException, OSError),
)


def readable(file: pq.ParquetFile, source: pa.NativeFile, schema: pa.Schema, block: Sequence[str]) -> bool:
    """Whether all of these columns may be stored as indices into a small dictionary; `coded` makes sure."""
    metadata, leaves = file.metadata, file.schema
    groups = [metadata.row_group(group) for group in range(metadata.num_row_groups)]
    if len(leaves) != len(schema.names):  # some columns are nested
        return False
    if any(group.num_rows * len(block) > MAX_CELLS for group in groups):
        return False
    for name in block:
        index = schema.get_field_index(name)
        kind, leaf = schema.field(index).type, leaves.column(index)
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or leaf.physical_type != "BYTE_ARRAY":
            return False
        if leaf.max_repetition_level or leaf.max_definition_level > 1:
            return False
        for group in groups:
            chunk = group.column(index)
            if (
                not chunk.has_dictionary_page
                or chunk.compression not in _CODECS
                or chunk.total_compressed_size > _MAX_COLUMN_BYTES
            ):
                return False
    return all(
        _has_small_dictionary(source, groups[0].column(schema.get_field_index(name))) for name in block if groups
    )


def _has_small_dictionary(source: pa.NativeFile, chunk: pq.ColumnChunkMetaData) -> bool:
    """Whether the dictionary of a column chunk is small; checked before anything is decoded."""
    try:
        header, _ = _record(memoryview(source.read_at(_HEADER_BYTES, chunk.dictionary_page_offset)), 0)
        return bool(header[_DICTIONARY_HEADER][1] <= _MAX_TEXTS)
    except _PAGE_FAULTS:
        return False


def coded(
    file: pq.ParquetFile,
    source: pa.NativeFile,
    schema: pa.Schema,
    group: int,
    block: Sequence[str],
) -> dict[str, Column] | None:
    """The columns of one group of rows; None if one of them is stored in another way."""
    from credimi.kernels.reading.parquet_pages import MORE_ROOM  # noqa: PLC0415  (loads compiled code)

    rows = file.metadata.row_group(group)
    room = np.empty((2, rows.num_rows + MORE_ROOM), dtype=np.uint8)
    columns: dict[str, Column] = {}
    try:
        for name in block:
            index = schema.get_field_index(name)
            optional = file.schema.column(index).max_definition_level == 1
            chunk = rows.column(index)
            content = source.read_at(chunk.total_compressed_size, chunk.dictionary_page_offset)
            codes = np.empty(rows.num_rows, dtype=np.uint8)
            texts = _decode(memoryview(content), _CODECS[chunk.compression], room, codes, optional=optional)
            columns[name] = Column(codes, TEXT, texts)
    except _PAGE_FAULTS:  # pyarrow will report them
        return None
    return columns


def _decode(
    content: memoryview, codec: str | None, room: ByteArray, codes: ByteArray, *, optional: bool
) -> tuple[str, ...]:
    """Fill the codes of a column from its pages; return the dictionary, which is the first page."""
    from credimi.kernels.reading.parquet_pages import decode_page  # noqa: PLC0415  (loads compiled code)

    texts: tuple[str, ...] | None = None
    position = done = 0
    while done < codes.size:
        header, position = _record(content, position)
        if not 0 <= header[_PACKED] <= len(content) - position or not 0 <= header[_SIZE] <= _MAX_PAGE_BYTES:
            raise _OtherStorageError
        page = content[position : position + header[_PACKED]]
        position += header[_PACKED]
        if texts is None:
            texts = _texts(header, _unpacked(page, codec, header[_SIZE]))
            continue
        values, levels, indices = _streams(header, page, codec, optional=optional)
        part = codes[done : done + values]
        if part.size < values or not decode_page(_byte_array(levels), _byte_array(indices), len(texts), room, part):
            raise _OtherStorageError
        done += values
    return texts or ()


def _byte_array(content: bytes | memoryview) -> ByteArray:
    """Bytes as a read-only array: the kernels are compiled for read-only arrays."""
    return np.frombuffer(content, dtype=np.uint8) if len(content) else _NO_BYTES


def _streams(header: Header, page: memoryview, codec: str | None, *, optional: bool) -> tuple[int, Bytes, Bytes]:
    """The number of rows of a page, the levels, which say which rows have a value, and the indices of the values."""
    if header[_TYPE] == _DATA:
        values, encoding, kind = (header[_DATA_HEADER][field] for field in (1, 2, 3))
        content = _unpacked(page, codec, header[_SIZE])
        size = int.from_bytes(content[:4], "little") if optional else 0
        start = 4 if optional else 0
        if optional and kind != _RUNS:
            raise _OtherStorageError
        levels: Bytes
        indices: Bytes
        levels, indices = content[start : start + size], content[start + size :]
    elif header[_TYPE] == _DATA_2:
        page_header = header[_DATA_HEADER_2]
        values, encoding, size = page_header[1], page_header[4], page_header[5]
        packed = codec if page_header.get(7, True) else None
        levels, indices = page[:size], _unpacked(page[size:], packed, header[_SIZE] - size)
    else:
        raise _OtherStorageError
    if encoding not in (_PLAIN_DICTIONARY, _INDICES) or values <= 0 or bool(size) != optional:
        raise _OtherStorageError
    return values, levels, indices


def _unpacked(page: memoryview, codec: str | None, size: int) -> Bytes:
    if codec is None or not len(page):
        return page
    return memoryview(pa.decompress(page, size, codec, asbytes=True))


def _texts(header: Header, content: Bytes) -> tuple[str, ...]:
    """The texts of a dictionary page."""
    dictionary_header = header.get(_DICTIONARY_HEADER, {})
    if (
        header[_TYPE] != _DICTIONARY
        or dictionary_header[2] not in (_PLAIN, _PLAIN_DICTIONARY)
        or dictionary_header[1] > _MAX_TEXTS
    ):
        raise _OtherStorageError
    texts, start = [], 0
    for _ in range(dictionary_header[1]):
        end = start + 4 + int.from_bytes(content[start : start + 4], "little")
        if end > len(content):
            raise _OtherStorageError
        texts.append(str(content[start + 4 : end], "utf-8"))
        start = end
    if len(set(texts)) < len(texts):
        raise _OtherStorageError
    return tuple(texts)


def _record(content: Bytes, position: int) -> tuple[Header, int]:
    """A record of Thrift's compact protocol as a dictionary by field number, and where it ends; lists are not read."""
    fields: Header = {}
    field = 0
    while content[position]:
        kind, step = content[position] & 15, content[position] >> 4
        position += 1
        if step:
            field += step
        else:
            number, position = _number(content, position)
            field = _signed(number)
        if kind in (1, 2):  # true, false
            fields[field] = kind == 1
        elif kind == 3:  # a byte
            fields[field], position = content[position], position + 1
        elif kind in (4, 5, 6):  # whole numbers
            number, position = _number(content, position)
            fields[field] = _signed(number)
        elif kind == 8:  # bytes
            size, position = _number(content, position)
            position += size
        elif kind == 12:  # a record
            fields[field], position = _record(content, position)
        else:
            raise _OtherStorageError
    return fields, position + 1


def _number(content: Bytes, position: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[position]
        number |= (byte & 127) << shift
        position, shift = position + 1, shift + 7
        if byte < 128:
            return number, position
        if shift > _MAX_BITS:
            raise _OtherStorageError


def _signed(number: int) -> int:
    return (number >> 1) ^ -(number & 1)
