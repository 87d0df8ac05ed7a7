"""Codes for a column of few distinct values, straight from Arrow's buffers.

The key of a text of at most sixteen bytes is three integers: its first and its last eight bytes (which may overlap),
and its length. Keys are looked up in a small table of the texts seen so far, those of one byte in a table of bytes. A
longer text is hashed over all its bytes, and compared byte by byte with the one of the same hash. This is fast for few
distinct values only: at the 256th it gives up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.few_bytes import LOAD, MULTIPLIER, OTHER_MULTIPLIER, eight_bytes, few_bytes, keys
from credimi.compile.jit import NDArray, compiled, inlined

if TYPE_CHECKING:
    ByteArray = NDArray[Any]  # of bytes


MISSING = 255
_SLOTS = 1024  # four times the texts, so that most are found in their first slot
_SHIFT, _LAST_SLOT = np.uint64(64 - 10), np.uint64(_SLOTS - 1)
_BATCH_ROWS = 256  # looked up at once, if all their texts are short


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

    There is no branch for a row: the processor could not predict which are empty or missing.
    """
    unknown = np.uint8(0)
    for row in range(codes.size):
        start = np.uint64(offsets[row])
        code = code_of_byte[np.uint64(data[start]) + np.uint64(256) * (np.uint64(offsets[row + 1]) - start)]
        is_present = np.uint8(1) if valid.size == 0 else np.uint8(_is_valid(valid, bit + row))
        codes[row] = code | np.uint8(is_present - np.uint8(1))
        unknown |= np.uint8(code == MISSING) & is_present
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
    """The same for texts of at most eight bytes; False also if a text is not in its first slot."""
    unknown = np.uint8(0)
    for row in range(codes.size):
        start = np.int64(offsets[row])
        length = np.int64(offsets[row + 1]) - start
        key = np.uint64(eight_bytes(data, start) & masks[np.uint64(length)])
        slot = ((key + np.uint64(length)) * MULTIPLIER) >> _SHIFT
        is_present = np.uint8(1) if valid.size == 0 else np.uint8(_is_valid(valid, bit + row))
        codes[row] = slot_code[slot] | np.uint8(is_present - np.uint8(1))
        unknown |= (np.uint8(first[slot] != key) | np.uint8(lengths[slot] != length)) & is_present
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
    """Fill `codes` in the order of first appearance, and `examples`, one row of each text; return how many texts.

    `offsets` has one element more than rows; `valid` has Arrow's bits from `valid_offset` on, or is empty. If there are
    too many texts, -1 is returned.
    """
    first, final = np.zeros(_SLOTS, dtype=np.uint64), np.zeros(_SLOTS, dtype=np.uint64)
    lengths, starts = np.full(_SLOTS, -1, dtype=np.int64), np.zeros(_SLOTS, dtype=np.int64)
    slot_code = np.zeros(_SLOTS, dtype=np.uint8)
    code_of_byte = np.full(2 * 256, MISSING, dtype=np.uint8)  # of the empty text, 256 times; then of texts of one byte
    masks = np.zeros(LOAD + 1, dtype=np.uint64)  # of the bytes of a text among eight
    for size in range(1, LOAD + 1):
        masks[size] = ~np.uint64(0) >> np.uint64(8 * (LOAD - size))
    text_count = 0
    for block in range(0, codes.size, _BATCH_ROWS):
        stop = min(block + _BATCH_ROWS, codes.size)
        block_offsets, block_codes, bit = offsets[block : stop + 1], codes[block:stop], valid_offset + block
        longest = _longest(block_offsets)
        # The second condition: eight bytes can be read wherever a text starts.
        if longest <= LOAD and block_offsets[block_codes.size] + LOAD <= data.size:
            if longest <= 1:
                if _look_up_bytes(block_offsets, data, valid, bit, code_of_byte, block_codes):
                    continue
            elif _look_up_words(block_offsets, data, valid, bit, masks, first, lengths, slot_code, block_codes):
                continue
        for row in range(block, stop):
            if valid.size > 0 and _is_valid(valid, valid_offset + row) == 0:
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
                    code_of_byte[:256] = text_count
                elif length == 1:
                    code_of_byte[256 + np.int64(data[start])] = text_count
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
