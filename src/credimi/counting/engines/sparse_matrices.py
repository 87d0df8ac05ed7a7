"""Sparse matrices of scipy: a value that is not stored is 0, and 0 is a value; it is counted as what remains.

The cost is that of the stored values, and a little for each column, whatever the number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.columns.column import SparseColumn
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Foreign


def reads(data: object) -> bool:
    """Whether this is a sparse matrix or array of scipy; found out without scipy."""
    return type(data).__module__.startswith("scipy.sparse") and hasattr(data, "tocsc")


def names(data: Foreign) -> list[str]:
    """The columns' names, as those of arrays."""
    return [f"column {place}" for place in range(_two(data)[1])]


def columns(data: Foreign, places: Sequence[int] | None = None) -> list[SparseColumn]:
    """All columns, or those of these places."""
    rows, width = _two(data)
    if data.dtype.kind not in "biuf":
        raise CredimiError(f"a sparse matrix of {data.dtype} cannot be counted: pass one of numbers or booleans")
    matrix = data.tocsc()
    if not matrix.has_canonical_format:  # values that are stored twice would count twice
        matrix = matrix.copy()
        matrix.sum_duplicates()
    ends = matrix.indptr
    parts = [slice(ends[place], ends[place + 1]) for place in (range(width) if places is None else places)]
    return [SparseColumn(matrix.indices[part], matrix.data[part], rows) for part in parts]


def _two(data: Foreign) -> tuple[int, int]:
    if len(data.shape) != 2:
        raise CredimiError(f"a sparse array of shape {data.shape} is no table: pass rows x columns")
    rows, width = data.shape
    return int(rows), int(width)
