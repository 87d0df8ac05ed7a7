"""JSON lines (.jsonl, .ndjson; also .gz, .zst, .bz2): one object per line, read in parts of whole lines.

pyarrow parses a part on one core. If it fails, for example because a column holds numbers and text, Python parses the
part, and also says what is wrong with a line. The counts are the same either way, and do not depend on the parts: text
stays text, also if it is a date, and a column of numbers and text is text. Whole numbers that no double can represent
are counted as they are written.

The columns are the fields of the first lines, up to `_FIRST_BYTES` bytes; a field that first occurs later is refused.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from credimi.columns.labels import EXACT
from credimi.columns.python_objects import object_array
from credimi.columns.text_types import shown
from credimi.core.errors import CredimiError, lacks_memory, one_line
from credimi.core.remote_files import opened
from credimi.core.threads import cores, in_order
from credimi.counts.batch import Batch
from credimi.sources.csv.csv_files import Header
from credimi.sources.csv.csv_split import LONGEST
from credimi.sources.formats import PACKED, UNPACKED, Layout, created, ending, unpacked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from credimi.columns.column import ColumnValues
    from credimi.core.remote_files import Place
    from credimi.core.types import AnyArray, ArrowColumn, Foreign, Record, Value
    from credimi.sources.formats import Wanted

    Columns = dict[str, ColumnValues]

_PART = 7 << 20
_FIRST_BYTES = 1 << 26  # decompressed; their fields are the columns
_MAX_THREADS = 8
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # at the beginning of a file
_MAX_DEPTH = 200  # to which pyarrow parses; what is nested cannot be counted anyway
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*+"')
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_RESULT, _RANKING = re.compile(rb'\{\s*"settings"\s*:'), b'"rows_with_target"'
_OBJECT = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*["}]')
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\[])')
_OBJECT_OF_COLUMNS = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"([^"\\]|\\.)*"\s*:\s*[\[{]')
_CHUNK_BYTES = 1 << 20  # read at once, to find the end of the first line


@dataclass(frozen=True, slots=True)
class JsonFields(Layout):
    """The fields of the first lines, in the order in which they occur, and the compression."""

    kind = "JSON lines"
    endings = (".jsonl", ".ndjson")

    names: tuple[str, ...]
    compression: str | None

    @classmethod
    def of(cls, place: Place, file: Foreign, first: bytes, _delimiter: str | None) -> Self | None:
        """The columns of an open file; an error if it is another JSON document."""
        compression, suffix, bytes_read = PACKED.get(place.suffix.lower()), ending(place), 0
        if suffix in cls.endings and not compression and _is_json_of_columns(file):
            raise _document_error(place)
        may_be_json = suffix not in Header.endings
        if suffix not in cls.endings and not (may_be_json and not compression and _is_json_lines(first, file)):
            if suffix == ".json" or (may_be_json and _JSON.match(first)):
                raise _result_error(place, first) if _RESULT.match(first) else _document_error(place)
            return None
        fields: dict[str, None] = {}
        for part in _parts(place, unpacked(file, compression)):
            fields |= dict.fromkeys(_columns(place, part)[0])
            bytes_read += len(part.content)
            if bytes_read >= _FIRST_BYTES:
                break
        if not fields:
            raise CredimiError(f'{place} has no fields: JSON lines have one object per line, such as {{"age": 41}}')
        return cls(tuple(fields), compression)

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, part by part."""
        done, size = 0, max(wanted.size, 1) * (UNPACKED if self.compression else 1)
        known = frozenset(self.names)

        def read() -> Iterator[_Part]:
            with opened(place, stream=True) as file:
                yield from _parts(place, unpacked(file, self.compression))

        def parsed(part: _Part) -> tuple[Columns, int, int]:
            columns, rows = _columns(place, part)
            unknown_field = next((name for name in columns if name not in known), None)
            if unknown_field is not None:
                raise CredimiError(
                    f"{place}: after line {part.before:,} comes the field {unknown_field!r}, which none of the first "
                    "lines has: give it to the first line, if only as null"
                )
            return columns, rows, len(part.content)

        def fault(_: Exception) -> str:
            return f"{place} is not UTF-8: convert the file, for example with iconv -f cp1252 -t utf-8"

        for columns, rows, part_bytes in in_order(parsed, read(), min(cores(wanted.threads), _MAX_THREADS)):
            if rows:
                chosen = {name: columns[name] if name in columns else pa.nulls(rows) for name in wanted.columns}
                yield Batch(chosen, rows, cells=wanted.cells, fault=fault, path=place)
            done += part_bytes
            wanted.progress(min(done / size, 1.0))
        wanted.progress(1.0)

    def copy_columns(self, place: Place, wanted: Sequence[str], output: Path, suffix: str, *, safe: bool) -> None:  # noqa: ARG002  (JSON is for programs)
        """The same rows with some of the fields."""
        with opened(place, stream=True) as file, created(output, suffix) as sink:
            for part in _parts(place, unpacked(file, self.compression)):
                for _, row in _objects(place, part):
                    chosen = {name: row[name] for name in wanted if name in row}
                    sink.write(json.dumps(chosen).encode() + b"\n")  # in ASCII, as half a character is no UTF-8


