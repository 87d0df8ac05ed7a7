"""`DataFile`: what a file is, determined once; later only its content is read."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError, lacks_memory, memory_named
from credimi.core.remote_files import Status, identity, opened, reason
from credimi.counts.saved.counted_files import CountedFile
from credimi.counts.saved.counts_file import NAME
from credimi.sources.arrow_files import ArrowSchema
from credimi.sources.csv.csv_files import Header
from credimi.sources.documents.databases import DuckTable, SqliteTable
from credimi.sources.documents.excel import Sheet
from credimi.sources.documents.json_array import JsonArray
from credimi.sources.documents.statistics import StatisticsFile
from credimi.sources.formats import Layout, ending
from credimi.sources.json_lines import JsonFields
from credimi.sources.parquet.parquet_files import Footer

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Sequence

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.sources.documents.document import Document

DOCUMENTS: tuple[type[Document], ...] = (Sheet, StatisticsFile, SqliteTable, DuckTable, JsonArray)
FORMATS: tuple[type[Layout], ...] = (Header, Footer, ArrowSchema, JsonFields, *DOCUMENTS)
_FIRST_BYTES = 1 << 16  # by which the format is recognised


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
    def of(
        cls, place: Place, status: os.stat_result | Status, table: str | None = None, delimiter: str | None = None
    ) -> DataFile:
        """The description of a file, which is opened once. Its first bytes say its format, as names may be wrong.

        `table` is one of the tables of a document.
        """
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
            layout = None if first.startswith(NAME) else _layout(place, file, first, delimiter, table)
        same = identity(place, None if isinstance(status, Status) else status)
        return cls(place, same if table is None else (same, table), source, layout)

    def sharing(self, shared_layouts: dict[object, Foreign]) -> DataFile:
        """The same file; a layout that another file has, too, is stored only once, as there may be many wide files."""
        return self if self.layout is None else replace(self, layout=self.layout.sharing(shared_layouts))

    def __str__(self) -> str:
        return str(self.place)

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.source.size

    @property
    def kind(self) -> str:
        """The format, in words."""
        return "counts" if self.layout is None else self.layout.kind

    @property
    def is_counts(self) -> bool:
        """Whether this file holds counts, not rows."""
        return self.layout is None

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return [] if self.layout is None else list(self.layout.names)


def predicted_memory(files: Sequence[DataFile], wanted: Collection[str]) -> float:
    """The bytes that the wanted columns of these files are likely to take; rather too few than too many."""
    names = set(wanted)
    return sum(file.layout.memory(file.size, names) for file in files if file.layout is not None)


def _layout(place: Place, file: Foreign, first: bytes, delimiter: str | None, table: str | None) -> Layout:
    """The layout of an open file of data, whose first bytes are known: of the first format that takes it."""
    marked = [each for each in FORMATS if each.marks and first.startswith(each.marks)]
    suffix = ending(place)
    named = next((each for each in FORMATS if suffix in each.endings), None)
    if not marked and named is not None and named.marks and not first:
        raise CredimiError(f"{place} is empty, which no {named.kind} file is: write it again, or leave it out")
    texts = [each for each in reversed(FORMATS) if not each.marks]  # the last is CSV, which takes any text
    candidates = [*marked, *sorted(texts, key=lambda each: each is not named)]
    if table is not None:
        with_tables = [each for each in DOCUMENTS if each in candidates]
        found = next(filter(None, (each.table_of(place, file, first, table) for each in with_tables)), None)
        if found is None:
            raise CredimiError(
                f"{place} is no workbook and no database, and has no table {table!r}: leave ::{table} out"
            )
        return found
    return next(filter(None, (each.of(place, file, first, delimiter) for each in candidates)))
