"""The difference of mutual information of many pairs of samples; `inference.change` has the mathematics.

Everything is the same as there, and computed pair by pair in compiled code. Posteriors and priors are mixtures of Betas
as `mixture_tails` takes them. What is different is how the same numbers are found:

**Nodes** are quantiles of each component at growing z, P(X <= x) = Phi(z). In y, the log-odds of x/upper, and with g
the density of y, s and s' the slopes of log g,

    y' = phi(z)/g,   y'' = y' (-z - s y'),   y''' = y'' (-z - s y') - y' (1 + s' y'^2 + s y''),

so that the Taylor series from one node is a guess of the next, which one Newton step of third order makes exact.

**Distribution functions** of a component at the nodes of all: between nodes near each other, at a distance h, by
Hermite's rule

    F(y + h) - F(y) = h (g_0 + g_1)/2 + h^2 (g_0' - g_1')/10 + h^3 (g_0'' + g_1'')/120,

with an error of h^7 g^(6)/100800; between others by the continued fraction.

**P(I_b - I_a <= t)** is summed in one walk over the nodes of both, and its derivative with it. So Newton's method on
the log-odds, within a bracket, finds a quantile in a few walks.

Cost: a few hundred nodes of each table, each O(components); about 0.5 ms a pair (docs/performance.md).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.mixture_tails import beta_tails, log_beta_density

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray, IntegerArray

_PRECISION = 1e-12
_MAX_STEPS = 400
_MAX_LOG_ODDS = 745.0
_MAX_LOG_CHANGE = 0.3  # of the density within the last step
_NEAR = 0.12  # h, in units over which the density changes, up to which Hermite's rule is exact to 2e-11
_NO_MASS = -60.0  # log density from which on there is no mass beyond
_TOLERANCE = 1e-13  # of a quantile of the difference
_STIRLING_FROM = 20.0  # as in `mixture_tails`
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_ROOT_TWO = math.sqrt(2.0)


@inlined
def _component_quantile(a: float, b: float, scale: float, z: float, guess: float) -> tuple[float, float, float, float]:
    """The log-odds y with P(X <= x) = Phi(z); the density g there, and the slopes of log g."""
    below_wanted, above_wanted = 0.5 * math.erfc(-z / _ROOT_TWO), 0.5 * math.erfc(z / _ROOT_TWO)
    goal = math.log(above_wanted / below_wanted)
    y, low, high = guess, -_MAX_LOG_ODDS, _MAX_LOG_ODDS
    density, slope, bend = 0.0, 0.0, 0.0
    for _ in range(_MAX_STEPS):
        share, rest = 1.0 / (1.0 + math.exp(-y)), 1.0 / (1.0 + math.exp(y))
        density = math.exp(log_beta_density(a, b, scale, share, rest))
        below, above = beta_tails(a, b, density, share, rest)
        slope, bend = a * rest - b * share, -(a + b) * share * rest
        excess = below_wanted - below if z < 0.0 else above - above_wanted
        if excess > 0.0:
            low = y
        else:
            high = y
        step = excess / density  # infinite or NaN if the density underflows
        change = abs(slope) + math.sqrt(-bend)
        size = change * abs(step)
        if size < _MAX_LOG_CHANGE and change**3 * step**4 < _PRECISION:
            step *= 1.0 - step * (0.5 * slope - step * (0.5 * slope * slope - (slope * slope + bend) / 6.0))
            y += step
            density *= math.exp(step * (slope + 0.5 * step * bend))
            slope += step * bend
            break
        trial = y + (math.log(above / below) - goal) * above * below / density
        y = trial if low < trial < high else 0.5 * (low + high)
        if high - low <= 1e-15 * abs(y):
            break
    return y, density, slope, bend


@compiled
def fill_nodes(
    first: FloatArray,
    second: FloatArray,
    scale: FloatArray,
    upper: FloatArray,
    z: FloatArray,
    starts: IntegerArray,
    nodes: FloatArray,
) -> None:
    """Fill the quantiles of every component at its z, which grow; they are those from `starts[component]` on.

    `first` and `second` are the parameters of a Beta, `upper` is the end of its range.
    """
    for component in range(first.size):
        a, b = first[component], second[component]
        y = math.log(a / b)
        for node in range(starts[component], starts[component + 1]):
            y, density, slope, bend = _component_quantile(a, b, scale[component], z[node], y)
            nodes[node] = upper[component] / (1.0 + math.exp(-y))
            if node + 1 < starts[component + 1]:
                h = z[node + 1] - z[node]
                rise = math.exp(-0.5 * z[node] * z[node]) / (_ROOT_TWO_PI * density)
                turn = -z[node] - slope * rise
                second_rise = rise * turn
                third_rise = second_rise * turn - rise * (1.0 + bend * rise * rise + slope * second_rise)
                guess = y + h * (rise + h * (0.5 * second_rise + h * third_rise / 6.0))
                if y <= guess < _MAX_LOG_ODDS:
                    y = guess


@inlined
def _fill_shares(x: FloatArray, upper: float, shares: FloatArray) -> None:
    """Fill x/upper and 1 - x/upper, and the logarithms of both, in four rows."""
    for point in range(x.size):
        share, rest = x[point] / upper, (upper - x[point]) / upper
        shares[0, point], shares[1, point] = share, rest
        shares[2, point] = math.log(share) if share < 0.5 else math.log1p(-rest)
        shares[3, point] = math.log(rest) if rest < 0.5 else math.log1p(-share)


@inlined
def _add_component(a: float, b: float, scale: float, weight: float, shares: FloatArray, below: FloatArray) -> None:
    """Add the weighted distribution function of one component at the nodes, which grow."""
    last_y, last_below, last_density, last_slope, last_bend, known = 0.0, 0.0, 0.0, 0.0, 0.0, False
    small = min(a, b) < _STIRLING_FROM
    for node in range(below.size):
        share, rest, log_share, log_rest = shares[0, node], shares[1, node], shares[2, node], shares[3, node]
        log_density = scale + a * log_share + b * log_rest if small else log_beta_density(a, b, scale, share, rest)
        slope = a * rest - b * share
        if log_density < _NO_MASS:
            known = False
            if slope < 0.0:
                below[node] += weight
            continue
        density, bend, y = math.exp(log_density), -(a + b) * share * rest, log_share - log_rest
        h = y - last_y
        change = abs(slope) + math.sqrt(-bend)
        last_change = abs(last_slope) + math.sqrt(-last_bend)
        if known and h * max(change, last_change) <= _NEAR:
            rule = 0.5 * (last_density + density)
            rule += 0.1 * h * (last_density * last_slope - density * slope)
            curvature = last_density * (last_slope * last_slope + last_bend) + density * (slope * slope + bend)
            component_below = last_below + h * (rule + h * h * curvature / 120.0)
        else:
            component_below = beta_tails(a, b, density, share, rest)[0]
        below[node] += weight * component_below
        last_y, last_below, last_density, last_slope, last_bend, known = y, component_below, density, slope, bend, True


@compiled
def fill_curves(
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
) -> None:
    """Fill the continuous part of the distribution function of each table at its nodes, and count them.

    The nodes of a table are sorted, and from `ends[table]` up to `ends[table + 1]`, with room for two at its end. Those
    that are equal, or not inside (0, upper), are taken out; 0 and `upper` are added.
    """
    for table in range(p_zero.size):
        begin, end = ends[table], ends[table + 1]
        inside = 0
        for node in range(begin, end - 2):
            x = nodes[node]
            if 0.0 < x < upper[table] and (inside == 0 or x > nodes[begin + inside - 1]):
                nodes[begin + inside] = x
                inside += 1
        own_nodes, own_below = nodes[begin:end], below[begin:end]
        own_below[:] = 0.0
        shares = np.empty((4, inside))
        _fill_shares(own_nodes[:inside], upper[table], shares)
        for component in range(starts[table], starts[table + 1]):
            beta = first[component], second[component], scale[component]
            _add_component(*beta, weight[component], shares, own_below[:inside])
        rest, largest = 1.0 - p_zero[table], 0.0
        for node in range(inside, 0, -1):
            own_nodes[node], own_below[node] = own_nodes[node - 1], own_below[node - 1]
        own_nodes[0], own_below[0] = 0.0, 0.0
        for node in range(1, inside + 1):
            largest = max(largest, min(own_below[node], rest))
            own_below[node] = largest
        own_nodes[inside + 1], own_below[inside + 1] = upper[table], rest
        for node in range(inside + 1):
            slopes[begin + node] = (own_below[node + 1] - own_below[node]) / (own_nodes[node + 1] - own_nodes[node])
        slopes[begin + inside + 1] = 0.0
        counts[table] = inside + 2


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
    for _ in range(_MAX_STEPS):
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
    """Fill the density of a mixture at many x, of which `_fill_shares` made the shares."""
    total[:] = 0.0
    for component in range(begin, end):
        a, b, component_scale = first[component], second[component], scale[component]
        if min(a, b) < _STIRLING_FROM:
            for point in range(total.size):
                log_density = component_scale + a * shares[2, point] + b * shares[3, point]
                if log_density > -_MAX_LOG_ODDS:
                    total[point] += weight[component] * math.exp(log_density)
        else:
            for point in range(total.size):
                log_density = log_beta_density(a, b, component_scale, shares[0, point], shares[1, point])
                if log_density > -_MAX_LOG_ODDS:
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
                _fill_shares(x[:size], upper_of_side, shares)
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
