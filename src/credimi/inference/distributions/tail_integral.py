"""Tails of Gammas and Betas, and quantiles from such tails; on arrays, in plain numpy.

**The scale.** Let y be log x for a Gamma with shape a, and the log-odds of x for a Beta(a, b). In y the density,
x^a e^-x / Gamma(a) or x^a (1 - x)^b / B(a, b), is log-concave and has no singular ends. At the distance s from y, away
from the mean, it has fallen by the factor e^-D(s). So the tail is the density at y times the integral of e^-D:

    D(s) = growth(e^s - 1) - a s   towards larger x,         growth(e) = x e                     of a Gamma,
    D(s) = growth(e^-s - 1) + a s  towards smaller x,        growth(e) = (a + b) log(1 + x e)    of a Beta.

For a Beta, x stands for the smaller one of x and 1 - x, and a for its parameter: a of x, b of 1 - x. So digits are
kept at both ends.

**The integral.** D is convex. The integral ends at S with D(S) = `_END`, found by two Newton steps in log D as a
function of log s, which start from the parabola at 0. With s = S (t + t^3)/2, Gauss and Legendre's rule with `_NODES`
nodes for t is then exact to 2e-13, for exponential, Gaussian and doubly exponential decay alike, if the density falls
from y on. It does if a >= 1; and if a < 1, towards larger x where x >= 1 (Gamma) or (a + b) x >= 1 (Beta).

**The power series** is used for the other x. Its terms fall like 2^-k or faster. With e^(aL) = x^a/(a B(a, b)):

    P(X <= x) = e^(aL) (1 + a sum_k t_k/(a + k)),   t_k = prod_(j <= k) (j - b) x/j,     of a Gamma -x/j,
    P(X > x) = -(e^(aL) - 1) - e^(aL) a sum_k t_k/(a + k),

Both keep their digits for tiny a, because L is computed without cancellation (`special.mean_digamma`).

**Quantiles** are found by Newton's method in y on the log-odds of the tail, which are nearly straight far out. A
bracket is halved where a step would leave it. Near the root, with u the step of Newton's method on the tail itself and
G the density, the next y is

    y + u - (G'/2G) u^2 + ((G'/G)^2/2 - G''/6G) u^3,

with an error of order u^4. Three to six steps are enough.

Cost: a fixed number of operations on arrays of `_NODES` numbers a tail: 60 microseconds, and 0.2 more a tail.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.core.special import normal_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import FloatArray, IntegerArray

_END = 38.0  # e^-38 is below the rounding of the integral
_NODES = 32
_TERMS = np.arange(1.0, 57.0)
_MAX_STEPS = 200
_SMALL_STEP = 0.3  # in units over which the density changes; below it, the series with u^3 is used
_LAST_STEP = 3e-4  # its fourth power is the error
_FURTHEST = 708.0  # beyond these logarithms, or log-odds, doubles lose digits
_AT_ONCE = 4096  # tails whose nodes are in memory at once


class Position(NamedTuple):
    """Both tails at y, the density G there, and how fast it changes."""

    below: FloatArray
    above: FloatArray
    density: FloatArray
    slope: FloatArray  # G'/G
    bend: FloatArray  # G''/G
    change: FloatArray  # 1 over the distance over which the density changes


@cache
def _rule() -> tuple[FloatArray, FloatArray]:
    """Nodes and weights on [0, 1], denser at 0."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    t = 0.5 * (nodes + 1.0)
    return 0.5 * (t + t**3), 0.25 * weights * (1.0 + 3.0 * t**2)


