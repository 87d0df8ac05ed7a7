"""Codes of one page of a Parquet file whose values are indices into a dictionary of at most 255 values.

A page has two streams of small numbers: for each row whether there is a value, and for each value its index. Both
consist of runs: of one repeated number, or of groups of eight numbers, packed into as many bytes as a number has bits.
Here they are unpacked into bytes in one pass; a general reader makes 32-bit numbers and sets of bits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.few_bytes import few_bytes
from credimi.compile.jit import NDArray, compiled, inlined

if TYPE_CHECKING:
    Foreign = Any  # integers of numpy or Python

    ByteArray = NDArray[np.uint8]


MORE_ROOM = 8  # bytes more than there are rows: the last group may be incomplete
_EIGHT = 8
_CONTINUES, _LOW_BITS = 128, 127  # bytes from here on are not the last of a number; their bits that count
_MAX_SHIFT = 35  # bits of the length of a run


@inlined
def _unpack(data: ByteArray, start: int, width: Foreign, count: Foreign, out: ByteArray) -> bool:
    """Fill `out` with `count` numbers of `width` bits, 0 to 8, which have to be all that there is from `start` on.

    Return False otherwise: if a run of one number is longer than what is missing, a number has more bits, or bytes are
    left.
    """
    at, done, mask = start, 0, np.uint64((1 << width) - 1)
    while done < count:
        header, shift = np.int64(0), 0
        byte = np.int64(_CONTINUES)
        while byte >= _CONTINUES:
            if at >= data.size or shift > _MAX_SHIFT:
                return False
            byte = np.int64(data[at])
            header |= (byte & _LOW_BITS) << shift
            at, shift = at + 1, shift + 7
        length: Foreign = header >> 1
        if header & 1:
            if length == 0 or at + length * width > data.size:
                return False
            needed = min(length, (count - done + _EIGHT - 1) // _EIGHT)
            for _ in range(needed):
                word = few_bytes(data, at, width)
                for index in range(_EIGHT):
                    out[done + index] = np.uint8((word >> np.uint64(index * width)) & mask)
                at, done = at + width, done + _EIGHT
            at = at + (length - needed) * width  # DuckDB fills the last run up to 256 numbers
        else:
            if length == 0 or length > count - done or at + min(width, 1) > data.size:
                return False
            number = np.uint64(data[at]) if width else np.uint64(0)
            if number > mask:
                return False
            for index in range(length):
                out[done + index] = np.uint8(number)
            at, done = at + min(width, 1), done + length
    return at == data.size


@compiled
def decode_page(levels: ByteArray, indices: ByteArray, values: int, scratch: ByteArray, codes: ByteArray) -> bool:
    """Fill `codes`, with 255 for missing values; return False if the page has another form.

    `levels` says which rows have a value; it is empty if all have. `indices` begins with the number of bits of an
    index. `values` is the size of the dictionary. `scratch` has two rows, `MORE_ROOM` bytes longer than `codes`.
    """
    present, value_indices = scratch[0], scratch[1]
    rows = codes.size
    value_count = np.int64(rows)
    if levels.size:
        if not _unpack(levels, 0, 1, rows, present):
            return False
        value_count = np.int64(0)
        for row in range(rows):
            value_count += np.int64(present[row])
    width = np.int64(indices[0]) if indices.size else np.int64(_EIGHT + 1 if value_count else 0)
    if width > _EIGHT or (value_count and not _unpack(indices, 1, width, value_count, value_indices)):
        return False
    largest = np.uint8(0)
    for index in range(value_count):
        largest = max(largest, value_indices[index])
    if value_count and np.int64(largest) >= values:
        return False
    if value_count == rows:
        for row in range(rows):  # to assign slices Numba would allocate memory
            codes[row] = value_indices[row]
        return True
    next_value = np.uint64(0)
    for row in range(rows):
        codes[row] = value_indices[next_value] | (present[row] - np.uint8(1))
        next_value += np.uint64(present[row])
    return True
