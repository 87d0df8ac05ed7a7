"""The same sums for a table in which both sides have missing values (see `one_sided`).

The cell probabilities p solve the paper's fixed point, p_ij = (W_ij + W_i? p_ij/p_i+ + W_?j p_ij/p_+j)/T. With
g_ij = log(p_ij/(p_i+ p_+j)) - I and the paper's matrix A (`moments.information_matrix`), divided by T,

    A x = W_ij x_ij/(T p_ij^2) + W_i? x_i+/(T p_i+^2) + W_?j x_+j/(T p_+j^2) = g

gives psi = x_ij/p_ij for complete rows, x_i+/p_i+ for rows that have only the class, and x_+j/p_+j for rows that have
only the value. The system is solved by conjugate gradients, which only need products with A: O(r s) each. Every cell
gets a little of the weight, so that A has no infinite entries where a cell is empty.

Near independence only complete rows say anything about dependence. Their margins are the shares A_i and B_j of complete
rows, C of all, where the fitted ones are p_i and p_j, so that

    k_ij = p_i (1 - p_i)/A_i^2  p_j (1 - p_j)/B_j^2 / C^2,   and with rows that count alike  sum(W k)/T is
    (1/C) sum_i p_i (1 - p_i)/A_i  sum_j p_j (1 - p_j)/B_j.

If only one side has missing values, this is what `one_sided` has.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.counts.survey.one_sided import (
    FREEDOM,
    INFLATED,
    INFORMATION,
    NULL_SQUARES,
    NULL_WEIGHTS,
    SQUARES,
    SQUARES_ONCE,
    SQUARES_ONLY,
    TOTAL,
    WEIGHTS,
)

LINES = 7  # of `work`: p, g, x, residual, direction, A times the direction; and the margins
_MAX_FITS, _MAX_STEPS = 400, 200
_FITTED, _SOLVED = 1e-11, 1e-18  # the largest change of a probability; the squared residual, as a share of the first
_PADDING = 1e-5  # of the average weight of a cell


@inlined
def _margins(cells: FloatArray, r: int, s: int, margins: FloatArray) -> None:
    """The sums of rows and of columns, one after the other."""
    for i in range(r + s):
        margins[i] = 0.0
    for i in range(r):
        for j in range(s):
            margins[i] += cells[i * s + j]
            margins[r + j] += cells[i * s + j]


@inlined
def _fit(flat: FloatArray, start: int, r: int, s: int, work: FloatArray, total: float, padding: float) -> None:
    """The cell probabilities, by the paper's fixed point from an interior start."""
    p, margins = work[0], work[6]
    for cell in range(r * s):
        p[cell] = 1.0 / (r * s)
    for _ in range(_MAX_FITS):
        _margins(p, r, s, margins)
        change = 0.0
        for i in range(r):
            for j in range(s):
                count = flat[start + i * (s + 1) + j] + padding
                count += flat[start + i * (s + 1) + s] * p[i * s + j] / margins[i]
                count += flat[start + r * (s + 1) + j] * p[i * s + j] / margins[r + j]
                change = max(change, abs(count / total - p[i * s + j]))
                p[i * s + j] = count / total
        if change < _FITTED:
            break


@inlined
def _times(
    flat: FloatArray, start: int, r: int, s: int, work: FloatArray, total: float, padding: float, sums: FloatArray
) -> None:
    """A times the direction; `sums` are the margins of p."""
    p, direction, product, margins = work[0], work[4], work[5], work[6]
    _margins(direction, r, s, margins)
    for i in range(r):
        of_class = flat[start + i * (s + 1) + s] / total * margins[i] / sums[i] ** 2
        for j in range(s):
            of_value = flat[start + r * (s + 1) + j] / total * margins[r + j] / sums[r + j] ** 2
            own = (flat[start + i * (s + 1) + j] + padding) / total / p[i * s + j] ** 2
            product[i * s + j] = own * direction[i * s + j] + of_class + of_value


