"""The Beta distribution on [0, upper], used for a posterior whose mean and standard deviation are known.

For mean m and standard deviation s: p = m / upper, q = 1 - p, alpha = p r, beta = q r, and r = alpha + beta = p q
upper^2 / s^2 - 1, which grows like the number of rows, and near independence like its square.

scipy 1.17.1 was compared with mpmath. `betainc` and `betaincc` are accurate to 1e-10 while min(alpha, beta) < 1e7, with
the greater of the two up to 1e24 and the smaller down to 1e-21. One exception: a lower tail under 1e-290 can underflow
if alpha is far above beta. From 1e7 on they become inaccurate: the error is 5e-4 at alpha = beta = 5e11, 4e-2 at 5e13,
and NaN results from 1e14 on. There the tails come from their uniform expansion (Temme 1982, the formula of Lugannani
and Rice 1980). With
d = (x - m) / upper, t = d / sqrt(p q), and

    eta^2 / 2 = -p log(1 + d/p) - q log(1 - d/q),   eta of the sign of d,   z = sqrt(r) eta,

    P(X <= x) = Phi(z) - phi(z) c,   P(X > x) = Phi(-z) + phi(z) c,   c = (1/t - 1/eta) / sqrt(r),

whose relative error, O(min(alpha, beta)^(-3/2)), measures 1e-12 at 1e7. As written it cancels near d = 0; with
l(u) = (log(1 + u) - u + u^2/2) / u^3 = 1/3 - u/4 + u^2/5 - ... it does not:

    eta = t rho,   rho^2 = 1 - 2 d [(q/p) l(d/p) - (p/q) l(-d/q)],
    c = -2 [q^(3/2) l(d/p) / sqrt(alpha) - p^(3/2) l(-d/q) / sqrt(beta)] / (rho (1 + rho)).

d is taken from the mean itself, not from alpha / r, which at r = 1e24 is rounded by 1e-4 standard deviations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import scipy  # its `special` is loaded on first use, in a tenth of a second

from credimi.core.arguments import require_finite
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.inference.distributions.components import ROOT_TWO_PI, FloatArray, Point, standard_density
from credimi.inference.distributions.stirling import LARGE, stirling_error

_SMALLEST = float(np.finfo(np.float64).tiny)
# From here on the expansion is better than scipy: both have an error near 1e-12 here.
_PEAKED = 1e7
# The least alpha + beta. At 0 the variance is mean (upper - mean): a coin between 0 and upper, which no Beta reaches.
_LEAST_CONCENTRATION = 1e-6
# A mean, or a std, below this share of upper is treated as 0; its square would underflow.
_LEAST_SHARE = 1e-140
_CUBIC_SERIES = tuple((-1.0) ** power / (power + 3) for power in range(9))


@stored
@dataclass(frozen=True, slots=True)
class ScaledBeta:
    """A Beta on [0, upper] with given mean and standard deviation; `from_moments` also takes those that no Beta has."""

    mean: float
    std: float
    upper: float
    alpha: float = field(init=False)
    beta: float = field(init=False)

    def __post_init__(self) -> None:
        possible = 0.0 < self.mean < self.upper < math.inf and self.std > 0.0
        share, rest = self._shares if possible else (0.0, 0.0)
        ratio = math.sqrt(share) * math.sqrt(rest) / self.std * self.upper if possible else 0.0
        concentration = ratio * ratio - 1.0
        # Half, because `from_moments` reaches the least value except for rounding.
        if not _LEAST_CONCENTRATION / 2.0 <= concentration < math.inf:
            moments = f"mean {self.mean} and std {self.std} on [0, {self.upper}]"
            raise CredimiError(f"no Beta has {moments}; use ScaledBeta.from_moments, which takes the nearest")
        object.__setattr__(self, "alpha", share * concentration)
        object.__setattr__(self, "beta", rest * concentration)

    @classmethod
    def from_moments(cls, mean: float, std: float, upper: float) -> ScaledBeta | Point:
        """Fit moments that were estimated, and so may be impossible.

        No distribution on [0, upper] has a variance above mean (upper - mean), and no Beta reaches it. A greater `std`
        is reduced to alpha + beta = 1e-6: nearly all mass at 0 and upper, which such moments ask for. A `std` of 0, or
        a mean at either end, gives a `Point`; so does one within 1e-140 upper of it.
        """
        mean, std, upper = require_finite("mean", mean), require_finite("std", std), require_finite("upper", upper)
        if std < 0.0:
            raise CredimiError(f"std is {std}, but it cannot be negative; give the root of a variance, or 0")
        if not 0.0 <= mean <= upper:
            raise CredimiError(f"mean is {mean}, outside [0, {upper}]; clip it, or use a normal distribution")
        # Separate roots: mean (upper - mean) may underflow.
        std = min(std, math.sqrt(mean) * math.sqrt(upper - mean) / math.sqrt(1.0 + _LEAST_CONCENTRATION))
        if min(mean, upper - mean, std) <= _LEAST_SHARE * upper:
            return Point(mean)
        return cls(mean, std, upper)

    @property
    def _shares(self) -> tuple[float, float]:
        """Shares p and q; q is not 1 - p, which loses digits if the mean is close to upper."""
        return self.mean / self.upper, (self.upper - self.mean) / self.upper

    @property
    def _peaked(self) -> bool:
        return min(self.alpha, self.beta) >= _PEAKED

    @property
    def skewness(self) -> float:
        """2 (q - p) sqrt(r + 1) / (sqrt(p q) (r + 2))."""
        share, rest = self._shares
        concentration = self.alpha + self.beta
        scale = math.sqrt(share) * math.sqrt(rest) * (concentration + 2.0)
        return 2.0 * (rest - share) * math.sqrt(concentration + 1.0) / scale

    @property
    def kurtosis(self) -> float:
        """3 + 6 [(q - p)^2 (r + 1) / (p q) - (r + 2)] / ((r + 2) (r + 3))."""
        share, rest = self._shares
        concentration = self.alpha + self.beta
        spread = (rest - share) ** 2 / (share * rest) * ((concentration + 1.0) / (concentration + 2.0)) - 1.0
        return 3.0 + 6.0 * spread / (concentration + 3.0)

    @property
    def support(self) -> tuple[float, float]:
        """[0, upper]."""
        return 0.0, self.upper

    def _expansion(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """z and phi(z) c of the module's docstring, for a peaked distribution."""
        share, rest = self._shares
        # A fiftieth of min(p, q) is 60 standard deviations or more: beyond it the tails are exactly 0 and 1, and within
        # it the series of l converges fast.
        limit = 0.02 * min(share, rest)
        offset = np.clip((x - self.mean) / self.upper, -limit, limit)
        left, right = _cubic(offset / share), _cubic(-offset / rest)
        rho = np.sqrt(1.0 - 2.0 * offset * (rest / share * left - share / rest * right))
        z = offset * rho * (math.sqrt(self.alpha / share) / math.sqrt(share * rest))
        slope = rest**1.5 / math.sqrt(self.alpha) * left - share**1.5 / math.sqrt(self.beta) * right
        return z, standard_density(z) * -2.0 * slope / (rho * (1.0 + rho))

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(X <= x)."""
        if self._peaked:
            z, correction = self._expansion(x)
            return np.asarray(scipy.special.ndtr(z)) - correction
        y = _unit(x / self.upper)
        below = np.asarray(scipy.special.betainc(self.alpha, self.beta, y))
        slight = (y > 0.0) & (y < _SMALLEST) & (below > 0.1)  # too few digits for `betainc`: 1e-8 off; betaincc is not
        return (
            np.where(slight, 1.0 - scipy.special.betaincc(self.alpha, self.beta, y), below) if np.any(slight) else below
        )

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x)."""
        if self._peaked:
            z, correction = self._expansion(x)
            return np.asarray(scipy.special.ndtr(-z)) + correction
        return np.asarray(scipy.special.betaincc(self.alpha, self.beta, _unit(x / self.upper)))

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density, accurate to eight digits or more; infinite at an end whose parameter is below 1."""
        y = _unit(x / self.upper)
        with np.errstate(all="ignore"):  # an end of the support is infinite, or outside
            if min(self.alpha, self.beta) < LARGE:
                logarithm = (
                    scipy.special.xlogy(self.alpha - 1.0, y)
                    + scipy.special.xlog1py(self.beta - 1.0, -y)
                    - scipy.special.betaln(self.alpha, self.beta)
                )
                return np.where((x < 0.0) | (x > self.upper), 0.0, np.asarray(np.exp(logarithm)) / self.upper)
            # From the maximum on and with Stirling's series: betaln(9e6, 1e12) alone would be off by 5e-3.
            share, rest = self._shares
            complement = (self.upper - x) / self.upper
            if self._peaked:
                exponent = -0.5 * self._expansion(x)[0] ** 2
            else:
                offset = (x - self.mean) / self.upper
                exponent = self.alpha * _log_excess(offset / share, y / share)
                exponent += self.beta * _log_excess(-offset / rest, complement / rest)
            of_sum, of_alpha, of_beta = stirling_error([self.alpha + self.beta, self.alpha, self.beta]).tolist()
            exponent += of_sum - of_alpha - of_beta
            scale = math.sqrt(self.alpha * rest) / ROOT_TWO_PI / self.upper
            density = np.exp(exponent) * scale / (y * complement)
        return np.where((x <= 0.0) | (x >= self.upper), 0.0, density)

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """Quantile of scipy; for a peaked distribution, the normal quantile with a correction for skewness.

        `betaincinv` and `betainccinv` of scipy 1.17.1 return NaN for Beta(5, 1000) at 1e-290 and for most Betas
        with r > 1e19, nothing below 2.2e-308, and from r = 1e13 on quantiles whose tail is off by orders of magnitude.
        """
        if self._peaked:
            z: FloatArray = np.clip(scipy.special.ndtri(probability), -40.0, 40.0) * (-1.0 if upper_tail else 1.0)
            return np.clip(self.mean + self.std * (z + (z * z - 1.0) * self.skewness / 6.0), 0.0, self.upper)
        inverse = scipy.special.betainccinv if upper_tail else scipy.special.betaincinv
        quantile = self.upper * np.asarray(inverse(self.alpha, self.beta, probability))
        return np.where(np.isnan(quantile), self.mean, quantile)

    def moment(self, order: int) -> float:
        """E[X^order] = upper^order prod_k (alpha + k) / (alpha + beta + k), k < order."""
        concentration = self.alpha + self.beta
        return math.prod((self.upper * (self.alpha + k) / (concentration + k) for k in range(order)), start=1.0)

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:
        """`count` independent draws; one that underflows is rounded up, like a quantile, as 0 has no mass."""
        return np.maximum(self.upper * generator.beta(self.alpha, self.beta, count), math.ulp(0.0))


def _cubic(u: FloatArray) -> FloatArray:
    """l(u) of the module's docstring, for |u| <= 0.02, where 9 terms are exact to rounding."""
    total = np.full(u.shape, _CUBIC_SERIES[-1])
    for coefficient in reversed(_CUBIC_SERIES[:-1]):
        total = total * u + coefficient
    return total


def _log_excess(u: FloatArray, one_plus_u: FloatArray) -> FloatArray:
    """log(1 + u) - u, from u where it is small and from 1 + u where that is."""
    return np.where(u < -0.5, np.log(one_plus_u), np.log1p(u)) - u


def _unit(y: FloatArray) -> FloatArray:
    """Clip to [0, 1]; np.clip takes three times as long on the short arrays of a root search."""
    return np.minimum(np.maximum(y, 0.0), 1.0)
