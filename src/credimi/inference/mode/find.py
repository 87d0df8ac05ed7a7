"""The mode of the cell probabilities if both sides have missing values: Newton's method on products, else EM.

The log-density L (see `information_matrix`) is concave, so its stationary point is the global maximum. With the
slopes a_i = m_i/x_i and b_j = k_j/y_j and the slack t_ij = N - a_i - b_j, stationarity reads

    pi_ij t_ij = c_ij,      a_i x_i = m_i,      b_j y_j = k_j :

products of a primal and a dual quantity, as in interior-point methods. Newton's method is applied to these products,
and needs far fewer damped steps than Newton's method on L itself. With v_ij = pi_ij/t_ij the new probabilities are

    pi + delta pi = c/t + v (delta a + delta b) ,

and eliminating them and delta a leaves only the s x s matrix of `information_matrix` for delta b: the matrix that the
paper inverts for the covariance. The cost is O(r s^2 + s^3) a step. The start is one step of EM from the complete rows;
tables for which that is no good start, or that have cells without a count, start at a barrier (`mode.newton`).
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import Workspace, compiled, inlined
from credimi.inference.mode.newton import FREE_SLACK, MAX_STEPS, kkt_residual, newton
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
    steps, residual = newton(total, easy, work)
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
def _copy_slopes(work: Workspace) -> None:
    """Copy the slopes that `kkt_residual` computed from the probabilities."""
    for i in range(work.rows.shape[1]):
        work.rows[at.ROW_SLOPE, i] = work.rows[at.ROW_STEP, i]
    for j in range(work.columns.shape[1]):
        work.columns[at.COLUMN_SLOPE, j] = work.columns[at.COLUMN_STEP, j]


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
