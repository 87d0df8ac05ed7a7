"""A stream of CSV in parts of whole lines, so that each part can be parsed independently.

A line end inside quotes does not end a line. A quote opens a quoted text only at the beginning of a field, as in
pyarrow's reader; elsewhere, as in 5" pipe, it is a letter. Inside quoted text, two quotes stand for one quote, and any
other quote closes. So the quotes of a part open and close in turn; the two quotes of a pair close and open again. This
holds if each quote that would open is at the beginning of a field, or directly after one that closes. It is checked for
all quotes at once. Only if it does not hold, they are examined one by one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, IntegerArray

_LINE_END, _QUOTE, _SPACE = ord("\n"), ord('"'), ord(" ")
_RETURN = ord("\r")  # in pyarrow's reader it ends a line even without LF: parts are not cut there, but a field begins
LONGEST = 1 << 28  # bytes of a line: a longer line, or an open quote in it, is an error
LONGEST_HEADER = 1 << 26  # the same for the first line: enough for a million names
_CHUNK_BYTES = 1 << 16  # larger arrays would be mapped anew each time
_BLANK_LINES = re.compile(rb"(\xef\xbb\xbf)?[\r\n]*")


class Part(NamedTuple):
    """Whole lines; whether they contain quotes, and whether they end inside quotes, which only the last part may."""

    content: pa.Buffer
    quoted: bool
    unclosed: bool


def parts(stream: pa.NativeFile, size: int, delimiter: str) -> Iterator[Part]:
    """The rest of a stream in parts of about `size` bytes; text after the last line end is included, unless blank.

    A line longer than `LONGEST` bytes is an error. If a quote is open in it, it is the last part, marked `unclosed`.
    """
    rest = b""  # the beginning of a line whose end was not read yet
    quoted = unclosed = False
    # For a long line, more and more is read, as all of it is examined again each time.
    while not (unclosed and len(rest) >= LONGEST) and (content := stream.read_buffer(max(size, len(rest)))).size:
        if len(rest) >= LONGEST:
            raise LongLineError(LONGEST)
        if rest:
            content = pa.py_buffer(rest + content)
        end, quoted, unclosed = last_line_end(content, delimiter)
        rest = content.slice(end).to_pybytes()
        if end:
            if stream.seekable():  # reading a line again is cheaper than copying what follows it
                stream.seek(stream.tell() - len(rest))
                rest = b""
            yield Part(content.slice(0, end), quoted, unclosed=False)
    if rest.strip(b"\r\n"):  # a line of tabs alone is a row of missing values
        yield Part(pa.py_buffer(rest), quoted, unclosed)


class LongLineError(CredimiError):
    """A line is longer than the lines of any table."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"a line has no end within {size >> 20:,} MiB: it is no CSV file, or its lines end in another way; "
            "check that it is a table, and write it again with line ends"
        )


def first_line(stream: pa.NativeFile) -> bytes:
    """The first line that is not blank, and all before it; it may contain line ends in quotes.

    Each byte is examined once. The line also ends at the end of the stream, or after `LONGEST_HEADER` bytes if a quote
    is open in it.
    """
    content = bytearray()
    checked, inside, blank = 0, False, True  # how far it was examined, and whether that is inside quotes
    while more := stream.read(_CHUNK_BYTES):
        content += more
        if len(content) < 3:  # a mark of byte order may be read in pieces
            continue
        if blank:
            checked = _BLANK_LINES.match(content, checked).end()  # type: ignore[union-attr]  # it always matches
            blank = checked == len(content)
        while (end := content.find(b"\n", checked)) >= 0:
            inside ^= bool(content.count(b'"', checked, end) % 2)
            checked = end + 1
            if not inside:
                return bytes(content[:checked])
        inside ^= bool(content.count(b'"', checked) % 2)
        checked = len(content)
        if checked >= LONGEST_HEADER:
            if inside:
                break
            raise LongLineError(LONGEST_HEADER)
    return bytes(content)


