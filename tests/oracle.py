"""Plain oracles: dense matrices, loops, enumeration, quadrature and exact draws. Nothing here comes from credimi.

Everywhere `cells` (r x s) are the Dirichlet parameters c_ij = n_ij + pseudo-count, `row_only` the n_i? and
`column_only` the n_?j. The density over log-chances is prod pi_ij^c_ij prod pi_i+^n_i? prod pi_+j^n_?j, the density
over the simplex has pi_ij^(c_ij - 1) in place of pi_ij^c_ij.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import mpmath
import numpy as np
from scipy.special import gammaln, roots_jacobi

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]


# The chances: likelihood, mode, covariance


def log_likelihood(cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray) -> float:
    """Sum of count times log chance, with 0 log 0 = 0."""
    total = 0.0
    for counts, values in ((cells, chances), (row_only, chances.sum(axis=1)), (column_only, chances.sum(axis=0))):
        for count, value in zip(counts.ravel(), values.ravel(), strict=True):
            if count > 0.0:
                total += count * math.log(value) if value > 0.0 else -math.inf
    return total


def gradient(cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray) -> FloatArray:
    """Derivative of the log-likelihood by each chance: c/pi + n_i?/pi_i+ + n_?j/pi_+j, 0 for what was not counted."""
    slope = np.zeros(chances.shape)
    rows, columns = chances.sum(axis=1), chances.sum(axis=0)
    for i, j in np.ndindex(*chances.shape):
        for count, chance in ((cells[i, j], chances[i, j]), (row_only[i], rows[i]), (column_only[j], columns[j])):
            if count > 0.0:
                slope[i, j] += count / chance if chance > 0.0 else math.inf
    return slope


def kkt_violation(cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray) -> float:
    """How far the gradient is from N where pi > 0, or above N where pi = 0, relative to N."""
    total = cells.sum() + row_only.sum() + column_only.sum()
    excess = gradient(cells, row_only, column_only, chances) / total - 1.0
    return float(np.where(chances > 0.0, np.abs(excess), np.maximum(excess, 0.0)).max())


def em_mode(
    cells: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    *,
    steps: int = 100_000,
    start: FloatArray | None = None,
) -> FloatArray:
    """The paper's fixed point, from the interior (equal chances), until no chance moves by more than rounding."""
    total = cells.sum() + row_only.sum() + column_only.sum()
    chances = np.full(cells.shape, 1.0 / cells.size) if start is None else start
    for _ in range(steps):
        rows, columns = chances.sum(axis=1), chances.sum(axis=0)
        of_rows = np.divide(row_only, rows, out=np.zeros_like(rows), where=rows > 0.0)
        of_columns = np.divide(column_only, columns, out=np.zeros_like(columns), where=columns > 0.0)
        new = (cells + chances * (of_rows[:, None] + of_columns)) / total
        moved = np.abs(new - chances)
        chances = new
        if np.all(moved <= 1e-15 * chances):
            break
    return chances


def dense_information_matrix(
    cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray
) -> FloatArray:
    """A of the paper, rs x rs, cells row by row: minus the second derivatives of the log-likelihood."""
    rows, columns = chances.sum(axis=1), chances.sum(axis=0)
    matrix = np.zeros((chances.size, chances.size))
    indices = list(np.ndindex(*chances.shape))
    for first, (i, j) in enumerate(indices):
        for second, (k, m) in enumerate(indices):
            if i == k and j == m and cells[i, j] > 0.0:
                matrix[first, second] += cells[i, j] / chances[i, j] ** 2
            if i == k and row_only[i] > 0.0:
                matrix[first, second] += row_only[i] / rows[i] ** 2
            if j == m and column_only[j] > 0.0:
                matrix[first, second] += column_only[j] / columns[j] ** 2
    return matrix


