"""Writes results as CSV."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _csv import Writer as CsvWriter
    from typing import TextIO


def csv_writer(sink: TextIO, end: str = "\n", delimiter: str = ",") -> CsvWriter:
    """A CSV writer that quotes fields with LF or CR; the writer of `csv` quotes only the line end that it writes."""
    return csv.writer(_Lines(sink, end), delimiter=delimiter, lineterminator="\r\n")


class _Lines:
    """Takes lines that end with CR LF and writes them with the requested line end."""

    def __init__(self, sink: TextIO, end: str) -> None:
        self.sink, self.end = sink, end

    def write(self, line: str) -> None:
        self.sink.write(line.removesuffix("\r\n") + self.end)
