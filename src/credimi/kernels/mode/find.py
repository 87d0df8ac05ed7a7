"""The mode of the chances where both sides miss, by Newton's method on products; EM behind it.

The log-density L (see `information_matrix`) is concave, so its stationary point is the global maximum. With the
slopes a_i = m_i/x_i and b_j = k_j/y_j and the slack t_ij = N - a_i - b_j, stationarity reads

    pi_ij t_ij = c_ij,      a_i x_i = m_i,      b_j y_j = k_j :

products of a primal and a dual quantity, as in interior-point methods, and Newton's method is applied to these
products. It needs far fewer damped steps than Newton on L itself. With v_ij = pi_ij/t_ij the new chances are

    pi + delta pi = c/t + v (delta a + delta b) ,

and eliminating them and delta a leaves just the s x s matrix of `information_matrix` for delta b: the matrix that the
paper inverts for the covariance. O(r s^2 + s^3) a step. It starts after one step of EM from the complete rows; tables
for which that is no good start, or with cells without a count, go through `boundary`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.mode.boundary import FREE, newton_with_barrier
from credimi.kernels.mode.newton import MOST_STEPS, RESIDUAL, SHORT, SMALL_STEP, direct, kkt_residual
from credimi.kernels.moments.information_matrix import (
    COLUMN_SHARE,
    COLUMN_STEP,
    COLUMN_SUM,
    COLUMN_WANTED,
    ROW_SHARE,
    ROW_STEP,
    ROW_SUM,
    SCALE,
    SLACK,
    factorize,
)

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray
    from credimi.kernels.moments.information_matrix import Workspace

_EM_STEPS = 100_000


@compiled
def find_mode(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    work: Workspace,
) -> tuple[int, float]:
    """Fill the mode pi and the slopes a, b, factorise A there; return (Newton steps, KKT residual relative to N).

    `counts` and `chance` are r x s. Steps beyond `MOST_STEPS` mean that EM finished the work. `work` is left ready for
    `kernels.moments.information_matrix.solve`.
    """
    rows, columns = counts.shape
    total, easy = _start(counts, row_only, column_only, chance, row_slope, column_slope, work)
    if easy:
        steps, residual = _newton(counts, row_only, column_only, chance, row_slope, column_slope, total, work)
        if residual < np.inf:
            return steps, residual
    else:
        steps, residual = newton_with_barrier(
            counts, row_only, column_only, chance, row_slope, column_slope, total, work
        )
    if residual == np.inf:
        _expectation_maximization(counts, row_only, column_only, total, chance, work)
        residual = kkt_residual(
            counts, row_only, column_only, total, chance, work.rows[ROW_STEP], work.columns[COLUMN_STEP]
        )
        steps = MOST_STEPS + 1
        for i in range(rows):
            for j in range(columns):
                if counts[i, j] > 0.0:
                    work.cells[SLACK, i, j] = counts[i, j] / chance[i, j]
    _take_slopes(row_slope, column_slope, work)
    _weigh(counts, chance, total, work)
    factorize(row_slope, column_slope, work)
    return steps, residual


@inlined
def _start(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    work: Workspace,
) -> tuple[float, bool]:
    """One step of EM from the complete rows, if the table is easy: all cells counted, its slacks not too small.

    Returns N and whether it is; the slacks are left in `work`, and the shares of the rows and the columns.
    """
    rows, columns = counts.shape
    total = 0.0
    empty_cells = 0
    row_sum, column_sum = work.rows[ROW_SUM], work.columns[COLUMN_SUM]
    for j in range(columns):
        column_sum[j] = 0.0
    for i in range(rows):
        value = 0.0
        for j in range(columns):
            value += counts[i, j]
            column_sum[j] += counts[i, j]
            empty_cells += counts[i, j] == 0.0
        row_sum[i] = value
        total += value + row_only[i]
    share = work.columns[COLUMN_STEP]
    for j in range(columns):
        total += column_only[j]
        share[j] = column_only[j] / column_sum[j] if column_sum[j] > 0.0 else 0.0
        column_slope[j] = column_sum[j] + column_only[j]
    largest_row = 0.0
    for i in range(rows):
        given_row = row_only[i] / row_sum[i] if row_sum[i] > 0.0 else 0.0
        completed = row_sum[i] + row_only[i]
        for j in range(columns):
            completed += share[j] * counts[i, j]
            column_slope[j] += given_row * counts[i, j]
        row_slope[i] = total * row_only[i] / completed if row_only[i] > 0.0 else 0.0
        largest_row = max(largest_row, row_slope[i])
    largest_column = 0.0
    for j in range(columns):
        column_slope[j] = total * column_only[j] / column_slope[j] if column_only[j] > 0.0 else 0.0
        largest_column = max(largest_column, column_slope[j])
    for i in range(rows):
        work.rows[ROW_SHARE, i] = (row_sum[i] + row_only[i]) / total
    for j in range(columns):
        work.columns[COLUMN_SHARE, j] = (column_sum[j] + column_only[j]) / total
    easy = empty_cells == 0 and largest_row + largest_column <= 0.95 * total
    if easy:
        for i in range(rows):
            free = total - row_slope[i]
            for j in range(columns):
                work.cells[SLACK, i, j] = free - column_slope[j]
                chance[i, j] = counts[i, j] / work.cells[SLACK, i, j]
    return total, easy


@inlined
def _newton(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    total: float,
    work: Workspace,
) -> tuple[int, float]:
    """From a start with positive slacks; return the number of steps and the KKT residual, infinite where it failed.

    At the mode v is also the weight of the cell in A, so that its factor is left behind.
    """
    residual = np.inf
    for step in range(MOST_STEPS + 1):
        _prepare(counts, chance, row_slope, column_slope, work)
        if residual <= RESIDUAL:
            return step, residual
        direct(row_only, column_only, row_slope, column_slope, work)
        length, moving = _advance(counts, chance, row_slope, column_slope, work)
        if length == 1.0 and moving == 0:
            residual = kkt_residual(
                counts, row_only, column_only, total, chance, work.rows[ROW_STEP], work.columns[COLUMN_STEP]
            )
            if residual <= RESIDUAL:  # else the slopes have to fit the slacks on
                _take_slopes(row_slope, column_slope, work)
    return MOST_STEPS, np.inf


@inlined
def _take_slopes(row_slope: FloatArray, column_slope: FloatArray, work: Workspace) -> None:
    """Those that `kkt_residual` has found for the chances."""
    for i in range(row_slope.size):
        row_slope[i] = work.rows[ROW_STEP, i]
    for j in range(column_slope.size):
        column_slope[j] = work.columns[COLUMN_STEP, j]


@inlined
def _prepare(
    counts: FloatArray, chance: FloatArray, row_slope: FloatArray, column_slope: FloatArray, work: Workspace
) -> None:
    """At this point: v, the chances c/t that the slacks ask for, the sums and the factor."""
    rows, columns = counts.shape
    wanted = work.columns[COLUMN_WANTED]
    for j in range(columns):
        wanted[j] = 0.0
        work.columns[COLUMN_SUM, j] = 0.0
    for i in range(rows):
        sum_chance = 0.0
        sum_wanted = 0.0
        for j in range(columns):
            reciprocal = 1.0 / work.cells[SLACK, i, j]
            work.cells[SCALE, i, j] = chance[i, j] * reciprocal
            goal = counts[i, j] * reciprocal
            sum_chance += chance[i, j]
            sum_wanted += goal
            wanted[j] += goal
            work.columns[COLUMN_SUM, j] += chance[i, j]
        work.rows[ROW_SUM, i] = sum_chance
        work.rows[ROW_STEP, i] = sum_wanted
    factorize(row_slope, column_slope, work)


@inlined
def _advance(
    counts: FloatArray, chance: FloatArray, row_slope: FloatArray, column_slope: FloatArray, work: Workspace
) -> tuple[float, int]:
    """Move along the direction as far as all stays positive; return its length and how many chances still moved.

    The new chances are left in `scale`, for a step of any length.
    """
    rows, columns = chance.shape
    row_step, column_step = work.rows[ROW_STEP], work.columns[COLUMN_STEP]
    crossings = 0
    moving = 0
    for i in range(rows):
        crossings += row_step[i] < -SHORT * row_slope[i]
    for j in range(columns):
        crossings += column_step[j] < -SHORT * column_slope[j]
    for i in range(rows):
        for j in range(columns):
            closer = row_step[i] + column_step[j]
            new = counts[i, j] / work.cells[SLACK, i, j] + work.cells[SCALE, i, j] * closer
            work.cells[SCALE, i, j] = new
            crossings += (closer > SHORT * work.cells[SLACK, i, j]) | (new < (1.0 - SHORT) * chance[i, j])
            moving += abs(new - chance[i, j]) > SMALL_STEP * chance[i, j]
    length = 1.0
    if crossings > 0:
        inward = 0.0  # the full step, measured in distances to the closest boundary
        for i in range(rows):
            if row_step[i] < 0.0:
                inward = max(inward, -row_step[i] / row_slope[i])
            for j in range(columns):
                closer = (row_step[i] + column_step[j]) / work.cells[SLACK, i, j]
                inward = max(inward, closer, 1.0 - work.cells[SCALE, i, j] / chance[i, j])
        for j in range(columns):
            if column_step[j] < 0.0:
                inward = max(inward, -column_step[j] / column_slope[j])
        length = min(1.0, SHORT / inward)
    for i in range(rows):
        row_slope[i] += length * row_step[i]
        for j in range(columns):
            chance[i, j] += length * (work.cells[SCALE, i, j] - chance[i, j])
            work.cells[SLACK, i, j] -= length * (
                row_step[i] + column_step[j]
            )  # kept, not formed anew: near 0 that is all rounding
    for j in range(columns):
        column_slope[j] += length * column_step[j]
    return length, moving


@compiled
def _weigh(counts: FloatArray, chance: FloatArray, total: float, work: Workspace) -> None:
    """Sums and v = pi/t = pi^2/c at the mode, the weights of the cells in A.

    A free cell without a count has no information of its own; it is given a tiny one, so that A stays regular where the
    margins do not determine the cell either.
    """
    rows, columns = counts.shape
    for j in range(columns):
        work.columns[COLUMN_SUM, j] = 0.0
    for i in range(rows):
        work.rows[ROW_SUM, i] = 0.0
        for j in range(columns):
            p = chance[i, j]
            work.rows[ROW_SUM, i] += p
            work.columns[COLUMN_SUM, j] += p
            work.cells[SCALE, i, j] = p / (work.cells[SLACK, i, j] if counts[i, j] > 0.0 else FREE * total)


@compiled
def _expectation_maximization(
    counts: FloatArray, row_only: FloatArray, column_only: FloatArray, total: float, chance: FloatArray, work: Workspace
) -> None:
    """The fall-back: slow, but each step increases the likelihood. Starts where Newton stopped, made interior."""
    rows, columns = counts.shape
    row_factor, column_factor = work.rows[ROW_SUM], work.columns[COLUMN_SUM]
    for i in range(rows):
        for j in range(columns):
            if work.rows[ROW_SHARE, i] == 0.0 or work.columns[COLUMN_SHARE, j] == 0.0:
                chance[i, j] = 0.0  # no one ever saw it: it would take forever to get there
            elif not 1e-12 <= chance[i, j] <= 1.0:
                chance[i, j] = 1.0 / (rows * columns)
    for _ in range(_EM_STEPS):
        change = 0.0
        for j in range(columns):
            column_factor[j] = 0.0
        for i in range(rows):
            row_factor[i] = 0.0
            for j in range(columns):
                row_factor[i] += chance[i, j]
                column_factor[j] += chance[i, j]
        for i in range(rows):
            row_factor[i] = row_only[i] / row_factor[i] if row_factor[i] > 0.0 else 0.0
        for j in range(columns):
            column_factor[j] = column_only[j] / column_factor[j] if column_factor[j] > 0.0 else 0.0
        for i in range(rows):
            for j in range(columns):
                new = (counts[i, j] + chance[i, j] * (row_factor[i] + column_factor[j])) / total
                change = max(change, abs(new - chance[i, j]) / new if new > 1e-300 else 0.0)
                chance[i, j] = new
        if change < 1e-15:
            break
    for i in range(rows):
        for j in range(columns):
            # Small beside the least that its row and its column can have: a seen class must keep some chance.
            small = chance[i, j] < 1e-12 * min(work.rows[ROW_SHARE, i], work.columns[COLUMN_SHARE, j])
            if counts[i, j] == 0.0 and small and row_factor[i] + column_factor[j] < total:
                chance[i, j] = 0.0
