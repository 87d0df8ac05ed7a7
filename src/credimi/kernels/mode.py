"""The mode of the chances where both sides miss, by Newton's method on products; EM behind it.

The log-density L (see `information_matrix`) is concave, so its stationary point is the global maximum. With the
slopes a_i = m_i/x_i and b_j = k_j/y_j and the slack t_ij = N - a_i - b_j, stationarity reads

    pi_ij t_ij = c_ij,      a_i x_i = m_i,      b_j y_j = k_j :

products of a primal and a dual quantity, as in interior-point methods, and Newton's method is applied to these
products. It needs far fewer damped steps than Newton on L itself, and a cell with c_ij = 0 is no special case: its
product is led to 0 along a barrier, where either pi_ij = 0 (on the boundary) or t_ij = 0 (free). Eliminating delta pi
and delta a leaves, with v_ij = pi_ij/t_ij, just the s x s matrix of `information_matrix` for delta b: the matrix that
the paper inverts for the covariance. O(r s^2 + s^3) a step.

Start in the interior: from n/N, EM never leaves a zero cell, even where the maximum lies elsewhere (a slip of the
paper).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.compiled import compiled, inlined
from credimi.kernels.information_matrix import factorize, substitute

if TYPE_CHECKING:
    from credimi.kernels.compiled import FloatArray
    from credimi.kernels.information_matrix import Workspace

MOST_STEPS = 60
_EM_STEPS = 100_000
_SMALL_STEP = 1e-6  # Newton's error after a relative step of this size is about its square
_RESIDUAL = 1e-11  # of the optimality conditions, relative to N
_BARRIER = 0.1  # where cells start, in expected counts N x_i y_j, if their own count is smaller and the table is hard
_ZERO = 1e-13  # what stands for 0 in products that are led there, in expected counts
_FREE = 1e-9  # the slack given to a free cell without a count, relative to N


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
    `information_matrix.solve`.
    """
    rows, columns = counts.shape
    total, empty_cells, hard = _start(counts, row_only, column_only, chance, row_slope, column_slope, work)
    barrier = _BARRIER if hard or empty_cells > 0 else 0.0
    interior = empty_cells > 0
    converged = False
    residual = np.inf
    steps = 0
    while True:
        _prepare(counts, chance, row_slope, column_slope, barrier, _FREE * total if converged else 0.0, total, work)
        if converged or steps == MOST_STEPS:
            break
        steps += 1
        _direct(row_only, column_only, row_slope, column_slope, work)
        length, moving, raised = _advance(counts, chance, row_slope, column_slope, barrier, total, work)
        at_end = barrier <= _ZERO or (raised == 0 and empty_cells == 0)
        converged = length == 1.0 and moving == 0 and at_end
        if empty_cells > 0 and at_end and (converged or (interior and length > 0.9)):
            # Cells that reached the boundary leave the game: where pi and t both tend to 0 they would slow it down.
            interior = False
            converged = _drop_boundary(counts, chance, total, 100.0 if converged else 1.0, work) == 0 and converged
        if converged:
            residual = kkt_residual(counts, row_only, column_only, total, chance, row_slope, column_slope)
            converged = residual <= _RESIDUAL
        if length > 0.5:
            barrier = max(barrier * (0.01 if length > 0.9 else 0.1), _ZERO) if barrier > 0.0 else 0.0
    if not converged:
        _expectation_maximization(counts, row_only, column_only, total, chance, work)
        residual = kkt_residual(counts, row_only, column_only, total, chance, row_slope, column_slope)
        steps = MOST_STEPS + 1
        for i in range(rows):
            for j in range(columns):
                p, c = chance[i, j], counts[i, j]
                work.slack[i, j] = c / p if c > 0.0 else total
        _prepare(counts, chance, row_slope, column_slope, 0.0, _FREE * total, total, work)
    return steps, residual


@compiled
def kkt_residual(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    total: float,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
) -> float:
    """Set a = m/x, b = k/y from the chances; return the largest violation of optimality, relative to N.

    The gradient c/pi + a + b must equal N where pi > 0 and may not exceed it where pi = 0.
    """
    rows, columns = counts.shape
    for j in range(columns):
        column_slope[j] = 0.0
    for i in range(rows):
        total_of_row = 0.0
        for j in range(columns):
            total_of_row += chance[i, j]
            column_slope[j] += chance[i, j]
        row_slope[i] = row_only[i] / total_of_row if row_only[i] > 0.0 else 0.0
    for j in range(columns):
        column_slope[j] = column_only[j] / column_slope[j] if column_only[j] > 0.0 else 0.0
    worst = 0.0
    for i in range(rows):
        for j in range(columns):
            excess = row_slope[i] + column_slope[j] - total
            if chance[i, j] > 0.0:
                excess = abs(excess + counts[i, j] / chance[i, j])
            if not excess <= worst:
                worst = excess
    return worst / total