def _result_error(place: Place, first: bytes) -> CredimiError:
    what, reads = ("ranking", "only `credimi compare` reads it") if _RANKING in first else ("result", "name data")
    return CredimiError(f"{place} is a {what} that credimi wrote, and has no rows: {reads}")


class _Part(NamedTuple):
    """Whole lines, and the number of lines before them."""

    content: bytes
    before: int


def _parts(path: Place, stream: Foreign) -> Iterator[_Part]:
    rest, before = b"", 0
    try:
        while content := stream.read(_PART):
            if len(rest) > LONGEST:
                raise CredimiError(
                    f"{path}, line {before + 1:,}: longer than {LONGEST >> 20} MiB: write one object per line"
                )
            content = content.removeprefix(_BYTE_ORDER_MARK) if not (before or rest) else content
            end = content.rfind(b"\n") + 1
            if not end:
                rest += content
                continue
            yield (part := _Part(rest + content[:end], before))
            before += part.content.count(b"\n")
            rest = content[end:]
    except (OSError, pa.ArrowException) as error:
        if lacks_memory(error):
            raise
        raise CredimiError(f"cannot read {path}: {one_line(error)}") from error
    if rest.strip():
        yield _Part(rest, before)


def _columns(path: Place, part: _Part) -> tuple[Columns, int]:
    """The fields of all lines as columns, and the number of lines with an object."""
    if is_deep(part.content):
        return _columns_by_python(path, part)
    read = pa.json.ReadOptions(use_threads=False, block_size=len(part.content) + 1)
    texts: list[str] = []
    while True:
        schema = pa.schema([(name, pa.string()) for name in texts])
        parse = pa.json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="infer")
        try:
            table = pa.json.read_json(pa.BufferReader(part.content), read, parse)
        except pa.ArrowException as error:
            if lacks_memory(error):
                raise
            return _columns_by_python(path, part)
        dates = [field.name for field in table.schema if pa.types.is_timestamp(field.type)]
        if not dates:
            break
        texts += dates  # texts that look like dates to pyarrow
    if any(map(_beyond_doubles, table.columns)):
        return _columns_by_python(path, part)
    return dict(zip(table.column_names, table.columns, strict=True)), table.num_rows


def is_deep(content: bytes) -> bool:
    """Whether values are nested too deep for pyarrow, which would crash: it calls itself for each level.

    A bracket that closes, a line end and one that opens stand between objects; inside an object they are no JSON.
    """
    letters = np.frombuffer(content, dtype=np.uint8)
    begins_line = (letters[2:] == ord("{")) & (letters[1:-1] == ord("\n")) & (letters[:-2] == ord("}"))
    if b"[" not in content and np.count_nonzero(letters == ord("{")) <= np.count_nonzero(begins_line) + 1:
        return False  # as in most files
    line_end = content.find(b"\n")
    between = b"}\r\n{" if content[line_end - 1 : line_end] == b"\r" else b"}\n{"
    return any(len(line) > _MAX_DEPTH and _is_deep_line(line) for line in content.split(between))


