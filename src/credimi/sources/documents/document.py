"""`Document`: a layout whose columns were read at once, and stay in memory until the file is done.

A document is read when it is opened, as its columns are known only then. It may hold several tables: `FILE::NAME` names
one. In a directory, documents are not taken for data: who means them names them.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, ClassVar, Self

from credimi.core.errors import CredimiError
from credimi.counts.batch import Batch
from credimi.sources.formats import Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from credimi.columns.column import ColumnValues
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.sources.formats import Wanted

_CELLS = 1 << 22  # of the columns that are counted together


class Document(Layout):
    """Columns in memory."""

    __slots__ = ()
    alone: ClassVar[bool] = True
    memory_per_byte = 10.0

    columns: Mapping[str, ColumnValues]
    rows: int

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.columns)

    @classmethod
    def of(cls, place: Place, file: Foreign, first: bytes, _delimiter: str | None) -> Self | None:
        """The document, or its only table."""
        return cls.table_of(place, file, first, None)

    @classmethod
    @abstractmethod
    def table_of(cls, place: Place, file: Foreign, first: bytes, table: str | None) -> Self | None:
        """One of the tables of the document, by its name; None if this is another format."""

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, some rows after the other."""
        size = max(1, _CELLS // max(len(wanted.columns), 1))
        for start in range(0, self.rows, size):
            rows = min(size, self.rows - start)
            columns = {name: self.columns[name][start : start + rows] for name in wanted.columns}
            yield Batch(columns, rows, cells=self.rows * len(wanted.columns), path=place)
        wanted.progress(1.0)

    def copy_columns(self, place: Place, wanted: Sequence[str], output: Path, suffix: str, *, safe: bool) -> None:
        """Refuse to write."""
        raise CredimiError(f"{place} is {self.kind}, which is read and not written: give the data as CSV or Parquet")

    def sharing(self, shared: dict[object, Foreign]) -> Self:
        """The same document."""
        return self


def chosen(place: Place, names: Sequence[str], table: str | None, what: str) -> str:
    """The name of the table that is meant; an error if there is none, or if one has to be named."""
    listed = ", ".join(map(repr, names[:10])) + ", ..." * (len(names) > 10)
    if table is not None and table not in names:
        raise CredimiError(f"{place} has no {what} {table!r}: it has {listed or 'none'}")
    if table is None and len(names) != 1:
        if not names:
            raise CredimiError(f"{place} has no {what}: name a file that has one")
        raise CredimiError(f"{place} has {len(names)} {what}s ({listed}): name one, as in {place.name}::{names[0]}")
    return table or names[0]
