"""The evidence that the values of a column differ in their classes, in a node, at several strengths K.

With a Dirichlet prior for each value, n_vi rows of value v and class i, and a_i and b_v their shares,

    log B_K = sum_v g(n_v; K b_v) - g(n; K),
    g(n; K) = log Gamma(K) - log Gamma(K + n_+) + sum_i [log Gamma(K a_i + n_i) - log Gamma(K a_i)].

The class shares have half a row added to each class that occurs; other classes do not count.

**Sizes.** With a Dirichlet prior, differences of the same K are as good as normal: the best of twenty
columns would tell four times as much as the average. So where all columns tell equally much, the one that looks best
would be believed too much. B_K is therefore turned into the evidence for differences of a known size. Let z be the d
differences between values in units of their errors, d = (values - 1)(classes - 1), and theta those without errors. The
Dirichlet prior says that theta ~ N(0, tau), with tau = n/K and n rows, so

    log B_K  =  |z|^2/2 tau/(1 + tau)  -  d/2 log(1 + tau),

which tells |z|. Now let theta ~ N(rho u, kappa tau) with any direction u, of length 1, and rho^2 = (1 - kappa) d tau:
the mean square is the same, and the spread of the size is about .45 of it. With v = 1 + kappa tau, x = rho |z|/v,
the mean of exp(x u_1) over directions, F(x), and its logarithmic derivative f(x),

    log B'_K  =  |z|^2/2 (1 - 1/v)  -  rho^2/(2 v)  -  d/2 log v  +  log F(x),
    E[theta | z]  =  z (kappa tau/v  +  rho/(v |z|) f(x)).

The factor of z is the part of the differences that is kept; at most all of them are. f(x) is a ratio of Bessel
functions. A bound of Amos (1974), x/(alpha + w) with w = sqrt(beta^2 + x^2), alpha = (d - 1)/2 and beta = (d + 1)/2,
is taken for it, and its integral, w - beta - alpha log((alpha + w)/d), for log F: too low by .07 and .31 at most. The
sizes of five and more differences have no more spread anyway: kappa = min(1, d/5), and for kappa = 1 B' is B.

* `table_evidence` is for the values as they are, `cut_evidence` for the two sides of each of some cuts between ordered
  values.

O(values x classes) for each K, and O(classes) for each cut and K.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined

_PSEUDO_ROWS = 0.5
_SPREAD = 0.2  # kappa of one difference: neighbours among the strengths overlap


@inlined
def _occurring(counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The rows and the share of each class; both are 0 for a class that does not occur."""
    totals, shares = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    everything = 0.0
    for group in range(totals.size):
        for value in range(counts.shape[0]):
            totals[group] += counts[value, group]
        if totals[group] > 0.0:
            shares[group] = totals[group] + _PSEUDO_ROWS
            everything += shares[group]
    for group in range(totals.size):
        shares[group] /= everything
    return totals, shares


@inlined
def _of_part(counts: FloatArray, shares: FloatArray, strength: float) -> float:
    """g(n; K)."""
    rows, result = 0.0, 0.0
    for group in range(counts.size):
        if counts[group] > 0.0:
            pseudo = strength * shares[group]
            result += math.lgamma(pseudo + counts[group]) - math.lgamma(pseudo)
            rows += counts[group]
    return result + math.lgamma(strength) - math.lgamma(strength + rows)


@inlined
def _of_known_size(log_dirichlet: float, rows: float, strength: float, differences: float) -> tuple[float, float]:
    """log B'_K from log B_K, and the part of the differences that is kept."""
    kappa, tau = min(1.0, _SPREAD * differences), rows / strength
    rho_squared, v = (1.0 - kappa) * differences * tau, 1.0 + kappa * tau
    z_squared = max(2.0 * (1.0 + tau) / tau * (log_dirichlet + 0.5 * differences * math.log1p(tau)), 0.0)
    alpha, beta = 0.5 * (differences - 1.0), 0.5 * (differences + 1.0)
    w = math.sqrt(beta * beta + rho_squared * z_squared / (v * v))
    log_mean = w - beta - alpha * math.log((alpha + w) / differences)
    log_factor = 0.5 * (z_squared * (1.0 - 1.0 / v) - rho_squared / v - differences * math.log(v)) + log_mean
    return log_factor, min(kappa * tau / v + rho_squared / (v * v) / (alpha + w), 1.0)


@inlined
def _differences(totals: FloatArray, values: int) -> float:
    """(values - 1)(classes - 1), of classes that occur; at least 1."""
    classes = 0
    for group in range(totals.size):
        classes += totals[group] > 0.0
    return float(max((values - 1) * (classes - 1), 1))


@compiled
def table_evidence(counts: FloatArray, strengths: FloatArray, log_factor: FloatArray, kept: FloatArray) -> None:
    """Fill log B'_K, and what is kept, for each K; `counts` are (values, classes), and every value occurs."""
    totals, shares = _occurring(counts)
    rows, differences = totals.sum(), _differences(totals, counts.shape[0])
    for index in range(strengths.size):
        strength = strengths[index]
        evidence = -_of_part(totals, shares, strength)
        for value in range(counts.shape[0]):
            evidence += _of_part(counts[value], shares, strength * counts[value].sum() / rows)
        log_factor[index], kept[index] = _of_known_size(evidence, rows, strength, differences)


@compiled
def cut_evidence(
    counts: FloatArray, places: IntegerArray, strengths: FloatArray, log_factor: FloatArray, kept: FloatArray
) -> None:
    """Fill the same for each cut (after the value `places`, in order) and each K."""
    totals, shares = _occurring(counts)
    rows, differences = totals.sum(), _differences(totals, 2)
    below, above, value = np.zeros(totals.size), np.zeros(totals.size), 0
    for cut in range(places.size):
        while value <= places[cut]:
            for group in range(totals.size):
                below[group] += counts[value, group]
            value += 1
        for group in range(totals.size):
            above[group] = max(totals[group] - below[group], 0.0)
        left = below.sum() / rows
        for index in range(strengths.size):
            strength = strengths[index]
            inside = _of_part(below, shares, strength * left) + _of_part(above, shares, strength * (1.0 - left))
            evidence = inside - _of_part(totals, shares, strength)
            log_factor[cut, index], kept[cut, index] = _of_known_size(evidence, rows, strength, differences)
