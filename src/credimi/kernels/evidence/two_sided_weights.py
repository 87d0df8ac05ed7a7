"""Weights and moments of the adaptive prior's components where both sides miss (see `adaptive_prior`).

Rows that lack one side inform about the other side's margin, and together both margins inform about dependence. With
c_ij = n_ij + K a_i b_j, m_i and k_j the rows that lack the feature or the target, and Z(c, m, k) the integral of
prod pi_ij^(c_ij - 1) prod x_i^m_i prod y_j^k_j over the simplex (x, y the margins of pi), the evidence of all rows
relative to independence is that of the complete rows, log B_K of `evidence`, plus

    D_K = log Z(c, m, k) - log Z(c, m, 0) - log Z(c, 0, k) + log Z(c, 0, 0),

the log of E[X Y]/(E[X] E[Y]) for X = prod x_i^m_i, Y = prod y_j^k_j and pi ~ Dirichlet(c). It is 0 where one side is
complete, and tends to 0 as K grows. The last three are known; the first is taken by Laplace's formula in log-chances,
at the mode of `mode` with the factor of `information_matrix`, and corrected as in `credimi.inference.posterior`. The
corrections of cells and margins cancel, which leaves, with C, M, k the sums of c, m, k and d Stirling's error of log
Gamma,

    D_K = sum c_ij log [(pi_ij/c_ij) (c_i+/(c_i+ + m_i)) (c_+j/(c_+j + k_j)) (C + M)(C + k)/C]
          + sum m_i log [x_i (C + M)/(c_i+ + m_i)] + sum k_j log [y_j (C + k)/(c_+j + k_j)]
          - (1/2) [sum log(1 + a_i V_i/x_i) + log det W - sum log y_j
                   - sum log(1 + m_i/c_i+) - sum log(1 + k_j/c_+j) - log((C + M + k) C/((C + M)(C + k)))]
          + d(C + M) + d(C + k) - d(C + M + k) - d(C) .

One mode and one factor a point of the grid, O(r s^2 + s^3), which serve the moments as well. Most points have next to
no weight and are not looked at: D is guessed between points where it is known, and the point with the highest guess is
looked at next, until all that might have some weight are known.

Strata of one candidate share K: log B_K and D_K are summed over them, and D_K is 0 for those with a complete side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.evidence.adaptive_weights import (
    LANES,
    MOST_ZOOMS,
    fill_grid,
    fill_sums,
    grid_ratio,
    grid_size,
    has_very_many_cells,
    highest,
    is_peaked,
    settle,
    shares,
    zoom_in,
)
from credimi.kernels.jit import compiled, inlined
from credimi.kernels.mode.find import find_mode
from credimi.kernels.moments import one_sided
from credimi.kernels.moments.information_matrix import COLUMN_SUM, FACTOR, ROW_SUM, SCALE, workspace
from credimi.kernels.moments.many_tables import BOTH, load, pattern_of
from credimi.kernels.moments.two_sided import MOST_DOUBTFUL, doubtful_chances, moments_at_mode
from credimi.kernels.special import logarithm, stirling_tail

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray, IntegerArray, NumberArray
    from credimi.kernels.moments.information_matrix import Workspace

# Not literals, for each of which Numba would compile what takes them once more.
_RELIABLE, _ROWS_GIVEN, _COLUMNS_GIVEN = np.array([False, False, True])  # moments are wanted of every component
_HOPELESS = 14.0  # so far below the best a point has no weight, even if the guess is some nats off
_STEEP = 12.0  # known points that differ by more are no ground for a guess of what lies between them
_FAR = 2  # points apart: closer ones are
_LEAST_SLACK = 1e-10  # beside N: smaller ones are rounding


@compiled
def _margins_evidence(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    row_sums: FloatArray,
    column_sums: FloatArray,
    work: Workspace,
) -> float:
    """D_K, from what `find_mode` leaves behind; 0 where the factor was lost to rounding."""
    rows, columns = counts.shape
    total, of_rows, of_columns = 0.0, 0.0, 0.0
    for j in range(columns):
        column_sums[j] = 0.0
        of_columns += column_only[j]
    for i in range(rows):
        row_sum = 0.0
        for j in range(columns):
            row_sum += counts[i, j]
            column_sums[j] += counts[i, j]
        row_sums[i] = row_sum
        total += row_sum
        of_rows += row_only[i]
    with_rows, with_columns, all_rows = total + of_rows, total + of_columns, total + of_rows + of_columns
    scale = with_rows * with_columns / total
    likelihood, determinant = 0.0, -np.log(all_rows * total / (with_rows * with_columns))
    for i in range(rows):
        given_row = scale * row_sums[i] / (row_sums[i] + row_only[i])
        row_scale = 0.0
        for j in range(columns):
            share = column_sums[j] / (column_sums[j] + column_only[j])
            ratio = chance[i, j] / counts[i, j] * given_row * share
            likelihood += counts[i, j] * logarithm(ratio)
            row_scale += work.cells[SCALE, i, j]
        likelihood += row_only[i] * logarithm(work.rows[ROW_SUM, i] * with_rows / (row_sums[i] + row_only[i]))
        determinant += logarithm(1.0 + row_slope[i] * row_scale / work.rows[ROW_SUM, i])
        determinant -= logarithm(1.0 + row_only[i] / row_sums[i])
    for j in range(columns):
        likelihood += column_only[j] * logarithm(
            work.columns[COLUMN_SUM, j] * with_columns / (column_sums[j] + column_only[j])
        )
        if not work.squares[FACTOR, j, j] > 0.0:
            return 0.0
        determinant -= 2.0 * logarithm(work.squares[FACTOR, j, j]) + logarithm(work.columns[COLUMN_SUM, j])
        determinant -= logarithm(1.0 + column_only[j] / column_sums[j])
    put_back = _stirling_error(with_rows) + _stirling_error(with_columns)
    put_back -= _stirling_error(all_rows) + _stirling_error(total)
    return float(likelihood - 0.5 * determinant + put_back)


@compiled
def _factor_is_lost(counts: FloatArray, chance: FloatArray, total: float) -> bool:
    """Whether rounding leaves nothing of the factor, because margins alone hold a cell.

    Its slack c/pi = N - m_i/x_i - k_j/y_j is then a difference of numbers near N, with less than six digits. Such a
    cell has next to no weight in the prior, and D is near 0 unless both margins are large.
    """
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            if counts[i, j] < _LEAST_SLACK * total * chance[i, j]:
                return True
    return False


@compiled
def _moments_one_side_at_a_time(
    counts: FloatArray, chance: FloatArray, total: float, work: Workspace
) -> tuple[float, float]:
    """Matched moments where the closed form for both sides does not hold, because many cells hold next to no count.

    The classes are given the chances x_i of the mode, as well known as N rows make them, and q_ij = pi_ij/x_i, as well
    known as the complete counts of the class make it: a table in which only the feature is missing, so that the closed
    form for one side applies. The same for the columns; means and variances are averaged.
    """
    mean, variance = 0.0, 0.0
    for turned in (_ROWS_GIVEN, _COLUMNS_GIVEN):
        one_mean, one_variance = _moments_given_side(counts, chance, total, turned, work)
        mean += 0.5 * one_mean
        variance += 0.5 * one_variance
    return mean, variance


@compiled
def _moments_given_side(
    counts: FloatArray, chance: FloatArray, total: float, turned: bool, work: Workspace
) -> tuple[float, float]:
    """Those of the table in which the rows, or if `turned` the columns, are given the chances of the mode."""
    r, s = counts.shape
    side = max(r, s)
    cells, margin = np.empty(r * s), np.empty(side)
    fields, row_fields, column_fields = np.empty((3, r * s)), np.empty((5, side)), np.empty((7, side))
    if turned:
        r, s = s, r
    for i in range(r):
        row_sum, share = 0.0, work.columns[COLUMN_SUM, i] if turned else work.rows[ROW_SUM, i]
        for j in range(s):
            row_sum += counts[j, i] if turned else counts[i, j]
        for j in range(s):
            cells[i * s + j] = row_sum * (chance[j, i] if turned else chance[i, j]) / share
        margin[i] = max(total * share - row_sum, 0.0)
    mean, variance, _ = one_sided.matched(cells, margin, r, s, fields, row_fields, column_fields)
    return mean, variance


@inlined
def _stirling_error(x: float) -> float:
    """log Gamma(x) less Stirling's formula, by its series, for which x is raised to where it holds."""
    error = 0.0
    while x < 16.0:
        error += (x + 0.5) * np.log(1.0 + 1.0 / x) - 1.0
        x += 1.0
    return error + stirling_tail(1.0 / x)