def dense_covariance(
    cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray
) -> FloatArray:
    """A^-1 - A^-1 e e' A^-1/(e' A^-1 e) over the cells with pi > 0; the others do not vary.

    A is scaled to a unit diagonal before it is inverted, which spares rounding and changes nothing else.
    """
    inside = np.flatnonzero(chances.ravel() > 0.0)
    matrix = dense_information_matrix(cells, row_only, column_only, chances)[np.ix_(inside, inside)]
    scale = 1.0 / np.sqrt(np.diag(matrix))
    inverse = np.linalg.inv(matrix * np.outer(scale, scale)) * np.outer(scale, scale)
    along = inverse.sum(axis=1)
    covariance = np.zeros((chances.size, chances.size))
    covariance[np.ix_(inside, inside)] = inverse - np.outer(along, along) / along.sum()
    return covariance


def dense_mode(cells: FloatArray, row_only: FloatArray, column_only: FloatArray, steps: int = 500) -> FloatArray:
    """The mode by damped Newton steps, Cov times gradient, for positive cells.

    With the length 1/(1 + decrement), the decrement measured in the smallest cell, a sum of logarithms is
    self-concordant and the steps converge from anywhere, in the end quadratically.
    """
    chances = cells / cells.sum()
    for _ in range(steps):
        slope = gradient(cells, row_only, column_only, chances).ravel()
        step = dense_covariance(cells, row_only, column_only, chances) @ slope
        decrement = math.sqrt(max(slope @ step, 0.0) / min(1.0, cells.min()))
        step = step.reshape(cells.shape) / (1.0 + decrement if decrement > 0.25 else 1.0)
        chances = chances + step
        chances = chances / chances.sum()
        if np.all(np.abs(step) <= 1e-13 * chances):
            break
    return chances


def precise_covariance(
    cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray, digits: int = 60
) -> FloatArray:
    """`dense_covariance` in arithmetic of many digits, for tables on which doubles have none left."""
    with mpmath.workdps(digits):
        matrix = mpmath.matrix(chances.size)
        rows = [mpmath.fsum(row) for row in chances.tolist()]
        columns = [mpmath.fsum(column) for column in chances.T.tolist()]
        indices = list(np.ndindex(*chances.shape))
        for first, (i, j) in enumerate(indices):
            matrix[first, first] += mpmath.mpf(cells[i, j]) / mpmath.mpf(chances[i, j]) ** 2
            for second, (k, m) in enumerate(indices):
                if i == k:
                    matrix[first, second] += row_only[i] / rows[i] ** 2
                if j == m:
                    matrix[first, second] += column_only[j] / columns[j] ** 2
        inverse = matrix**-1
        along = inverse * mpmath.ones(chances.size, 1)
        covariance = inverse - along * along.T / mpmath.fsum(along)
        return np.array(covariance.tolist(), dtype=float)


# Mutual information


def mutual_information(chances: FloatArray) -> float:
    """Sum of pi_ij log(pi_ij/(pi_i+ pi_+j)) in nats, cell by cell."""
    total = 0.0
    for i, j in np.ndindex(*chances.shape):
        if chances[i, j] > 0.0:
            total += chances[i, j] * math.log(chances[i, j] / (chances[i, :].sum() * chances[:, j].sum()))
    return total


def log_ratios(chances: FloatArray) -> FloatArray:
    """l_ij = log(pi_ij/(pi_i+ pi_+j)), 0 where pi_ij = 0."""
    ratios = np.zeros(chances.shape)
    for i, j in np.ndindex(*chances.shape):
        if chances[i, j] > 0.0:
            ratios[i, j] = math.log(chances[i, j] / (chances[i, :].sum() * chances[:, j].sum()))
    return ratios


def leading_moments(
    cells: FloatArray, row_only: FloatArray, column_only: FloatArray, chances: FloatArray
) -> tuple[float, float]:
    """The paper's mean I(mode) and variance l' Cov l; `chances` is the mode."""
    slope = log_ratios(chances).ravel()
    covariance = dense_covariance(cells, row_only, column_only, chances)
    return mutual_information(chances), float(slope @ covariance @ slope)


