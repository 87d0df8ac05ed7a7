"""Newton's method on the products pi t = c, a x = m, b y = k (see `find`), with a barrier where cells lack counts.

An easy table has a count in each cell, and slacks that are not too small after one step of EM: the method starts there.
In others some cells may be on the boundary, and it is not known which: a cell without a count ends on it, pi = 0 < t,
or free, t = 0 < pi. Two phases decide:

1. A barrier: the products approach 0 from the interior as `barrier` N x_i y_j. (EM that starts at n/N never leaves a
   zero cell, even if the maximum is elsewhere: a mistake in the paper.) Slacks start away from 0, hence with a gap
   g_ij = N - a_i - b_j - t_ij, which a step of length l shrinks by 1 - l; the new probabilities are
   c/t - v g + v (delta a + delta b).
2. An active set, once the barrier is low: each such cell is held at pi = 0 or at t = 0, whichever is nearer, and
   chooses again at each step. This is Newton's method for min(pi, t) = 0. It ends after a few steps even if both are 0,
   which a barrier approaches ever more slowly. If it does not end, the barrier is used again, with a lower value.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import Workspace, compiled, inlined
from credimi.inference.moments import information_matrix as at
from credimi.inference.moments.information_matrix import factorize, substitute

MAX_STEPS = 60
_SMALL_STEP = 1e-6  # Newton's error after a relative step of this size is about its square
_MAX_RESIDUAL = 1e-11  # of the optimality conditions, relative to N
_MAX_FRACTION = 0.999  # of the way to the closest boundary
FREE_SLACK = 1e-9  # used instead of the slack 0 of a free cell, relative to N
_BARRIER = 0.02  # the first barrier: cells with smaller counts start here, in expected counts N x_i y_j
_LOW_BARRIER = 1e-6  # at which most cells have chosen their side
_MIN_BARRIER = 1e-14
_MAX_CHOOSING_STEPS = 8  # after which an active set that still changes is given up
_FIRST_EM_STEPS = 5  # cheap beside one step of Newton's method
_MIN_FIRST_SLACK = 0.05  # relative to N


@compiled
def newton(total: float, easy: bool, work: Workspace) -> tuple[int, float]:
    """Fill the mode; return the number of steps and the KKT residual relative to N, which is infinite if it failed.

    `work` holds the shares of the rows and the columns; if the table is `easy`, also probabilities and slacks to start
    from, without a barrier and without a gap.
    """
    empty_cells, barrier, low_barrier = 0, 0.0, _LOW_BARRIER
    if not easy:
        _start_at_barrier(total, work)
        barrier = _BARRIER
        for count in work.cells[at.COUNTS].ravel():
            empty_cells += count == 0.0
    choosing = 0  # steps of the second phase so far; 1 before its first
    has_gap = not easy
    for step in range(1, MAX_STEPS + 1):
        _prepare(barrier, choosing > 0, has_gap, total, work)
        _direct(work)
        length, moving, below_barrier = _advance(barrier, choosing > 0, has_gap, total, work)
        has_gap = has_gap and length < 1.0
        if length == 1.0 and below_barrier == 0 and (choosing > 0 if empty_cells > 0 else moving == 0):
            residual = kkt_residual(total, work)
            if residual <= _MAX_RESIDUAL * (1.0 if moving == 0 else 0.01):
                return step, residual
        if choosing > 0:
            choosing += 1
            if empty_cells > 0 and (choosing > _MAX_CHOOSING_STEPS + 1 or _is_lost(work)):
                choosing = 0
                has_gap = True
                low_barrier = 0.01 * barrier
                _leave_boundary(barrier, total, work)
        elif length > 0.5:
            if length > 0.9 and (barrier <= _MIN_BARRIER or (barrier <= low_barrier and below_barrier == 0)):
                choosing = 1
            else:
                barrier = max(barrier * (0.01 if length > 0.9 else 0.1), _MIN_BARRIER)
    return MAX_STEPS, np.inf


@compiled
def _start_at_barrier(total: float, work: Workspace) -> None:
    """Make a few steps of EM, with counts raised to the barrier; fill the slacks c/pi, raised if they are too small."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_only, column_only = work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
    row_slope, column_slope = work.rows[at.ROW_SLOPE], work.columns[at.COLUMN_SLOPE]
    rows, columns = counts.shape
    for i in range(rows):
        for j in range(columns):
            expected_share = work.rows[at.ROW_SHARE, i] * work.columns[at.COLUMN_SHARE, j]
            probability[i, j] = max(counts[i, j] / total, _BARRIER * expected_share)
    for step in range(_FIRST_EM_STEPS + 1):
        for j in range(columns):
            column_slope[j] = 0.0
        total_probability = 0.0
        for i in range(rows):
            row_slope[i] = 0.0
            for j in range(columns):
                row_slope[i] += probability[i, j]
                column_slope[j] += probability[i, j]
            total_probability += row_slope[i]
        for i in range(rows):
            row_slope[i] = row_only[i] * total_probability / row_slope[i] if row_only[i] > 0.0 else 0.0
        for j in range(columns):
            column_slope[j] = column_only[j] * total_probability / column_slope[j] if column_only[j] > 0.0 else 0.0
        for i in range(rows):
            for j in range(columns):
                goal = max(
                    counts[i, j],
                    _BARRIER * total * work.rows[at.ROW_SHARE, i] * work.columns[at.COLUMN_SHARE, j],
                )
                probability[i, j] /= total_probability
                if step < _FIRST_EM_STEPS:
                    probability[i, j] = (goal + probability[i, j] * (row_slope[i] + column_slope[j])) / total
                else:
                    least = _MIN_FIRST_SLACK * total
                    work.cells[at.SLACK, i, j] = (
                        max(goal / probability[i, j], least) if probability[i, j] > 0.0 else total
                    )


