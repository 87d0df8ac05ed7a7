"""The direction of an effect: whether the share of a class rises, falls, peaks or dips along the ranges of a number.

**Shapes.** The log-odds y_1, ..., y_s of the class in the ranges, in their order, are one of: rising; falling; peaking
(first rising, then falling, the largest inside); dipping; or none of these. Without ties these shapes exclude each
other, and in a prior under which the ranges are exchangeable, as with the same pseudo-counts for all, the order of the
y_j is one of s! with equal probability. Of these, 1 rises, 1 falls, 2^(s-1) - 2 peak, and as many dip. The evidence for
a shape against the unrestricted model is the ratio of its probability in the posterior and in the prior (Klugkist,
Laudy and Hoijtink 2005):

    P(shape | data) ~ P(shape | data, unrestricted) / P(shape | unrestricted),

each shape that s ranges can have being as probable beforehand as the others. So a simple shape that the data support
wins over a complex one that they support as well. This is all given dependence: it is multiplied by 1 - P(independent).

**The probabilities** need the order of the y_j alone. If rows lack the feature, the y_j have a common term, the
frequency of the classes, that does not change their order, and without it they are independent: for two classes they
are the log-odds of Beta(c_1j, c_2j), c the complete rows with pseudo-counts, whatever else is missing on one side. With
the densities f_j on a grid,

    R_1 = f_1,   R_j(y) = f_j(y) int_(-inf)^y R_(j-1)(u) du

is the density of y_j together with y_1 < ... < y_j, and its integral over y is P(rising) at j = s. With L_j the same
from the other end, P(peak at j) = int R_j L_j / f_j. With -y they are the falling and the dipping ones. If both sides
have missing values, the Betas of `class_shares` are taken, less the mean covariance of the y_j: their common term.

**Irregularities.** In many rows a curve that rises but for a trifle would have no order. Each y_j may therefore differ
by a normal error of standard deviation `TRIFLE` from what has the shape: it is added to the variance of y_j.

**The word** is said if its probability is at least `SURE`: a wrong word costs four times as much as "unclear".

Cost: O(s GRID) for a column.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from credimi.core.types import FloatArray

RISES, FALLS, PEAKS, DIPS, NO_ORDER, UNCLEAR = "rises", "falls", "peaks", "dips", "no order", "unclear"
SHAPES = (RISES, FALLS, PEAKS, DIPS, NO_ORDER)
SURE = 0.8
TRIFLE = 0.1  # of log-odds: an odds ratio of 1.1
_GRID = 1500
_WIDTH = 7.0  # standard deviations on each side


class Direction(NamedTuple):
    """The word, and the probability of what it says; of "unclear", that of the most probable shape."""

    word: str
    probability: float


def direction(alpha: FloatArray, beta: FloatArray, p_dependent: float = 1.0) -> Direction:
    """The shape of the shares, the log-odds of which are those of independent Betas, in the order of the ranges."""
    known = probabilities(alpha, beta)
    best = max(known, key=known.__getitem__)
    probability = p_dependent * known[best]
    return Direction(best if probability >= SURE else UNCLEAR, probability)


def probabilities(alpha: FloatArray, beta: FloatArray) -> dict[str, float]:
    """The probability of each shape that so many ranges can have, given dependence."""
    count = alpha.size
    orders = math.factorial(count)
    unimodal = 2 ** (count - 1) - 2
    ways = {RISES: 1, FALLS: 1, PEAKS: unimodal, DIPS: unimodal, NO_ORDER: orders - 2 - 2 * unimodal}
    found = _of_orders(_densities(alpha, beta))
    found[NO_ORDER] = max(1.0 - sum(found.values()), 0.0)
    evidence = {shape: found[shape] * (orders / ways[shape]) for shape in SHAPES if ways[shape] > 0}
    total = sum(evidence.values())
    return {shape: each / total for shape, each in evidence.items()}


def _densities(alpha: FloatArray, beta: FloatArray) -> FloatArray:
    """The probabilities of the log-odds at the points of a grid, (ranges, points), with the irregularities."""
    share = alpha / (alpha + beta)
    size = 1.0 / ((1.0 / alpha + 1.0 / beta + TRIFLE**2) * share * (1.0 - share))
    alpha, beta = (share * size)[:, None], ((1.0 - share) * size)[:, None]
    middle, spread = np.log(alpha / beta), np.sqrt(1.0 / alpha + 1.0 / beta + 1.0 / alpha**2 + 1.0 / beta**2)
    # a tail of a log-Gamma is longer than a normal one where its shape is below 1
    y = np.linspace((middle - _WIDTH * spread).min(), (middle + _WIDTH * spread).max(), _GRID)
    density = alpha * y - (alpha + beta) * np.logaddexp(0.0, y)
    weights = np.exp(density - density.max(axis=1, keepdims=True))
    normalised: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return normalised


def _of_orders(weights: FloatArray) -> dict[str, float]:
    """P(rising), P(falling), P(peaking) and P(dipping) of independent variables with these probabilities on a grid."""
    rising, peaking = _rising_and_peaking(weights)
    falling, dipping = _rising_and_peaking(weights[:, ::-1])
    return {RISES: rising, FALLS: falling, PEAKS: peaking, DIPS: dipping}


def _rising_and_peaking(weights: FloatArray) -> tuple[float, float]:
    before, after = _all_below(weights), _all_below(weights[::-1])[::-1]
    peaking = sum(float((weights[j] * before[j] * after[j]).sum()) for j in range(1, len(weights) - 1))
    return float((weights[-1] * before[-1]).sum()), peaking


def _all_below(weights: FloatArray) -> FloatArray:
    """P(y_1 < ... < y_(j-1) < y) at each point y of the grid; half of what is at the point itself is below it."""
    below = np.ones_like(weights)
    for j in range(1, len(weights)):
        each = weights[j - 1] * below[j - 1]
        below[j] = np.cumsum(each) - 0.5 * each
    return below
