"""The paper's mean and variance of mutual information, many tables of one shape side by side. O(rs) a table.

The rows of a table are its complete side, and c_i+, w_i, q_ij and A are those of `one_sided`. With
l_ij = log(q_ij/y_j), y_j = sum_i w_i q_ij and J_i = sum_j q_ij l_ij, the mean is E[I] ~ J = sum_i w_i J_i. The paper's
variance (1/N)[K - J^2/Q - P] is, regrouped so that no term cancels another,

    Var[I] ~ (1/A) sum_i w_i (J_i - J)^2 + sum_i (w_i^2/c_i+) sum_j q_ij (l_ij - J_i)^2 .
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, NumberArray, compiled, inlined
from credimi.core.table_patterns import BOTH, CONSTANT, FEATURE_ONLY, pattern_of
from credimi.inference.special_functions import logarithm

_LANES = 32  # tables side by side: enough to fill vector registers, few enough to fit into the cache
_MAX_CELLS_SIDE_BY_SIDE = 10_000  # fewer tables are side by side if they are large


@inlined
def _leading(
    counts: FloatArray,
    row_only: FloatArray,
    log_ratio: FloatArray,
    row_fields: FloatArray,
    column_probability: FloatArray,
    lane_fields: FloatArray,
    lanes: int,
) -> None:
    """The paper's mean and variance of up to `_LANES` tables of one shape; into `lane_fields[0]` and `[1]`.

    The tables are side by side along the last axis, so that loops over them vectorise even if they are small. With room
    for `size` of them, `counts` and `log_ratio` are (r, s, size), `row_only` (r, size), `row_fields` (3, r, size),
    `column_probability` (s, size), `lane_fields` (4, size).
    """
    rows, columns, _ = counts.shape
    row_inverse, weight, row_information = row_fields[0], row_fields[1], row_fields[2]
    mean, variance, share, pooled = lane_fields[0], lane_fields[1], lane_fields[2], lane_fields[3]
    for lane in range(lanes):
        mean[lane] = 0.0
        variance[lane] = 0.0
        share[lane] = 0.0
        pooled[lane] = 0.0
    for i in range(rows):
        for lane in range(lanes):
            weight[i, lane] = 0.0
        for j in range(columns):
            for lane in range(lanes):
                weight[i, lane] += counts[i, j, lane]
        for lane in range(lanes):
            row_sum = weight[i, lane]
            weight[i, lane] += row_only[i, lane]
            share[lane] += weight[i, lane]
            pooled[lane] += weight[i, lane] if row_sum == 0.0 else 0.0
            row_inverse[i, lane] = 1.0 / row_sum if row_sum > 0.0 else 0.0
    for lane in range(lanes):
        share[lane] = 1.0 / share[lane] if share[lane] > 0.0 else 0.0
    for j in range(columns):
        for lane in range(lanes):
            column_probability[j, lane] = 0.0
    for i in range(rows):
        for lane in range(lanes):
            weight[i, lane] *= share[lane]
        for j in range(columns):
            for lane in range(lanes):
                column_probability[j, lane] += weight[i, lane] * row_inverse[i, lane] * counts[i, j, lane]
    for j in range(columns):
        for lane in range(lanes):
            probability = column_probability[j, lane]
            column_probability[j, lane] = (1.0 - pooled[lane] * share[lane]) / probability if probability > 0.0 else 0.0
    for i in range(rows):
        for lane in range(lanes):
            row_information[i, lane] = 0.0
        for j in range(columns):
            for lane in range(lanes):
                q = counts[i, j, lane] * row_inverse[i, lane]
                ratio = q * column_probability[j, lane]
                log_ratio[i, j, lane] = logarithm(ratio if ratio > 0.0 else 1.0)
                row_information[i, lane] += q * log_ratio[i, j, lane]
        for j in range(columns):
            for lane in range(lanes):
                deviation = log_ratio[i, j, lane] - row_information[i, lane]
                spread = counts[i, j, lane] * row_inverse[i, lane] * deviation * deviation
                variance[lane] += weight[i, lane] * weight[i, lane] * row_inverse[i, lane] * spread
        for lane in range(lanes):
            mean[lane] += weight[i, lane] * row_information[i, lane]
    for i in range(rows):
        for lane in range(lanes):
            deviation = row_information[i, lane] - mean[lane]
            variance[lane] += share[lane] * weight[i, lane] * deviation * deviation
    for lane in range(lanes):
        mean[lane] = max(mean[lane], 0.0)


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
    """The paper's moments of all tables with a complete side; fills `pattern`, which shows the others.

    This is fast if tables of one shape follow each other in `order`. Each is classified just before it is used: to read
    the counts from memory a second time would cost as much as the moments.
    """
    counts, row_only, column_probability = np.empty((0, 0, 0)), np.empty((0, 0)), np.empty((0, 0))
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
        lanes = max(1, min(_LANES, _MAX_CELLS_SIDE_BY_SIDE // (r * s)))
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
            column_probability, row_fields, lane_fields = (
                np.empty((s, lanes)),
                np.empty((3, r, lanes)),
                np.empty((4, lanes)),
            )
        for lane in range(after - first):
            table = order[first + lane]
            _load_lane(flat, offsets[table], pseudo_count[table], transpose, lane, counts, row_only)
        _leading(counts, row_only, log_ratio, row_fields, column_probability, lane_fields, after - first)
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
    """Copy one block into one lane, and add pseudo-counts; `transpose` swaps rows and columns."""
    rows, columns, _ = counts.shape
    row_stride, column_stride = (1, rows + 1) if transpose else (columns + 1, 1)
    for i in range(rows):
        row_start = start + i * row_stride
        for j in range(columns):
            counts[i, j, lane] = flat[row_start + j * column_stride] + pseudo_count
        row_only[i, lane] = flat[row_start + columns * column_stride]
