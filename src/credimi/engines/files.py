"""Files: CSV (also .gz, .zst, .bz2) and Parquet; one, several, a directory or a pattern. Read part by part.

CSV is parsed by pyarrow, all columns as text: a type guessed from the first rows may be wrong for the last ones, and
`labels` knows better once all is counted. The file is cut into parts of `_PART` bytes at line ends (those outside
quotes: an even number of quotes before them), each parsed on all cores. That is what bounds memory: a part, its
columns and their codes, some twenty times `_PART` in all.
"""

from __future__ import annotations

import csv
import io
import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from glob import glob, has_magic
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from credimi.engines.batches import Batch
from credimi.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    Progress = Callable[[float], None]

_PART = 8 << 20
_CELLS = 1 << 24  # of a Parquet batch
_CSV = (".csv", ".tsv")  # what is taken from a directory; a file that is named may have any name
_PARQUET = (".parquet", ".pq")
_COMPRESSED = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2"}
_DELIMITERS = ",;\t|"
_QUOTED = re.compile(r'"[^"]*"?')
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def reads(data: Any) -> bool:  # noqa: ANN401
    """Whether this engine is the one for such data: a path, or a list of them."""
    if isinstance(data, str | Path):
        return True
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(each, str | Path) for each in data)


def paths_of(data: Any) -> list[Path]:  # noqa: ANN401
    """All files meant by a path, a directory, a pattern or a list of these."""
    if isinstance(data, list | tuple):
        return list(chain.from_iterable(paths_of(each) for each in data))
    if not str(data):
        raise CredimiError("a path is empty: name a file, a directory or a pattern")
    path = Path(data)
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError) as error:
        if has_magic(str(data)):
            return _matching(str(data))
        if str(data) == "-":
            raise CredimiError("data are not read from standard input: save them to a file, and name that") from None
        raise CredimiError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(kind):
        found = sorted(each for each in path.rglob("*") if each.is_file() and _known(each))
        if not found:
            raise CredimiError(f"the directory {path} holds no CSV or Parquet file")
        return found
    if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
        raise CredimiError(f"{path} is a pipe, and data are read more than once: save them to a file, and name that")
    return [path]


def _matching(pattern: str) -> list[Path]:
    found = sorted(path for path in map(Path, glob(pattern, recursive=True)) if not path.is_dir())  # noqa: PTH207  (absolute patterns too)
    if not found:
        raise CredimiError(f"no file matches {pattern}: check the path, and put a pattern in quotes")
    return found


def names(paths: Sequence[Path]) -> list[str]:
    """The columns' names, those of the first file; the others must have the same."""
    first = _names(paths[0])
    for path in paths[1:]:
        other = _names(path)
        if set(other) != set(first):
            apart = min(set(first) ^ set(other))
            raise CredimiError(f"{paths[0]} and {path} differ: only one of them has the column {apart!r}")
    return first


def batches(paths: Sequence[Path], wanted: Sequence[str], progress: Progress) -> Iterator[Batch]:
    """The wanted columns, part by part."""
    sizes = [path.stat().st_size for path in paths]
    total = max(sum(sizes), 1)
    before = 0
    for path, size in zip(paths, sizes, strict=True):

        def told(done: float, before: int = before, size: int = size) -> None:
            progress((before + done * size) / total)

        if is_parquet(path):
            yield from _parquet_batches(path, wanted, told)
        else:
            yield from _csv_batches(path, wanted, total, told)
        before += size


def is_parquet(path: Path) -> bool:
    """By its first bytes: names lie."""
    try:
        with path.open("rb") as file:
            return file.read(4) == b"PAR1"
    except OSError as error:
        raise CredimiError(f"cannot read {path}: {error.strerror or error}") from error


def _known(path: Path) -> bool:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] in _COMPRESSED:
        suffixes.pop()
    return bool(suffixes) and suffixes[-1] in _CSV + _PARQUET and not path.name.startswith(".")


def _names(path: Path) -> list[str]:
    if not is_parquet(path):
        return _header(path).names
    try:
        return list(pa.parquet.read_schema(path).names)
    except (pa.ArrowException, OSError) as error:
        raise CredimiError(f"{path} is no readable Parquet file: {_one_line(error)}") from error


@dataclass(frozen=True, slots=True)
class _Header:
    """The first line of a CSV file: names, what separates them, how lines end, and how many bytes it takes."""

    names: list[str]
    delimiter: str
    line_end: str
    size: int


def _header(path: Path) -> _Header:
    line, size = _first_line(path)
    if line.count('"') % 2:
        raise CredimiError(f"{path}: a quote in the header is never closed: close it, or write a quote itself as two")
    plain = _QUOTED.sub("", line)
    if "\r" in plain.rstrip("\r\n"):
        raise CredimiError(f"{path} ends its lines with CR alone: convert it, for example with tr '\\r' '\\n'")
    delimiter = max(_DELIMITERS, key=lambda each: (plain.count(each), -_DELIMITERS.index(each)))  # the commonest
    with _long_fields():
        names = next(csv.reader(io.StringIO(line), delimiter=delimiter), [])
    if not names:
        raise CredimiError(f"{path} is empty: a table needs a first line with the columns' names, and rows")
    return _Header(names, delimiter, "\r\n" if line.endswith("\r\n") else "\n", size)


