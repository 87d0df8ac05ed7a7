"""The components of a posterior of mutual information: `Point`, `Normal`, `Empirical`; `scaled_beta` has another.

Each is a frozen record with the same attributes: `mean`, `std`, `skewness`, `kurtosis` (3 for the normal distribution),
`support`, and `cdf`, `sf`, `pdf`, `guess`, `moment`, `draw`. `sf` has its own formula and is never 1 - cdf, so that far
tails keep their digits. `guess` is an approximate quantile, which `distribution.py` makes exact by `cdf` or `sf`.

Cost: O(1) per point, but O(draws) per point for the kernel density of `Empirical`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from credimi.core.arguments import require_finite, require_numbers
from credimi.core.errors import CredimiError
from credimi.core.public import stored
from credimi.core.special import normal_below, normal_quantile

if TYPE_CHECKING:
    from numpy.typing import NDArray

FloatArray: TypeAlias = "NDArray[np.float64]"

ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_BLOCK = 2**21  # kernel values at a time: 16 MiB


@stored
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

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:  # noqa: ARG002  (one form for all components)
        """Every quantile is the location."""
        return np.full(probability.shape, self.location)

    def moment(self, order: int) -> float:
        """E[X^order]."""
        return math.pow(self.location, order)

    def draw(self, count: int, generator: np.random.Generator) -> FloatArray:  # noqa: ARG002  (one form for all components)
        """`count` times the location."""
        return np.full(count, self.location)


@stored
@dataclass(frozen=True, slots=True)
class Normal:
    """The paper's Gaussian. It has mass below 0, where mutual information cannot be: this is its known fault."""

    skewness: ClassVar[float] = 0.0
    kurtosis: ClassVar[float] = 3.0
    support: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    mean: float
    std: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "mean", require_finite("mean", self.mean))
        object.__setattr__(self, "std", require_finite("std", self.std))
        if self.std <= 0.0:
            raise CredimiError(f"std is {self.std}, but a normal distribution needs a positive one; use Point for 0")

    def _standard(self, x: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # infinitely many standard deviations away: the tails are right
            return np.asarray((x - self.mean) / self.std)

    def cdf(self, x: FloatArray) -> FloatArray:
        """P(X <= x)."""
        return normal_below(self._standard(x))

    def sf(self, x: FloatArray) -> FloatArray:
        """P(X > x)."""
        return normal_below(-self._standard(x))

    def pdf(self, x: FloatArray) -> FloatArray:
        """Density."""
        return standard_density(self._standard(x)) / self.std

    def guess(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """Quantile, except for rounding."""
        offset = normal_quantile(probability) * self.std
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


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Empirical:
    """The distribution of `draws` on [0, upper], each with mass 1/n; its moments and quantiles are those of the draws.

    Only the density is smooth: Gaussian kernels, reflected at 0 and at upper.
    """

    draws: FloatArray
    upper: float
    mean: float = field(init=False)
    std: float = field(init=False)

    def __post_init__(self) -> None:
        draws = np.sort(require_numbers("draws", self.draws), axis=None)
        upper = require_finite("upper", self.upper)
        if draws.size == 0:
            raise CredimiError("there are no draws; pass at least one")
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
        return Empirical, (self.draws, self.upper)  # through the constructor: pickle loses the write lock of an array

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
        """[0, upper]: where draws could be, not only where these are."""
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
        # The lower bound keeps the density finite if all draws coincide; with the upper one, one reflection per side is
        # enough.
        bandwidth = min(max(0.9 * spread * self.draws.size**-0.2, 1e-9 * self.upper), self.upper / 6.0)
        density = np.zeros(x.size)
        rows = max(1, _BLOCK // self.draws.size)
        for start in range(0, x.size, rows):
            block = x[start : start + rows, np.newaxis]
            for image in (self.draws, -self.draws, 2.0 * self.upper - self.draws):
                density[start : start + rows] += standard_density((block - image) / bandwidth).sum(axis=1)
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


def standard_density(z: FloatArray) -> FloatArray:
    """Density of the standard normal distribution; for large z, z^2 may overflow and the density is 0."""
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.exp(-0.5 * z * z)) / ROOT_TWO_PI
