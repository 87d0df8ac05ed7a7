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
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet

from credimi.core.errors import lacks_memory
from credimi.core.remote_files import Remote, opened
from credimi.core.threads import cores, in_order
from credimi.counts import tabulate
from credimi.counts.batch import Batch
from credimi.sources.arrow_files import check, readable
from credimi.sources.parquet.parquet_codes import TextColumns

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from credimi.columns.column import Column
    from credimi.core.remote_files import Place

    Progress = Callable[[float], None]
    Columns = Mapping[str, Column | pa.Array]

_STREAM_BYTES = 1 << 16
_CELLS = 1 << 20
_GUESSED_LIST_SIZE = 64  # values of a list
_GROUP = 1 << 13  # rows of a group; in smaller groups dictionaries do not pay
_MAX_THREADS = 8  # each of them has a block of columns in memory
COLUMNS = 17  # of a block, with the target, which is read again with each block: this costs a seventeenth


@dataclass(frozen=True, slots=True)
class Footer:
    """The end of a Parquet file: names and types of its columns, and its numbers of rows and of row groups.

    `unpacked` is the size of its pages in bytes, decompressed.
    """

    schema: pa.Schema
    rows: int
    groups: int
    unpacked: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)


def read_footer(path: Place, source: pa.NativeFile) -> Footer:
    """The footer of an open file."""
    with readable(path, "Parquet"), pa.parquet.ParquetFile(source) as file:
        metadata = file.metadata
        unpacked = sum(metadata.row_group(group).total_byte_size for group in range(metadata.num_row_groups))
        return Footer(file.schema_arrow.remove_metadata(), metadata.num_rows, metadata.num_row_groups, unpacked)


def batches(
    path: Place,
    footer: Footer,
    blocks: Sequence[Sequence[str]],
    times: float,
    progress: Progress,
    *,
    threads: int | None = None,
    coded: bool = False,
) -> Iterator[Batch]:
    """Each block of columns, batch by batch; `times` is the size of all files relative to this one.

    With `coded`, columns may come as codes.
    """
    schema, remote = footer.schema, isinstance(path, Remote)
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    if footer.rows < _GROUP * footer.groups:  # with dictionaries, each group of rows would be a batch
        texts = []
    cells, done = sum(map(len, blocks)) * footer.rows, 0
    coded = coded and bool(texts) and not remote and cells * times >= tabulate.CELLS_WORTH_COMPILING
    with (
        readable(path, "Parquet"),
        opened(path) as source,
        pa.parquet.ParquetFile(
            source, read_dictionary=texts, pre_buffer=remote, buffer_size=0 if remote else _STREAM_BYTES
        ) as file,
    ):
        for columns, rows in _parts(file, source, footer, blocks, threads, coded=coded, remote=remote):
            yield Batch(columns, rows, cells=int(cells * times), path=path)
            done += rows * len(columns)
            progress(done / max(cells, 1))


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


def copy_columns(path: Place, wanted: Sequence[str], output: Path) -> None:
    """The same rows with some of the columns."""
    with opened(path) as source, pa.parquet.ParquetFile(source) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
        with pa.OSFile(os.fsencode(output), "wb") as sink, pa.parquet.ParquetWriter(sink, schema) as writer:
            for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                writer.write_batch(batch.select(list(wanted)))
