"""The posterior distribution of mutual information I: frozen, with the names of scipy.stats.

A `Distribution` is a finite mixture of the components in `components.py` and `scaled_beta.py`, and of an atom at 0, the
probability that target and feature are independent:

    F(x) = P(I <= x) = p_zero [x >= 0] + sum_k w_k F_k(x),        p_zero + sum_k w_k = 1,

and sf(x) = P(I > x) is mixed from the components' own sf, not computed as 1 - F, so that it keeps its digits at 1e-300.

**Moments** are exact. The variance follows the law of total variance, sum_k w_k (s_k^2 + (m_k - m)^2); skewness and
kurtosis are mixed from those of the components about the mixture's mean and in units of its standard deviation. Raw
moments are never subtracted from each other.

**Quantiles** are exact in the strictest sense that doubles allow: ppf(q) = inf {x : F(x) >= q} and isf(q) = inf {x :
sf(x) <= q}, over the doubles, for F and sf as computed. So ppf(q) = 0 for q <= p_zero, F(ppf(q)) >= q always, and a
jump is found exactly (`quantile_search.py`). The search starts from the quantile that Newton's method finds if all
components are Betas, otherwise from the components' own; that of the mixture lies between them. The logarithms of the
tails are compared, so that a quantile of 1e-200 is found as easily as one of 0.1.

Cost: O(components) per point for `cdf`, `sf` and `pdf`; a quantile takes about 8 such steps.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar, cast, overload

import numpy as np

from credimi.core.arguments import make_generator, require_finite, require_number, require_numbers, require_whole
from credimi.core.errors import CredimiError
from credimi.core.public import public
from credimi.inference.distributions.components import Empirical, FloatArray, Normal, Point
from credimi.inference.distributions.interval import credible_interval
from credimi.inference.distributions.quantile_search import first_positive
from credimi.inference.distributions.scaled_beta import ScaledBeta, plain_betas, scaled_betas
from credimi.inference.distributions.shown import VISIBLE_ATOM, density_plot, distribution_html
from credimi.results.figures import drawn
from credimi.results.saved import Saved
from credimi.results.sentences import CAUTIONS_OF_INFORMATION

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import Foreign

Numbers = TypeVar("Numbers", float, FloatArray)
Item = TypeVar("Item")

_SMALLEST = math.ulp(0.0)


Component: TypeAlias = Point | Normal | ScaledBeta | Empirical


@public
@dataclass(frozen=True, slots=True, repr=False)
class Distribution(Saved):
    """A posterior of mutual information; make one with `point`, `normal`, `beta`, `empirical` or `mixture`.

    Numbers in, numbers out; arrays in, arrays of the same shape out.

    Attributes
    ----------
    components, weights
        The distributions that are mixed, and their shares.
    p_zero
        The mass of exact independence, P(I = 0).
    cautions
        What must be known of these figures: "approximate", where `p_zero` may be off by more than .02, and all else
        with it; "no_spread" or "spread_reduced", of approximations of leading order.

    Examples
    --------
    >>> distribution = credimi.Distribution.beta(mean=0.2, std=0.05, upper=0.693)
    >>> low, high = distribution.interval(0.95)
    >>> round(low, 3), round(high, 3)
    (0.11, 0.304)
    """

    components: tuple[Component, ...]
    weights: tuple[float, ...]
    p_zero: float = 0.0
    cautions: tuple[str, ...] = ()
    cells: Foreign = field(default=None, compare=False)
    method: str | None = field(default=None, compare=False)

    @classmethod
    def point(cls, location: float = 0.0) -> Distribution:
        """Put all mass at `location`."""
        return cls.mixture([Point(location)], [1.0])

    @classmethod
    def normal(cls, mean: float, std: float) -> Distribution:
        """Make the paper's Gaussian, with its mass below 0; a point mass when `std` is 0."""
        return cls.mixture([Point(mean) if std == 0.0 else Normal(mean, std)], [1.0])

    @classmethod
    def beta(cls, mean: float, std: float, upper: float) -> Distribution:
        """Make a Beta on [0, upper] with these moments; a `std` that is too large for it is reduced to the largest."""
        return cls.mixture([ScaledBeta.from_moments(mean, std, upper)], [1.0])

    @classmethod
    def empirical(cls, draws: ArrayLike, upper: float) -> Distribution:
        """Make the distribution of `draws` from a posterior on [0, upper]; the point 0 when `upper` is 0."""
        component = Empirical(require_numbers("draws", draws), upper)
        return cls.mixture([component if component.upper > 0.0 else Point(0.0)], [1.0])

    @classmethod
    def mixture(
        cls,
        parts: Sequence[Component | Distribution],
        weights: Sequence[float],
        p_zero: float = 0.0,
        *,
        cautions: Iterable[str] = (),
    ) -> Distribution:
        """Mix components, or whole distributions, and an atom at 0; the weights and `p_zero` sum to 1.

        The result is flat: distributions are split into components, and mass at exactly 0 is collected in `p_zero`. It
        has the cautions of its parts.
        """
        parts = _parts_of_mixture(parts)
        shares = [_share(f"weights[{index}]", weight) for index, weight in enumerate(_listed("weights", weights))]
        p_zero = _share("p_zero", p_zero)
        if len(shares) != len(parts):
            raise CredimiError(f"{len(parts)} parts have {len(shares)} weights; pass one weight for each part")
        total = math.fsum([p_zero, *shares])
        if abs(total - 1.0) > 1e-9:
            raise CredimiError(f"weights and p_zero sum to {total}, not to 1; divide them by their sum")
        flat: list[tuple[Component, float]] = []
        zeros = [p_zero]
        for part, share in zip(parts, shares, strict=True):
            if isinstance(part, Distribution):
                flat += zip(part.components, (share * weight for weight in part.weights), strict=True)
                zeros.append(share * part.p_zero)
            elif part == Point(0.0):
                zeros.append(share)
            else:
                flat.append((part, share))
        flat = [(component, share) for component, share in flat if share > 0.0]
        total = math.fsum([*zeros, *(share for _, share in flat)])
        scale = total if abs(total - 1.0) > 1e-14 else 1.0  # a mixture that is mixed again stays the same
        return cls(
            components=tuple(component for component, _ in flat),
            weights=tuple(share / scale for _, share in flat),
            p_zero=min(math.fsum(zeros) / scale, 1.0),  # rounding may leave a little more
            cautions=tuple(sorted({*cautions, *(code for part in parts for code in getattr(part, "cautions", ()))})),
        )

    def __repr__(self) -> str:
        low, high = self.interval()
        atom = f", p_zero={self.p_zero:.4g}" if self.p_zero >= VISIBLE_ATOM else ""
        atom += "" if self.method is None else f", method {self.method!r}"
        cautions = "".join(f", caution: {CAUTIONS_OF_INFORMATION[code]}" for code in self.cautions)
        interval = f"95% interval=[{low:.4g}, {high:.4g}]"
        return f"Distribution(mean={self.mean():.4g}, std={self.std():.4g}, {interval}{atom}{cautions})"

    def _repr_html_(self) -> str:
        return distribution_html(self)

    def plot(self, path: str | Path | Axes | None = None, *, ax: Axes | None = None) -> Axes:
        """Draw the density with matplotlib, the atom at 0 as a line; also into a .png, .svg or .pdf file.

        Returns the axes. They may be given too, by position or as `ax`.
        """
        return drawn(lambda axes: density_plot(self, axes), path, ax)

    @property
    def approximate(self) -> bool:
        """Whether `p_zero` may be off by more than .02, and all else with it: no exact sum is short enough."""
        return "approximate" in self.cautions

    def posterior(self) -> Foreign:
        """The `Posterior` of the cell probabilities, from the same counts; they need not be given again."""
        if self.cells is None:
            raise CredimiError("this distribution was not made from one table: pass the counts to credimi.posterior")
        return self.cells

    def mean(self) -> float:
        """E[I]."""
        return math.fsum(weight * part.mean for part, weight in self._parts())

    def std(self) -> float:
        """Root of the variance."""
        mean = self.mean()
        pieces = ((math.sqrt(weight), part) for part, weight in self._parts())
        return math.hypot(*(root * size for root, part in pieces for size in (part.std, part.mean - mean)))

    def var(self) -> float:
        """E[(I - E[I])^2]."""
        return self.std() ** 2

    def median(self) -> float:
        """Quantile of one half."""
        return self.ppf(0.5)

    def moment(self, order: int) -> float:
        """E[I^order], about 0."""
        number = require_number("order", order)
        if not (number >= 0.0 and number.is_integer()):
            raise CredimiError(f"order is {order}; a moment has a whole order, 0 or more")
        return math.fsum(weight * part.moment(int(number)) for part, weight in self._parts())

    def stats(self, moments: str = "mv") -> float | tuple[float, ...]:
        """The requested ones of (m)ean, (v)ariance, (s)kewness and excess (k)urtosis, in this order.

        A single one is returned as a number. A distribution without spread has no skewness and no kurtosis: NaN.
        """
        if not moments or set(str(moments)) - set("mvsk"):
            raise CredimiError(f"moments is {moments!r}; choose among the letters m, v, s and k")
        mean, std = self.mean(), self.std()
        third = fourth = math.nan
        if std > 0.0:
            # The rounding of the mean is small, but would be 3 times as large in the skewness of a narrow mixture.
            rounding = math.fsum(weight * (part.mean - mean) for part, weight in self._parts())
            standard = [
                (weight, part, part.std / std, (part.mean - mean - rounding) / std) for part, weight in self._parts()
            ]
            third = math.fsum(
                weight * (part.skewness * width**3 + 3.0 * offset * width**2 + offset**3)
                for weight, part, width, offset in standard
            )
            fourth = math.fsum(
                weight * (part.kurtosis * width**4 + 4.0 * offset * part.skewness * width**3)
                + weight * (6.0 * offset**2 * width**2 + offset**4)
                for weight, part, width, offset in standard
            )
        values = {"m": mean, "v": std**2, "s": third, "k": fourth - 3.0}
        chosen = tuple(value for letter, value in values.items() if letter in moments)
        return chosen[0] if len(chosen) == 1 else chosen

    def support(self) -> tuple[float, float]:
        """Smallest interval that holds all mass: (-inf, inf) with a normal part, else (0, upper)."""
        ends = [part.support for part, _ in self._parts()]
        return min(low for low, _ in ends), max(high for _, high in ends)

    def pdf(self, x: Numbers) -> Numbers:
        """Density of the continuous part; infinite at a point mass, and so at 0 when `p_zero` is positive."""
        return _elementwise(lambda values: self._mixed(values, "pdf"), x, "x")

    def cdf(self, x: Numbers) -> Numbers:
        """P(I <= x)."""
        return _elementwise(lambda values: self._mixed(values, "cdf"), x, "x")

    def sf(self, x: Numbers) -> Numbers:
        """P(I > x)."""
        return _elementwise(lambda values: self._mixed(values, "sf"), x, "x")

    def ppf(self, q: Numbers) -> Numbers:
        """Least x with P(I <= x) >= q; the ends of the support for 0 and 1, NaN for q outside [0, 1]."""
        return _elementwise(lambda values: self._quantile(values, upper_tail=False), q, "q")

    def isf(self, q: Numbers) -> Numbers:
        """Least x with P(I > x) <= q; the ends of the support for 1 and 0, NaN for q outside [0, 1]."""
        return _elementwise(lambda values: self._quantile(values, upper_tail=True), q, "q")

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Equal-tailed credible interval: at most (1 - confidence) / 2 of the mass is below it, and above it.

        If the lower end is the atom at 0, less mass than that is below it, and correspondingly more may be above it:
        otherwise the interval would hold more than its confidence. So when a growing confidence first includes the
        atom, the upper end falls; quantiles from `ppf` do not do that.
        """
        level = require_number("confidence", confidence)
        if not 0.0 < level < 1.0:
            raise CredimiError(f"confidence is {confidence}, not between 0 and 1; for 95 percent write 0.95")
        return credible_interval(
            level,
            self.p_zero,
            with_below=self.ppf,
            with_above=lambda tail: self.isf(float(tail)),
            below_zero=lambda: self.cdf(-_SMALLEST),
        )

    @overload
    def rvs(self, size: None = None, random_state: int | np.random.Generator | None = None) -> float: ...
    @overload
    def rvs(self, size: int | tuple[int, ...], random_state: int | np.random.Generator | None = None) -> FloatArray: ...
    def rvs(
        self, size: int | tuple[int, ...] | None = None, random_state: int | np.random.Generator | None = None
    ) -> float | FloatArray:
        """Independent draws; one number when `size` is None."""
        shape = () if size is None else size if isinstance(size, tuple | list) else (size,)
        for length in shape:
            require_whole("size", length, 0)
        generator = make_generator(random_state)
        draws = np.empty(shape)
        flat, parts = draws.reshape(-1), self._parts()
        chosen = generator.choice(len(parts), flat.size, p=[weight for _, weight in parts])
        for index, (part, _) in enumerate(parts):
            here = chosen == index
            flat[here] = part.draw(int(np.count_nonzero(here)), generator)
        return float(draws) if size is None else draws

    def _parts(self) -> list[tuple[Component, float]]:
        """Components with their weights, the atom at 0 among them."""
        atom = [(Point(0.0), self.p_zero)] if self.p_zero > 0.0 else []
        return [*zip(self.components, self.weights, strict=True), *atom]

    def _mixed(self, x: FloatArray, function: Literal["cdf", "sf", "pdf"]) -> FloatArray:
        """Weighted mean of a function of the components; NaN if x is NaN."""
        together = plain_betas(self.components)
        members = {id(part) for part in together}
        rows = iter(getattr(scaled_betas(together), function)(x) if together else ())
        total, weights = np.zeros(x.shape), 0.0
        for part, weight in self._parts():
            total += weight * (next(rows) if id(part) in members else getattr(part, function)(x))
            weights += weight
        # The weights sum to 1 except for rounding; divided by the same rounded sum, certainty is exactly 1.
        return np.where(np.isnan(x), np.nan, total / weights)

    def _quantile(self, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        low, high = self.support()
        quantile = np.full(probability.shape, np.nan)
        quantile[probability == 0.0] = high if upper_tail else low
        quantile[probability == 1.0] = low if upper_tail else high
        inside = (probability > 0.0) & (probability < 1.0)
        target = probability[inside]
        if target.size == 0:
            return quantile
        logarithm = np.log(target)

        def excess(x: FloatArray, index: NDArray[np.bool_]) -> FloatArray:
            """Positive from the quantile on, negative before it, never 0."""
            tail: FloatArray = self.sf(x) if upper_tail else self.cdf(x)
            reached = tail <= target[index] if upper_tail else tail >= target[index]
            distance: FloatArray = np.abs(np.log(np.maximum(tail, _SMALLEST)) - logarithm[index])
            return np.where(reached, 1.0, -1.0) * np.maximum(distance, 1e-17)

        guesses = [np.zeros(target.size)]
        if self.components:
            weights, together = np.array(self.weights), plain_betas(self.components)
            share = np.clip((target if upper_tail else target - self.p_zero) / math.fsum(self.weights), 0.0, 1.0)
            if len(together) == len(self.components):
                betas = scaled_betas(together)
                guesses = [betas.quantile(weights / weights.sum(), share, upper_tail=upper_tail)]
            else:  # the quantile of the mixture lies between those of its continuous components
                guesses = [component.guess(share, upper_tail=upper_tail) for component in self.components]
        quantile[inside] = first_positive(excess, np.min(guesses, axis=0), np.max(guesses, axis=0))
        return quantile


def _listed(name: str, values: Sequence[Item]) -> list[Item]:
    """Return a list of what was passed, or refuse it if it has no items."""
    try:
        return list(values)
    except TypeError:
        raise CredimiError(f"{name} is {values!r}; pass a list") from None


def _parts_of_mixture(parts: Sequence[Component | Distribution]) -> list[Component | Distribution]:
    """Return the parts of a mixture, or refuse what cannot be a part."""
    checked_parts = _listed("parts", parts)
    for index, part in enumerate(checked_parts):
        if not isinstance(part, Component | Distribution):
            raise CredimiError(f"parts[{index}] is {part!r}; pass distributions, or their components")
    return checked_parts


def _share(name: str, value: float) -> float:
    """Return a share of the mass, or refuse what cannot be one."""
    share = require_finite(name, value)
    if share < 0.0:
        raise CredimiError(f"{name} is {share}, but a share of the mass cannot be negative")
    return share


def _elementwise(function: Callable[[FloatArray], FloatArray], x: Numbers, name: str) -> Numbers:
    """Apply a function of flat arrays to a number or to an array of any shape."""
    values = require_numbers(name, x)
    result = function(values.reshape(-1)).reshape(values.shape)
    return cast("Numbers", result if values.ndim else float(result))
