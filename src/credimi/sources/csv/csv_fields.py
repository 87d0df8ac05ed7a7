"""From the bytes of a CSV file straight to codes, if fields are plain or quoted as a whole.

Delimiters and line ends outside quotes are found 64 bytes at a time, and the end of each field is stored. After about a
hundred kilobytes, while these bytes are still in the processor's cache, the fields of the complete rows among them are
looked up, column by column. The key of a text of at most sixteen bytes is two integers and its length; that of a longer
one is two hashes, and the text is compared byte by byte with the known one. The texts of a column are kept from call to
call.

Other data are left to other readers. A part is refused if it has a quote inside a field, a line end of another kind, or
a row of more or fewer fields. A column is given up if it has more than 255 texts, or one of more than `LONGEST` bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.few_bytes import LOAD, MULTIPLIER, OTHER_MULTIPLIER, eight_bytes, few_bytes, keys
from credimi.compile.jit import NDArray, compiled, inlined, intrinsic, ir, types
from credimi.compile.words import equal_bits

if TYPE_CHECKING:
    Foreign = Any  # integers of numpy or Python, or objects of llvmlite, which has no type hints

    ByteArray = NDArray[np.uint8]
    Words = NDArray[np.uint64]
    State = tuple[int, int, np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]


MAX_TEXTS = 255  # maximum of a column: as many as codes of a byte, except the one that means missing
LONGEST = 64  # maximum number of bytes of a text, a multiple of eight
SLOTS = 512  # of a column's table of texts
SLOT = 4  # numbers in each: two of the text; its length + 1, or 0 if the slot is empty; its code
TAIL = 128  # bytes for the end of a part: less than a word of 64, and a line end
MORE_ENDS = 72  # more than there are bytes: one before the first field, one after the last, and groups of eight
_WORD = 64
_BATCH_WORDS = 2_048  # whose fields are found before they are looked up; they and their ends fit into the second cache
_RETURN, _LINE_END, _QUOTE = np.uint8(13), np.uint8(10), np.uint8(34)
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_SHIFT, _LAST_SLOT = np.uint64(64 - 9), np.uint64(SLOTS - 1)
_LAST_BIT = np.uint64(63)  # bit of a word


@intrinsic
def _lowest_bit(_typing: Foreign, word: Foreign) -> Foreign:
    """The position of the lowest set bit; 64 if there is none."""

    def generate(_context: Foreign, builder: Foreign, _signature: Foreign, arguments: Foreign) -> Foreign:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(word), generate


@intrinsic
def _bit_count(_typing: Foreign, word: Foreign) -> Foreign:
    """The number of set bits."""

    def generate(_context: Foreign, builder: Foreign, _signature: Foreign, arguments: Foreign) -> Foreign:
        return builder.ctpop(arguments[0])

    return types.int64(word), generate


@inlined
def _fill_tail(data: ByteArray, start: int, tail: ByteArray) -> None:
    """Copy the data from `start` on, followed by zeros; with loops, as Numba allocates memory to assign slices."""
    for at in range(tail.size):
        tail[at] = 0
    for at in range(data.size - start):
        tail[at] = data[start + at]


@inlined
def _inside_quotes(quotes: np.uint64, inside_before: np.uint64) -> np.uint64:
    """Which bytes are inside quotes, including the opening quote.

    Bit i is the parity of the number of quotes up to byte i. If the byte before was inside, all bits of `inside_before`
    are set.
    """
    for shift in (1, 2, 4, 8, 16, 32):
        quotes ^= quotes << np.uint64(shift)
    return np.uint64(quotes ^ inside_before)


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
    """Store the ends of the fields in a range of words of 64 bytes; `offset` is where the data begin in the part.

    The state has the number of fields so far, and the number of the field that ends the next line; whether the last
    byte was a CR, inside quotes (then all bits are set), the end of a field, a closing quote; and whether there was
    any quote. If the data are refused, the number of fields is -1.
    """
    count, last_of_line, was_return, inside, was_end, was_closing, any_quotes = state
    for word in range(words[0], words[1]):
        lines, delimiters = equal_bits(data, word, _LINE_END), equal_bits(data, word, delimiter)
        carriage, quotes = equal_bits(data, word, _RETURN), equal_bits(data, word, _QUOTE)
        faults = np.uint64(0)
        if quotes | inside | was_closing:
            any_quotes = _ONE
            quoted = _inside_quotes(quotes, inside)
            inside = np.uint64(0) - (quoted >> _LAST_BIT)
            lines, delimiters, carriage = lines & ~quoted, delimiters & ~quoted, carriage & ~quoted
            separators = lines | delimiters
            # Faults are opening quotes that are not at the beginning of a field, and closing ones not at the end.
            faults |= (quotes & quoted) & ~((separators << _ONE) | was_end)
            closing = quotes & ~quoted
            faults |= ((closing << _ONE) | was_closing) & ~(separators | carriage)
            was_closing = closing >> _LAST_BIT
        field_ends = lines | delimiters
        was_end = field_ends >> _LAST_BIT
        faults |= (((carriage << _ONE) | was_return) ^ lines) if returns else carriage
        was_return = carriage >> _LAST_BIT
        while lines:
            lowest = lines & (~lines + _ONE)
            if count + _bit_count(field_ends & (lowest - _ONE)) != last_of_line:
                faults |= _ONE
            last_of_line += columns
            lines ^= lowest
        if faults:
            return -1, last_of_line, was_return, inside, was_end, was_closing, any_quotes
        next_count, base = count + _bit_count(field_ends), offset + word * _WORD
        while count < next_count:  # eight at a time: their number is unpredictable for the processor
            for bit in range(LOAD):
                ends[count + 1 + bit] = base + _lowest_bit(field_ends)
                field_ends &= field_ends - _ONE
            count += LOAD
        count = next_count
    return count, last_of_line, was_return, inside, was_end, was_closing, any_quotes


@inlined
def _is_quoted(data: ByteArray, start: Foreign, length: Foreign) -> int:
    """1 if a field is quoted, else 0; a field that begins with a quote is known to end with one."""
    return 1 if length > 1 and data[start] == _QUOTE else 0


@inlined
def _byte_mask(length: Foreign) -> np.uint64:
    """A mask of the lowest bytes of a word, `length` of them, 0 to 8."""
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
    text_count: int,
) -> Foreign:
    """The code of a text, which is `text_count` if it is new; -1 if it is too long, or if there are too many texts."""
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
    if text_count == MAX_TEXTS:
        return -1
    at = np.uint64(SLOT) * slot
    table[at], table[at + _ONE], table[at + _TWO], table[at + _THREE] = first, last, length + 1, text_count
    lengths[text_count] = length
    for byte in range(length):
        texts[text_count, byte] = data[start + byte]
    return text_count


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
    text_count: int,
    codes: ByteArray,
) -> int:
    """Fill the codes of a range of rows of one column; return how many texts it has now, -1 if it is given up."""
    row, field_step = np.uint64(rows[0]), np.uint64(columns)
    stop, last_safe = np.uint64(rows[1]), data.size - 2 * LOAD
    end_index = row * field_step + np.uint64(column)
    while row < stop:
        start = np.int64(ends[end_index]) + 1
        length = np.int64(ends[end_index + _ONE]) - cut - start
        if quoted:
            quotes = _is_quoted(data, start, length)
            start, length = start + quotes, length - 2 * quotes
        if length <= 2 * LOAD and start <= last_safe:  # usual; and usually the text is known, and in its first slot
            first = eight_bytes(data, start) & _byte_mask(min(length, LOAD))
            last = eight_bytes(data, start + LOAD) & _byte_mask(max(length - LOAD, 0))
            at = np.uint64(SLOT) * _slot_of(first, last, length)
            difference = (table[at] ^ first) | (table[at + _ONE] ^ last) | (table[at + _TWO] ^ np.uint64(length + 1))
            if difference == np.uint64(0):
                codes[row] = np.uint8(table[at + _THREE])
                row += _ONE
                end_index += field_step
                continue
        code = _look_up(data, start, length, table, texts, lengths, text_count)
        if code < 0:
            return -1
        text_count = max(text_count, code + 1)
        codes[row] = np.uint8(code)
        row += _ONE
        end_index += field_step
    return text_count


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
    text_counts: NDArray[np.int64],
    codes: ByteArray,
) -> int:
    """Fill `codes` of the wanted columns of whole lines; return the number of rows, -1 if the part is refused.

    `returns` says that lines end in CR LF; the last line need not have an end. `ends` receives the end of each field,
    from the second element on; the first is -1. It has `MORE_ENDS` elements more than there are bytes. `tail` is
    scratch of `TAIL` bytes. `table`, `texts`, `lengths` and `text_counts` hold the texts of each wanted column from
    earlier calls; all are 0 at first, and `text_counts` is -1 once a column is given up.
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
    delimiter_byte = np.uint8(delimiter)
    state = 0, columns - 1, np.uint64(0), np.uint64(0), _ONE, np.uint64(0), np.uint64(0)
    word = done_rows = 0
    while word <= words:
        if word < words:
            stop = min(word + _BATCH_WORDS, words)
            state = _find_ends(data, (word, stop), 0, delimiter_byte, columns, returns, ends, state)
            word = stop
        else:
            state = _find_ends(tail, (0, 2), words * _WORD, delimiter_byte, columns, returns, ends, state)
            word = words + 1
        if state[0] < 0:
            return -1
        whole_rows = (state[1] + 1) // columns - 1
        for index in range(wanted.size):
            if text_counts[index] >= 0:
                column = wanted[index]
                cut = 1 if returns and column == columns - 1 else 0
                column_state = table[index], texts[index], lengths[index], text_counts[index], codes[index]
                text_counts[index] = _encode_rows(
                    data, (done_rows, whole_rows), columns, column, cut, state[6], ends, *column_state
                )
        done_rows = whole_rows
    return -1 if state[3] else done_rows


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
    """Copy the texts of one column and fill their offsets, as in Arrow; return the number of bytes.

    `ends` are those of `encode_fields`; `cut` is 1 if a CR follows each text.
    """
    written = 0
    for row in range(offsets.size - 1):
        offsets[row] = written
        at = row * columns + column
        start = np.int64(ends[at]) + 1
        length = np.int64(ends[at + 1]) - cut - start
        quotes = _is_quoted(data, start, length)
        start, length = start + quotes, length - 2 * quotes
        for byte in range(length):
            out[written + byte] = data[start + byte]
        written += int(length)
    offsets[offsets.size - 1] = written
    return written
