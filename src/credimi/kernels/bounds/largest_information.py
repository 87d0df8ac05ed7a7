"""The largest mutual information if values are missing not quite at random: within a factor, for many tables.

The tables are those of `least_information`. I is convex in the missing values of the classes, and convex in the missing
classes of the values, so its largest value is at a vertex, where each t_j is L or G L: a pattern of high and low cells
in every row and in every column that misses something. (If G is infinite, a high cell takes all, and several share it.)

The search climbs from a pattern. With slopes g_j = log(x_j/(C_j + x_j)), the best pattern of a row for the linear
function sum_j g_j u_j is high for the largest g_j, from some threshold on; it raises I, which is convex. If no row and
no column changes any more, single cells are turned, or made the only high ones, and the search goes on wherever that
raises I. It starts with the centre, and with patterns that are given: a table that is near another one starts with what
was found there.

O(rs) a step, O(r s^2) for turning single cells; some three steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.bounds.least_information import fill_shares, information
from credimi.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

    Pattern = NDArray[np.uint8]

_MOST_CLIMBS = 100
_HIGHER = 1e-14  # by less I does not rise
_LARGE = 8.0  # a factor at which to exchange two cells is not the same as to turn one and then the other


@inlined
def _spread(share: FloatArray, high: Pattern, size: int, factor: float, moved: FloatArray) -> None:
    """What the cells of a block get of its missing values."""
    total, of_high, number = 0.0, 0.0, 0
    for j in range(size):
        total += share[j]
        if high[j]:
            of_high += share[j]
            number += 1
    if factor < math.inf:
        scale = total / (total + (factor - 1.0) * of_high) if total > 0.0 else 0.0
        for j in range(size):
            moved[j] = share[j] * (scale * factor if high[j] else scale)
    else:
        for j in range(size):
            if number == 0:
                moved[j] = share[j]
            elif high[j]:
                moved[j] = total * share[j] / of_high if of_high > 0.0 else total / number
            else:
                moved[j] = 0.0


@inlined
def _value(fixed: FloatArray, moved: FloatArray, others: FloatArray, size: int) -> float:
    """What I is but for a constant, as a function of one block."""
    value = 0.0
    for j in range(size):
        x = fixed[j] + moved[j]
        if x > 0.0:
            value += x * math.log(x / (others[j] + x))
            if others[j] > 0.0:
                value += others[j] * math.log(others[j] / (others[j] + x))
    return value


@inlined
def _by_slope(
    fixed: FloatArray,
    share: FloatArray,
    others: FloatArray,
    moved: FloatArray,
    high: Pattern,
    size: int,
    factor: float,
    slope: FloatArray,
    order: IntegerArray,
) -> bool:
    """Set the pattern that is best for the slopes at the present one; whether it is another one."""
    for j in range(size):
        x = fixed[j] + moved[j]
        slope[j] = math.log(x / (others[j] + x)) if x > 0.0 else -1e300
        place = j
        while place > 0 and slope[order[place - 1]] < slope[j]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = j
    number = 1
    if factor < math.inf:
        total, weighted = 0.0, 0.0
        for j in range(size):
            if share[j] > 0.0:
                total += share[j]
                weighted += share[j] * slope[j]
        best, number = weighted / total, 0
        of_high, of_slopes = 0.0, 0.0
        for k in range(size - 1):
            j = order[k]
            if share[j] > 0.0:
                of_high += (factor - 1.0) * share[j]
                of_slopes += (factor - 1.0) * share[j] * slope[j]
                found = (weighted + of_slopes) / (total + of_high)
                if found > best + 1e-15 * abs(best):
                    best, number = found, k + 1
    changed = False
    for k in range(size):
        wanted = 1 if k < number else 0
        changed = changed or high[order[k]] != wanted
        high[order[k]] = wanted
    return changed


@inlined
def _by_turning(
    fixed: FloatArray,
    share: FloatArray,
    others: FloatArray,
    moved: FloatArray,
    high: Pattern,
    size: int,
    factor: float,
    trial: Pattern,
    spread: FloatArray,
) -> bool:
    """Turn the single cell that raises I most, or let one cell alone be high; whether that raises I."""
    best, found = _value(fixed, moved, others, size) + _HIGHER, -1
    for j in range(2 * size if factor > _LARGE else size):
        _turned(high, size, factor, j, trial)
        _spread(share, trial, size, factor, spread)
        value = _value(fixed, spread, others, size)
        if value > best:
            best, found = value, j
    if found < 0:
        return False
    _turned(high, size, factor, found, trial)
    for k in range(size):
        high[k] = trial[k]
    return True


@inlined
def _turned(high: Pattern, size: int, factor: float, number: int, trial: Pattern) -> None:
    """The pattern with one cell turned or, from `size` on and with an infinite factor, with one high cell."""
    alone = number >= size or factor == math.inf
    for k in range(size):
        trial[k] = 0 if alone else high[k]
    trial[number % size] = 1 if alone else 1 - trial[number % size]


@inlined
def _climb(
    p: FloatArray,
    spread: FloatArray,
    share: FloatArray,
    of: FloatArray,
    patterns: Pattern,
    transposed: bool,
    factor: float,
    turning: bool,
    sums: FloatArray,
    room: FloatArray,
    order: IntegerArray,
    high: Pattern,
) -> bool:
    """Improve all rows in turn, or all columns; `spread` is what each cell has of their missing values."""
    blocks, size = (p.shape[1], p.shape[0]) if transposed else p.shape
    fixed, own, others, moved, slope = room[0], room[1], room[2], room[3], room[4]
    changed = False
    for block in range(blocks):
        if of[block] <= 0.0:
            continue
        for k in range(size):
            i, j = (k, block) if transposed else (block, k)
            fixed[k], own[k], moved[k] = p[i, j] - spread[i, j], share[i, j], spread[i, j]
            fixed[k] = max(fixed[k], 0.0)
            others[k] = max(sums[k] - p[i, j], 0.0)
            high[0, k] = patterns[i, j]
        if turning:
            risen = _by_turning(fixed, own, others, moved, high[0], size, factor, high[1], slope)
        else:
            risen = _by_slope(fixed, own, others, moved, high[0], size, factor, slope, order)
        if not risen:
            continue
        changed = True
        _spread(own, high[0], size, factor, moved)
        for k in range(size):
            i, j = (k, block) if transposed else (block, k)
            patterns[i, j] = high[0, k]
            sums[k] += fixed[k] + moved[k] - p[i, j]
            p[i, j], spread[i, j] = fixed[k] + moved[k], moved[k]
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

    The patterns of rows come first, those of columns below them; `starts` has others to start with. `limit` is NaN
    where I is wanted; otherwise only whether it exceeds the limit is, and the search ends earlier.
    """
    tables, r, s = seen.shape
    side = max(r, s)
    p, of_rows, of_columns = np.empty((r, s)), np.empty((r, s)), np.empty((r, s))
    share_of_rows, share_of_columns = np.empty((r, s)), np.empty((r, s))
    rows, columns, room = np.empty(r), np.empty(s), np.empty((5, side))
    order, high = np.empty(side, dtype=np.int64), np.empty((2, side), dtype=np.uint8)
    patterns, block = np.empty((2 * r, s), dtype=np.uint8), np.empty((3, side))
    turned = np.empty(side, dtype=np.uint8)
    for table in range(tables):
        o, a, b, middle = seen[table], row_only[table], column_only[table], centre[table]
        fill_shares(middle, a, b, rows, columns, share_of_rows, share_of_columns)
        result[table] = -1.0
        for start in range(starts.shape[0] + 1):
            for i in range(2 * r):
                for j in range(s):
                    patterns[i, j] = starts[start, i, j] if start < starts.shape[0] else 0
            for i in range(r):
                _spread(share_of_rows[i], patterns[i], s, factor, of_rows[i])
            for j in range(s):
                for i in range(r):
                    block[0, i], turned[i] = share_of_columns[i, j], patterns[r + i, j]
                _spread(block[0], turned, r, factor, block[1])
                for i in range(r):
                    of_columns[i, j] = block[1, i]
            for i in range(r):
                for j in range(s):
                    p[i, j] = o[i, j] + of_rows[i, j] + of_columns[i, j]
            value = information(p, rows, columns)
            turning = False
            for _ in range(_MOST_CLIMBS if factor > 1.0 else 0):
                before, changed = value, False
                for side in range(2):
                    columns_too = side == 1
                    own, whole = (of_columns, share_of_columns) if columns_too else (of_rows, share_of_rows)
                    only, sums = (b, rows) if columns_too else (a, columns)
                    pattern = patterns[r:] if columns_too else patterns[:r]
                    changed |= _climb(
                        p, own, whole, only, pattern, columns_too, factor, turning, sums, room, order, high
                    )
                    value = information(p, rows, columns)
                if value > limit[table]:
                    break
                if not changed or value <= before + _HIGHER:
                    if turning or abs(value - result[table]) <= _HIGHER:  # where an earlier start has led to
                        break
                    turning = True
                elif turning:
                    turning = False
            if value > result[table]:
                result[table] = value
                for i in range(2 * r):
                    for j in range(s):
                        best[table, i, j] = patterns[i, j]
            if value > limit[table]:
                break
