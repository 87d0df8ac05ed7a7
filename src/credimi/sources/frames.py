"""Tables in memory: anything that speaks the Arrow C stream, numpy arrays, a list of dictionaries.

No library of the user is imported. pandas' columns of Python objects do not go through Arrow: encoding the objects
themselves is faster, and an error can name the row.
"""

from __future__ import annotations

import reprlib
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns.column import PrecodedColumn, UnreadableColumn
from credimi.columns.python_objects import object_array, shown_name
from credimi.core.errors import CredimiError, NoMemoryError, UncountableError, lacks_memory, one_line
from credimi.counts.batch import Batch
from credimi.sources import sparse_matrices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from credimi.columns.column import ColumnValues
    from credimi.core.types import AnyArray, ArrowStream, Data, Foreign, Value, Values

_ROWS, _CELLS = 1 << 20, 1 << 22  # at most so many are counted together, of Arrow's batches
_BYTES = 1 << 28  # the same limit in bytes, for long texts
_FEWEST_ROWS = 1 << 13  # even of wide tables: each column of a batch costs as much as thousands of cells
_NO_ARROW = (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, UnicodeEncodeError)
TARGET = "target"  # the name of a target that is passed as a separate array


def reads(data: object) -> bool:
    """Whether this engine reads such data."""
    return (
        hasattr(data, "__arrow_c_stream__")
        or isinstance(data, np.ndarray | list | tuple | dict)
        or sparse_matrices.reads(data)
    )


def is_stream(data: object) -> bool:
    """Whether the rows can be read only once: the data are a stream, no table."""
    return hasattr(data, "__arrow_c_stream__") and not hasattr(data, "columns") and not hasattr(data, "__len__")


def opened(data: Data) -> Foreign:
    """The same data; a stream becomes a reader, as it may refuse to be opened twice: for its names and its rows."""
    if not is_stream(data):
        return data
    try:
        return data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, OSError, RuntimeError, ValueError) as error:  # each library raises another error
        if lacks_memory(error):
            raise NoMemoryError(f"to read a {type(data).__name__}", error) from error
        raise CredimiError(
            f"cannot read a {type(data).__name__} as a table: {one_line(error)}; it may have been read before, and a "
            "stream gives its rows once: pass a new one, or a table"
        ) from error


def names(data: Foreign) -> list[str]:  # noqa: PLR0911  (one way for each kind of table)
    """The names of the columns, in the order of the data."""
    if _is_pandas(data):
        return [shown_name(name) for name in data.columns]
    if isinstance(data, pa.RecordBatchReader | pa.Table | pa.RecordBatch):
        return list(data.schema.names)
    if isinstance(data, np.ndarray) or sparse_matrices.reads(data):
        return _array_names(data)
    if isinstance(data, dict):
        return [str(name) for name in data]
    if is_lazy(data):
        return list(data.collect_schema().names())  # nothing is computed for them
    if isinstance(data, list | tuple):
        return _dictionary_names(data)
    columns = getattr(data, "columns", None)  # polars, duckdb
    if isinstance(columns, list):
        return [str(name) for name in columns]
    try:
        return list(pa.RecordBatchReader.from_stream(data).schema.names)
    except pa.ArrowException as error:
        if lacks_memory(error):
            raise NoMemoryError(f"to read a {type(data).__name__}", error) from error
        raise CredimiError(
            f"a {type(data).__name__} is no table but one column: pass a frame, such as series.to_frame()"
        ) from error


def batches(data: Data, wanted: Sequence[str]) -> Iterator[Batch]:
    """The wanted columns, batch by batch."""
    if _is_pandas(data):
        yield _from_pandas(data, wanted)
    elif isinstance(data, np.ndarray):
        yield _from_numpy(data, wanted)
    elif sparse_matrices.reads(data):
        yield _from_sparse(data, wanted)
    elif isinstance(data, dict):
        yield _from_mapping(data, wanted)
    elif isinstance(data, list | tuple):
        keys = {str(key): key for row in data for key in row}
        columns = {name: object_array([row.get(keys[name]) for row in data]) for name in wanted}
        yield Batch(columns, len(data), cells=len(data) * len(wanted))
    else:
        yield from _from_stream(data, wanted)


