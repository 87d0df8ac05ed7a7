"""Formulas for tables without missing values: the exact mean, and central moments to the paper's order.

Skewness and kurtosis are the third and fourth central moment of leading order, in units of the deviation of leading
order: the skewness falls with the root of n, and the kurtosis is 3, that of a Gaussian. `moments` has the formulas.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.core.special import digamma
from credimi.core.table import Table
from credimi.inference.evidence.fixed_priors import CELLS, pseudo_counts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray
    from credimi.inference.evidence.fixed_priors import Prior


@public
@dataclass(frozen=True, slots=True)
class CompleteMoments:
    """Moments of the mutual information of a table without missing values. Made by `credimi.complete_moments`.

    `mean` is exact, `variance` of second order; the two central moments, `skewness` and `kurtosis` (3 for a Gaussian)
    are of leading order, and NaN where the variance of leading order is 0.
    """

    mean: float
    variance: float
    third_central_moment: float
    fourth_central_moment: float
    skewness: float
    kurtosis: float


def complete_moments(joint: ArrayLike | Table, *, prior: Prior = CELLS) -> CompleteMoments:
    """Exact mean and higher moments of the mutual information (nats), for a table without missing values.

    Parameters
    ----------
    joint
        r x s counts, or one of the layouts that `Table` takes, without missing values.
    prior
        A fixed prior as in `credimi.posterior`; each cell needs a count or a pseudo-count.

    Examples
    --------
    >>> found = credimi.complete_moments([[10, 2], [3, 15]])
    >>> round(found.mean, 5), round(found.skewness, 3)
    (0.21682, 0.392)
    """
    table = Table.of(joint)
    if table.misses_feature or table.misses_target:
        raise CredimiError("these moments are for complete counts: use credimi.mutual_information for missing values")
    parameters = table.joint + pseudo_counts(prior, table)
    third, fourth = third_central_moment(parameters), fourth_central_moment(parameters)
    leading = math.sqrt(fourth / 3.0)  # the variance of leading order: of that order, the kurtosis is 3
    return CompleteMoments(
        exact_mean(parameters),
        second_order_variance(parameters),
        third,
        fourth,
        third / leading**1.5 if leading > 0.0 else math.nan,
        3.0 if leading > 0.0 else math.nan,
    )


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
