"""Weights of the adaptive prior's components, and the tables of those with weight (see `adaptive_prior`).

With a_i, b_j the shares of the margins and K the strength, the parameters of a table's Dirichlets are K a_i b_j, K a_i
and K b_j. With `special.log_rise` for the rising factorials, the evidence relative to independence is

    log B_K = R(K, n) + sum_ij R(K a_i b_j, n_ij) - sum_i R(K a_i, n_i+) - sum_j R(K b_j, n_+j),     R = log_rise,

because the terms that log_rise omits, n log K + sum n_ij log(a_i b_j) - ..., add up to exactly 0. So no large terms
cancel, however many rows there are.

Tables may be strata of one candidate, with one K for all of them: then log B_K is summed over them. Because a_i and b_j
are learned from the same rows, B_K is a little above 1 on average under independence. This excess is negligible for
one table, but adds up over hundreds of thin strata, and is subtracted from each (`excess_evidence`).

Counts of 0 and 1 have log_rise 0. Small whole counts are multiplied out, and one logarithm serves many cells. The cost
is O(rs) a point of the grid.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NumberArray, compiled, inlined
from credimi.core.table_patterns import BOTH, CONSTANT, pattern_of
from credimi.inference.evidence.excess_evidence import subtract_excess
from credimi.inference.special_functions import (
    LANES,
    add_rise,
    is_multiplied_out,
    multiply,
    take_logarithms,
)

BOTH_SIDES_MISS = -1  # instead of the number of points with weight
_MANY_CELLS = 16  # degrees of freedom of a table, or of all strata
_VERY_MANY_CELLS = 80
_SHARP_BEND = (
    5.0  # second difference of log B at which a step is 2.2 deviations: a sum over the grid is then no integral
)
MAX_ZOOMS = 8


@inlined
def shares(
    flat: NumberArray,
    start: int,
    r: int,
    s: int,
    smoothing: float,
    by_class: FloatArray,
    by_value: FloatArray,
    classes: FloatArray,
    values: FloatArray,
) -> float:
    """Fill the margins n_i+, n_+j and the shares a_i, b_j, which include rows that lack the other side; return n."""
    for j in range(s):
        by_value[j] = 0.0
    total, class_total, value_total = 0.0, 0.0, 0.0
    for i in range(r):
        row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
        row_sum = 0.0
        for j in range(s):
            row_sum += row[j]
            by_value[j] += row[j]
        by_class[i] = row_sum
        classes[i] = row_sum + row[s] + smoothing
        class_total += classes[i]
        total += row_sum
    for j in range(s):
        values[j] = by_value[j] + flat[start + r * (s + 1) + j] + smoothing
        value_total += values[j]
    for i in range(r):
        classes[i] /= class_total
    for j in range(s):
        values[j] /= value_total
    return total


@inlined
def grid_size(freedom: int, max_points: int) -> int:
    """The number of points of the grid; fewer than the maximum if cells are few, and components wide beside a step."""
    return max_points if freedom >= _MANY_CELLS else max_points * 2 // 3


@inlined
def grid_ratio(loosest: float, tightest: float, total: float, r: int, s: int, points: int) -> float:
    """The ratio of neighbours on the grid of K."""
    ratio: float = (tightest * min(r, s) * max(total, np.float64(r * s)) / loosest) ** (1.0 / max(points - 1, 1))
    return ratio


@inlined
def highest(score: FloatArray) -> int:
    """The index of the highest score, the first if several are equal."""
    best = 0
    for point in range(1, score.size):
        if score[point] > score[best]:
            best = point
    return best


@inlined
def has_very_many_cells(freedom: int) -> bool:
    """Whether the evidence may be a peak that falls between two points of the grid."""
    return freedom >= _VERY_MANY_CELLS


@inlined
def is_peaked(score: FloatArray, freedom: int, independence_score: float) -> bool:
    """Whether the scores have a peak that is narrow beside a step of the grid, and has a weight that matters."""
    if not has_very_many_cells(freedom):
        return False
    top = min(max(highest(score), 1), score.size - 2)
    bend = score[top - 1] - 2.0 * score[top] + score[top + 1]
    return bool(bend < -_SHARP_BEND and score[top] > independence_score - 40.0)


@compiled
def fill_scores(
    flat: NumberArray,
    start: int,
    r: int,
    s: int,
    total: float,
    margins: FloatArray,
    terms: FloatArray,
    lanes: FloatArray,
) -> None:
    """Fill log B_K of the complete rows for every strength K in `lanes[0]`, a whole number of `LANES`, into `lanes[1]`.

    `margins` (4, side) is filled by `shares`; `terms` (3, rs + r + s + 1) and the rest of `lanes` (4, points) are
    scratch.
    """
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    signs, parts, counts = terms[0], terms[1], terms[2]
    strength, score, inverse, product = lanes[0], lanes[1], lanes[2], lanes[3]
    for point in range(strength.size):
        inverse[point] = 1.0 / strength[point]
        score[point] = 0.0
        product[point] = 1.0
    signs[0], parts[0], counts[0] = 1.0, 1.0, total
    term_count = 1
    for i in range(r):
        signs[term_count], parts[term_count], counts[term_count] = -1.0, classes[i], by_class[i]
        term_count += 1
    for j in range(s):
        signs[term_count], parts[term_count], counts[term_count] = -1.0, values[j], by_value[j]
        term_count += 1
    for i in range(r):
        row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
        for j in range(s):
            n, part = np.float64(row[j]), classes[i] * values[j]
            if is_multiplied_out(n, inverse[0], part):
                multiply(product, inverse, score, part, n, 1.0)
            else:
                signs[term_count], parts[term_count], counts[term_count] = 1.0, part, n
                term_count += 1
    take_logarithms(product, score, 1.0)
    for term in range(term_count):
        add_rise(score, strength, parts[term], counts[term], signs[term])


@inlined
def fill_sums(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    first: int,
    after: int,
    smoothing: float,
    margins: FloatArray,
    terms: FloatArray,
    lanes: FloatArray,
) -> None:
    """Fill `lanes[1]` with the sum over the strata from `first` up to `after`; of several, each less its excess."""
    sums = lanes[4]
    for point in range(sums.size):
        sums[point] = 0.0
    for table in range(first, after):
        r, s = rows[table], columns[table]
        total = shares(flat, offsets[table], r, s, smoothing, margins[0], margins[1], margins[2], margins[3])
        fill_scores(flat, offsets[table], r, s, total, margins, terms, lanes)
        if after - first > 1:
            both_missing = pattern_of(flat, offsets[table], r, s) == BOTH
            subtract_excess(total, margins, r, s, both_missing, lanes[0], lanes[1])
        for point in range(sums.size):
            sums[point] += lanes[1, point]
    for point in range(sums.size):
        lanes[1, point] = sums[point]


@inlined
def fill_grid(strength: FloatArray, least: float, ratio: float) -> None:
    """Fill the strengths from `least` on; each is `ratio` times the one before."""
    for point in range(strength.size):
        strength[point] = least
        least *= ratio


@inlined
def finer_grid(
    strength: FloatArray, score: FloatArray, points: int, ratio: float, log_point: float
) -> tuple[float, float, float]:
    """A finer grid around the highest score: its first strength, its ratio, and the log of a point's weight."""
    top = highest(score[:points])
    begin, end = max(top - 2, 0), min(top + 2, points - 1)
    finer = (strength[end] / strength[begin]) ** (1.0 / (points - 1))
    return strength[begin], finer, log_point + np.log(np.log(finer) / np.log(ratio))


