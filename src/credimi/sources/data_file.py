"""`DataFile`: what a file is, determined once; later only its content is read."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError, lacks_memory, memory_named
from credimi.core.remote_files import Status, identity, opened, reason
from credimi.counts.saved.counted_files import CountedFile
from credimi.counts.saved.counts_file import NAME
from credimi.sources import arrow_files, json_lines
from credimi.sources.arrow_files import ArrowSchema
from credimi.sources.csv.csv_files import COMPRESSED, Header, read_header
from credimi.sources.csv.csv_split import LONGEST
from credimi.sources.json_lines import JsonFields
from credimi.sources.parquet.parquet_files import Footer, read_footer

if TYPE_CHECKING:
    import os

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign

Layout = Header | Footer | ArrowSchema | JsonFields
KINDS = {Header: "CSV", Footer: "Parquet", ArrowSchema: "Arrow", JsonFields: "JSON lines"}
CSV, PARQUET, ARROW, JSON_LINES = (".csv", ".tsv"), (".parquet", ".pq"), (".arrow", ".feather"), (".jsonl", ".ndjson")
ENDINGS = {"CSV": CSV, "Parquet": PARQUET, "Arrow": ARROW, "JSON lines": JSON_LINES}
_FIRST_BYTES = 1 << 16  # by which the format is recognised
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_RESULT, _RANKING = re.compile(rb'\{\s*"settings"\s*:'), b'"rows_with_target"'
_OBJECT = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*["}]')
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\[])')
_OBJECT_OF_COLUMNS = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"([^"\\]|\\.)*"\s*:\s*[\[{]')
_CHUNK_BYTES = 1 << 20  # read at once, to find the end of the first line
_ARFF = re.compile(rb"(\xef\xbb\xbf)?(\s*(%[^\n]*)?\n)*\s*@relation\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """One file: where it is, its size and time, its columns, and how to read them.

    `layout` is the header of CSV, the footer of Parquet, the schema of Arrow, or the fields of JSON lines; it is None
    for a file of counts. `source` is the file as recorded in counts. `identity` is equal for all names of one file.
    """

    place: Place
    identity: object
    source: CountedFile
    layout: Layout | None

    @classmethod
    def of(cls, place: Place, status: os.stat_result | Status, delimiter: str | None = None) -> DataFile:
        """The description of a file, which is opened once. Its first bytes say its format, as names may be wrong."""
        with memory_named(f"to read {place}"), opened(place) as file:
            source = CountedFile.seen(place, status, file)
            try:
                file.seek(0)
                first = file.read(_FIRST_BYTES)
                file.seek(0)
            except OSError as error:
                if lacks_memory(error):
                    raise
                raise CredimiError(f"cannot read {place}: {reason(error)}") from error
            layout = None if first.startswith(NAME) else _layout(place, file, first, delimiter)
        return cls(place, identity(place, None if isinstance(status, Status) else status), source, layout)

    def sharing(self, shared_layouts: dict[object, Foreign]) -> DataFile:
        """The same file; a layout that another file has, too, is stored only once, as there may be many wide files."""
        if isinstance(self.layout, Footer):
            schema = shared_layouts.setdefault(self.layout.schema, self.layout.schema)
            return replace(self, layout=replace(self.layout, schema=schema))
        return replace(self, layout=shared_layouts.setdefault(self.layout, self.layout))

    def __str__(self) -> str:
        return str(self.place)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.source.size

    @property
    def kind(self) -> str:
        """The format, in words."""
        return "counts" if self.layout is None else KINDS[type(self.layout)]

    @property
    def is_parquet(self) -> bool:
        """Whether this is Parquet."""
        return isinstance(self.layout, Footer)

    @property
    def is_counts(self) -> bool:
        """Whether this file holds counts, not rows."""
        return self.layout is None

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [] if self.layout is None else list(self.layout.names)


def _layout(place: Place, file: Foreign, first: bytes, delimiter: str | None) -> Layout:
    """The layout of an open file of data, whose first bytes are known."""
    if first.startswith(b"PAR1"):
        return read_footer(place, file)
    if first.startswith(arrow_files.MARKS):
        return arrow_files.read_schema(place, file, first)
    suffix = named_format(place)
    if not first and suffix in PARQUET + ARROW:
        kind = "Parquet" if suffix in PARQUET else "Arrow"
        raise CredimiError(f"{place} is empty, which no {kind} file is: write it again, or leave it out")
    packed = place.suffix.lower() in COMPRESSED
    if suffix in JSON_LINES and not packed and _is_json_of_columns(file):
        raise _json_document_error(place)
    if suffix in JSON_LINES or (suffix not in CSV and not packed and _is_json_lines(first, file)):
        return json_lines.read_fields(place, file)
    if suffix == ".json" or (suffix not in CSV and _JSON.match(first)):
        if _RESULT.match(first):
            what, reads = (
                ("ranking", "only `credimi compare` reads it") if _RANKING in first else ("result", "name data")
            )
            raise CredimiError(f"{place} is a {what} that credimi wrote, and has no rows: {reads}")
        raise _json_document_error(place)
    if suffix == ".arff" or _ARFF.match(first):
        raise CredimiError(
            f"{place} is ARFF, the format of Weka, which is not read: write it as CSV or Parquet, for example with "
            "scipy.io.arff.loadarff and pandas"
        )
    return read_header(place, file, delimiter)


def named_format(place: Place) -> str:
    """The ending of a file's name that says its format, without that of the compression."""
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _json_document_error(place: Place) -> CredimiError:
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