def exact_mean(cells: FloatArray, digits: int = 40) -> float:
    """E[I] of complete data: sum of c/N [psi(c+1) - psi(row+1) - psi(column+1) + psi(N+1)], in many digits."""
    with mpmath.workdps(digits):
        rows = [mpmath.fsum(row) for row in cells.tolist()]
        columns = [mpmath.fsum(column) for column in cells.T.tolist()]
        total = mpmath.fsum(rows)
        mean = mpmath.mpf(0)
        for i, j in np.ndindex(*cells.shape):
            cell = mpmath.mpf(float(cells[i, j]))
            terms = (+1, cell), (-1, rows[i]), (-1, columns[j]), (+1, total)
            mean += cell / total * mpmath.fsum(sign * mpmath.digamma(count + 1) for sign, count in terms)
        return float(mean)


def informations(chances: FloatArray) -> FloatArray:
    """Mutual information of many tables (draws, r, s), none of whose chances is 0."""
    expected = chances.sum(axis=2, keepdims=True) * chances.sum(axis=1, keepdims=True)
    return (chances * np.log(chances / expected)).sum(axis=(1, 2))


# Draws


def dirichlet_draws(parameters: FloatArray, size: int, generator: np.random.Generator) -> FloatArray:
    """Gamma variates over their sum, along the last axis."""
    gammas = generator.standard_gamma(parameters, (size, *parameters.shape))
    return gammas / gammas.sum(axis=-1, keepdims=True)


def one_sided_draws(cells: FloatArray, row_only: FloatArray, size: int, generator: np.random.Generator) -> FloatArray:
    """Exact independent draws where no row lacks the class: w ~ Dir(c_i+ + n_i?), q_i. ~ Dir(c_i.), pi = w q."""
    weights = dirichlet_draws(cells.sum(axis=1) + row_only, size, generator)
    conditionals = dirichlet_draws(cells, size, generator)
    return weights[:, :, None] * conditionals


def gibbs_draws(
    cells: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    *,
    chains: int,
    steps: int,
    burn_in: int,
    generator: np.random.Generator,
) -> FloatArray:
    """Data augmentation on both margins, for whole counts: complete all rows by multinomials, draw one Dirichlet.

    Returns (steps, chains, r, s); the chains are independent.
    """
    rows, columns = cells.shape
    of_rows, of_columns = row_only.astype(int), column_only.astype(int)
    chances = dirichlet_draws(cells.ravel(), chains, generator).reshape(chains, rows, columns)
    kept = np.empty((steps, chains, rows, columns))
    for step in range(-burn_in, steps):
        completed = np.broadcast_to(cells, chances.shape).copy()
        completed += generator.multinomial(of_rows, chances / chances.sum(axis=2, keepdims=True))
        given_column = (chances / chances.sum(axis=1, keepdims=True)).swapaxes(1, 2)
        completed += generator.multinomial(of_columns, given_column).swapaxes(1, 2)
        gammas = generator.standard_gamma(completed)
        chances = gammas / gammas.sum(axis=(1, 2), keepdims=True)
        if step >= 0:
            kept[step] = chances
    return kept


# Exact sums and integrals


def log_dirichlet_integral(parameters: FloatArray) -> float:
    """Log of the integral of prod pi^(c - 1) over the simplex."""
    return float(gammaln(parameters).sum() - gammaln(parameters.sum()))


def completions(cells: FloatArray, row_only: FloatArray, column_only: FloatArray) -> Iterator[tuple[float, FloatArray]]:
    """Every way in which whole margins can fall on the cells: (log of the number of orders, completed cells).

    The density is the sum of the complete-data densities of these.
    """
    rows, columns = cells.shape
    per_row = [list(_compositions(int(count), columns)) for count in row_only]
    per_column = [list(_compositions(int(count), rows)) for count in column_only]
    for parts in itertools.product(*per_row, *per_column):
        completed = cells + np.array(parts[:rows]) + np.array(parts[rows:]).T
        orders = sum(math.lgamma(sum(part) + 1) - sum(math.lgamma(k + 1) for k in part) for part in parts)
        yield orders, completed


