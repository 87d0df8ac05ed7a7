"""Sparse matrices of scipy: a value that is not stored is 0, and 0 is a value; its count is what remains of all rows.

The cost depends on the stored values and the number of columns, not on the number of rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.columns.column import SparseColumn
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import Foreign


def reads(data: object) -> bool:
    """Whether this is a sparse matrix or array of scipy; checked without importing scipy."""
    return type(data).__module__.startswith("scipy.sparse") and hasattr(data, "tocsc")


def names(data: Foreign) -> list[str]:
    """The names of the columns, as for arrays."""
    return [f"column {index}" for index in range(_shape(data)[1])]


def columns(data: Foreign, indices: Sequence[int] | None = None) -> list[SparseColumn]:
    """All columns, or those at these indices."""
    rows, width = _shape(data)
    if data.dtype.kind not in "biuf":
        raise CredimiError(f"a sparse matrix of {data.dtype} cannot be counted: pass one of numbers or booleans")
    matrix = data.tocsc()
    if not matrix.has_canonical_format:  # values that are stored twice would count twice
        matrix = matrix.copy()
        matrix.sum_duplicates()
    ends = matrix.indptr
    parts = [slice(ends[index], ends[index + 1]) for index in (range(width) if indices is None else indices)]
    return [SparseColumn(matrix.indices[part], matrix.data[part], rows) for part in parts]


def _shape(data: Foreign) -> tuple[int, int]:
    if len(data.shape) != 2:
        raise CredimiError(f"a sparse array of shape {data.shape} is no table: pass rows x columns")
    rows, width = data.shape
    return int(rows), int(width)
