"""Weights and moments of the adaptive prior's components if both sides have missing values (see `adaptive_prior`).

Rows that lack one side inform about the other side's margin, and both margins together inform about dependence. With
c_ij = n_ij + K a_i b_j, m_i and k_j the rows that lack the feature or the target, and Z(c, m, k) the integral of
prod pi_ij^(c_ij - 1) prod x_i^m_i prod y_j^k_j over the simplex (x, y the margins of pi), the evidence of all rows
relative to independence is that of the complete rows, log B_K of `evidence`, plus

    D_K = log Z(c, m, k) - log Z(c, m, 0) - log Z(c, 0, k) + log Z(c, 0, 0),

the log of E[X Y]/(E[X] E[Y]) for X = prod x_i^m_i, Y = prod y_j^k_j and pi ~ Dirichlet(c). It is 0 where one side is
complete, and tends to 0 as K grows. The last three are known; the first is computed by Laplace's formula in
log-probabilities, at the mode of `mode` with the factor of `information_matrix`, and corrected as in
`credimi.inference.posterior`. (Where that does not do, D_K is an exact sum, if it has few terms: see `allocation_sum`.)
The corrections of cells and margins cancel. This leaves, with C, M, k the sums of c, m, k and d Stirling's error of
log Gamma,

    D_K = sum c_ij log [(pi_ij/c_ij) (c_i+/(c_i+ + m_i)) (c_+j/(c_+j + k_j)) (C + M)(C + k)/C]
          + sum m_i log [x_i (C + M)/(c_i+ + m_i)] + sum k_j log [y_j (C + k)/(c_+j + k_j)]
          - (1/2) [sum log(1 + a_i V_i/x_i) + log det W - sum log y_j
                   - sum log(1 + m_i/c_i+) - sum log(1 + k_j/c_+j) - log((C + M + k) C/((C + M)(C + k)))]
          + d(C + M) + d(C + k) - d(C + M + k) - d(C) .

Each point of the grid needs one mode and one factor, O(r s^2 + s^3), which serve the moments as well. Most points have
a negligible weight and are skipped: D is interpolated between points where it is known, and computed next where the
interpolated score is highest, until it is known for all points that may have some weight.

Strata of one candidate share K: log B_K and D_K are summed over them, and D_K is 0 for those with a complete side.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import (
    BooleanArray,
    FloatArray,
    IntegerArray,
    NumberArray,
    Workspace,
    compiled,
    inlined,
)
from credimi.core.table_patterns import BOTH, pattern_of
from credimi.inference.evidence.adaptive_weights import (
    MAX_ZOOMS,
    fill_grid,
    fill_sums,
    finer_grid,
    grid_ratio,
    grid_size,
    has_very_many_cells,
    highest,
    is_peaked,
    settle,
    shares,
)
from credimi.inference.evidence.allocation_sum import MAX_DOUBT, doubt, exact_evidence, factor_is_lost, may_be_off
from credimi.inference.mode.find import find_mode
from credimi.inference.moments import information_matrix as at
from credimi.inference.moments import one_sided
from credimi.inference.moments.information_matrix import workspace
from credimi.inference.moments.many_tables import load_into
from credimi.inference.moments.two_sided import MAX_DOUBTFUL, doubtful_probability, moments_at_mode
from credimi.inference.special_functions import LANES, logarithm, stirling_tail

# These are no literals: Numba would compile the functions that take them once more for each literal.
_RELIABLE, _ROWS_GIVEN, _COLUMNS_GIVEN = np.array([False, False, True])  # every component needs moments
_MAX_GAP = 14.0  # a point further below the best has no weight, even if its interpolated score is some nats off
_MAX_DIFFERENCE = 12.0  # between known points that differ by more, interpolation is not trusted
_MIN_SPACING = 2  # points: between known points that are closer, it is trusted


@compiled
def _margins_evidence(work: Workspace) -> float:
    """D_K, from the results of `find_mode`; 0 if the factor was lost to rounding."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_only, column_only, row_slope = (
        work.rows[at.ROW_ONLY],
        work.columns[at.COLUMN_ONLY],
        work.rows[at.ROW_SLOPE],
    )
    row_sums, column_sums = work.rows[at.ROW_STEP], work.columns[at.COLUMN_STEP]
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
            ratio = probability[i, j] / counts[i, j] * given_row * share
            likelihood += counts[i, j] * logarithm(ratio)
            row_scale += work.cells[at.SCALE, i, j]
        likelihood += row_only[i] * logarithm(work.rows[at.ROW_SUM, i] * with_rows / (row_sums[i] + row_only[i]))
        determinant += logarithm(1.0 + row_slope[i] * row_scale / work.rows[at.ROW_SUM, i])
        determinant -= logarithm(1.0 + row_only[i] / row_sums[i])
    for j in range(columns):
        likelihood += column_only[j] * logarithm(
            work.columns[at.COLUMN_SUM, j] * with_columns / (column_sums[j] + column_only[j])
        )
        if not work.squares[at.FACTOR, j, j] > 0.0:
            return 0.0
        determinant -= 2.0 * logarithm(work.squares[at.FACTOR, j, j]) + logarithm(work.columns[at.COLUMN_SUM, j])
        determinant -= logarithm(1.0 + column_only[j] / column_sums[j])
    stirling_terms = _stirling_error(with_rows) + _stirling_error(with_columns)
    stirling_terms -= _stirling_error(all_rows) + _stirling_error(total)
    return float(likelihood - 0.5 * determinant + stirling_terms)


