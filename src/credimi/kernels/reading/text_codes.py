"""Codes for a column of few distinct values, straight from Arrow's buffers.

A text of at most sixteen bytes is two integers, its first and its last eight bytes (which overlap), and its length a
third; they are looked up in a small table of the texts seen so far, those of one byte in a table of bytes. A longer
text is hashed over all its bytes, and compared byte by byte with the one of the same hash. Few distinct values are
what makes this fast, and the only case it is for: at the 256th it gives up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.reading.few_bytes import LOAD, MULTIPLIER, OTHER_MULTIPLIER, eight_bytes, few_bytes, keys

if TYPE_CHECKING:
    from numpy.typing import NDArray

    ByteArray = NDArray[Any]  # of bytes

MISSING = 255
_SLOTS = 1024  # four times the texts, so that most are found at the first look
_SHIFT, _LAST_SLOT = np.uint64(64 - 10), np.uint64(_SLOTS - 1)
_ROWS = 256  # looked up at once, as long as all their texts are of one byte


@inlined
def _same(data: ByteArray, one: Any, other: Any, length: Any) -> bool:
    for at in range(0, length - LOAD, LOAD):  # the last eight bytes were compared before
        if few_bytes(data, one + at, LOAD) != few_bytes(data, other + at, LOAD):
            return False
    return True


@inlined
def _valid(bits: ByteArray, place: Any) -> Any:
    return np.int64((bits[place >> 3] >> (place & 7)) & 1)


@inlined
def _longest(offsets: NDArray[Any]) -> Any:
    longest = offsets[0] - offsets[0]
    for row in range(offsets.size - 1):
        longest = max(longest, offsets[row + 1] - offsets[row])
    return longest


@inlined
def _look_up_bytes(
    offsets: NDArray[Any], data: ByteArray, valid: ByteArray, bit: int, code_of_byte: ByteArray, codes: ByteArray
) -> bool:
    """Fill `codes` for texts of at most one byte; False if one of them is not known yet.

    Nothing is asked of the single row: no processor can guess which are empty or missing.
    """
    unknown = np.uint8(0)
    for row in range(codes.size):
        start = np.uint64(offsets[row])
        code = code_of_byte[np.uint64(data[start]) + np.uint64(256) * (np.uint64(offsets[row + 1]) - start)]
        there = np.uint8(1) if valid.size == 0 else np.uint8(_valid(valid, bit + row))
        codes[row] = code | np.uint8(there - np.uint8(1))
        unknown |= np.uint8(code == MISSING) & there
    return bool(unknown == 0)


@inlined
def _look_up_words(
    offsets: NDArray[Any],
    data: ByteArray,
    valid: ByteArray,
    bit: int,
    masks: NDArray[np.uint64],
    first: NDArray[np.uint64],
    lengths: NDArray[np.int64],
    slot_code: ByteArray,
    codes: ByteArray,
) -> bool:
    """The same for texts of at most eight bytes, those that are found at the first look."""
    unknown = np.uint8(0)
    for row in range(codes.size):
        start = np.int64(offsets[row])
        length = np.int64(offsets[row + 1]) - start
        key = np.uint64(eight_bytes(data, start) & masks[np.uint64(length)])
        slot = ((key + np.uint64(length)) * MULTIPLIER) >> _SHIFT
        there = np.uint8(1) if valid.size == 0 else np.uint8(_valid(valid, bit + row))
        codes[row] = slot_code[slot] | np.uint8(there - np.uint8(1))
        unknown |= (np.uint8(first[slot] != key) | np.uint8(lengths[slot] != length)) & there
    return bool(unknown == 0)


@compiled
def encode_texts(
    offsets: NDArray[Any],
    data: ByteArray,
    valid: ByteArray,
    valid_offset: int,
    codes: ByteArray,
    examples: NDArray[np.int64],
) -> int:
    """Fill `codes` in the order of first appearance, and `examples`, a row of each; return their number.

    `offsets` are the rows' own, one more than rows; `valid` holds Arrow's bits from `valid_offset` on, or nothing. -1
    is returned if the texts are too many.
    """
    first, final = np.zeros(_SLOTS, dtype=np.uint64), np.zeros(_SLOTS, dtype=np.uint64)
    lengths, starts = np.full(_SLOTS, -1, dtype=np.int64), np.zeros(_SLOTS, dtype=np.int64)
    slot_code = np.zeros(_SLOTS, dtype=np.uint8)
    code_of_byte = np.full(2 * 256, MISSING, dtype=np.uint8)  # of the empty text, 256 times; then of those of one byte
    masks = np.zeros(LOAD + 1, dtype=np.uint64)  # of a text's bytes among eight
    for size in range(1, LOAD + 1):
        masks[size] = ~np.uint64(0) >> np.uint64(8 * (LOAD - size))
    seen = 0
    for block in range(0, codes.size, _ROWS):
        stop = min(block + _ROWS, codes.size)
        own, part, bit = offsets[block : stop + 1], codes[block:stop], valid_offset + block
        longest = _longest(own)
        if longest <= LOAD and own[part.size] + LOAD <= data.size:  # eight bytes can be read wherever a text starts
            if longest <= 1:
                if _look_up_bytes(own, data, valid, bit, code_of_byte, part):
                    continue
            elif _look_up_words(own, data, valid, bit, masks, first, lengths, slot_code, part):
                continue
        for row in range(block, stop):
            if valid.size > 0 and _valid(valid, valid_offset + row) == 0:
                codes[row] = MISSING
                continue
            start = np.int64(offsets[row])
            length = np.int64(offsets[row + 1]) - start
            if length <= 1:
                codes[row] = code_of_byte[256 + np.int64(data[start]) if length else 0]
                if codes[row] != MISSING:
                    continue
            key, last = keys(data, start, length)
            slot = ((key + np.uint64(length)) * MULTIPLIER ^ last * OTHER_MULTIPLIER) >> _SHIFT
            while lengths[slot] >= 0:
                alike = first[slot] == key and final[slot] == last and lengths[slot] == length
                if alike and (length <= 2 * LOAD or _same(data, start, starts[slot], length)):
                    break
                slot = (slot + np.uint64(1)) & _LAST_SLOT
            if lengths[slot] < 0:
                if seen == MISSING:
                    return -1
                first[slot], final[slot], lengths[slot], starts[slot], slot_code[slot] = key, last, length, start, seen
                examples[seen] = row
                if length == 0:
                    code_of_byte[:256] = seen
                elif length == 1:
                    code_of_byte[256 + np.int64(data[start])] = seen
                seen += 1
            codes[row] = slot_code[slot]
    return seen


@compiled
def encode_integers(
    keys: NDArray[np.int64], valid: ByteArray, valid_offset: int, codes: ByteArray, examples: NDArray[np.int64]
) -> int:
    """The same for integers of any size, such as the addresses of Python's objects, or the bits of doubles."""
    slot_key, slot_code = np.zeros(_SLOTS, dtype=np.int64), np.full(_SLOTS, MISSING, dtype=np.uint8)
    seen = 0
    all_valid = valid.size == 0
    for row in range(codes.size):
        if not all_valid and _valid(valid, valid_offset + row) == 0:
            codes[row] = MISSING
            continue
        key = keys[row]
        slot = (np.uint64(key) * MULTIPLIER) >> _SHIFT
        while slot_code[slot] != MISSING and slot_key[slot] != key:
            slot = (slot + np.uint64(1)) & _LAST_SLOT
        if slot_code[slot] == MISSING:
            if seen == MISSING:
                return -1
            slot_key[slot], slot_code[slot] = key, seen
            examples[seen] = row
            seen += 1
        codes[row] = slot_code[slot]
    return seen


@compiled
def narrow(values: NDArray[Any], least: int, valid: ByteArray, valid_offset: int, codes: NDArray[Any]) -> None:
    """Fill `codes` with the distance of each value from the least, with all bits set where it is not valid."""
    if valid.size == 0:
        for row in range(codes.size):
            codes[row] = values[row] - least
        return
    ahead = min(-valid_offset % 8, codes.size)  # rows before the first whole byte of bits
    whole = ahead + (codes.size - ahead) // 8 * 8
    for row in range(ahead):
        codes[row] = (values[row] - least) | (_valid(valid, valid_offset + row) - 1)
    for row in range(ahead, whole, 8):
        byte = np.int64(valid[(valid_offset + row) >> 3])
        for place in range(8):
            codes[row + place] = (values[row + place] - least) | (((byte >> place) & 1) - 1)
    for row in range(whole, codes.size):
        codes[row] = (values[row] - least) | (_valid(valid, valid_offset + row) - 1)
