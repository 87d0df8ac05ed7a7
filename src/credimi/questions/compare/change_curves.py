"""Distributions of mutual information as curves: distribution functions at nodes, straight lines between them.

A distribution is a mixture of Betas, as `mixture_tails` takes it, and an atom at 0.

**Nodes** are quantiles of each component at growing z, P(X <= x) = Phi(z). In y, the log-odds of x/upper, and with g
the density of y, s and s' the slopes of log g,

    y' = phi(z)/g,   y'' = y' (-z - s y'),   y''' = y'' (-z - s y') - y' (1 + s' y'^2 + s y''),

so that the Taylor series from one node is a guess of the next, which one Newton step of third order makes exact.

**Distribution functions** of a component at the nodes of all: between nodes near each other, at a distance h, by
Hermite's rule

    F(y + h) - F(y) = h (g_0 + g_1)/2 + h^2 (g_0' - g_1')/10 + h^3 (g_0'' + g_1'')/120,

with an error of h^7 g^(6)/100800; between others by the continued fraction.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.inference.distributions.mixture_tails import beta_tails, log_beta_density

MAX_STEPS = 400
MAX_LOG_ODDS = 745.0
STIRLING_FROM = 20.0  # as in `mixture_tails`
_PRECISION = 1e-12
_MAX_LOG_CHANGE = 0.3  # of the density within the last step
_NEAR = 0.12  # h, in units over which the density changes, up to which Hermite's rule is exact to 2e-11
_NO_MASS = -60.0  # log density from which on there is no mass beyond
_ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
_ROOT_TWO = math.sqrt(2.0)


@inlined
def _component_quantile(a: float, b: float, scale: float, z: float, guess: float) -> tuple[float, float, float, float]:
    """The log-odds y with P(X <= x) = Phi(z); the density g there, and the slopes of log g."""
    below_wanted, above_wanted = 0.5 * math.erfc(-z / _ROOT_TWO), 0.5 * math.erfc(z / _ROOT_TWO)
    goal = math.log(above_wanted / below_wanted)
    y, low, high = guess, -MAX_LOG_ODDS, MAX_LOG_ODDS
    density, slope, bend = 0.0, 0.0, 0.0
    for _ in range(MAX_STEPS):
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
                if y <= guess < MAX_LOG_ODDS:
                    y = guess


@inlined
def fill_shares(x: FloatArray, upper: float, shares: FloatArray) -> None:
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
    small = min(a, b) < STIRLING_FROM
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
        fill_shares(own_nodes[:inside], upper[table], shares)
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