@inlined
def _fill_guesses(guess: FloatArray, known: IntegerArray, points: int) -> None:
    """Between known points D is guessed to be linear, below the first constant, and beyond the last to fall to 0."""
    left = -1
    for point in range(points):
        if not known[point] and point < points - 1:
            continue
        if not known[point]:
            guess[point] = 0.0
        for between in range(left + 1, point):
            part = (between - left) / (point - left) if left >= 0 else 1.0
            start = guess[left] if left >= 0 else 0.0
            guess[between] = start + part * (guess[point] - start)
        left = point


@compiled
def _next_point(score: FloatArray, guess: FloatArray, known: IntegerArray, points: int, rival: float) -> int:
    """The point to look at next, -1 where all that may matter are known; `score` is log B of the complete rows.

    That is one between points whose D is too different for a guess, or the most promising beside a good point or above
    the hopeless.
    """
    best = rival
    for point in range(points):
        if known[point]:
            best = max(best, score[point] + guess[point])
    left, chosen, promise = -1, -1, -np.inf
    for point in range(points):
        guessed = score[point] + guess[point]
        if known[point] or point == points - 1:
            if left >= 0 and point - left > _FAR and abs(guess[point] - guess[left]) > _STEEP:
                return (point + left) // 2
            left = point
        if known[point]:
            continue
        below, above = max(point - 1, 0), min(point + 1, points - 1)
        beside = (known[below] and score[below] + guess[below] > best - _HOPELESS) or (
            known[above] and score[above] + guess[above] > best - _HOPELESS
        )
        if (beside or guessed > best - _HOPELESS) and guessed > promise:
            chosen, promise = point, guessed
    return chosen


