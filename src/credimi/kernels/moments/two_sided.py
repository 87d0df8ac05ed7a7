"""Posterior mean and variance of mutual information where both sides miss. O(r s^2 + s^3).

Leading order (the paper's): I(mode) and l' Cov l, l_ij = log(pi_ij/(x_i y_j)), with the mode of `mode` and Cov of
`information_matrix`.

Matched: every chance z among pi_ij, x_i, y_j with mode z and leading-order variance Z is treated as the Beta with
nu = z (1 - z)/Z and alpha = z nu, which is exact where all is seen. With e(z) = log_excess(alpha) - log_excess(nu), so
that E[z log z] = z (log z + e),

    E[I]   = I(mode) + sum pi_ij e(pi_ij) - sum x_i e(x_i) - sum y_j e(y_j),
    Var[I] = N/(N + 1) g' Cov g + t u/(2 (r-1)(s-1)),
    g_ij   = l_ij + b(pi_ij) - b(x_i) - b(y_j),  b = e - 1/(nu + 1): slopes of z log z on the Beta's linear polynomial,
    t      = sum (1 - pi_ij)/(nu_ij + 1) - the same over x_i - the same over y_j,
    u      = t with each term times 2 log_spread(alpha).

t is the trace of Hessian times covariance. Near independence its (r-1)(s-1) eigenvalues are nearly equal, so
t^2/(2 (r-1)(s-1)) is the second-order variance, and u tempers it where cells hold less than about one count.

None of this holds where more than 2 % of the chances lie in cells with c < 0.3, or in classes and values with next to
no complete count, put there by the margins alone; nor where few complete counts stand beside large margins, which shows
in a mean of the chances that is far from their mode. A caller who asks for reliable moments then gets NaN.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.mode.find import find_mode
from credimi.kernels.moments.information_matrix import (
    COLUMN_STEP,
    COLUMN_SUM,
    ROW_SUM,
    SLACK,
    SPARE,
    solve,
    variances,
)
from credimi.kernels.special import log_excess, log_spread, logarithm

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray
    from credimi.kernels.moments.information_matrix import Workspace

_SPARSE = 0.3  # a Dirichlet parameter below which a chance is nearly 0 or 1 of its row
_FEW = 3.0  # complete counts of a class or a value, pseudo-counts included, that hardly say more than the prior
MAX_DOUBTFUL = 0.02
_SHIFTED = 0.02
_NEARLY_ALL = 1.0 - 1e-6  # of the chances
_FIRST: int = np.zeros(1, dtype=np.int64)[0]  # not 0, for which Numba would compile what takes it once more
_HELD_BY_MARGINS = 1e-4  # the share of its expected rows that a cell then has at most


@inlined
def moments(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    work: Workspace,
    fields: FloatArray,
    matched: bool,
    reliable: bool,
) -> tuple[float, float]:
    """Mean and variance of I, leading order or matched; `fields` (2, r, s) is scratch.

    NaN where matched moments are not `reliable`, if they have to be.
    """
    find_mode(counts, row_only, column_only, chance, row_slope, column_slope, work)
    return moments_at_mode(
        counts, row_only, column_only, chance, row_slope, column_slope, work, fields, matched, reliable
    )


@compiled
def moments_at_mode(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    row_slope: FloatArray,
    column_slope: FloatArray,
    work: Workspace,
    fields: FloatArray,
    matched: bool,
    reliable: bool,
) -> tuple[float, float]:
    """As `moments`, from what `find_mode` leaves behind; the slopes are overwritten."""
    gradient, solution = fields[0], fields[1]
    mean = _log_ratios(chance, work, gradient)
    scale = 1.0
    second_order = 0.0
    if matched:
        total, doubtful = doubtful_probability(counts, row_only, column_only, chance, work)
        if reliable and doubtful > MAX_DOUBTFUL:
            return np.nan, np.nan
        scale = total / (total + 1.0)
        variances(chance, total, work, solution, row_slope, column_slope)  # the slopes have served
        _mend_variances(counts, chance, total, work, solution, row_slope, column_slope)
        if reliable and _shift(counts, row_only, column_only, chance, row_slope, column_slope, work, fields) > _SHIFTED:
            return np.nan, np.nan
        shift, second_order = _match_betas(chance, work, solution, row_slope, column_slope, gradient)
        mean += shift
    return max(mean, 0.0), _variance_of(chance, gradient, work, solution) * scale + second_order


@inlined
def doubtful_probability(
    counts: FloatArray, row_only: FloatArray, column_only: FloatArray, chance: FloatArray, work: Workspace
) -> tuple[float, float]:
    """N, and how much of the chances the margins put where there are next to no complete counts.

    That is in cells, or in whole rows and columns that hold hardly more than the prior.
    """
    rows, columns = counts.shape
    total, doubtful = 0.0, 0.0
    for i in range(rows):
        row_sum = 0.0
        for j in range(columns):
            row_sum += counts[i, j]
            doubtful += chance[i, j] if counts[i, j] < _SPARSE else 0.0
        doubtful += work.rows[ROW_SUM, i] if row_sum <= min(_FEW, row_only[i]) else 0.0
        total += row_sum + row_only[i]
    for j in range(columns):
        column_sum = 0.0
        for i in range(rows):
            column_sum += counts[i, j]
        doubtful += work.columns[COLUMN_SUM, j] if column_sum <= min(_FEW, column_only[j]) else 0.0
        total += column_only[j]
    return total, doubtful


@compiled
def _mend_variances(
    counts: FloatArray,
    chance: FloatArray,
    total: float,
    work: Workspace,
    of_cells: FloatArray,
    of_rows: FloatArray,
    of_columns: FloatArray,
) -> None:
    """Put right variances that are differences without digits, by a solve for each.

    They are so where nearly all is in one cell, row or column, and where margins alone hold a cell.
    """
    rows, columns = chance.shape
    for i in range(rows):
        if work.rows[ROW_SUM, i] > _NEARLY_ALL:
            of_rows[i] = _variance_of_block(chance, i, i + 1, _FIRST, columns, work)
    for j in range(columns):
        if work.columns[COLUMN_SUM, j] > _NEARLY_ALL:
            of_columns[j] = _variance_of_block(chance, _FIRST, rows, j, j + 1, work)
        for i in range(rows):
            if chance[i, j] > _NEARLY_ALL or counts[i, j] < _HELD_BY_MARGINS * total * chance[i, j]:
                of_cells[i, j] = _variance_of_block(chance, i, i + 1, j, j + 1, work)


@compiled
def _variance_of_block(chance: FloatArray, top: int, bottom: int, left: int, right: int, work: Workspace) -> float:
    """Variance of the sum of a block of chances, as that of all others together."""
    rows, columns = chance.shape
    others, solution = work.cells[SLACK], work.cells[SPARE]  # the slacks have served
    rest = 0.0
    for i in range(rows):
        for j in range(columns):
            inside = top <= i < bottom and left <= j < right
            others[i, j] = 0.0 if inside else 1.0
            rest += 0.0 if inside else chance[i, j]
    return _variance_of_field(others, rest, work, solution)


@inlined
def _variance_of_field(field: FloatArray, centre: float, work: Workspace, solution: FloatArray) -> float:
    """field' Cov field. The field is centred, which makes pi pi'/N drop out; it is changed in place."""
    rows, columns = field.shape
    for i in range(rows):
        for j in range(columns):
            field[i, j] -= centre
    solve(field, work, solution)
    variance = 0.0
    for i in range(rows):
        for j in range(columns):
            variance += field[i, j] * solution[i, j]
    return max(variance, 0.0)


@compiled
def _shift(
    counts: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    chance: FloatArray,
    of_rows: FloatArray,
    of_columns: FloatArray,
    work: Workspace,
    fields: FloatArray,
) -> float:
    """How far the mean is from the mode, sum |E[pi] - pi|, to the order of `credimi.inference.posterior`.

    `fields` holds the log ratios, which stay, and the variances of the cells, which are put back.
    """
    rows, columns = counts.shape
    of_cells, slope = fields[1], work.cells[SLACK]  # the slacks have served
    centre = 0.0
    for i in range(rows):
        x = work.rows[ROW_SUM, i]
        from_row = row_only[i] * of_rows[i] / x / x / x if row_only[i] > 0.0 else 0.0
        for j in range(columns):
            p, y = chance[i, j], work.columns[COLUMN_SUM, j]
            slope[i, j] = 0.0
            if p > 0.0:
                from_column = column_only[j] * of_columns[j] / y / y / y if column_only[j] > 0.0 else 0.0
                slope[i, j] = (counts[i, j] * (of_cells[i, j] / p) / p - 1.0) / p + from_row + from_column
                centre += p * slope[i, j]
    moved = work.cells[SPARE]
    for i in range(rows):
        for j in range(columns):
            slope[i, j] -= centre
    solve(slope, work, moved)
    distance = 0.0
    for i in range(rows):
        for j in range(columns):
            distance += abs(moved[i, j])
    return distance


@inlined
def _match_betas(
    chance: FloatArray,
    work: Workspace,
    of_cells: FloatArray,
    of_rows: FloatArray,
    of_columns: FloatArray,
    gradient: FloatArray,
) -> tuple[float, float]:
    """Add the Betas' slopes to `gradient`; return the shift of the mean and the second-order variance."""
    rows, columns = chance.shape
    mean = 0.0
    trace = 0.0
    tempered = 0.0
    for i in range(rows):
        shift, of_rows[i], bend, spread = _beta_terms(work.rows[ROW_SUM, i], of_rows[i])
        mean -= shift
        trace -= bend
        tempered -= bend * spread
    for j in range(columns):
        shift, of_columns[j], bend, spread = _beta_terms(work.columns[COLUMN_SUM, j], of_columns[j])
        mean -= shift
        trace -= bend
        tempered -= bend * spread
    for i in range(rows):
        for j in range(columns):
            shift, slope, bend, spread = _beta_terms(chance[i, j], of_cells[i, j])
            mean += shift
            trace += bend
            tempered += bend * spread
            gradient[i, j] += slope - of_rows[i] - of_columns[j]
    filled_rows, filled_columns = 0, 0
    for i in range(rows):
        filled_rows += work.rows[ROW_SUM, i] > 0.0
    for j in range(columns):
        filled_columns += work.columns[COLUMN_SUM, j] > 0.0
    freedom = float((filled_rows - 1) * (filled_columns - 1))
    return mean, max(0.5 * trace * tempered / freedom, 0.0) if freedom > 0.0 else 0.0


