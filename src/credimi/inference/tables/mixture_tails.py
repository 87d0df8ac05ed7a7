"""Tails and quantiles of many mixtures at once, in threads; `mixture_tails` has the mathematics and the cost.

A single mixture is a `Distribution`, whose quantiles are precise to the last digit. Here quantiles have ten digits, and
take far less time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.inference.distributions import mixture_tails
from credimi.inference.moments.moments import parts

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.evidence.adaptive_prior import PosteriorComponents


# `mixture_tails` is accurate and fast for Betas whose smaller parameter is in this range, and whose parameters
# have a sum below this maximum (tests/inference/test_mixture_tails.py).
_TRUSTED_PARAMETERS = (1e-3, 1e9)
_MAX_CONCENTRATION = 1e20
_CELLS_LIKE_A_COMPONENT = 100  # the moments of so many cells take as long as a quantile of one component


@dataclass(frozen=True, slots=True, eq=False)
class Mixtures:
    """Mixtures as `mixture_tails` takes them: Betas by their parameters, normal distributions by mean and deviation.

    The components of a table are those from its entry in `starts` up to the next entry. `trusted` is a mask of the
    components for which the kernels are accurate.
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


def mixtures_of(components: PosteriorComponents, upper: FloatArray, *, gaussian: bool) -> Mixtures:
    """The components as normal distributions, or as Betas on [0, upper]."""
    count = components.p_zero.size
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(components.table, minlength=count), out=starts[1:])
    common_fields = components.weight, starts, components.p_zero, upper, gaussian
    if gaussian:
        std = np.sqrt(components.variance)
        trusted = std > 0.0
        return Mixtures(components.mean, np.where(trusted, std, 1.0), std, *common_fields, trusted)
    width = upper[components.table]
    with np.errstate(all="ignore"):  # components that are not trusted may have impossible parameters
        mean_share, mean_complement = components.mean / width, (width - components.mean) / width
        concentration = mean_share * mean_complement * width**2 / components.variance - 1.0
        alpha, beta = mean_share * concentration, mean_complement * concentration
    (lowest, highest), smaller = _TRUSTED_PARAMETERS, np.minimum(alpha, beta)
    trusted = (smaller > lowest) & (smaller < highest) & (concentration < _MAX_CONCENTRATION)
    alpha, beta = np.where(trusted, alpha, 1.0), np.where(trusted, beta, 1.0)
    scale = np.empty(alpha.size)
    mixture_tails.log_scales(alpha, beta, scale)
    return Mixtures(alpha, beta, scale, *common_fields, trusted)


def above(mixtures: Mixtures, x: ArrayLike, threads: int | None) -> FloatArray:
    """P(I > x) of every table; `x` is one number, or one per table. Clipped, as weights are rounded."""
    return np.clip(_run_kernel(mixture_tails.upper_tails, mixtures, x, threads), 0.0, 1.0)


def quantiles(mixtures: Mixtures, tail: ArrayLike, threads: int | None) -> FloatArray:
    """The smallest x of every table with P(I > x) <= tail; `tail` is one number, or one per table."""
    return _run_kernel(mixture_tails.quantiles, mixtures, tail, threads)


def _run_kernel(
    kernel: Callable[..., None], mixtures: Mixtures, argument: ArrayLike, threads: int | None
) -> FloatArray:
    """The result of the kernel for every table; `argument` is one number, or one per table."""
    count = mixtures.p_zero.size
    arguments = np.full(count, argument, dtype=np.float64)  # not a view, which would be another type for Numba
    result = np.empty(count)

    def run_part(part: slice) -> None:
        kernel(
            mixtures.first,
            mixtures.second,
            mixtures.scale,
            mixtures.weight,
            mixtures.starts[part.start : part.stop + 1],
            mixtures.p_zero[part],
            mixtures.upper[part],
            mixtures.gaussian,
            arguments[part],
            result[part],
        )

    share(run_part, parts(count, _CELLS_LIKE_A_COMPONENT * mixtures.weight.size, threads), threads)
    return result
