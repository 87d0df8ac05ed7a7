"""A stream of CSV in parts of whole lines, so that each can be parsed for itself.

A line end inside quotes is none. A quote opens only at the beginning of a field, as in pyarrow's reader; elsewhere, as
in 5" pipe, it is a letter. Inside, two quotes are one that is meant, and any other closes. So the quotes of a part
open and close in turn, the two of a pair closing and opening again, as long as each that would open stands at the
beginning of a field or behind one that closes. That is seen at once for all of them; only where it does not hold are
they taken one by one.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, IntegerArray

    Finder = Callable[[pa.Buffer, str], tuple[int, bool, bool]]

_LINE_END, _QUOTE, _SPACE = ord("\n"), ord('"'), ord(" ")
_RETURN = ord("\r")  # alone it ends a line in pyarrow's reader, too: parts are not cut there, but a field begins
LONGEST = 1 << 28  # bytes of a line, from which on its end, or that of an open quote, is not waited for any more
LONGEST_HEADER = 1 << 26  # the same of the first line: room for a million names
_NEAR = 1 << 16  # bytes that are looked at together: larger arrays would be mapped anew each time
_BLANK = re.compile(rb"(\xef\xbb\xbf)?[\r\n]*")


class Part(NamedTuple):
    """Whole lines: a buffer, whether it holds quotes, and whether it ends inside them, as only the last may."""

    content: pa.Buffer
    quoted: bool
    unclosed: bool


def parts(stream: pa.NativeFile, size: int, delimiter: str, find: Finder | None = None) -> Iterator[Part]:
    """What is left of a stream, about `size` bytes a part; what follows its last line end, too, unless it is blank.

    A line beyond `LONGEST` bytes is an error, unless a quote is open in it: then that is its fault. `find` may take the
    place of `last_line_end`.
    """
    rest = b""  # the beginning of a line whose end has not come yet
    quoted = unclosed = False
    # Of a line that is long more and more: all of it is looked at again each time.
    while not (unclosed and len(rest) >= LONGEST) and (content := stream.read_buffer(max(size, len(rest)))).size:
        if len(rest) >= LONGEST:
            raise LongLineError(LONGEST)
        if rest:
            content = pa.py_buffer(rest + content)
        end, quoted, unclosed = (find or last_line_end)(content, delimiter)
        rest = content.slice(end).to_pybytes()
        if end:
            if stream.seekable():  # to read a line again is cheaper than to copy what comes behind it
                stream.seek(stream.tell() - len(rest))
                rest = b""
            yield Part(content.slice(0, end), quoted, unclosed=False)
    if rest.strip(b"\r\n"):  # a line of tabs alone is a row of missing values
        yield Part(pa.py_buffer(rest), quoted, unclosed)


class LongLineError(CredimiError):
    """A line has no end where any table's lines have ended."""

    def __init__(self, size: int) -> None:
        super().__init__(
            f"a line has no end within {size >> 20:,} MiB: it is no CSV file, or its lines end in another way; "
            "check that it is a table, and write it again with line ends"
        )


def first_line(stream: pa.NativeFile) -> bytes:
    """The first line that is not blank, and all before it; it may hold line ends in quotes. Each byte is seen once.

    The end of the stream ends it, too; so do `LONGEST_HEADER` bytes if a quote is open in it, which is then its fault.
    """
    content = bytearray()
    looked, inside, blank = 0, False, True  # up to where it was looked at, and whether that is inside quotes
    while more := stream.read(_NEAR):
        content += more
        if len(content) < 3:  # a mark of byte order may be read in pieces
            continue
        if blank:
            looked = _BLANK.match(content, looked).end()  # type: ignore[union-attr]  # it always matches
            blank = looked == len(content)
        while (end := content.find(b"\n", looked)) >= 0:
            inside ^= bool(content.count(b'"', looked, end) % 2)
            looked = end + 1
            if not inside:
                return bytes(content[:looked])
        inside ^= bool(content.count(b'"', looked) % 2)
        looked = len(content)
        if looked >= LONGEST_HEADER:
            if inside:
                break
            raise LongLineError(LONGEST_HEADER)
    return bytes(content)