def tail_integral(parameter: FloatArray, x: FloatArray, total: FloatArray | None, direction: FloatArray) -> FloatArray:
    """The integral of e^-D: of a Beta with `total` a + b, of a Gamma if that is None; `direction` is 1 or -1."""
    if x.size > _AT_ONCE:
        parts = [slice(first, first + _AT_ONCE) for first in range(0, x.size, _AT_ONCE)]
        return np.concatenate(
            [tail_integral(parameter[p], x[p], None if total is None else total[p], direction[p]) for p in parts]
        )
    pull = x if total is None else total * x
    curvature = x if total is None else pull * (1.0 - x)
    slope = np.maximum(direction * (pull - parameter), 0.0)
    signed = direction * parameter
    reach = 2.0 * _END / (slope + np.sqrt(slope * slope + 2.0 * _END * curvature))
    for _ in range(2):
        reach = np.minimum(reach, 700.0)
        e = np.expm1(direction * reach)
        fall, rate = pull * e, pull * (1.0 + e)
        if total is not None:
            fall, rate = total * np.log1p(x * e), rate / (1.0 + x * e)
        decay = fall - signed * reach
        reach = reach * (_END / decay) ** (decay / (reach * direction * (rate - parameter)))
    nodes, weights = _rule()
    along = np.multiply.outer(reach, nodes)
    e = np.expm1(direction[:, np.newaxis] * along)
    along *= signed[:, np.newaxis]
    if total is None:
        along -= pull[:, np.newaxis] * e
    else:
        e *= x[:, np.newaxis]
        along -= total[:, np.newaxis] * np.log1p(e, out=e)
    # A matrix product would round a tail in one way among others and in another way alone: quantiles are exact.
    integral: FloatArray = reach * np.multiply(np.exp(along, out=along), weights, out=along).sum(axis=1)
    return integral


def power_tails(
    parameter: FloatArray, other: FloatArray | None, x: FloatArray, level: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both tails by the power series; `level` is L, `other` is b of a Beta, and None for a Gamma."""
    if x.size > _AT_ONCE:
        parts = [slice(first, first + _AT_ONCE) for first in range(0, x.size, _AT_ONCE)]
        each = [power_tails(parameter[p], None if other is None else other[p], x[p], level[p]) for p in parts]
        below, above = (np.concatenate(tails) for tails in zip(*each, strict=True))
        return below, above
    ratios = -1.0 / _TERMS if other is None else 1.0 - np.divide.outer(other, _TERMS)
    terms = np.cumprod(x[:, np.newaxis] * ratios, axis=1)
    rest = parameter * (terms / (parameter[:, np.newaxis] + _TERMS)).sum(axis=1)
    exponent = parameter * level
    power = np.exp(exponent)
    return power + power * rest, -np.expm1(exponent) - power * rest


def quantile(
    position: Callable[[FloatArray, IntegerArray], Position],
    moments: tuple[FloatArray, FloatArray],
    probability: FloatArray,
    *,
    upper_tail: bool,
) -> FloatArray:
    """The y with these probabilities, inside (0, 1), below it, or above it if `upper_tail`.

    `moments` are mean and standard deviation of y. `position(y, index)` is the position at y in the distributions whose
    probabilities `index` selects.
    """
    sign = -1.0 if upper_tail else 1.0
    y = np.clip(moments[0] + sign * moments[1] * normal_quantile(probability), -_FURTHEST, _FURTHEST)
    goal = -sign * (np.log(probability) - np.log1p(-probability))
    low, high = np.full(y.shape, -_FURTHEST - 1.0), np.full(y.shape, _FURTHEST + 1.0)
    active = np.arange(y.size)
    for _ in range(_MAX_STEPS):
        here, at = y[active], position(y[active], active)
        tail, wanted = (at.above if upper_tail else at.below), probability[active]
        excess = sign * (wanted - tail)
        low[active] = np.where(excess > 0.0, here, low[active])
        high[active] = np.where(excess > 0.0, high[active], here)
        step = excess / at.density
        size = np.abs(step) * at.change
        bent = step * (1.0 - step * (0.5 * at.slope - step * (0.5 * at.slope**2 - at.bend / 6.0)))
        straight = (np.log(at.above / at.below) - goal[active]) * at.above * at.below / at.density
        trial = np.clip(here + np.where(size < _SMALL_STEP, bent, straight), -_FURTHEST, _FURTHEST)
        done = (size < _LAST_STEP) | (trial == here)  # found, or beyond the last double
        inside = (trial > low[active]) & (trial < high[active])
        y[active] = np.where(inside | done, trial, 0.5 * (low[active] + high[active]))
        done |= high[active] - low[active] <= 1e-15 * np.abs(y[active])
        active = active[~done]
        if active.size == 0:
            break
    return y