def _is_pandas(data: object) -> bool:
    return type(data).__module__.split(".")[0] == "pandas" and hasattr(data, "columns")


def with_index(data: Foreign, asked: Sequence[object]) -> Foreign:
    """A frame of pandas with those levels of its index as columns that are asked for by their names."""
    if not _is_pandas(data):
        return data
    levels = [name for name in data.index.names if name is not None and name in asked and name not in data.columns]
    return data.reset_index(level=levels) if levels else data


def check_order(data: Foreign, values: object, what: str) -> None:
    """Refuse a pandas Series whose index has the frame's labels in another order: values are matched by position."""
    index = getattr(values, "index", None)
    if not _is_pandas(data) or index is None or callable(index):
        return
    frame_index = data.index
    if len(index) != len(frame_index) or index.equals(frame_index):
        return
    with suppress(TypeError):  # labels that have no order
        if index.sort_values().equals(frame_index.sort_values()):
            raise CredimiError(
                f"the index of the {what} has the labels of the data in another order, and values go by their "
                f"position: pass {what}.loc[data.index], or reset the index of both"
            )


def own_names(data: Foreign) -> dict[str, Value]:
    """The names in the data that are no text, by the text that is shown for each; for an array, the column indices."""
    if (isinstance(data, np.ndarray) and data.ndim == 2) or sparse_matrices.reads(data):
        return {name: index for index, name in enumerate(_array_names(data))}
    if _is_pandas(data) or type(data).__module__.startswith("dask"):
        data = data.columns
    elif isinstance(data, list | tuple):
        data = set().union(*(row for row in data if isinstance(row, dict)))
    elif not isinstance(data, dict):
        return {}
    return {shown_name(name): name for name in data if not isinstance(name, str)}


def _from_pandas(frame: Foreign, wanted: Sequence[str]) -> Batch:
    by_name = {shown_name(name): position for position, name in enumerate(frame.columns)}
    columns = {name: array_of(frame.iloc[:, by_name[name]], name) for name in wanted}
    return Batch(columns, len(frame), cells=len(frame) * len(wanted))


def _from_stream(data: Foreign, wanted: Sequence[str]) -> Iterator[Batch]:
    if isinstance(data, pa.Table | pa.RecordBatch):
        columns = {name: data.column(name) for name in wanted}
        yield Batch(columns, data.num_rows, cells=data.num_rows * len(wanted))
        return
    if is_polars(data) and has_unsupported_type(data[list(wanted)]):
        yield column_by_column(data, wanted)
        return
    reader = _nonempty_stream(data) if isinstance(data, pa.RecordBatchReader) else _reader(data, wanted)
    height = getattr(data, "height", 0)  # polars knows it; duckdb would have to run the query
    rows = height if isinstance(height, int) else 0
    yield from gathered(reader, wanted, rows)


