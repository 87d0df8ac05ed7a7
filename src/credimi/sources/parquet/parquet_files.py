"""Parquet, read batch by batch, and some columns at a time.

Memory is bounded: each column that is being read needs a stream of `_STREAM_BYTES` bytes, a page or two, and its share
of a batch of `_CELLS` cells, decoded. So a wide file is read in blocks of columns, one block after the other, for which
the format is made. The number of rows does not matter. A memory map of the file, or pyarrow's buffering in advance,
would hold as much as the whole file.

Only remote files are buffered in advance, one row group at a time: otherwise every small read would be a request.

If there is much text of few distinct values, it goes straight from the pages of the file to codes (`parquet_codes`):
one block of columns and one row group at a time, if these have no more than `parquet_codes.MAX_CELLS` cells.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.parquet

from credimi.core.errors import lacks_memory
from credimi.core.remote_files import Remote, opened
from credimi.core.threads import cores, in_order
from credimi.counts import tabulate
from credimi.counts.batch import Batch
from credimi.sources.arrow_files import check, readable
from credimi.sources.formats import JOINED, Glimpse, Layout
from credimi.sources.parquet.parquet_codes import TextColumns

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from credimi.columns.column import Column
    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.sources.formats import Wanted

    Columns = Mapping[str, Column | pa.Array]

_STREAM_BYTES = 1 << 16
_CELLS = 1 << 20
_GUESSED_LIST_SIZE = 64  # values of a list
_GROUP = 1 << 13  # rows of a group; in smaller groups dictionaries do not pay
_MAX_THREADS = 8  # each of them has a block of columns in memory
_INDEX = 4  # bytes of a text, as a position in the dictionary
COLUMNS = 17  # of a block, with the target, which is read again with each block: this costs a seventeenth


@dataclass(frozen=True, slots=True)
class Footer(Layout):
    """The end of a Parquet file: names and types of its columns, and its numbers of rows and of row groups.

    `unpacked` is the size of its pages in bytes, decompressed.
    """

    kind = "Parquet"
    endings = (".parquet", ".pq")
    marks = (b"PAR1",)

    schema: pa.Schema
    rows: int
    groups: int
    unpacked: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)

    @classmethod
    def of(cls, place: Place, file: Foreign, _first: bytes, _delimiter: str | None) -> Self:
        """The footer of an open file."""
        with readable(place, "Parquet"), pa.parquet.ParquetFile(file) as parquet:
            metadata = parquet.metadata
            unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
            schema = parquet.schema_arrow.remove_metadata()
            return cls(schema, metadata.num_rows, metadata.num_row_groups, unpacked)

    def sharing(self, shared: dict[object, Foreign]) -> Self:
        """The same; a schema that another file has, too, is stored only once."""
        return replace(self, schema=shared.setdefault(self.schema, self.schema))

    def memory(self, _size: int, wanted: Collection[str]) -> float:
        """The bytes of these columns: of numbers and indices of texts, but no less than the pages; and of codes."""
        widths = [_width(field.type) for field in self.schema if field.name in wanted]
        pages = self.unpacked * len(widths) / max(len(self.names), 1)
        return JOINED * max(self.rows * sum(widths), pages) + self.rows * len(widths)

    def glimpse(self, name: str) -> Glimpse:
        """The type of a column."""
        return Glimpse(pa.nulls(0, self.schema.field(name).type))

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """Each block of columns, batch by batch."""
        schema, remote = self.schema, isinstance(place, Remote)
        texts = [
            field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]
        if self.rows < _GROUP * self.groups:  # with dictionaries, each group of rows would be a batch
            texts = []
        blocks, times = wanted.blocks or [wanted.columns], wanted.total / max(wanted.size, 1)
        cells, done = sum(map(len, blocks)) * self.rows, 0
        coded = wanted.coded and bool(texts) and not remote and cells * times >= tabulate.CELLS_WORTH_COMPILING
        with (
            readable(place, "Parquet"),
            opened(place) as source,
            pa.parquet.ParquetFile(
                source, read_dictionary=texts, pre_buffer=remote, buffer_size=0 if remote else _STREAM_BYTES
            ) as file,
        ):
            for columns, rows in _parts(file, source, self, blocks, wanted.threads, coded=coded, remote=remote):
                yield Batch(columns, rows, cells=int(cells * times), path=place)
                done += rows * len(columns)
                wanted.progress(done / max(cells, 1))

    def copy_columns(self, place: Place, wanted: Sequence[str], output: Path, _suffix: str, *, safe: bool) -> None:  # noqa: ARG002  (text of Parquet is no formula)
        """The same rows with some of the columns."""
        with opened(place) as source, pa.parquet.ParquetFile(source) as file:
            schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
            with pa.OSFile(os.fsencode(output), "wb") as sink, pa.parquet.ParquetWriter(sink, schema) as writer:
                for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                    writer.write_batch(batch.select(list(wanted)))


def _width(kind: pa.DataType) -> float:
    """The bytes of a value of this type, at least."""
    try:
        return float(kind.bit_width / 8)
    except ValueError:  # text, lists
        return _INDEX


def _parts(
    file: pa.parquet.ParquetFile,
    source: pa.NativeFile,
    footer: Footer,
    blocks: Sequence[Sequence[str]],
    threads: int | None,
    *,
    coded: bool,
    remote: bool,
) -> Iterator[tuple[Columns, int]]:
    """Columns, and their number of rows.

    If at least half the columns of a block can be read as codes, they are, and pyarrow reads the others beside them.
    """
    group_rows = [file.metadata.row_group(group).num_rows for group in range(footer.groups)]
    if sum(group_rows) != footer.rows:
        raise pa.ArrowInvalid(f"its footer tells of {footer.rows:,} rows, and of {sum(group_rows):,} in its parts")
    groups = [[group] for group in range(footer.groups)]
    parts: list[tuple[Sequence[str], list[int] | None, Sequence[str]]] = []
    cells = sum(map(len, blocks)) * footer.rows
    coded = coded and cells >= _GROUP * footer.groups * len(footer.names)  # else it takes long to read the footer
    text_columns = TextColumns.of(file, source, footer.schema) if coded else None
    for block in blocks:
        names = text_columns.readable(block) if text_columns else []
        names = names if 2 * len(names) >= len(block) else []
        parts += [(block, row_groups, names) for row_groups in (groups if names or remote else [None])]

    def coded_columns(part: tuple[Sequence[str], list[int] | None, Sequence[str]]) -> dict[str, Column]:
        _, row_groups, names = part
        if not names or not row_groups or text_columns is None:
            return {}
        return text_columns.coded(row_groups[0], names) or {}

    max_parts = min(cores(threads), _MAX_THREADS)
    for (block, row_groups, _), columns in zip(parts, in_order(coded_columns, parts, max_parts), strict=True):
        rows = footer.rows if row_groups is None else group_rows[row_groups[0]]
        others = [name for name in block if name not in columns]
        if not others:
            yield columns, rows
            continue
        nested = any(pa.types.is_nested(footer.schema.field(name).type) for name in others)
        size = max(1, _CELLS // len(block) // (_GUESSED_LIST_SIZE if nested else 1))
        rows_read = 0
        for batch in _arrow_batches(file, source, size, row_groups, others):
            part = slice(rows_read, rows_read + batch.num_rows)
            rows_read = part.stop
            if rows_read > rows:
                break
            read: dict[str, Column | pa.Array] = _columns_of(batch, others)
            read |= {name: replace(column, codes=column.codes[part]) for name, column in columns.items()}
            yield {name: read[name] for name in block}, batch.num_rows
        if rows_read != rows:
            raise pa.ArrowInvalid(f"its pages do not have the {rows:,} rows of its footer")


def _columns_of(batch: pa.RecordBatch, names: Sequence[str]) -> dict[str, Column | pa.Array]:
    """These columns of a batch; pyarrow leaves out what a damaged schema makes a group without columns."""
    if not set(names).issubset(batch.schema.names):
        raise pa.ArrowInvalid("a column of its schema has no pages")
    return {name: batch.column(name) for name in names}


def _arrow_batches(
    file: pa.parquet.ParquetFile, source: pa.NativeFile, size: int, row_groups: list[int] | None, names: list[str]
) -> Iterator[pa.RecordBatch]:
    """What pyarrow reads. Where it fails to make dictionaries, as of some encodings, text comes as it is."""
    rows_read, has_dictionaries = 0, True
    try:
        for batch in file.iter_batches(size, row_groups=row_groups, columns=names):
            dictionaries = [column for column in batch.columns if pa.types.is_dictionary(column.type)]
            has_dictionaries = bool(dictionaries)
            for column in dictionaries:
                check(column)
            rows_read += batch.num_rows
            yield batch
    except (pa.ArrowException, OSError) as error:
        if not has_dictionaries or lacks_memory(error):
            raise
        rows_again = 0
        with pa.parquet.ParquetFile(source, metadata=file.metadata, buffer_size=_STREAM_BYTES) as plain:
            for batch in plain.iter_batches(size, row_groups=row_groups, columns=names):
                unread = batch.slice(min(max(rows_read - rows_again, 0), batch.num_rows))
                rows_again += batch.num_rows
                if unread.num_rows:
                    yield unread
