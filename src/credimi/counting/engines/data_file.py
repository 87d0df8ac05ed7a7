"""`DataFile`: what a file is, found once; whoever reads it asks no more than its bytes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.core.remote_files import Status, identity, opened, reason
from credimi.counting.counted_files import CountedFile
from credimi.counting.counts_file import NAME
from credimi.counting.engines.csv_files import Header, read_header
from credimi.counting.engines.parquet_files import Footer, read_footer

if TYPE_CHECKING:
    import os

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign

PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, slots=True, eq=False)
class DataFile:
    """One file: where it is, how large, since when; its columns, and what tells how to read them.

    `layout` is the header of CSV, the footer of Parquet, and None of a file of counts. `source` is the file as counts
    name it, and `identity` the same for all names that it has.
    """

    place: Place
    identity: object
    source: CountedFile
    layout: Header | Footer | None

    @classmethod
    def of(cls, place: Place, status: os.stat_result | Status, delimiter: str | None = None) -> DataFile:
        """A file as it is, opened once. Its format is told by its first bytes: names lie."""
        with opened(place) as file:
            source = CountedFile.seen(place, status, file)
            try:
                file.seek(0)
                first = file.read(len(NAME))
                file.seek(0)
            except OSError as error:
                raise CredimiError(f"cannot read {place}: {reason(error)}") from error
            layout: Header | Footer | None = None
            if first.startswith(b"PAR1"):
                layout = read_footer(place, file)
            elif first != NAME:
                if not first and place.suffix.lower() in PARQUET:
                    raise CredimiError(f"{place} is empty, which no Parquet file is: write it again, or leave it out")
                layout = read_header(place, file, delimiter)
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