@compiled
def _start(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    work: Workspace,
) -> tuple[float, int, bool]:
    """A point with all slacks positive: one step of EM where that has them, else the one-sided slopes, shrunk.

    Returns N, the number of cells without a count, and whether the table is hard: EM's step was not good enough.
    """
    rows, columns = counts.shape
    total = 0.0
    empty_cells = 0
    row_sum, column_sum = work.row_sum, work.column_sum
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
    share = work.column_step
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
    hard = largest_row + largest_column > 0.95 * total
    if hard:
        floor = 0.01 * total  # a margin without complete counts must not make the others' slopes vanish
        row_odds = 0.0
        column_odds = 0.0
        for i in range(rows):
            row_odds = max(row_odds, row_only[i] / (row_sum[i] + floor))
        for j in range(columns):
            column_odds = max(column_odds, column_only[j] / (column_sum[j] + floor))
        for i in range(rows):
            odds = row_only[i] / (row_sum[i] + floor)
            row_slope[i] = total * odds / (1.0 + odds + column_odds)
        for j in range(columns):
            odds = column_only[j] / (column_sum[j] + floor)
            column_slope[j] = total * odds / (1.0 + odds + row_odds)
    for i in range(rows):
        work.row_share[i] = (row_sum[i] + row_only[i]) / total
    for j in range(columns):
        work.column_share[j] = (column_sum[j] + column_only[j]) / total
    barrier = _BARRIER * total if hard or empty_cells > 0 else 0.0
    for i in range(rows):
        free = total - row_slope[i]
        for j in range(columns):
            work.slack[i, j] = free - column_slope[j]
            floor = barrier * work.row_share[i] * work.column_share[j]
            chance[i, j] = max(counts[i, j], floor) / work.slack[i, j]
    return total, empty_cells, hard


@inlined
def _target(count: float, chance: float, floor: float) -> float:
    """What the product pi t is led to: the count, or the barrier's floor above it; 0 for a cell that was dropped."""
    return max(count, floor) if chance > 0.0 else 0.0


@inlined
def _prepare(
    counts: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    barrier: float,
    least_slack: float,
    total: float,
    work: Workspace,
) -> None:
    """Sums, v and the factor at this point, and into `row_step`, `column_wanted` what the slacks ask of the margins.

    At the end v is also the weight of the cell in A. A free cell without a count has t = 0, no information of its
    own; `least_slack` gives it a tiny one, so that A stays regular where the margins do not determine the cell either.
    """
    rows, columns = counts.shape
    wanted = work.column_wanted
    for j in range(columns):
        wanted[j] = 0.0
        work.column_sum[j] = 0.0
    for i in range(rows):
        row_floor = barrier * total * work.row_share[i]
        sum_chance = 0.0
        sum_wanted = 0.0
        for j in range(columns):
            reciprocal = 1.0 / (work.slack[i, j] if counts[i, j] > 0.0 else max(work.slack[i, j], least_slack))
            goal = _target(counts[i, j], chance[i, j], row_floor * work.column_share[j]) * reciprocal
            work.scale[i, j] = chance[i, j] * reciprocal
            sum_chance += chance[i, j]
            sum_wanted += goal
            wanted[j] += goal
            work.column_sum[j] += chance[i, j]
        work.row_sum[i] = sum_chance
        work.row_step[i] = sum_wanted
    factorize(row_slope, column_slope, work)


@inlined
def _direct(
    row_only: FloatArray, column_only: FloatArray, row_slope: FloatArray, column_slope: FloatArray, work: Workspace
) -> None:
    """Newton's direction: delta a into `row_step`, delta b into `column_step`."""
    rows, columns = work.scale.shape
    row_step, column_step, wanted, root = work.row_step, work.column_step, work.column_wanted, work.root
    for i in range(rows):
        step = 0.0
        if row_slope[i] > 0.0:
            step = (row_only[i] - row_slope[i] * row_step[i]) * work.row_gain[i] / row_slope[i]
            for j in range(columns):
                wanted[j] += work.scale[i, j] * step
        row_step[i] = step
    for j in range(columns):
        column_step[j] = (column_only[j] - column_slope[j] * wanted[j]) / root[j] if root[j] > 0.0 else 0.0
    substitute(work.factor, column_step)
    for j in range(columns):
        column_step[j] *= root[j]
    for i in range(rows):
        if row_slope[i] > 0.0:
            shared = 0.0
            for j in range(columns):
                shared += work.scale[i, j] * column_step[j]
            row_step[i] -= work.row_gain[i] * shared


