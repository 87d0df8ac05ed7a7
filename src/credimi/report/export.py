"""Results as CSV."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _csv import Writer as CsvWriter
    from typing import TextIO


def csv_writer(sink: TextIO, end: str = "\n", delimiter: str = ",") -> CsvWriter:
    """A writer of CSV that quotes fields with LF or CR in them; csv's own only those with the line end it writes."""
    return csv.writer(_Lines(sink, end), delimiter=delimiter, lineterminator="\r\n")


class _Lines:
    """Takes lines that end with CR LF and writes them with the end that is wanted."""

    def __init__(self, sink: TextIO, end: str) -> None:
        self.sink, self.end = sink, end

    def write(self, line: str) -> None:
        self.sink.write(line.removesuffix("\r\n") + self.end)