def last_line_end(content: pa.Buffer, delimiter: str) -> tuple[int, bool, bool]:
    """The position after the last line end outside quotes, or 0; whether there are quotes; and whether one is open.

    The content starts at the beginning of a line.
    """
    array = np.frombuffer(content, dtype=np.uint8)
    chunks = (array[start : start + _CHUNK_BYTES] for start in range(0, array.size, _CHUNK_BYTES))
    if not any((chunk == _QUOTE).any() for chunk in chunks):
        return _line_end_before(array, array.size), False, False
    opening, closing = _quoted_ranges(array, ord(delimiter))
    end = _line_end_before(array, array.size)
    while end:
        quoted_range = int(np.searchsorted(opening, end - 1)) - 1  # the last one that opens before
        if quoted_range < 0 or (quoted_range < closing.size and closing[quoted_range] < end - 1):
            break
        end = _line_end_before(array, int(opening[quoted_range]))
    return end, True, opening.size > closing.size


def without_blanks(content: pa.Buffer, width: int) -> pa.Buffer:
    """The same lines; blanks at the end of lines with more than `width` fields are removed. The delimiter is a blank.

    A blank at the end of a line of `width` fields stays: its last field is empty.
    """
    array = np.frombuffer(content, dtype=np.uint8)
    if array[-1] != _LINE_END:
        array = np.append(array, np.uint8(_LINE_END))
    outside = ~_in_ranges(array.size, *_quoted_ranges(array, _SPACE))
    ends = np.flatnonzero((array == _LINE_END) & outside)
    delimiters = np.diff(np.cumsum((array == _SPACE) & outside)[ends], prepend=0)
    field_ends = ends - (array[ends - 1] == _RETURN)  # the end of the last field
    # For each position, where the text up to there ends: after its last letter that is no blank.
    text_ends = np.maximum.accumulate(np.where(array != _SPACE, np.arange(1, array.size + 1), 0))
    extra = np.clip(np.minimum(field_ends - text_ends[field_ends - 1], delimiters - (width - 1)), 0, None)
    return pa.py_buffer(array[~_in_ranges(array.size, field_ends - extra, field_ends)])


def _in_ranges(size: int, begin: IntegerArray, end: IntegerArray) -> BooleanArray:
    """Which of `size` positions are in one of these ranges, which do not overlap."""
    edges = np.zeros(size + 1, dtype=np.int8)
    np.add.at(edges, begin, 1)
    np.add.at(edges, end, -1)
    inside: BooleanArray = edges[:-1].cumsum(dtype=np.int8) > 0
    return inside


def _line_end_before(array: NDArray[np.uint8], end: int) -> int:
    """The position after the last line end before `end`, 0 if there is none."""
    while end:
        start = max(end - _CHUNK_BYTES, 0)
        position = array[start:end].tobytes().rfind(b"\n")
        if position >= 0:
            return start + position + 1
        end = start
    return 0


def _quoted_ranges(array: NDArray[np.uint8], delimiter: int) -> tuple[IntegerArray, IntegerArray]:
    """Where quotes open, and where they close; a pair inside may close and open again."""
    quotes = np.flatnonzero(array == _QUOTE)
    opening, closing = quotes[::2], quotes[1::2]
    preceding = array[opening - 1]  # for a quote at 0 this is the last byte, which does not matter
    at_beginning = (preceding == delimiter) | (preceding == _LINE_END) | (preceding == _RETURN)
    at_beginning |= (preceding == _QUOTE) | (opening == 0)
    return (opening, closing) if at_beginning.all() else _quoted_ranges_one_by_one(array, quotes.tolist(), delimiter)


def _quoted_ranges_one_by_one(
    array: NDArray[np.uint8], quotes: list[int], delimiter: int
) -> tuple[IntegerArray, IntegerArray]:
    opening: list[int] = []
    closing: list[int] = []
    second_of_pair = -1  # the second of a pair
    for quote, following in zip(quotes, [*quotes[1:], -1], strict=True):
        if len(opening) == len(closing):
            if quote == 0 or array[quote - 1] in (delimiter, _LINE_END, _RETURN):
                opening.append(quote)
        elif quote == second_of_pair:
            continue
        elif following == quote + 1:
            second_of_pair = following
        else:
            closing.append(quote)
    return np.array(opening, dtype=np.int64), np.array(closing, dtype=np.int64)
