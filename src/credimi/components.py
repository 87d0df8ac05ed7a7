"""The laws that a posterior of mutual information is mixed from: `Point`, `Normal`, `ScaledBeta`, `Empirical`.

Each is a frozen record with one skeleton: `mean`, `std`, `skewness`, `kurtosis` (3 for the normal law), `support`, and
`cdf`, `sf`, `pdf`, `guess`, `moment`, `draw`. `sf` has its own formula and is never 1 - cdf, so that far tails keep
their digits. `guess` is a first quantile: `distribution.py` makes it exact by `cdf` or `sf`, because scipy's inverses
cannot be trusted everywhere (see `ScaledBeta.guess`).

**The Beta on [0, upper]**, of mean m and standard deviation s: p = m / upper, q = 1 - p, alpha = p r, beta = q r, and
r = alpha + beta = p q upper^2 / s^2 - 1, which grows as the number of rows, near independence as its square.

scipy 1.17.1 was compared with mpmath. `betainc` and `betaincc` are right to 1e-10 while min(alpha, beta) < 1e7, the
greater of the two up to 1e24 and the lesser down to 1e-21, but that a lower tail under 1e-290 can underflow where alpha
is far above beta. From 1e7 on they decay: 5e-4 is lost at alpha = beta = 5e11, 4e-2 at 5e13, and NaN comes from 1e14
on. There the tails come from their uniform expansion (Temme 1982, the formula of Lugannani and Rice 1980). With
d = (x - m) / upper, t = d / sqrt(p q), and

    eta^2 / 2 = -p log(1 + d/p) - q log(1 - d/q),   eta of the sign of d,   z = sqrt(r) eta,

    P(X <= x) = Phi(z) - phi(z) c,   P(X > x) = Phi(-z) + phi(z) c,   c = (1/t - 1/eta) / sqrt(r),

whose relative error, O(min(alpha, beta)^(-3/2)), measures 1e-12 at 1e7. As written it cancels near d = 0; with
l(u) = (log(1 + u) - u + u^2/2) / u^3 = 1/3 - u/4 + u^2/5 - ... it does not:

    eta = t rho,   rho^2 = 1 - 2 d [(q/p) l(d/p) - (p/q) l(-d/q)],
    c = -2 [q^(3/2) l(d/p) / sqrt(alpha) - p^(3/2) l(-d/q) / sqrt(beta)] / (rho (1 + rho)).

d is taken from the mean itself, not from alpha / r, which at r = 1e24 is rounded by 1e-4 standard deviations.

Cost: O(1) a point, but O(draws) a point for the kernel density of `Empirical`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
from scipy.special import betainc, betaincc, betainccinv, betaincinv, betaln, ndtr, ndtri, xlog1py, xlogy

from credimi.errors import CredimiError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FloatArray: TypeAlias = "NDArray[np.float64]"

# Where the expansion overtakes scipy: both have an error near 1e-12 here.
_PEAKED = 1e7
# Where Stirling's series is right to 1e-12.
_STIRLING = 20.0
# The least alpha + beta. At 0 the variance is mean (upper - mean): a coin between 0 and upper, which no Beta reaches.
_LEAST_CONCENTRATION = 1e-6
# A mean, or a std, of less than this share of upper is as good as none; its square would leave the doubles.
_LEAST_SHARE = 1e-140
_CUBIC_SERIES = tuple((-1.0) ** power / (power + 3) for power in range(9))
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_BLOCK = 2**21  # kernel values at a time: 16 MiB


@dataclass(frozen=True, slots=True)
class Point:
    """All mass at `location`: mutual information is exactly 0 in a table of one row or one column."""

    std: ClassVar[float] = 0.0
    skewness: ClassVar[float] = 0.0  # undefined; a mixture weights it by std^3, and the kurtosis by std^4
    kurtosis: ClassVar[float] = 0.0
    location: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "location", require_finite("location", self.location) + 0.0)  # no -0.0

    @property
    def mean(self) -> float:
        """The location."""
        return self.location

    @property
    def support(self) -> tuple[float, float]:
        """The location, twice."""
        return self.location, self.location

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(X <= x): a step, 1 at the location."""
        return np.where(x >= self.location, 1.0, 0.0)

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x): strictly, so 0 at the location."""
        return np.where(x < self.location, 1.0, 0.0)

    def pdf(self, x: FloatArray) -> FloatArray:
        """Infinite at the location, 0 elsewhere: a mass has no density."""
        return np.where(x == self.location, np.inf, 0.0)

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:  # noqa: ARG002 (one skeleton)
        """Every quantile is the location."""
        return np.full(probability.shape, self.location)

    def moment(self, order: int) -> float:
        """E[X^order]."""
        return math.pow(self.location, order)

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:  # noqa: ARG002 (one skeleton)
        """`count` times the location."""
        return np.full(count, self.location)


@dataclass(frozen=True, slots=True)
class Normal:
    """The paper's Gaussian. It keeps its mass below 0, where mutual information has none: that is its known fault."""

    skewness: ClassVar[float] = 0.0
    kurtosis: ClassVar[float] = 3.0
    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    mean: float
    std: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", require_finite("mean", self.mean))
        object.__setattr__(self, "std", require_finite("std", self.std))
        if self.std <= 0.0:
            raise CredimiError(f"std is {self.std}, but a normal law needs a positive one; for a spread of 0 use Point")

    def _standard(self, x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # infinitely many standard deviations away: the tails are right
            return np.asarray((x - self.mean) / self.std)

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(X <= x)."""
        return np.asarray(ndtr(self._standard(x)))

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x)."""
        return np.asarray(ndtr(-self._standard(x)))

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density."""
        return _standard_density(self._standard(x)) / self.std

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """Quantile, but for rounding."""
        offset = np.asarray(ndtri(probability)) * self.std
        return self.mean - offset if upper_tail else self.mean + offset

    def moment(self, order: int) -> float:
        """E[X^order], by E[X^k] = mean E[X^(k-1)] + (k-1) std^2 E[X^(k-2)]."""
        before, moment = 0.0, 1.0
        for power in range(1, order + 1):
            before, moment = moment, self.mean * moment + (power - 1) * self.std * self.std * before
        return moment

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:
        """`count` independent draws."""
        return generator.normal(self.mean, self.std, count)


@dataclass(frozen=True, slots=True)
class ScaledBeta:
    """A Beta on [0, upper] of given mean and standard deviation; `from_moments` also takes those that no Beta has."""

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
        # Half, because `from_moments` comes to the least but for rounding.
        if not _LEAST_CONCENTRATION / 2.0 <= concentration < math.inf:
            moments = f"mean {self.mean} and std {self.std} on [0, {self.upper}]"
            raise CredimiError(f"no Beta has {moments}; use ScaledBeta.from_moments, which takes the nearest")
        object.__setattr__(self, "alpha", share * concentration)
        object.__setattr__(self, "beta", rest * concentration)

    @classmethod
    def from_moments(cls, mean: float, std: float, upper: float) -> ScaledBeta | Point:
        """Fit moments that were estimated, and so may be out of reach.

        No law on [0, upper] has a variance above mean (upper - mean), and no Beta has that one. A greater `std` is
        shrunk to where alpha + beta = 1e-6: nearly the coin between 0 and upper which such moments ask for. A `std` of
        0, or a mean at either end, leaves a `Point`; so does one within 1e-140 upper of it.
        """
        mean, std, upper = require_finite("mean", mean), require_finite("std", std), require_finite("upper", upper)
        if std < 0.0:
            raise CredimiError(f"std is {std}, but it cannot be negative; give the root of a variance, or 0")
        if not 0.0 <= mean <= upper:
            raise CredimiError(f"mean is {mean}, outside [0, {upper}]; clip it, or use a normal law, which has no ends")
        # Each root apart: mean (upper - mean) may underflow.
        std = min(std, math.sqrt(mean) * math.sqrt(upper - mean) / math.sqrt(1.0 + _LEAST_CONCENTRATION))
        if min(mean, upper - mean, std) <= _LEAST_SHARE * upper:
            return Point(mean)
        return cls(mean, std, upper)

    @property
    def _shares(self) -> tuple[float, float]:
        """Shares p and q; q not as 1 - p, which loses a mean close to upper."""
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
        """Give z and phi(z) c of the module's docstring, for a peaked law."""
        share, rest = self._shares
        # A fiftieth of min(p, q) is 60 standard deviations or more: beyond it the tails are exactly 0 and 1, and within
        # it the series of l converges fast.
        limit = 0.02 * min(share, rest)
        offset = np.clip((x - self.mean) / self.upper, -limit, limit)
        left, right = _cubic(offset / share), _cubic(-offset / rest)
        rho = np.sqrt(1.0 - 2.0 * offset * (rest / share * left - share / rest * right))
        z = offset * rho * (math.sqrt(self.alpha / share) / math.sqrt(share * rest))
        slope = rest**1.5 / math.sqrt(self.alpha) * left - share**1.5 / math.sqrt(self.beta) * right
        return z, _standard_density(z) * -2.0 * slope / (rho * (1.0 + rho))

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(X <= x)."""
        if self._peaked:
            z, correction = self._expansion(x)
            return np.asarray(ndtr(z)) - correction
        return np.asarray(betainc(self.alpha, self.beta, _unit(x / self.upper)))

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x)."""
        if self._peaked:
            z, correction = self._expansion(x)
            return np.asarray(ndtr(-z)) + correction
        return np.asarray(betaincc(self.alpha, self.beta, _unit(x / self.upper)))

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density, right to eight digits or more; infinite at an end whose parameter is below 1."""
        y = _unit(x / self.upper)
        with np.errstate(all="ignore"):  # an end of the support is infinite, or outside
            if min(self.alpha, self.beta) < _STIRLING:
                logarithm = xlogy(self.alpha - 1.0, y) + xlog1py(self.beta - 1.0, -y) - betaln(self.alpha, self.beta)
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
            exponent += _stirling(self.alpha + self.beta) - _stirling(self.alpha) - _stirling(self.beta)
            scale = math.sqrt(self.alpha * rest) / _ROOT_TWO_PI / self.upper
            density = np.exp(exponent) * scale / (y * complement)
        return np.where((x <= 0.0) | (x >= self.upper), 0.0, density)

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """Quantile of scipy; for a peaked law, that of the normal law with a correction for skewness.

        `betaincinv` and `betainccinv` of scipy 1.17.1 answer NaN for Beta(5, 1000) at 1e-290 and for most laws of
        r > 1e19, nothing below 2.2e-308, and from r = 1e13 on quantiles whose tail is wrong by orders of magnitude.
        """
        if self._peaked:
            z: FloatArray = np.clip(ndtri(probability), -40.0, 40.0) * (-1.0 if upper_tail else 1.0)
            return np.clip(self.mean + self.std * (z + (z * z - 1.0) * self.skewness / 6.0), 0.0, self.upper)
        inverse = betainccinv if upper_tail else betaincinv
        quantile = self.upper * np.asarray(inverse(self.alpha, self.beta, probability))
        return np.where(np.isnan(quantile), self.mean, quantile)

    def moment(self, order: int) -> float:
        """E[X^order] = upper^order prod_k (alpha + k) / (alpha + beta + k), k < order."""
        concentration = self.alpha + self.beta
        return math.prod((self.upper * (self.alpha + k) / (concentration + k) for k in range(order)), start=1.0)

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:
        """`count` independent draws; one that underflows is rounded up, as a quantile is, for 0 has no mass."""
        return np.maximum(self.upper * generator.beta(self.alpha, self.beta, count), math.ulp(0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Empirical:
    """The law of `draws`, each of mass 1/n, on [0, upper]: its moments and quantiles are exactly those of the draws.

    Only the density is another's, that of the smooth law behind them: Gaussian kernels, reflected at 0 and at upper.
    """

    draws: FloatArray
    upper: float
    mean: float = field(init=False)
    std: float = field(init=False)

    def __post_init__(self) -> None:
        draws = np.sort(np.asarray(self.draws, dtype=np.float64), axis=None)
        upper = require_finite("upper", self.upper)
        if draws.size == 0:
            raise CredimiError("there are no draws; give at least one")
        slack = 1e-9 * upper  # rounding in the sum that makes a draw
        if not (draws[0] >= -slack and draws[-1] <= upper + slack):  # NaN sorts last, and fails this
            raise CredimiError(f"draws run from {draws[0]} to {draws[-1]}, outside [0, {upper}]; check their source")
        draws = np.clip(draws, 0.0, upper)
        draws.setflags(write=False)
        object.__setattr__(self, "draws", draws)
        object.__setattr__(self, "upper", upper)
        object.__setattr__(self, "mean", float(draws.mean()))
        object.__setattr__(self, "std", float(draws.std()))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Empirical):
            return NotImplemented
        return self.upper == other.upper and np.array_equal(self.draws, other.draws)

    def __hash__(self) -> int:
        return hash((self.draws.tobytes(), self.upper))

    def __reduce__(self) -> tuple[type[Empirical], tuple[FloatArray, float]]:
        return Empirical, (self.draws, self.upper)  # through the constructor: pickle forgets that an array was locked

    def _standard_moment(self, order: int) -> float:
        return float(np.mean(((self.draws - self.mean) / self.std) ** order)) if self.std > 0.0 else 0.0

    @property
    def skewness(self) -> float:
        """Third standardised moment of the draws."""
        return self._standard_moment(3)

    @property
    def kurtosis(self) -> float:
        """Fourth standardised moment of the draws."""
        return self._standard_moment(4)

    @property
    def support(self) -> tuple[float, float]:
        """[0, upper]: where draws could fall, not only where these did."""
        return 0.0, self.upper

    def cdf(self, x: FloatArray) -> FloatArray:
        """Share of the draws that are <= x."""
        return np.searchsorted(self.draws, x, side="right") / self.draws.size

    def sf(self, x: FloatArray) -> FloatArray:
        """Share of the draws that are > x."""
        return (self.draws.size - np.searchsorted(self.draws, x, side="right")) / self.draws.size

    def pdf(self, x: FloatArray) -> FloatArray:
        """Kernel density with Silverman's bandwidth."""
        lower_quartile, upper_quartile = np.quantile(self.draws, (0.25, 0.75))
        spread = min(self.std, float(upper_quartile - lower_quartile) / 1.34) or self.std
        # The floor keeps the density finite where all draws coincide; the ceiling lets one reflection a side suffice.
        bandwidth = min(max(0.9 * spread * self.draws.size**-0.2, 1e-9 * self.upper), self.upper / 6.0)
        density = np.zeros(x.size)
        rows = max(1, _BLOCK // self.draws.size)
        for start in range(0, x.size, rows):
            block = x[start : start + rows, np.newaxis]
            for image in (self.draws, -self.draws, 2.0 * self.upper - self.draws):
                density[start : start + rows] += _standard_density((block - image) / bandwidth).sum(axis=1)
        return np.where((x < 0.0) | (x > self.upper), 0.0, density / (self.draws.size * bandwidth))

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """Order statistic at which the share of the draws reaches the probability."""
        size = self.draws.size
        rank = size - np.floor(probability * size) if upper_tail else np.ceil(probability * size)
        return np.asarray(self.draws[np.clip(rank, 1, size).astype(np.intp) - 1])

    def moment(self, order: int) -> float:
        """Mean of the draws to the power `order`."""
        return float(np.mean(self.draws**order))

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:
        """`count` of the draws, with replacement."""
        return generator.choice(self.draws, count)


Component: TypeAlias = Point | Normal | ScaledBeta | Empirical


def require_finite(name: str, value: float) -> float:
    """Return `value` as a float, or refuse it by `name`."""
    number = float(value)
    if not math.isfinite(number):
        raise CredimiError(f"{name} is {number}, but a distribution needs a finite number; check where it came from")
    return number


def _standard_density(z: FloatArray) -> FloatArray:
    """Density of the standard normal law; far out, z^2 may overflow and the density underflow, rightly."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-0.5 * z * z)) / _ROOT_TWO_PI


def _cubic(u: FloatArray) -> FloatArray:
    """l(u) of the module's docstring, for |u| <= 0.02, where 9 terms reach rounding."""
    total = np.full(u.shape, _CUBIC_SERIES[-1])
    for coefficient in reversed(_CUBIC_SERIES[:-1]):
        total = total * u + coefficient
    return total


def _stirling(parameter: float) -> float:
    """Give log Gamma(a) - [(a - 1/2) log a - a + log(2 pi) / 2], to 1e-12 for a >= 20."""
    inverse = 1.0 / parameter
    return inverse * (1.0 / 12.0 - inverse * inverse * (1.0 / 360.0 - inverse * inverse / 1260.0))


def _log_excess(u: FloatArray, one_plus_u: FloatArray) -> FloatArray:
    """log(1 + u) - u, from u where it is small and from 1 + u where that is."""
    return np.where(u < -0.5, np.log(one_plus_u), np.log1p(u)) - u


def _unit(y: FloatArray) -> FloatArray:
    """Clip to [0, 1]; np.clip takes three times as long on the short arrays of a root search."""
    return np.minimum(np.maximum(y, 0.0), 1.0)
