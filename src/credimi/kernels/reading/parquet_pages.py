"""Codes of one page of a Parquet file whose values are places in a dictionary of at most 255.

A page has two streams of small numbers: for each row whether there is a value, and for each value its place. Both are
runs: of one number that repeats, or of groups of eight, packed into as many bytes as a number has bits. They are
unpacked into bytes here, at one go, where a reader for all purposes makes numbers of 32 bits and sets of bits of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.reading.few_bytes import few_bytes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Foreign = Any  # integers of numpy or Python; what llvmlite has, which has no types

    ByteArray = NDArray[np.uint8]

MORE_ROOM = 8  # than there are rows: the last group may be filled up
_EIGHT = 8
_MORE, _LOW = 128, 127  # a byte of a number that goes on, and its bits that count
_LONGEST = 35  # bits of a number that tells how long a run is


@inlined
def _unpack(data: ByteArray, start: int, width: Foreign, count: Foreign, out: ByteArray) -> bool:
    """Fill `out` with so many numbers of `width` bits, 0 to 8; False if the data are not like this."""
    at, done, mask = start, 0, np.uint64((1 << width) - 1)
    while done < count:
        header, shift = np.int64(0), 0
        byte = np.int64(_MORE)
        while byte >= _MORE:
            if at >= data.size or shift > _LONGEST:
                return False
            byte = np.int64(data[at])
            header |= (byte & _LOW) << shift
            at, shift = at + 1, shift + 7
        if header & 1:
            groups = min(header >> 1, (count - done + _EIGHT - 1) // _EIGHT)
            if at + groups * width > data.size:
                return False
            for _ in range(groups):
                word = few_bytes(data, at, width)
                for place in range(_EIGHT):
                    out[done + place] = np.uint8((word >> np.uint64(place * width)) & mask)
                at, done = at + width, done + _EIGHT
            if groups == 0:
                return False
        else:
            run = min(header >> 1, count - done)
            if run == 0 or (width and at >= data.size):
                return False
            number = np.uint8(np.uint64(data[at]) & mask) if width else np.uint8(0)
            for place in range(run):
                out[done + place] = number
            at, done = at + min(width, 1), done + run
    return True


@compiled
def decode_page(levels: ByteArray, places: ByteArray, values: int, room: ByteArray, codes: ByteArray) -> bool:
    """Fill `codes`, 255 where there is no value; False if the page is not like this.

    `levels` says where values are, nothing if everywhere; `places` begins with the bits of each. `values` are those of
    the dictionary. `room` is two rows of bytes, each for as many as there are codes and `MORE_ROOM`.
    """
    present, found = room[0], room[1]
    rows = codes.size
    there = np.int64(rows)
    if levels.size:
        if not _unpack(levels, 0, 1, rows, present):
            return False
        there = np.int64(0)
        for row in range(rows):
            there += np.int64(present[row])
    if there:
        width = np.int64(places[0]) if places.size else np.int64(_EIGHT + 1)
        if width > _EIGHT or not _unpack(places, 1, width, there, found):
            return False
    largest = np.uint8(0)
    for place in range(there):
        largest = max(largest, found[place])
    if there and np.int64(largest) >= values:
        return False
    if there == rows:
        for row in range(rows):  # to assign slices Numba asks for memory
            codes[row] = found[row]
        return True
    ahead = np.uint64(0)
    for row in range(rows):
        codes[row] = found[ahead] | (present[row] - np.uint8(1))
        ahead += np.uint64(present[row])
    return True
