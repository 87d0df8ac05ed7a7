"""Weights of the adaptive prior (see `credimi.adaptive` for their meaning), and the blocks of the components that stay.

With a_i, b_j the shares of the margins and K the strength, the parameters of a table's Dirichlets are K a_i b_j, K a_i
and K b_j. With `special.log_rise` for the rising factorials, the evidence relative to independence is

    log B_K = R(K, n) + sum_ij R(K a_i b_j, n_ij) - sum_i R(K a_i, n_i+) - sum_j R(K b_j, n_+j),     R = log_rise,

because what log_rise leaves out, n log K + sum n_ij log(a_i b_j) - ..., is 0 exactly; so that with many rows no large
terms cancel.

Loops run over `LANES` points of the grid side by side, where they vectorise however small the table is, and a cell's
count, which decides on the formula, is the same for all. Counts of 0 and 1 have log_rise 0. Small whole counts are
multiplied out, prod (1 + k/a), and one logarithm serves many cells. O(rs) a point of the grid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.compiled import compiled, inlined
from credimi.kernels.special import log_rise, log_rise_of_large, logarithm

if TYPE_CHECKING:
    from credimi.kernels.compiled import FloatArray, IntegerArray, NumberArray

LANES = 8
_MULTIPLIED_OUT = 48.0  # the largest count whose product is faster than the series
_LARGE = 8.0  # from here on the series holds without a shift
_STEEP = 1e24  # a factor above this, four at a time, might overflow
_FULL = 1e100  # a product above this is turned into its logarithm
_SPARSE = 0.3  # as in kernels.two_sided
_MUCH_SPARSE = 0.001
_AS_MANY = 1.0 + 1e-12
_MANY_CELLS = 16  # degrees of freedom of a table
_VERY_MANY_CELLS = 80  # of which the evidence may be a peak that falls between two points of the grid
_SHARP = 5.0  # a second difference of log B, beyond which a sum over the grid is no integral: a step is 2.2 deviations
_MOST_ZOOMS = 8


@inlined
def _shares(
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
    """Fill the margins n_i+, n_+j and the shares a_i, b_j, to which rows that miss the other side count; return n."""
    for j in range(s):
        by_value[j] = 0.0
    total, of_classes, of_values = 0.0, 0.0, 0.0
    for i in range(r):
        row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
        row_sum = 0.0
        for j in range(s):
            row_sum += row[j]
            by_value[j] += row[j]
        by_class[i] = row_sum
        classes[i] = row_sum + row[s] + smoothing
        of_classes += classes[i]
        total += row_sum
    for j in range(s):
        values[j] = by_value[j] + flat[start + r * (s + 1) + j] + smoothing
        of_values += values[j]
    for i in range(r):
        classes[i] /= of_classes
    for j in range(s):
        values[j] /= of_values
    return total


@inlined
def _points(r: int, s: int, most: int) -> int:
    """How many points a table's grid has: `most` where cells are many, and a component is narrow beside a step."""
    return most if (r - 1) * (s - 1) >= _MANY_CELLS else most * 2 // 3


@inlined
def _ratio(loosest: float, tightest: float, total: float, r: int, s: int, points: int) -> float:
    """Of neighbours on the grid of K."""
    ratio: float = (tightest * min(r, s) * max(total, np.float64(r * s)) / loosest) ** (1.0 / max(points - 1, 1))
    return ratio


@inlined
def _flush(product: FloatArray, score: FloatArray) -> None:
    for point in range(product.size):
        score[point] += logarithm(product[point])
        product[point] = 1.0


@inlined
def _highest(score: FloatArray) -> int:
    """Where the score is highest, first of all."""
    top = 0
    for point in range(1, score.size):
        if score[point] > score[top]:
            top = point
    return top


@inlined
def _is_peaked(score: FloatArray, r: int, s: int, rival: float) -> bool:
    """Whether the scores have a peak that is narrow beside a step of the grid, and higher than next to nothing."""
    if (r - 1) * (s - 1) < _VERY_MANY_CELLS:
        return False
    top = min(max(_highest(score), 1), score.size - 2)
    bend = score[top - 1] - 2.0 * score[top] + score[top + 1]
    return bool(bend < -_SHARP and score[top] > rival - 40.0)


