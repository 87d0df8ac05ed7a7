"""The largest mutual information if values are missing not quite at random: within a factor, for many tables.

The tables are those of `least_information`. I is convex in the missing values of the classes, and convex in the missing
classes of the values. So its largest value is at a vertex, where each t_j is L or G L: a pattern of high and low cells
in every row and in every column that has missing values. (If G is infinite, a high cell gets all missing values, and
several high cells share them.)

The search improves a pattern step by step. With slopes g_j = log(x_j/(C_j + x_j)), the best pattern of a row for the
linear function sum_j g_j u_j is high for all g_j above a threshold; it raises I, which is convex. When no row and no
column changes any more, single cells are flipped, or made the only high one, and the search continues if that raises I.
It starts from the centre, and from given patterns: a table that is similar to another one starts with the pattern that
was found for it.

The cost is O(rs) a step, and O(r s^2) for flipping single cells; there are about three steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined
from credimi.inference.bounds.least_information import fill_shares, information

if TYPE_CHECKING:
    Pattern = NDArray[np.uint8]


_MAX_CLIMBS = 100
_MIN_RISE = 1e-14  # of I; smaller changes are rounding
_LARGE_FACTOR = 8.0  # from here on, flipping two cells at once is not the same as one after the other


@inlined
def _distribute(share: FloatArray, high: Pattern, size: int, factor: float, assigned: FloatArray) -> None:
    """Distribute the missing values of a block over its cells."""
    total, high_share, high_count = 0.0, 0.0, 0
    for j in range(size):
        total += share[j]
        if high[j]:
            high_share += share[j]
            high_count += 1
    if factor < math.inf:
        scale = total / (total + (factor - 1.0) * high_share) if total > 0.0 else 0.0
        for j in range(size):
            assigned[j] = share[j] * (scale * factor if high[j] else scale)
    else:
        for j in range(size):
            if high_count == 0:
                assigned[j] = share[j]
            elif high[j]:
                assigned[j] = total * share[j] / high_share if high_share > 0.0 else total / high_count
            else:
                assigned[j] = 0.0


@inlined
def _block_value(fixed: FloatArray, assigned: FloatArray, others: FloatArray, size: int) -> float:
    """I up to a constant, as a function of one block."""
    value = 0.0
    for j in range(size):
        x = fixed[j] + assigned[j]
        if x > 0.0:
            value += x * math.log(x / (others[j] + x))
            if others[j] > 0.0:
                value += others[j] * math.log(others[j] / (others[j] + x))
    return value


@inlined
def _improve_by_slope(
    fixed: FloatArray,
    share: FloatArray,
    others: FloatArray,
    assigned: FloatArray,
    high: Pattern,
    size: int,
    factor: float,
    slope: FloatArray,
    order: IntegerArray,
) -> bool:
    """Set the pattern that is best for the slopes at the present one; return whether it changed."""
    for j in range(size):
        x = fixed[j] + assigned[j]
        slope[j] = math.log(x / (others[j] + x)) if x > 0.0 else -1e300
        position = j
        while position > 0 and slope[order[position - 1]] < slope[j]:
            order[position] = order[position - 1]
            position -= 1
        order[position] = j
    high_count = 1
    if factor < math.inf:
        total, weighted = 0.0, 0.0
        for j in range(size):
            if share[j] > 0.0:
                total += share[j]
                weighted += share[j] * slope[j]
        best, high_count = weighted / total, 0
        high_share, high_slopes = 0.0, 0.0
        for k in range(size - 1):
            j = order[k]
            if share[j] > 0.0:
                high_share += (factor - 1.0) * share[j]
                high_slopes += (factor - 1.0) * share[j] * slope[j]
                mean_slope = (weighted + high_slopes) / (total + high_share)
                if mean_slope > best + 1e-15 * abs(best):
                    best, high_count = mean_slope, k + 1
    changed = False
    for k in range(size):
        is_high = 1 if k < high_count else 0
        changed = changed or high[order[k]] != is_high
        high[order[k]] = is_high
    return changed


@inlined
def _improve_by_flips(
    fixed: FloatArray,
    share: FloatArray,
    others: FloatArray,
    assigned: FloatArray,
    high: Pattern,
    size: int,
    factor: float,
    trial: Pattern,
    trial_assigned: FloatArray,
) -> bool:
    """Flip the cell that raises I most, or make one cell the only high one; return whether that raises I."""
    best, best_cell = _block_value(fixed, assigned, others, size) + _MIN_RISE, -1
    for j in range(2 * size if factor > _LARGE_FACTOR else size):
        _flip_cell(high, size, factor, j, trial)
        _distribute(share, trial, size, factor, trial_assigned)
        value = _block_value(fixed, trial_assigned, others, size)
        if value > best:
            best, best_cell = value, j
    if best_cell < 0:
        return False
    _flip_cell(high, size, factor, best_cell, trial)
    for k in range(size):
        high[k] = trial[k]
    return True


@inlined
def _flip_cell(high: Pattern, size: int, factor: float, number: int, trial: Pattern) -> None:
    """Fill the pattern with one cell flipped; if `number` >= `size`, or the factor is infinite, with one high cell."""
    alone = number >= size or factor == math.inf
    for k in range(size):
        trial[k] = 0 if alone else high[k]
    trial[number % size] = 1 if alone else 1 - trial[number % size]


@inlined
def _improve_blocks(
    p: FloatArray,
    assigned: FloatArray,
    share: FloatArray,
    missing: FloatArray,
    patterns: Pattern,
    transposed: bool,
    factor: float,
    flipping: bool,
    sums: FloatArray,
    scratch: FloatArray,
    order: IntegerArray,
    high: Pattern,
) -> bool:
    """Improve all rows in turn, or all columns; `assigned` has the missing values assigned to each cell."""
    blocks, size = (p.shape[1], p.shape[0]) if transposed else p.shape
    fixed, block_share, others, block_assigned, slope = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    changed = False
    for block in range(blocks):
        if missing[block] <= 0.0:
            continue
        for k in range(size):
            i, j = (k, block) if transposed else (block, k)
            fixed[k], block_share[k], block_assigned[k] = p[i, j] - assigned[i, j], share[i, j], assigned[i, j]
            fixed[k] = max(fixed[k], 0.0)
            others[k] = max(sums[k] - p[i, j], 0.0)
            high[0, k] = patterns[i, j]
        if flipping:
            improved = _improve_by_flips(
                fixed, block_share, others, block_assigned, high[0], size, factor, high[1], slope
            )
        else:
            improved = _improve_by_slope(
                fixed, block_share, others, block_assigned, high[0], size, factor, slope, order
            )
        if not improved:
            continue
        changed = True
        _distribute(block_share, high[0], size, factor, block_assigned)
        for k in range(size):
            i, j = (k, block) if transposed else (block, k)
            patterns[i, j] = high[0, k]
            sums[k] += fixed[k] + block_assigned[k] - p[i, j]
            p[i, j], assigned[i, j] = fixed[k] + block_assigned[k], block_assigned[k]
    return changed


@compiled
def largest(
    seen: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    centre: FloatArray,
    factor: float,
    limit: FloatArray,
    starts: NDArray[np.uint8],
    result: FloatArray,
    best: NDArray[np.uint8],
) -> None:
    """Fill the largest I of each table (tables, r, s) within the factor, and its patterns (tables, 2 r, s).

    The patterns of rows come first, then those of columns; `starts` has given patterns to start with. `limit` is NaN if
    I is wanted; otherwise only whether I exceeds the limit is wanted, and the search ends earlier.
    """
    tables, r, s = seen.shape
    side = max(r, s)
    p, of_rows, of_columns = np.empty((r, s)), np.empty((r, s)), np.empty((r, s))
    share_of_rows, share_of_columns = np.empty((r, s)), np.empty((r, s))
    rows, columns, scratch = np.empty(r), np.empty(s), np.empty((5, side))
    order, high = np.empty(side, dtype=np.int64), np.empty((2, side), dtype=np.uint8)
    patterns, block = np.empty((2 * r, s), dtype=np.uint8), np.empty((3, side))
    column_pattern = np.empty(side, dtype=np.uint8)
    for table in range(tables):
        o, a, b, middle = seen[table], row_only[table], column_only[table], centre[table]
        fill_shares(middle, a, b, rows, columns, share_of_rows, share_of_columns)
        result[table] = -1.0
        for start in range(starts.shape[0] + 1):
            for i in range(2 * r):
                for j in range(s):
                    patterns[i, j] = starts[start, i, j] if start < starts.shape[0] else 0
            for i in range(r):
                _distribute(share_of_rows[i], patterns[i], s, factor, of_rows[i])
            for j in range(s):
                for i in range(r):
                    block[0, i], column_pattern[i] = share_of_columns[i, j], patterns[r + i, j]
                _distribute(block[0], column_pattern, r, factor, block[1])
                for i in range(r):
                    of_columns[i, j] = block[1, i]
            for i in range(r):
                for j in range(s):
                    p[i, j] = o[i, j] + of_rows[i, j] + of_columns[i, j]
            value = information(p, rows, columns)
            flipping = False
            for _ in range(_MAX_CLIMBS if factor > 1.0 else 0):
                previous_value, changed = value, False
                for side in range(2):
                    transposed = side == 1
                    assigned, shares = (of_columns, share_of_columns) if transposed else (of_rows, share_of_rows)
                    missing, sums = (b, rows) if transposed else (a, columns)
                    pattern = patterns[r:] if transposed else patterns[:r]
                    changed |= _improve_blocks(
                        p, assigned, shares, missing, pattern, transposed, factor, flipping, sums, scratch, order, high
                    )
                    value = information(p, rows, columns)
                if value > limit[table]:
                    break
                if not changed or value <= previous_value + _MIN_RISE:
                    if flipping or abs(value - result[table]) <= _MIN_RISE:  # the same as from an earlier start
                        break
                    flipping = True
                elif flipping:
                    flipping = False
            if value > result[table]:
                result[table] = value
                for i in range(2 * r):
                    for j in range(s):
                        best[table, i, j] = patterns[i, j]
            if value > limit[table]:
                break
