"""Many tables at once: ragged shapes in one flat array, each block (r + 1) x (s + 1) with the missing ones last.

    n_11 ... n_1s | n_1?          n_i?: the class was seen, the feature not (target only)
    ...           | ...           n_?j: the feature was seen, the class not (feature only)
    n_r1 ... n_rs | n_r?          n_??: neither; carries no information and is not read
    --------------+-----
    n_?1 ... n_?s | n_??

One kernel a pattern of missingness and approximation, so that a process compiles only what it meets. Each takes
`selection`, the tables to do: threads share the arrays and split the selection.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.moments import one_sided
from credimi.kernels.moments.information_matrix import workspace
from credimi.kernels.moments.one_sided import LANES
from credimi.kernels.moments.two_sided import moments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray, NumberArray

_CELLS_SIDE_BY_SIDE = 10_000  # of large tables fewer lie side by side
CONSTANT, COMPLETE, TARGET_ONLY, FEATURE_ONLY, BOTH = range(5)


@inlined
def pattern_of(flat: NumberArray, start: int, r: int, s: int) -> int:
    """What one table misses; CONSTANT where one side has a single value, so that I = 0."""
    if r < 2 or s < 2:
        return CONSTANT
    target_only, feature_only = False, False
    for i in range(r):
        target_only = target_only or flat[start + i * (s + 1) + s] != 0
    for j in range(s):
        feature_only = feature_only or flat[start + r * (s + 1) + j] != 0
    if feature_only:
        return BOTH if target_only else FEATURE_ONLY
    return TARGET_ONLY if target_only else COMPLETE


@compiled
def classify(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pattern: NDArray[np.int8],
    complete: FloatArray,
) -> None:
    """What each table misses, and its complete counts."""
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        pattern[table] = pattern_of(flat, start, r, s)
        total = 0.0
        for i in range(r):
            row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
            for j in range(s):
                total += row[j]
        complete[table] = total


@inlined
def load(
    flat: NumberArray,
    start: int,
    pseudo_count: float,
    transpose: bool,
    r: int,
    s: int,
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
) -> None:
    """Copy one block into r x s `counts`, pseudo-counts added, rows and columns swapped if asked."""
    if transpose:
        for i in range(r):
            target = counts[i * s : (i + 1) * s]
            for j in range(s):
                target[j] = flat[start + j * (r + 1) + i] + pseudo_count
            row_only[i] = flat[start + s * (r + 1) + i]
        for j in range(s):
            column_only[j] = flat[start + j * (r + 1) + r]
        return
    for i in range(r):
        source = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
        target = counts[i * s : (i + 1) * s]
        for j in range(s):
            target[j] = source[j] + pseudo_count
        row_only[i] = source[s]
    source = flat[start + r * (s + 1) : start + r * (s + 1) + s]
    for j in range(s):
        column_only[j] = source[j]


@inlined
def _largest(rows: IntegerArray, columns: IntegerArray, selection: IntegerArray) -> tuple[int, int]:
    cells, side = 0, 0
    for table in selection:
        cells = max(cells, rows[table] * columns[table])
        side = max(side, rows[table], columns[table])
    return cells, side


@compiled
def leading_one_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    order: IntegerArray,
    pattern: NDArray[np.int8],
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """The paper's moments of all tables with a complete side; `pattern` is written here, and says which were left.

    Fast where tables of one shape follow each other in `order`. Each is classified just before it is used: at this
    speed reading the counts from memory a second time would cost as much as the moments.
    """
    counts, row_only, column_chance = np.empty((0, 0, 0)), np.empty((0, 0)), np.empty((0, 0))
    log_ratio, row_fields, lane_fields = np.empty((0, 0, 0)), np.empty((3, 0, 0)), np.empty((4, 0))
    for table in order[:1]:
        pattern[table] = pattern_of(flat, offsets[table], rows[table], columns[table])
    first = 0
    while first < order.size:
        table = order[first]
        if pattern[table] in (BOTH, CONSTANT):
            first += 1
            if first < order.size:
                table = order[first]
                pattern[table] = pattern_of(flat, offsets[table], rows[table], columns[table])
            continue
        r, s, transpose = rows[table], columns[table], pattern[table] == FEATURE_ONLY
        lanes = max(1, min(LANES, _CELLS_SIDE_BY_SIDE // (r * s)))
        after = first + 1
        while after < order.size:
            other = order[after]
            pattern[other] = pattern_of(flat, offsets[other], rows[other], columns[other])
            if after == first + lanes or rows[other] != r or columns[other] != s:
                break
            if pattern[other] == BOTH or (pattern[other] == FEATURE_ONLY) != transpose:
                break
            after += 1
        if transpose:
            r, s = s, r
        if counts.shape != (r, s, lanes):
            counts, log_ratio, row_only = np.empty((r, s, lanes)), np.empty((r, s, lanes)), np.empty((r, lanes))
            column_chance, row_fields, lane_fields = np.empty((s, lanes)), np.empty((3, r, lanes)), np.empty((4, lanes))
        for lane in range(after - first):
            table = order[first + lane]
            _load_lane(flat, offsets[table], pseudo_count[table], transpose, lane, counts, row_only)
        one_sided.leading(counts, row_only, log_ratio, row_fields, column_chance, lane_fields, after - first)
        for lane in range(after - first):
            mean[order[first + lane]] = lane_fields[0, lane]
            variance[order[first + lane]] = lane_fields[1, lane]
        first = after


@inlined
def _load_lane(
    flat: NumberArray,
    start: int,
    pseudo_count: float,
    transpose: bool,
    lane: int,
    counts: FloatArray,
    row_only: FloatArray,
) -> None:
    """Copy one block into one lane, pseudo-counts added, rows and columns swapped if asked."""
    rows, columns, _ = counts.shape
    down, right = (1, rows + 1) if transpose else (columns + 1, 1)
    for i in range(rows):
        at = start + i * down
        for j in range(columns):
            counts[i, j, lane] = flat[at + j * right] + pseudo_count
        row_only[i, lane] = flat[at + columns * right]


@compiled
def matched_one_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    pattern: NDArray[np.int8],
    selection: IntegerArray,
    mean: FloatArray,
    variance: FloatArray,
    thin: NDArray[np.bool_],
) -> None:
    """Near-exact moments where at least one side is complete, and which tables have a thin class.

    The variance is not yet checked for its sign.

    Of a complete table either side may be taken for the complete one; the two variances differ by less than the error
    of either, and are averaged, so that transposing the table changes nothing.
    """
    cells, side = _largest(rows, columns, selection)
    counts, row_only, column_only = np.empty(cells), np.empty(side), np.empty(side)
    fields, row_fields, column_fields = np.empty((3, cells)), np.empty((5, side)), np.empty((7, side))
    for table in selection:
        passes = 2 if pattern[table] == COMPLETE else 1
        transpose = pattern[table] == FEATURE_ONLY
        mean[table] = 0.0
        variance[table] = 0.0
        for _ in range(passes):
            r, s = (columns[table], rows[table]) if transpose else (rows[table], columns[table])
            load(flat, offsets[table], pseudo_count[table], transpose, r, s, counts, row_only, column_only)
            one_mean, one_variance, thin[table] = one_sided.matched(
                counts, row_only, r, s, fields, row_fields, column_fields
            )
            mean[table] += one_mean / passes
            variance[table] += one_variance / passes
            transpose = not transpose


@compiled
def two_sided(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    selection: IntegerArray,
    matched: bool,
    reliable: bool,
    mean: FloatArray,
    variance: FloatArray,
) -> None:
    """Moments where both sides miss; NaN where the matched ones do not hold, if they have to be `reliable`."""
    r, s = rows[:0].size, columns[:0].size  # 0, but no literal: Numba would compile `workspace` once more for it
    counts, chance, fields = np.empty((0, 0)), np.empty((0, 0)), np.empty((2, 0, 0))
    cells, row_only, column_only = np.empty(0), np.empty(0), np.empty(0)
    row_slope, column_slope = np.empty(0), np.empty(0)
    work = workspace(r, s)
    for table in selection:
        transpose = columns[table] > rows[table]
        r, s = (columns[table], rows[table]) if transpose else (rows[table], columns[table])
        if counts.shape != (r, s):
            cells, row_only, column_only = np.empty(r * s), np.empty(r), np.empty(s)
            counts, chance, fields = cells.reshape(r, s), np.empty((r, s)), np.empty((2, r, s))
            row_slope, column_slope = np.empty(r), np.empty(s)
            work = workspace(r, s)
        load(flat, offsets[table], pseudo_count[table], transpose, r, s, cells, row_only, column_only)
        mean[table], variance[table] = moments(
            counts, row_only, column_only, chance, row_slope, column_slope, work, fields, matched, reliable
        )
