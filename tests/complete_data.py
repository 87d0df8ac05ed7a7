"""Formulas for tables without missing values: the exact mean, and central moments to the paper's order.

The functions take Dirichlet *parameters* n_ij (counts plus pseudo-counts; n is their sum, r x s the shape) and
return, with l_ij = log(n_ij n/(n_i+ n_+j)) and J, K, L = sum (n_ij/n) l_ij^(1,2,3):

    exact mean                      (1/n) sum n_ij [psi(n_ij+1) - psi(n_i+ +1) - psi(n_+j +1) + psi(n+1)]
    variance, to O(n^-2)            (K - J^2)/(n+1) + [M + (r-1)(s-1)(1/2 - J) - Q]/((n+1)(n+2)),
                                    M = sum (1/n_ij - 1/n_i+ - 1/n_+j + 1/n) n_ij l_ij,  Q = 1 - sum n_ij^2/(n_i+ n_+j)
    third central moment, leading   (2/n^2)[2J^3 - 3KJ + L] + (3/n^2)[K + J^2 - P],
                                    P = n sum_i J_i+^2/n_i+ + n sum_j J_+j^2/n_+j,  J_ij = (n_ij/n) l_ij
    fourth central moment, leading  3 (K - J^2)^2/n^2                                 (poor near independence)

(Hutter 2001; Hutter and Zaffalon 2005.) Neither uses what it is compared with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.special import digamma

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray


def exact_mean(parameters: ArrayLike) -> float:
    """E[I] of complete data, exactly."""
    n, rows, columns, total = _complete(parameters)
    terms = digamma(n + 1.0) - digamma(rows + 1.0) - digamma(columns + 1.0) + digamma(total + 1.0)
    return float((n * terms).sum() / total)


def second_order_variance(parameters: ArrayLike) -> float:
    """Var[I] of complete data up to and including the order n^-2."""
    n, rows, columns, total = _complete(parameters)
    log_ratio, probability = np.log(n * total / (rows * columns)), n / total
    first, second = (probability * log_ratio).sum(), (probability * log_ratio**2).sum()
    shift = ((1.0 / n - 1.0 / rows - 1.0 / columns + 1.0 / total) * n * log_ratio).sum()
    freedom = (n.shape[0] - 1.0) * (n.shape[1] - 1.0)
    association = 1.0 - (n**2 / (rows * columns)).sum()
    correction = shift + freedom * (0.5 - first) - association
    return float((second - first**2) / (total + 1.0) + correction / ((total + 1.0) * (total + 2.0)))


def third_central_moment(parameters: ArrayLike) -> float:
    """E[(I - E[I])^3] of complete data, leading order n^-2."""
    n, rows, columns, total = _complete(parameters)
    log_ratio, probability = np.log(n * total / (rows * columns)), n / total
    first, second, third = ((probability * log_ratio**power).sum() for power in (1, 2, 3))
    contributions = probability * log_ratio
    margins = (
        total * (contributions.sum(axis=1) ** 2 / rows[:, 0]).sum()
        + total * (contributions.sum(axis=0) ** 2 / columns[0]).sum()
    )
    skew = 2.0 * (2.0 * first**3 - 3.0 * second * first + third) + 3.0 * (second + first**2 - margins)
    return float(skew / total**2)


def fourth_central_moment(parameters: ArrayLike) -> float:
    """E[(I - E[I])^4] of complete data, leading order n^-2: that of a Gaussian, hence inaccurate near independence."""
    n, rows, columns, total = _complete(parameters)
    log_ratio, probability = np.log(n * total / (rows * columns)), n / total
    first, second = (probability * log_ratio).sum(), (probability * log_ratio**2).sum()
    return float(3.0 * (second - first**2) ** 2 / total**2)


def _complete(parameters: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    n = np.asarray(parameters, dtype=np.float64)
    if n.ndim != 2 or not np.all((n > 0.0) & np.isfinite(n)):
        raise CredimiError(
            "Dirichlet parameters must be a table of positive finite numbers: add a pseudo-count to the counts"
        )
    return n, n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True), float(n.sum())
