"""Posterior mean and variance of mutual information if both sides have missing values. O(r s^2 + s^3).

Leading order (the paper's): I(mode) and l' Cov l, l_ij = log(pi_ij/(x_i y_j)), with the mode of `mode` and Cov of
`information_matrix`.

Matched: every probability z among pi_ij, x_i, y_j with mode z and leading-order variance Z is treated as a Beta with
nu = z (1 - z)/Z and alpha = z nu, which is exact for complete data. With e(z) = log_excess(alpha) - log_excess(nu), so
that E[z log z] = z (log z + e),

    E[I]   = I(mode) + sum pi_ij e(pi_ij) - sum x_i e(x_i) - sum y_j e(y_j),
    Var[I] = N/(N + 1) g' Cov g + t u/(2 (r-1)(s-1)),
    g_ij   = l_ij + b(pi_ij) - b(x_i) - b(y_j),  b = e - 1/(nu + 1): slopes of z log z on the Beta's linear polynomial,
    t      = sum (1 - pi_ij)/(nu_ij + 1) - the same over x_i - the same over y_j,
    u      = t with each term times 2 log_spread(alpha).

t is the trace of Hessian times covariance. Near independence its (r-1)(s-1) eigenvalues are nearly equal, so
t^2/(2 (r-1)(s-1)) is the second-order variance, and u reduces it if cells have less than about one count.

None of this holds in three cases. In the first, the margins alone put more than 2 % of the probability in cells with
c < 0.3, or in classes and values with hardly any complete count. In the second, complete counts are few beside large
margins; then the mean of the probabilities is far from their mode. In the third, a class has most of the rows but few
complete counts, as in `one_sided`: its q_i. = pi_i./x_i is hardly known, and with it the y_j are no Betas. With the
variances Z_ij of the cells and X_i of the class, the coupling of `one_sided` is

    sum_j (Z_ij - q_ij^2 X_i)/(1 - sum_j q_ij^2) - x_i/(N + 1),

which is the same if the target is complete, and is small where rows that lack the target say enough about q_i. as well.
It must not exceed `THIN_COUPLING`, nor may that of a value. A caller who asks for reliable moments gets NaN.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, Workspace, compiled, inlined
from credimi.inference.moments import information_matrix as at
from credimi.inference.moments.information_matrix import solve, variances
from credimi.inference.moments.one_sided import THIN_COUPLING
from credimi.inference.special_functions import log_excess, log_spread, logarithm

_SPARSE_COUNT = 0.3  # with a smaller Dirichlet parameter a probability is nearly 0, or all of its row
_FEW_COUNTS = 3.0  # complete counts of a class or a value, with pseudo-counts: hardly more information than the prior
MAX_DOUBTFUL = 0.02  # of the probability, see the module's docstring
_MAX_SHIFT = 0.02  # distance of the mean from the mode
_NEARLY_ALL = 1.0 - 1e-6  # of the probability
_MIN_REST = 1e-6  # of 1 - sum q^2: below it one cell has all of its row
_FIRST: int = np.zeros(1, dtype=np.int64)[0]  # no literal 0: Numba would compile functions once more for it
_MAX_SHARE_OF_COUNTS = 1e-4  # of the expected rows of a cell, if its probability comes from the margins alone


@compiled
def moments_at_mode(work: Workspace, matched: bool, reliable: bool) -> tuple[float, float]:
    """Mean and variance of I, leading order or matched, from the results of `find_mode`.

    If `reliable`, they are NaN where matched moments do not hold.
    """
    mean = _log_ratios(work)
    scale = 1.0
    second_order = 0.0
    if matched:
        total, doubtful = doubtful_probability(work)
        if reliable and doubtful > MAX_DOUBTFUL:
            return np.nan, np.nan
        scale = total / (total + 1.0)
        variances(total, work)
        _recompute_variances(total, work)
        if reliable and (_coupling(total, work) > THIN_COUPLING or _shift(work) > _MAX_SHIFT):
            return np.nan, np.nan
        shift, second_order = _match_betas(work)
        mean += shift
    return max(mean, 0.0), _variance_of_gradient(work) * scale + second_order


@inlined
def doubtful_probability(work: Workspace) -> tuple[float, float]:
    """N, and the probability that the margins put where there are hardly any complete counts.

    It is counted in cells, and in whole rows and columns that have hardly more than the prior.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_only, column_only = work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
    rows, columns = counts.shape
    total, doubtful = 0.0, 0.0
    for i in range(rows):
        row_sum = 0.0
        for j in range(columns):
            row_sum += counts[i, j]
            doubtful += probability[i, j] if counts[i, j] < _SPARSE_COUNT else 0.0
        doubtful += work.rows[at.ROW_SUM, i] if row_sum <= min(_FEW_COUNTS, row_only[i]) else 0.0
        total += row_sum + row_only[i]
    for j in range(columns):
        column_sum = 0.0
        for i in range(rows):
            column_sum += counts[i, j]
        doubtful += work.columns[at.COLUMN_SUM, j] if column_sum <= min(_FEW_COUNTS, column_only[j]) else 0.0
        total += column_only[j]
    return total, doubtful