@inlined
def log_mean(evidence: FloatArray, points: int, log_point: float) -> float:
    """log of the mean of exp(evidence) over the first points; `log_point` is the logarithm of a point's weight."""
    largest = evidence[highest(evidence[:points])]
    total = 0.0
    for point in range(points):
        total += np.exp(evidence[point] - largest)
    result: float = largest + np.log(total) + log_point
    return result


@inlined
def settle(
    score: FloatArray,
    strength: FloatArray,
    log_zero: float,
    log_point: float,
    negligible: float,
    strengths: FloatArray,
    weights: FloatArray,
    points: int,
) -> tuple[float, float, int]:
    """Turn the scores of one table into weights; return that of independence, log odds, and how many have weight.

    The log odds are those of dependence. They are finite even if the weight of independence is 0 in doubles.
    """
    best = log_zero
    for point in range(points):
        score[point] += log_point
        best = max(best, score[point])
    zero_weight = np.exp(log_zero - best)
    total = zero_weight
    for point in range(points):
        score[point] = np.exp(score[point] - best)
        total += score[point]
    smallest_kept = negligible * total
    total, of_dependence, staying = zero_weight, 0.0, 0
    for point in range(points):
        score[point] = score[point] if score[point] >= smallest_kept else 0.0
        total += score[point]
        of_dependence += score[point]
    for point in range(points):
        strengths[point] = strength[point]
        weights[point] = score[point] / total
        staying += weights[point] > 0.0
    for point in range(points, weights.size):
        weights[point] = 0.0
    return zero_weight / total, np.log(of_dependence) + best - log_zero, staying


