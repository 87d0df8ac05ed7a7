"""The Beta distribution on [0, upper], used for a posterior whose mean and standard deviation are known.

For mean m and standard deviation s: p = m / upper, q = 1 - p, alpha = p r, beta = q r, and r = alpha + beta = p q
upper^2 / s^2 - 1, which grows like the number of rows, and near independence like its square.

While min(alpha, beta) < 1e7 the tails come from `beta_tails`, whose relative error is below 3e-11, with the greater of
the two up to 1e24 and the smaller down to 1e-21. That error grows like the root of the smaller one, because the
logarithm of the density cancels more and more. From 1e7 on the tails come from their uniform expansion (Temme 1982, the
formula of Lugannani and Rice 1980). With
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
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_finite
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.core.special import normal_below, normal_quantile, stirling_error
from credimi.inference.distributions.beta_tails import Betas, shares_of
from credimi.inference.distributions.components import ROOT_TWO_PI, FloatArray, Point, standard_density

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import IntegerArray

_PEAKED = 1e7  # from here on the expansion is better than the integral: both have an error near 1e-12 here
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
        share, rest = self.shares if possible else (0.0, 0.0)
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
    def shares(self) -> tuple[float, float]:
        """Shares p and q; q is not 1 - p, which loses digits if the mean is close to upper."""
        return self.mean / self.upper, (self.upper - self.mean) / self.upper

    @property
    def peaked(self) -> bool:
        """Whether the tails come from the expansion."""
        return min(self.alpha, self.beta) >= _PEAKED

    @property
    def skewness(self) -> float:
        """2 (q - p) sqrt(r + 1) / (sqrt(p q) (r + 2))."""
        share, rest = self.shares
        concentration = self.alpha + self.beta
        scale = math.sqrt(share) * math.sqrt(rest) * (concentration + 2.0)
        return 2.0 * (rest - share) * math.sqrt(concentration + 1.0) / scale

    @property
    def kurtosis(self) -> float:
        """3 + 6 [(q - p)^2 (r + 1) / (p q) - (r + 2)] / ((r + 2) (r + 3))."""
        share, rest = self.shares
        concentration = self.alpha + self.beta
        spread = (rest - share) ** 2 / (share * rest) * ((concentration + 1.0) / (concentration + 2.0)) - 1.0
        return 3.0 + 6.0 * spread / (concentration + 3.0)

    @property
    def support(self) -> tuple[float, float]:
        """[0, upper]."""
        return 0.0, self.upper

    def _expansion(self, x: FloatArray) -> tuple[FloatArray, FloatArray]:
        """z and phi(z) c of the module's docstring, for a peaked distribution."""
        share, rest = self.shares
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
        if self.peaked:
            z, correction = self._expansion(x)
            return normal_below(z) - correction
        return np.asarray(scaled_betas((self,)).cdf(x)[0])

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x)."""
        if self.peaked:
            z, correction = self._expansion(x)
            return normal_below(-z) + correction
        return np.asarray(scaled_betas((self,)).sf(x)[0])

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density, accurate to nine digits or more; infinite at an end whose parameter is below 1."""
        if not self.peaked:
            return np.asarray(scaled_betas((self,)).pdf(x)[0])
        rest = self.shares[1]
        of_sum, of_alpha, of_beta = stirling_error([self.alpha + self.beta, self.alpha, self.beta]).tolist()
        scale = math.sqrt(self.alpha * rest) / ROOT_TWO_PI / self.upper
        with np.errstate(all="ignore"):  # outside of the support
            exponent = -0.5 * self._expansion(x)[0] ** 2 + (of_sum - of_alpha - of_beta)
            density = np.exp(exponent) * scale / (x / self.upper * ((self.upper - x) / self.upper))
        return np.where((x <= 0.0) | (x >= self.upper), 0.0, density)

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """Quantile to ten digits or more; if peaked, the normal quantile with a correction for skewness."""
        if self.peaked:
            z: FloatArray = np.clip(normal_quantile(probability), -40.0, 40.0) * (-1.0 if upper_tail else 1.0)
            return np.clip(self.mean + self.std * (z + (z * z - 1.0) * self.skewness / 6.0), 0.0, self.upper)
        return scaled_betas((self,)).quantile(np.ones(1), probability, upper_tail=upper_tail)

    def moment(self, order: int) -> float:
        """E[X^order] = upper^order prod_k (alpha + k) / (alpha + beta + k), k < order."""
        concentration = self.alpha + self.beta
        return math.prod((self.upper * (self.alpha + k) / (concentration + k) for k in range(order)), start=1.0)

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:
        """`count` independent draws; one that underflows is rounded up, like a quantile, as 0 has no mass."""
        return np.maximum(self.upper * generator.beta(self.alpha, self.beta, count), math.ulp(0.0))


@dataclass(frozen=True, slots=True, eq=False)
class ScaledBetas:
    """Several Betas on the same [0, upper], none of them peaked; `cdf`, `sf` and `pdf` have a row for each."""

    betas: Betas
    means: FloatArray
    upper: float

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(X <= x)."""
        return self.betas.tails(*self._positions(x))[0]

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x)."""
        return self.betas.tails(*self._positions(x))[1]

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density, at the ends the limit: 0, infinite, or between if a parameter is 1."""
        y, rest, offset = self._positions(x)
        alpha, beta = self.betas.alpha, self.betas.beta
        with np.errstate(all="ignore"):  # at the ends
            density = self.betas.density(y, rest, offset) / (y * rest)
            at_low = np.where(alpha < 1.0, np.inf, np.where(alpha > 1.0, 0.0, beta))
            at_high = np.where(beta < 1.0, np.inf, np.where(beta > 1.0, 0.0, alpha))
        density = np.where(y == 0.0, at_low, np.where(rest == 0.0, at_high, density))
        return np.where((y < 0.0) | (rest < 0.0), 0.0, density) / self.upper

    def quantile(self, weights: FloatArray, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """The quantile of the mixture with these weights, which sum to 1."""
        return self.upper * shares_of(self.betas.quantile(weights, probability, upper_tail=upper_tail))[0]

    def quantiles(self, which: IntegerArray, probability: FloatArray) -> FloatArray:
        """The quantile of Beta number `which`, for each probability, inside (0, 1)."""
        return self.upper * shares_of(self.betas.quantiles(which, probability))[0]

    def _positions(self, x: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        return x / self.upper, (self.upper - x) / self.upper, (x - self.means) / self.upper


def plain_betas(components: Sequence[object]) -> tuple[ScaledBeta, ...]:
    """The components that `scaled_betas` can evaluate together, which takes hardly longer than one of them alone."""
    betas = [part for part in components if isinstance(part, ScaledBeta) and not part.peaked]
    return tuple(part for part in betas if part.upper == betas[0].upper)


@lru_cache(maxsize=256)  # the same ones are asked for at every step of a search
def scaled_betas(parts: tuple[ScaledBeta, ...]) -> ScaledBetas:
    """These Betas in one record; none is peaked, and all have the same upper."""
    pairs = zip(*(part.shares for part in parts), strict=True)
    parameters = [part.alpha for part in parts], [part.beta for part in parts]
    means = np.array([part.mean for part in parts])[:, np.newaxis]
    return ScaledBetas(Betas.of(*parameters, *pairs), means, parts[0].upper)


def _cubic(u: FloatArray) -> FloatArray:
    """l(u) of the module's docstring, for |u| <= 0.02, where 9 terms are exact to rounding."""
    total = np.full(u.shape, _CUBIC_SERIES[-1])
    for coefficient in reversed(_CUBIC_SERIES[:-1]):
        total = total * u + coefficient
    return total
