"""Columns of a Parquet file as codes, straight from its pages, where these hold places in a small dictionary.

That is how writers store text of few distinct values. A page's header is read here, the page itself by
`kernels.reading.parquet_pages`; whatever is stored in another way is left to pyarrow.
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
    Header = dict[int, Foreign]  # numbers, booleans, and records of them; of a broken file anything
    Bytes = bytes | memoryview

MOST_CELLS = 20_000_000  # of some columns of a group of rows, which are in memory at once
_MOST_BYTES = 1 << 24  # of a column of a group, packed
_MOST_UNPACKED = 1 << 27  # bytes of a page
_MOST_TEXTS = 255
_SHORT = 256  # bytes that hold a page's header
_LONGEST = 63  # bits of a whole number
_CODECS = {"UNCOMPRESSED": None, "SNAPPY": "snappy", "GZIP": "gzip", "ZSTD": "zstd", "LZ4_RAW": "lz4_raw"}
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3  # kinds of pages
_PLAIN, _PLAIN_DICTIONARY, _RUNS, _PLACES = 0, 2, 3, 8  # encodings
_TYPE, _SIZE, _PACKED, _DATA_HEADER, _DICTIONARY_HEADER, _DATA_HEADER_2 = 1, 2, 3, 5, 7, 8  # fields of a header
_NOTHING = np.frombuffer(bytes(1), dtype=np.uint8)[:0]


class _OtherwiseError(Exception):
    """The column is stored in another way."""


_FAULTS = (  # of pages: another way to store them, a broken header, text that is none
    *(_OtherwiseError, LookupError, ValueError, TypeError, AttributeError, RecursionError),
    *(pa.ArrowException, OSError),
)


def readable(file: pq.ParquetFile, source: pa.NativeFile, schema: pa.Schema, block: Sequence[str]) -> bool:
    """Whether all of these columns may be stored as places in a small dictionary; reading them makes sure."""
    whole, leaves = file.metadata, file.schema
    groups = [whole.row_group(group) for group in range(whole.num_row_groups)]
    if len(leaves) != len(schema.names):  # some are nested
        return False
    if any(group.num_rows * len(block) > MOST_CELLS for group in groups):
        return False
    for name in block:
        place = schema.get_field_index(name)
        kind, leaf = schema.field(place).type, leaves.column(place)
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)) or leaf.physical_type != "BYTE_ARRAY":
            return False
        if leaf.max_repetition_level or leaf.max_definition_level > 1:
            return False
        for group in groups:
            own = group.column(place)
            if not own.has_dictionary_page or own.compression not in _CODECS or own.total_compressed_size > _MOST_BYTES:
                return False
    return all(_begins_well(source, groups[0].column(schema.get_field_index(name))) for name in block if groups)


def _begins_well(source: pa.NativeFile, own: pq.ColumnChunkMetaData) -> bool:
    """Whether the dictionary is small: seen before anything is decoded, of the first group of rows alone."""
    try:
        header, _ = _record(memoryview(source.read_at(_SHORT, own.dictionary_page_offset)), 0)
        return bool(header[_DICTIONARY_HEADER][1] <= _MOST_TEXTS)
    except _FAULTS:
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
    found: dict[str, Column] = {}
    try:
        for name in block:
            place = schema.get_field_index(name)
            optional = file.schema.column(place).max_definition_level == 1
            own = rows.column(place)
            content = source.read_at(own.total_compressed_size, own.dictionary_page_offset)
            codes = np.empty(rows.num_rows, dtype=np.uint8)
            texts = _decode(memoryview(content), _CODECS[own.compression], room, codes, optional=optional)
            found[name] = Column(codes, TEXT, texts)
    except _FAULTS:  # which pyarrow tells
        return None
    return found


def _decode(
    content: memoryview, codec: str | None, room: ByteArray, codes: ByteArray, *, optional: bool
) -> tuple[str, ...]:
    """Fill the codes of a column from its pages; return the dictionary, which is the first of them."""
    from credimi.kernels.reading.parquet_pages import decode_page  # noqa: PLC0415  (loads compiled code)

    texts: tuple[str, ...] | None = None
    at = done = 0
    while done < codes.size:
        header, at = _record(content, at)
        if not 0 <= header[_PACKED] <= len(content) - at or not 0 <= header[_SIZE] <= _MOST_UNPACKED:
            raise _OtherwiseError
        page = content[at : at + header[_PACKED]]
        at += header[_PACKED]
        if texts is None:
            texts = _texts(header, _unpacked(page, codec, header[_SIZE]))
            continue
        values, levels, places = _streams(header, page, codec, optional=optional)
        part = codes[done : done + values]
        if part.size < values or not decode_page(_array(levels), _array(places), len(texts), room, part):
            raise _OtherwiseError
        done += values
    return texts or ()


def _array(content: bytes | memoryview) -> ByteArray:
    """Bytes as the kernels want them, which are compiled for one kind only: not to be written."""
    return np.frombuffer(content, dtype=np.uint8) if len(content) else _NOTHING


def _streams(header: Header, page: memoryview, codec: str | None, *, optional: bool) -> tuple[int, Bytes, Bytes]:
    """How many rows a page has, where values are among them, and which."""
    if header[_TYPE] == _DATA:
        values, encoding, kind = (header[_DATA_HEADER][field] for field in (1, 2, 3))
        content = _unpacked(page, codec, header[_SIZE])
        size = int.from_bytes(content[:4], "little") if optional else 0
        start = 4 if optional else 0
        if optional and kind != _RUNS:
            raise _OtherwiseError
        levels: Bytes
        places: Bytes
        levels, places = content[start : start + size], content[start + size :]
    elif header[_TYPE] == _DATA_2:
        own = header[_DATA_HEADER_2]
        values, encoding, size = own[1], own[4], own[5]
        packed = codec if own.get(7, True) else None
        levels, places = page[:size], _unpacked(page[size:], packed, header[_SIZE] - size)
    else:
        raise _OtherwiseError
    if encoding not in (_PLAIN_DICTIONARY, _PLACES) or values <= 0 or bool(size) != optional:
        raise _OtherwiseError
    return values, levels, places


def _unpacked(page: memoryview, codec: str | None, size: int) -> Bytes:
    if codec is None or not len(page):
        return page
    return memoryview(pa.decompress(page, size, codec, asbytes=True))


def _texts(header: Header, content: Bytes) -> tuple[str, ...]:
    """The dictionary."""
    own = header.get(_DICTIONARY_HEADER, {})
    if header[_TYPE] != _DICTIONARY or own[2] not in (_PLAIN, _PLAIN_DICTIONARY) or own[1] > _MOST_TEXTS:
        raise _OtherwiseError
    texts, at = [], 0
    for _ in range(own[1]):
        behind = at + 4 + int.from_bytes(content[at : at + 4], "little")
        if behind > len(content):
            raise _OtherwiseError
        texts.append(str(content[at + 4 : behind], "utf-8"))
        at = behind
    if len(set(texts)) < len(texts):
        raise _OtherwiseError
    return tuple(texts)


def _record(content: Bytes, at: int) -> tuple[Header, int]:
    """A record of Thrift's compact protocol, fields by their numbers, and where it ends; lists are not read."""
    fields: Header = {}
    field = 0
    while content[at]:
        kind, step = content[at] & 15, content[at] >> 4
        at += 1
        if step:
            field += step
        else:
            number, at = _number(content, at)
            field = _signed(number)
        if kind in (1, 2):  # true, false
            fields[field] = kind == 1
        elif kind == 3:  # a byte
            fields[field], at = content[at], at + 1
        elif kind in (4, 5, 6):  # whole numbers
            number, at = _number(content, at)
            fields[field] = _signed(number)
        elif kind == 8:  # bytes
            size, at = _number(content, at)
            at += size
        elif kind == 12:  # a record
            fields[field], at = _record(content, at)
        else:
            raise _OtherwiseError
    return fields, at + 1


def _number(content: Bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
        if shift > _LONGEST:
            raise _OtherwiseError


def _signed(number: int) -> int:
    return (number >> 1) ^ -(number & 1)
