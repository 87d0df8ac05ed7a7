"""Arrow's own files (.arrow, .feather: a file or a stream of record batches), read batch by batch.

The writer of the file decided how long a batch is. The wanted columns of a batch are read at once, and counted in
slices of at most `_CELLS` cells.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from credimi.columns.arrow_buffers import plain
from credimi.core.errors import CredimiError, memory_named, one_line
from credimi.core.remote_files import opened
from credimi.counts.batch import Batch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign

    Progress = Callable[[float], None]

_CELLS = 1 << 20
_OFFSETS = {pa.string(): "i4", pa.binary(): "i4", pa.large_string(): "i8", pa.large_binary(): "i8"}
_STREAM_MARK = b"\xff\xff\xff\xff"  # the first bytes of a stream
MARKS = (b"ARROW1", _STREAM_MARK)


@dataclass(frozen=True, slots=True)
class ArrowSchema:
    """Names and types of the columns; whether the file is a stream, which has no list of its batches."""

    schema: pa.Schema
    stream: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)


def read_schema(path: Place, source: Foreign, first: bytes) -> ArrowSchema:
    """The schema of an open file."""
    stream = first.startswith(_STREAM_MARK)
    with readable(path), (pa.ipc.open_stream if stream else pa.ipc.open_file)(source) as reader:
        return ArrowSchema(reader.schema.remove_metadata(), stream)


@contextmanager
def readable(path: Place, kind: str = "Arrow") -> Iterator[None]:
    """Raise an error that names the file if pyarrow cannot read it."""
    try:
        with memory_named(f"to read {path}"):
            yield
    except (pa.ArrowException, OSError) as error:
        raise CredimiError(f"{path} is no readable {kind} file: {one_line(error)}") from error
    except UnicodeDecodeError as error:
        raise CredimiError(f"{path} is no readable {kind} file: a name in it is not UTF-8") from error


def check(array: pa.Array) -> None:
    """Raise an error if an array has positions beyond what they are positions in: pyarrow takes them from the file.

    `validate(full=True)` finds them, but decodes each text, which takes as long as to read it. Here texts are left:
    they are decoded where they differ, when they become labels.
    """
    kind = array.type
    if pa.types.is_dictionary(kind):
        check(array.dictionary)
        indices = plain(array.indices)
        # Without a sign, indices below 0 are large. Those of missing values may be any: validate looks closer.
        if indices.size and indices.view(f"u{indices.itemsize}").max() >= len(array.dictionary):
            array.validate(full=True)
    elif kind in _OFFSETS:
        array.validate()
        ends = np.frombuffer(array.buffers()[1] or b"", dtype=_OFFSETS[kind])[array.offset :][: len(array) + 1]
        if (ends[1:] < ends[:-1]).any():
            array.validate(full=True)
    else:
        array.validate(full=True)


def batches(path: Place, layout: ArrowSchema, wanted: Sequence[str], progress: Progress, cells: int) -> Iterator[Batch]:
    """The wanted columns, slice by slice; `cells` is an estimate of the cells of all files."""
    size = max(1, _CELLS // len(wanted))
    for batch, done in _record_batches(path, layout, wanted):
        with readable(path):
            for name in wanted:
                check(batch.column(name))
        for start in range(0, batch.num_rows, size):
            part = batch.slice(start, size)
            columns = {name: part.column(name) for name in wanted}
            yield Batch(columns, part.num_rows, cells=cells, path=path)
        progress(done)


def _record_batches(path: Place, layout: ArrowSchema, wanted: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
    """The batches, with at least the wanted columns, and the share of the file that has been read after each."""
    indices = [layout.schema.get_field_index(name) for name in wanted]
    options = pa.ipc.IpcReadOptions(included_fields=indices)
    with readable(path), opened(path, stream=layout.stream) as source:
        if layout.stream:
            with pa.ipc.open_stream(source, options=options) as reader:
                for batch in reader:
                    yield batch, 0.0
        else:
            with pa.ipc.open_file(source, options=options) as reader:
                for index in range(reader.num_record_batches):
                    yield reader.get_batch(index), (index + 1) / reader.num_record_batches


def copy_columns(path: Place, layout: ArrowSchema, wanted: Sequence[str], output: Path) -> None:
    """The same rows with some of the columns."""
    schema = pa.schema([layout.schema.field(name) for name in wanted])
    with pa.OSFile(os.fsencode(output), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        for batch, _ in _record_batches(path, layout, wanted):
            writer.write_batch(batch.select(list(wanted)))
