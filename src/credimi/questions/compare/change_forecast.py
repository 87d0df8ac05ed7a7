"""How many times as many rows would decide an unsure change: half of all samples would, as far as is known now.

Let d be the change I_b - I_a that is seen and s its standard deviation, and let both samples become c times as large.
The posterior of the change is then taken for normal, with mean m and deviation s/sqrt(c). What m will be follows from
what is known now:

    apart   the true change is normal around d with deviation s: m is normal around d, with variance s^2 (1 - 1/c)
    same    the true change is 0: m is normal around d/c, with variance s^2 (c - 1)/c^2

with the probabilities of `change`, P(apart | data) and P(same | data). The evidence B of "same" is the density of the
change at 0 after the data over that before (Savage and Dickey). The density before stays as it is, hence

    B_c = B [phi(m sqrt(c)/s) sqrt(c)] / phi(d/s),

from which `change` has P(apart) at c, and P(more), P(less) and P(within) follow from the normal distribution.
P(decided) is the sum over `_POINTS` quantiles of m, for growths in quarters of doublings. As in
`inference.rows_to_decide`, nothing is said where three quarters of the samples do not decide at ten times the growth at
which one quarter does.

It is rough, and on the safe side: where one I is near 0 the posterior of the change is narrower than a normal one. Of
pairs of tables as the priors have them, not half but .68 to .74 decide at the forecast, and .51 to .65 and .76 to .83
at its quartiles (tests/questions/compare/test_change_forecast.py).
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import normal_below, normal_quantile

if TYPE_CHECKING:
    from credimi.core.types import FloatArray

_GROWTHS = 2.0 ** np.arange(0.25, 12.25, 0.25)
_POINTS = 40
_WORTH_SAYING = 10.0  # the upper quartile over the lower one, at most
_NORMAL = NormalDist()


def growth_to_decide(
    change: float, interval: tuple[float, float], p_same_now: float, *, p_same: float, epsilon: float, level: float
) -> tuple[float, float, float]:
    """The growths at which a quarter, half and three quarters of all samples decide; NaN if that is not known."""
    unknown = math.nan, math.nan, math.nan
    spread = (interval[1] - interval[0]) / (2.0 * _NORMAL.inv_cdf(0.5 + 0.5 * level))
    if not (spread > 0.0 and 0.0 < p_same_now < 1.0 and 0.0 < p_same < 1.0):
        return unknown
    growth = _GROWTHS[:, np.newaxis]
    z = normal_quantile((np.arange(_POINTS) + 0.5) / _POINTS)
    log_evidence = math.log(p_same_now / (1.0 - p_same_now) * (1.0 - p_same) / p_same)
    log_density = -0.5 * (change / spread) ** 2
    decided: FloatArray = np.zeros(_GROWTHS.size)
    for weight, center, deviation in (
        (1.0 - p_same_now, change + 0.0 * growth, spread * np.sqrt(1.0 - 1.0 / growth)),
        (p_same_now, change / growth, spread * np.sqrt(growth - 1.0) / growth),
    ):
        mean, later = center + deviation * z, spread / np.sqrt(growth)
        log_later = -0.5 * (mean / later) ** 2 + 0.5 * np.log(growth)
        evidence = np.exp(np.clip(log_evidence + log_later - log_density, -700.0, 700.0))
        apart = (1.0 - p_same) / (1.0 - p_same + p_same * evidence)  # as `change.p_apart`
        above, below = 1.0 - normal_below((epsilon - mean) / later), normal_below((-epsilon - mean) / later)
        largest = np.maximum.reduce([apart * above, apart * below, 1.0 - above - below])
        decided += weight * (largest >= level).mean(axis=1)
    found = [_reached(decided, quartile) for quartile in (0.25, 0.5, 0.75)]
    return (found[0], found[1], found[2]) if found[2] <= _WORTH_SAYING * found[0] else unknown


def _reached(decided: FloatArray, quartile: float) -> float:
    """The first growth with this probability, between two that were tried on a straight line; NaN if there is none."""
    place = int(np.argmax(decided >= quartile))
    if decided[place] < quartile:
        return math.nan
    if place == 0:
        return float(_GROWTHS[0])
    low, high = decided[place - 1 : place + 1].tolist()
    share = (quartile - low) / (high - low)
    return float(_GROWTHS[place - 1] * (_GROWTHS[place] / _GROWTHS[place - 1]) ** share)
