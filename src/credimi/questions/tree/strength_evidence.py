"""log B_K of a column in a node: the evidence that its values differ in their classes, at several strengths K.

With n_vi rows of value v and class i, a_i the share of the class and b_v that of the value,

    log B_K = sum_v d(n_v; K b_v) - d(n; K),
    d(n; K) = log Gamma(K) - log Gamma(K + n_+) + sum_i [log Gamma(K a_i + n_i) - log Gamma(K a_i)].

The class shares have half a row added to each class that occurs; other classes do not count.

* `table_evidence` is for the values as they are, `cut_evidence` for the two sides of each of some cuts between ordered
  values.

O(values x classes) for each K, and O(classes) for each cut and K.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined

_PSEUDO_ROWS = 0.5


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
    """d(n; K)."""
    rows, result = 0.0, 0.0
    for group in range(counts.size):
        if counts[group] > 0.0:
            pseudo = strength * shares[group]
            result += math.lgamma(pseudo + counts[group]) - math.lgamma(pseudo)
            rows += counts[group]
    return result + math.lgamma(strength) - math.lgamma(strength + rows)


@compiled
def table_evidence(counts: FloatArray, strengths: FloatArray, out: FloatArray) -> None:
    """Fill log B_K for each K; `counts` are (values, classes), and every value occurs."""
    totals, shares = _occurring(counts)
    rows = totals.sum()
    for index in range(strengths.size):
        strength = strengths[index]
        out[index] = -_of_part(totals, shares, strength)
        for value in range(counts.shape[0]):
            out[index] += _of_part(counts[value], shares, strength * counts[value].sum() / rows)


@compiled
def cut_evidence(counts: FloatArray, places: IntegerArray, strengths: FloatArray, out: FloatArray) -> None:
    """Fill log B_K for each cut (after the value `places`, in order) and each K."""
    totals, shares = _occurring(counts)
    rows = totals.sum()
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
            out[cut, index] = inside - _of_part(totals, shares, strength)
