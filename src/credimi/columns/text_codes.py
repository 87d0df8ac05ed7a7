"""Codes for a column of few distinct values, straight from Arrow's buffers.

The key of a text of at most sixteen bytes is three integers: its first and its last eight bytes (which may overlap),
and its length. Keys are looked up in a small table of the texts seen so far, those of one byte in a table of bytes. A
longer text is hashed over all its bytes, and compared byte by byte with the one of the same hash. This is fast for few
distinct values only: at the 256th it gives up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.few_bytes import LOAD, MULTIPLIER, OTHER_MULTIPLIER, few_bytes, keys
from credimi.compile.jit import NDArray, compiled, inlined

if TYPE_CHECKING:
    ByteArray = NDArray[Any]  # of bytes


MISSING = 255
_SLOTS = 1024  # four times the texts, so that most are found in their first slot
_SHIFT, _LAST_SLOT = np.uint64(64 - 10), np.uint64(_SLOTS - 1)


@inlined
def _have_same_start(data: ByteArray, one: Any, other: Any, length: Any) -> bool:
    """Whether two texts have the same bytes, except perhaps the last eight."""
    for at in range(0, length - LOAD, LOAD):  # the last eight bytes were compared before
        if few_bytes(data, one + at, LOAD) != few_bytes(data, other + at, LOAD):
            return False
    return True


@inlined
def _is_valid(bits: ByteArray, index: Any) -> Any:
    return np.int64((bits[index >> 3] >> (index & 7)) & 1)


@compiled
def encode_texts(
    offsets: NDArray[Any],
    data: ByteArray,
    valid: ByteArray,
    valid_offset: int,
    codes: ByteArray,
    examples: NDArray[np.int64],
) -> int:
    """Fill `codes` in the order of first appearance, and `examples`, one row of each text; return how many texts.

    `offsets` has one element more than rows; `valid` has Arrow's bits from `valid_offset` on, or is empty. If there are
    too many texts, -1 is returned.
    """
    first, final = np.zeros(_SLOTS, dtype=np.uint64), np.zeros(_SLOTS, dtype=np.uint64)
    lengths, starts = np.full(_SLOTS, -1, dtype=np.int64), np.zeros(_SLOTS, dtype=np.int64)
    slot_code = np.zeros(_SLOTS, dtype=np.uint8)
    code_of_byte = np.full(257, MISSING, dtype=np.uint8)  # of texts of one byte; then of the empty text
    text_count = 0
    for row in range(codes.size):
        if valid.size > 0 and _is_valid(valid, valid_offset + row) == 0:
            codes[row] = MISSING
            continue
        start = np.int64(offsets[row])
        length = np.int64(offsets[row + 1]) - start
        if length <= 1:
            codes[row] = code_of_byte[np.int64(data[start]) if length else 256]
            if codes[row] != MISSING:
                continue
        key, last = keys(data, start, length)
        slot = ((key + np.uint64(length)) * MULTIPLIER ^ last * OTHER_MULTIPLIER) >> _SHIFT
        while lengths[slot] >= 0:
            has_same_key = first[slot] == key and final[slot] == last and lengths[slot] == length
            if has_same_key and (length <= 2 * LOAD or _have_same_start(data, start, starts[slot], length)):
                break
            slot = (slot + np.uint64(1)) & _LAST_SLOT
        if lengths[slot] < 0:
            if text_count == MISSING:
                return -1
            first[slot], final[slot], lengths[slot], starts[slot], slot_code[slot] = (
                key,
                last,
                length,
                start,
                text_count,
            )
            examples[text_count] = row
            if length == 0:
                code_of_byte[256] = text_count
            elif length == 1:
                code_of_byte[data[start]] = text_count
            text_count += 1
        codes[row] = slot_code[slot]
    return text_count


@compiled
def encode_integers(
    keys: NDArray[np.int64], valid: ByteArray, valid_offset: int, codes: ByteArray, examples: NDArray[np.int64]
) -> int:
    """The same for integers of any size, such as the addresses of Python's objects, or the bits of doubles."""
    slot_key, slot_code = np.zeros(_SLOTS, dtype=np.int64), np.full(_SLOTS, MISSING, dtype=np.uint8)
    key_count = 0
    all_valid = valid.size == 0
    for row in range(codes.size):
        if not all_valid and _is_valid(valid, valid_offset + row) == 0:
            codes[row] = MISSING
            continue
        key = keys[row]
        slot = (np.uint64(key) * MULTIPLIER) >> _SHIFT
        while slot_code[slot] != MISSING and slot_key[slot] != key:
            slot = (slot + np.uint64(1)) & _LAST_SLOT
        if slot_code[slot] == MISSING:
            if key_count == MISSING:
                return -1
            slot_key[slot], slot_code[slot] = key, key_count
            examples[key_count] = row
            key_count += 1
        codes[row] = slot_code[slot]
    return key_count
