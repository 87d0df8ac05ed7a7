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

from credimi.compile.jit import FloatArray, NDArray, compiled, inlined
from credimi.inference.bounds.unseen_cells import PLANES, F, T, Z, fill_slopes, information_of_cells, solve_cells

_FLOOR = 1e-9  # instead of a probability of 0 of a cell, and of a margin if rows lack both
_MAX_STEPS = 100
_MAX_TRIALS = 12  # of the length of a step
_MAX_FAILURES = 3
_MEMORY = 8
_NEGLIGIBLE = 1e-9  # of I
_MIN_CHANGE = 1e-10  # of I, in a step
_MIN_RELATIVE = 1e-5


@inlined
def _evaluate(
    seen: FloatArray,
    sums: FloatArray,
    at_random: FloatArray,
    log_factor: float,
    log_ties: float,
    x: FloatArray,
    tilts: FloatArray,
    unknown: FloatArray,
    cells: FloatArray,
    work: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    total: float,
    with_z: bool,
) -> float:
    """I at x; NaN if the cells were not found."""
    r, s = seen.shape
    for i in range(r):
        for j in range(s):
            tilts[0, i, j] = math.exp(log_factor * x[0, i, j]) if sums[i] > 0.0 else 1.0
            tilts[1, i, j] = math.exp(log_factor * x[1, i, j]) if sums[r + j] > 0.0 else 1.0
            if with_z:
                tilts[2, i, j] = at_random[i, j] * math.exp(log_ties * (x[2, i, j] - 0.5))
    if not solve_cells(seen, sums, tilts, unknown, cells, work, with_z):
        return math.nan
    return information_of_cells(seen, cells, rows, columns, total)


@inlined
def _slopes(
    seen: FloatArray,
    sums: FloatArray,
    log_factor: float,
    log_ties: float,
    cells: FloatArray,
    work: FloatArray,
    with_z: bool,
    slopes: FloatArray,
) -> None:
    """The slopes of I by x."""
    r, s = seen.shape
    fill_slopes(seen, sums, cells, work, with_z, slopes)
    for i in range(r):
        for j in range(s):
            slopes[0, i, j] *= log_factor if sums[i] > 0.0 else 0.0
            slopes[1, i, j] *= log_factor if sums[r + j] > 0.0 else 0.0
            if with_z:
                slopes[2, i, j] *= log_ties


@inlined
def _direction(
    free: NDArray[np.bool_],
    slopes: FloatArray,
    steps: FloatArray,
    changes: FloatArray,
    stored: int,
    newest: int,
    scales: FloatArray,
    out: FloatArray,
) -> None:
    """Fill the direction of descent among the free numbers: the two loops of the limited-memory method."""
    size = slopes.size
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
    n, at_random, sums, unknown = np.empty((r, s)), np.empty((r, s)), np.empty(size), np.empty(size)
    cells, tilts, work = np.zeros((PLANES, r, s)), np.ones((3, r, s)), np.empty((size + 4, size))
    rows, columns = np.empty(r), np.empty(s)
    x, trial, slopes = np.zeros((3, r, s)), np.zeros((3, r, s)), np.zeros((3, r, s))
    flat, flat_trial, flat_slopes = x.reshape(-1), trial.reshape(-1), slopes.reshape(-1)
    steps, changes = np.empty((_MEMORY, flat.size)), np.empty((_MEMORY, flat.size))
    direction, previous, scales = np.empty(flat.size), np.empty(flat.size), np.empty((2, _MEMORY))
    free = np.empty(flat.size, dtype=np.bool_)
    sign = 1.0 if upward else -1.0
    for table in range(tables):
        with_z = neither[table] > 0.0
        layers = 3 if with_z else 2
        used = layers * r * s
        total = 1.0 + neither[table]
        result[table] = -math.inf if upward else math.inf
        for i in range(r):
            rows[i] = 0.0
        for j in range(s):
            columns[j] = 0.0
        for i in range(r):
            for j in range(s):
                n[i, j] = max(seen[table, i, j], _FLOOR)
                rows[i] += centre[table, i, j]
                columns[j] += centre[table, i, j]
        for i in range(r):
            sums[i] = max(row_only[table, i], _FLOOR if with_z else 0.0)
        for j in range(s):
            sums[r + j] = max(column_only[table, j], _FLOOR if with_z else 0.0)
        sums[r + s] = neither[table]
        for i in range(r):
            for j in range(s):
                f, t = sums[i] / max(rows[i], _FLOOR), sums[r + j] / max(columns[j], _FLOOR)
                at_random[i, j] = neither[table] / (max(centre[table, i, j], _FLOOR) * f * t) if with_z else 1.0
        of_class, of_value = rows.copy(), columns.copy()
        for start in range(starts.shape[0]):
            for i in range(r):
                for j in range(s):
                    middle = max(centre[table, i, j], _FLOOR)
                    cells[F, i, j] = sums[i] * middle / max(of_class[i], _FLOOR)
                    cells[T, i, j] = sums[r + j] * middle / max(of_value[j], _FLOOR)
                    cells[Z, i, j] = 0.0
            unknown[:] = 1.0
            for layer in range(layers):
                for i in range(r):
                    for j in range(s):
                        x[layer, i, j] = starts[start, layer * r + i, j]
            value = _evaluate(
                n, sums, at_random, log_factor, log_ties, x, tilts, unknown, cells, work, rows, columns, total, with_z
            )
            if math.isnan(value):
                continue
            stored, newest = 0, -1
            failures, jumping, curved = 0, upward and jumps > 0, False
            for climb in range(_MAX_STEPS):
                if (upward and value > limit[table]) or (
                    not upward and (value <= limit[table] or value <= _NEGLIGIBLE)
                ):
                    break
                _slopes(n, sums, log_factor, log_ties, cells, work, with_z, slopes)
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
                            steps[newest, k] = flat[k] - flat_trial[k]
                            changes[newest, k] = flat_slopes[k] - previous[k]
                    for k in range(used):
                        free[k] = not (
                            (flat[k] <= 0.0 and flat_slopes[k] >= 0.0) or (flat[k] >= 1.0 and flat_slopes[k] <= 0.0)
                        )
                    _direction(
                        free[:used],
                        flat_slopes[:used],
                        steps[:, :used],
                        changes[:, :used],
                        stored,
                        newest,
                        scales,
                        direction[:used],
                    )
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
                    value = _evaluate(
                        n,
                        sums,
                        at_random,
                        log_factor,
                        log_ties,
                        x,
                        tilts,
                        unknown,
                        cells,
                        work,
                        rows,
                        columns,
                        total,
                        with_z,
                    )
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
                    value = _evaluate(
                        n,
                        sums,
                        at_random,
                        log_factor,
                        log_ties,
                        x,
                        tilts,
                        unknown,
                        cells,
                        work,
                        rows,
                        columns,
                        total,
                        with_z,
                    )
                    if math.isnan(value):
                        value = old
                        break
            if sign * (value - result[table]) > 0.0:
                result[table] = value
                for layer in range(layers):
                    for i in range(r):
                        for j in range(s):
                            best[table, layer * r + i, j] = x[layer, i, j]
            if (upward and value > limit[table]) or (not upward and (value <= limit[table] or value <= _NEGLIGIBLE)):
                break