def _open(path: Path) -> Any:  # noqa: ANN401
    try:
        packed = path.suffix.lower() in _COMPRESSED
        return pa.input_stream(path, compression="detect") if packed else pa.OSFile(str(path))
    except (OSError, pa.ArrowException) as error:
        raise CredimiError(f"cannot read {path}: {getattr(error, 'strerror', None) or _one_line(error)}") from error


def _first_line(path: Path) -> tuple[str, int]:
    """The header, which may itself hold line ends in quotes and come after blank lines; and where it ends in bytes."""
    content = b""
    try:
        with _open(path) as stream:
            while more := stream.read(1 << 16):
                content += more
                end = _line_end(content)
                if end >= 0:
                    content = content[:end]
                    break
    except (OSError, pa.ArrowException) as error:
        raise CredimiError(f"cannot read {path}: {_one_line(error)}") from error
    if content.startswith(_UTF16):
        raise CredimiError(
            f"{path} is not UTF-8 but UTF-16: convert the file, for example with iconv -f utf-16 -t utf-8"
        )
    try:
        return content.decode("utf-8-sig").lstrip("\r\n"), len(content)
    except UnicodeDecodeError as error:
        raise CredimiError(
            f"{path}, line 1: byte {error.object[error.start]:#04x} at position {error.start + 1} is not UTF-8: "
            "convert the file, for example with iconv -f latin1 -t utf-8"
        ) from None