def _compositions(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to write `total` as an ordered sum of `parts` whole numbers from 0 up."""
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in _compositions(total - first, parts - 1):
            yield (first, *rest)


def log_evidence(cells: FloatArray, row_only: FloatArray, column_only: FloatArray) -> float:
    """Log-evidence, exactly, for whole numbers `column_only`: the rows without a class fall on the classes in all ways.

    What is left has complete classes, for which the integral is a product of Betas: `row_only` may be any numbers.
    """
    rows, columns = cells.shape
    per_column = [np.array(list(_compositions(int(count), rows)), float) for count in column_only]
    logarithms = []
    for chosen in itertools.product(*(range(len(ways)) for ways in per_column[:-1])):
        last = per_column[-1]  # all ways of the last column at once
        fallen = np.empty((len(last), rows, columns))
        for j, way in enumerate(chosen):
            fallen[:, :, j] = per_column[j][way]
        fallen[:, :, -1] = last
        orders = (gammaln(fallen.sum(axis=1) + 1.0) - gammaln(fallen + 1.0).sum(axis=1)).sum(axis=1)
        completed = cells + fallen
        by_row = completed.sum(axis=2)
        of_rows = gammaln(by_row + row_only).sum(axis=1) - gammaln((by_row + row_only).sum(axis=1))
        given_rows = (gammaln(completed).sum(axis=2) - gammaln(by_row)).sum(axis=1)
        logarithms.append(orders + of_rows + given_rows)
    terms = np.concatenate(logarithms)
    return float(terms.max() + np.log(np.exp(terms - terms.max()).sum()))


def enumerated(
    cells: FloatArray, row_only: FloatArray, column_only: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Log-evidence, means and second moments E[pi_ij^2], exactly, by summing over all completions."""
    logarithms, means, squares = [], [], []
    for orders, completed in completions(cells, row_only, column_only):
        total = completed.sum()
        logarithms.append(orders + log_dirichlet_integral(completed))
        means.append(completed / total)
        squares.append(completed * (completed + 1.0) / (total * (total + 1.0)))
    peak = max(logarithms)
    weights = np.exp(np.array(logarithms) - peak)
    evidence = peak + math.log(weights.sum())
    weights /= weights.sum()
    return evidence, np.tensordot(weights, means, 1), np.tensordot(weights, squares, 1)


def quadrature(
    cells: FloatArray,
    row_only: FloatArray,
    column_only: FloatArray,
    functions: list[Callable[[FloatArray], FloatArray]],
    nodes: int = 48,
) -> tuple[float, list[FloatArray]]:
    """Log-evidence of a 2 x 2 table and expectations of functions of the chances (points, 2, 2), margins real.

    In the coordinates w = pi_1+, q_i = pi_i1/pi_i+ the density is Beta(w) Beta(q_1) Beta(q_2) times prod pi_+j^n_?j:
    Gauss-Jacobi nodes on the three Betas. Exact for polynomials, so for whole margins of the columns.
    """
    rows = cells.sum(axis=1) + row_only
    w, of_w, log_w = _beta_nodes(rows[0], rows[1], nodes)
    q, of_q, log_q = _beta_nodes(cells[0, 0], cells[0, 1], nodes)
    p, of_p, log_p = _beta_nodes(cells[1, 0], cells[1, 1], nodes)
    w, q, p = (grid.ravel() for grid in np.meshgrid(w, q, p, indexing="ij"))
    weights = np.einsum("i,j,k->ijk", of_w, of_q, of_p).ravel()
    chances = np.stack([w * q, w * (1.0 - q), (1.0 - w) * p, (1.0 - w) * (1.0 - p)], axis=1).reshape(-1, 2, 2)
    exponent = np.log(chances.sum(axis=1)) @ column_only
    peak = exponent.max()
    weights = weights * np.exp(exponent - peak)
    total = weights.sum()
    expectations = [np.tensordot(weights / total, function(chances), 1) for function in functions]
    return float(log_w + log_q + log_p + peak + math.log(total)), expectations


def _beta_nodes(first: float, second: float, nodes: int) -> tuple[FloatArray, FloatArray, float]:
    """Nodes on (0, 1), weights that sum to 1, and log B(first, second), for the density of Beta(first, second)."""
    points, weights = roots_jacobi(nodes, second - 1.0, first - 1.0)
    log_beta = math.lgamma(first) + math.lgamma(second) - math.lgamma(first + second)
    return 0.5 * (1.0 + points), weights / weights.sum(), log_beta
