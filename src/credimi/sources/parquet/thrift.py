"""Records of Thrift's compact protocol: the headers of the pages of a Parquet file, and what its footer tells of them.

pyarrow reads the same records, and refuses a file whose records are broken. But the process ends if it is asked for a
column of a footer in which numbers contradict each other, or for an unknown codec. So these are read here.

Fields that are asked for have to be of their kind, and in order. pyarrow passes over the others, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from credimi.core.types import Foreign

    Record = dict[int, Foreign]  # numbers, truth values, bytes, records, and lists of records
    Bytes = bytes | memoryview
    Kinds = Mapping[int, Foreign]  # of fields: a kind, the kinds of a record, or of the records of a list

_TRUE, _FALSE, _BYTE, _SHORT, NUMBER, LONG, _REAL, BYTES, _LIST, _SET, _RECORD = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12
TRUTH = _FALSE  # how both are called in what is asked for
_LAST, _LOW_BITS = 128, 127  # bytes below this are the last of a number; their bits that count
_MAX_SHIFT = 63  # bits of a whole number
_MAX_NUMBER = 1 << 31  # of numbers that are not long
_MANY = 15  # a list of so many has its length in bytes of its own


class OtherStorageError(Exception):
    """The column is stored in a way that is not read here."""


def read_record(content: Bytes, position: int, kinds: Kinds) -> tuple[Record, int]:
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
        number, position = read_number(content, position)
        number = (number >> 1) ^ -(number & 1)
        if kind == LONG or -_MAX_NUMBER <= number < _MAX_NUMBER:
            return number, position
    elif isinstance(wanted, dict) and kind == _RECORD:
        return read_record(content, position, wanted)
    elif isinstance(wanted, list) and kind == _LIST:
        size, kind, position = _list_header(content, position)
        records = []
        for _ in range(size if kind == _RECORD else 0):
            record, position = read_record(content, position, wanted[0])
            records.append(record)
        if len(records) == size:
            return records, position
    elif wanted == TRUTH and kind in (_TRUE, _FALSE):
        return kind == _TRUE, position
    elif wanted == kind == BYTES:
        size, position = read_number(content, position)
        return content[position : position + size], position + size
    raise OtherStorageError


def read_number(content: Bytes, position: int) -> tuple[int, int]:
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
        size, position = read_number(content, position)
    return size, kind, position


def _after(content: Bytes, position: int, kind: int) -> int:
    """Where a value of this kind ends."""
    if kind in (_SHORT, NUMBER, LONG):
        return read_number(content, position)[1]
    if kind == BYTES:
        size, position = read_number(content, position)
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
                position = read_number(content, position)[1]
            position = _after(content, position, head & 15)
        return position + 1
    if kind in (_BYTE, _REAL):
        return position + (1 if kind == _BYTE else 8)
    raise OtherStorageError
