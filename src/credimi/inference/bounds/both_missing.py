"""The least and the largest mutual information if both sides have missing values, within a factor, for many tables.

The tables are those of `least_information`, with Z, the rows that lack both, relative to the others. Mechanisms within
the factor are those of `unseen_cells`, whose tilts are here numbers x between 0 and 1: rho = G^x, sigma = G^x, and tau
between 1/T and T times what it is at random, T = `ties`. So I is a smooth function of 2 r s numbers in a box, of 3 r s
with Z. It has no proof of one optimum. The search starts from several places, and the caller finds these from many.

**The largest I.** First all numbers jump to the ends to which the slopes point, which is what a linear function needs;
if I does not rise, only a part of the way. At the end most numbers are at 0 or 1.

**The least I**, and the largest after these jumps. The method of Broyden, Fletcher, Goldfarb and Shanno with a memory
of eight steps, on the numbers that are not held at an end of the box.

A step costs O(rs) logarithms and O((r + s)^3) operations.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import BooleanArray, FloatArray, compiled, inlined
from credimi.inference.bounds.unseen_cells import (
    AT_RANDOM,
    PLANES,
    RHO,
    SEEN,
    SIGMA,
    SUMS,
    TAU,
    UNKNOWN,
    Box,
    F,
    T,
    Z,
    fill_slopes,
    information_of_cells,
    solve_cells,
)

_FLOOR = 1e-9  # instead of a probability of 0 of a cell, and of a margin if rows lack both
_MAX_STEPS = 100
_MAX_TRIALS = 12  # of the length of a step
_MAX_FAILURES = 3
_MEMORY = 8
_NEGLIGIBLE = 1e-9  # of I
_MIN_CHANGE = 1e-10  # of I, in a step
_MIN_RELATIVE = 1e-5


@inlined
def _evaluate(box: Box, x: FloatArray) -> float:
    """I at x; NaN if the cells were not found."""
    cells, sums = box.cells, box.lines[SUMS]
    r, s = cells.shape[1], cells.shape[2]
    for i in range(r):
        for j in range(s):
            cells[RHO, i, j] = math.exp(box.log_factor * x[0, i, j]) if sums[i] > 0.0 else 1.0
            cells[SIGMA, i, j] = math.exp(box.log_factor * x[1, i, j]) if sums[r + j] > 0.0 else 1.0
            if box.with_z:
                cells[TAU, i, j] = cells[AT_RANDOM, i, j] * math.exp(box.log_ties * (x[2, i, j] - 0.5))
    return information_of_cells(box) if solve_cells(box) else math.nan


@inlined
def _slopes(box: Box, slopes: FloatArray) -> None:
    """The slopes of I by x."""
    fill_slopes(box, slopes)
    sums, r = box.lines[SUMS], slopes.shape[1]
    for i in range(r):
        for j in range(slopes.shape[2]):
            slopes[0, i, j] *= box.log_factor if sums[i] > 0.0 else 0.0
            slopes[1, i, j] *= box.log_factor if sums[r + j] > 0.0 else 0.0
            slopes[2, i, j] *= box.log_ties


@inlined
def _direction(
    size: int,
    free: BooleanArray,
    slopes: FloatArray,
    memory: FloatArray,
    stored: int,
    newest: int,
    out: FloatArray,
) -> None:
    """Fill the direction of descent among the free ones of `size` numbers: both loops of the limited-memory method.

    `memory` has the last steps and the changes of the slopes in them, and room for two scales of each.
    """
    steps, changes, scales = memory[0], memory[1], memory[2].reshape(-1)[: 2 * _MEMORY].reshape(2, _MEMORY)
    for k in range(size):
        out[k] = -slopes[k] if free[k] else 0.0
    gamma = 0.0
    for back in range(stored):
        at = (newest - back) % _MEMORY
        product, along, square = 0.0, 0.0, 0.0
        for k in range(size):
            if free[k]:
                product += steps[at, k] * changes[at, k]
                along += steps[at, k] * out[k]
                square += changes[at, k] * changes[at, k]
        if product <= 1e-10 * square or square == 0.0:
            scales[0, at] = 0.0
            continue
        gamma = product / square if gamma == 0.0 else gamma
        scales[0, at], scales[1, at] = 1.0 / product, along / product
        for k in range(size):
            if free[k]:
                out[k] -= scales[1, at] * changes[at, k]
    if gamma > 0.0:
        for k in range(size):
            out[k] *= gamma
    for back in range(stored - 1, -1, -1):
        at = (newest - back) % _MEMORY
        if scales[0, at] == 0.0:
            continue
        along = 0.0
        for k in range(size):
            if free[k]:
                along += changes[at, k] * out[k]
        weight = scales[1, at] - along * scales[0, at]
        for k in range(size):
            if free[k]:
                out[k] += weight * steps[at, k]


@inlined
def _is_beyond(value: float, limit: float, upward: bool) -> bool:
    """Whether the limit is passed, or I cannot become smaller."""
    return value > limit if upward else value <= limit or value <= _NEGLIGIBLE


@compiled
def search(
    seen: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    centre: FloatArray,
    neither: FloatArray,
    factor: float,
    ties: float,
    upward: bool,
    jumps: int,
    limit: FloatArray,
    starts: FloatArray,
    result: FloatArray,
    best: FloatArray,
) -> None:
    """Fill the largest I of each table (tables, r, s) within the factor, or the least, and where it is.

    `best`, (tables, 3 r, s), gets x: first the part for rho, then those for sigma and tau; `starts` has x to start
    from. Towards the largest I, the first `jumps` steps go to the ends of the box. `limit` is NaN if I is wanted;
    otherwise only whether I exceeds the limit is wanted, and the search ends earlier.
    """
    tables, r, s = seen.shape
    size = r + s + 1
    log_factor, log_ties = math.log(factor), 2.0 * math.log(ties)
    cells, lines, matrix = np.ones((PLANES, r, s)), np.empty((6, size)), np.empty((size, size))
    margins, of_lines, sums, unknown = np.empty(r + s), np.empty(r + s), lines[SUMS], lines[UNKNOWN]
    x, trial, slopes = np.zeros((3, r, s)), np.zeros((3, r, s)), np.zeros((3, r, s))
    flat, flat_trial, flat_slopes = x.reshape(-1), trial.reshape(-1), slopes.reshape(-1)
    memory, direction, previous = np.empty((3, _MEMORY, flat.size)), np.empty(flat.size), np.empty(flat.size)
    flat_starts, flat_best = starts.reshape(starts.shape[0], flat.size), best.reshape(tables, flat.size)
    free = np.empty(flat.size, dtype=np.bool_)
    sign = 1.0 if upward else -1.0
    for table in range(tables):
        with_z = neither[table] > 0.0
        used = (3 if with_z else 2) * r * s
        total = 1.0 + neither[table]
        result[table] = -math.inf if upward else math.inf
        box = Box(cells, lines, matrix, margins, log_factor, log_ties, total, with_z)
        of_lines[:], sums[r + s] = 0.0, neither[table]
        for i in range(r):
            sums[i] = max(row_only[table, i], _FLOOR if with_z else 0.0)
            for j in range(s):
                cells[SEEN, i, j] = max(seen[table, i, j], _FLOOR)
                of_lines[i] += centre[table, i, j]
                of_lines[r + j] += centre[table, i, j]
        for j in range(s):
            sums[r + j] = max(column_only[table, j], _FLOOR if with_z else 0.0)
        for k in range(r + s):
            of_lines[k] = max(of_lines[k], _FLOOR)
        for i in range(r):
            for j in range(s):
                f, t = sums[i] / of_lines[i], sums[r + j] / of_lines[r + j]
                at_random = neither[table] / (max(centre[table, i, j], _FLOOR) * f * t) if with_z else 1.0
                cells[AT_RANDOM, i, j] = at_random
        for start in range(starts.shape[0]):
            for i in range(r):
                for j in range(s):
                    middle = max(centre[table, i, j], _FLOOR)
                    cells[F, i, j] = sums[i] * middle / of_lines[i]
                    cells[T, i, j] = sums[r + j] * middle / of_lines[r + j]
                    cells[Z, i, j] = 0.0
            unknown[:] = 1.0
            for k in range(used):
                flat[k] = flat_starts[start, k]
            value = _evaluate(box, x)
            if math.isnan(value):
                continue
            stored, newest = 0, -1
            failures, jumping, curved = 0, upward and jumps > 0, False
            for climb in range(_MAX_STEPS):
                if _is_beyond(value, limit[table], upward):
                    break
                _slopes(box, slopes)
                jumping = jumping and climb < jumps
                if jumping:
                    gain = 0.0
                    for k in range(used):
                        end = 1.0 if flat_slopes[k] > 0.0 else 0.0
                        direction[k] = end - flat[k] if flat_slopes[k] != 0.0 else 0.0
                        gain += direction[k] * flat_slopes[k]
                else:
                    for k in range(used):
                        flat_slopes[k] *= -sign
                    if curved:
                        newest = (newest + 1) % _MEMORY
                        stored = min(stored + 1, _MEMORY)
                        for k in range(used):
                            memory[0, newest, k] = flat[k] - flat_trial[k]
                            memory[1, newest, k] = flat_slopes[k] - previous[k]
                    for k in range(used):
                        free[k] = not (
                            (flat[k] <= 0.0 and flat_slopes[k] >= 0.0) or (flat[k] >= 1.0 and flat_slopes[k] <= 0.0)
                        )
                    _direction(used, free, flat_slopes, memory, stored, newest, direction)
                    gain, steepest = 0.0, 0.0
                    for k in range(used):
                        steepest = max(steepest, abs(direction[k]))
                    if stored == 0 and steepest > 0.0:
                        for k in range(used):
                            direction[k] *= 0.3 / steepest
                    for k in range(used):
                        end = min(max(flat[k] + direction[k], 0.0), 1.0)
                        gain -= (end - flat[k]) * flat_slopes[k]
                if gain <= max(_MIN_CHANGE, _MIN_RELATIVE * value):
                    break
                for k in range(used):
                    flat_trial[k], previous[k] = flat[k], flat_slopes[k]
                length, accepted, old = 1.0, False, value
                for _ in range(_MAX_TRIALS):
                    moved = 0.0
                    for k in range(used):
                        end = min(max(flat_trial[k] + length * direction[k], 0.0), 1.0)
                        moved += (end - flat_trial[k]) * (previous[k] if jumping else -previous[k])
                        flat[k] = end
                    value = _evaluate(box, x)
                    if sign * (value - old) > max(1e-4 * moved, 0.0):
                        accepted = True
                        break
                    length *= 0.4
                curved = accepted and not jumping
                if not accepted:  # back, and once more without memory
                    for k in range(used):
                        flat[k] = flat_trial[k]
                    failures += 1
                    value = old
                    if failures > _MAX_FAILURES or (stored == 0 and not (jumping and with_z)):
                        break
                    stored, newest, jumping = 0, -1, False
                    value = _evaluate(box, x)
                    if math.isnan(value):
                        value = old
                        break
            if sign * (value - result[table]) > 0.0:
                result[table] = value
                for k in range(used):
                    flat_best[table, k] = flat[k]
            if _is_beyond(value, limit[table], upward):
                break
