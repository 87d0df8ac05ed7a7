"""Writes results as CSV, on request without anything that a spreadsheet would calculate or a terminal obey.

A spreadsheet takes a cell that begins with = + - @, a tab or CR for a formula, quoted or not. An apostrophe before it
makes it text. Numbers stay as they are, also those with a sign.
"""

from __future__ import annotations

import csv
import json
import re
from typing import TYPE_CHECKING

from credimi.core.atomic_files import plain

if TYPE_CHECKING:
    from _csv import Writer as CsvWriter
    from collections.abc import Iterable, Iterator
    from typing import TextIO

    from credimi.core.types import Record, Value

_FORMULA = re.compile(r"\s*[=+\-@\t\r\uff1d\uff0b\uff0d\uff20]|[\t\r]")  # the last four are full-width = + - @
_NUMBER = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf|infinity|nan)", re.IGNORECASE | re.ASCII)
_TEXT_IN_JSON = re.compile(r'"(?:[^"\\]|\\.)*"')


def csv_writer(sink: TextIO, end: str = "\n", delimiter: str = ",") -> CsvWriter:
    """A CSV writer that quotes fields with LF or CR; the writer of `csv` quotes only the line end that it writes."""
    return csv.writer(_Lines(sink, end), delimiter=delimiter, lineterminator="\r\n")


def csv_lines(names: Iterable[str], rows: Iterable[Record]) -> Iterator[list[Value]]:
    """The heading and the rows; several values in one cell are separated by semicolons."""
    names = list(names)
    yield names
    for row in rows:
        yield ["; ".join(map(str, row[name])) if isinstance(row[name], list | tuple) else row[name] for name in names]


def defused(cells: Iterable[Value]) -> list[Value]:
    """The cells of a line; texts that begin like a formula get an apostrophe, and control characters are visible."""
    return [_defused(cell) if isinstance(cell, str) else cell for cell in cells]


def _defused(text: str) -> str:
    return f"'{plain(text)}" if _FORMULA.match(text) and not _NUMBER.fullmatch(text) else plain(text)


def defused_json(value: Value) -> str:
    """A value as JSON for a line of remarks: a spreadsheet, which cuts it at delimiters, finds none inside texts."""
    text = _TEXT_IN_JSON.sub(lambda found: found[0].replace(",", "\\u002c").replace(";", "\\u003b"), json.dumps(value))
    return plain(text)


class _Lines:
    """Takes lines that end with CR LF and writes them with the requested line end."""

    def __init__(self, sink: TextIO, end: str) -> None:
        self.sink, self.end = sink, end

    def write(self, line: str) -> None:
        self.sink.write(line.removesuffix("\r\n") + self.end)
