"""Evidence of dependence for many tests at once: u and v given columns Z, counted and weighed in one kernel.

A test has two columns and the columns that are conditioned on. Rows that lack one of the latter are left out; rows that
lack u or v count to the margin of the other in their stratum. The blocks of the strata are those of
`counts.local_counter`, and

    log B = log mean_K prod_z B_K(z)

is the log Bayes factor of dependence against independence in all strata, with one strength K for all of them (see
`adaptive_weights`, whose grid and corrections apply). It stays a logarithm, because a probability would be rounded to 0
or 1. If both sides have missing values, rows that have one side inform the margins only.

The margins of a stratum are taken as given, so only values that occur in it have a share of its prior. If u or v has
only one value, there is one table with these margins: B_K(z) = 1, and there is no excess to subtract. (With shares for
values that do not occur, each stratum of a copy of v would add up to log 2 to the evidence that u depends on v.)

Strata with fewer than two complete rows carry no evidence and are left out. The cost is O(N) to count a test, and O(rs)
a stratum and point of the grid to weigh it; the blocks of one test are in memory at a time.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined
from credimi.inference.evidence.adaptive_weights import (
    MAX_ZOOMS,
    fill_grid,
    fill_scores,
    finer_grid,
    grid_ratio,
    grid_size,
    is_peaked,
    log_mean,
    shares,
)
from credimi.inference.evidence.excess_evidence import subtract_excess
from credimi.inference.special_functions import LANES


@inlined
def _count_test(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    weights: FloatArray,
    test: IntegerArray,
    strata: int,
    stratum_of_row: IntegerArray,
    flat: FloatArray,
) -> None:
    """Fill the blocks of one test; `stratum_of_row` is scratch, one number a row."""
    u, v = codes[test[0]], codes[test[1]]
    height, width = values[test[0]] + 1, values[test[1]] + 1
    for row in range(stratum_of_row.size):
        stratum_of_row[row] = 0
    size = 1
    for index in range(2, test.size):
        if test[index] < 0:
            continue
        z, z_values = codes[test[index]], values[test[index]]
        for row in range(stratum_of_row.size):
            stratum_of_row[row] = (
                stratum_of_row[row] + np.int64(z[row]) * size if z[row] < z_values else np.int64(1) << 40
            )
        size *= z_values
    for cell in range(strata * height * width):
        flat[cell] = 0.0
    if weights.size:
        for row in range(stratum_of_row.size):
            if stratum_of_row[row] < strata:
                flat[(stratum_of_row[row] * height + u[row]) * width + v[row]] += weights[row]
    else:
        for row in range(stratum_of_row.size):
            if stratum_of_row[row] < strata:
                flat[(stratum_of_row[row] * height + u[row]) * width + v[row]] += 1.0


@inlined
def _pack_filled_strata(flat: FloatArray, strata: int, r: int, s: int, offsets: IntegerArray) -> tuple[int, float]:
    """Move the strata with at least two complete rows to the front; return their number, and their complete rows."""
    filled, total, size = 0, 0.0, (r + 1) * (s + 1)
    for stratum in range(strata):
        start, complete = stratum * size, 0.0
        for i in range(r):
            for j in range(s):
                complete += flat[start + i * (s + 1) + j]
        if complete <= 1.0:
            continue
        if filled < stratum:
            for cell in range(size):
                flat[filled * size + cell] = flat[start + cell]
        offsets[filled] = filled * size
        total += complete
        filled += 1
    return filled, total


@inlined
def _entropy_share_left(flat: FloatArray, strata: int, r: int, s: int) -> float:
    """The share of the entropy that is left within the strata, of u or v, whichever is smaller; from complete rows."""
    smallest = 1.0
    for side in range(2):
        values, other_values = (r, s) if side == 0 else (s, r)
        value_stride, other_stride = (s + 1, 1) if side == 0 else (1, s + 1)
        overall_entropy, entropy_within, total = 0.0, 0.0, 0.0
        for value in range(values):
            overall_count = 0.0
            for stratum in range(strata):
                for other in range(other_values):
                    overall_count += flat[stratum * (r + 1) * (s + 1) + value * value_stride + other * other_stride]
            if overall_count > 0.0:
                overall_entropy -= overall_count * np.log(overall_count)
            total += overall_count
        overall_entropy += total * np.log(max(total, 1e-300))
        for stratum in range(strata):
            start, rows = stratum * (r + 1) * (s + 1), 0.0
            for value in range(values):
                count = 0.0
                for other in range(other_values):
                    count += flat[start + value * value_stride + other * other_stride]
                if count > 0.0:
                    entropy_within -= count * np.log(count)
                rows += count
            if rows > 0.0:
                entropy_within += rows * np.log(rows)
        smallest = min(smallest, entropy_within / overall_entropy if overall_entropy > 0.0 else 0.0)
    return smallest


@inlined
def _pack_occurring(
    flat: FloatArray, start: int, r: int, s: int, margins: FloatArray, packed: FloatArray
) -> tuple[int, int]:
    """Copy a block without the values that do not occur in the stratum; return how many values of u and v remain.

    Both numbers are 0 if u or v is the same in all complete rows. `margins` is scratch.
    """
    by_class, by_value = margins[0], margins[1]
    for j in range(s):
        by_value[j] = 0.0
    values_of_u, values_of_v = 0, 0  # that occur in complete rows
    for i in range(r):
        by_class[i] = 0.0
        for j in range(s):
            by_class[i] += flat[start + i * (s + 1) + j]
            by_value[j] += flat[start + i * (s + 1) + j]
        values_of_u += by_class[i] > 0.0
    for j in range(s):
        values_of_v += by_value[j] > 0.0
    if values_of_u < 2 or values_of_v < 2:
        return 0, 0
    height, written = 0, 0
    for i in range(r + 1):
        if i < r and by_class[i] + flat[start + i * (s + 1) + s] == 0.0:
            continue
        height += 1
        for j in range(s + 1):
            if j == s or by_value[j] + flat[start + r * (s + 1) + j] > 0.0:
                packed[written] = flat[start + i * (s + 1) + j]
                written += 1
    return height - 1, written // height - 1


@inlined
def _fill_sums(
    flat: FloatArray,
    offsets: IntegerArray,
    strata: int,
    r: int,
    s: int,
    smoothing: float,
    packed: FloatArray,
    margins: FloatArray,
    terms: FloatArray,
    lanes: FloatArray,
) -> None:
    """Fill `lanes[1]` with the sum of log B_K over the strata; of several, each less its excess."""
    sums = lanes[4]
    for point in range(sums.size):
        sums[point] = 0.0
    for stratum in range(strata):
        height, width = _pack_occurring(flat, offsets[stratum], r, s, margins, packed)
        if height == 0:
            continue
        total = shares(packed, 0, height, width, smoothing, margins[0], margins[1], margins[2], margins[3])
        fill_scores(packed, 0, height, width, total, margins, terms, lanes)
        if strata > 1:
            with_margins_evidence = False  # D_K is not added here
            subtract_excess(total, margins, height, width, with_margins_evidence, lanes[0], lanes[1])
        for point in range(sums.size):
            sums[point] += lanes[1, point]
    for point in range(sums.size):
        lanes[1, point] = sums[point]


@compiled
def weigh_edges(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    weights: FloatArray,
    tests: IntegerArray,
    smoothing: float,
    loosest: float,
    tightest: float,
    max_points: int,
    evidence: FloatArray,
    complete: FloatArray,
    entropy_share: FloatArray,
) -> None:
    """Fill for each test: log B, the number of complete rows, and the share of the entropy left within the strata.

    `codes` is (columns, rows); the code of a missing value is the number of values of its column, in `values`.
    `weights` are those of the rows, empty if all are 1. A row of `tests` has u, v and the columns that are conditioned
    on, filled up with -1. `max_points` is the maximum size of the grid.
    """
    max_side, max_cells, max_strata = 1, 1, 1
    for number in range(tests.shape[0]):
        strata = 1
        for index in range(2, tests.shape[1]):
            if tests[number, index] >= 0:
                strata *= values[tests[number, index]]
        r, s = values[tests[number, 0]], values[tests[number, 1]]
        max_side, max_strata = max(max_side, r, s), max(max_strata, strata)
        max_cells = max(max_cells, strata * (r + 1) * (s + 1))
    flat, offsets = np.empty(max_cells), np.empty(max_strata, dtype=np.int64)
    stratum_of_row, packed = np.empty(codes.shape[1], dtype=np.int64), np.empty((max_side + 1) * (max_side + 1))
    max_padded = (max_points + LANES - 1) // LANES * LANES
    margins, terms, scratch = (
        np.empty((4, max_side)),
        np.empty((3, max_side * max_side + 2 * max_side + 1)),
        np.empty(5 * max_padded),
    )
    for number in range(tests.shape[0]):
        test = tests[number]
        r, s, strata = values[test[0]], values[test[1]], 1
        for index in range(2, test.size):
            if test[index] >= 0:
                strata *= values[test[index]]
        _count_test(codes, values, weights, test, strata, stratum_of_row, flat)
        filled, total = _pack_filled_strata(flat, strata, r, s, offsets)
        complete[number] = total
        evidence[number] = 0.0
        entropy_share[number] = _entropy_share_left(flat, filled, r, s) if strata > 1 else 1.0
        if filled == 0 or r < 2 or s < 2:
            continue
        freedom = filled * (r - 1) * (s - 1)
        points = grid_size(freedom, max_points)
        padded = (points + LANES - 1) // LANES * LANES
        lanes = scratch[: 5 * padded].reshape(5, padded)
        log_point = -np.log(np.float64(points))
        least, ratio = loosest, grid_ratio(loosest, tightest, total, r, s, points)
        for zoom in range(MAX_ZOOMS + 1):
            fill_grid(lanes[0], least, ratio)
            _fill_sums(flat, offsets, filled, r, s, smoothing, packed, margins, terms, lanes)
            if zoom == MAX_ZOOMS or not is_peaked(lanes[1, :points], freedom, -log_point):
                break
            least, ratio, log_point = finer_grid(lanes[0], lanes[1], points, ratio, log_point)
        evidence[number] = log_mean(lanes[1], points, log_point)
