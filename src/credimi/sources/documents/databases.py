"""Tables of SQLite and DuckDB databases: `data.sqlite::people` names one; a database of one table needs no name."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from credimi.core.errors import CredimiError, one_line
from credimi.core.optional import library
from credimi.core.remote_files import local_path
from credimi.counts.batch import Batch
from credimi.sources import frames
from credimi.sources.documents.document import Document, chosen
from credimi.sources.json_lines import one_type

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator
    from pathlib import Path

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.sources.formats import Wanted

_ROWS = 1 << 15  # that are read at once
_DUCK = slice(8, 12), b"DUCK"


@dataclass(frozen=True, slots=True, eq=False)
class SqliteTable(Document):
    """A table or a view of an SQLite database, read some rows after the other."""

    kind = "an SQLite database"
    endings = (".sqlite", ".sqlite3", ".db")
    marks = (b"SQLite format 3\x00",)
    memory_per_byte = 4.0

    table: str
    fields: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.fields

    @classmethod
    def table_of(cls, place: Place, file: Foreign, first: bytes, table: str | None) -> Self | None:
        """One of the tables."""
        import sqlite3

        try:
            with closing(_sqlite(_here(place, cls.kind))) as database:
                listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
                table = chosen(place, [name for (name,) in database.execute(listing)], table, "table")
                fields = [row[1] for row in database.execute(f"PRAGMA table_info({_quoted(table)})")]
        except sqlite3.Error as error:
            raise CredimiError(f"{place} is no readable SQLite database: {one_line(error)}") from error
        return cls(table, tuple(fields))

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, some rows after the other."""
        import sqlite3

        columns = ", ".join(map(_quoted, wanted.columns))
        try:
            with closing(_sqlite(_here(place, self.kind))) as database:
                cursor = database.execute(f"SELECT {columns} FROM {_quoted(self.table)}")  # noqa: S608  (quoted)
                while rows := cursor.fetchmany(_ROWS):
                    cells = zip(*rows, strict=True)
                    values = {name: one_type(list(each)) for name, each in zip(wanted.columns, cells, strict=True)}
                    yield Batch(values, len(rows), cells=wanted.cells, path=place)
        except sqlite3.Error as error:
            raise CredimiError(f"{place} is no readable SQLite database: {one_line(error)}") from error
        wanted.progress(1.0)


@dataclass(frozen=True, slots=True, eq=False)
class DuckTable(Document):
    """A table or a view of a DuckDB database, as a stream of Arrow."""

    kind = "a DuckDB database"
    endings = (".duckdb", ".ddb")
    memory_per_byte = 8.0

    table: str
    fields: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return self.fields

    @classmethod
    def table_of(cls, place: Place, file: Foreign, first: bytes, table: str | None) -> Self | None:
        """One of the tables; None if this is no such database."""
        where, mark = _DUCK
        if first[where] != mark:
            return None
        with closing(_duckdb(place, cls.kind)) as database:
            listing = "SELECT table_name FROM information_schema.tables"
            table = chosen(place, [name for (name,) in database.execute(listing).fetchall()], table, "table")
            fields = database.table(_quoted(table)).columns
        return cls(table, tuple(fields))

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, some rows after the other."""
        with closing(_duckdb(place, self.kind)) as database:
            columns = ", ".join(map(_quoted, wanted.columns))
            relation = database.sql(f"SELECT {columns} FROM {_quoted(self.table)}")  # noqa: S608  (quoted)
            for batch in frames.batches(relation, wanted.columns):
                yield Batch(batch.columns, batch.rows, cells=wanted.cells, path=place)
        wanted.progress(1.0)


def _here(place: Place, kind: str) -> Path:
    path = local_path(place)
    if path is None:
        raise CredimiError(f"{place} is {kind}, which is read from this machine only: download it first")
    return path


def _sqlite(path: Path) -> sqlite3.Connection:
    import sqlite3

    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def _duckdb(place: Place, kind: str) -> Foreign:
    duckdb = library("duckdb", "duckdb")
    try:
        return duckdb.connect(str(_here(place, kind)), read_only=True)
    except duckdb.Error as error:
        raise CredimiError(f"{place} is no readable DuckDB database: {one_line(error)}") from error


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'
