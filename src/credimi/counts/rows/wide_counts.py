"""Counts of very many columns of few rows, all in one call.

`pair_counts` counts one to four columns a call, at the speed of memory. If a column has only some hundred rows, the
calls take longer than the counting. Here one call counts all columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from credimi.compile.jit import NDArray, compiled


@compiled
def count_columns(
    codes: NDArray[Any],
    groups: NDArray[Any],
    chosen: NDArray[np.int64],
    values: NDArray[np.int64],
    offsets: NDArray[np.int64],
    flat: NDArray[np.int64],
) -> None:
    """Add column `chosen[k]`, a row of `codes`, to `flat[offsets[k] + group (values[k] + 1) + code]`.

    A code of `values[k]` or more means missing.
    """
    for index in range(chosen.size):
        column, missing_code, offset = chosen[index], values[index], offsets[index]
        width = missing_code + 1
        for row in range(groups.size):
            code = min(np.int64(codes[column, row]), missing_code)
            flat[offset + np.int64(groups[row]) * width + code] += 1
