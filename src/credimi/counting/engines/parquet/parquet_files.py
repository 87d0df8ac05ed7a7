"""Parquet, read batch by batch, and some columns at a time.

What bounds memory: each column that is being read needs a stream of `_STREAM` bytes, a page or two, and its share of
a batch of `_CELLS` cells, decoded. So a wide file is read in blocks of columns, one block after the other, which the
format is made for, and its rows do not matter at all. Neither a map of the file nor pyarrow's buffering in advance
would do: both hold as much as the file has.

Only remote files are buffered in advance, a row group at a time: there every small read would be a request.

Text of few distinct values goes from a file's pages to codes at once, where there is much of it (`parquet_codes`): a
block of columns and a row group at a time, as long as both are no more than `parquet_codes.MOST_CELLS`.
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

_STREAM = 1 << 16
_CELLS = 1 << 20
_INSIDE = 64  # values that a list is thought to hold
_GROUP = 1 << 13  # rows of a group, from which on its dictionaries are worth having
_MOST_THREADS = 8  # each has a block of columns under way
COLUMNS = 17  # read together, the target among them: it is read again with each block, which costs a seventeenth


@dataclass(frozen=True, slots=True)
class Footer:
    """The end of a Parquet file: names and types of its columns, and how many rows it has, in how many groups."""

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
    """Each block of columns, batch by batch; `times` is how many such files there are.

    With `coded`, columns may come as codes.
    """
    schema, remote = footer.schema, isinstance(path, Remote)
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    if footer.rows < _GROUP * footer.groups:  # dictionaries would end a batch with each group of rows
        texts = []
    cells, done = sum(map(len, blocks)) * footer.rows, 0
    coded = coded and bool(texts) and not remote and cells * times >= tabulate.CELLS_WORTH_COMPILING
    with (
        readable(path, "Parquet"),
        opened(path) as source,
        pa.parquet.ParquetFile(
            source, read_dictionary=texts, pre_buffer=remote, buffer_size=0 if remote else _STREAM
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
    """Columns and how many rows they have."""
    groups = [[group] for group in range(footer.groups)]
    parts: list[tuple[Sequence[str], list[int] | None, bool]] = []
    for block in blocks:
        as_codes = coded and parquet_codes.readable(file, source, footer.schema, block)
        parts += [(block, each, as_codes) for each in (groups if as_codes or remote else [None])]

    def found(part: tuple[Sequence[str], list[int] | None, bool]) -> dict[str, Column] | None:
        block, own, as_codes = part
        return parquet_codes.coded(file, source, footer.schema, own[0], block) if as_codes and own else None

    at_once = min(cores(threads), _MOST_THREADS)
    for (block, own, _), columns in zip(parts, in_order(found, parts, at_once), strict=True):
        if columns is not None:
            yield columns, next(iter(columns.values())).codes.size
            continue
        nested = any(pa.types.is_nested(footer.schema.field(name).type) for name in block)
        size = max(1, _CELLS // len(block) // (_INSIDE if nested else 1))
        for batch in file.iter_batches(size, row_groups=own, columns=list(block)):
            yield {name: batch.column(name) for name in block}, batch.num_rows


def copy_columns(path: Place, wanted: Sequence[str], output: Path) -> None:
    """The same rows with some of the columns."""
    with opened(path) as source, pa.parquet.ParquetFile(source) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
        with pa.OSFile(os.fsencode(output), "wb") as sink, pa.parquet.ParquetWriter(sink, schema) as writer:
            for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                writer.write_batch(batch.select(list(wanted)))