@inlined
def _beta_terms(mean: float, variance: float) -> tuple[float, float, float, float]:
    """For z ~ Beta with this mean and nu = z(1-z)/variance: z e, the slope b, (1-z)/(nu+1), 2 log_spread(alpha)."""
    rest = 1.0 - mean
    if not (mean > 0.0 and rest > 0.0 and variance > 0.0):
        return 0.0, 0.0, 0.0, 0.0
    nu = mean * rest / variance
    alpha = mean * nu
    e = log_excess(alpha) - log_excess(nu)
    return mean * e, e - 1.0 / (nu + 1.0), rest / (nu + 1.0), 2.0 * log_spread(alpha)


@inlined
def _log_ratios(chance: FloatArray, work: Workspace, log_ratio: FloatArray) -> float:
    """log(pi/(x y)) into `log_ratio`, 0 where pi = 0; returns I(pi)."""
    rows, columns = chance.shape
    inverse = work.columns[COLUMN_STEP]
    for j in range(columns):
        inverse[j] = 1.0 / work.columns[COLUMN_SUM, j] if work.columns[COLUMN_SUM, j] > 0.0 else 0.0
    information = 0.0
    for i in range(rows):
        share = 1.0 / work.rows[ROW_SUM, i] if work.rows[ROW_SUM, i] > 0.0 else 0.0
        for j in range(columns):
            ratio = chance[i, j] * share * inverse[j]
            log_ratio[i, j] = logarithm(ratio if ratio > 0.0 else 1.0)
            information += chance[i, j] * log_ratio[i, j]
    return max(information, 0.0)


@inlined
def _variance_of(chance: FloatArray, gradient: FloatArray, work: Workspace, solution: FloatArray) -> float:
    """gradient' Cov gradient; the gradient is changed in place."""
    rows, columns = chance.shape
    centre = 0.0
    for i in range(rows):
        for j in range(columns):
            centre += chance[i, j] * gradient[i, j]
    return _variance_of_field(gradient, centre, work, solution)