@inlined
def _solve(
    flat: FloatArray, start: int, r: int, s: int, work: FloatArray, total: float, padding: float, sums: FloatArray
) -> None:
    """x from A x = g, by conjugate gradients that are scaled by the diagonal of A without its blocks."""
    p, x, residual, direction, product = work[0], work[2], work[3], work[4], work[5]
    size = 0.0
    for i in range(r):
        for j in range(s):
            cell = i * s + j
            x[cell], residual[cell] = 0.0, work[1, cell]
            direction[cell] = residual[cell] * total * p[cell] ** 2 / (flat[start + i * (s + 1) + j] + padding)
            size += residual[cell] * direction[cell]
    first = size
    for _ in range(_MAX_STEPS):
        if not size > _SOLVED * first:
            break
        _times(flat, start, r, s, work, total, padding, sums)
        curvature = 0.0
        for cell in range(r * s):
            curvature += direction[cell] * product[cell]
        step = size / curvature
        for cell in range(r * s):
            x[cell] += step * direction[cell]
            residual[cell] -= step * product[cell]
        previous, size = size, 0.0
        for i in range(r):
            for j in range(s):
                cell = i * s + j
                scaled = residual[cell] * total * p[cell] ** 2 / (flat[start + i * (s + 1) + j] + padding)
                size += residual[cell] * scaled
                product[cell] = scaled
        for cell in range(r * s):
            direction[cell] = product[cell] + size / previous * direction[cell]


@compiled
def two_sided_sums(
    flat: FloatArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    squares: FloatArray,
    selection: IntegerArray,
    work: FloatArray,
    sums: FloatArray,
    figures: FloatArray,
) -> None:
    """Fill the figures of the selected tables; `work` has `LINES` lines of r s + r + s numbers, `sums` has r + s."""
    for number in range(selection.size):
        table = selection[number]
        start, r, s = offsets[table], rows[table], columns[table]
        total, complete = 0.0, 0.0
        for i in range(r):
            total += flat[start + i * (s + 1) + s]
            for j in range(s):
                complete += flat[start + i * (s + 1) + j]
        for j in range(s):
            total += flat[start + r * (s + 1) + j]
        total += complete
        padding = _PADDING * complete / (r * s)
        padded = total + padding * r * s
        _fit(flat, start, r, s, work, padded, padding)
        p, g = work[0], work[1]
        _margins(p, r, s, sums)
        mean = 0.0
        for i in range(r):
            for j in range(s):
                g[i * s + j] = np.log(p[i * s + j] / (sums[i] * sums[r + j]))
                mean += p[i * s + j] * g[i * s + j]
        for cell in range(r * s):
            g[cell] -= mean
        _solve(flat, start, r, s, work, padded, padding, sums)
        x, margins, seen = work[2], work[6], work[4]
        _margins(x, r, s, margins)
        for i in range(r + s):  # the shares of complete rows
            seen[i] = 0.0
        for i in range(r):
            for j in range(s):
                share = flat[start + i * (s + 1) + j] / complete
                seen[i] += share
                seen[r + j] += share
        line = figures[table]
        for figure in range(line.size):
            line[figure] = 0.0
        line[TOTAL], line[INFORMATION] = total, mean
        spread_of_classes, spread_of_values, classes, values = 0.0, 0.0, 0.0, 0.0
        for i in range(r + s):
            outside = flat[start + i * (s + 1) + s] if i < r else flat[start + r * (s + 1) + i - r]
            square = squares[start + i * (s + 1) + s] if i < r else squares[start + r * (s + 1) + i - r]
            psi = margins[i] / sums[i]
            line[WEIGHTS] += outside * psi * psi
            line[SQUARES] += square * psi * psi
            line[SQUARES_ONCE] += square * psi
            line[SQUARES_ONLY] += square
            if seen[i] > 0.0:
                spread = sums[i] * (1.0 - sums[i]) / seen[i]
                spread_of_classes += spread if i < r else 0.0
                spread_of_values += spread if i >= r else 0.0
                classes += 1.0 if i < r else 0.0
                values += 1.0 if i >= r else 0.0
        share = complete / total
        for i in range(r):
            for j in range(s):
                count, square = flat[start + i * (s + 1) + j], squares[start + i * (s + 1) + j]
                line[SQUARES_ONLY] += square
                if not count > 0.0:
                    continue
                psi = x[i * s + j] / p[i * s + j]
                line[WEIGHTS] += count * psi * psi
                line[SQUARES] += square * psi * psi
                line[SQUARES_ONCE] += square * psi
                null = sums[i] * (1.0 - sums[i]) / seen[i] ** 2 * sums[r + j] * (1.0 - sums[r + j]) / seen[r + j] ** 2
                line[NULL_WEIGHTS] += count * null / share**2 / total
                line[NULL_SQUARES] += square * null / share**2 / total
        line[FREEDOM] = (classes - 1.0) * (values - 1.0)
        line[INFLATED] = spread_of_classes * spread_of_values / share