@compiled
def weigh(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    smoothing: float,
    loosest: float,
    tightest: float,
    prior_zero: float,
    negligible: float,
    p_zero: FloatArray,
    strengths: FloatArray,
    weights: FloatArray,
    staying: IntegerArray,
) -> None:
    """Fill each table's weight of independence, its grid of K, (tables, points), the weights there, and how many stay.

    Where cells are very many, log B has a peak, about sqrt(2 / degrees of freedom) wide in log K. A grid of wider steps
    zooms in on it; a point keeps the prior weight of the stretch of log K that it stands for. The formula for large
    parameters or the one for any, and whether a count is multiplied out, is decided for `LANES` points at a time.

    A point that has less than `negligible` has none. Independence, which costs no moments, keeps its weight however
    small: other odds than these may multiply it.
    """
    padded = (weights.shape[1] + LANES - 1) // LANES * LANES
    side, cells = 1, 1
    for table in range(offsets.size):
        side = max(side, rows[table], columns[table])
        cells = max(cells, rows[table] * columns[table])
    by_class, by_value, classes, values = np.empty(side), np.empty(side), np.empty(side), np.empty(side)
    terms = np.empty((3, cells + 2 * side + 1))
    signs, shares, counts = terms[0], terms[1], terms[2]
    strength, inverse, score, product = np.empty(padded), np.empty(padded), np.empty(padded), np.ones(padded)
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        if r < 2 or s < 2:  # nothing can depend: independent for sure
            p_zero[table] = 1.0
            staying[table] = 0
            weights[table, :] = 0.0
            continue
        points = _points(r, s, weights.shape[1])
        padded = (points + LANES - 1) // LANES * LANES
        log_zero, log_point = np.log(prior_zero), np.log((1.0 - prior_zero) / points)
        total = _shares(flat, start, r, s, smoothing, by_class, by_value, classes, values)
        least, ratio = loosest, _ratio(loosest, tightest, total, r, s, points)
        for zoom in range(_MOST_ZOOMS + 1):
            for point in range(padded):
                strength[point] = least
                inverse[point] = 1.0 / least
                score[point] = 0.0
                least *= ratio
            signs[0], shares[0], counts[0] = 1.0, 1.0, total
            found = 1
            for i in range(r):
                signs[found], shares[found], counts[found] = -1.0, classes[i], by_class[i]
                found += 1
            for j in range(s):
                signs[found], shares[found], counts[found] = -1.0, values[j], by_value[j]
                found += 1
            for i in range(r):
                row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
                for j in range(s):
                    n, share = np.float64(row[j]), classes[i] * values[j]
                    if n <= _MULTIPLIED_OUT and n == np.floor(n) and n * inverse[0] < _STEEP * share:
                        scale = 1.0 / share
                        for first in range(1, np.int64(n), 4):
                            one, two = first * scale, (first + 1) * scale if first + 1 < n else 0.0
                            three = (first + 2) * scale if first + 2 < n else 0.0
                            four = (first + 3) * scale if first + 3 < n else 0.0
                            for point in range(padded):
                                each = inverse[point]
                                low = (1.0 + one * each) * (1.0 + two * each)
                                product[point] *= low * ((1.0 + three * each) * (1.0 + four * each))
                            if product[0] > _FULL:
                                _flush(product, score)
                    else:
                        signs[found], shares[found], counts[found] = 1.0, share, n
                        found += 1
            _flush(product, score)
            for term in range(found):
                sign, share, n = signs[term], shares[term], counts[term]
                for first in range(0, padded, LANES):
                    some, sums = strength[first : first + LANES], score[first : first + LANES]
                    if some[0] * share >= _LARGE:
                        for lane in range(some.size):
                            sums[lane] += sign * log_rise_of_large(some[lane] * share, n)
                    else:
                        for lane in range(some.size):
                            sums[lane] += sign * log_rise(some[lane] * share, n)
            if zoom == _MOST_ZOOMS or not _is_peaked(score[:points], r, s, log_zero - log_point):
                break
            top = _highest(score[:points])
            begin, end = max(top - 2, 0), min(top + 2, points - 1)
            finer = (strength[end] / strength[begin]) ** (1.0 / (points - 1))
            log_point += np.log(np.log(finer) / np.log(ratio))
            least, ratio = strength[begin], finer
        best = log_zero
        for point in range(points):
            score[point] += log_point
            best = max(best, score[point])
        zero = np.exp(log_zero - best)
        whole = zero
        for point in range(points):
            score[point] = np.exp(score[point] - best)
            whole += score[point]
        bound = negligible * whole
        whole = zero
        for point in range(points):
            score[point] = score[point] if score[point] >= bound else 0.0
            whole += score[point]
        p_zero[table] = zero / whole
        staying[table] = 0
        weights[table, points:] = 0.0
        for point in range(points):
            strengths[table, point] = strength[point]
            weights[table, point] = score[point] / whole
            staying[table] += weights[table, point] > 0.0


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
    """Write the weights of each table's components, from the number `numbers[table]` on, and their blocks.

    A block holds the counts with their pseudo-counts. They follow each other from `targets[table]` on.
    """
    side = 1
    for table in range(offsets.size):
        side = max(side, rows[table], columns[table])
    by_class, by_value, classes, values = np.empty(side), np.empty(side), np.empty(side), np.empty(side)
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        number, target, size = numbers[table], targets[table], (r + 1) * (s + 1)
        _shares(flat, start, r, s, smoothing, by_class, by_value, classes, values)
        for point in range(_points(r, s, weights.shape[1])):
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
                _forget_small_margin(augmented[target : target + size], r, s)
                number += 1
                target += size


@inlined
def _forget_small_margin(block: FloatArray, r: int, s: int) -> None:
    """Where both sides miss and many cells are nearly empty, leave out the rows that miss what fewer miss.

    The closed form for both does not hold there (see `kernels.two_sided`), and draws for each component would take
    seconds a table. These rows inform about one margin only, which the prior has learned from them already.
    """
    target_only, feature_only, sparse, total = 0.0, 0.0, 0.0, 0.0
    for i in range(r):
        target_only += block[i * (s + 1) + s]
    for j in range(s):
        feature_only += block[r * (s + 1) + j]
    if target_only == 0.0 or feature_only == 0.0:
        return
    for i in range(r):
        for j in range(s):
            cell = block[i * (s + 1) + j]
            total += cell
            sparse += cell if cell < _SPARSE else 0.0
    if sparse <= _MUCH_SPARSE * total:
        return
    # Both, where they are as many: the transposed table must say the same, and rounding must not decide.
    if feature_only <= target_only * _AS_MANY:
        for j in range(s):
            block[r * (s + 1) + j] = 0.0
    if target_only <= feature_only * _AS_MANY:
        for i in range(r):
            block[i * (s + 1) + s] = 0.0