@compiled
def weigh(
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
    p_zero: FloatArray,
    log_odds: FloatArray,
    strengths: FloatArray,
    weights: FloatArray,
    staying: IntegerArray,
) -> None:
    """Fill each candidate's weight of independence, its grid of K, the weights of the points, and how many are not 0.

    `log_odds` are those of dependence, from even prior odds. Grids and weights are (candidates, points). The strata of
    a candidate are the tables from its start to its stop.

    Candidates with a table that has missing values on both sides are marked `BOTH_SIDES_MISS`, for `two_sided_weights`.
    If there are very many cells, log B has a peak, about sqrt(2 / degrees of freedom) wide in log K. A grid of wider
    steps zooms in on it; a point has the prior weight of the interval of log K that it represents.

    Weights below `negligible` become 0. Independence needs no moments, and keeps its weight even if it is small: a
    caller may multiply it by other odds.
    """
    max_padded = (weights.shape[1] + LANES - 1) // LANES * LANES
    side, cells = 1, 1
    for candidate in range(starts.size):
        for table in range(starts[candidate], stops[candidate]):
            side = max(side, rows[table], columns[table])
            cells = max(cells, rows[table] * columns[table])
    margins, terms, scratch = np.empty((4, side)), np.empty((3, cells + 2 * side + 1)), np.empty(5 * max_padded)
    for candidate in range(starts.size):
        first, after = starts[candidate], stops[candidate]
        staying[candidate] = 0
        p_zero[candidate], log_odds[candidate] = 1.0, -np.inf
        weights[candidate, :] = 0.0
        pattern, total = CONSTANT, 0.0
        for table in range(first, after):
            pattern = max(pattern, pattern_of(flat, offsets[table], rows[table], columns[table]))
        if pattern == CONSTANT:  # with one class or one value there is no dependence
            continue
        if pattern == BOTH:
            staying[candidate] = BOTH_SIDES_MISS
            continue
        r, s, freedom = 1, 1, 0
        for table in range(first, after):
            height, width = rows[table], columns[table]
            total += shares(
                flat, offsets[table], height, width, smoothing, margins[0], margins[1], margins[2], margins[3]
            )
            r, s, freedom = max(r, height), max(s, width), freedom + (height - 1) * (width - 1)
        points = grid_size(freedom, weights.shape[1])
        padded = (points + LANES - 1) // LANES * LANES
        lanes = scratch[: 5 * padded].reshape(5, padded)
        log_zero, log_point = np.log(prior_zero), np.log((1.0 - prior_zero) / points)
        least, ratio = loosest, grid_ratio(loosest, tightest, total, r, s, points)
        for zoom in range(MAX_ZOOMS + 1):
            fill_grid(lanes[0], least, ratio)
            fill_sums(flat, offsets, rows, columns, first, after, smoothing, margins, terms, lanes)
            if zoom == MAX_ZOOMS or not is_peaked(lanes[1, :points], freedom, log_zero - log_point):
                break
            least, ratio, log_point = finer_grid(lanes[0], lanes[1], points, ratio, log_point)
        p_zero[candidate], log_odds[candidate], staying[candidate] = settle(
            lanes[1], lanes[0], log_zero, log_point, negligible, strengths[candidate], weights[candidate], points
        )


@compiled
def augment(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    smoothing: float,
    strengths: FloatArray,
    weights: FloatArray,
    numbers: IntegerArray,
    targets: IntegerArray,
    weight: FloatArray,
    augmented: FloatArray,
) -> None:
    """Write the weights of each table's components, from index `numbers[table]` on, and their blocks.

    A block has the counts plus the pseudo-counts. The blocks follow each other from `targets[table]` on.
    """
    side = 1
    for table in range(offsets.size):
        side = max(side, rows[table], columns[table])
    by_class, by_value, classes, values = np.empty(side), np.empty(side), np.empty(side), np.empty(side)
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        number, target, size = numbers[table], targets[table], (r + 1) * (s + 1)
        shares(flat, start, r, s, smoothing, by_class, by_value, classes, values)
        for point in range(weights.shape[1]):
            if weights[table, point] > 0.0:
                weight[number] = weights[table, point]
                for i in range(r):
                    source = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
                    row = augmented[target + i * (s + 1) : target + (i + 1) * (s + 1)]
                    pseudo = strengths[table, point] * classes[i]
                    for j in range(s):
                        row[j] = source[j] + pseudo * values[j]
                    row[s] = source[s]
                for j in range(s + 1):
                    augmented[target + r * (s + 1) + j] = flat[start + r * (s + 1) + j]
                number += 1
                target += size
