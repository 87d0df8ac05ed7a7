"""One step of Newton's method on the products pi t = c, a x = m, b y = k (see `mode`), and the stopping rule."""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import Workspace, compiled, inlined
from credimi.inference.moments import information_matrix as at
from credimi.inference.moments.information_matrix import substitute

MAX_STEPS = 60
SMALL_STEP = 1e-6  # Newton's error after a relative step of this size is about its square
MAX_RESIDUAL = 1e-11  # of the optimality conditions, relative to N
MAX_FRACTION = 0.999  # of the way to the closest boundary


@inlined
def direct(work: Workspace) -> None:
    """Newton's direction: delta a into `row_step`, delta b into `column_step`.

    `row_step` and `column_wanted` hold the sums of the probabilities that follow from the slacks.
    """
    rows, columns = work.cells[at.SCALE].shape
    row_only, row_slope, row_step = work.rows[at.ROW_ONLY], work.rows[at.ROW_SLOPE], work.rows[at.ROW_STEP]
    column_only, column_slope = work.columns[at.COLUMN_ONLY], work.columns[at.COLUMN_SLOPE]
    column_step, wanted, root = (
        work.columns[at.COLUMN_STEP],
        work.columns[at.COLUMN_WANTED],
        work.columns[at.ROOT],
    )
    for i in range(rows):
        step = 0.0
        if row_slope[i] > 0.0:
            step = (row_only[i] - row_slope[i] * row_step[i]) * work.rows[at.ROW_GAIN, i] / row_slope[i]
            for j in range(columns):
                wanted[j] += work.cells[at.SCALE, i, j] * step
        row_step[i] = step
    for j in range(columns):
        column_step[j] = (column_only[j] - column_slope[j] * wanted[j]) / root[j] if root[j] > 0.0 else 0.0
    substitute(work.squares[at.FACTOR], column_step)
    for j in range(columns):
        column_step[j] *= root[j]
    for i in range(rows):
        if row_slope[i] > 0.0:
            shared = 0.0
            for j in range(columns):
                shared += work.cells[at.SCALE, i, j] * column_step[j]
            row_step[i] -= work.rows[at.ROW_GAIN, i] * shared


@compiled
def kkt_residual(total: float, work: Workspace) -> float:
    """The largest violation of optimality, relative to N = `total`; fills `row_step` and `column_step` with a and b.

    a = m/x and b = k/y are those that follow from the probabilities.

    The gradient c/pi + a + b must equal N where pi > 0 and may not exceed it where pi = 0.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_only, column_only = work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
    row_slope, column_slope = work.rows[at.ROW_STEP], work.columns[at.COLUMN_STEP]
    rows, columns = counts.shape
    for j in range(columns):
        column_slope[j] = 0.0
    for i in range(rows):
        total_of_row = 0.0
        for j in range(columns):
            total_of_row += probability[i, j]
            column_slope[j] += probability[i, j]
        row_slope[i] = row_only[i] / total_of_row if row_only[i] > 0.0 else 0.0
    for j in range(columns):
        column_slope[j] = column_only[j] / column_slope[j] if column_only[j] > 0.0 else 0.0
    worst = 0.0
    for i in range(rows):
        for j in range(columns):
            excess = row_slope[i] + column_slope[j] - total
            if probability[i, j] > 0.0:
                excess = abs(excess + counts[i, j] / probability[i, j])
            if not excess < np.inf:  # a margin without probability, or NaN
                return np.inf
            worst = max(worst, excess)
    return worst / total
