"""Missing values drawn from a network of columns, given the rest of their row: one sweep of Gibbs sampling.

Given the rest of the row, the probability of value x of column u is proportional to

    p(x | parents of u) prod over children w of p(w | parents of w, among them u = x).

The cost is O(values (1 + children)) a missing cell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled
from credimi.kernels.networks.order_samples import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray


@compiled
def draw_missing(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    parents: IntegerArray,
    strides: IntegerArray,
    child_starts: IntegerArray,
    children: IntegerArray,
    starts: IntegerArray,
    probabilities: FloatArray,
    state: NDArray[np.uint64],
) -> None:
    """Draw new values for the cells (rows[k], columns[k]) of `codes`, (columns, rows), which already have values.

    `parents` of a column are filled up with -1; `strides` are the distances between their values in the column's table.
    The table of a column in `probabilities` starts at `starts[column]`: one row of probabilities for each combination
    of the values of its parents.
    """
    max_values = 1
    for column in range(values.size):
        max_values = max(max_values, values[column])
    weight = np.empty(max_values)
    for cell in range(rows.size):
        row, column = rows[cell], columns[cell]
        size, table_row = values[column], starts[column]
        for index in range(parents.shape[1]):
            if parents[column, index] >= 0:
                table_row += np.int64(codes[parents[column, index], row]) * strides[column, index] * size
        for value in range(size):
            weight[value] = probabilities[table_row + value]
        for index in range(child_starts[column], child_starts[column + 1]):
            child, stride = children[index], np.int64(0)
            child_cell = starts[child] + np.int64(codes[child, row])
            for other in range(parents.shape[1]):
                if parents[child, other] == column:
                    stride = strides[child, other] * values[child]
                elif parents[child, other] >= 0:
                    child_cell += np.int64(codes[parents[child, other], row]) * strides[child, other] * values[child]
            for value in range(size):
                weight[value] *= probabilities[child_cell + value * stride]
        total = 0.0
        for value in range(size):
            total += weight[value]
        threshold, cumulative, drawn = uniform(state) * total, 0.0, size - 1
        for value in range(size):
            cumulative += weight[value]
            if threshold < cumulative:
                drawn = value
                break
        codes[column, row] = drawn
