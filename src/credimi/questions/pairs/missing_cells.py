"""Missing values drawn from a network of columns, given the rest of their row: one column at a time.

Given the rest of the row, the probability of value x of column u is proportional to

    p(x | parents of u) prod over children w of p(w | parents of w, among them u = x).

A row may stand for several equal ones, whose values are drawn independently: the numbers of them that have each value
are multinomial. This kernel then returns the probabilities. The cost is O(values (1 + children)) a row.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled
from credimi.inference.random_numbers import uniform


@compiled
def draw_missing(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    column: int,
    rows: IntegerArray,
    units: IntegerArray,
    parents: IntegerArray,
    strides: IntegerArray,
    child_starts: IntegerArray,
    children: IntegerArray,
    starts: IntegerArray,
    probabilities: FloatArray,
    state: NDArray[np.uint64],
    chances: FloatArray,
) -> None:
    """Draw new values of one column in these rows of `codes`, (columns, rows), whose other cells have values.

    `units` says how many equal rows each row stands for. Where it is more than 1 nothing is drawn: `chances` gets the
    probabilities of the values, a row for each of these rows, in their order. `parents` of a column are filled up with
    -1; `strides` are the distances between their values in the column's table. The table of a column in `probabilities`
    starts at `starts[column]`: one row of probabilities for each combination of the values of its parents.
    """
    size, several = values[column], 0
    weight = np.empty(size)
    for row in rows:
        table_row = starts[column]
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
        if units[row] > 1:
            for value in range(size):
                chances[several, value] = weight[value] / total if total > 0.0 else 1.0 / size
            several += 1
            continue
        threshold, cumulative, drawn = uniform(state) * total, 0.0, size - 1
        for value in range(size):
            cumulative += weight[value]
            if threshold < cumulative:
                drawn = value
                break
        codes[column, row] = drawn
