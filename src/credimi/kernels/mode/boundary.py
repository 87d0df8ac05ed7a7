"""The mode where cells have no count, or next to none: it may lie on the boundary, and which cells, is not known.

A cell without a count ends on the boundary, pi = 0 < t, or free, t = 0 < pi. Two phases of Newton's method on products
(see `mode`) find out:

1. a barrier: the products are led to 0 by way of `barrier` N x_i y_j, from the interior, for from n/N EM never leaves a
   zero cell, even where the maximum lies elsewhere (a slip of the paper). Slacks start away from 0, hence with a gap
   g_ij = N - a_i - b_j - t_ij, which a step of length l shrinks by 1 - l; the new chances are c/t - v g + v (delta a +
   delta b);
2. an active set, once the barrier is low: each such cell is held at pi = 0 or at t = 0, whichever is nearer, its choice
   made anew each step. This is Newton's method for min(pi, t) = 0: it ends after a few steps also where both are 0,
   which a barrier approaches ever more slowly. Should it not end, the barrier takes over again, lower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
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
    SPARE,
    factorize,
)

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray
    from credimi.kernels.moments.information_matrix import Workspace

FREE = 1e-9  # stands for the slack 0 of a free cell, relative to N
_BARRIER = 0.02  # where cells start, in expected counts N x_i y_j, if their own count is smaller
_LOW_BARRIER = 1e-6  # where most cells have chosen their side
_LEAST_BARRIER = 1e-14
_PATIENCE = 8  # steps until an active set that does not settle is given up
_FIRST_EM_STEPS = 5  # cheap beside one of Newton's
_FIRST_SLACK = 0.05  # at least, relative to N


@compiled
def newton_with_barrier(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    total: float,
    work: Workspace,
) -> tuple[int, float]:
    """Fill the mode; return the number of steps and the KKT residual relative to N, infinite where it failed.

    `work` holds the shares of the rows and the columns.
    """
    _start_at_barrier(counts, row_only, column_only, chance, row_slope, column_slope, total, work)
    empty_cells = 0
    for count in counts.ravel():
        empty_cells += count == 0.0
    barrier = _BARRIER
    low = _LOW_BARRIER
    choosing = 0  # steps of the second phase so far; 1 before its first
    gap = total > 0.0  # not True, for which Numba would compile all that takes it once more
    for step in range(1, MOST_STEPS + 1):
        _prepare(counts, chance, row_slope, column_slope, barrier, choosing > 0, gap, total, work)
        direct(row_only, column_only, row_slope, column_slope, work)
        length, moving, raised = _advance(
            counts, chance, row_slope, column_slope, barrier, choosing > 0, gap, total, work
        )
        gap = gap and length < 1.0
        if length == 1.0 and raised == 0 and (choosing > 0 if empty_cells > 0 else moving == 0):
            residual = kkt_residual(
                counts, row_only, column_only, total, chance, work.rows[ROW_STEP], work.columns[COLUMN_STEP]
            )
            if residual <= RESIDUAL * (1.0 if moving == 0 else 0.01):
                return step, residual
        if choosing > 0:
            choosing += 1
            if empty_cells > 0 and (choosing > _PATIENCE + 1 or _is_lost(chance, row_only, column_only)):
                choosing = 0
                gap = True
                low = 0.01 * barrier
                _leave_boundary(counts, chance, row_slope, column_slope, barrier, total, work)
        elif length > 0.5:
            if length > 0.9 and (barrier <= _LEAST_BARRIER or (barrier <= low and raised == 0)):
                choosing = 1
            else:
                barrier = max(barrier * (0.01 if length > 0.9 else 0.1), _LEAST_BARRIER)
    return MOST_STEPS, np.inf


@compiled
def _start_at_barrier(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    total: float,
    work: Workspace,
) -> None:
    """A few steps of EM, counts raised to the barrier; slacks c/pi, but for those that are too small."""
    rows, columns = counts.shape
    for i in range(rows):
        for j in range(columns):
            reach = work.rows[ROW_SHARE, i] * work.columns[COLUMN_SHARE, j]
            chance[i, j] = max(counts[i, j] / total, _BARRIER * reach)
    for step in range(_FIRST_EM_STEPS + 1):
        for j in range(columns):
            column_slope[j] = 0.0
        everything = 0.0
        for i in range(rows):
            row_slope[i] = 0.0
            for j in range(columns):
                row_slope[i] += chance[i, j]
                column_slope[j] += chance[i, j]
            everything += row_slope[i]
        for i in range(rows):
            row_slope[i] = row_only[i] * everything / row_slope[i] if row_only[i] > 0.0 else 0.0
        for j in range(columns):
            column_slope[j] = column_only[j] * everything / column_slope[j] if column_only[j] > 0.0 else 0.0
        for i in range(rows):
            for j in range(columns):
                goal = max(counts[i, j], _BARRIER * total * work.rows[ROW_SHARE, i] * work.columns[COLUMN_SHARE, j])
                chance[i, j] /= everything
                if step < _FIRST_EM_STEPS:
                    chance[i, j] = (goal + chance[i, j] * (row_slope[i] + column_slope[j])) / total
                else:
                    least = _FIRST_SLACK * total
                    work.cells[SLACK, i, j] = max(goal / chance[i, j], least) if chance[i, j] > 0.0 else total


@compiled
def _prepare(
    counts: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    barrier: float,
    choosing: bool,
    gap: bool,
    total: float,
    work: Workspace,
) -> None:
    """At this point: v, the chances that the slacks ask for, the sums and the factor.

    A cell that stays on the boundary, or whose row or column no one ever saw, has neither chance nor weight.
    """
    rows, columns = counts.shape
    for j in range(columns):
        work.columns[COLUMN_WANTED, j] = 0.0
        work.columns[COLUMN_SUM, j] = 0.0
    for i in range(rows):
        work.rows[ROW_STEP, i] = 0.0
        work.rows[ROW_SUM, i] = 0.0
        for j in range(columns):
            reach = work.rows[ROW_SHARE, i] * work.columns[COLUMN_SHARE, j]
            open_slack = total - row_slope[i] - column_slope[j]
            goal = 0.0
            weight = 0.0
            if choosing and counts[i, j] == 0.0:
                if chance[i, j] * total > reach * open_slack:
                    weight = max(chance[i, j], 1e-3 * reach) / (FREE * total)  # back from 0 it needs some weight
                    goal = chance[i, j] - weight * open_slack
                else:
                    chance[i, j] = 0.0
            elif chance[i, j] > 0.0:
                slack = work.cells[SLACK, i, j]
                weight = chance[i, j] / slack
                goal = max(counts[i, j], 0.0 if choosing else barrier * total * reach) / slack
                if gap:
                    goal -= weight * (open_slack - slack)
            work.cells[SCALE, i, j] = weight
            work.cells[SPARE, i, j] = goal
            work.rows[ROW_STEP, i] += goal
            work.rows[ROW_SUM, i] += chance[i, j]
            work.columns[COLUMN_WANTED, j] += goal
            work.columns[COLUMN_SUM, j] += chance[i, j]
    factorize(row_slope, column_slope, work)


@compiled
def _advance(
    counts: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    barrier: float,
    choosing: bool,
    gap: bool,
    total: float,
    work: Workspace,
) -> tuple[float, int, int]:
    """Move along the direction as far as all stays positive, cells that choose their side excepted.

    Returns its length, the number of counted cells whose chance still moved, and that of counts below the barrier.
    """
    rows, columns = counts.shape
    row_step, column_step = work.rows[ROW_STEP], work.columns[COLUMN_STEP]
    moving = 0
    raised = 0
    inward = 0.0  # the full step, measured in distances to the closest boundary
    for i in range(rows):
        if row_step[i] < 0.0:
            inward = max(inward, -row_step[i] / row_slope[i])
        for j in range(columns):
            count, old = counts[i, j], chance[i, j]
            new = work.cells[SPARE, i, j] + work.cells[SCALE, i, j] * (row_step[i] + column_step[j])
            work.cells[SPARE, i, j] = new
            if count > 0.0 or (old > 0.0 and not choosing):
                closer = row_step[i] + column_step[j]
                if gap:
                    closer -= total - row_slope[i] - column_slope[j] - work.cells[SLACK, i, j]
                inward = max(inward, closer / work.cells[SLACK, i, j], 1.0 - new / old)
            if count > 0.0:
                moving += abs(new - old) > SMALL_STEP * old
                raised += (
                    not choosing and count < barrier * total * work.rows[ROW_SHARE, i] * work.columns[COLUMN_SHARE, j]
                )
    for j in range(columns):
        if column_step[j] < 0.0:
            inward = max(inward, -column_step[j] / column_slope[j])
    length = 1.0 if inward <= SHORT else SHORT / inward
    for i in range(rows):
        for j in range(columns):
            closer = row_step[i] + column_step[j]
            if gap:
                closer -= total - row_slope[i] - column_slope[j] - work.cells[SLACK, i, j]
            chance[i, j] += length * (work.cells[SPARE, i, j] - chance[i, j])
            work.cells[SLACK, i, j] -= length * closer  # kept, not formed anew: near 0 that is all rounding
            if choosing and counts[i, j] == 0.0:
                chance[i, j] = max(chance[i, j], 0.0)
    for i in range(rows):
        row_slope[i] += length * row_step[i]
    for j in range(columns):
        column_slope[j] += length * column_step[j]
    return length, moving, raised


@inlined
def _is_lost(chance: FloatArray, row_only: FloatArray, column_only: FloatArray) -> bool:
    """Whether a class or a value that was seen has no chance left: too many cells chose the boundary at once."""
    rows, columns = chance.shape
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += chance[i, j]
        if row_only[i] > 0.0 and not total > 0.0:
            return True
    for j in range(columns):
        total = 0.0
        for i in range(rows):
            total += chance[i, j]
        if column_only[j] > 0.0 and not total > 0.0:
            return True
    return False


@compiled
def _leave_boundary(
    counts: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    barrier: float,
    total: float,
    work: Workspace,
) -> None:
    """Lift cells without a count into the interior again, as far as the barrier that they return to."""
    rows, columns = counts.shape
    least = np.sqrt(barrier)
    for i in range(rows):
        for j in range(columns):
            if counts[i, j] == 0.0:
                slack = total - row_slope[i] - column_slope[j]
                chance[i, j] = max(chance[i, j], least * work.rows[ROW_SHARE, i] * work.columns[COLUMN_SHARE, j])
                work.cells[SLACK, i, j] = max(slack, least * total)
