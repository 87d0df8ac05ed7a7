"""The recursion of `all_cuts` for one column, compiled: all strengths side by side, all chances of a border at once.

For a border h in ascending order, and every earlier border g, the three additive terms of the range [g, h) are computed
for all strengths K (the innermost loops, which vectorise), and added to the sums over all segmentations that end at h.

**Scaled products.** A factor f = exp(score) of a range may be e^1000 or e^-1000. Let phi(h) be the logarithm of the
best segmentation up to h at the middle chance of a border (a step of Viterbi's algorithm). Then

    exp(phi(g) + log odds + score(g, h) - phi(h)) <= 1,

and sums are kept divided by exp(phi(h)): one exponential per range and strength serves all chances of a border and all
moments. Sums over the paths to h stay below 2^h times the ratio of the odds to the power h: far from overflow for the
at most `MOST_CELLS` cells of one recursion.

**Logarithms.** With x = c + 9, psi(c + 1) = log x - 1/(2x) + tail - sum of eight reciprocals (see `special_functions`),
so that l = psi(a + n_i + 1) - psi(A + n + 1) - log a costs one logarithm of a ratio.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.inference.special_functions import log_rise, log_rise_of_large, logarithm

MOST_CELLS = 96
_LARGE_FROM = 8.0
_LEAST_EXPONENT = -700.0
_LEAST_WEIGHT = 1e-300
LEAST_SEEN = 0.02  # of the rows of a cell and class that have both sides, as the fixed point has it


@inlined
def _digamma_parts(c: float) -> tuple[float, float]:
    """x and rest, with psi(c + 1) = log x + rest; c > 0."""
    x = c + 1.0
    t = x * (x + 7.0)
    low, high = t * (t + 6.0), (t + 10.0) * (t + 12.0)
    reciprocals = (2.0 * x + 7.0) * ((2.0 * t + 6.0) * high + (2.0 * t + 22.0) * low) / (low * high)
    z = 1.0 / (x + 8.0)
    zz = z * z
    tail = zz * (1.0 / 12.0 - zz * (1.0 / 120.0 - zz * (1.0 / 252.0 - zz * (1.0 / 240.0 - zz * (1.0 / 132.0)))))
    return x + 8.0, -0.5 * z - tail - reciprocals


@inlined
def _add_rises(score: FloatArray, strengths: FloatArray, part: float, n: float, sign: float) -> None:
    """Add or subtract log_rise(K part, n) for every strength; nothing for counts of 0 and 1."""
    if n * (n - 1.0) == 0.0:
        return
    if strengths[0] * part >= _LARGE_FROM:
        for k in range(strengths.size):
            score[k] += sign * log_rise_of_large(strengths[k] * part, n)
    else:
        for k in range(strengths.size):
            score[k] += sign * log_rise(strengths[k] * part, n)


@inlined
def _fill_range(
    below: FloatArray,
    width: FloatArray,
    mass: FloatArray,
    unclassed: FloatArray,
    shares: FloatArray,
    rows: FloatArray,
    strengths: FloatArray,
    g: int,
    h: int,
    reweighted: bool,
    moments: bool,
    score: FloatArray,
    mean: FloatArray,
    square: FloatArray,
) -> None:
    """The log evidence, and the terms of I and of the mean square of l, of the range [g, h) at every strength."""
    strata, classes = below.shape[0], below.shape[2]
    for k in range(strengths.size):
        score[k] = 0.0
        mean[k] = 0.0
        square[k] = 0.0
    for a in range(strata):
        n = 0.0
        for i in range(classes):
            n += below[a, h, i] - below[a, g, i]
        share = (n + width[h] - width[g]) / (rows[a] + 1.0)
        for i in range(classes):
            _add_rises(score, strengths, share * shares[0, a, i], below[a, h, i] - below[a, g, i], 1.0)
        _add_rises(score, strengths, share, n, -1.0)
        if not moments:
            continue
        part = shares[3, a, 0] * (mass[a, h] - mass[a, g])
        if reweighted:
            lacking = (unclassed[a, h] - unclassed[a, g]) / max(mass[a, h] - mass[a, g], 1e-300)
            _add_reweighted(below, shares, strengths, a, g, h, n, share, part, lacking, mean, square)
        else:
            for i in range(classes):
                count, portion = below[a, h, i] - below[a, g, i], share * shares[0, a, i]
                inverse = 1.0 / shares[1, a, i]
                for k in range(strengths.size):
                    whole, own = strengths[k] * share + n, strengths[k] * portion + count
                    x_whole, rest_whole = _digamma_parts(whole)
                    x_own, rest_own = _digamma_parts(own)
                    information = logarithm(x_own * inverse / x_whole) + rest_own - rest_whole
                    weight = part * own / whole
                    mean[k] += weight * information
                    square[k] += weight * information * information


@inlined
def _add_reweighted(
    below: FloatArray,
    shares: FloatArray,
    strengths: FloatArray,
    a: int,
    g: int,
    h: int,
    n: float,
    share: float,
    part: float,
    lacking: float,
    mean: FloatArray,
    square: FloatArray,
) -> None:
    """The same terms where values are missing: chances w_i theta_i / W (see `all_cuts`); `lacking` is u_s/(T p_s)."""
    classes = below.shape[2]
    for k in range(strengths.size):
        whole = strengths[k] * share + n
        first, second = 0.0, 0.0
        for i in range(classes):
            own = strengths[k] * share * shares[0, a, i] + below[a, h, i] - below[a, g, i]
            w = 1.0 / max(1.0 - shares[2, a, i] - lacking, LEAST_SEEN)
            first += w * own
            second += w * w * own
        x_whole, rest_whole = _digamma_parts(whole)
        for i in range(classes):
            own = strengths[k] * share * shares[0, a, i] + below[a, h, i] - below[a, g, i]
            w = 1.0 / max(1.0 - shares[2, a, i] - lacking, LEAST_SEEN)
            x_own, rest_own = _digamma_parts(own)
            expected = (first + w) / (whole + 1.0)
            spread = ((second + w * w) / (whole + 1.0) - expected * expected) / (whole + 2.0)
            log_total = logarithm(expected) - 0.5 * spread / (expected * expected)
            ratio = x_own * w / (x_whole * shares[1, a, i])
            information = logarithm(ratio) + rest_own - rest_whole - log_total
            weight = part * w * own / first
            mean[k] += weight * information
            square[k] += weight * information * information * (part / (shares[3, a, 0] * share)) * (w * whole / first)


@compiled
def weigh_cuts(
    below: FloatArray,
    width: FloatArray,
    mass: FloatArray,
    unclassed: FloatArray,
    shares: FloatArray,
    strengths: FloatArray,
    odds: FloatArray,
    all_cells: float,
    reweighted: bool,
    moments: bool,
    figures: FloatArray,
    edges: FloatArray,
    forward: FloatArray,
    scale: FloatArray,
) -> None:
    """Fill the evidence and the moments of one column at every strength, and what `find_borders` needs.

    below : (strata, cells + 1, classes), the counts of complete rows below each border
    width : (cells + 1), the share of all cells below each border
    mass : (strata, cells + 1), the share of all rows of the stratum below each border
    unclassed : (strata, cells + 1), the rows without class below each border, as a share of all rows of the stratum
    shares : (4, strata, classes), of classes in the complete rows; in all rows; x_i/T; of the stratum (in all)
    strengths, odds : K, ascending, and the odds of a border, ascending
    all_cells : the number of cells whose borders might have been chosen
    figures : (4, strengths), to be filled: log evidence, mean, second moment, mean square
    edges : (cells (cells + 1)/2, strengths), scaled factors of the ranges; forward : (cells + 1, odds, strengths)
    scale : (cells + 1, strengths)
    """
    cells, points, chances = width.size - 1, strengths.size, odds.size
    strata, classes = below.shape[0], below.shape[2]
    rows = np.zeros(strata)
    whole = np.zeros(points)
    for a in range(strata):
        for i in range(classes):
            rows[a] += below[a, cells, i]
        for i in range(classes):
            _add_rises(whole, strengths, shares[0, a, i], below[a, cells, i], 1.0)
        _add_rises(whole, strengths, 1.0, rows[a], -1.0)
    middle = chances // 2
    log_middle = math.log(odds[middle])
    scores, means, squares = np.empty((cells, points)), np.empty((cells, points)), np.empty((cells, points))
    first, second, third = (
        np.zeros((cells + 1, chances, points)),
        np.zeros((cells + 1, chances, points)),
        np.zeros((cells + 1, chances, points)),
    )
    top = np.empty(points)
    for k in range(points):
        scale[0, k] = 0.0
    for t in range(chances):
        for k in range(points):
            forward[0, t, k] = 1.0
    for h in range(1, cells + 1):
        start = 1 if h == cells else 0  # dependence has a border
        for k in range(points):
            top[k] = -np.inf
        for g in range(start, h):
            _fill_range(
                below,
                width,
                mass,
                unclassed,
                shares,
                rows,
                strengths,
                g,
                h,
                reweighted,
                moments,
                scores[g],
                means[g],
                squares[g],
            )
            step = log_middle if g > 0 else 0.0
            for k in range(points):
                top[k] = max(top[k], scale[g, k] + scores[g, k] + step)
        for k in range(points):
            scale[h, k] = top[k]
        z, one, two, three = forward[h], first[h], second[h], third[h]
        for t in range(chances):
            for k in range(points):
                z[t, k] = 0.0
        for g in range(start, h):
            step = log_middle if g > 0 else 0.0
            edge = edges[h * (h - 1) // 2 + g]
            for k in range(points):
                exponent = scale[g, k] + scores[g, k] + step - top[k]
                edge[k] = math.exp(exponent) if exponent > _LEAST_EXPONENT else 0.0
            z_g, one_g, two_g, three_g, c, q = forward[g], first[g], second[g], third[g], means[g], squares[g]
            for t in range(chances):
                relative = odds[t] / odds[middle] if g > 0 else 1.0
                for k in range(points):
                    v = relative * edge[k]
                    z[t, k] += v * z_g[t, k]
                    one[t, k] += v * (one_g[t, k] + z_g[t, k] * c[k])
                    two[t, k] += v * (two_g[t, k] + c[k] * (2.0 * one_g[t, k] + z_g[t, k] * c[k]))
                    three[t, k] += v * (three_g[t, k] + z_g[t, k] * q[k])
    for k in range(points):
        total, mean, square, spread = 0.0, 0.0, 0.0, 0.0
        for t in range(chances):
            # The odds of a set of borders add up to (1 + odds)^(borders) - 1 over all sets that are not empty.
            weight = math.exp(-log_sets(odds[t], all_cells) + log_sets(odds[0], all_cells)) / chances
            total += weight * forward[cells, t, k]
            mean += weight * first[cells, t, k]
            square += weight * second[cells, t, k]
            spread += weight * third[cells, t, k]
        total = max(total, _LEAST_WEIGHT)
        figures[0, k] = math.log(total) + scale[cells, k] - log_sets(odds[0], all_cells) - whole[k]
        figures[1, k] = mean / total
        figures[2, k] = square / total
        figures[3, k] = spread / total


@inlined
def log_sets(odds: float, all_cells: float) -> float:
    """log((1 + odds)^(cells - 1) - 1)."""
    power = (all_cells - 1.0) * math.log1p(odds)
    return power + math.log(-math.expm1(-power))


@compiled
def find_borders(
    strengths: int,
    weights: FloatArray,
    odds: FloatArray,
    edges: FloatArray,
    forward: FloatArray,
    best: int,
    chance: int,
    borders: IntegerArray,
    probability: FloatArray,
) -> int:
    """The most probable borders, and the probability that there is one in the neighbourhood of each; their number.

    `weights` (odds, strengths) are posterior weights; the best segmentation is that of strength `best` and border
    chance `chance`. The neighbourhood of a border reaches halfway (in cells) to the borders next to it.
    """
    cells, chances, points = forward.shape[0] - 1, odds.size, strengths
    middle = chances // 2
    relative = odds[chance] / odds[middle]
    # The best path; edges are scaled, so products of a few of them do not underflow before the best path does.
    value, previous = np.full(cells + 1, -np.inf), np.zeros(cells + 1, dtype=np.int64)
    value[0] = 0.0
    for h in range(1, cells + 1):
        for g in range(1 if h == cells else 0, h):
            edge = edges[h * (h - 1) // 2 + g, best]
            if edge > 0.0:
                score = value[g] + math.log(edge) + (math.log(relative) if g > 0 else 0.0)
                if score > value[h]:
                    value[h], previous[h] = score, g
    count, at = 0, previous[cells]
    while at > 0:
        count += 1
        at = previous[at]
    at = previous[cells]
    for place in range(count - 1, -1, -1):
        borders[place] = at
        at = previous[at]
    backward = np.zeros((cells + 1, chances, points))
    for t in range(chances):
        for k in range(points):
            backward[cells, t, k] = 1.0
    for g in range(cells - 1, 0, -1):
        for h in range(g + 1, cells + 1):
            edge = edges[h * (h - 1) // 2 + g]
            for t in range(chances):
                ratio = odds[t] / odds[middle]
                for k in range(points):
                    backward[g, t, k] += ratio * edge[k] * backward[h, t, k]
    for place in range(count):
        low = 0 if place == 0 else borders[place - 1]
        high = cells if place == count - 1 else borders[place + 1]
        left, right = (low + borders[place]) // 2, (borders[place] + high + 1) // 2
        crossing = 0.0  # the weight of segmentations with a range that reaches over the neighbourhood
        for g in range(left + 1):
            for h in range(right, cells + 1):
                if g == 0 and h == cells:
                    continue
                edge = edges[h * (h - 1) // 2 + g]
                for t in range(chances):
                    ratio = odds[t] / odds[middle] if g > 0 else 1.0
                    for k in range(points):
                        if weights[t, k] > 0.0:
                            crossing += (
                                weights[t, k]
                                * ratio
                                * forward[g, t, k]
                                * edge[k]
                                * backward[h, t, k]
                                / forward[cells, t, k]
                            )
        probability[place] = min(max(1.0 - crossing, 0.0), 1.0)
    return count
