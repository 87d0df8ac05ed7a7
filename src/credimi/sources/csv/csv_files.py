"""CSV (also .gz, .zst, .bz2), read part by part.

All columns are read as text: a type guessed from the first rows may be wrong for the last ones. `columns.labels`
decides when everything is counted.

A cell becomes a code in one of two ways. Parts without quotes inside fields go from bytes to codes at once
(`sources.csv.csv_fields`, called by `csv_coder`). All others, and small files, are parsed by pyarrow, and
`columns.encode` gives the codes.

The file is cut into parts of whole lines (`csv_split`), about `_PART` bytes each, and each part is parsed on one core:
several parts at a time are faster than one part on all cores. Memory is bounded by the parts that are being read: one
per core and four more, each of which takes about four times `_PART` with its columns. If a table is so wide that a part
has few rows, several parts are counted together, up to `_GATHERED` bytes, because each column of each part has a cost.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from threading import Lock
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.csv

from credimi.columns.arrow_buffers import text_array
from credimi.core.errors import CredimiError, lacks_memory, one_line
from credimi.core.remote_files import opened
from credimi.core.threads import cores, in_order
from credimi.counts import tabulate
from credimi.counts.batch import Batch
from credimi.results.export import csv_writer, defused
from credimi.sources.csv.csv_coder import CodedRows, FieldCoders
from credimi.sources.csv.csv_split import LONGEST, LongLineError, first_line, parts, without_blanks
from credimi.sources.csv.csv_start import SAMPLE, UTF8, WINDOWS, ReadAgain, as_utf8, start_of
from credimi.sources.formats import PACKED, UNPACKED, Glimpse, Layout, created, ending, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.sources.csv.csv_split import Part
    from credimi.sources.formats import Wanted

_PART = 7 << 20  # bytes; for 8 MB and more, pyarrow's allocator would ask the system each time, page by page
_BLOCK = 1 << 20  # bytes that pyarrow parses at once: they fit into the cache of a core
_ROWS = 2_048  # that a part or a block should have, as each of its columns costs as much as thousands of cells
_GATHERED = 1 << 26  # bytes up to which parts of fewer than `_ROWS` rows are counted together
_MAX_BLOCK = 2**31 - 1  # a limit of pyarrow
_MAX_THREADS = 8  # each of them has a part in memory
_ARFF = re.compile(rb"(\xef\xbb\xbf)?(\s*(%[^\n]*)?\n)*\s*@relation\s", re.IGNORECASE)
_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"?')
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # at the beginning of a file
_OTHER_FORMATS = {  # by their first bytes
    b"PK\x03\x04": "a zip archive: give it a name that ends in .zip if it holds one file of text, or unpack it",
    b"%PDF": "a PDF document: save its table as CSV",
    b"\x89HDF": "an HDF5 file: read it with pandas, and pass the frame",
    b"RDX": "an R data file: write it as CSV or Parquet, for example with write.csv",
    b"PAR0": "an encrypted file",
    b"FEA1": "a Feather file of version 1: read it with pandas, and write it again",
}


def check_delimiter(delimiter: object) -> None:
    """Refuse what cannot be a delimiter: pyarrow needs one byte, and line ends and quotes already have a meaning."""
    if delimiter is None:
        return
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        given = f"{len(delimiter)} characters" if isinstance(delimiter, str) else "no text"
        raise CredimiError(
            f"the delimiter {delimiter!r} is {given}: pass the one character that stands between the fields, such as "
            "';' or a tab (delimiter, --delimiter)"
        )
    if delimiter in '"\r\n\0' or not delimiter.isascii():
        raise CredimiError(
            f"{delimiter!r} cannot be a delimiter: pass a character of ASCII that is neither a quote, a line end nor "
            "NUL (delimiter, --delimiter)"
        )


@dataclass(frozen=True, slots=True)
class Header(Layout):
    """The first line of a CSV file: names, delimiter, line end, and its size in bytes; also the file's compression."""

    kind = "CSV"
    endings = (".csv", ".tsv")
    memory_per_byte = 2.0  # with 31 columns, 5.0 for texts of one letter, 2.0 for texts of 24 letters

    names: tuple[str, ...]
    delimiter: str
    line_end: str
    size: int
    compression: str | None
    encoding: str = UTF8
    sample: bytes = field(default=b"", compare=False, repr=False)  # whole lines below the header
    is_whole: bool = field(default=False, compare=False)  # whether the sample has all of them

    @classmethod
    def of(cls, place: Place, file: Foreign, first: bytes, delimiter: str | None) -> Self:
        """The header of an open file; the default delimiter is the most frequent of `_DELIMITERS` in it."""
        if ending(place) == ".arff" or _ARFF.match(first):
            raise CredimiError(
                f"{place} is ARFF, the format of Weka, which is not read: write it as CSV or Parquet, for example with "
                "scipy.io.arff.loadarff and pandas"
            )
        compression = PACKED.get(place.suffix.lower())
        line, size, encoding, below = _first_line(place, unpacked(file, compression), delimiter)
        if encoding == WINDOWS:
            warnings.warn(f"{place} is not UTF-8: it is read as Windows-1252 (cp1252)", stacklevel=2)
        if line.count('"') % 2:
            raise CredimiError(
                f"{place}: a quote in the header is never closed: close it, or write a quote itself as two"
            )
        if line.strip()[:-1] == "sep=":
            raise CredimiError(
                f"{place} starts with the line {line.strip()!r}, which only Excel understands: delete that line"
            )
        plain = _QUOTED.sub("", line)
        if "\r" in plain.rstrip("\r\n"):
            raise CredimiError(f"{place} ends its lines with CR alone: convert it, for example with tr '\\r' '\\n'")
        if delimiter is None:
            delimiter = max(_DELIMITERS, key=lambda candidate: (plain.count(candidate), -_DELIMITERS.index(candidate)))
        with _long_fields():
            names = tuple(next(csv.reader(io.StringIO(line), delimiter=delimiter), []))
        while delimiter == " " and names[1:] and not names[-1]:  # a blank at the end of the line names no column
            names = names[:-1]
        if not names:
            raise CredimiError(f"{place} is empty: a table needs a first line with the columns' names, and rows")
        is_whole = size + len(below) < SAMPLE // 2 - 1  # a letter of UTF-16 has two bytes
        sample = below if is_whole else below[: below.rfind(b"\n") + 1]
        line_end = "\r\n" if line.endswith("\r\n") else "\n"
        return cls(names, delimiter, line_end, size, compression, encoding, sample, is_whole)

    def glimpse(self, name: str) -> Glimpse | None:
        """The values in the first lines, if these are plain."""
        place = self.names.index(name)
        try:
            rows = csv.reader(io.StringIO(self.sample.decode(), newline=""), delimiter=self.delimiter)
            values = [row[place] for row in rows if row]
        except (IndexError, UnicodeDecodeError, csv.Error):
            return None  # whoever reads the file says what is wrong
        return Glimpse(text_array(values, pa.string()), self.is_whole)

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, part by part."""
        unpacked_ratio = UNPACKED if self.compression else 1
        cells = wanted.total * unpacked_ratio // 2  # guessed: a field of one letter and its delimiter
        coders = FieldCoders(self.names, wanted.columns, self.delimiter, self.line_end)
        coded = wanted.coded and cells >= tabulate.CELLS_WORTH_COMPILING
        convert = pa.csv.ConvertOptions(
            column_types=dict.fromkeys(wanted.columns, pa.string()),
            include_columns=list(wanted.columns),
            strings_can_be_null=False,  # an empty field is a label like others, and means missing
            check_utf8=False,  # the few labels are checked, not the many cells
        )
        fault = partial(_fault, place, self)

        def parsed(part: Part) -> tuple[pa.Table | CodedRows | Exception, int]:
            result: pa.Table | CodedRows | Exception | None = None
            if part.unclosed:
                result = _UnclosedError("a quote is never closed")
            elif coded:
                try:
                    result = coders.coded(part.content, _ROWS if part.content.size >= _PART // 2 else 0)
                except UnicodeDecodeError as error:
                    result = error
            if result is None:
                result = _parsed(part.content, self, convert, quoted=part.quoted)
            return result, part.content.size

        unpacked = max(wanted.size, 1) * unpacked_ratio

        def tables() -> Iterator[tuple[pa.Table | CodedRows, int]]:
            done = self.size
            for table, part_bytes in in_order(parsed, _rows(place, self), min(cores(wanted.threads), _MAX_THREADS)):
                # Raised here, not in the threads: the search for the fault changes a limit of the process.
                if isinstance(table, Exception):
                    raise CredimiError(fault(table)) from table
                yield table, part_bytes
                done += part_bytes
                wanted.progress(min(done / unpacked, 1.0))

        for columns, rows in _with_enough_rows(tables()):
            yield Batch(columns, rows, raw=True, cells=cells, fault=fault, path=place)
        wanted.progress(1.0)

    def copy_columns(self, place: Place, wanted: Sequence[str], output: Path, suffix: str, *, safe: bool) -> None:
        """The same rows with some of the columns, and the same delimiter."""
        try:
            with (
                _long_fields(),
                io.TextIOWrapper(_open(place, self), encoding="utf-8-sig", newline="") as source,
                created(output, suffix) as stream,
                io.TextIOWrapper(stream, encoding="utf-8", newline="") as sink,
            ):
                rows = (row for row in csv.reader(source, delimiter=self.delimiter) if row)
                next(rows)
                positions = [self.names.index(name) for name in wanted]
                writer = csv_writer(sink, self.line_end, self.delimiter)
                lines = chain([wanted], ([row[position] for position in positions] for row in rows))
                writer.writerows(map(defused, lines) if safe else lines)
        except (UnicodeDecodeError, csv.Error) as error:
            raise CredimiError(_fault(place, self, error)) from error


def _open(path: Place, header: Header) -> pa.NativeFile:
    return as_utf8(unpacked(opened(path, stream=True), header.compression), header.encoding)


def _first_line(path: Place, stream: pa.NativeFile, delimiter: str | None) -> tuple[str, int, str, bytes]:
    """The header, the number of bytes of UTF-8 up to its end, the encoding, and the first bytes below it.

    It may hold line ends in quotes, and follow blank lines, titles and comments.
    """
    try:
        sample = stream.read(SAMPLE)
        encoding, skipped = start_of(sample, delimiter)
        text = as_utf8(ReadAgain(sample, stream), encoding)
        text.read(skipped)
        content = first_line(text)
    except LongLineError as error:
        raise CredimiError(f"{path}, line 1: {error}") from None
    except (OSError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise
        raise CredimiError(f"cannot read {path}: {one_line(error)}") from error
    for start, what in _OTHER_FORMATS.items():
        if content.startswith(start):
            raise CredimiError(f"{path} is no CSV but {what}")
    try:
        size = skipped + len(content)
        below = as_utf8(io.BytesIO(sample), encoding).read()[size:]
        return content.decode("utf-8-sig").lstrip("\r\n"), size, encoding, below
    except UnicodeDecodeError as error:
        raise CredimiError(
            f"{path}, line 1: byte {error.object[error.start]:#04x} at position {error.start + 1} is not UTF-8: "
            "convert the file, for example with iconv -f cp1252 -t utf-8"
        ) from None


def _parsed(
    part: pa.Buffer, header: Header, convert: pa.csv.ConvertOptions, *, quoted: bool, trimmed: bool = False
) -> pa.Table | Exception:
    """A part as pyarrow parses it, or the error; if the delimiter is a blank, extra blanks at line ends are removed."""
    content = part
    if content[: len(_BYTE_ORDER_MARK)].to_pybytes() == _BYTE_ORDER_MARK:  # text here, but pyarrow would remove it
        content = pa.py_buffer(_BYTE_ORDER_MARK + content)
    parse = pa.csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=quoted)
    failure: Exception = pa.ArrowInvalid("nothing was parsed")
    # A line must not be longer than a block; and pyarrow loses the LF of a CR LF in quotes between two blocks.
    short_block = max(_BLOCK, _ROWS // 2 * header.size)
    for block in (short_block, content.size) if short_block < content.size and not quoted else (content.size,):
        block_size = min(block, _MAX_BLOCK)
        read = pa.csv.ReadOptions(column_names=list(header.names), block_size=block_size, use_threads=False)
        try:
            return pa.csv.read_csv(pa.BufferReader(content), read, parse, convert)
        except (pa.ArrowException, OSError) as error:
            if lacks_memory(error):
                raise
            failure = error
    if header.delimiter == " " and not trimmed:
        return _parsed(without_blanks(part, len(header.names)), header, convert, quoted=quoted, trimmed=True)
    return failure


def _with_enough_rows(tables: Iterator[tuple[pa.Table | CodedRows, int]]) -> Iterator[CodedRows]:
    """Columns of at least `_ROWS` rows if possible: small tables are joined. `tables` come with their sizes."""
    gathered: list[pa.Table] = []
    rows = gathered_bytes = 0
    for table, size in tables:
        if isinstance(table, CodedRows):
            yield table
            continue
        gathered.append(table)
        rows, gathered_bytes = rows + table.num_rows, gathered_bytes + size
        if rows >= _ROWS or gathered_bytes + size > _GATHERED:  # the next would be too much
            yield _concatenated(gathered)
            gathered, rows, gathered_bytes = [], 0, 0
    if gathered:
        yield _concatenated(gathered)


def _concatenated(tables: list[pa.Table]) -> CodedRows:
    table = pa.concat_tables(tables)
    return CodedRows(dict(zip(table.schema.names, table.columns, strict=True)), table.num_rows)


class _UnclosedError(Exception):
    """A quote at the beginning of a field is never closed: it may have swallowed any number of rows."""


def _rows(path: Place, header: Header) -> Iterator[Part]:
    """The parts after the header; pyarrow would read a header with line ends in quotes as several lines."""
    try:
        with _open(path, header) as stream:
            stream.read(header.size)
            size = min(max(_PART, _ROWS * header.size), 2 * _PART)
            yield from parts(stream, size, header.delimiter)
    except LongLineError as error:
        raise CredimiError(f"{path}: {error}") from None
    except (OSError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise
        raise CredimiError(f"cannot read {path}: {one_line(error)}") from error


def _fault(path: Place, header: Header, error: Exception) -> str:
    """The message for the first faulty line; Python's own reader finds it, which is slow, but rarely needed."""
    try:
        with _long_fields(), io.TextIOWrapper(_open(path, header), encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(text, delimiter=header.delimiter)
            line = last = 1
            for fields in reader:
                last = line
                while header.delimiter == " " and len(fields) > len(header.names) and not fields[-1]:
                    fields.pop()
                if fields and len(fields) != len(header.names):
                    advice = "; between fields is one blank, not several" if header.delimiter == " " else ""
                    return (
                        f"{path}, line {line}: {_fields(len(fields))}, the header has {len(header.names)}: "
                        f"correct that line (a text that holds the delimiter stands in quotes{advice})"
                    )
                line = reader.line_num + 1
            if isinstance(error, _UnclosedError):
                return f"{path}, line {last}: {error}: close it, or write a quote itself as two, inside quotes"
    except UnicodeDecodeError as fault:
        byte, line = fault.object[fault.start], _line_of_bad_byte(path, header)
        return (
            f"{path}, line {line}: byte {byte:#04x} is not UTF-8: "
            "convert the file, for example with iconv -f cp1252 -t utf-8"
        )
    except (csv.Error, OSError, pa.ArrowException) as unreadable:
        if lacks_memory(unreadable):
            raise
    return f"{path} is not readable as CSV: {one_line(error)}"


def _fields(count: int) -> str:
    return "1 field" if count == 1 else f"{count} fields"


def _line_of_bad_byte(path: Place, header: Header) -> int:
    with _open(path, header) as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


@contextmanager
def _long_fields() -> Iterator[None]:
    """Let Python's reader accept long fields: it has a limit for the whole process; pyarrow has none.

    Several threads may read at the same time: the first of them raises the limit, and the last restores it.
    """
    with _FIELD_SIZE_LIMIT.lock:
        if _FIELD_SIZE_LIMIT.users == 0:
            _FIELD_SIZE_LIMIT.before = csv.field_size_limit(LONGEST)
        _FIELD_SIZE_LIMIT.users += 1
    try:
        yield
    finally:
        with _FIELD_SIZE_LIMIT.lock:
            _FIELD_SIZE_LIMIT.users -= 1
            if _FIELD_SIZE_LIMIT.users == 0:
                csv.field_size_limit(_FIELD_SIZE_LIMIT.before)


@dataclass(slots=True)
class _FieldSizeLimit:
    """How many threads read long fields now, and the limit that was set before."""

    lock: Lock = field(default_factory=Lock)
    users: int = 0
    before: int = 0


_FIELD_SIZE_LIMIT = _FieldSizeLimit()