def last_line_end(content: pa.Buffer, delimiter: str) -> tuple[int, bool, bool]:
    """Behind the last line end outside quotes, 0 if there is none; whether there are quotes; and whether one is open.

    The content begins with a line.
    """
    array = np.frombuffer(content, dtype=np.uint8)
    near = (array[start : start + _NEAR] for start in range(0, array.size, _NEAR))
    if not any((each == _QUOTE).any() for each in near):
        return _line_end_before(array, array.size), False, False
    opening, closing = _stretches(array, ord(delimiter))
    end = _line_end_before(array, array.size)
    while end:
        stretch = int(np.searchsorted(opening, end - 1)) - 1  # the last that opens before
        if stretch < 0 or (stretch < closing.size and closing[stretch] < end - 1):
            break
        end = _line_end_before(array, int(opening[stretch]))
    return end, True, opening.size > closing.size


def without_blanks(content: pa.Buffer, width: int) -> pa.Buffer:
    """The same lines, without blanks at the end of those that have more fields than the width; a blank is between them.

    A blank at the end of a line of `width` fields stays: its last field is empty.
    """
    array = np.frombuffer(content, dtype=np.uint8)
    if array[-1] != _LINE_END:
        array = np.append(array, np.uint8(_LINE_END))
    outside = ~_within(array.size, *_stretches(array, _SPACE))
    ends = np.flatnonzero((array == _LINE_END) & outside)
    between = np.diff(np.cumsum((array == _SPACE) & outside)[ends], prepend=0)
    behind = ends - (array[ends - 1] == _RETURN)  # the last field
    solid = np.maximum.accumulate(np.where(array != _SPACE, np.arange(1, array.size + 1), 0))  # behind the last letter
    extra = np.clip(np.minimum(behind - solid[behind - 1], between - (width - 1)), 0, None)
    return pa.py_buffer(array[~_within(array.size, behind - extra, behind)])


def _within(size: int, begin: IntegerArray, end: IntegerArray) -> BooleanArray:
    """Which of so many places are in one of these ranges, which do not overlap."""
    edges = np.zeros(size + 1, dtype=np.int8)
    np.add.at(edges, begin, 1)
    np.add.at(edges, end, -1)
    found: BooleanArray = edges[:-1].cumsum(dtype=np.int8) > 0
    return found


def _line_end_before(array: NDArray[np.uint8], place: int) -> int:
    """Behind the last line end below this place, 0 if there is none."""
    while place:
        start = max(place - _NEAR, 0)
        found = array[start:place].tobytes().rfind(b"\n")
        if found >= 0:
            return start + found + 1
        place = start
    return 0


def _stretches(array: NDArray[np.uint8], delimiter: int) -> tuple[IntegerArray, IntegerArray]:
    """Where quotes open, and where they close; a pair inside may close and open again."""
    places = np.flatnonzero(array == _QUOTE)
    opening, closing = places[::2], places[1::2]
    before = array[opening - 1]  # of the very first the last, which does not matter
    at_beginning = (before == delimiter) | (before == _LINE_END) | (before == _RETURN)
    at_beginning |= (before == _QUOTE) | (opening == 0)
    return (opening, closing) if at_beginning.all() else _one_by_one(array, places.tolist(), delimiter)


def _one_by_one(array: NDArray[np.uint8], places: list[int], delimiter: int) -> tuple[IntegerArray, IntegerArray]:
    opening: list[int] = []
    closing: list[int] = []
    paired = -1  # the second of a pair
    for place, following in zip(places, [*places[1:], -1], strict=True):
        if len(opening) == len(closing):
            if place == 0 or array[place - 1] in (delimiter, _LINE_END, _RETURN):
                opening.append(place)
        elif place == paired:
            continue
        elif following == place + 1:
            paired = following
        else:
            closing.append(place)
    return np.array(opening, dtype=np.int64), np.array(closing, dtype=np.int64)
