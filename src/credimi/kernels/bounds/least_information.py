"""The least mutual information if values are missing not quite at random: within a factor, for many tables.

A table is what can be observed: the probability o_ij of a row with class i and value j, a_i of a row with class i whose
feature is missing, b_j of a row with value j whose target is missing. Where u_i is how the missing values of class i
are distributed, and v_j the missing classes of value j,

    pi_ij = o_ij + a_i u_ij + b_j v_ij .

Missing at random is u_ij = pi_ij/pi_i+ and v_ij = pi_ij/pi_+j. `centres` finds this pi, the centre: EM, in closed form
if one side is complete. Within the factor G of it,

    u_ij = (centre_ij/centre_i+) t_j,      L <= t_j <= G L for some L,      sum_j u_ij = 1,

and v_j likewise. If G is infinite, u_i and v_j are any distributions.

**One block.** All but u_i fixed, the class probabilities do not change, and I is convex in the row x_j = pi_ij = d_j +
e_j t_j, with e_j = a_i centre_ij/centre_i+ and d_j the rest. Up to constants it is sum_j x_j log x_j - (C_j + x_j)
log(C_j + x_j), C_j the sum of column j without the row. Its slope g_j = log(x_j/(C_j + x_j)) is the same for all j that
are at no bound: there x_j = tau C_j. So for given L

    x_j = tau C_j, but at least d_j + e_j L and at most d_j + e_j G L,      tau such that the sum is right,

and the least value as a function of L is convex, with slope sum_low e_j (g_j - g) + G sum_high e_j (g_j - g), where g
= log(tau/(1 + tau)) and the sums go over the j at their lower and at their upper bound. L is where it is 0. With two
values there is one number to choose, and it has a closed form. If G is infinite, only tau is sought.

**All blocks in turn**, rows and then columns, until I no longer falls. If one side is complete, I is convex in all
blocks together, and this is the least I. If both have missing values, I is convex in the rows and convex in the
columns, but not in both together; from the centre the blocks then lead to a minimum, which is the least one in all
tests against grids.

O(rs) a pass; some ten passes.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray

_CLOSE = 1e-13  # a change of the centre that ends its search
_MOST_STEPS = 3_000  # of EM
_NO_OTHERS = 1e-30  # takes the place of a column without other rows
_MOST_PASSES = 2_000
_MOST_TRIALS = 80  # for L
_EXACT = 1e-10  # what I may be too large by


@compiled
def centres(seen: FloatArray, row_only: FloatArray, column_only: FloatArray, centre: FloatArray) -> None:
    """Fill the probabilities (tables, r, s) of the cells if values are missing at random."""
    tables, r, s = seen.shape
    rows, columns = np.empty(r), np.empty(s)
    for table in range(tables):
        o, a, b, p = seen[table], row_only[table], column_only[table], centre[table]
        by_row, by_column, total = False, False, 0.0
        for i in range(r):
            by_row = by_row or a[i] > 0.0
            rows[i] = a[i]
        for j in range(s):
            by_column = by_column or b[j] > 0.0
            columns[j] = b[j]
        for i in range(r):
            for j in range(s):
                rows[i] += o[i, j]
                columns[j] += o[i, j]
                total += o[i, j]
        for i in range(r):  # the start: without its own, a class takes the values of all
            own = max(rows[i] - a[i], 0.0)
            for j in range(s):
                if by_row and not by_column and own > 0.0:
                    p[i, j] = o[i, j] * (rows[i] / own)
                else:
                    other = columns[j] - b[j]
                    p[i, j] = o[i, j] + a[i] * (other / total if total > 0.0 else 1.0 / s)
                    if by_column and not by_row:
                        p[i, j] = o[i, j] * (columns[j] / other) if other > 0.0 else b[j] * (own / total)
                    elif by_column:
                        p[i, j] += b[j] * (own / total if total > 0.0 else 1.0 / r)
        steps = _MOST_STEPS if by_row and by_column else 0
        for _ in range(steps):
            rows[:], columns[:] = 0.0, 0.0
            for i in range(r):
                for j in range(s):
                    rows[i] += p[i, j]
                    columns[j] += p[i, j]
            for i in range(r):
                rows[i] = a[i] / rows[i] if rows[i] > 0.0 else 0.0
            for j in range(s):
                columns[j] = b[j] / columns[j] if columns[j] > 0.0 else 0.0
            change = 0.0
            for i in range(r):
                for j in range(s):
                    after = o[i, j] + p[i, j] * (rows[i] + columns[j])
                    change = max(change, abs(after - p[i, j]))
                    p[i, j] = after
            if change < _CLOSE:
                break


@inlined
def information(p: FloatArray, rows: FloatArray, columns: FloatArray) -> float:
    """I of probabilities that sum to 1; fills their margins."""
    r, s = p.shape
    rows[:], columns[:] = 0.0, 0.0
    for i in range(r):
        for j in range(s):
            rows[i] += p[i, j]
            columns[j] += p[i, j]
    total = 0.0
    for i in range(r):
        for j in range(s):
            if p[i, j] > 0.0:
                total += p[i, j] * math.log(p[i, j] / (rows[i] * columns[j]))
    return max(total, 0.0)


@inlined
def _pair(fixed: FloatArray, share: FloatArray, others: FloatArray, factor: float, x: FloatArray) -> None:
    """The best block of two cells."""
    first, second = share[0], share[1]
    least, most = 0.0, first + second
    if factor < math.inf:
        most = (first + second) * factor * first / (factor * first + second) if first > 0.0 else 0.0
        least = (first + second) * first / (first + factor * second) if first > 0.0 else 0.0
    total = fixed[0] + fixed[1] + first + second
    wanted = total * others[0] / (others[0] + others[1])
    x[0] = min(max(wanted, fixed[0] + least), fixed[0] + most)
    x[1] = total - x[0]


@inlined
def _fill_up(fixed: FloatArray, share: FloatArray, others: FloatArray, size: int, x: FloatArray) -> None:
    """The best block if its missing values may be anything: x = max(fixed, tau others)."""
    total, all_others = 0.0, 0.0
    for j in range(size):
        total += fixed[j] + share[j]
        all_others += others[j]
    tau = total / all_others  # the sum is too large; Newton's method comes down, as it is convex
    for _ in range(size + 1):
        held, free = 0.0, 0.0
        for j in range(size):
            if fixed[j] >= tau * others[j]:
                held += fixed[j]
            else:
                free += others[j]
        before, tau = tau, ((total - held) / free if free > 0.0 else 0.0)
        if tau >= before:
            break
    for j in range(size):
        x[j] = max(fixed[j], tau * others[j])


@inlined
def _at_level(
    fixed: FloatArray,
    share: FloatArray,
    others: FloatArray,
    size: int,
    low: float,
    high: float,
    total: float,
    guess: float,
    x: FloatArray,
) -> float:
    """Fill the best block for given bounds of t; returns tau."""
    below, above = 0.0, math.inf
    tau = guess
    for _ in range(100):
        held, free, nearest, furthest = 0.0, 0.0, math.inf, 0.0
        for j in range(size):
            least, most, wanted = fixed[j] + share[j] * low, fixed[j] + share[j] * high, tau * others[j]
            if wanted <= least:
                held += least
                nearest = min(nearest, least / others[j])
            elif wanted >= most:
                held += most
                furthest = max(furthest, most / others[j])
            else:
                free += others[j]
        miss = held + tau * free - total
        if abs(miss) <= 1e-15 * total:
            break
        if miss < 0.0:
            below = tau
            tau = (total - held) / free if free > 0.0 else nearest * (1.0 + 1e-12)
        else:
            above = tau
            tau = (total - held) / free if free > 0.0 else furthest * (1.0 - 1e-12)
        if not below < tau < above:
            if above == math.inf:
                break  # all are at their upper bounds
            tau = 0.5 * (below + above)
            if tau <= below or tau >= above:
                break
    for j in range(size):
        x[j] = min(max(tau * others[j], fixed[j] + share[j] * low), fixed[j] + share[j] * high)
    return tau


@inlined
def _best_block(
    fixed: FloatArray, share: FloatArray, others: FloatArray, size: int, factor: float, start: float, x: FloatArray
) -> float:
    """Fill the best block of three cells or more; `start` is a guess of L, and the L that was found is returned."""
    total, all_others = 0.0, 0.0
    for j in range(size):
        total += fixed[j] + share[j]
        all_others += others[j]
    tau, level = total / all_others, start
    low, high, slope_low, slope_high = 1.0 / factor, 1.0, 0.0, 0.0
    side = 0
    for _ in range(_MOST_TRIALS):
        tau = _at_level(fixed, share, others, size, level, factor * level, total, tau, x)
        common, slope, scale = tau / (1.0 + tau), 0.0, 0.0
        for j in range(size):
            wanted = tau * others[j]
            if share[j] > 0.0 and x[j] != wanted:
                apart = share[j] * math.log(x[j] / (others[j] + x[j]) / common)
                slope += apart if x[j] > wanted else factor * apart
                scale += abs(apart) if x[j] > wanted else factor * abs(apart)
        if abs(slope) <= 1e-9 * scale:
            break
        if slope > 0.0:
            high, slope_high = level, slope
            slope_low = 0.5 * slope_low if side == 1 else slope_low
            side = 1
        else:
            low, slope_low = level, slope
            slope_high = 0.5 * slope_high if side == -1 else slope_high
            side = -1
        if high - low <= 1e-9 * high:
            break
        if slope_low < 0.0 < slope_high:
            level = (low * slope_high - high * slope_low) / (slope_high - slope_low)
        else:
            level = math.sqrt(low * high)
    return level


@inlined
def fill_shares(
    centre: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    rows: FloatArray,
    columns: FloatArray,
    share_of_rows: FloatArray,
    share_of_columns: FloatArray,
) -> None:
    """Fill what each cell gets of the missing values of its row and column, as at the centre, and the centre's sums."""
    r, s = centre.shape
    rows[:], columns[:] = 0.0, 0.0
    for i in range(r):
        for j in range(s):
            rows[i] += centre[i, j]
            columns[j] += centre[i, j]
    for i in range(r):
        for j in range(s):
            own = centre[i, j] / rows[i] if rows[i] > 0.0 else 1.0 / s
            share_of_rows[i, j] = row_only[i] * own
            own = centre[i, j] / columns[j] if columns[j] > 0.0 else 1.0 / r
            share_of_columns[i, j] = column_only[j] * own


