"""The smallest mutual information if values are missing not quite at random: within a factor, for many tables.

A table has what can be observed: the probability o_ij of a row with class i and value j, a_i of a row with class i
whose feature is missing, b_j of a row with value j whose target is missing. Let u_i be the distribution of the missing
values of class i, and v_j that of the missing classes of value j. Then

    pi_ij = o_ij + a_i u_ij + b_j v_ij .

Missing at random means u_ij = pi_ij/pi_i+ and v_ij = pi_ij/pi_+j. `centres` computes this pi, the centre: by EM, or in
closed form if one side is complete. Within the factor G of it,

    u_ij = (centre_ij/centre_i+) t_j,      L <= t_j <= G L for some L,      sum_j u_ij = 1,

and v_j likewise. If G is infinite, u_i and v_j are any distributions.

**One block.** If all but u_i is fixed, the class probabilities do not change, and I is convex in the row x_j = pi_ij =
d_j + e_j t_j, with e_j = a_i centre_ij/centre_i+ and d_j the rest. Up to constants it is
sum_j x_j log x_j - (C_j + x_j) log(C_j + x_j), C_j the sum of column j without the row. Its slope
g_j = log(x_j/(C_j + x_j)) is the same for all j that are at no bound: there x_j = tau C_j. So for given L

    x_j = tau C_j, but at least d_j + e_j L and at most d_j + e_j G L,      tau such that the sum is right,

and the smallest value as a function of L is convex, with slope sum_low e_j (g_j - g) + G sum_high e_j (g_j - g), where
g = log(tau/(1 + tau)) and the sums go over the j at their lower and at their upper bound. L is where this slope is 0.
With two values there is only one number to choose, and it has a closed form. If G is infinite, only tau is needed.

**All blocks in turn**, rows and then columns, until I no longer falls. If one side is complete, I is convex in all
blocks together, and the result is the smallest I. If both have missing values, only an infinite factor is asked for:
for others, `both_missing` compares odds in another way. Then I is convex in the rows and convex in the columns, but not
in both together, and the blocks lead from the centre to a local minimum.

The cost is O(rs) a pass; there are about ten passes.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, compiled, inlined

_MAX_CHANGE = 1e-13  # of the centre, in the last step of EM
_MAX_STEPS = 3_000  # of EM
_MIN_OTHERS = 1e-30  # instead of 0, for a column without other rows
_MAX_PASSES = 2_000
_MAX_TRIALS = 80  # for L
_MAX_ERROR = 1e-10  # of I


@compiled
def centres(seen: FloatArray, row_only: FloatArray, column_only: FloatArray, centre: FloatArray) -> None:
    """Fill the probabilities of the cells (tables, r, s) if values are missing at random."""
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
        for i in range(r):  # the start; a class without complete rows gets the distribution of all rows
            complete = max(rows[i] - a[i], 0.0)
            for j in range(s):
                if by_row and not by_column and complete > 0.0:
                    p[i, j] = o[i, j] * (rows[i] / complete)
                else:
                    complete_of_value = columns[j] - b[j]
                    p[i, j] = o[i, j] + a[i] * (complete_of_value / total if total > 0.0 else 1.0 / s)
                    if by_column and not by_row:
                        p[i, j] = (
                            o[i, j] * (columns[j] / complete_of_value)
                            if complete_of_value > 0.0
                            else b[j] * (complete / total)
                        )
                    elif by_column:
                        p[i, j] += b[j] * (complete / total if total > 0.0 else 1.0 / r)
        steps = _MAX_STEPS if by_row and by_column else 0
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
                    updated = o[i, j] + p[i, j] * (rows[i] + columns[j])
                    change = max(change, abs(updated - p[i, j]))
                    p[i, j] = updated
            if change < _MAX_CHANGE:
                break


@inlined
def information(p: FloatArray, rows: FloatArray, columns: FloatArray) -> float:
    """I of probabilities that sum to 1; also fills their margins."""
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
def _best_pair(fixed: FloatArray, share: FloatArray, others: FloatArray, factor: float, x: FloatArray) -> None:
    """Fill the best block of two cells."""
    first, second = share[0], share[1]
    smallest, largest = 0.0, first + second
    if factor < math.inf:
        largest = (first + second) * factor * first / (factor * first + second) if first > 0.0 else 0.0
        smallest = (first + second) * first / (first + factor * second) if first > 0.0 else 0.0
    total = fixed[0] + fixed[1] + first + second
    unbounded = total * others[0] / (others[0] + others[1])
    x[0] = min(max(unbounded, fixed[0] + smallest), fixed[0] + largest)
    x[1] = total - x[0]


@inlined
def _best_unbounded(fixed: FloatArray, share: FloatArray, others: FloatArray, size: int, x: FloatArray) -> None:
    """Fill the best block if its missing values may have any distribution: x = max(fixed, tau others)."""
    total, all_others = 0.0, 0.0
    for j in range(size):
        total += fixed[j] + share[j]
        all_others += others[j]
    tau = total / all_others  # the sum is convex in tau and too large at first: Newton's method decreases tau
    for _ in range(size + 1):
        held, free = 0.0, 0.0
        for j in range(size):
            if fixed[j] >= tau * others[j]:
                held += fixed[j]
            else:
                free += others[j]
        previous_tau, tau = tau, ((total - held) / free if free > 0.0 else 0.0)
        if tau >= previous_tau:
            break
    for j in range(size):
        x[j] = max(fixed[j], tau * others[j])


@inlined
def _best_at_level(
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
    """Fill the best block for given bounds of t; return tau."""
    below, above = 0.0, math.inf
    tau = guess
    for _ in range(100):
        held, free, nearest, furthest = 0.0, 0.0, math.inf, 0.0
        for j in range(size):
            smallest, largest, unbounded = fixed[j] + share[j] * low, fixed[j] + share[j] * high, tau * others[j]
            if unbounded <= smallest:
                held += smallest
                nearest = min(nearest, smallest / others[j])
            elif unbounded >= largest:
                held += largest
                furthest = max(furthest, largest / others[j])
            else:
                free += others[j]
        error = held + tau * free - total
        if abs(error) <= 1e-15 * total:
            break
        if error < 0.0:
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
    """Fill the best block of three or more cells; return L, for which `start` is a first guess."""
    total, all_others = 0.0, 0.0
    for j in range(size):
        total += fixed[j] + share[j]
        all_others += others[j]
    tau, level = total / all_others, start
    low, high, slope_low, slope_high = 1.0 / factor, 1.0, 0.0, 0.0
    side = 0
    for _ in range(_MAX_TRIALS):
        tau = _best_at_level(fixed, share, others, size, level, factor * level, total, tau, x)
        common, slope, scale = tau / (1.0 + tau), 0.0, 0.0
        for j in range(size):
            unbounded = tau * others[j]
            if share[j] > 0.0 and x[j] != unbounded:
                difference = share[j] * math.log(x[j] / (others[j] + x[j]) / common)
                slope += difference if x[j] > unbounded else factor * difference
                scale += abs(difference) if x[j] > unbounded else factor * abs(difference)
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
    """Fill each cell's part of the missing values of its row and its column at the centre; and the centre's margins."""
    r, s = centre.shape
    rows[:], columns[:] = 0.0, 0.0
    for i in range(r):
        for j in range(s):
            rows[i] += centre[i, j]
            columns[j] += centre[i, j]
    for i in range(r):
        for j in range(s):
            share = centre[i, j] / rows[i] if rows[i] > 0.0 else 1.0 / s
            share_of_rows[i, j] = row_only[i] * share
            share = centre[i, j] / columns[j] if columns[j] > 0.0 else 1.0 / r
            share_of_columns[i, j] = column_only[j] * share


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
    """Fill the smallest I of each table (tables, r, s) within the factor.

    `limit` is NaN if I is wanted; otherwise only whether I exceeds the limit is wanted, and the search ends earlier.
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
        threshold, decrease = limit[table], math.inf
        for _ in range(_MAX_PASSES if factor > 1.0 else 0):
            if value <= threshold or value <= _MAX_ERROR:
                break
            for side_number in range(2):
                transposed = side_number == 1
                blocks, size = (s, r) if transposed else (r, s)
                missing, sums = (b, rows) if transposed else (a, columns)
                assigned, other_assigned = (of_columns, of_rows) if transposed else (of_rows, of_columns)
                shares, levels = (
                    (share_of_columns, levels_of_columns) if transposed else (share_of_rows, levels_of_rows)
                )
                for block in range(blocks):
                    if missing[block] <= 0.0:
                        continue
                    for k in range(size):
                        i, j = (k, block) if transposed else (block, k)
                        fixed[k], share[k] = o[i, j] + other_assigned[i, j], shares[i, j]
                        others[k] = max(sums[k] - p[i, j], _MIN_OTHERS)
                    if size == 2:
                        _best_pair(fixed, share, others, factor, x)
                    elif factor == math.inf:
                        _best_unbounded(fixed, share, others, size, x)
                    else:
                        levels[block] = _best_block(fixed, share, others, size, factor, levels[block], x)
                    for k in range(size):
                        i, j = (k, block) if transposed else (block, k)
                        sums[k] += x[k] - p[i, j]
                        assigned[i, j], p[i, j] = x[k] - fixed[k], x[k]
                if not transposed:
                    for i in range(r):
                        rows[i] = 0.0
                        for j in range(s):
                            rows[i] += p[i, j]
            previous_value, previous_decrease = value, decrease
            value = min(information(p, rows, columns), previous_value)
            decrease = previous_value - value
            # The decreases are like a geometric series: the sum of those to come is a few times the last.
            rate = min(decrease / previous_decrease, 0.99) if previous_decrease > 0.0 else 0.0
            max_rest = 4.0 * decrease * rate / (1.0 - rate) if previous_decrease < math.inf else math.inf
            if max_rest <= _MAX_ERROR or decrease <= 1e-15 or (value - max_rest > threshold):
                break
        result[table] = value
