"""Parquet, read batch by batch, and some columns at a time.

What bounds memory: each column that is being read needs a stream of `_STREAM` bytes, a page or two, and its share of
a batch of `_CELLS` cells, decoded. So a wide file is read in blocks of columns, one block after the other, which the
format is made for, and its rows do not matter at all. Neither a map of the file nor pyarrow's buffering in advance
would do: both hold as much as the file has.

Only remote files are buffered in advance, a row group at a time: there every small read would be a request.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet

from credimi.core.errors import CredimiError, one_line
from credimi.core.remote_files import Remote, opened
from credimi.counting.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from credimi.core.remote_files import Place

    Progress = Callable[[float], None]

_STREAM = 1 << 16
_CELLS = 1 << 20
_INSIDE = 64  # values that a list is thought to hold
_GROUP = 1 << 13  # rows of a group, from which on its dictionaries are worth having
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
    with _readable(path), pa.parquet.ParquetFile(source) as file:
        return Footer(file.schema_arrow.remove_metadata(), file.metadata.num_rows, file.metadata.num_row_groups)


@contextmanager
def _readable(path: Place) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        raise CredimiError(f"{path} is no readable Parquet file: {one_line(error)}") from error


def batches(
    path: Place, footer: Footer, blocks: Sequence[Sequence[str]], times: float, progress: Progress
) -> Iterator[Batch]:
    """Each block of columns, batch by batch; `times` is how many such files there are."""
    schema, remote = footer.schema, isinstance(path, Remote)
    texts = [field.name for field in schema if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)]
    if footer.rows < _GROUP * footer.groups:  # dictionaries would end a batch with each group of rows
        texts = []
    cells, done = sum(map(len, blocks)) * footer.rows, 0
    parts = [[group] for group in range(footer.groups)] if remote else [None]
    with (
        _readable(path),
        opened(path) as source,
        pa.parquet.ParquetFile(
            source, read_dictionary=texts, pre_buffer=remote, buffer_size=0 if remote else _STREAM
        ) as file,
    ):
        for block in blocks:
            nested = any(pa.types.is_nested(schema.field(name).type) for name in block)
            size = max(1, _CELLS // len(block) // (_INSIDE if nested else 1))
            for part in parts:
                for batch in file.iter_batches(size, row_groups=part, columns=list(block)):
                    columns = {name: batch.column(name) for name in block}
                    yield Batch(columns, batch.num_rows, cells=int(cells * times), path=path)
                    done += batch.num_rows * len(block)
                    progress(done / max(cells, 1))


def copy_columns(path: Place, wanted: Sequence[str], output: Path) -> None:
    """The same rows with some of the columns."""
    with opened(path) as source, pa.parquet.ParquetFile(source) as file:
        schema = pa.schema([file.schema_arrow.field(name) for name in wanted])
        with pa.OSFile(os.fsencode(output), "wb") as sink, pa.parquet.ParquetWriter(sink, schema) as writer:
            for batch in file.iter_batches(batch_size=max(1, _CELLS // len(wanted)), columns=list(wanted)):
                writer.write_batch(batch.select(list(wanted)))
