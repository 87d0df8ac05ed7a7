"""Matched moments of complete tables without thin cells, as in `one_sided`; `LANES` tables of one shape side by side.

Most tables of pairs are small and complete. One at a time, each operation waits for the one before; side by side they
fill vector registers. This needs loops without branches: all cells, pseudo-counts included, must reach `_SERIES_FROM`,
from where the series of `special` are accurate; a complete table has no coupling, no row without counts and no thin
class. The formulas are those of `one_sided.matched`, averaged over both orientations. Unused lanes repeat a table:
every table goes through the same instructions, whichever tables are beside it.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import BooleanArray, FloatArray, IntegerArray, NDArray, NumberArray, compiled, inlined
from credimi.core.table_patterns import COMPLETE
from credimi.inference.special_functions import _digamma_tail, logarithm

LANES = 16
_SERIES_FROM = 12.0
_MAX_CELLS = 400  # larger tables fill registers by themselves, and their scratch would not fit into the cache


@inlined
def _excess(c: float) -> float:
    """log_excess of a large number."""
    inverse = 1.0 / c
    return 0.5 * inverse + _digamma_tail(inverse * inverse)


@inlined
def _spread(c: float) -> float:
    """log_spread of a large number."""
    z = 1.0 / c
    zz = z * z
    tail = zz * (
        1.0 / 30.0
        - zz * (1.0 / 42.0 - zz * (1.0 / 30.0 - zz * (5.0 / 66.0 - zz * (691.0 / 2730.0 - zz * (7.0 / 6.0)))))
    )
    return 0.5 - z * (1.0 / 3.0) + zz * (1.0 / 6.0) - (z + zz) * tail


@inlined
def _moments(
    counts: FloatArray,
    turned: bool,
    conditional: FloatArray,
    centred: FloatArray,
    by_row: FloatArray,
    by_column: FloatArray,
    lanes: FloatArray,
) -> None:
    """Fill mean and variance, `lanes[0]` and `lanes[1]`; the rows are the complete side, or the columns if `turned`.

    `counts` is (r, s, LANES); scratch are `conditional` and `centred` (cells, LANES), `by_row` (3, side, LANES),
    `by_column` (4, side, LANES) and `lanes` (8, LANES).
    """
    rows, columns = counts.shape[0], counts.shape[1]
    if turned:
        rows, columns = columns, rows
    mean, variance, total, first, second, covariance = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4], lanes[5]
    slopes, squares = lanes[6], lanes[7]
    row_total, weight, row_mean = by_row[0], by_row[1], by_row[2]
    mu, column_variance, with_mean, with_square = by_column[0], by_column[1], by_column[2], by_column[3]
    for lane in range(LANES):
        total[lane] = 0.0
    for j in range(columns):
        for lane in range(LANES):
            mu[j, lane] = 0.0
    for i in range(rows):
        for lane in range(LANES):
            row_total[i, lane] = 0.0
        for j in range(columns):
            cell = counts[j, i] if turned else counts[i, j]
            for lane in range(LANES):
                row_total[i, lane] += cell[lane]
        for lane in range(LANES):
            total[lane] += row_total[i, lane]
    for i in range(rows):
        for lane in range(LANES):
            weight[i, lane] = row_total[i, lane] / total[lane]
        for j in range(columns):
            cell, q = counts[j, i] if turned else counts[i, j], conditional[i * columns + j]
            for lane in range(LANES):
                q[lane] = cell[lane] / row_total[i, lane]
                mu[j, lane] += weight[i, lane] * q[lane]
    for lane in range(LANES):
        mean[lane], first[lane] = 0.0, 0.0
    for i in range(rows):
        for lane in range(LANES):
            row_mean[i, lane], second[lane] = 0.0, -_spread(row_total[i, lane])
        for j in range(columns):
            cell, q, u = (
                counts[j, i] if turned else counts[i, j],
                conditional[i * columns + j],
                centred[i * columns + j],
            )
            for lane in range(LANES):
                u[lane] = logarithm(q[lane] / mu[j, lane]) + _excess(cell[lane])
                row_mean[i, lane] += q[lane] * u[lane]
        for j in range(columns):
            cell, u = counts[j, i] if turned else counts[i, j], centred[i * columns + j]
            for lane in range(LANES):
                u[lane] -= row_mean[i, lane]
                second[lane] += cell[lane] * u[lane] * u[lane] + _spread(cell[lane])
        for lane in range(LANES):
            c, w = row_total[i, lane], weight[i, lane]
            row_mean[i, lane] -= _excess(c)
            mean[lane] += w * row_mean[i, lane]
            moment = w * (total[lane] * w + 1.0) / (total[lane] + 1.0)
            first[lane] += moment * second[lane] / (c * (c + 1.0))
    for i in range(rows):
        for lane in range(LANES):
            row_mean[i, lane] -= mean[lane]
            first[lane] += weight[i, lane] * row_mean[i, lane] * row_mean[i, lane] / (total[lane] + 1.0)
    for j in range(columns):
        for lane in range(LANES):
            column_variance[j, lane], with_mean[j, lane], with_square[j, lane] = 0.0, 0.0, 0.0
    for i in range(rows):
        for j in range(columns):
            q_of, u = conditional[i * columns + j], centred[i * columns + j]
            for lane in range(LANES):
                c, w, lane_total, m, q = row_total[i, lane], weight[i, lane], total[lane], mu[j, lane], q_of[lane]
                a = lane_total * w
                moment = w * (a + 1.0) / (lane_total + 1.0)
                one, two = 1.0 / (c + 1.0), (a + 2.0) / (c + 2.0)
                curvature, from_rows = two * c * one * one, moment / (lane_total + 2.0)
                from_weights = w * row_mean[i, lane] / (lane_total + 1.0)
                step = u[lane] * one
                column_variance[j, lane] += moment * one * q * (1.0 - q) + w * (q - m) * (q - m) / (lane_total + 1.0)
                with_mean[j, lane] += q * (moment * step + from_weights)
                with_square[j, lane] += q * (
                    from_rows * (2.0 * step * (2.0 * (q - m) + two * (1.0 - 2.0 * q)) + curvature * (1.0 - q))
                    + 2.0 * from_weights / (lane_total + 2.0) * (a * (1.0 - q) * one + (c * q + 1.0) * one - 2.0 * m)
                )
    for lane in range(LANES):
        variance[lane], second[lane], covariance[lane] = 0.0, 0.0, 0.0
        slopes[lane], squares[lane] = 0.0, 0.0
    for j in range(columns):
        for lane in range(LANES):
            m = mu[j, lane]
            rest = 1.0 - m
            nu = m * rest / column_variance[j, lane] - 1.0
            alpha = m * nu
            e, spread = _excess(alpha) - _excess(nu), _spread(alpha)
            mean[lane] -= m * e
            slope = e - 1.0 / (nu + 1.0)
            quadratic = (nu + 3.0) * spread / alpha
            covariance[lane] += slope * with_mean[j, lane] + quadratic * (
                with_square[j, lane] - 2.0 * (1.0 - 2.0 * m) / (nu + 2.0) * with_mean[j, lane]
            )
            second[lane] += spread * rest * (nu * rest + 1.0) / (nu * (nu + 1.0) * (nu + 1.0))
            second[lane] += slope * slope * column_variance[j, lane]
            slopes[lane] += m * slope
            squares[lane] += m * m
            variance[lane] += m * m * slope * slope  # of the slopes only, so far
    for lane in range(LANES):
        scale = 1.0 / (total[lane] + 1.0)
        pairs = 0.5 * scale * scale * (1.0 - squares[lane]) - scale * (slopes[lane] * slopes[lane] - variance[lane])
        variance[lane] = first[lane] + second[lane] + pairs - 2.0 * covariance[lane]
        mean[lane] = max(mean[lane], 0.0)


@inlined
def _has_large_cells(flat: NumberArray, start: int, r: int, s: int, pseudo_count: float) -> bool:
    """Whether all cells of a table are large enough."""
    if r * s > _MAX_CELLS:
        return False
    for i in range(r):
        for j in range(s):
            if not flat[start + i * (s + 1) + j] + pseudo_count >= _SERIES_FROM:
                return False
    return True


@compiled
def matched_complete(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo_count: FloatArray,
    pattern: NDArray[np.int8],
    selection: IntegerArray,
    mean: FloatArray,
    variance: FloatArray,
    is_left: BooleanArray,
) -> None:
    """Fill mean and variance of the complete tables without thin cells; `is_left` says which of the selection are left.

    This is fast if tables of one shape follow each other.
    """
    counts, conditional, centred = np.empty((0, 0, LANES)), np.empty((0, LANES)), np.empty((0, LANES))
    by_row, by_column, lanes = np.empty((3, 0, LANES)), np.empty((4, 0, LANES)), np.empty((8, LANES))
    waiting_tables = np.empty(LANES, dtype=np.int64)
    filled, r, s = 0, 0, 0
    for index in range(selection.size + 1):
        accepted, table = False, 0
        if index < selection.size:
            table = selection[index]
            accepted = pattern[table] == COMPLETE
            accepted = accepted and _has_large_cells(
                flat, offsets[table], rows[table], columns[table], pseudo_count[table]
            )
            is_left[index] = not accepted
        if filled > 0 and (
            filled == LANES or index == selection.size or (accepted and (rows[table] != r or columns[table] != s))
        ):
            for lane in range(LANES):
                member = waiting_tables[lane if lane < filled else 0]
                for i in range(r):
                    for j in range(s):
                        counts[i, j, lane] = flat[offsets[member] + i * (s + 1) + j] + pseudo_count[member]
            for turned in range(2):
                _moments(counts, turned == 1, conditional, centred, by_row, by_column, lanes)
                for lane in range(filled):
                    member = waiting_tables[lane]
                    before_mean, before_variance = (0.0, 0.0) if turned == 0 else (mean[member], variance[member])
                    mean[member] = before_mean + 0.5 * lanes[0, lane]
                    variance[member] = before_variance + 0.5 * lanes[1, lane]
            filled = 0
        if accepted:
            if rows[table] != r or columns[table] != s:
                r, s = rows[table], columns[table]
                side = max(r, s)
                counts, conditional, centred = (
                    np.empty((r, s, LANES)),
                    np.empty((r * s, LANES)),
                    np.empty((r * s, LANES)),
                )
                by_row, by_column = np.empty((3, side, LANES)), np.empty((4, side, LANES))
            waiting_tables[filled] = table
            filled += 1