@inlined
def _load_component(
    work: Workspace, flat: NumberArray, start: int, rows: int, columns: int, strength: float, margins: FloatArray
) -> Workspace:
    """The workspace with the counts of one component, n_ij + K a_i b_j; `margins` has a and b."""
    work = load_into(work, flat, start, 0.0, rows, columns)
    counts = work.cells[at.COUNTS]
    of_rows, of_columns = (margins[3], margins[2]) if columns > rows else (margins[2], margins[3])
    for i in range(counts.shape[0]):
        pseudo = strength * of_rows[i]
        for j in range(counts.shape[1]):
            counts[i, j] += pseudo * of_columns[j]
    return work


@compiled
def _moments_one_side_at_a_time(total: float, work: Workspace) -> tuple[float, float]:
    """Matched moments if the closed form for both sides does not hold, because many cells have a count near 0.

    The classes get the probabilities x_i of the mode, as precise as N rows make them, and q_ij = pi_ij/x_i, as precise
    as the complete counts of the class make them. This is a table in which only the feature is missing, so that the
    closed form for one side applies. The same is done for the columns; means and variances are averaged.
    """
    mean, variance = 0.0, 0.0
    for turned in (_ROWS_GIVEN, _COLUMNS_GIVEN):
        one_mean, one_variance = _moments_given_side(total, turned, work)
        mean += 0.5 * one_mean
        variance += 0.5 * one_variance
    return mean, variance


@compiled
def _moments_given_side(total: float, turned: bool, work: Workspace) -> tuple[float, float]:
    """Moments of the table in which the rows, or if `turned` the columns, get the probabilities of the mode."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    r, s = counts.shape
    side = max(r, s)
    cells, margin = np.empty(r * s), np.empty(side)
    fields, row_fields, column_fields = np.empty((3, r * s)), np.empty((5, side)), np.empty((7, side))
    if turned:
        r, s = s, r
    for i in range(r):
        row_sum, share = 0.0, work.columns[at.COLUMN_SUM, i] if turned else work.rows[at.ROW_SUM, i]
        for j in range(s):
            row_sum += counts[j, i] if turned else counts[i, j]
        for j in range(s):
            cells[i * s + j] = row_sum * (probability[j, i] if turned else probability[i, j]) / share
        margin[i] = max(total * share - row_sum, 0.0)
    mean, variance, _ = one_sided.matched(cells, margin, r, s, fields, row_fields, column_fields)
    return mean, variance


@inlined
def _stirling_error(x: float) -> float:
    """log Gamma(x) less Stirling's formula, by its series; x is first raised until the series is accurate."""
    error = 0.0
    while x < 16.0:
        error += (x + 0.5) * np.log(1.0 + 1.0 / x) - 1.0
        x += 1.0
    return error + stirling_tail(1.0 / x)


@inlined
def _fill_guesses(guess: FloatArray, known: IntegerArray, points: int) -> None:
    """Interpolate D: linear between known points, constant below the first, and falling to 0 beyond the last."""
    left = -1
    for point in range(points):
        if not known[point] and point < points - 1:
            continue
        if not known[point]:
            guess[point] = 0.0
        for between in range(left + 1, point):
            fraction = (between - left) / (point - left) if left >= 0 else 1.0
            start = guess[left] if left >= 0 else 0.0
            guess[between] = start + fraction * (guess[point] - start)
        left = point


@compiled
def _next_point(
    score: FloatArray, guess: FloatArray, known: IntegerArray, points: int, independence_score: float
) -> int:
    """The point at which to compute D next, -1 if all that may matter are known; `score` is log B of the complete rows.

    It lies between known points whose D differs too much to interpolate. Otherwise it is the point with the highest
    interpolated score among those that are within `_MAX_GAP` of the best, or next to a known point that is.
    """
    best = independence_score
    for point in range(points):
        if known[point]:
            best = max(best, score[point] + guess[point])
    left, chosen, best_guess = -1, -1, -np.inf
    for point in range(points):
        guessed = score[point] + guess[point]
        if known[point] or point == points - 1:
            if left >= 0 and point - left > _MIN_SPACING and abs(guess[point] - guess[left]) > _MAX_DIFFERENCE:
                return (point + left) // 2
            left = point
        if known[point]:
            continue
        below, above = max(point - 1, 0), min(point + 1, points - 1)
        next_to_good = (known[below] and score[below] + guess[below] > best - _MAX_GAP) or (
            known[above] and score[above] + guess[above] > best - _MAX_GAP
        )
        if (next_to_good or guessed > best - _MAX_GAP) and guessed > best_guess:
            chosen, best_guess = point, guessed
    return chosen


