"""The matrix A of the paper, which is never built: a factor of it, solves with it, and the variances that it implies.

c_ij = n_ij + pseudo-count; m_i and k_j count the data rows with only the class or only the feature; N is the sum of
all three. The log-density over log-probabilities is L = sum c_ij log pi_ij + sum m_i log x_i + sum k_j log y_j,
x_i = pi_i+, y_j = pi_+j (c is the *exponent* here: the pseudo-count is added, nothing subtracted), and minus its
Hessian is

    A = diag(1/v_ij) + row blocks a_i/x_i + column blocks b_j/y_j,      v_ij = pi_ij^2/c_ij, a_i = m_i/x_i, b_j =
    k_j/y_j:

the paper's rho_ij/N = v_ij, rho_i?/N = x_i/a_i, rho_?j/N = y_j/b_j, of which a_i and b_j are 0, not infinite, where
nothing is missing. With V_i = sum_j v_ij and the gain G_i = a_i/(x_i + a_i V_i), row i's block has the inverse F_i =
diag(v_i) - G_i v_i v_i'; the columns add rank s, removed by Woodbury with the symmetric, always finite s x s matrix

    diag(y) + sqrt(b) (sum_i F_i) sqrt(b)'  =  diag(y_j + b_j sum_i v_ij) - sqrt(b_j) (sum_i G_i v_ij v_il) sqrt(b_l) ,

of which only the Cholesky factor is stored: O(r s^2 + s^3) once (the caller transposes so that s <= r), O(rs + s^2) a
solve. At the mode A pi = N e, hence A^-1 e = pi/N, and the covariance of the probabilities is
Cov = A^-1 - pi pi'/N.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, compiled, inlined
from credimi.compile.signatures import Workspace

# The planes of a workspace: of its `rows`, `columns`, `cells` and `squares`. m and k are `ROW_ONLY` and `COLUMN_ONLY`.
ROW_ONLY, ROW_SUM, ROW_SLOPE, ROW_GAIN, ROW_STEP, ROW_SHARE, ROW_VARIANCE = range(7)
COLUMN_ONLY, COLUMN_SUM, COLUMN_SLOPE, COLUMN_STEP, COLUMN_SHARE, COLUMN_VARIANCE, COLUMN_WANTED, ROOT = range(8)
COUNTS, PROBABILITY, SCALE, SLACK, GRADIENT, VARIANCE, SPARE = range(7)  # the last is scratch for any function
FACTOR, INVERSE = range(2)


@inlined
def workspace(rows: int, columns: int) -> Workspace:
    """Arrays for an r x s table."""
    return Workspace(
        np.empty((7, rows)), np.empty((8, columns)), np.empty((7, rows, columns)), np.empty((2, columns, columns))
    )


@compiled
def factorize(work: Workspace) -> None:
    """From v (`scale`), x, y and the slopes fill G, sqrt(b) and the Cholesky factor.

    The diagonal of the factor is stored inverted: divisions would cost more than all other operations.
    """
    scale, factor, root, row_gain = work.cells[SCALE], work.squares[FACTOR], work.columns[ROOT], work.rows[ROW_GAIN]
    row_slope, column_slope = work.rows[ROW_SLOPE], work.columns[COLUMN_SLOPE]
    rows, columns = scale.shape
    for j in range(columns):
        root[j] = np.sqrt(column_slope[j])
        for k in range(j + 1):
            factor[j, k] = 0.0
    for i in range(rows):
        sum_scale = 0.0
        for j in range(columns):
            sum_scale += scale[i, j]
            factor[j, j] += scale[i, j]
        row_gain[i] = row_slope[i] / (work.rows[ROW_SUM, i] + row_slope[i] * sum_scale) if row_slope[i] > 0.0 else 0.0
    for j in range(columns):
        factor[j, j] = work.columns[COLUMN_SUM, j] + column_slope[j] * factor[j, j]
    even, odd = work.columns[COLUMN_STEP], work.squares[INVERSE, columns - 1]
    for i in range(0, rows, 2):  # two rows at a time: the factor is read and written half as often
        after = min(i + 1, rows - 1)
        odd_gain = row_gain[after] if after > i else 0.0
        for j in range(columns):
            even[j] = scale[i, j] * root[j]
            odd[j] = scale[after, j] * root[j]
        for j in range(columns):
            even_weight, odd_weight = row_gain[i] * even[j], odd_gain * odd[j]
            for k in range(j + 1):
                factor[j, k] -= even_weight * even[k] + odd_weight * odd[k]
    for j in range(columns):
        for k in range(j):
            value = factor[j, k]
            for other in range(k):
                value -= factor[j, other] * factor[k, other]
            factor[j, k] = value * factor[k, k]
        value = factor[j, j]
        start = value
        for other in range(j):
            value -= factor[j, other] * factor[j, other]
        if not value > 1e-14 * start:
            value = np.inf  # a column that is empty, or lost to rounding: it does not move
        factor[j, j] = 1.0 / np.sqrt(value)


@inlined
def substitute(factor: FloatArray, vector: FloatArray) -> None:
    """vector = (L L')^-1 vector, with the diagonal of L stored inverted."""
    size = factor.shape[0]
    for j in range(size):
        value = vector[j]
        for k in range(j):
            value -= factor[j, k] * vector[k]
        vector[j] = value * factor[j, j]
    for j in range(size - 1, -1, -1):
        value = vector[j] * factor[j, j]
        vector[j] = value
        for k in range(j):
            vector[k] -= factor[j, k] * value


@compiled
def solve(field: FloatArray, work: Workspace, solution: FloatArray) -> None:
    """solution = A^-1 field, both r x s."""
    rows, columns = field.shape
    scale, row_gain, row_step, column_step, root = (
        work.cells[SCALE],
        work.rows[ROW_GAIN],
        work.rows[ROW_STEP],
        work.columns[COLUMN_STEP],
        work.columns[ROOT],
    )
    for j in range(columns):
        column_step[j] = 0.0
    for i in range(rows):
        row_field = 0.0
        for j in range(columns):
            solution[i, j] = scale[i, j] * field[i, j]
            row_field += solution[i, j]
        row_step[i] = row_gain[i] * row_field
        for j in range(columns):
            column_step[j] += solution[i, j] - scale[i, j] * row_step[i]
    for j in range(columns):
        column_step[j] *= root[j]
    substitute(work.squares[FACTOR], column_step)
    for j in range(columns):
        column_step[j] *= root[j]
    for i in range(rows):
        shared = 0.0
        for j in range(columns):
            shared += scale[i, j] * column_step[j]
        shared = row_step[i] - row_gain[i] * shared
        for j in range(columns):
            solution[i, j] -= scale[i, j] * (shared + column_step[j])


@compiled
def variances(total: float, work: Workspace) -> None:
    """Fill the variances of pi_ij, x_i and y_j under Cov, in O(r s^2 + s^3); N is the `total`.

    With Z = sqrt(b) (factor factor')^-1 sqrt(b), A^-1 = F - F (all blocks Z) F, so the diagonal of row i needs Z v_i
    only; the columns' sums have the covariance F_+ - F_+ Z F_+ - y y'/N with F_+ = sum_i F_i.
    """
    inverse, scale, product = work.squares[INVERSE], work.cells[SCALE], work.columns[COLUMN_STEP]
    probability, cell_variance = work.cells[PROBABILITY], work.cells[VARIANCE]
    row_variance, column_variance = work.rows[ROW_VARIANCE], work.columns[COLUMN_VARIANCE]
    rows, columns = probability.shape
    for j in range(columns):
        for k in range(columns):
            inverse[j, k] = 0.0
        inverse[j, j] = work.columns[ROOT, j]
        substitute(work.squares[FACTOR], inverse[j])
        for k in range(columns):
            inverse[j, k] *= work.columns[ROOT, k]
    for j in range(columns):
        column_variance[j] = 0.0
    for i in range(rows):
        gain = work.rows[ROW_GAIN, i]
        sum_scale = 0.0
        quadratic = 0.0
        for j in range(columns):
            value = 0.0
            for k in range(columns):
                value += inverse[j, k] * scale[i, k]
            product[j] = value
            quadratic += value * scale[i, j]
            sum_scale += scale[i, j]
        damping = 1.0 - gain * sum_scale
        row_variance[i] = (
            damping * sum_scale - damping * damping * quadratic - work.rows[ROW_SUM, i] * work.rows[ROW_SUM, i] / total
        )
        for j in range(columns):
            unshared = scale[i, j] * (1.0 - gain * scale[i, j])
            shared = scale[i, j] * scale[i, j] * (inverse[j, j] - 2.0 * gain * product[j] + gain * gain * quadratic)
            cell_variance[i, j] = unshared - shared - probability[i, j] * probability[i, j] / total
            column_variance[j] += unshared
    for j in range(columns):
        for k in range(columns):
            product[k] = 0.0
        for i in range(rows):
            weight = work.rows[ROW_GAIN, i] * scale[i, j]
            product[j] += scale[i, j]
            for k in range(columns):
                product[k] -= weight * scale[i, k]
        quadratic = 0.0
        for k in range(columns):
            value = 0.0
            for other in range(columns):
                value += inverse[k, other] * product[other]
            quadratic += value * product[k]
        column_variance[j] -= quadratic + work.columns[COLUMN_SUM, j] * work.columns[COLUMN_SUM, j] / total
