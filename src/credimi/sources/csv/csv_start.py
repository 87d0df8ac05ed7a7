"""How a file of text begins: its encoding, and lines above the header that are no data.

Text is UTF-8, or UTF-16 with a mark of byte order; text of neither is taken for cp1252, as Windows writes it, which is
latin-1 for all letters that both have. That is said, as it is a guess. No guess is made of what has control characters
or bytes that cp1252 does not know, or has more letters of UTF-8 than faults: it is refused, with the line of the fault.
The first bytes decide. Whatever it is, the rest of the program sees UTF-8.

Lines above the header are comments (`# ...`) and titles: lines without a delimiter above lines that all have the same
number of some delimiter. A comment with as many delimiters as the line below it is the header itself.
"""

from __future__ import annotations

import codecs
import re
from typing import TYPE_CHECKING, NamedTuple

from credimi.sources.formats import Streamed

if TYPE_CHECKING:
    from credimi.core.types import Foreign

UTF8, WINDOWS = "utf-8", "cp1252"
_NO_TEXT = re.compile(rb"[\x00-\x08\x0e-\x19\x1b-\x1f\x81\x8d\x8f\x90\x9d]")  # and bytes that cp1252 does not know
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
SAMPLE = 1 << 16  # bytes
_MAX_LINES = 20  # that are looked at
_MIN_ROWS = 2  # below a title
_DELIMITERS = ",;\t|"


class Start(NamedTuple):
    """The encoding, and how many bytes of UTF-8 stand above the header."""

    encoding: str
    skipped: int


class ReadAgain:
    """A stream whose first bytes were read already, from its beginning."""

    def __init__(self, first: bytes, stream: Foreign) -> None:
        self._first, self._stream = first, stream

    def read(self, size: int) -> bytes:
        """The next bytes."""
        if not self._first:
            content: bytes = self._stream.read(size)
            return content
        part, self._first = self._first[:size], self._first[size:]
        return part


def start_of(sample: bytes, delimiter: str | None) -> Start:
    """How a text begins whose first bytes are these."""
    encoding = _encoding_of(sample)
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    return Start(encoding, _skipped(text, len(sample) < SAMPLE, delimiter))


def _encoding_of(sample: bytes) -> str:
    if sample.startswith(_UTF16):
        return "utf-16"
    try:
        codecs.getincrementaldecoder(UTF8)().decode(sample)  # a letter may be cut at the end
    except UnicodeDecodeError:
        return WINDOWS if _may_be_of_windows(sample) else UTF8  # which is refused where the fault is read
    return UTF8


def _may_be_of_windows(sample: bytes) -> bool:
    """Whether bytes that are not UTF-8 may be text of cp1252."""
    if _NO_TEXT.search(sample):
        return False
    text = sample.decode(UTF8, "replace")
    faults = text.count("\ufffd")
    return len(_NOT_ASCII.findall(text)) - faults <= faults


def _skipped(text: str, is_whole: bool, delimiter: str | None) -> int:  # noqa: FBT001  (a fact about the text)
    """The bytes of UTF-8 before the header."""
    lines = text.splitlines(keepends=True)[: None if is_whole else -1][:_MAX_LINES]
    first = 0
    while first < len(lines) - 1 and (_is_comment(lines, first, delimiter) or _is_title(lines, first, delimiter)):
        first += 1
    if all(not line.strip() for line in lines[:first]):  # blank lines alone are left to the reader
        return 0
    return sum(len(line.encode()) for line in lines[:first])


def _is_comment(lines: list[str], row: int, delimiter: str | None) -> bool:
    line = lines[row].removeprefix("\ufeff")
    if not line.startswith("#"):
        return False
    below = next((other for other in lines[row + 1 :] if other.strip() and not other.startswith("#")), None)
    marks = delimiter or _DELIMITERS
    return below is not None and not any(line.count(mark) == below.count(mark) > 0 for mark in marks)


def _is_title(lines: list[str], row: int, delimiter: str | None) -> bool:
    """Whether a line without delimiters, or a blank one, stands above lines with the same number of some delimiter."""
    marks, below = delimiter or _DELIMITERS, [line for line in lines[row + 1 :] if line.strip()]
    if any(mark in lines[row] for mark in marks) or '"' in lines[row]:
        return False
    if len(below) > _MIN_ROWS and not any(mark in below[0] for mark in marks):
        return _is_title(lines, row + 1, delimiter)
    if len(below) < _MIN_ROWS:
        return False
    return any(len({line.count(mark) for line in below}) == 1 and mark in below[0] for mark in marks)


def as_utf8(stream: Foreign, encoding: str) -> Foreign:
    """The same text as UTF-8."""
    return stream if encoding == UTF8 else _Transcoded(stream, encoding)


class _Transcoded(Streamed):
    """The text of a stream in another encoding, as UTF-8."""

    def __init__(self, stream: Foreign, encoding: str) -> None:
        super().__init__(stream)
        self._rest = b""
        self._decoder = codecs.getincrementaldecoder(encoding)("backslashreplace" if encoding == WINDOWS else "strict")

    def read(self, size: int = -1) -> bytes:
        """The next bytes."""
        while size < 0 or len(self._rest) < size:
            content = self._stream.read(SAMPLE)
            self._rest += self._decoder.decode(content, not content).encode()
            if not content:
                break
        size = len(self._rest) if size < 0 else size
        part, self._rest = self._rest[:size], self._rest[size:]
        return part