@compiled
def _recompute_variances(total: float, work: Workspace) -> None:
    """Compute variances again, by a solve for each, if as differences they are lost to rounding.

    This happens if nearly all probability is in one cell, row or column, or if that of a cell comes from the margins
    alone.
    """
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    rows, columns = probability.shape
    for i in range(rows):
        if work.rows[at.ROW_SUM, i] > _NEARLY_ALL:
            work.rows[at.ROW_VARIANCE, i] = _variance_of_block(i, i + 1, _FIRST, columns, work)
    for j in range(columns):
        if work.columns[at.COLUMN_SUM, j] > _NEARLY_ALL:
            work.columns[at.COLUMN_VARIANCE, j] = _variance_of_block(_FIRST, rows, j, j + 1, work)
        for i in range(rows):
            if probability[i, j] > _NEARLY_ALL or counts[i, j] < _MAX_SHARE_OF_COUNTS * total * probability[i, j]:
                work.cells[at.VARIANCE, i, j] = _variance_of_block(i, i + 1, j, j + 1, work)


@compiled
def _variance_of_block(top: int, bottom: int, left: int, right: int, work: Workspace) -> float:
    """Variance of the sum of a block of probabilities, computed as that of the sum of all others."""
    probability, complement = (
        work.cells[at.PROBABILITY],
        work.cells[at.SLACK],
    )  # the slacks are no longer needed
    rows, columns = probability.shape
    rest = 0.0
    for i in range(rows):
        for j in range(columns):
            inside = top <= i < bottom and left <= j < right
            complement[i, j] = 0.0 if inside else 1.0
            rest += 0.0 if inside else probability[i, j]
    return _variance_of_field(complement, rest, work)


@inlined
def _variance_of_field(field: FloatArray, centre: float, work: Workspace) -> float:
    """field' Cov field. The field is centred in place, so that pi pi'/N drops out."""
    solution = work.cells[at.SPARE]
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
def _coupling(total: float, work: Workspace) -> float:
    """The largest coupling of a class or a value, see the module's docstring."""
    probability, cell_variance = work.cells[at.PROBABILITY], work.cells[at.VARIANCE]
    row_variance, column_variance = work.rows[at.ROW_VARIANCE], work.columns[at.COLUMN_VARIANCE]
    rows, columns = probability.shape
    largest = 0.0
    for i in range(rows):
        x, spread, rest = work.rows[at.ROW_SUM, i], 0.0, 1.0
        if x > 0.0:
            for j in range(columns):
                square = (probability[i, j] / x) ** 2
                spread += cell_variance[i, j] - square * row_variance[i]
                rest -= square
            largest = max(largest, spread / rest - x / (total + 1.0) if rest > _MIN_REST else 0.0)
    for j in range(columns):
        y, spread, rest = work.columns[at.COLUMN_SUM, j], 0.0, 1.0
        if y > 0.0:
            for i in range(rows):
                square = (probability[i, j] / y) ** 2
                spread += cell_variance[i, j] - square * column_variance[j]
                rest -= square
            largest = max(largest, spread / rest - y / (total + 1.0) if rest > _MIN_REST else 0.0)
    return largest


