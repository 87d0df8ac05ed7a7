"""Missing values drawn from a network of columns, given all else in their row: one sweep of Gibbs sampling.

A value x of column u has, given the rest of the row, a probability in proportion to

    p(x | parents of u) prod over children w of p(w | parents of w, among them u = x).

O(values (1 + children)) a missing cell.
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
    chances: FloatArray,
    state: NDArray[np.uint64],
) -> None:
    """Draw the cells (rows[k], columns[k]) of `codes`, (columns, rows), which have values already, again.

    A column's parents are -1 where there are fewer; `strides` says how far apart their values are in its table of
    `chances`, which starts at `starts[column]`, one row of values for each combination.
    """
    most = 1
    for column in range(values.size):
        most = max(most, values[column])
    weight = np.empty(most)
    for cell in range(rows.size):
        row, column = rows[cell], columns[cell]
        size, at = values[column], starts[column]
        for place in range(parents.shape[1]):
            if parents[column, place] >= 0:
                at += np.int64(codes[parents[column, place], row]) * strides[column, place] * size
        for value in range(size):
            weight[value] = chances[at + value]
        for place in range(child_starts[column], child_starts[column + 1]):
            child, step = children[place], np.int64(0)
            own = starts[child] + np.int64(codes[child, row])
            for other in range(parents.shape[1]):
                if parents[child, other] == column:
                    step = strides[child, other] * values[child]
                elif parents[child, other] >= 0:
                    own += np.int64(codes[parents[child, other], row]) * strides[child, other] * values[child]
            for value in range(size):
                weight[value] *= chances[own + value * step]
        total = 0.0
        for value in range(size):
            total += weight[value]
        level, below, found = uniform(state) * total, 0.0, size - 1
        for value in range(size):
            below += weight[value]
            if level < below:
                found = value
                break
        codes[column, row] = found
