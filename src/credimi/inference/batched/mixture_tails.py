"""Tails and quantiles of many mixtures at once, in threads; `kernels.mixture_tails` has the mathematics and the cost.

A single mixture is a `Distribution`, which finds its quantiles to the last digit; here quantiles have ten digits, and
take far less time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.inference.moments import parts
from credimi.kernels import mixture_tails

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.adaptive_prior import PosteriorComponents


# Betas for which `kernels.mixture_tails` is accurate and fast, by their smaller parameter and by the sum
# (tests/inference/test_mixture_tails.py).
_TRUSTED = (1e-3, 1e9)
_MOST_CONCENTRATION = 1e20
_CELLS_LIKE_A_COMPONENT = 100  # the moments of so many cells take as long as a quantile of one component


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Mixtures as `mixture_tails` takes them: Betas by their parameters, normal distributions by mean and deviation.

    The components of a table are those from its entry in `starts` up to the next; `trusted` says which are within the
    accurate range.
    """

    first: FloatArray
    second: FloatArray
    scale: FloatArray
    weight: FloatArray
    starts: IntegerArray
    p_zero: FloatArray
    upper: FloatArray
    gaussian: bool
    trusted: BooleanArray


def laws_of(found: PosteriorComponents, upper: FloatArray, *, gaussian: bool) -> Laws:
    """The components as normal distributions, or as Betas on [0, upper]."""
    count = found.p_zero.size
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(found.table, minlength=count), out=starts[1:])
    rest = found.weight, starts, found.p_zero, upper, gaussian
    if gaussian:
        std = np.sqrt(found.variance)
        trusted = std > 0.0
        return Laws(found.mean, np.where(trusted, std, 1.0), std, *rest, trusted)
    width = upper[found.table]
    with np.errstate(all="ignore"):  # what is not trusted may be anything
        near, far = found.mean / width, (width - found.mean) / width
        concentration = near * far * width**2 / found.variance - 1.0
        alpha, beta = near * concentration, far * concentration
    (least, most), lesser = _TRUSTED, np.minimum(alpha, beta)
    trusted = (lesser > least) & (lesser < most) & (concentration < _MOST_CONCENTRATION)
    alpha, beta = np.where(trusted, alpha, 1.0), np.where(trusted, beta, 1.0)
    scale = np.empty(alpha.size)
    mixture_tails.log_scales(alpha, beta, scale)
    return Laws(alpha, beta, scale, *rest, trusted)


def above(laws: Laws, x: ArrayLike, threads: int | None) -> FloatArray:
    """P(I > x) of every table; `x` is one number, or one per table. Rounding of the weights never gives more than 1."""
    return np.clip(_each(mixture_tails.upper_tails, laws, x, threads), 0.0, 1.0)


def quantiles(laws: Laws, tail: ArrayLike, threads: int | None) -> FloatArray:
    """The least x of every table with P(I > x) <= tail; `tail` is one number, or one per table."""
    return _each(mixture_tails.quantiles, laws, tail, threads)


def _each(kernel: Callable[..., None], laws: Laws, argument: ArrayLike, threads: int | None) -> FloatArray:
    """The result of the kernel for every table and its argument."""
    count = laws.p_zero.size
    given = np.full(count, argument, dtype=np.float64)  # not a view, which would be another type for Numba
    result = np.empty(count)

    def chunk(part: slice) -> None:
        kernel(
            laws.first,
            laws.second,
            laws.scale,
            laws.weight,
            laws.starts[part.start : part.stop + 1],
            laws.p_zero[part],
            laws.upper[part],
            laws.gaussian,
            given[part],
            result[part],
        )

    share(chunk, parts(count, _CELLS_LIKE_A_COMPONENT * laws.weight.size, threads), threads)
    return result