@compiled
def least(
    seen: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    centre: FloatArray,
    factor: float,
    limit: FloatArray,
    result: FloatArray,
) -> None:
    """Fill the least I of each table (tables, r, s) within the factor.

    `limit` is NaN where I is wanted; otherwise only whether it exceeds the limit is, and the search ends earlier.
    """
    tables, r, s = seen.shape
    side = max(r, s)
    p, of_rows, of_columns = np.empty((r, s)), np.empty((r, s)), np.empty((r, s))
    share_of_rows, share_of_columns = np.empty((r, s)), np.empty((r, s))
    rows, columns, levels_of_rows, levels_of_columns = np.empty(r), np.empty(s), np.empty(r), np.empty(s)
    fixed, share, others, x = np.empty(side), np.empty(side), np.empty(side), np.empty(side)
    for table in range(tables):
        o, a, b, middle = seen[table], row_only[table], column_only[table], centre[table]
        fill_shares(middle, a, b, rows, columns, share_of_rows, share_of_columns)
        for i in range(r):
            for j in range(s):
                of_rows[i, j], of_columns[i, j] = share_of_rows[i, j], share_of_columns[i, j]
                p[i, j] = o[i, j] + of_rows[i, j] + of_columns[i, j]
        value = information(p, rows, columns)
        levels_of_rows[:], levels_of_columns[:] = 1.0 / math.sqrt(factor), 1.0 / math.sqrt(factor)
        threshold, fall = limit[table], math.inf
        for _ in range(_MOST_PASSES if factor > 1.0 else 0):
            if value <= threshold or value <= _EXACT:
                break
            for which in range(2):
                transposed = which == 1
                blocks, size = (s, r) if transposed else (r, s)
                only, sums = (b, rows) if transposed else (a, columns)
                moved, rest_moved = (of_columns, of_rows) if transposed else (of_rows, of_columns)
                shares, levels = (
                    (share_of_columns, levels_of_columns) if transposed else (share_of_rows, levels_of_rows)
                )
                for block in range(blocks):
                    if only[block] <= 0.0:
                        continue
                    for k in range(size):
                        i, j = (k, block) if transposed else (block, k)
                        fixed[k], share[k] = o[i, j] + rest_moved[i, j], shares[i, j]
                        others[k] = max(sums[k] - p[i, j], _NO_OTHERS)
                    if size == 2:
                        _pair(fixed, share, others, factor, x)
                    elif factor == math.inf:
                        _fill_up(fixed, share, others, size, x)
                    else:
                        levels[block] = _best_block(fixed, share, others, size, factor, levels[block], x)
                    for k in range(size):
                        i, j = (k, block) if transposed else (block, k)
                        sums[k] += x[k] - p[i, j]
                        moved[i, j], p[i, j] = x[k] - fixed[k], x[k]
                if not transposed:
                    for i in range(r):
                        rows[i] = 0.0
                        for j in range(s):
                            rows[i] += p[i, j]
            before, fall_before = value, fall
            value = min(information(p, rows, columns), before)
            fall = before - value
            # The passes fall like a geometric series: what is still to come is a few times the last.
            rate = min(fall / fall_before, 0.99) if fall_before > 0.0 else 0.0
            rest = 4.0 * fall * rate / (1.0 - rate) if fall_before < math.inf else math.inf
            if rest <= _EXACT or fall <= 1e-15 or (value - rest > threshold):
                break
        result[table] = value
