"""Tails and quantiles of many mixtures: of Betas on [0, upper], or of normal distributions, each with an atom at 0.

**Scale.** A quantile is searched in y, the log-odds of x/upper for Betas and x itself for normal distributions. In both
a component's density g(y) is log-concave, without singular ends, and its logarithm has simple slopes:

    Beta(a, b), x in (0, 1), x' = 1 - x:   g = x^a x'^b / B(a, b),   slopes  a x' - b x,   -(a + b) x x',
    normal(m, s):                          g = phi(z)/s,             slopes  -z/s,         -1/s^2,        z = (x - m)/s.

**Tails of a Beta.** By the continued fraction of DiDonato and Morris (1992), with h = a x' - b x,

    I_x(a, b) = g / (c_0 + d_1/(c_1 + d_2/(c_2 + ...))),   c_0 = a (1 + h)/(a + 1),
    c_k = k + k (b - k) x/(a + 2k - 1) + (a + k)(1 + h + k (1 + x'))/(a + 2k + 1),
    d_k = (a + k - 1)(a + b + k - 1) k (b - k) x^2/(a + 2k - 1)^2,

for x below (a + 1)/(a + b + 2); above it the same for the other tail. It takes 5 to 30 terms in the tails, and for
large parameters, in the middle, about half their root. Numerators and denominators are updated without divisions that
wait for each other. g is computed without loss of digits: by `special.log_rise` if one parameter is small and, if both
are large, by Stirling's series around the mean: a (log(1 + u) - u) + b (log(1 + v) - v), u = x/p - 1, v = x'/q - 1,
p = 1 - q the mean.

**Quantiles.** Let S be the mixture's upper tail (without the atom) and G its density. Newton's method is applied to the
log-odds of S, which are nearly linear far out, within a bracket that is halved if a step would leave it. Near the root,
with u = (S - tail)/G, the series of the inverse

    y + u - (G'/2G) u^2 + ((G'/G)^2/2 - G''/6G) u^3

has an error of order u^4. It ends the search once no component changes much within u, so that none can be missed, and
a bound of that error is below `_PRECISION`. The cost is O(components) a step, with four to eight steps.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.inference.special_functions import log_rise, stirling_tail

_PRECISION = 1e-12
_MAX_TERMS = 100_000
_LAST_TERM = 1e-15
_RESCALE_ABOVE = 1e100  # for numerators and denominators
_MAX_STEPS = 400
_MAX_LOG_ODDS = 745.0  # beyond these log-odds a share is 0 or 1
_MAX_DEVIATIONS = 40.0  # beyond these a normal distribution has no mass
_STIRLING_FROM = 20.0  # if both parameters are at least this, Stirling's series is used for both
_MAX_LOG_CHANGE = 0.3  # of the density of a component within the last step
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_ROOT_TWO = math.sqrt(2.0)


@inlined
def _log_scale(a: float, b: float) -> float:
    """The part of log g that does not depend on x; see `log_beta_density`."""
    small, large = min(a, b), max(a, b)
    if small >= _STIRLING_FROM:
        series = stirling_tail(1.0 / (a + b)) - stirling_tail(1.0 / a) - stirling_tail(1.0 / b)
        return 0.5 * math.log(small / (a + b) * large) - _HALF_LOG_TWO_PI + series
    return log_rise(large, small) + small * math.log(large) - math.lgamma(small)


@inlined
def log_beta_density(a: float, b: float, scale: float, x: float, rest: float) -> float:
    """log g of a Beta; `rest` = 1 - x, computed without loss of digits."""
    if min(a, b) < _STIRLING_FROM:
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
    previous_numerator, numerator = 0.0, 1.0
    previous_denominator, denominator = 1.0, (1.0 + excess) * a / (a + 1.0)
    for term in range(1, _MAX_TERMS):
        k = np.float64(term)
        at = a + 2.0 * k - 1.0
        share = k * (b - k) * x / at
        partial = (a + k - 1.0) * (a + b + k - 1.0) * x / at * share
        whole = k + share + (a + k) / (at + 2.0) * (1.0 + excess + k * (2.0 - x))
        previous_numerator, numerator = numerator, whole * numerator + partial * previous_numerator
        previous_denominator, denominator = denominator, whole * denominator + partial * previous_denominator
        if abs(numerator * previous_denominator - previous_numerator * denominator) <= _LAST_TERM * abs(
            numerator * previous_denominator
        ):
            break
        if denominator > _RESCALE_ABOVE:
            scale = 1.0 / denominator
            previous_numerator *= scale
            previous_denominator *= scale
            numerator *= scale
            denominator = 1.0
    return numerator / denominator


@inlined
def beta_tails(a: float, b: float, density: float, x: float, rest: float) -> tuple[float, float]:
    """P(X <= x) and P(X > x); `density` is g(x)."""
    excess = a * rest - b * x
    if excess >= 2.0 * x - 1.0:  # x <= (a + 1)/(a + b + 2)
        below = min(density * _fraction(a, b, x, excess), 1.0)
        return below, 1.0 - below
    above = min(density * _fraction(b, a, rest, -excess), 1.0)
    return 1.0 - above, above


@compiled
def log_scales(alpha: FloatArray, beta: FloatArray, scale: FloatArray) -> None:
    """Fill the part of the log density of each Beta that does not depend on x."""
    for component in range(alpha.size):
        scale[component] = _log_scale(alpha[component], beta[component])


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
        for component in range(starts[table], starts[table + 1]):
            a, b = first[component], second[component]
            if gaussian:
                total += weight[component] * 0.5 * math.erfc((x[table] - a) / (b * _ROOT_TWO))
            elif share <= 0.0:
                total += weight[component]
            elif rest > 0.0:
                density = math.exp(log_beta_density(a, b, scale[component], share, rest))
                total += weight[component] * beta_tails(a, b, density, share, rest)[1]
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
    """Fill the smallest x of each table with P(I > x) <= tail, 0 < tail < 1; arguments as in `upper_tails`."""
    for table in range(tail.size):
        begin, end = starts[table], starts[table + 1]
        total_weight, positive = 0.0, 0.0  # without the atom; and its part above 0
        centre, rest, low, high = 0.0, 0.0, -_MAX_LOG_ODDS, _MAX_LOG_ODDS
        for component in range(begin, end):
            a, b = first[component], second[component]
            total_weight += weight[component]
            if gaussian:
                positive += weight[component] * 0.5 * math.erfc(-a / (b * _ROOT_TWO))
                centre += weight[component] * a
                low = a - _MAX_DEVIATIONS * b if component == begin else min(low, a - _MAX_DEVIATIONS * b)
                high = a + _MAX_DEVIATIONS * b if component == begin else max(high, a + _MAX_DEVIATIONS * b)
            else:
                positive += weight[component]
                centre += weight[component] * a / (a + b)
                rest += weight[component] * b / (a + b)
        target_tail = tail[table]
        if positive <= target_tail:
            if not gaussian or positive + p_zero[table] > target_tail:
                quantile[table] = 0.0
                continue
            target_tail -= p_zero[table]
            high = min(high, 0.0)
        elif gaussian:
            low = max(low, 0.0)
        y = centre / total_weight if gaussian else math.log(centre / rest)
        y = y if low < y < high else 0.5 * (low + high)
        goal = math.log(target_tail / (total_weight - target_tail))
        for _ in range(_MAX_STEPS):
            share, rest = 1.0 / (1.0 + math.exp(-y)), 1.0 / (1.0 + math.exp(y))
            above, below, density, slope, second_derivative, error_scale, max_change = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
            for component in range(begin, end):
                a, b = first[component], second[component]
                if gaussian:
                    z = (y - a) / b
                    component_density = math.exp(-0.5 * z * z) / (_ROOT_TWO_PI * b)
                    component_below, component_above = 0.5 * math.erfc(-z / _ROOT_TWO), 0.5 * math.erfc(z / _ROOT_TWO)
                    first_slope, second_slope = -z / b, -1.0 / (b * b)
                else:
                    component_density = math.exp(log_beta_density(a, b, scale[component], share, rest))
                    component_below, component_above = beta_tails(a, b, component_density, share, rest)
                    first_slope, second_slope = a * rest - b * share, -(a + b) * share * rest
                component_density *= weight[component]
                above += weight[component] * component_above
                below += weight[component] * component_below
                change = abs(first_slope) + math.sqrt(-second_slope)
                density += component_density
                slope += component_density * first_slope
                second_derivative += component_density * (first_slope * first_slope + second_slope)
                error_scale += component_density * change**3
                max_change = max(max_change, change)
            # From the smaller tail, which has more digits.
            excess = above - target_tail if above < below else total_weight - target_tail - below
            if excess > 0.0:
                low = y
            else:
                high = y
            step = excess / density  # infinite or NaN if the density underflows
            precision = _PRECISION / max_change if gaussian else _PRECISION
            if max_change * abs(step) < _MAX_LOG_CHANGE and error_scale / density * step**4 < precision:
                first_slope, second_slope = slope / density, second_derivative / density
                y += step * (
                    1.0 - step * (0.5 * first_slope - step * (0.5 * first_slope * first_slope - second_slope / 6.0))
                )
                break
            trial = y + (math.log(above / below) - goal) * above * below / (density * total_weight)
            y = trial if low < trial < high else 0.5 * (low + high)
            if high - low <= 1e-15 * abs(y):
                break
        if gaussian:
            quantile[table] = y
        else:
            quantile[table] = upper[table] / (1.0 + math.exp(-y))
