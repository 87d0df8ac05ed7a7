"""From the bytes of CSV straight to codes, where fields are plain or stand in quotes as a whole.

Delimiters and line ends outside quotes are found 64 bytes at a time, and where each field ends is written down. A
hundred kilobytes later, while these bytes are still in the processor's own memory, the fields of the whole rows among
them are looked up, column by column: a text of at most sixteen bytes is two integers and its length, a longer one two
hashes, and is compared byte by byte with the one that is known. The texts that a column has shown are kept from call to
call.

What it is not for it leaves to others, and says so: a part with a quote inside a field, a line end of another kind or a
row of more or fewer fields is refused; a column of more than 255 texts, or of one beyond `LONGEST` bytes, is given up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import compiled, inlined, intrinsic, ir, types
from credimi.kernels.reading.few_bytes import LOAD, MULTIPLIER, OTHER_MULTIPLIER, eight_bytes, few_bytes, keys
from credimi.kernels.words import equal_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Foreign = Any  # integers of numpy or Python; what llvmlite has, which has no types

    ByteArray = NDArray[np.uint8]
    Words = NDArray[np.uint64]
    State = tuple[int, int, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]

MOST_TEXTS = 255  # of a column: as many as codes of a byte, but for the one that means missing
LONGEST = 64  # bytes of a text, a multiple of eight
SLOTS = 512  # of a column's table of texts
SLOT = 4  # numbers in each: two of the text, its length and one more, 0 where there is none; its code
TAIL = 128  # bytes that hold the end of a part: less than a word of 64, and a line end
MORE_ENDS = 72  # than there are bytes: one before the first field, one behind the last, and groups of eight
_WORD = 64
_WORDS = 2_048  # whose fields are found before they are looked up: they and their ends stay in the second cache
_RETURN, _LINE_END, _QUOTE = np.uint8(13), np.uint8(10), np.uint8(34)
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_SHIFT, _LAST_SLOT = np.uint64(64 - 9), np.uint64(SLOTS - 1)
_LAST = np.uint64(63)  # bit of a word


@intrinsic
def _lowest_bit(_typing: Foreign, word: Foreign) -> Foreign:
    """Where the lowest bit stands that is set; 64 if there is none."""

    def generate(_context: Foreign, builder: Foreign, _signature: Foreign, arguments: Foreign) -> Foreign:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(word), generate


@intrinsic
def _highest_bit(_typing: Foreign, word: Foreign) -> Foreign:
    """Where the highest bit stands that is set, of which there is one."""

    def generate(_context: Foreign, builder: Foreign, _signature: Foreign, arguments: Foreign) -> Foreign:
        zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 0))
        return builder.sub(ir.IntType(64)(_WORD - 1), zeros)

    return types.int64(word), generate


@intrinsic
def _bits(_typing: Foreign, word: Foreign) -> Foreign:
    """How many bits are set."""

    def generate(_context: Foreign, builder: Foreign, _signature: Foreign, arguments: Foreign) -> Foreign:
        return builder.ctpop(arguments[0])

    return types.int64(word), generate


@inlined
def _fill_tail(data: ByteArray, start: int, tail: ByteArray) -> None:
    """The data from here on, and zeros behind; as loops, since to assign slices Numba asks for memory."""
    for at in range(tail.size):
        tail[at] = 0
    for at in range(data.size - start):
        tail[at] = data[start + at]


@inlined
def _within(quotes: np.uint64, inside: np.uint64) -> np.uint64:
    """Which bytes are inside quotes, the quote that opens among them; `inside` says it of the byte before, in all bits.

    Bit i is the parity of all quotes up to there.
    """
    for shift in (1, 2, 4, 8, 16, 32):
        quotes ^= quotes << np.uint64(shift)
    return np.uint64(quotes ^ inside)


@inlined
def _find_ends(
    data: ByteArray,
    words: tuple[int, int],
    offset: int,
    delimiter: np.uint8,
    columns: int,
    returns: int,
    ends: NDArray[np.int32],
    state: State,
) -> State:
    """Write down where the fields end in some words of 64 bytes; `offset` is where the data begin in the part.

    The state is how many fields there are so far and which of them ends the next line; whether the last byte was a CR,
    inside quotes (then all bits are set), the end of a field, a quote that closes; whether there was a quote. -1 fields
    are a fault.
    """
    count, line, before, inside, ended, closed, some = state
    for word in range(words[0], words[1]):
        lines, between = equal_bits(data, word, _LINE_END), equal_bits(data, word, delimiter)
        carriage, quotes = equal_bits(data, word, _RETURN), equal_bits(data, word, _QUOTE)
        odd = np.uint64(0)
        if quotes | inside | closed:
            some = _ONE
            within = _within(quotes, inside)
            inside = np.uint64(0) - (within >> _LAST)
            lines, between, carriage = lines & ~within, between & ~within, carriage & ~within
            apart = lines | between
            odd |= (quotes & within) & ~((apart << _ONE) | ended)  # opens, but not at the beginning of a field
            closing = quotes & ~within
            odd |= ((closing << _ONE) | closed) & ~(apart | carriage)  # closes, but not at the end
            closed = closing >> _LAST
        found = lines | between
        ended = found >> _LAST
        odd |= (((carriage << _ONE) | before) ^ lines) if returns else carriage
        before = carriage >> _LAST
        while lines:
            lowest = lines & (~lines + _ONE)
            if count + _bits(found & (lowest - _ONE)) != line:
                odd |= _ONE
            line += columns
            lines ^= lowest
        if odd:
            return -1, line, before, inside, ended, closed, some
        behind, base = count + _bits(found), offset + word * _WORD
        while count < behind:  # eight at a time, as no processor can guess how many there are
            for place in range(LOAD):
                ends[count + 1 + place] = base + _lowest_bit(found)
                found &= found - _ONE
            count += LOAD
        count = behind
    return count, line, before, inside, ended, closed, some


@inlined
def _in_quotes(data: ByteArray, start: Foreign, length: Foreign) -> int:
    """1 if a field stands in quotes, else 0; a quote at its beginning has its fellow at its end."""
    return 1 if length > 1 and data[start] == _QUOTE else 0


@inlined
def _bytes_of(length: Foreign) -> np.uint64:
    """The bits of so many bytes, 0 to 8."""
    half = np.uint64(4 * (LOAD - length))
    return np.uint64((~np.uint64(0) >> half) >> half)


@inlined
def _slot_of(first: np.uint64, last: np.uint64, length: Foreign) -> np.uint64:
    return np.uint64(((first + np.uint64(length)) * MULTIPLIER ^ last * OTHER_MULTIPLIER) >> _SHIFT)


@inlined
def _differs(data: ByteArray, start: Foreign, length: Foreign, text: ByteArray) -> bool:
    different = np.uint8(0)
    for at in range(length):
        different |= data[start + at] ^ text[at]
    return bool(different)


@inlined
def _look_up(
    data: ByteArray,
    start: Foreign,
    length: Foreign,
    table: Words,
    texts: ByteArray,
    lengths: NDArray[np.int64],
    seen: int,
) -> Foreign:
    """The code of a text, which is `seen` if it is new; -1 if it is too long, or one too many."""
    if length <= 2 * LOAD:
        first = few_bytes(data, start, min(length, LOAD))
        last = few_bytes(data, start + LOAD, max(length - LOAD, 0))
    elif length <= LONGEST:
        first, last = keys(data, start, length)
    else:
        return -1
    slot = _slot_of(first, last, length)
    while table[SLOT * slot + _TWO]:
        at = np.uint64(SLOT) * slot
        if table[at] == first and table[at + _ONE] == last and table[at + _TWO] == np.uint64(length + 1):
            code = np.int64(table[at + _THREE])
            if length <= 2 * LOAD or not _differs(data, start, length, texts[code]):
                return code
        slot = (slot + _ONE) & _LAST_SLOT
    if seen == MOST_TEXTS:
        return -1
    at = np.uint64(SLOT) * slot
    table[at], table[at + _ONE], table[at + _TWO], table[at + _THREE] = first, last, length + 1, seen
    lengths[seen] = length
    for byte in range(length):
        texts[seen, byte] = data[start + byte]
    return seen


@inlined
def _encode_rows(
    data: ByteArray,
    rows: tuple[int, int],
    columns: int,
    column: int,
    cut: int,
    quoted: np.uint64,
    ends: NDArray[np.int32],
    table: Words,
    texts: ByteArray,
    lengths: NDArray[np.int64],
    seen: int,
    codes: ByteArray,
) -> int:
    """The codes of some rows of one column; how many texts it has shown now, -1 if too many."""
    row, step = np.uint64(rows[0]), np.uint64(columns)
    behind, safe = np.uint64(rows[1]), data.size - 2 * LOAD
    at_end = row * step + np.uint64(column)
    while row < behind:
        start = np.int64(ends[at_end]) + 1
        length = np.int64(ends[at_end + _ONE]) - cut - start
        if quoted:
            quotes = _in_quotes(data, start, length)
            start, length = start + quotes, length - 2 * quotes
        if length <= 2 * LOAD and start <= safe:  # mostly; and mostly it is known, and found at the first look
            first = eight_bytes(data, start) & _bytes_of(min(length, LOAD))
            last = eight_bytes(data, start + LOAD) & _bytes_of(max(length - LOAD, 0))
            at = np.uint64(SLOT) * _slot_of(first, last, length)
            other = (table[at] ^ first) | (table[at + _ONE] ^ last) | (table[at + _TWO] ^ np.uint64(length + 1))
            if other == np.uint64(0):
                codes[row] = np.uint8(table[at + _THREE])
                row += _ONE
                at_end += step
                continue
        code = _look_up(data, start, length, table, texts, lengths, seen)
        if code < 0:
            return -1
        seen = max(seen, code + 1)
        codes[row] = np.uint8(code)
        row += _ONE
        at_end += step
    return seen


@compiled
def encode_fields(
    data: ByteArray,
    delimiter: int,
    columns: int,
    returns: int,
    wanted: NDArray[np.int64],
    tail: ByteArray,
    ends: NDArray[np.int32],
    table: Words,
    texts: ByteArray,
    lengths: NDArray[np.int64],
    seen: NDArray[np.int64],
    codes: ByteArray,
) -> int:
    """Fill `codes` of the wanted columns of whole lines; return the number of rows, -1 if the part is refused.

    `returns` says that lines end in CR LF; the last need not end. `ends` gets where each field ends, from the second
    on; the first is -1. There may be as many fields as bytes, and `MORE_ENDS` beyond. `tail` is room of `TAIL` bytes.
    Of each wanted column, `table`, `texts`, `lengths` and `seen` are what it has shown before; all are 0 at first, and
    `seen` is -1 from the time it is given up.
    """
    words, size = data.size // _WORD, data.size
    rest = size - words * _WORD
    _fill_tail(data, words * _WORD, tail)
    if size and data[size - 1] != _LINE_END:
        if returns:
            tail[rest] = _RETURN
            rest += 1
        tail[rest] = _LINE_END
    ends[0] = -1
    between = np.uint8(delimiter)
    state = 0, columns - 1, np.uint64(0), np.uint64(0), _ONE, np.uint64(0), np.uint64(0)
    word = done = 0
    while word <= words:
        if word < words:
            behind = min(word + _WORDS, words)
            state = _find_ends(data, (word, behind), 0, between, columns, returns, ends, state)
            word = behind
        else:
            state = _find_ends(tail, (0, 2), words * _WORD, between, columns, returns, ends, state)
            word = words + 1
        if state[0] < 0:
            return -1
        whole = (state[1] + 1) // columns - 1  # rows
        for index in range(wanted.size):
            if seen[index] >= 0:
                column = wanted[index]
                cut = 1 if returns and column == columns - 1 else 0
                parts = table[index], texts[index], lengths[index], seen[index], codes[index]
                seen[index] = _encode_rows(data, (done, whole), columns, column, cut, state[6], ends, *parts)
        done = whole
    return -1 if state[3] else done


@compiled
def copy_fields(
    data: ByteArray,
    columns: int,
    column: int,
    cut: int,
    ends: NDArray[np.int32],
    offsets: NDArray[np.int32],
    out: ByteArray,
) -> int:
    """The texts of one column one behind the other, and where each begins, as Arrow has them; return their bytes.

    `ends` are those of `encode_fields`; `cut` is 1 where a CR stands behind each text.
    """
    place = 0
    for row in range(offsets.size - 1):
        offsets[row] = place
        at = row * columns + column
        start = np.int64(ends[at]) + 1
        length = np.int64(ends[at + 1]) - cut - start
        quotes = _in_quotes(data, start, length)
        start, length = start + quotes, length - 2 * quotes
        for byte in range(length):
            out[place + byte] = data[start + byte]
        place += int(length)
    offsets[offsets.size - 1] = place
    return place


@compiled
def find_line_end(data: ByteArray, delimiter: int, tail: ByteArray, found: NDArray[np.int64]) -> bool:
    """Fill `found`: behind the last line end outside quotes, 0 if there is none; if there are quotes; if one is open.

    False if a quote that would open stands inside a field: then it is a letter, and others may not open either. `tail`
    is room of `TAIL` bytes.
    """
    words, between = data.size // _WORD, np.uint8(delimiter)
    _fill_tail(data, words * _WORD, tail)
    inside, ended, some = np.uint64(0), _ONE, np.uint64(0)
    found[0] = 0
    for word in range(words + 1):
        if word < words:
            lines, quotes = equal_bits(data, word, _LINE_END), equal_bits(data, word, _QUOTE)
            apart = lines | quotes | equal_bits(data, word, between) | equal_bits(data, word, _RETURN)
        else:
            lines, quotes = equal_bits(tail, 0, _LINE_END), equal_bits(tail, 0, _QUOTE)
            apart = lines | quotes | equal_bits(tail, 0, between) | equal_bits(tail, 0, _RETURN)
        some |= quotes
        if quotes | inside:
            within = _within(quotes, inside)
            inside = np.uint64(0) - (within >> _LAST)
            if (quotes & within) & ~((apart << _ONE) | ended):
                return False
            lines &= ~within
        ended = apart >> _LAST
        if lines:
            found[0] = word * _WORD + _highest_bit(lines) + 1
    found[1], found[2] = np.int64(some != 0), np.int64(inside != 0)
    return True
