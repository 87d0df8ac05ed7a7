"""The difference of mutual information of many pairs of samples; `questions.compare.change` has the mathematics.

Everything is the same as there, and computed pair by pair in compiled code from the distribution functions of `curves`.

**P(I_b - I_a <= t)** is summed in one walk over the nodes of both, and its derivative with it. So Newton's method on
the log-odds, within a bracket, finds a quantile in a few walks.

Cost: a few hundred nodes of each table, each O(components); about 0.5 ms a pair (docs/performance.md).
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.inference.distributions.mixture_tails import log_beta_density
from credimi.questions.compare.change_curves import MAX_LOG_ODDS, MAX_STEPS, STIRLING_FROM, fill_shares

_TOLERANCE = 1e-13  # of a quantile of the difference


@inlined
def _on_line(x: float, nodes: FloatArray, below: FloatArray, slopes: FloatArray) -> tuple[float, float, int]:
    """The distribution function at x, its slope, and the number of nodes up to x."""
    if x < nodes[0]:
        return 0.0, 0.0, 0
    if x >= nodes[-1]:
        return below[-1], 0.0, nodes.size
    low, high = 0, nodes.size - 1
    while high - low > 1:
        middle = (low + high) // 2
        if nodes[middle] <= x:
            low = middle
        else:
            high = middle
    return below[low] + slopes[low] * (x - nodes[low]), slopes[low], high


@inlined
def _p_difference(
    t: float,
    atom_a: float,
    atom_b: float,
    nodes_a: FloatArray,
    below_a: FloatArray,
    slopes_a: FloatArray,
    nodes_b: FloatArray,
    below_b: FloatArray,
    slopes_b: FloatArray,
) -> tuple[float, float]:
    """P(I_b - I_a <= t) without the atom of both, and its derivative."""
    now_b, slope_b, at_b = _on_line(t, nodes_b, below_b, slopes_b)
    of_a, slope_a, _ = _on_line(-t, nodes_a, below_a, slopes_a)
    total, derivative = atom_a * now_b + atom_b * (1.0 - atom_a - of_a), atom_a * slope_b + atom_b * slope_a
    # The walk: x from 0 to the last node of a; `at_b` is the number of nodes of b up to t + x.
    x, last_b = 0.0, nodes_b.size
    next_of_b = nodes_b[at_b] - t if at_b < last_b else math.inf
    for node in range(1, nodes_a.size):
        end, density = nodes_a[node], slopes_a[node - 1]
        while next_of_b < end:
            mass, next_b = density * max(next_of_b - x, 0.0), below_b[at_b]
            total += 0.5 * mass * (now_b + next_b)
            derivative += mass * slope_b
            x, now_b, slope_b = max(next_of_b, x), next_b, slopes_b[at_b]
            at_b += 1
            next_of_b = nodes_b[at_b] - t if at_b < last_b else math.inf
        mass, next_b = density * (end - x), now_b + slope_b * (end - x)
        total += 0.5 * mass * (now_b + next_b)
        derivative += mass * slope_b
        x, now_b = end, next_b
    return total, derivative


@inlined
def _quantile_of_difference(
    probability: float,
    p_negative: float,
    guess: float,
    atom_a: float,
    atom_b: float,
    nodes_a: FloatArray,
    below_a: FloatArray,
    slopes_a: FloatArray,
    nodes_b: FloatArray,
    below_b: FloatArray,
    slopes_b: FloatArray,
) -> float:
    """The t with this probability below it; `p_negative` is P(I_b < I_a)."""
    both = atom_a * atom_b
    if p_negative < probability <= p_negative + both:
        return 0.0
    negative = probability <= p_negative
    low, high = (-nodes_a[-1], 0.0) if negative else (0.0, nodes_b[-1])
    t = guess if low < guess < high else 0.5 * (low + high)
    for _ in range(MAX_STEPS):
        below, derivative = _p_difference(t, atom_a, atom_b, nodes_a, below_a, slopes_a, nodes_b, below_b, slopes_b)
        below += 0.0 if negative else both
        if below > probability:
            high = t
        else:
            low = t
        above = 1.0 - below
        step = (probability - below) / derivative if derivative > 0.0 else math.inf
        if abs(step) <= _TOLERANCE or high - low <= _TOLERANCE:
            return min(max(t + step, low), high)
        trial = t + step
        if below > 0.0 and above > 0.0 and derivative > 0.0 and abs(probability - below) > 0.1 * min(below, above):
            goal = math.log(probability / (1.0 - probability))
            trial = t + (goal - math.log(below / above)) * below * above / derivative
        t = trial if low < trial < high else 0.5 * (low + high)
    return t


@inlined
def _fill_densities(
    first: FloatArray,
    second: FloatArray,
    scale: FloatArray,
    weight: FloatArray,
    begin: int,
    end: int,
    shares: FloatArray,
    upper: float,
    total: FloatArray,
) -> None:
    """Fill the density of a mixture at many x, of which `fill_shares` made the shares."""
    total[:] = 0.0
    for component in range(begin, end):
        a, b, component_scale = first[component], second[component], scale[component]
        if min(a, b) < STIRLING_FROM:
            for point in range(total.size):
                log_density = component_scale + a * shares[2, point] + b * shares[3, point]
                if log_density > -MAX_LOG_ODDS:
                    total[point] += weight[component] * math.exp(log_density)
        else:
            for point in range(total.size):
                log_density = log_beta_density(a, b, component_scale, shares[0, point], shares[1, point])
                if log_density > -MAX_LOG_ODDS:
                    total[point] += weight[component] * math.exp(log_density)
    for point in range(total.size):
        total[point] /= shares[0, point] * shares[1, point] * upper


@compiled
def compare_pairs(
    first: FloatArray,
    second: FloatArray,
    scale: FloatArray,
    weight: FloatArray,
    starts: IntegerArray,
    p_zero: FloatArray,
    upper: FloatArray,
    ends: IntegerArray,
    nodes: FloatArray,
    below: FloatArray,
    slopes: FloatArray,
    counts: IntegerArray,
    guesses: FloatArray,
    epsilon: float,
    level: float,
    figures: FloatArray,
) -> None:
    """Fill low, high, P(more | apart), P(less | apart) and B of every pair.

    The mixtures are, for pair k of n: the posteriors k and n + k, and their priors 2n + k and 3n + k. Posteriors have
    nodes, as `fill_curves` fills them. `guesses` are two for each pair, of low and high.
    """
    pairs = figures.shape[0]
    tail = 0.5 * (1.0 - level)
    for pair in range(pairs):
        one, other = pair, pairs + pair
        begin_a, begin_b = ends[one], ends[other]
        end_a, end_b = begin_a + counts[one], begin_b + counts[other]
        nodes_a, below_a, slopes_a = nodes[begin_a:end_a], below[begin_a:end_a], slopes[begin_a:end_a]
        nodes_b, below_b, slopes_b = nodes[begin_b:end_b], below[begin_b:end_b], slopes[begin_b:end_b]
        atom_a, atom_b = p_zero[one], p_zero[other]
        both = atom_a * atom_b
        curves = atom_a, atom_b, nodes_a, below_a, slopes_a, nodes_b, below_b, slopes_b
        at_points = np.empty(3)
        for point in range(3):
            at_points[point] = _p_difference((point - 1.0) * epsilon, *curves)[0]
        for end in range(2):
            probability = tail if end == 0 else 1.0 - tail
            figures[pair, end] = _quantile_of_difference(probability, at_points[1], guesses[pair, end], *curves)
        figures[pair, 2], figures[pair, 3] = max(1.0 - at_points[2] - both, 0.0), max(at_points[0], 0.0)
        # B: the nodes of both in order, without their first, 0, and their last, upper.
        x = np.empty(nodes_a.size + nodes_b.size)
        largest, size, at_a, at_b = min(upper[one], upper[other]), 0, 1, 1
        while at_a < nodes_a.size - 1 or at_b < nodes_b.size - 1:
            if at_b >= nodes_b.size - 1 or (at_a < nodes_a.size - 1 and nodes_a[at_a] <= nodes_b[at_b]):
                value = nodes_a[at_a]
                at_a += 1
            else:
                value = nodes_b[at_b]
                at_b += 1
            if value < largest and (size == 0 or value > x[size - 1]):
                x[size] = value
                size += 1
        prior_a, prior_b = p_zero[2 * pairs + pair], p_zero[3 * pairs + pair]
        evidence = 0.5 * (prior_a + prior_b) * both / (prior_a * prior_b)
        if size >= 2:
            shares, densities = np.empty((4, size)), np.empty((4, size))
            for side in range(2):
                upper_of_side = upper[side * pairs + pair]
                fill_shares(x[:size], upper_of_side, shares)
                for what in range(2):
                    mixture = (2 * what + side) * pairs + pair
                    _fill_densities(
                        first,
                        second,
                        scale,
                        weight,
                        starts[mixture],
                        starts[mixture + 1],
                        shares,
                        upper_of_side,
                        densities[2 * what + side],
                    )
            last = 0.0
            for point in range(size):
                product = densities[0, point] * densities[1, point]
                of_prior_a, of_prior_b = densities[2, point], densities[3, point]
                ratio = 0.0  # far densities underflow: 0/0 counts as 0, and so does what is infinite
                if of_prior_a > 0.0 and of_prior_b > 0.0:
                    ratio = product * 0.5 * (1.0 / of_prior_a + 1.0 / of_prior_b) * x[point]
                    ratio = ratio if ratio < math.inf else 0.0
                if point > 0:
                    evidence += 0.5 * (ratio + last) * math.log(x[point] / x[point - 1])
                last = ratio
        figures[pair, 4] = evidence