def _line_end(content: bytes) -> int:
    """Where the first line ends, or -1."""
    start = len(content) - len(content.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n"))
    end = content.find(b"\n", start)
    while end >= 0 and content.count(b'"', 0, end) % 2:
        end = content.find(b"\n", end + 1)
    return end + 1 if end >= 0 else -1


def _csv_batches(path: Path, wanted: Sequence[str], total: int, progress: Progress) -> Iterator[Batch]:
    header = _header(path)
    convert = pa.csv.ConvertOptions(
        column_types=dict.fromkeys(wanted, pa.string()),
        include_columns=list(wanted),
        strings_can_be_null=False,  # an empty field is a label like others, and means missing
        check_utf8=False,  # the few labels are checked, not the many cells
    )
    fault = partial(_csv_fault, path, header)
    packed = path.suffix.lower() in _COMPRESSED
    size = max(path.stat().st_size, 1)
    done = 0
    skipped = header.size  # is cut off: pyarrow would take it for one line
    read = pa.csv.ReadOptions(column_names=header.names, block_size=max(_PART // 2, 1 << 16))
    for whole, quoted in _parts(path):
        part = whole.slice(min(skipped, whole.size))
        skipped -= whole.size - part.size
        done += whole.size - part.size
        if not part.size:
            continue
        # Line ends in quotes keep pyarrow from parsing in parallel: allow them only where there are quotes.
        parse = pa.csv.ParseOptions(delimiter=header.delimiter, newlines_in_values=quoted)
        try:
            table = pa.csv.read_csv(pa.BufferReader(part), read, parse, convert)
        except (pa.ArrowException, OSError) as error:
            raise CredimiError(fault(error)) from error
        done += part.size
        columns = dict(zip(table.schema.names, table.columns, strict=True))
        cells = total * (8 if packed else 1) // 2  # guessed: a field of one letter and its delimiter
        yield Batch(columns, table.num_rows, raw=True, cells=cells, fault=fault, path=path)
        progress(min(done / (size * (8 if packed else 1)), 1.0))
    progress(1.0)  # how much a packed file unpacks to was a guess


def _parts(path: Path) -> Iterator[tuple[Any, bool]]:
    """The file in buffers of whole lines, and whether they hold quotes."""
    rest = b""  # the beginning of a line whose end has not come yet
    try:
        with _open(path) as stream:
            while more := stream.read(_PART):
                content = rest + more if rest else more
                end, quoted = _last_line_end(content)
                rest = content[end:]
                if end:
                    yield pa.py_buffer(content).slice(0, end), quoted
    except (OSError, pa.ArrowException) as error:
        raise CredimiError(f"cannot read {path}: {_one_line(error)}") from error
    if rest.strip():
        yield pa.py_buffer(rest), True


def _last_line_end(content: bytes) -> tuple[int, bool]:
    """Behind the last line end that is not inside quotes, 0 if there is none; and whether there are quotes."""
    end = content.rfind(b"\n")
    quotes = content.count(b'"')
    inside = quotes - content.count(b'"', end + 1)  # before that line end; odd if it is inside quotes
    while end >= 0 and inside % 2:
        before = content.rfind(b"\n", 0, end)
        inside -= content.count(b'"', before + 1, end)
        end = before
    return end + 1, quotes > 0


def _csv_fault(path: Path, header: _Header, error: Exception) -> str:
    """Where the first line with a fault is: found by Python's own reader, as this is read once, and rarely."""
    try:
        with _long_fields(), io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="") as text:
            reader = csv.reader(text, delimiter=header.delimiter)
            line = 1
            for fields in reader:
                if fields and len(fields) != len(header.names):
                    return (
                        f"{path}, line {line}: {len(fields)} fields, the header has {len(header.names)}: "
                        "correct that line (a text that holds the delimiter stands in quotes)"
                    )
                line = reader.line_num + 1
    except UnicodeDecodeError as fault:
        byte, line = fault.object[fault.start], _line_of_bad_byte(path)
        return (
            f"{path}, line {line}: byte {byte:#04x} is not UTF-8: "
            "convert the file, for example with iconv -f latin1 -t utf-8"
        )
    except (csv.Error, OSError, pa.ArrowException):
        pass
    return f"{path} is not readable as CSV: {_one_line(error)}"


def _line_of_bad_byte(path: Path) -> int:
    with _open(path) as stream:
        for number, line in enumerate(io.BufferedReader(stream), start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError:
                return number
    return 0


def _parquet_batches(path: Path, wanted: Sequence[str], progress: Progress) -> Iterator[Batch]:
    try:
        schema = pa.parquet.read_schema(path)
        texts = [
            name
            for name in wanted
            if pa.types.is_string(schema.field(name).type) or pa.types.is_large_string(schema.field(name).type)
        ]
        with pa.parquet.ParquetFile(path, read_dictionary=texts, memory_map=True) as file:
            rows, done = file.metadata.num_rows, 0
            for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                columns = {name: batch.column(name) for name in wanted}
                yield Batch(columns, batch.num_rows, cells=rows * len(wanted), path=path)
                done += batch.num_rows
                progress(done / max(rows, 1))
    except (pa.ArrowException, OSError) as error:
        raise CredimiError(f"{path} is no readable Parquet file: {_one_line(error)}") from error


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]


def csv_writer(sink: Any, end: str = "\n", delimiter: str = ",") -> Any:  # noqa: ANN401
    """A writer of CSV that quotes fields with LF or CR in them; csv's own only those with the line end it writes."""
    return csv.writer(_Lines(sink, end), delimiter=delimiter, lineterminator="\r\n")


class _Lines:
    """Takes lines that end with CR LF and writes them with the end that is wanted."""

    def __init__(self, sink: Any, end: str) -> None:  # noqa: ANN401
        self.sink, self.end = sink, end

    def write(self, line: str) -> None:
        self.sink.write(line.removesuffix("\r\n") + self.end)


@contextmanager
def _long_fields() -> Iterator[None]:
    """Python's reader refuses fields beyond a limit that is one for the whole process; pyarrow's has none."""
    limit = csv.field_size_limit(2**31 - 1)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def check_format(path: Path, output: Path) -> None:
    """Refuse a name for a copy of `path` that says another format than the copy will have."""
    suffix = next((each for each in map(str.lower, output.suffixes[::-1]) if each not in _COMPRESSED), "")
    if is_parquet(path) and (suffix in _CSV or output.suffix.lower() in _COMPRESSED):
        raise CredimiError(f"{path} is Parquet, and so is what is written: give {output} a name that ends in .parquet")
    if not is_parquet(path) and suffix in _PARQUET:
        raise CredimiError(f"{path} is CSV, and so is what is written: give {output} a name that ends in .csv")


def copy_columns(path: Path, wanted: Sequence[str], output: Path, suffix: str = "") -> None:
    """The same rows with some of the columns, in the same format; texts stay as they are written.

    CSV is compressed if `suffix`, the end of the name that the output will have, says so.
    """
    try:
        if is_parquet(path):
            _copy_parquet(path, wanted, output)
        else:
            _copy_csv(path, wanted, output, suffix)
    except OSError as error:  # pyarrow words them in its own way
        raise OSError(error.errno, os.strerror(error.errno) if error.errno else _one_line(error)) from error


def _copy_csv(path: Path, wanted: Sequence[str], output: Path, suffix: str) -> None:
    header = _header(path)
    try:
        with (
            _long_fields(),
            io.TextIOWrapper(_open(path), encoding="utf-8-sig", newline="") as source,
            pa.output_stream(str(output), compression=_COMPRESSED.get(suffix.lower())) as stream,
            io.TextIOWrapper(stream, encoding="utf-8", newline="") as sink,
        ):
            rows = (row for row in csv.reader(source, delimiter=header.delimiter) if row)
            next(rows)
            positions = [header.names.index(name) for name in wanted]
            writer = csv_writer(sink, header.line_end, header.delimiter)
            writer.writerow(wanted)
            writer.writerows([row[position] for position in positions] for row in rows)
    except (UnicodeDecodeError, csv.Error) as error:
        raise CredimiError(_csv_fault(path, header, error)) from error


def _copy_parquet(path: Path, wanted: Sequence[str], output: Path) -> None:
    with pa.parquet.ParquetFile(path, memory_map=True) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
        with pa.parquet.ParquetWriter(output, schema) as writer:
            for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                writer.write_batch(batch.select(list(wanted)))
