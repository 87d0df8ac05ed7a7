"""Names for what callers may pass, and for what other libraries return.

Data frames and arrays come from libraries that may not be installed, and have no common class. `Data` says what they
offer; what they are is found out when they are read. From then on they are `Foreign`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    BooleanArray: TypeAlias = NDArray[np.bool_]
    FloatArray: TypeAlias = NDArray[np.float64]
    IntegerArray: TypeAlias = NDArray[np.int64]
    AnyArray: TypeAlias = NDArray[Any]  # of numbers, text or objects
    CountArray: TypeAlias = NDArray[Any]  # whole numbers, or weights
    ArrowColumn: TypeAlias = pa.Array | pa.ChunkedArray


class ArrowStream(Protocol):
    """A table that can be read as a stream of Arrow batches, such as those of pandas, polars, pyarrow and duckdb."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """A capsule with the stream."""


class NamedColumns(Protocol):
    """A data frame of Spark or Dask, or a LazyFrame of polars: it is read where its rows are."""

    @property
    def columns(self) -> object:
        """The columns' names."""


# What `credimi.count` takes, and scikit-learn's X: paths, lists of paths or of rows, columns by name, arrays, frames.
Data: TypeAlias = "str | Path | Sequence[object] | Mapping[str, object] | AnyArray | ArrowStream | NamedColumns"
Values: TypeAlias = Any  # one column: an array, a series, a list; scikit-learn's y
Value: TypeAlias = Any  # one cell, a label, or a column name in pandas, which may be anything hashable
Record: TypeAlias = dict[str, Any]  # plain data, as JSON has it; keywords that are passed on
Option: TypeAlias = Any  # a keyword that is passed on, and checked where it is used
Foreign: TypeAlias = Any  # an object of a library without type information
