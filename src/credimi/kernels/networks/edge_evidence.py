"""Evidence of dependence for many tests at once: u and v given some columns Z, counted and weighed in one kernel.

A test names two columns and the columns that are given. Rows that lack a given column are left out; rows that lack u or
v count to the margin of the other in their stratum. The blocks of the strata are those of `stratified_counts`, and

    log B = log mean_K prod_z B_K(z)

is the log Bayes factor of dependence against independence in all strata, with one strength K for all of them (see
`adaptive_weights`, whose grid and corrections apply). It is a logarithm throughout: a probability would be 0 or 1 long
before. Where both sides have missing values, rows that have one side inform the margins only.

A stratum's margins are what they are, so only values that it has can have a share of its prior, and where u or v has
one value there is one table with these margins: B_K(z) = 1, and no excess to take off. (With shares for values that
are not there, each stratum of a copy of v adds up to log 2 to the evidence that u depends on v.)

Strata with fewer than two complete rows tell nothing and are left out. O(N) to count a test, O(rs) a stratum and point
of the grid to weigh it; blocks are kept only while their test is done.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.evidence.adaptive_weights import (
    LANES,
    MAX_ZOOMS,
    fill_grid,
    fill_scores,
    grid_ratio,
    grid_size,
    is_peaked,
    shares,
)
from credimi.kernels.evidence.excess_evidence import subtract_excess
from credimi.kernels.evidence.grid_mean import finer_grid, log_mean
from credimi.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray


@inlined
def _count(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    weights: FloatArray,
    test: IntegerArray,
    strata: int,
    where: IntegerArray,
    flat: FloatArray,
) -> None:
    """Add the rows to the blocks; `where` is scratch, one number a row."""
    u, v = codes[test[0]], codes[test[1]]
    height, width = values[test[0]] + 1, values[test[1]] + 1
    for row in range(where.size):
        where[row] = 0
    size = 1
    for place in range(2, test.size):
        if test[place] < 0:
            continue
        z, many = codes[test[place]], values[test[place]]
        for row in range(where.size):
            where[row] = where[row] + np.int64(z[row]) * size if z[row] < many else np.int64(1) << 40
        size *= many
    for cell in range(strata * height * width):
        flat[cell] = 0.0
    if weights.size:
        for row in range(where.size):
            if where[row] < strata:
                flat[(where[row] * height + u[row]) * width + v[row]] += weights[row]
    else:
        for row in range(where.size):
            if where[row] < strata:
                flat[(where[row] * height + u[row]) * width + v[row]] += 1.0


@inlined
def _keep_filled(flat: FloatArray, strata: int, r: int, s: int, offsets: IntegerArray) -> tuple[int, float]:
    """Move the strata with two complete rows or more to the front; return how many, and the complete rows of all."""
    kept, total, size = 0, 0.0, (r + 1) * (s + 1)
    for stratum in range(strata):
        start, complete = stratum * size, 0.0
        for i in range(r):
            for j in range(s):
                complete += flat[start + i * (s + 1) + j]
        if complete <= 1.0:
            continue
        if kept < stratum:
            for cell in range(size):
                flat[kept * size + cell] = flat[start + cell]
        offsets[kept] = kept * size
        total += complete
        kept += 1
    return kept, total


@inlined
def _open_share(flat: FloatArray, kept: int, r: int, s: int) -> float:
    """How much of the entropy of u, or of v if that is less, is left within the strata: a share, by complete rows."""
    smallest = 1.0
    for side in range(2):
        many, others = (r, s) if side == 0 else (s, r)
        outer, inner = (s + 1, 1) if side == 0 else (1, s + 1)
        whole, within, total = 0.0, 0.0, 0.0
        for value in range(many):
            everywhere = 0.0
            for stratum in range(kept):
                for other in range(others):
                    everywhere += flat[stratum * (r + 1) * (s + 1) + value * outer + other * inner]
            if everywhere > 0.0:
                whole -= everywhere * np.log(everywhere)
            total += everywhere
        whole += total * np.log(max(total, 1e-300))
        for stratum in range(kept):
            start, rows = stratum * (r + 1) * (s + 1), 0.0
            for value in range(many):
                here = 0.0
                for other in range(others):
                    here += flat[start + value * outer + other * inner]
                if here > 0.0:
                    within -= here * np.log(here)
                rows += here
            if rows > 0.0:
                within += rows * np.log(rows)
        smallest = min(smallest, within / whole if whole > 0.0 else 0.0)
    return smallest


@inlined
def _pack_occurring(
    flat: FloatArray, start: int, r: int, s: int, margins: FloatArray, packed: FloatArray
) -> tuple[int, int]:
    """Copy a block without the values that no row of the stratum has; return how many values u and v have left.

    Both are 0 where u or v is the same in all complete rows. `margins` is scratch.
    """
    by_class, by_value = margins[0], margins[1]
    for j in range(s):
        by_value[j] = 0.0
    of_u, of_v = 0, 0  # values in complete rows
    for i in range(r):
        by_class[i] = 0.0
        for j in range(s):
            by_class[i] += flat[start + i * (s + 1) + j]
            by_value[j] += flat[start + i * (s + 1) + j]
        of_u += by_class[i] > 0.0
    for j in range(s):
        of_v += by_value[j] > 0.0
    if of_u < 2 or of_v < 2:
        return 0, 0
    height, place = 0, 0
    for i in range(r + 1):
        if i < r and by_class[i] + flat[start + i * (s + 1) + s] == 0.0:
            continue
        height += 1
        for j in range(s + 1):
            if j == s or by_value[j] + flat[start + r * (s + 1) + j] > 0.0:
                packed[place] = flat[start + i * (s + 1) + j]
                place += 1
    return height - 1, place // height - 1


@inlined
def _fill_sums(
    flat: FloatArray,
    offsets: IntegerArray,
    kept: int,
    r: int,
    s: int,
    smoothing: float,
    packed: FloatArray,
    margins: FloatArray,
    terms: FloatArray,
    lanes: FloatArray,
) -> None:
    """Fill `lanes[1]` with the log B_K of all strata together, less the excess of each of several."""
    sums = lanes[4]
    for point in range(sums.size):
        sums[point] = 0.0
    for stratum in range(kept):
        height, width = _pack_occurring(flat, offsets[stratum], r, s, margins, packed)
        if height == 0:
            continue
        total = shares(packed, 0, height, width, smoothing, margins[0], margins[1], margins[2], margins[3])
        fill_scores(packed, 0, height, width, total, margins, terms, lanes)
        if kept > 1:
            subtract_excess(total, margins, height, width, lanes[0], lanes[1])
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
    most: int,
    evidence: FloatArray,
    complete: FloatArray,
    left: FloatArray,
) -> None:
    """Fill of each test log B, the complete rows, and what share of the entropy of u and v is left in the strata.

    `codes` is (columns, rows), the number of values where one is missing; `values` how many each column has; `weights`
    of the rows, empty where all are 1. A row of `tests` has u, v and the given columns, -1 where there are fewer.
    `most` is the size of the grid.
    """
    side, largest, all_strata = 1, 1, 1
    for number in range(tests.shape[0]):
        strata = 1
        for place in range(2, tests.shape[1]):
            if tests[number, place] >= 0:
                strata *= values[tests[number, place]]
        r, s = values[tests[number, 0]], values[tests[number, 1]]
        side, all_strata = max(side, r, s), max(all_strata, strata)
        largest = max(largest, strata * (r + 1) * (s + 1))
    flat, offsets = np.empty(largest), np.empty(all_strata, dtype=np.int64)
    where, packed = np.empty(codes.shape[1], dtype=np.int64), np.empty((side + 1) * (side + 1))
    padded_most = (most + LANES - 1) // LANES * LANES
    margins, terms, room = np.empty((4, side)), np.empty((3, side * side + 2 * side + 1)), np.empty(5 * padded_most)
    for number in range(tests.shape[0]):
        test = tests[number]
        r, s, strata = values[test[0]], values[test[1]], 1
        for place in range(2, test.size):
            if test[place] >= 0:
                strata *= values[test[place]]
        _count(codes, values, weights, test, strata, where, flat)
        kept, total = _keep_filled(flat, strata, r, s, offsets)
        complete[number] = total
        evidence[number] = 0.0
        left[number] = _open_share(flat, kept, r, s) if strata > 1 else 1.0
        if kept == 0 or r < 2 or s < 2:
            continue
        freedom = kept * (r - 1) * (s - 1)
        points = grid_size(freedom, most)
        padded = (points + LANES - 1) // LANES * LANES
        lanes = room[: 5 * padded].reshape(5, padded)
        log_point = -np.log(np.float64(points))
        least, ratio = loosest, grid_ratio(loosest, tightest, total, r, s, points)
        for zoom in range(MAX_ZOOMS + 1):
            fill_grid(lanes[0], least, ratio)
            _fill_sums(flat, offsets, kept, r, s, smoothing, packed, margins, terms, lanes)
            if zoom == MAX_ZOOMS or not is_peaked(lanes[1, :points], freedom, -log_point):
                break
            least, ratio, log_point = finer_grid(lanes, points, ratio, log_point)
        evidence[number] = log_mean(lanes[1], points, log_point)
