"""The mode of the cell probabilities if both sides have missing values: Newton's method on products, else EM.

The log-density L (see `information_matrix`) is concave, so its stationary point is the global maximum. With the
slopes a_i = m_i/x_i and b_j = k_j/y_j and the slack t_ij = N - a_i - b_j, stationarity reads

    pi_ij t_ij = c_ij,      a_i x_i = m_i,      b_j y_j = k_j :

products of a primal and a dual quantity, as in interior-point methods. Newton's method is applied to these products,
and needs far fewer damped steps than Newton's method on L itself. With v_ij = pi_ij/t_ij the new probabilities are

    pi + delta pi = c/t + v (delta a + delta b) ,

and eliminating them and delta a leaves only the s x s matrix of `information_matrix` for delta b: the matrix that the
paper inverts for the covariance. The cost is O(r s^2 + s^3) a step. The start is one step of EM from the complete rows;
tables for which that is no good start, or that have cells without a count, are left to `boundary`.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import Workspace, compiled, inlined
from credimi.inference.mode.boundary import FREE_SLACK, newton_with_barrier
from credimi.inference.mode.newton import MAX_FRACTION, MAX_RESIDUAL, MAX_STEPS, SMALL_STEP, direct, kkt_residual
from credimi.inference.moments import information_matrix as at
from credimi.inference.moments.information_matrix import factorize

_MAX_EM_STEPS = 100_000


@compiled
def find_mode(work: Workspace) -> tuple[int, float]:
    """Fill the mode pi and the slopes a, b, factorise A there; return (Newton steps, KKT residual relative to N).

    `work` has c, m and k. A number of steps above `MAX_STEPS` means that EM was used. Afterwards `work` is ready for
    `information_matrix.solve`.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    rows, columns = counts.shape
    total, easy = _start(work)
    if easy:
        steps, residual = _newton(total, work)
        if residual < np.inf:
            return steps, residual
    else:
        steps, residual = newton_with_barrier(total, work)
    if residual == np.inf:
        _expectation_maximization(total, work)
        residual = kkt_residual(total, work)
        steps = MAX_STEPS + 1
        for i in range(rows):
            for j in range(columns):
                if counts[i, j] > 0.0:
                    work.cells[at.SLACK, i, j] = counts[i, j] / probability[i, j]
    _copy_slopes(work)
    _weigh(total, work)
    factorize(work)
    return steps, residual


@inlined
def _start(work: Workspace) -> tuple[float, bool]:
    """One step of EM from the complete rows, if the table is easy: all cells have counts, and slacks are not too small.

    Return N and whether it is easy; fill the slacks and the shares of the rows and columns in `work`.
    """
    counts, row_only, column_only = (
        work.cells[at.COUNTS],
        work.rows[at.ROW_ONLY],
        work.columns[at.COLUMN_ONLY],
    )
    row_slope, column_slope = work.rows[at.ROW_SLOPE], work.columns[at.COLUMN_SLOPE]
    rows, columns = counts.shape
    total = 0.0
    empty_cells = 0
    row_sum, column_sum = work.rows[at.ROW_SUM], work.columns[at.COLUMN_SUM]
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
    share = work.columns[at.COLUMN_STEP]
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
        work.rows[at.ROW_SHARE, i] = (row_sum[i] + row_only[i]) / total
    for j in range(columns):
        work.columns[at.COLUMN_SHARE, j] = (column_sum[j] + column_only[j]) / total
    easy = empty_cells == 0 and largest_row + largest_column <= 0.95 * total
    if easy:
        for i in range(rows):
            free = total - row_slope[i]
            for j in range(columns):
                work.cells[at.SLACK, i, j] = free - column_slope[j]
                work.cells[at.PROBABILITY, i, j] = counts[i, j] / work.cells[at.SLACK, i, j]
    return total, easy


@inlined
def _newton(total: float, work: Workspace) -> tuple[int, float]:
    """Newton's method from positive slacks; return the number of steps and the KKT residual, infinite if it failed.

    At the mode v is also the weight of the cell in A, so `work` then has the factor of A.
    """
    residual = np.inf
    for step in range(MAX_STEPS + 1):
        _prepare(work)
        if residual <= MAX_RESIDUAL:
            return step, residual
        direct(work)
        length, moving = _advance(work)
        if length == 1.0 and moving == 0:
            residual = kkt_residual(total, work)
            if residual <= MAX_RESIDUAL:  # otherwise the slopes must still fit the slacks
                _copy_slopes(work)
    return MAX_STEPS, np.inf


@inlined
def _copy_slopes(work: Workspace) -> None:
    """Copy the slopes that `kkt_residual` computed from the probabilities."""
    for i in range(work.rows.shape[1]):
        work.rows[at.ROW_SLOPE, i] = work.rows[at.ROW_STEP, i]
    for j in range(work.columns.shape[1]):
        work.columns[at.COLUMN_SLOPE, j] = work.columns[at.COLUMN_STEP, j]