@compiled
def _shift(work: Workspace) -> float:
    """The distance of the mean from the mode, sum |E[pi] - pi|, to the order of `credimi.inference.posterior`."""
    counts, probability, cell_variance = (
        work.cells[at.COUNTS],
        work.cells[at.PROBABILITY],
        work.cells[at.VARIANCE],
    )
    row_only, column_only = work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
    row_variance, column_variance = work.rows[at.ROW_VARIANCE], work.columns[at.COLUMN_VARIANCE]
    rows, columns = counts.shape
    slope, shift = work.cells[at.SLACK], work.cells[at.SPARE]  # the slacks are no longer needed
    centre = 0.0
    for i in range(rows):
        x = work.rows[at.ROW_SUM, i]
        from_row = row_only[i] * row_variance[i] / x / x / x if row_only[i] > 0.0 else 0.0
        for j in range(columns):
            p, y = probability[i, j], work.columns[at.COLUMN_SUM, j]
            slope[i, j] = 0.0
            if p > 0.0:
                from_column = column_only[j] * column_variance[j] / y / y / y if column_only[j] > 0.0 else 0.0
                slope[i, j] = (counts[i, j] * (cell_variance[i, j] / p) / p - 1.0) / p + from_row + from_column
                centre += p * slope[i, j]
    for i in range(rows):
        for j in range(columns):
            slope[i, j] -= centre
    solve(slope, work, shift)
    distance = 0.0
    for i in range(rows):
        for j in range(columns):
            distance += abs(shift[i, j])
    return distance


@inlined
def _match_betas(work: Workspace) -> tuple[float, float]:
    """Add the slopes of the Betas to the gradient; return the shift of the mean and the second-order variance.

    The variances of x and y are replaced by the slopes.
    """
    probability, cell_variance = work.cells[at.PROBABILITY], work.cells[at.VARIANCE]
    row_terms, column_terms = work.rows[at.ROW_VARIANCE], work.columns[at.COLUMN_VARIANCE]
    rows, columns = probability.shape
    mean = 0.0
    trace = 0.0
    tempered = 0.0
    for i in range(rows):
        shift, row_terms[i], curvature, spread = _beta_terms(work.rows[at.ROW_SUM, i], row_terms[i])
        mean -= shift
        trace -= curvature
        tempered -= curvature * spread
    for j in range(columns):
        shift, column_terms[j], curvature, spread = _beta_terms(work.columns[at.COLUMN_SUM, j], column_terms[j])
        mean -= shift
        trace -= curvature
        tempered -= curvature * spread
    for i in range(rows):
        for j in range(columns):
            shift, slope, curvature, spread = _beta_terms(probability[i, j], cell_variance[i, j])
            mean += shift
            trace += curvature
            tempered += curvature * spread
            work.cells[at.GRADIENT, i, j] += slope - row_terms[i] - column_terms[j]
    filled_rows, filled_columns = 0, 0
    for i in range(rows):
        filled_rows += work.rows[at.ROW_SUM, i] > 0.0
    for j in range(columns):
        filled_columns += work.columns[at.COLUMN_SUM, j] > 0.0
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
def _log_ratios(work: Workspace) -> float:
    """Fill the gradient with log(pi/(x y)), 0 where pi = 0; return I(pi)."""
    probability, log_ratio = work.cells[at.PROBABILITY], work.cells[at.GRADIENT]
    rows, columns = probability.shape
    inverse = work.columns[at.COLUMN_STEP]
    for j in range(columns):
        inverse[j] = 1.0 / work.columns[at.COLUMN_SUM, j] if work.columns[at.COLUMN_SUM, j] > 0.0 else 0.0
    information = 0.0
    for i in range(rows):
        share = 1.0 / work.rows[at.ROW_SUM, i] if work.rows[at.ROW_SUM, i] > 0.0 else 0.0
        for j in range(columns):
            ratio = probability[i, j] * share * inverse[j]
            log_ratio[i, j] = logarithm(ratio if ratio > 0.0 else 1.0)
            information += probability[i, j] * log_ratio[i, j]
    return max(information, 0.0)


@inlined
def _variance_of_gradient(work: Workspace) -> float:
    """gradient' Cov gradient; the gradient is changed in place."""
    probability, gradient = work.cells[at.PROBABILITY], work.cells[at.GRADIENT]
    rows, columns = probability.shape
    centre = 0.0
    for i in range(rows):
        for j in range(columns):
            centre += probability[i, j] * gradient[i, j]
    return _variance_of_field(gradient, centre, work)