@inlined
def _prepare(barrier: float, choosing: bool, has_gap: bool, total: float, work: Workspace) -> None:
    """Fill v, the probabilities that follow from the slacks, the sums and the factor, at the present point.

    A cell that stays on the boundary, or whose row or column never occurs, has neither probability nor weight.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_slope, column_slope = work.rows[at.ROW_SLOPE], work.columns[at.COLUMN_SLOPE]
    rows, columns = counts.shape
    for j in range(columns):
        work.columns[at.COLUMN_WANTED, j] = 0.0
        work.columns[at.COLUMN_SUM, j] = 0.0
    for i in range(rows):
        sum_of_goals, sum_of_probabilities = 0.0, 0.0
        for j in range(columns):
            expected_share = work.rows[at.ROW_SHARE, i] * work.columns[at.COLUMN_SHARE, j]
            open_slack = total - row_slope[i] - column_slope[j]
            goal = 0.0
            weight = 0.0
            if choosing and counts[i, j] == 0.0:
                if probability[i, j] * total > expected_share * open_slack:
                    # A probability of 0 needs some weight to return from the boundary.
                    weight = max(probability[i, j], 1e-3 * expected_share) / (FREE_SLACK * total)
                    goal = probability[i, j] - weight * open_slack
                else:
                    probability[i, j] = 0.0
            elif probability[i, j] > 0.0:
                slack = work.cells[at.SLACK, i, j]
                weight = probability[i, j] / slack
                goal = max(counts[i, j], 0.0 if choosing else barrier * total * expected_share) / slack
                if has_gap:
                    goal -= weight * (open_slack - slack)
            work.cells[at.SCALE, i, j] = weight
            work.cells[at.SPARE, i, j] = goal
            sum_of_goals += goal
            sum_of_probabilities += probability[i, j]
            work.columns[at.COLUMN_WANTED, j] += goal
            work.columns[at.COLUMN_SUM, j] += probability[i, j]
        work.rows[at.ROW_STEP, i], work.rows[at.ROW_SUM, i] = sum_of_goals, sum_of_probabilities
    factorize(work)


@inlined
def _advance(barrier: float, choosing: bool, has_gap: bool, total: float, work: Workspace) -> tuple[float, int, int]:
    """Move along the direction as far as everything stays positive, except cells that choose their side.

    Return its length, the number of cells with counts whose probability still moved, and how many counts are below the
    barrier.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_slope, column_slope = work.rows[at.ROW_SLOPE], work.columns[at.COLUMN_SLOPE]
    row_step, column_step = work.rows[at.ROW_STEP], work.columns[at.COLUMN_STEP]
    rows, columns = counts.shape
    moving = 0
    below_barrier = 0
    inward = 0.0  # the full step, measured in distances to the closest boundary
    for i in range(rows):
        if row_step[i] < 0.0:
            inward = max(inward, -row_step[i] / row_slope[i])
        for j in range(columns):
            count, old = counts[i, j], probability[i, j]
            new = work.cells[at.SPARE, i, j] + work.cells[at.SCALE, i, j] * (row_step[i] + column_step[j])
            work.cells[at.SPARE, i, j] = new
            if count > 0.0 or (old > 0.0 and not choosing):
                closer = row_step[i] + column_step[j]
                if has_gap:
                    closer -= total - row_slope[i] - column_slope[j] - work.cells[at.SLACK, i, j]
                inward = max(inward, closer / work.cells[at.SLACK, i, j], 1.0 - new / old)
            if count > 0.0:
                moving += abs(new - old) > _SMALL_STEP * old
                below_barrier += (
                    not choosing
                    and count < barrier * total * work.rows[at.ROW_SHARE, i] * work.columns[at.COLUMN_SHARE, j]
                )
    for j in range(columns):
        if column_step[j] < 0.0:
            inward = max(inward, -column_step[j] / column_slope[j])
    length = 1.0 if inward <= _MAX_FRACTION else _MAX_FRACTION / inward
    for i in range(rows):
        for j in range(columns):
            closer = row_step[i] + column_step[j]
            if has_gap:
                closer -= total - row_slope[i] - column_slope[j] - work.cells[at.SLACK, i, j]
            probability[i, j] += length * (work.cells[at.SPARE, i, j] - probability[i, j])
            work.cells[at.SLACK, i, j] -= (
                length * closer
            )  # updated: computed again, it would be lost to rounding near 0
            if choosing and counts[i, j] == 0.0:
                probability[i, j] = max(probability[i, j], 0.0)
    for i in range(rows):
        row_slope[i] += length * row_step[i]
    for j in range(columns):
        column_slope[j] += length * column_step[j]
    return length, moving, below_barrier