@inlined
def _prepare(work: Workspace) -> None:
    """Fill v, the probabilities c/t that follow from the slacks, the sums and the factor, at the present point."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    rows, columns = counts.shape
    wanted = work.columns[at.COLUMN_WANTED]
    for j in range(columns):
        wanted[j] = 0.0
        work.columns[at.COLUMN_SUM, j] = 0.0
    for i in range(rows):
        sum_probability = 0.0
        sum_wanted = 0.0
        for j in range(columns):
            reciprocal = 1.0 / work.cells[at.SLACK, i, j]
            work.cells[at.SCALE, i, j] = probability[i, j] * reciprocal
            goal = counts[i, j] * reciprocal
            sum_probability += probability[i, j]
            sum_wanted += goal
            wanted[j] += goal
            work.columns[at.COLUMN_SUM, j] += probability[i, j]
        work.rows[at.ROW_SUM, i] = sum_probability
        work.rows[at.ROW_STEP, i] = sum_wanted
    factorize(work)


@inlined
def _advance(work: Workspace) -> tuple[float, int]:
    """Move along the direction as far as everything stays positive; return its length, and how many cells still moved.

    The probabilities after a full step are left in `scale`.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_slope, column_slope = work.rows[at.ROW_SLOPE], work.columns[at.COLUMN_SLOPE]
    row_step, column_step = work.rows[at.ROW_STEP], work.columns[at.COLUMN_STEP]
    rows, columns = probability.shape
    crossings = 0
    moving = 0
    for i in range(rows):
        crossings += row_step[i] < -MAX_FRACTION * row_slope[i]
    for j in range(columns):
        crossings += column_step[j] < -MAX_FRACTION * column_slope[j]
    for i in range(rows):
        for j in range(columns):
            closer = row_step[i] + column_step[j]
            new = counts[i, j] / work.cells[at.SLACK, i, j] + work.cells[at.SCALE, i, j] * closer
            work.cells[at.SCALE, i, j] = new
            crossings += (closer > MAX_FRACTION * work.cells[at.SLACK, i, j]) | (
                new < (1.0 - MAX_FRACTION) * probability[i, j]
            )
            moving += abs(new - probability[i, j]) > SMALL_STEP * probability[i, j]
    length = 1.0
    if crossings > 0:
        inward = 0.0  # the full step, measured in distances to the closest boundary
        for i in range(rows):
            if row_step[i] < 0.0:
                inward = max(inward, -row_step[i] / row_slope[i])
            for j in range(columns):
                closer = (row_step[i] + column_step[j]) / work.cells[at.SLACK, i, j]
                inward = max(inward, closer, 1.0 - work.cells[at.SCALE, i, j] / probability[i, j])
        for j in range(columns):
            if column_step[j] < 0.0:
                inward = max(inward, -column_step[j] / column_slope[j])
        length = min(1.0, MAX_FRACTION / inward)
    for i in range(rows):
        row_slope[i] += length * row_step[i]
        for j in range(columns):
            probability[i, j] += length * (work.cells[at.SCALE, i, j] - probability[i, j])
            # The slack is updated: computed again, it would be lost to rounding near 0.
            work.cells[at.SLACK, i, j] -= length * (row_step[i] + column_step[j])
    for j in range(columns):
        column_slope[j] += length * column_step[j]
    return length, moving


@compiled
def _weigh(total: float, work: Workspace) -> None:
    """Fill the sums and v = pi/t = pi^2/c at the mode, the weights of the cells in A.

    A free cell without a count has no information; it gets a tiny amount, so that A stays regular if the margins do not
    determine the cell either.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    rows, columns = counts.shape
    for j in range(columns):
        work.columns[at.COLUMN_SUM, j] = 0.0
    for i in range(rows):
        work.rows[at.ROW_SUM, i] = 0.0
        for j in range(columns):
            p = probability[i, j]
            work.rows[at.ROW_SUM, i] += p
            work.columns[at.COLUMN_SUM, j] += p
            work.cells[at.SCALE, i, j] = p / (work.cells[at.SLACK, i, j] if counts[i, j] > 0.0 else FREE_SLACK * total)


@compiled
def _expectation_maximization(total: float, work: Workspace) -> None:
    """The fallback: slow, but each step increases the likelihood. It starts where Newton's method stopped."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_only, column_only = work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
    rows, columns = counts.shape
    row_factor, column_factor = work.rows[at.ROW_SUM], work.columns[at.COLUMN_SUM]
    for i in range(rows):
        for j in range(columns):
            if work.rows[at.ROW_SHARE, i] == 0.0 or work.columns[at.COLUMN_SHARE, j] == 0.0:
                probability[i, j] = 0.0  # it never occurs, and EM would approach 0 too slowly
            elif not 1e-12 <= probability[i, j] <= 1.0:
                probability[i, j] = 1.0 / (rows * columns)
    for _ in range(_MAX_EM_STEPS):
        change = 0.0
        for j in range(columns):
            column_factor[j] = 0.0
        for i in range(rows):
            row_factor[i] = 0.0
            for j in range(columns):
                row_factor[i] += probability[i, j]
                column_factor[j] += probability[i, j]
        for i in range(rows):
            row_factor[i] = row_only[i] / row_factor[i] if row_factor[i] > 0.0 else 0.0
        for j in range(columns):
            column_factor[j] = column_only[j] / column_factor[j] if column_factor[j] > 0.0 else 0.0
        for i in range(rows):
            for j in range(columns):
                new = (counts[i, j] + probability[i, j] * (row_factor[i] + column_factor[j])) / total
                change = max(change, abs(new - probability[i, j]) / new if new > 1e-300 else 0.0)
                probability[i, j] = new
        if change < 1e-15:
            break
    for i in range(rows):
        for j in range(columns):
            # Small beside the minimum of its row and its column: a class that occurs must keep some probability.
            small = probability[i, j] < 1e-12 * min(work.rows[at.ROW_SHARE, i], work.columns[at.COLUMN_SHARE, j])
            if counts[i, j] == 0.0 and small and row_factor[i] + column_factor[j] < total:
                probability[i, j] = 0.0
