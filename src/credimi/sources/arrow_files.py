"""Arrow's own files (.arrow, .feather: a file or a stream of record batches), read batch by batch.

The writer of the file decided how long a batch is. The wanted columns of a batch are read at once, and counted in
slices of at most `_CELLS` cells.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np
import pyarrow as pa
import pyarrow.ipc

from credimi.columns.arrow_buffers import plain
from credimi.core.errors import CredimiError, memory_named, one_line
from credimi.core.remote_files import opened
from credimi.counts.batch import Batch
from credimi.sources.formats import JOINED, Glimpse, Layout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from credimi.core.remote_files import Place
    from credimi.core.types import Foreign
    from credimi.sources.formats import Wanted

_CELLS = 1 << 20
_OFFSETS = {pa.string(): "i4", pa.binary(): "i4", pa.large_string(): "i8", pa.large_binary(): "i8"}
_STREAM_MARK = b"\xff\xff\xff\xff"  # the first bytes of a stream


@dataclass(frozen=True, slots=True)
class ArrowSchema(Layout):
    """Names and types of the columns; whether the file is a stream, which has no list of its batches."""

    kind = "Arrow"
    endings = (".arrow", ".feather")
    marks = (b"ARROW1", _STREAM_MARK)
    memory_per_byte = JOINED

    schema: pa.Schema
    stream: bool

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(self.schema.names)

    @classmethod
    def of(cls, place: Place, file: Foreign, first: bytes, _delimiter: str | None) -> Self:
        """The schema of an open file."""
        stream = first.startswith(_STREAM_MARK)
        with readable(place), (pa.ipc.open_stream if stream else pa.ipc.open_file)(file) as reader:
            return cls(reader.schema.remove_metadata(), stream)

    def glimpse(self, name: str) -> Glimpse:
        """The type of a column."""
        return Glimpse(pa.nulls(0, self.schema.field(name).type))

    def batches(self, place: Place, wanted: Wanted) -> Iterator[Batch]:
        """The wanted columns, slice by slice."""
        size = max(1, _CELLS // len(wanted.columns))
        for batch, done in self._record_batches(place, wanted.columns):
            with readable(place):
                for name in wanted.columns:
                    check(batch.column(name))
            for start in range(0, batch.num_rows, size):
                part = batch.slice(start, size)
                columns = {name: part.column(name) for name in wanted.columns}
                yield Batch(columns, part.num_rows, cells=wanted.cells, path=place)
            wanted.progress(done)

    def _record_batches(self, place: Place, names: Sequence[str]) -> Iterator[tuple[pa.RecordBatch, float]]:
        """The batches, with at least these columns, and the share of the file that has been read after each."""
        options = pa.ipc.IpcReadOptions(included_fields=[self.schema.get_field_index(name) for name in names])
        with readable(place), opened(place, stream=self.stream) as source:
            if self.stream:
                with pa.ipc.open_stream(source, options=options) as reader:
                    for batch in reader:
                        yield batch, 0.0
            else:
                with pa.ipc.open_file(source, options=options) as reader:
                    for index in range(reader.num_record_batches):
                        yield reader.get_batch(index), (index + 1) / reader.num_record_batches

    def copy_columns(self, place: Place, wanted: Sequence[str], output: Path, _suffix: str, *, safe: bool) -> None:  # noqa: ARG002  (text of Arrow is no formula)
        """The same rows with some of the columns."""
        schema = pa.schema([self.schema.field(name) for name in wanted])
        with pa.OSFile(os.fsencode(output), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
            for batch, _ in self._record_batches(place, wanted):
                writer.write_batch(batch.select(list(wanted)))


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
