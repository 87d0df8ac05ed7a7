"""`DataFile`: what a file is, found once; whoever reads it asks no more than its bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.core.remote_files import Status, identity, opened, reason
from credimi.counting.engines import arrow_files, json_lines
from credimi.counting.engines.arrow_files import ArrowSchema
from credimi.counting.engines.csv.csv_files import COMPRESSED, Header, read_header
from credimi.counting.engines.csv.csv_split import LONGEST
from credimi.counting.engines.json_lines import JsonFields
from credimi.counting.engines.parquet.parquet_files import Footer, read_footer
from credimi.counting.saved.counted_files import CountedFile
from credimi.counting.saved.counts_file import NAME

if TYPE_CHECKING:
    import os

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign

Layout = Header | Footer | ArrowSchema | JsonFields
KINDS = {Header: "CSV", Footer: "Parquet", ArrowSchema: "Arrow", JsonFields: "JSON lines"}
CSV, PARQUET, ARROW, JSON_LINES = (".csv", ".tsv"), (".parquet", ".pq"), (".arrow", ".feather"), (".jsonl", ".ndjson")
ENDINGS = {"CSV": CSV, "Parquet": PARQUET, "Arrow": ARROW, "JSON lines": JSON_LINES}
_FIRST = 1 << 16  # bytes by which a format is told
_MARK = b"\xef\xbb\xbf"  # of the order of bytes
_RESULT, _RANKING = re.compile(rb'\{\s*"settings"\s*:'), b'"rows_with_target"'
_OBJECT = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*["}]')
_JSON = re.compile(rb'(\xef\xbb\xbf)?\s*(\{\s*["}]|\[\s*[{\[])')
_OF_COLUMNS = re.compile(rb'(\xef\xbb\xbf)?\s*\{\s*"([^"\\]|\\.)*"\s*:\s*[\[{]')
_PART = 1 << 20
_ARFF = re.compile(rb"(\xef\xbb\xbf)?(\s*(%[^\n]*)?\n)*\s*@relation\s", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """One file: where it is, how large, since when; its columns, and what tells how to read them.

    `layout` is the header of CSV, the footer of Parquet, the schema of Arrow, the fields of JSON lines, and None of a
    file of counts. `source` is the file as counts
    name it, and `identity` the same for all names that it has.
    """

    place: Place
    identity: object
    source: CountedFile
    layout: Layout | None

    @classmethod
    def of(cls, place: Place, status: os.stat_result | Status, delimiter: str | None = None) -> DataFile:
        """A file as it is, opened once. Its format is told by its first bytes: names lie."""
        with opened(place) as file:
            source = CountedFile.seen(place, status, file)
            try:
                file.seek(0)
                first = file.read(_FIRST)
                file.seek(0)
            except OSError as error:
                raise CredimiError(f"cannot read {place}: {reason(error)}") from error
            layout = None if first.startswith(NAME) else _layout(place, file, first, delimiter)
        return cls(place, identity(place, None if isinstance(status, Status) else status), source, layout)

    def sharing(self, known: dict[object, Foreign]) -> DataFile:
        """The same, with names or types that another file has as well kept once: files may be many, and wide."""
        if isinstance(self.layout, Footer):
            schema = known.setdefault(self.layout.schema, self.layout.schema)
            return replace(self, layout=replace(self.layout, schema=schema))
        return replace(self, layout=known.setdefault(self.layout, self.layout))

    def __str__(self) -> str:
        return str(self.place)

    @property
    def size(self) -> int:
        """In bytes."""
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
        """Whether this holds counts, and no rows."""
        return self.layout is None

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [] if self.layout is None else list(self.layout.names)


def _layout(place: Place, file: Foreign, first: bytes, delimiter: str | None) -> Layout:
    """What tells how to read an open file of data, of which the first bytes are known."""
    if first.startswith(b"PAR1"):
        return read_footer(place, file)
    if first.startswith(arrow_files.MARKS):
        return arrow_files.read_schema(place, file, first)
    suffix = named_format(place)
    if not first and suffix in PARQUET + ARROW:
        kind = "Parquet" if suffix in PARQUET else "Arrow"
        raise CredimiError(f"{place} is empty, which no {kind} file is: write it again, or leave it out")
    packed = place.suffix.lower() in COMPRESSED
    if suffix in JSON_LINES and not packed and _is_of_columns(file):
        raise _document(place)
    if suffix in JSON_LINES or (suffix not in CSV and not packed and _is_json_lines(first, file)):
        return json_lines.read_fields(place, file)
    if suffix == ".json" or (suffix not in CSV and _JSON.match(first)):
        if _RESULT.match(first):
            what, reads = (
                ("ranking", "only `credimi compare` reads it") if _RANKING in first else ("result", "name data")
            )
            raise CredimiError(f"{place} is a {what} that credimi wrote, and has no rows: {reads}")
        raise _document(place)
    if suffix == ".arff" or _ARFF.match(first):
        raise CredimiError(
            f"{place} is ARFF, the format of Weka, which is not read: write it as CSV or Parquet, for example with "
            "scipy.io.arff.loadarff and pandas"
        )
    return read_header(place, file, delimiter)


def named_format(place: Place) -> str:
    """The end of a file's name that says its format, without that of the packing."""
    suffixes = [suffix.lower() for suffix in place.suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return suffixes[-1] if suffixes else ""


def _document(place: Place) -> CredimiError:
    return CredimiError(
        f"{place} is a JSON document, which is not read: write an object a line (JSON lines, .jsonl), for example "
        "with jq -c '.[]', or to_json(orient=\"records\", lines=True) of pandas"
    )


def _is_json_lines(first: bytes, file: Foreign) -> bool:
    """Whether the first line is an object, and not all there is."""
    if not _OBJECT.match(first):
        return False
    line, end, rest = first.removeprefix(_MARK).lstrip().partition(b"\n")
    if not end:
        return bool(_first_line(file)[1].strip())
    try:
        return isinstance(json.loads(line), dict) and bool(rest.strip())
    except (ValueError, RecursionError):
        return False


def _is_of_columns(file: Foreign) -> bool:
    """Whether the only line is an object of which every field holds many values: a table, written column by column."""
    line, rest = _first_line(file)
    if rest.strip() or not _OF_COLUMNS.match(line):
        return False
    try:
        found = json.loads(line.removeprefix(_MARK))
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and all(isinstance(each, dict | list) for each in found.values())


def _first_line(file: Foreign) -> tuple[bytes, bytes]:
    """The first line that is not blank, or its first `LONGEST` bytes, and some bytes of what comes behind it."""
    parts: list[bytes] = []
    end, rest, read = b"", b"", 0
    while not end and read <= LONGEST and (part := file.read(_PART)):
        read += len(part)
        line, end, rest = (part if any(parts) else part.lstrip()).partition(b"\n")
        parts.append(line)
    if end and not rest.strip():
        rest = file.read(_PART)
    file.seek(0)
    return b"".join(parts), rest