def _nonempty_stream(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches of a stream; an error if there are none: a stream that was read before would count as no rows."""
    first = next(reader, None)
    if first is None:
        raise CredimiError(
            "the stream gave no rows: it may have been read before, and a stream gives its rows once; pass a new one, "
            "or a table, which may be empty"
        )
    return chain([first], reader)


def _reader(data: Foreign, wanted: Sequence[str]) -> pa.RecordBatchReader:
    """The stream of a table; DuckDB is asked for smaller batches, as its default is a million rows, however wide."""
    if type(data).__module__.startswith(("duckdb", "_duckdb")):
        if hasattr(data, "to_arrow_reader"):
            return data.to_arrow_reader(_enough_rows(len(wanted)))
        data = data.project("*")  # older relations give their rows once, and all of them
    return reader_of(data[list(wanted)] if is_polars(data) else data)


def is_polars(data: object) -> bool:
    """Whether this is an object of polars; checked without importing polars."""
    return type(data).__module__.split(".")[0] == "polars"


def reader_of(frame: ArrowStream) -> pa.RecordBatchReader:
    """The stream of a frame."""
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except pa.ArrowInvalid as error:
        raise CredimiError(f"cannot read a {type(frame).__name__} as a table: {one_line(error)}") from error


def has_unsupported_type(frame: Foreign) -> bool:
    """Whether a column of a polars frame has a type that Arrow does not support; only its schema is read."""
    if any(map(_holds_objects, frame.dtypes)):
        return True
    try:
        pa.RecordBatchReader.from_stream(frame[:0])
    except pa.ArrowInvalid:
        return True
    return False


def _holds_objects(kind: object) -> bool:
    """Whether a polars column holds Python objects; for Arrow, polars would convert them to bytes: their addresses."""
    return str(kind) == "Object"


def column_by_column(frame: Foreign, wanted: Sequence[str]) -> Batch:
    """One batch from a polars frame that Arrow does not support as a whole, converted column by column."""
    columns = {name: _array_or_unreadable(frame[name], name) for name in wanted}
    return Batch(columns, frame.height, cells=frame.height * len(wanted))


def is_lazy(data: object) -> bool:
    """Whether this is a LazyFrame of polars; checked without importing polars."""
    return is_polars(data) and type(data).__name__ == "LazyFrame"


def lazy_batches(data: Foreign, wanted: Sequence[str]) -> Iterator[Batch]:
    """The wanted columns of a LazyFrame; its query runs in polars' streaming engine, and reads no other columns.

    Memory holds one batch and what polars itself needs, whatever the number of rows. If this version of polars cannot
    return chunks, the columns are collected first.
    """
    from polars import selectors  # noqa: PLC0415  (a LazyFrame means that polars is installed)

    chosen = data.select(selectors.by_name(*wanted))  # a mere string may mean a pattern
    if hasattr(chosen, "collect_batches"):
        frames = iter(chosen.collect_batches(maintain_order=False))
    else:
        frames = iter([chosen.collect(engine="streaming")])
    first = next(frames, None)
    if first is None:
        return
    frames = chain([first], frames)
    if has_unsupported_type(first):
        yield from (column_by_column(frame, wanted) for frame in frames)
        return
    yield from gathered((chunk for frame in frames for chunk in reader_of(frame)), wanted)


def _enough_rows(columns: int) -> int:
    return min(_ROWS, max(_FEWEST_ROWS, _CELLS // max(columns, 1)))


def gathered(batches: Iterable[pa.RecordBatch], wanted: Sequence[str], rows: int = 0) -> Iterator[Batch]:
    """Arrow's batches; small ones are joined, as each batch costs a merge of labels. Their size, so memory, is limited.

    `rows` is the number of rows of the whole table, 0 if it is not known.
    """
    pending: list[pa.RecordBatch] = []
    rows_pending = bytes_pending = 0
    for batch in batches:
        pending.append(batch)
        rows_pending += batch.num_rows
        bytes_pending += _bytes_of(batch)
        if rows_pending >= _enough_rows(len(wanted)) or bytes_pending >= _BYTES:
            yield _one_batch(pending, wanted, rows)
            pending, rows_pending, bytes_pending = [], 0, 0
    if pending:
        yield _one_batch(pending, wanted, rows)


def _bytes_of(batch: pa.RecordBatch) -> int:
    """The size of a batch in bytes; with views of texts, which pyarrow 18 does not measure, that of all its buffers."""
    try:
        return int(batch.nbytes)
    except pa.ArrowTypeError:
        return int(batch.get_total_buffer_size())


def _one_batch(pending: list[pa.RecordBatch], wanted: Sequence[str], rows: int) -> Batch:
    table = pa.Table.from_batches(pending)
    columns = {name: table.column(name) for name in wanted}
    return Batch(columns, table.num_rows, cells=max(rows, table.num_rows) * len(wanted))


def _from_numpy(array: AnyArray, wanted: Sequence[str]) -> Batch:
    if array.dtype.names:
        columns = {name: array[name] for name in wanted}  # no copy by numpy, which would drop the mask
    else:
        if isinstance(array, np.matrix):  # scipy's todense gives one, and its columns would be matrices
            array = np.asarray(array)
        position = {name: index for index, name in enumerate(_array_names(array))}
        columns = {name: array[:, position[name]] for name in wanted}
    return Batch(columns, len(array), cells=len(array) * len(wanted))


def _from_sparse(matrix: Foreign, wanted: Sequence[str]) -> Batch:
    position = {name: index for index, name in enumerate(_array_names(matrix))}
    sparse_columns = sparse_matrices.columns(matrix, [position[name] for name in wanted])
    return Batch(dict(zip(wanted, sparse_columns, strict=True)), matrix.shape[0], cells=matrix.nnz)


def _array_names(array: Foreign) -> list[str]:
    if sparse_matrices.reads(array):
        return sparse_matrices.names(array)
    if array.dtype.names:
        return list(array.dtype.names)
    if array.ndim != 2:
        raise CredimiError(f"an array of shape {array.shape} is no table: pass rows x columns, or named fields")
    return [f"column {index}" for index in range(array.shape[1])]


def _dictionary_names(rows: Sequence[object]) -> list[str]:
    keys: dict[object, None] = {}
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise CredimiError(
                f"row {index} is a {type(row).__name__}: pass a list of dictionaries (one per row), or a list of paths"
            )
        keys |= dict.fromkeys(row)
    return [str(key) for key in keys]  # 1 and "1" are two columns of one name, which is refused


def _from_mapping(data: Mapping[str, Values], wanted: Sequence[str]) -> Batch:
    columns = {str(name): _array_or_unreadable(values, str(name)) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise CredimiError(f"the columns have different lengths: {lengths}")
    rows = next(iter(lengths.values()), 0)
    return Batch({name: columns[name] for name in wanted}, rows, cells=rows * len(wanted))


def _array_or_unreadable(values: Values, name: str) -> ColumnValues:
    """One column as an array; if Arrow does not support it, only which rows have a value."""
    try:
        return array_of(values, name)
    except UncountableError as fault:
        return UnreadableColumn(values.is_not_null().to_numpy(), fault)


def _refuse_table(values: Values, name: str) -> None:
    shape = getattr(values, "shape", ())
    if isinstance(shape, tuple) and len(shape) > 1:
        raise CredimiError(
            f"column {name!r} is a {type(values).__name__}, which is a table: pass one column of it, one value a row"
        )


def array_of(values: Values, name: str) -> ColumnValues:  # noqa: PLR0911  (one way for each kind of column)
    """One column of any kind as an Arrow or numpy array."""
    if isinstance(values, np.ndarray | pa.Array | pa.ChunkedArray):
        return values
    _refuse_table(values, name)
    kind = getattr(values, "dtype", None)
    if isinstance(kind, np.dtype) and kind.kind in "Oiuf":  # pandas' own: no copy is made of its numbers
        return values.to_numpy()
    codes: Foreign = getattr(getattr(values, "cat", None), "codes", None)  # of pandas' categoricals
    if hasattr(codes, "to_numpy"):
        return PrecodedColumn(np.ascontiguousarray(codes.to_numpy()), array_of(values.cat.categories.to_series(), name))
    if is_polars(values) and _holds_objects(values.dtype):
        return object_array(values.to_list())
    if hasattr(values, "__arrow_c_stream__"):
        try:
            # polars 1.32 fails at the stream of a series of categories, and not at that of a frame.
            array = pa.table(values.to_frame()).column(0) if is_polars(values) else pa.chunked_array(values)
        except _NO_ARROW as error:  # categories of several types, a sparse column
            if is_polars(values):
                raise UncountableError(
                    f"column {name!r} is of the type {values.dtype}, which Arrow does not take ({one_line(error)}): "
                    "cast it to another, or leave it out (exclude)",
                    f"values of type {values.dtype}",
                ) from error
            return np.asarray(values)
        kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
        return np.asarray(values) if isinstance(kind, pa.BaseExtensionType) else array  # pandas' intervals and periods
    if hasattr(values, "__array__"):
        return np.asarray(values)
    if isinstance(values, str | set | frozenset | dict) or not hasattr(values, "__iter__"):
        raise CredimiError(
            f"column {name!r} is the {type(values).__name__} {reprlib.repr(values)}: pass one value a row, such as a "
            "list"
        )
    return object_array(list(values))
