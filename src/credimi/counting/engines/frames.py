"""Tables in memory: anything that speaks the Arrow C stream, numpy arrays, a list of dictionaries.

No library that the user brought is imported. pandas' columns of Python objects do not go through Arrow: coding the
objects themselves is faster, and says which row does not fit.
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
from credimi.core.errors import CredimiError, UncountableError, one_line
from credimi.counting.batch import Batch
from credimi.counting.engines import sparse_matrices

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from credimi.columns.column import ColumnValues
    from credimi.core.types import AnyArray, ArrowStream, Data, Foreign, Value, Values

_ROWS, _CELLS = 1 << 20, 1 << 22  # of Arrow's batches that are counted together, at most
_BYTES = 1 << 28  # the same of rows of long texts
_FEWEST_ROWS = 1 << 13  # of wide ones: each column of a batch costs as much as thousands of cells
TARGET = "target"  # the name of a target that comes as an array beside the data


def reads(data: object) -> bool:
    """Whether this engine is the one for such data."""
    return (
        hasattr(data, "__arrow_c_stream__")
        or isinstance(data, np.ndarray | list | tuple | dict)
        or sparse_matrices.reads(data)
    )


def is_stream(data: object) -> bool:
    """Whether the rows come once: a stream, and no table."""
    return hasattr(data, "__arrow_c_stream__") and not hasattr(data, "columns") and not hasattr(data, "__len__")


def opened(data: Data) -> Foreign:
    """The same data; a stream as a reader, as it may refuse to be opened twice, for its names and for its rows."""
    if not is_stream(data):
        return data
    try:
        return data if isinstance(data, pa.RecordBatchReader) else pa.RecordBatchReader.from_stream(data)
    except (pa.ArrowException, OSError, RuntimeError, ValueError) as error:  # each library words it in its own way
        raise CredimiError(
            f"cannot read a {type(data).__name__} as a table: {one_line(error)}; it may have been read before, and a "
            "stream gives its rows once: pass a new one, or a table"
        ) from error


def names(data: Foreign) -> list[str]:  # noqa: PLR0911  (one way for each kind of table)
    """The columns' names, as the data order them."""
    if _is_pandas(data):
        return [shown_name(name) for name in data.columns]
    if isinstance(data, pa.RecordBatchReader | pa.Table | pa.RecordBatch):
        return list(data.schema.names)
    if isinstance(data, np.ndarray) or sparse_matrices.reads(data):
        return _array_names(data)
    if isinstance(data, dict):
        return [str(name) for name in data]
    if isinstance(data, list | tuple):
        return _dictionary_names(data)
    columns = getattr(data, "columns", None)  # polars, duckdb
    if isinstance(columns, list):
        return [str(name) for name in columns]
    try:
        return list(pa.RecordBatchReader.from_stream(data).schema.names)
    except pa.ArrowException as error:
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


def check_order(data: Foreign, values: object, what: str) -> None:
    """Refuse a Series of pandas whose index has the frame's labels in another order: values go by their position."""
    own = getattr(values, "index", None)
    if not _is_pandas(data) or own is None or callable(own):
        return
    other = data.index
    if len(own) != len(other) or own.equals(other):
        return
    with suppress(TypeError):  # labels that have no order
        if own.sort_values().equals(other.sort_values()):
            raise CredimiError(
                f"the index of the {what} has the labels of the data in another order, and values go by their "
                f"position: pass {what}.loc[data.index], or reset the index of both"
            )


def own_names(data: Foreign) -> dict[str, Value]:
    """The names that are no text, as the data have them, by the text that stands for each; of an array the places."""
    if (isinstance(data, np.ndarray) and data.ndim == 2) or sparse_matrices.reads(data):
        return {name: place for place, name in enumerate(_array_names(data))}
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
    if is_polars(data) and untaken(data[list(wanted)]):
        yield apart(data, wanted)
        return
    reader = _started(data) if isinstance(data, pa.RecordBatchReader) else _reader(data, wanted)
    height = getattr(data, "height", 0)  # polars tells; duckdb would have to run the query
    rows = height if isinstance(height, int) else 0
    yield from gathered(reader, wanted, rows)


