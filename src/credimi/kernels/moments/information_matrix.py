"""The matrix A of the paper, never built: a factor of it, solves with it, and the variances it implies.

c_ij = n_ij + pseudo-count; m_i and k_j count the data rows with only the class or only the feature; N is the sum of
all three. The log-density over log-chances is L = sum c_ij log pi_ij + sum m_i log x_i + sum k_j log y_j, x_i =
pi_i+, y_j = pi_+j (c is the *exponent* here: the pseudo-count is added, nothing subtracted), and minus its Hessian is

    A = diag(1/v_ij) + row blocks a_i/x_i + column blocks b_j/y_j,      v_ij = pi_ij^2/c_ij, a_i = m_i/x_i, b_j =
    k_j/y_j:

the paper's rho_ij/N = v_ij, rho_i?/N = x_i/a_i, rho_?j/N = y_j/b_j, of which a_i and b_j are 0, not infinite, where
nothing is missing. With V_i = sum_j v_ij and the gain G_i = a_i/(x_i + a_i V_i), row i's block has the inverse F_i =
diag(v_i) - G_i v_i v_i'; the columns add rank s, removed by Woodbury with the symmetric, always finite s x s matrix

    diag(y) + sqrt(b) (sum_i F_i) sqrt(b)'  =  diag(y_j + b_j sum_i v_ij) - sqrt(b_j) (sum_i G_i v_ij v_il) sqrt(b_l) ,

whose Cholesky factor is all that is kept: O(r s^2 + s^3) once (the caller transposes so that s <= r), O(rs + s^2) a
solve. At the mode A pi = N e, hence A^-1 e = pi/N, and the covariance of the chances is Cov = A^-1 - pi pi'/N.
"""

from __future__ import annotations

from collections import namedtuple
from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray


Workspace = namedtuple(  # noqa: PYI024  (Numba compiles this form, not the class with annotations)
    "Workspace",
    [
        "row_sum",
        "row_gain",
        "row_step",
        "row_share",
        "column_sum",
        "column_step",
        "column_share",
        "column_wanted",
        "root",
        "scale",
        "slack",
        "factor",
        "inverse",
    ],
)


@inlined
def workspace_size(rows: int, columns: int) -> int:
    """How many numbers `carve` needs."""
    return 2 * rows * columns + 4 * rows + 5 * columns + 2 * columns * columns


@inlined
def carve(scratch: FloatArray, rows: int, columns: int) -> Workspace:
    """Cut the Workspace of an r x s table out of one flat array."""
    cells, square, right, at = rows * columns, columns * columns, 4 * rows, 4 * rows + 5 * columns
    return Workspace(
        scratch[:rows],
        scratch[rows : 2 * rows],
        scratch[2 * rows : 3 * rows],
        scratch[3 * rows : right],
        scratch[right : right + columns],
        scratch[right + columns : right + 2 * columns],
        scratch[right + 2 * columns : right + 3 * columns],
        scratch[right + 3 * columns : right + 4 * columns],
        scratch[right + 4 * columns : at],
        scratch[at : at + cells].reshape(rows, columns),
        scratch[at + cells : at + 2 * cells].reshape(rows, columns),
        scratch[at + 2 * cells : at + 2 * cells + square].reshape(columns, columns),
        scratch[at + 2 * cells + square : at + 2 * cells + 2 * square].reshape(columns, columns),
    )


@inlined
def factorize(row_slope: FloatArray, column_slope: FloatArray, work: Workspace) -> None:
    """From v (`scale`), x, y and the slopes fill G, sqrt(b) and the Cholesky factor.

    The factor's diagonal is kept inverted: divisions would cost more than all the rest.
    """
    scale, factor, root, row_gain = work.scale, work.factor, work.root, work.row_gain
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
        row_gain[i] = row_slope[i] / (work.row_sum[i] + row_slope[i] * sum_scale) if row_slope[i] > 0.0 else 0.0
    for j in range(columns):
        factor[j, j] = work.column_sum[j] + column_slope[j] * factor[j, j]
    even, odd = work.column_step, work.inverse[columns - 1]
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
            value = np.inf  # an empty column, or one of which rounding left nothing: it does not move
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
        work.scale,
        work.row_gain,
        work.row_step,
        work.column_step,
        work.root,
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
    substitute(work.factor, column_step)
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
def variances(
    chance: FloatArray, total: float, work: Workspace, of_cells: FloatArray, of_rows: FloatArray, of_columns: FloatArray
) -> None:
    """Variances of pi_ij, x_i and y_j under Cov, in O(r s^2 + s^3).

    With Z = sqrt(b) (factor factor')^-1 sqrt(b), A^-1 = F - F (all blocks Z) F, so the diagonal of row i needs Z v_i
    only; the columns' sums have the covariance F_+ - F_+ Z F_+ - y y'/N with F_+ = sum_i F_i.
    """
    rows, columns = chance.shape
    inverse, scale, product = work.inverse, work.scale, work.column_step
    for j in range(columns):
        for k in range(columns):
            inverse[j, k] = 0.0
        inverse[j, j] = work.root[j]
        substitute(work.factor, inverse[j])
        for k in range(columns):
            inverse[j, k] *= work.root[k]
    for j in range(columns):
        of_columns[j] = 0.0
    for i in range(rows):
        gain = work.row_gain[i]
        sum_scale = 0.0
        quadratic = 0.0
        for j in range(columns):
            value = 0.0
            for k in range(columns):
                value += inverse[j, k] * scale[i, k]
            product[j] = value
            quadratic += value * scale[i, j]
            sum_scale += scale[i, j]
        held = 1.0 - gain * sum_scale
        of_rows[i] = held * sum_scale - held * held * quadratic - work.row_sum[i] * work.row_sum[i] / total
        for j in range(columns):
            own = scale[i, j] * (1.0 - gain * scale[i, j])
            shared = scale[i, j] * scale[i, j] * (inverse[j, j] - 2.0 * gain * product[j] + gain * gain * quadratic)
            of_cells[i, j] = own - shared - chance[i, j] * chance[i, j] / total
            of_columns[j] += own
    for j in range(columns):
        for k in range(columns):
            product[k] = 0.0
        for i in range(rows):
            weight = work.row_gain[i] * scale[i, j]
            product[j] += scale[i, j]
            for k in range(columns):
                product[k] -= weight * scale[i, k]
        quadratic = 0.0
        for k in range(columns):
            value = 0.0
            for other in range(columns):
                value += inverse[k, other] * product[other]
            quadratic += value * product[k]
        of_columns[j] -= quadratic + work.column_sum[j] * work.column_sum[j] / total
