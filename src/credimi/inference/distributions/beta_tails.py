"""Tails, densities and quantiles of Betas on [0, 1], many at once; `tail_integral` has the mathematics.

The density in y, the log-odds of x, is g(x) = x^a x'^b / B(a, b), x' = 1 - x. From its value at the mean p = a/(a + b),

    log g(x) = log g(p) + a log(x/p) + b log(x'/q),   q = 1 - p,

in which cancellation costs at most z sqrt(min(a, b)) units of rounding at z standard deviations from the mean. With a
the smaller one of a and b,

    log g(p) = log a + a (m(b, a) - m(1, a)) + a log p + b log q,   m = `special.mean_digamma`,
    log g(p) = log(a q/(2 pi))/2 + e(a + b) - e(a) - e(b),          e = `special.stirling_error`, from a = 20 on.

Against mpmath (tests/inference/test_beta_tails.py) both tails have relative errors below 1e-12 while min(a, b) < 1000,
and below 3e-11 while it is under 1e7, down to tails of 1e-290, with parameters from 1e-21 to 1e24.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import digamma, mean_digamma, stirling_error, trigamma
from credimi.inference.distributions.tail_integral import Position, power_tails, quantile, tail_integral

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray, IntegerArray

_LARGE = 20.0


@dataclass(frozen=True, slots=True, eq=False)
class Betas:
    """Many Betas: every field is a column, (Betas, 1), and points are rows.

    `alpha` and `beta` are a and b, `mean` and `rest` are p and q, `log_peak` is log g(p). `level` is L - log x, with L
    of the power series in `tail_integral`; `level_of_beta` is the same for the series in 1 - x.
    """

    alpha: FloatArray
    beta: FloatArray
    mean: FloatArray
    rest: FloatArray
    log_peak: FloatArray
    level: FloatArray
    level_of_beta: FloatArray

    @classmethod
    def of(
        cls, alpha: ArrayLike, beta: ArrayLike, mean: ArrayLike | None = None, rest: ArrayLike | None = None
    ) -> Betas:
        """From parameters; also from the mean p and q = 1 - p, if they are known more exactly than a/(a + b)."""
        a, b = _column(alpha), _column(beta)
        p = a / (a + b) if mean is None else _column(mean)
        q = b / (a + b) if rest is None else _column(rest)
        lesser, greater, near = np.minimum(a, b), np.maximum(a, b), np.minimum(p, q)
        level = mean_digamma(greater, lesser) - mean_digamma(1.0, lesser)
        peak = np.log(lesser) + lesser * (level + np.log(near)) + greater * np.log1p(-near)
        if lesser.max() >= _LARGE:
            series = stirling_error(a + b) - stirling_error(a) - stirling_error(b)
            peak = np.where(lesser < _LARGE, peak, 0.5 * np.log(a * q / (2.0 * math.pi)) + series)
        other = level
        if greater.min() < 1.0:  # the levels of both are needed
            other = mean_digamma(lesser, greater) - mean_digamma(1.0, greater)
        return cls(a, b, p, q, peak, np.where(a <= b, level, other), np.where(a <= b, other, level))

    def density(self, x: FloatArray, rest: FloatArray, offset: FloatArray) -> FloatArray:
        """g(x), (Betas, points); `rest` = 1 - x and `offset` = x - p are passed to full precision."""
        u, v = offset / self.mean, -offset / self.rest
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            left = np.where(u < -0.5, np.log(x / self.mean), np.log1p(u))
            right = np.where(v < -0.5, np.log(rest / self.rest), np.log1p(v))
            density: FloatArray = np.exp(self.log_peak + self.alpha * left + self.beta * right)
        return density

    def offset(self, x: FloatArray, rest: FloatArray) -> FloatArray:
        """x - p, from whichever of the two ends is nearer to p."""
        return np.where(self.mean < self.rest, x - self.mean, self.rest - rest)

    def tails(
        self, x: FloatArray, rest: FloatArray, offset: FloatArray, density: FloatArray | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """P(X <= x) and P(X > x), (Betas, points); `density` is g(x), if it is known."""
        if density is None:
            density = self.density(x, rest, offset)
        shape = density.shape
        lesser = np.broadcast_to(x <= rest, shape)
        parameter = np.where(lesser, self.alpha, self.beta).ravel()
        total = np.broadcast_to(self.alpha + self.beta, shape).ravel()
        near = np.broadcast_to(np.minimum(x, rest), shape).ravel()
        up = np.broadcast_to(offset >= 0.0, shape).ravel()
        lesser, inside = lesser.ravel(), near > 0.0
        series = inside & (parameter < 1.0) & (total * near < 1.0)
        smooth = np.flatnonzero(inside & ~series)
        below = np.where(up, 1.0, 0.0)
        above = 1.0 - below
        if smooth.size:
            every = slice(None) if smooth.size == near.size else smooth
            direction = np.where(up == lesser, 1.0, -1.0)[every]
            with np.errstate(under="ignore"):
                integral = tail_integral(parameter[every], near[every], total[every], direction)
                tail = np.minimum(density.ravel()[every] * integral, 1.0)
            below[every] = np.where(up[every], 1.0 - tail, tail)
            above[every] = np.where(up[every], tail, 1.0 - tail)
        if smooth.size < near.size and series.any():
            level = np.where(lesser.reshape(shape), self.level, self.level_of_beta).ravel()[series]
            level += np.log(near[series])
            tails = power_tails(parameter[series], (total - parameter)[series], near[series], level)
            below[series] = np.where(lesser[series], *tails)
            above[series] = np.where(lesser[series], *tails[::-1])
        return below.reshape(shape), above.reshape(shape)

    def quantile(self, weights: FloatArray, probability: FloatArray, *, upper_tail: bool) -> FloatArray:
        """The log-odds of x below, or above, which the mixture with these weights has these probabilities.

        The weights sum to 1.
        """
        weights = weights[:, np.newaxis]

        def position(y: FloatArray, _: IntegerArray) -> Position:
            below, above, density, slope, bend = self.positions(y)
            change = (np.abs(slope) + np.sqrt(-bend)).max(axis=0)
            density *= weights
            whole = density.sum(axis=0)
            slopes, bends = (density * slope).sum(axis=0) / whole, (density * (slope**2 + bend)).sum(axis=0) / whole
            return Position((weights * below).sum(axis=0), (weights * above).sum(axis=0), whole, slopes, bends, change)

        centre, spread = digamma(self.alpha) - digamma(self.beta), trigamma(self.alpha) + trigamma(self.beta)
        mean = (weights * centre).sum()
        deviation = np.sqrt((weights * (spread + (centre - mean) ** 2)).sum())
        y = np.where((probability <= 0.0) == upper_tail, np.inf, -np.inf)
        inside = (probability > 0.0) & (probability < 1.0)
        with np.errstate(all="ignore"):  # far out densities underflow, and the bracket is halved
            y[inside] = quantile(position, (mean, deviation), probability[inside], upper_tail=upper_tail)
        return y

    def quantiles(self, which: IntegerArray, probability: FloatArray) -> FloatArray:
        """The log-odds of x below which the Beta of number `which` has its probability, inside (0, 1)."""
        chosen = self.chosen(which)

        def position(y: FloatArray, index: IntegerArray) -> Position:
            positions = chosen.chosen(index).positions(y[:, np.newaxis])
            below, above, density, slope, bend = (each[:, 0] for each in positions)
            return Position(below, above, density, slope, slope**2 + bend, np.abs(slope) + np.sqrt(-bend))

        moments = digamma(chosen.alpha) - digamma(chosen.beta), np.sqrt(trigamma(chosen.alpha) + trigamma(chosen.beta))
        with np.errstate(all="ignore"):
            return quantile(position, (moments[0][:, 0], moments[1][:, 0]), probability, upper_tail=False)

    def chosen(self, which: IntegerArray) -> Betas:
        """The Betas of these numbers; one may be chosen several times."""
        columns = self.alpha, self.beta, self.mean, self.rest, self.log_peak, self.level, self.level_of_beta
        return Betas(*(column[which] for column in columns))

    def positions(self, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Both tails of each Beta at log-odds y, its density g, and the first two derivatives of log g."""
        x, rest = shares_of(y)
        offset = self.offset(x, rest)
        density = self.density(x, rest, offset)
        below, above = self.tails(x, rest, offset, density)
        return below, above, density, self.alpha * rest - self.beta * x, -(self.alpha + self.beta) * x * rest


def shares_of(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """x and 1 - x, both to full precision."""
    odds = np.exp(-np.abs(log_odds))
    near, far = odds / (1.0 + odds), 1.0 / (1.0 + odds)
    return np.where(log_odds < 0.0, near, far), np.where(log_odds < 0.0, far, near)


def student_below(freedom: FloatArray, t: FloatArray) -> FloatArray:
    """P(T <= -|t|) of Student's t with `freedom` degrees, (k,), at t (..., k).

    With k the degrees of freedom, this is P(X <= k/(k + t^2))/2 of X ~ Beta(k/2, 1/2).
    """
    betas, at = Betas.of(0.5 * freedom, np.full(freedom.shape, 0.5)), np.moveaxis(np.asarray(t), -1, 0)
    square = at.reshape(freedom.size, -1) ** 2
    sum_of_both = freedom[:, np.newaxis] + square
    x, rest = freedom[:, np.newaxis] / sum_of_both, square / sum_of_both
    below = betas.tails(x, rest, betas.offset(x, rest))[0]
    return np.moveaxis(0.5 * below.reshape(at.shape), 0, -1)


def _column(values: ArrayLike) -> FloatArray:
    return np.reshape(np.asarray(values, dtype=np.float64), (-1, 1))