def _is_deep_line(line: bytes) -> bool:
    if line.count(b"[") + line.count(b"{") <= _MAX_DEPTH:
        return False
    brackets = np.frombuffer(_TEXTS.sub(b"", line).translate(None, _NO_BRACKETS), dtype=np.uint8)
    opens = (brackets == ord("[")) | (brackets == ord("{"))
    return bool(np.cumsum(np.where(opens, 1, -1)).max(initial=0) > _MAX_DEPTH)


def _beyond_doubles(column: ArrowColumn) -> bool:
    """Whether whole numbers may have been rounded."""
    return pa.types.is_floating(column.type) and bool(pc.any(pc.greater_equal(pc.abs(column), float(EXACT))).as_py())


def _columns_by_python(path: Place, part: _Part) -> tuple[Columns, int]:
    rows = [row for _, row in _objects(path, part)]
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: one_type([row.get(name) for row in rows]) for name in names}, len(rows)


def _objects(path: Place, part: _Part) -> Iterator[tuple[int, Record]]:
    """The objects of the lines, and the number of each line."""
    for number, line in enumerate(part.content.split(b"\n"), part.before + 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            fault = f"{getattr(error, 'msg', None) or error}, at letter {getattr(error, 'colno', 1)}"
            raise CredimiError(f"{path}, line {number:,} is no JSON: {fault}; write one object per line") from None
        if not isinstance(row, dict):
            raise CredimiError(
                f"{path}, line {number:,} holds {line[:40].decode(errors='replace')!r}, and no object: correct it, or "
                "leave it out"
            )
        yield number, row


def one_type(values: list[Value]) -> AnyArray:
    """A column of texts, booleans, numbers or dates; one of several of these is text, as if in different parts."""
    kinds = {_kind(value) for value in values} - {None}
    return object_array(values if len(kinds) < 2 else [shown(value) if _kind(value) else value for value in values])


def _kind(value: Value) -> str | None:
    if isinstance(value, bool):
        return "truth"
    if isinstance(value, dt.date | dt.time | dt.timedelta):
        return "time"
    if isinstance(value, int | float):
        return None if value != value else "number"  # noqa: PLR0124  (NaN is missing)
    return "text" if isinstance(value, str) else None


def _document_error(place: Place) -> CredimiError:
    return CredimiError(
        f"{place} is a JSON document, which is not read: write an object a line (JSON lines, .jsonl), for example "
        "with jq -c '.[]', or to_json(orient=\"records\", lines=True) of pandas"
    )


def _is_json_lines(first: bytes, file: Foreign) -> bool:
    """Whether the first line is a JSON object and more lines follow."""
    if not _OBJECT.match(first):
        return False
    line, end, rest = first.removeprefix(_BYTE_ORDER_MARK).lstrip().partition(b"\n")
    if not end:
        return bool(_first_line(file)[1].strip())
    try:
        return isinstance(json.loads(line), dict) and bool(rest.strip())
    except (ValueError, RecursionError):
        return False


def _is_json_of_columns(file: Foreign) -> bool:
    """Whether the only line is an object in which every field is a list or an object: a table, column by column."""
    line, rest = _first_line(file)
    if rest.strip() or not _OBJECT_OF_COLUMNS.match(line):
        return False
    try:
        document = json.loads(line.removeprefix(_BYTE_ORDER_MARK))
    except (ValueError, RecursionError):
        return False
    return isinstance(document, dict) and all(isinstance(field, dict | list) for field in document.values())


def _first_line(file: Foreign) -> tuple[bytes, bytes]:
    """The first line that is not blank, or about its first `LONGEST` bytes, and some bytes of what follows it."""
    parts: list[bytes] = []
    end, rest, bytes_read = b"", b"", 0
    while not end and bytes_read <= LONGEST and (chunk := file.read(_CHUNK_BYTES)):
        bytes_read += len(chunk)
        line, end, rest = (chunk if any(parts) else chunk.lstrip()).partition(b"\n")
        parts.append(line)
    if end and not rest.strip():
        rest = file.read(_CHUNK_BYTES)
    file.seek(0)
    return b"".join(parts), rest
