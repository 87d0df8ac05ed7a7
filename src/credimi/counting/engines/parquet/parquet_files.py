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
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet

from credimi.core.remote_files import Remote, opened
from credimi.core.threads import cores, in_order
from credimi.counting import tabulate
from credimi.counting.batch import Batch
from credimi.counting.engines.arrow_files import readable
from credimi.counting.engines.parquet import parquet_codes

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
    """The end of a Parquet file: names and types of its columns, and its numbers of rows and of row groups."""

    schema: pa.Schema
    rows: int
    groups: int

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)


def read_footer(path: Place, source: pa.NativeFile) -> Footer:
    """The footer of an open file."""
    with readable(path, "Parquet"), pa.parquet.ParquetFile(source) as file:
        return Footer(file.schema_arrow.remove_metadata(), file.metadata.num_rows, file.metadata.num_row_groups)


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
    """Columns, and their number of rows."""
    groups = [[group] for group in range(footer.groups)]
    parts: list[tuple[Sequence[str], list[int] | None, bool]] = []
    for block in blocks:
        as_codes = coded and parquet_codes.readable(file, source, footer.schema, block)
        parts += [(block, row_groups, as_codes) for row_groups in (groups if as_codes or remote else [None])]

    def coded_columns(part: tuple[Sequence[str], list[int] | None, bool]) -> dict[str, Column] | None:
        block, row_groups, as_codes = part
        return (
            parquet_codes.coded(file, source, footer.schema, row_groups[0], block) if as_codes and row_groups else None
        )

    max_parts = min(cores(threads), _MAX_THREADS)
    for (block, row_groups, _), columns in zip(parts, in_order(coded_columns, parts, max_parts), strict=True):
        if columns is not None:
            yield columns, next(iter(columns.values())).codes.size
            continue
        nested = any(pa.types.is_nested(footer.schema.field(name).type) for name in block)
        size = max(1, _CELLS // len(block) // (_GUESSED_LIST_SIZE if nested else 1))
        for batch in file.iter_batches(size, row_groups=row_groups, columns=list(block)):
            yield {name: batch.column(name) for name in block}, batch.num_rows


def copy_columns(path: Place, wanted: Sequence[str], output: Path) -> None:
    """The same rows with some of the columns."""
    with opened(path) as source, pa.parquet.ParquetFile(source) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
        with pa.OSFile(os.fsencode(output), "wb") as sink, pa.parquet.ParquetWriter(sink, schema) as writer:
            for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                writer.write_batch(batch.select(list(wanted)))
