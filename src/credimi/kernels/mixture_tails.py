"""Tails and quantiles of many mixtures: of Betas on [0, upper], or of normal laws, each with an atom at 0.

**Where.** A quantile is sought in y, the log-odds of x/upper for Betas and x itself for normal laws. In both a
component's density g(y) is log-concave, without singular ends, and its logarithm has simple slopes:

    Beta(a, b), x in (0, 1), x' = 1 - x:   g = x^a x'^b / B(a, b),   slopes  a x' - b x,   -(a + b) x x',
    normal(m, s):                          g = phi(z)/s,             slopes  -z/s,         -1/s^2,        z = (x - m)/s.

**Tails of a Beta.** By the continued fraction of DiDonato and Morris (1992), with h = a x' - b x,

    I_x(a, b) = g / (c_0 + d_1/(c_1 + d_2/(c_2 + ...))),   c_0 = a (1 + h)/(a + 1),
    c_k = k + k (b - k) x/(a + 2k - 1) + (a + k)(1 + h + k (1 + x'))/(a + 2k + 1),
    d_k = (a + k - 1)(a + b + k - 1) k (b - k) x^2/(a + 2k - 1)^2,

for x below (a + 1)/(a + b + 2), above it the same for the other tail. It takes 5 to 30 terms in the tails, and in the
middle of large parameters about half their root. Numerators and denominators are carried along, without divisions that
wait for each other. g keeps its digits by `special.log_rise` where one parameter is small and, where both are large, by
Stirling's series around the mean: a (log(1 + u) - u) + b (log(1 + v) - v), u = x/p - 1, v = x'/q - 1, p = 1 - q the
mean.

**Quantiles.** With S the mixture's upper tail (of what is not the atom) and G its density, Newton's method on the
log-odds of S, which are nearly straight far out, within a bracket that halves where a step would leave it. Near the
root, with u = (S - tail)/G, the series of the inverse

    y + u - (G'/2G) u^2 + ((G'/G)^2/2 - G''/6G) u^3

is left with an error of order u^4. It ends the search once no component changes much within u, so that none can hide
there, and a bound of that error is below `_PRECISION`. O(components) a step, four to eight steps.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.special import log_rise, stirling_tail

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray, IntegerArray

_PRECISION = 1e-12
_MOST_TERMS = 100_000
_LAST_TERM = 1e-15
_FULL = 1e100  # from here on numerators and denominators are scaled down
_MOST_STEPS = 400
_FURTHEST = 745.0  # beyond these log-odds a share is 0 or 1
_MOST_DEVIATIONS = 40.0  # beyond these a normal law has no mass
_BOTH_LARGE = 20.0  # from here on Stirling's series for both parameters
_HIDDEN = 0.3  # the logarithm of what a density may change by in a last step
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_ROOT_TWO = math.sqrt(2.0)


@inlined
def _log_scale(a: float, b: float) -> float:
    """What log g has besides the terms in x; see `_log_density`."""
    small, large = min(a, b), max(a, b)
    if small >= _BOTH_LARGE:
        series = stirling_tail(1.0 / (a + b)) - stirling_tail(1.0 / a) - stirling_tail(1.0 / b)
        return 0.5 * math.log(small / (a + b) * large) - _HALF_LOG_TWO_PI + series
    return log_rise(large, small) + small * math.log(large) - math.lgamma(small)


@inlined
def _log_density(a: float, b: float, scale: float, x: float, rest: float) -> float:
    """log g of a Beta; `rest` = 1 - x, with digits of its own."""
    if min(a, b) < _BOTH_LARGE:
        log_x = math.log(x) if x < 0.5 else math.log1p(-rest)
        log_rest = math.log(rest) if rest < 0.5 else math.log1p(-x)
        return scale + a * log_x + b * log_rest
    p, q = a / (a + b), b / (a + b)
    offset = x - p if p < q else q - rest
    u, v = offset / p, -offset / q
    left = (math.log1p(u) if u > -0.5 else math.log(x / p)) - u
    right = (math.log1p(v) if v > -0.5 else math.log(rest / q)) - v
    return scale + a * left + b * right


@inlined
def _fraction(a: float, b: float, x: float, excess: float) -> float:
    """I_x(a, b)/g by its continued fraction; `excess` = a (1 - x) - b x, which may be small beside its terms."""
    before, numerator = 0.0, 1.0
    under, denominator = 1.0, (1.0 + excess) * a / (a + 1.0)
    for term in range(1, _MOST_TERMS):
        k = np.float64(term)
        at = a + 2.0 * k - 1.0
        share = k * (b - k) * x / at
        partial = (a + k - 1.0) * (a + b + k - 1.0) * x / at * share
        whole = k + share + (a + k) / (at + 2.0) * (1.0 + excess + k * (2.0 - x))
        before, numerator = numerator, whole * numerator + partial * before
        under, denominator = denominator, whole * denominator + partial * under
        if abs(numerator * under - before * denominator) <= _LAST_TERM * abs(numerator * under):
            break
        if denominator > _FULL:
            scale = 1.0 / denominator
            before *= scale
            under *= scale
            numerator *= scale
            denominator = 1.0
    return numerator / denominator


@inlined
def _beta_tails(a: float, b: float, density: float, x: float, rest: float) -> tuple[float, float]:
    """P(X <= x) and P(X > x); `density` is g(x)."""
    excess = a * rest - b * x
    if excess >= 2.0 * x - 1.0:  # x <= (a + 1)/(a + b + 2)
        below = min(density * _fraction(a, b, x, excess), 1.0)
        return below, 1.0 - below
    above = min(density * _fraction(b, a, rest, -excess), 1.0)
    return 1.0 - above, above


@compiled
def log_scales(alpha: FloatArray, beta: FloatArray, scale: FloatArray) -> None:
    """Fill what of the density of each Beta does not depend on x."""
    for part in range(alpha.size):
        scale[part] = _log_scale(alpha[part], beta[part])


@compiled
def upper_tails(
    first: FloatArray,
    second: FloatArray,
    scale: FloatArray,
    weight: FloatArray,
    starts: IntegerArray,
    p_zero: FloatArray,
    upper: FloatArray,
    gaussian: bool,
    x: FloatArray,
    above: FloatArray,
) -> None:
    """Fill P(I > x) of each table; its components are those from `starts[table]` up to `starts[table + 1]`.

    `first` and `second` are the parameters of a Beta, or mean and standard deviation.
    """
    for table in range(x.size):
        share, rest = x[table] / upper[table], (upper[table] - x[table]) / upper[table]
        total = p_zero[table] if x[table] < 0.0 else 0.0
        for part in range(starts[table], starts[table + 1]):
            a, b = first[part], second[part]
            if gaussian:
                total += weight[part] * 0.5 * math.erfc((x[table] - a) / (b * _ROOT_TWO))
            elif share <= 0.0:
                total += weight[part]
            elif rest > 0.0:
                density = math.exp(_log_density(a, b, scale[part], share, rest))
                total += weight[part] * _beta_tails(a, b, density, share, rest)[1]
        above[table] = total


@compiled
def quantiles(
    first: FloatArray,
    second: FloatArray,
    scale: FloatArray,
    weight: FloatArray,
    starts: IntegerArray,
    p_zero: FloatArray,
    upper: FloatArray,
    gaussian: bool,
    tail: FloatArray,
    quantile: FloatArray,
) -> None:
    """Fill the least x of each table with P(I > x) <= tail, 0 < tail < 1; the arguments are those of `upper_tails`."""
    for table in range(tail.size):
        begin, end = starts[table], starts[table + 1]
        whole, positive = 0.0, 0.0  # what is not the atom, and what of it is above 0
        centre, rest, low, high = 0.0, 0.0, -_FURTHEST, _FURTHEST
        for part in range(begin, end):
            a, b = first[part], second[part]
            whole += weight[part]
            if gaussian:
                positive += weight[part] * 0.5 * math.erfc(-a / (b * _ROOT_TWO))
                centre += weight[part] * a
                low = a - _MOST_DEVIATIONS * b if part == begin else min(low, a - _MOST_DEVIATIONS * b)
                high = a + _MOST_DEVIATIONS * b if part == begin else max(high, a + _MOST_DEVIATIONS * b)
            else:
                positive += weight[part]
                centre += weight[part] * a / (a + b)
                rest += weight[part] * b / (a + b)
        wanted = tail[table]
        if positive <= wanted:
            if not gaussian or positive + p_zero[table] > wanted:
                quantile[table] = 0.0
                continue
            wanted -= p_zero[table]
            high = min(high, 0.0)
        elif gaussian:
            low = max(low, 0.0)
        y = centre / whole if gaussian else math.log(centre / rest)
        y = y if low < y < high else 0.5 * (low + high)
        goal = math.log(wanted / (whole - wanted))
        for _ in range(_MOST_STEPS):
            share, rest = 1.0 / (1.0 + math.exp(-y)), 1.0 / (1.0 + math.exp(y))
            above, below, density, slope, bend, wild, reach = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for part in range(begin, end):
                a, b = first[part], second[part]
                if gaussian:
                    z = (y - a) / b
                    own = math.exp(-0.5 * z * z) / (_ROOT_TWO_PI * b)
                    less, more = 0.5 * math.erfc(-z / _ROOT_TWO), 0.5 * math.erfc(z / _ROOT_TWO)
                    one, two = -z / b, -1.0 / (b * b)
                else:
                    own = math.exp(_log_density(a, b, scale[part], share, rest))
                    less, more = _beta_tails(a, b, own, share, rest)
                    one, two = a * rest - b * share, -(a + b) * share * rest
                own *= weight[part]
                above += weight[part] * more
                below += weight[part] * less
                change = abs(one) + math.sqrt(-two)
                density += own
                slope += own * one
                bend += own * (one * one + two)
                wild += own * change**3
                reach = max(reach, change)
            excess = above - wanted if above < below else whole - wanted - below  # from the one with more digits
            if excess > 0.0:
                low = y
            else:
                high = y
            step = excess / density  # infinite, or not a number, where the density underflows
            precision = _PRECISION / reach if gaussian else _PRECISION
            if reach * abs(step) < _HIDDEN and wild / density * step**4 < precision:
                one, two = slope / density, bend / density
                y += step * (1.0 - step * (0.5 * one - step * (0.5 * one * one - two / 6.0)))
                break
            trial = y + (math.log(above / below) - goal) * above * below / (density * whole)
            y = trial if low < trial < high else 0.5 * (low + high)
            if high - low <= 1e-15 * abs(y):
                break
        if gaussian:
            quantile[table] = y
        else:
            quantile[table] = upper[table] / (1.0 + math.exp(-y))