@inlined
def _is_lost(work: Workspace) -> bool:
    """Whether a class or a value that occurs has probability 0: too many cells chose the boundary at once."""
    probability, row_only, column_only = (
        work.cells[at.PROBABILITY],
        work.rows[at.ROW_ONLY],
        work.columns[at.COLUMN_ONLY],
    )
    rows, columns = probability.shape
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += probability[i, j]
        if row_only[i] > 0.0 and not total > 0.0:
            return True
    for j in range(columns):
        total = 0.0
        for i in range(rows):
            total += probability[i, j]
        if column_only[j] > 0.0 and not total > 0.0:
            return True
    return False


@compiled
def _leave_boundary(barrier: float, total: float, work: Workspace) -> None:
    """Move cells without a count back into the interior, as far as the barrier that they return to."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    rows, columns = counts.shape
    least = np.sqrt(barrier)
    for i in range(rows):
        for j in range(columns):
            if counts[i, j] == 0.0:
                slack = total - work.rows[at.ROW_SLOPE, i] - work.columns[at.COLUMN_SLOPE, j]
                probability[i, j] = max(
                    probability[i, j], least * work.rows[at.ROW_SHARE, i] * work.columns[at.COLUMN_SHARE, j]
                )
                work.cells[at.SLACK, i, j] = max(slack, least * total)


@inlined
def _direct(work: Workspace) -> None:
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