@inlined
def _advance(
    counts: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    barrier: float,
    total: float,
    work: Workspace,
) -> tuple[float, int, int]:
    """Move along the direction as far as all stays positive.

    Returns its length, the number of chances that still moved, and that of counts below the barrier.

    pi + delta pi = c/t + v (delta a + delta b); it is left in `scale`, for a step of any length.
    """
    rows, columns = counts.shape
    row_step, column_step = work.row_step, work.column_step
    crossings = 0
    moving = 0
    raised = 0
    for i in range(rows):
        crossings += row_step[i] < -0.99 * row_slope[i]
    for j in range(columns):
        crossings += column_step[j] < -0.99 * column_slope[j]
    for i in range(rows):
        row_floor = barrier * total * work.row_share[i]
        for j in range(columns):
            closer = row_step[i] + column_step[j]
            new = (
                _target(counts[i, j], chance[i, j], row_floor * work.column_share[j]) / work.slack[i, j]
                + work.scale[i, j] * closer
            )
            work.scale[i, j] = new
            crossings += (chance[i, j] > 0.0) & ((closer > 0.99 * work.slack[i, j]) | (new < 0.01 * chance[i, j]))
            floor = row_floor * work.column_share[j]
            raised += counts[i, j] < floor
            moving += abs(new - chance[i, j]) > (
                _SMALL_STEP * chance[i, j] if counts[i, j] > 0.0 else 1e-10 * work.row_share[i] * work.column_share[j]
            )
    length = 1.0
    if crossings > 0:
        inward = 0.0  # the full step, measured in distances to the closest boundary
        for i in range(rows):
            if row_step[i] < 0.0:
                inward = max(inward, -row_step[i] / row_slope[i])
            for j in range(columns):
                if chance[i, j] > 0.0:
                    closer = (row_step[i] + column_step[j]) / work.slack[i, j]
                    inward = max(inward, closer, 1.0 - work.scale[i, j] / chance[i, j])
        for j in range(columns):
            if column_step[j] < 0.0:
                inward = max(inward, -column_step[j] / column_slope[j])
        length = min(1.0, 0.995 / inward)
    for i in range(rows):
        row_slope[i] += length * row_step[i]
        for j in range(columns):
            chance[i, j] += length * (work.scale[i, j] - chance[i, j])
            work.slack[i, j] -= length * (
                row_step[i] + column_step[j]
            )  # kept, not formed anew: near 0 that is all rounding
    for j in range(columns):
        column_slope[j] += length * column_step[j]
    return length, moving, raised


@compiled
def _drop_boundary(counts: FloatArray, chance: FloatArray, total: float, factor: float, work: Workspace) -> int:
    """Set to 0 the chances of cells without a count that are below `factor` slacks; return their number.

    At the end pi t = _ZERO in units of N x_i y_j: a free cell has pi far above t, one on the boundary far below it, and
    one for which both are 0 has them equal.
    """
    rows, columns = counts.shape
    dropped = 0
    for i in range(rows):
        for j in range(columns):
            reach = work.row_share[i] * work.column_share[j]
            near = chance[i, j] <= factor * reach * work.slack[i, j] / total
            if counts[i, j] == 0.0 and chance[i, j] > 0.0 and near:
                chance[i, j] = 0.0
                work.slack[i, j] = total
                dropped += 1
    return dropped


@compiled
def _expectation_maximization(
    counts: FloatArray, row_only: FloatArray, column_only: FloatArray, total: float, chance: FloatArray, work: Workspace
) -> None:
    """The fall-back: slow, but each step increases the likelihood. Starts where Newton stopped, made interior."""
    rows, columns = counts.shape
    row_factor, column_factor = work.row_sum, work.column_sum
    for i in range(rows):
        for j in range(columns):
            if not 1e-12 <= chance[i, j] <= 1.0:
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
            small = chance[i, j] < 1e-12 * min(work.row_share[i], work.column_share[j])
            if counts[i, j] == 0.0 and small and row_factor[i] + column_factor[j] < total:
                chance[i, j] = 0.0