def _started(reader: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    """The batches of a stream, which has some: one that was read before is silent, and would count as no rows."""
    first = next(reader, None)
    if first is None:
        raise CredimiError(
            "the stream gave no rows: it may have been read before, and a stream gives its rows once; pass a new one, "
            "or a table, which may be empty"
        )
    return chain([first], reader)


def _reader(data: Foreign, wanted: Sequence[str]) -> pa.RecordBatchReader:
    """DuckDB makes batches of a million rows, however wide; but it can be asked for others."""
    if type(data).__module__.startswith(("duckdb", "_duckdb")) and hasattr(data, "to_arrow_reader"):
        return data.to_arrow_reader(_enough_rows(len(wanted)))
    return reader_of(data[list(wanted)] if is_polars(data) else data)


def is_polars(data: object) -> bool:
    """Whether this is polars' own; found out without polars."""
    return type(data).__module__.split(".")[0] == "polars"


def reader_of(frame: ArrowStream) -> pa.RecordBatchReader:
    """The stream of a frame."""
    try:
        return pa.RecordBatchReader.from_stream(frame)
    except pa.ArrowInvalid as error:
        raise CredimiError(f"cannot read a {type(frame).__name__} as a table: {one_line(error)}") from error


def untaken(frame: Foreign) -> bool:
    """Whether one of the columns of a polars frame is of a type that Arrow does not take; its schema tells."""
    if any(map(_holds_objects, frame.dtypes)):
        return True
    try:
        pa.RecordBatchReader.from_stream(frame[:0])
    except pa.ArrowInvalid:
        return True
    return False


def _holds_objects(kind: object) -> bool:
    """Whether a polars column holds Python's objects, of which polars makes bytes for Arrow: their addresses."""
    return str(kind) == "Object"


def apart(frame: Foreign, wanted: Sequence[str]) -> Batch:
    """A polars frame that Arrow does not take as a whole, column by column."""
    columns = {name: _taken(frame[name], name) for name in wanted}
    return Batch(columns, frame.height, cells=frame.height * len(wanted))


def _enough_rows(columns: int) -> int:
    return min(_ROWS, max(_FEWEST_ROWS, _CELLS // max(columns, 1)))


def gathered(batches: Iterable[pa.RecordBatch], wanted: Sequence[str], rows: int = 0) -> Iterator[Batch]:
    """Arrow's batches, small ones joined: each costs a merge of labels. Bounded, so that memory is, for wide ones too.

    `rows` is how many there are in all, as far as known.
    """
    waiting: list[pa.RecordBatch] = []
    size = taken = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.num_rows
        taken += _bytes_of(batch)
        if size >= _enough_rows(len(wanted)) or taken >= _BYTES:
            yield _joined(waiting, wanted, rows)
            waiting, size, taken = [], 0, 0
    if waiting:
        yield _joined(waiting, wanted, rows)


def _bytes_of(batch: pa.RecordBatch) -> int:
    """The bytes that a batch takes; of views of texts, which pyarrow 18 does not measure, with all in their buffers."""
    try:
        return int(batch.nbytes)
    except pa.ArrowTypeError:
        return int(batch.get_total_buffer_size())


def _joined(waiting: list[pa.RecordBatch], wanted: Sequence[str], rows: int) -> Batch:
    table = pa.Table.from_batches(waiting)
    columns = {name: table.column(name) for name in wanted}
    return Batch(columns, table.num_rows, cells=max(rows, table.num_rows) * len(wanted))


def _from_numpy(array: AnyArray, wanted: Sequence[str]) -> Batch:
    if array.dtype.names:
        columns = {name: array[name] for name in wanted}  # no copy by numpy: that would take off the mask
    else:
        if isinstance(array, np.matrix):  # scipy's todense gives one, and its columns would be matrices
            array = np.asarray(array)
        position = {name: index for index, name in enumerate(_array_names(array))}
        columns = {name: array[:, position[name]] for name in wanted}
    return Batch(columns, len(array), cells=len(array) * len(wanted))


def _from_sparse(matrix: Foreign, wanted: Sequence[str]) -> Batch:
    position = {name: index for index, name in enumerate(_array_names(matrix))}
    found = sparse_matrices.columns(matrix, [position[name] for name in wanted])
    return Batch(dict(zip(wanted, found, strict=True)), matrix.shape[0], cells=matrix.nnz)


def _array_names(array: Foreign) -> list[str]:
    if sparse_matrices.reads(array):
        return sparse_matrices.names(array)
    if array.dtype.names:
        return list(array.dtype.names)
    if array.ndim != 2:
        raise CredimiError(f"an array of shape {array.shape} is no table: pass rows x columns, or named fields")
    return [f"column {index}" for index in range(array.shape[1])]


def _dictionary_names(rows: Sequence[object]) -> list[str]:
    found: dict[object, None] = {}
    for index, row in enumerate(rows):
        if not isinstance(row, dict):
            raise CredimiError(
                f"row {index} is a {type(row).__name__}: pass a list of dictionaries (one per row), or a list of paths"
            )
        found |= dict.fromkeys(row)
    return [str(key) for key in found]  # 1 and "1" are two columns of one name, which is refused


def _from_mapping(data: Mapping[str, Values], wanted: Sequence[str]) -> Batch:
    columns = {str(name): _taken(values, str(name)) for name, values in data.items()}
    lengths = {name: len(values) for name, values in columns.items()}
    if len(set(lengths.values())) > 1:
        raise CredimiError(f"the columns have different lengths: {lengths}")
    rows = next(iter(lengths.values()), 0)
    return Batch({name: columns[name] for name in wanted}, rows, cells=rows * len(wanted))


def _taken(values: Values, name: str) -> ColumnValues:
    """The same, unless Arrow does not take it: then whether it is there is all that is known of each value."""
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
        except (pa.ArrowException, UnicodeEncodeError) as error:  # categories of several types, a sparse column
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
