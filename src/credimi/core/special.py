"""Special functions on arrays, in plain numpy: nothing to install, to load or to compile.

**Gamma.** With Stirling's formula, for x >= 8,

    log Gamma(x) = (x - 1/2) log x - x + log(2 pi)/2 + s(1/x),   s(z) = z/12 - z^3/360 + z^5/1260 - ...,

of which eight terms are exact to rounding, and below 8 the same of x + 8 and the recurrence

    log Gamma(x) = log Gamma(x + 8) - log [x (x + 1) ... (x + 7)],

the eight factors folded as in `special_functions`. The derivatives, digamma and trigamma, have the same series and
recurrences, term by term. All arguments are positive.

**Normal distribution.** Both tails are erfc, which the standard library has for single numbers, to the last digit or
two, and so it has the quantile (Wichura's AS 241). That takes 0.1 microseconds a number; no array here is long.

Errors against mpmath: tests/core/test_special_functions.py.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray

_SERIES_FROM = 8.0
_SHIFT = 8.0
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ROOT_HALF = math.sqrt(0.5)
# The Bernoulli numbers B_2, B_4, ..., of the series of trigamma; over 2k of that of digamma, and over 2k (2k - 1) of s.
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_DIGAMMA = tuple(number / (2 * index + 2) for index, number in enumerate(_TRIGAMMA))
_STIRLING = tuple(number / (2 * index + 1) for index, number in enumerate(_DIGAMMA))


def log_gamma(x: ArrayLike) -> FloatArray:
    """log Gamma(x) for x > 0; near its roots, 1 and 2, the error is absolute."""
    x, small, shifted = _shifted(x)
    stirling = (shifted - 0.5) * np.log(shifted) - shifted + _HALF_LOG_TWO_PI + _stirling_series(1.0 / shifted)
    t = small * (small + 7.0)
    folded = t * (t + 6.0) * ((t + 10.0) * (t + 12.0))
    return np.where(x < _SERIES_FROM, stirling - np.log(folded), stirling)


def stirling_error(x: ArrayLike) -> FloatArray:
    """log Gamma(x) - [(x - 1/2) log x - x + log(2 pi)/2]: what Stirling's formula lacks, s(1/x) for x >= 8.

    It falls by (x + 1/2) log(1 + 1/x) - 1 from x to x + 1: below 8 there are eight such steps, small and without
    cancellation.
    """
    x, small, shifted = _shifted(x)
    steps = sum((small + (k + 0.5)) * np.log1p(1.0 / (small + k)) - 1.0 for k in range(int(_SHIFT)))
    series = _stirling_series(1.0 / shifted)
    return np.where(x < _SERIES_FROM, series + steps, series)


def digamma(x: ArrayLike) -> FloatArray:
    """The derivative of log Gamma for x > 0: log x - 1/(2x) - 1/(12 x^2) + ...; near its root the error is absolute."""
    x, small, shifted = _shifted(x)
    inverse = 1.0 / shifted
    series = np.log(shifted) - 0.5 * inverse - inverse**2 * _polynomial(_DIGAMMA, inverse**2)
    t = small * (small + 7.0)
    low, high = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    reciprocals = (2.0 * small + 7.0) * ((2.0 * t + 6.0) * high + (2.0 * t + 22.0) * low) / (low * high)
    return np.where(x < _SERIES_FROM, series - reciprocals, series)


def trigamma(x: ArrayLike) -> FloatArray:
    """The derivative of digamma for x > 0: 1/x + 1/(2 x^2) + 1/(6 x^3) - ..."""
    x, small, shifted = _shifted(x)
    inverse = 1.0 / shifted
    series = inverse * (1.0 + 0.5 * inverse + inverse**2 * _polynomial(_TRIGAMMA, inverse**2))
    squares = sum((small + step) ** -2.0 for step in range(int(_SHIFT)))
    return np.where(x < _SERIES_FROM, series + squares, series)


def mean_digamma(x: ArrayLike, width: ArrayLike) -> FloatArray:
    """[log Gamma(x + width) - log Gamma(x)]/width for x > 0, width > 0, with all digits where the width is tiny.

    It is the mean of digamma over the width. With B = x + 8 and a the width,

        (B + a - 1/2) log(1 + a/B)/a + log B - 1 - [s(1/B), s(1/(B + a))]/(B (B + a)) - sum_k log(1 + a/(x + k))/a,

    k < 8, where [s(u), s(v)] = (s(u) - s(v))/(u - v) comes from Horner's scheme, twice, without the difference.
    """
    x, width = np.asarray(x, dtype=np.float64), np.asarray(width, dtype=np.float64)
    start = x + _SHIFT
    first, last = 1.0 / start, 1.0 / (start + width)
    value = np.full(np.broadcast_shapes(first.shape, last.shape), _STIRLING[-1])
    slope = np.zeros_like(value)
    for coefficient in reversed(_STIRLING[:-1]):
        slope = slope * last**2 + value
        value = value * first**2 + coefficient
    divided = value + last * slope * (first + last)
    factors = sum(np.log1p(width / (x + step)) for step in range(int(_SHIFT)))
    stirling = (start + width - 0.5) * np.log1p(width / start) / width + np.log(start) - 1.0 - divided * first * last
    return np.asarray(stirling - factors / width)


def x_log_x(x: ArrayLike) -> FloatArray:
    """x log x for x >= 0, and 0 at 0."""
    x = np.asarray(x, dtype=np.float64)
    return np.asarray(x * np.log(np.where(x > 0.0, x, 1.0)))


def normal_below(z: ArrayLike) -> FloatArray:
    """The standard normal distribution function, erfc(-z/sqrt(2))/2; of -z it is the upper tail, with all digits."""
    scaled = np.asarray(z, dtype=np.float64) * -_ROOT_HALF
    tails = np.fromiter(map(math.erfc, scaled.ravel().tolist()), np.float64, scaled.size)
    return np.asarray(0.5 * tails.reshape(scaled.shape))


def normal_quantile(probability: ArrayLike) -> FloatArray:
    """The z below which a standard normal variable has this probability; infinite for 0 and 1, NaN outside."""
    p = np.asarray(probability, dtype=np.float64)
    inside = (p > 0.0) & (p < 1.0)
    quantile = np.where(p == 0.0, -np.inf, np.where(p == 1.0, np.inf, np.nan))
    inverse = NormalDist().inv_cdf
    quantile[inside] = [inverse(each) for each in p[inside].tolist()]
    return quantile


def _shifted(x: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The argument; that of the recurrence, 8 where it is not needed and might overflow; that of the series."""
    x = np.asarray(x, dtype=np.float64)
    return x, np.minimum(x, _SERIES_FROM), np.where(x < _SERIES_FROM, x + _SHIFT, x)


def _polynomial(coefficients: tuple[float, ...], x: FloatArray) -> FloatArray:
    total = np.full(x.shape, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _stirling_series(z: FloatArray) -> FloatArray:
    """s(z) of the module's docstring, for z <= 1/8."""
    return z * _polynomial(_STIRLING, z * z)


def entropy(counts: ArrayLike) -> float:
    """The entropy of shares, in nats, from counts that are not all 0."""
    present = np.asarray(counts)[np.asarray(counts) > 0]
    shares = present / present.sum()
    return float(-(shares * np.log(shares)).sum())