@compiled
def _next_beside_top(total: FloatArray, known: IntegerArray) -> int:
    """The point with the highest score or one beside it, whichever is not known yet; -1 where all three are."""
    top = highest(total)
    for point in (top, max(top - 1, 0), min(top + 1, total.size - 1)):
        if not known[point]:
            return point
    return -1


@compiled
def weigh_two_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    starts: IntegerArray,
    stops: IntegerArray,
    smoothing: float,
    loosest: float,
    tightest: float,
    prior_zero: float,
    negligible: float,
    matched: bool,
    p_zero: FloatArray,
    strengths: FloatArray,
    weights: FloatArray,
    staying: IntegerArray,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """As `weigh`, of candidates with tables that miss values on both sides; also their moments at points that stay.

    `mean` and `variance`, (tables of all these candidates one after the other, points), are NaN for the other tables.
    """
    most = (weights.shape[1] + LANES - 1) // LANES * LANES
    side, cells = 1, 1
    for candidate in range(starts.size):
        for table in range(starts[candidate], stops[candidate]):
            side = max(side, rows[table], columns[table])
            cells = max(cells, rows[table] * columns[table])
    margins, terms, room = np.empty((4, side)), np.empty((3, cells + 2 * side + 1)), np.empty(5 * most)
    guess, known, sums = np.empty(most), np.empty(most, dtype=np.int64), np.empty((2, side))
    r, s = rows[:0].size, columns[:0].size  # 0, but no literal: Numba would compile `workspace` once more for it
    table_cells, counts, chance, fields = np.empty(0), np.empty((0, 0)), np.empty((0, 0)), np.empty((2, 0, 0))
    row_only, column_only, row_slope, column_slope = np.empty(0), np.empty(0), np.empty(0), np.empty(0)
    work = workspace(r, s)
    least_weight = np.log(negligible) - 1e-6  # beside the best
    place = 0
    for candidate in range(starts.size):
        first, after = starts[candidate], stops[candidate]
        tallest, widest, freedom, total = 1, 1, 0, 0.0
        for table in range(first, after):
            height, width = rows[table], columns[table]
            tallest, widest = max(tallest, height), max(widest, width)
            freedom += (height - 1) * (width - 1)
            total += shares(
                flat, offsets[table], height, width, smoothing, margins[0], margins[1], margins[2], margins[3]
            )
            for point in range(weights.shape[1]):
                mean[place + table - first, point] = np.nan
                variance[place + table - first, point] = np.nan
        points = grid_size(freedom, weights.shape[1])
        padded = (points + LANES - 1) // LANES * LANES
        lanes = room[: 5 * padded].reshape(5, padded)
        log_zero, log_point = np.log(prior_zero), np.log((1.0 - prior_zero) / points)
        least, ratio = loosest, grid_ratio(loosest, tightest, total, tallest, widest, points)
        for zoom in range(MOST_ZOOMS + 1):
            fill_grid(lanes[0], least, ratio)
            fill_sums(flat, offsets, rows, columns, first, after, smoothing, margins, terms, lanes)
            strength, score, whole = lanes[0], lanes[1], lanes[2, :points]
            for point in range(points):
                known[point] = 0
            point = highest(score[:points])
            best = log_zero - log_point
            scouting = zoom < MOST_ZOOMS and has_very_many_cells(freedom)  # for a peak that is narrow: then zoom in
            while point >= 0:
                guess[point] = 0.0
                for table in range(first, after):
                    start, own = offsets[table], place + table - first
                    height, width = rows[table], columns[table]
                    if pattern_of(flat, start, height, width) != BOTH:
                        continue
                    transpose = width > height
                    r, s = (width, height) if transpose else (height, width)
                    if chance.shape != (r, s):
                        table_cells, counts, chance, fields = (
                            np.empty(r * s),
                            np.empty((r, s)),
                            np.empty((r, s)),
                            np.empty((2, r, s)),
                        )
                        row_only, column_only = np.empty(r), np.empty(s)
                        row_slope, column_slope = np.empty(r), np.empty(s)
                        work = workspace(r, s)
                    load(flat, start, 0.0, transpose, r, s, table_cells, row_only, column_only)
                    shares(flat, start, height, width, smoothing, margins[0], margins[1], margins[2], margins[3])
                    of_rows, of_columns = (margins[3], margins[2]) if transpose else (margins[2], margins[3])
                    for i in range(r):
                        pseudo = strength[point] * of_rows[i]
                        for j in range(s):
                            counts[i, j] = table_cells[i * s + j] + pseudo * of_columns[j]
                    find_mode(counts, row_only, column_only, chance, row_slope, column_slope, work)
                    all_rows, doubtful = doubtful_chances(counts, row_only, column_only, chance, work)
                    lost = _factor_is_lost(counts, chance, all_rows)
                    if not lost:
                        guess[point] += _margins_evidence(
                            counts, row_only, column_only, chance, row_slope, sums[0], sums[1], work
                        )
                    if after - first == 1 and score[point] + guess[point] < best + least_weight:
                        mean[own, point], variance[own, point] = 0.0, 0.0  # `settle` will drop it: no moments
                    elif lost or (matched and doubtful > MOST_DOUBTFUL):
                        mean[own, point], variance[own, point] = _moments_one_side_at_a_time(
                            counts, chance, all_rows, work
                        )
                    else:
                        mean[own, point], variance[own, point] = moments_at_mode(
                            counts,
                            row_only,
                            column_only,
                            chance,
                            row_slope,
                            column_slope,
                            work,
                            fields,
                            matched,
                            _RELIABLE,
                        )
                known[point] = 1
                best = max(best, score[point] + guess[point])
                _fill_guesses(guess, known, points)
                for each in range(points):
                    whole[each] = score[each] + guess[each]
                point = _next_beside_top(whole, known) if scouting else -1
                if point < 0 and not (scouting and is_peaked(whole, freedom, log_zero - log_point)):
                    scouting = False
                    point = _next_point(score, guess, known, points, log_zero - log_point)
            if zoom == MOST_ZOOMS or not is_peaked(whole, freedom, log_zero - log_point):
                break
            least, finer = zoom_in(strength, whole, points)
            log_point += np.log(np.log(finer) / np.log(ratio))
            ratio = finer
        for point in range(points):
            lanes[1, point] = lanes[2, point] if known[point] else -np.inf
        p_zero[candidate], staying[candidate] = settle(
            lanes[1], lanes[0], log_zero, log_point, negligible, strengths[candidate], weights[candidate], points
        )
        place += after - first