@compiled
def _next_beside_top(score: FloatArray, known: IntegerArray) -> int:
    """The first unknown point among the one with the highest score and its neighbours; -1 if all three are known."""
    best = highest(score)
    for point in (best, max(best - 1, 0), min(best + 1, score.size - 1)):
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
    log_odds: FloatArray,
    strengths: FloatArray,
    weights: FloatArray,
    staying: IntegerArray,
    approximate: BooleanArray,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """As `weigh`, for candidates with tables with missing values on both sides; also the moments at points with weight.

    `approximate` says where P(independent) may be off, because Laplace's formula does not do and a sum is too long.
    `mean` and `variance` are (tables of these candidates, one after the other, points); NaN for all other tables.
    """
    max_padded = (weights.shape[1] + LANES - 1) // LANES * LANES
    side, cells = 1, 1
    for candidate in range(starts.size):
        for table in range(starts[candidate], stops[candidate]):
            side = max(side, rows[table], columns[table])
            cells = max(cells, rows[table] * columns[table])
    margins, terms, scratch = np.empty((4, side)), np.empty((3, cells + 2 * side + 1)), np.empty(5 * max_padded)
    guess, doubts = np.empty(max_padded), np.empty(max_padded)
    known = np.empty(max_padded, dtype=np.int64)
    r, s = rows[:0].size, columns[:0].size  # 0, but not a literal: Numba would compile `workspace` once more
    work = workspace(r, s)
    least_weight = np.log(negligible) - 1e-6  # relative to the best
    first_line = 0
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
                mean[first_line + table - first, point] = np.nan
                variance[first_line + table - first, point] = np.nan
        points = grid_size(freedom, weights.shape[1])
        padded = (points + LANES - 1) // LANES * LANES
        lanes = scratch[: 5 * padded].reshape(5, padded)
        log_zero, log_point = np.log(prior_zero), np.log((1.0 - prior_zero) / points)
        least, ratio = loosest, grid_ratio(loosest, tightest, total, tallest, widest, points)
        for zoom in range(MAX_ZOOMS + 1):
            fill_grid(lanes[0], least, ratio)
            fill_sums(flat, offsets, rows, columns, first, after, smoothing, margins, terms, lanes)
            strength, score, total_score = lanes[0], lanes[1], lanes[2, :points]
            for point in range(points):
                known[point] = 0
            point = highest(score[:points])
            best = log_zero - log_point
            scouting = zoom < MAX_ZOOMS and has_very_many_cells(freedom)  # for a narrow peak: then zoom in
            while point >= 0:
                guess[point], doubts[point] = 0.0, 0.0
                for table in range(first, after):
                    start, line = offsets[table], first_line + table - first
                    height, width = rows[table], columns[table]
                    if pattern_of(flat, start, height, width) != BOTH:
                        continue
                    shares(flat, start, height, width, smoothing, margins[0], margins[1], margins[2], margins[3])
                    work = _load_component(work, flat, start, height, width, strength[point], margins)
                    find_mode(work)
                    all_rows, doubtful = doubtful_probability(work)
                    lost = factor_is_lost(all_rows, work)
                    evidence = np.nan
                    in_doubt = MAX_DOUBT if lost else doubt(all_rows, work)
                    if in_doubt > 0.0:
                        evidence = exact_evidence(
                            work.cells[at.COUNTS], work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
                        )
                        doubts[point] += in_doubt if np.isnan(evidence) else 0.0
                    if np.isnan(evidence) and not lost:
                        evidence = _margins_evidence(work)
                    guess[point] += 0.0 if np.isnan(evidence) else evidence
                    if after - first == 1 and score[point] + guess[point] < best + least_weight:
                        mean[line, point], variance[line, point] = 0.0, 0.0  # `settle` will drop it: no moments
                    elif lost or (matched and doubtful > MAX_DOUBTFUL):
                        mean[line, point], variance[line, point] = _moments_one_side_at_a_time(all_rows, work)
                    else:
                        mean[line, point], variance[line, point] = moments_at_mode(work, matched, _RELIABLE)
                known[point] = 1
                best = max(best, score[point] + guess[point])
                _fill_guesses(guess, known, points)
                for index in range(points):
                    total_score[index] = score[index] + guess[index]
                point = _next_beside_top(total_score, known) if scouting else -1
                if point < 0 and not (scouting and is_peaked(total_score, freedom, log_zero - log_point)):
                    scouting = False
                    point = _next_point(score, guess, known, points, log_zero - log_point)
            if zoom == MAX_ZOOMS or not is_peaked(total_score, freedom, log_zero - log_point):
                break
            least, ratio, log_point = finer_grid(strength, total_score, points, ratio, log_point)
        approximate[candidate] = may_be_off(lanes[1], guess, doubts, known, points, log_zero - log_point)
        for point in range(points):
            lanes[1, point] = lanes[2, point] if known[point] else -np.inf
        p_zero[candidate], log_odds[candidate], staying[candidate] = settle(
            lanes[1], lanes[0], log_zero, log_point, negligible, strengths[candidate], weights[candidate], points
        )
        first_line += after - first
