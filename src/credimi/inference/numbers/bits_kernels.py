"""The compiled loops of `inference.numbers.bits`: counts of a level, and the evidence of every range of cells.

For one level: strata A, each with cells g = 1 .. G of the other number by its rank within the stratum, and two classes.
`below` (A, G + 1, 2) are the counts of the cells below each border. A segmentation is a set of borders, the same in all
strata; its evidence is a product over its ranges [g, h), and that of a range one over the strata:

    log f(g, h) = sum_A R(K b p_0, n_0) + R(K b p_1, n_1) - c_A R(K b, n),     R = `log_rise`,
    c_A = [R(K p_0, N_0) + R(K p_1, N_1)] / R(K, N),

with n_i the counts of the range in the stratum, b its share, p_i the shares of the classes, N_i the counts of the whole
stratum. (The terms n_i log p_i are those of the whole stratum, for every segmentation.) With c_A = 1, and less the same
of the whole stratum, this would be the log Bayes factor B against independence, whose mean over all tables with these
margins is not 1, but near exp[(F - F_a)(F - F_b)/F] (`inference.evidence.excess_evidence`): F = R(K, N), F_a the
numerator of c_A, and F_b the sum of R(K b, n) over the ranges. That is a product over ranges, too. Divided by it, f is
as above, and that of the whole stratum is 1. Each border of the G - 1 is there with the probability q, so that

    Z(h) = sum_g Z(g) q^[g > 0] (1 - q)^(h - g - 1) f(g, h)

sums over all segmentations. Z would overflow: it is divided by the best segmentation up to h, exp(best(h)). Coarser
cells are every second, fourth, ... border, with the same f. Cost: O(A G^2) for f of eight strengths side by side, and
O(G^2) for each strength, resolution and q.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.inference.special_functions import (
    is_multiplied_out,
    log_rise,
    log_rise_of_large,
    logarithm,
    multiply,
    take_logarithms,
)

_HALF = 0.5
_LARGE_FROM = 8.0
_TINY = 1e-300
_MOST_ENTRIES = 1 << 19  # of a table of factors
_SERIES_COST = 10  # beside a factor


@compiled
def count_cells(
    values: IntegerArray,
    cells: IntegerArray,
    counts: FloatArray,
    weights: FloatArray,
    stratum_of: IntegerArray,
    class_of: IntegerArray,
    below: FloatArray,
    weighted: FloatArray,
) -> None:
    """Fill `below` (A, G + 1, 2) with counts, and `weighted` with counts times weights, cumulated over the cells.

    The entries are sorted by `values`; equal values are one tie, and fall into the cell of their middle rank within the
    stratum. `stratum_of` and `class_of` have the stratum (-1: none) and the class of each target cell.
    """
    strata, width = below.shape[0], below.shape[1] - 1
    total, before, after = np.zeros(strata), np.zeros(strata), np.zeros(strata)
    for entry in range(values.size):
        if stratum_of[cells[entry]] >= 0:
            total[stratum_of[cells[entry]]] += counts[entry]
    start = 0
    while start < values.size:
        end = start
        while end < values.size and values[end] == values[start]:
            stratum = stratum_of[cells[end]]
            if stratum >= 0:
                after[stratum] += counts[end]
            end += 1
        for entry in range(start, end):
            stratum, label = stratum_of[cells[entry]], class_of[cells[entry]]
            if stratum >= 0:
                middle = _HALF * (before[stratum] + after[stratum]) / total[stratum]
                place = 1 + min(int(middle * width), width - 1)
                below[stratum, place, label] += counts[entry]
                weighted[stratum, place, label] += counts[entry] * weights[entry]
        for entry in range(start, end):
            stratum = stratum_of[cells[entry]]
            if stratum >= 0:
                before[stratum] = after[stratum]
        start = end
    for stratum in range(strata):
        for place in range(width):
            for label in range(2):
                below[stratum, place + 1, label] += below[stratum, place, label]
                weighted[stratum, place + 1, label] += weighted[stratum, place, label]


@inlined
def _is_even(below: FloatArray, stratum: int) -> bool:
    """Whether the classes and the cells of a stratum have the shares that ranks give them, so that none is learned."""
    width = below.shape[1] - 1
    one, other = below[stratum, width, 0], below[stratum, width, 1]
    if (one - other) * (one - other) > one + other:
        return False
    even = True
    for place in range(1, width + 1):
        one_below, other_below = below[stratum, place, 0], below[stratum, place, 1]
        even = even and abs(one_below + other_below - (one + other) * place / width) <= 1.0
        even = even and one_below == np.floor(one_below) and other_below == np.floor(other_below)
    return even


@inlined
def fill_counts(below: FloatArray, counts: IntegerArray, uneven: IntegerArray) -> tuple[int, int, int]:
    """Copy the counts of even strata; return how many these are, the others, and the most rows of an even stratum."""
    strata, width = below.shape[0], below.shape[1] - 1
    evens, others, most = 0, 0, 0
    for stratum in range(strata):
        if _is_even(below, stratum):
            for place in range(width + 1):
                counts[place, evens, 0] = np.int64(below[stratum, place, 0])
                counts[place, evens, 1] = np.int64(below[stratum, place, 1])
            most = max(most, counts[width, evens, 0] + counts[width, evens, 1])
            evens += 1
        else:
            uneven[others] = stratum
            others += 1
    return evens, others, most


@inlined
def fits(evens: int, most: int, width: int) -> bool:
    """Whether a table of all counts is less work than the series for each range and stratum."""
    entries = most * width
    return entries < _MOST_ENTRIES and entries < _SERIES_COST * evens * width * width


@compiled
def fill_evidence(below: FloatArray, strengths: FloatArray, log_f: FloatArray) -> None:
    """Fill log f(g, h) of all ranges, (strengths, G + 1, G + 1).

    In an even stratum f depends on the width of the range and on whole counts, so that its factors are looked up.
    """
    strata, width, points = below.shape[0], below.shape[1] - 1, strengths.size
    counts, uneven = np.empty((width + 1, strata, 2), dtype=np.int64), np.empty(strata, dtype=np.int64)
    evens, others, most = fill_counts(below, counts, uneven)
    if not fits(evens, most, width):
        for stratum in range(strata):
            uneven[stratum] = stratum
        evens, others = 0, strata
    _fill_even(counts[:, :evens], most, strengths, log_f)
    inverse, product, score, whole = np.empty(points), np.ones(points), np.empty(points), np.empty(points)
    share_of_excess = np.empty((strata, points))
    for point in range(points):
        inverse[point] = 1.0 / strengths[point]
    for index in range(others):
        stratum = uneven[index]
        one, other = below[stratum, width, 0], below[stratum, width, 1]
        _fill_share(strengths, one, other, (one + _HALF) / (one + other + 1.0), share_of_excess[stratum])
    for g in range(width if others else 0):
        for h in range(g + 1, width + 1):
            for point in range(points):
                score[point] = log_f[point, g, h]
            for index in range(others):
                stratum = uneven[index]
                one, other = below[stratum, width, 0], below[stratum, width, 1]
                rows = one + other
                p, r = (one + _HALF) / (rows + 1.0), (other + _HALF) / (rows + 1.0)
                one = below[stratum, h, 0] - below[stratum, g, 0]
                other = below[stratum, h, 1] - below[stratum, g, 1]
                share = (one + other + (h - g) / width) / (rows + 1.0)
                for point in range(points):
                    whole[point] = 0.0
                _rise(product, inverse, whole, strengths, share, one + other)
                for point in range(points):
                    of_whole = whole[point] + logarithm(product[point])
                    score[point] -= share_of_excess[stratum, point] * of_whole
                    product[point] = 1.0
                _rise(product, inverse, score, strengths, share * p, one)
                _rise(product, inverse, score, strengths, share * r, other)
                take_logarithms(product, score, 1.0)
            for point in range(points):
                log_f[point, g, h] = score[point]


@inlined
def _fill_share(strengths: FloatArray, one: float, other: float, p: float, share: FloatArray) -> None:
    """Fill c_A."""
    for point in range(strengths.size):
        strength = strengths[point]
        of_classes = log_rise(strength * p, one) + log_rise(strength * (1.0 - p), other)
        share[point] = of_classes / max(log_rise(strength, one + other), _TINY)


@inlined
def _fill_even(counts: IntegerArray, most: int, strengths: FloatArray, log_f: FloatArray) -> None:
    """The same of even strata; `counts` are (G + 1, strata, 2)."""
    width, strata, points = counts.shape[0] - 1, counts.shape[1], strengths.size
    size = most + 1 if strata else 1
    of_class, of_both = np.zeros((size, points)), np.zeros((size, points))
    score, share_of_excess = np.empty(points), np.empty((strata, points))
    for stratum in range(strata):
        one, other = counts[width, stratum, 0], counts[width, stratum, 1]
        _fill_share(strengths, float(one), float(other), _HALF, share_of_excess[stratum])
    for wide in range(1, width + 1):
        largest = min(most, most * wide // width + 2) if strata else 0
        share = wide / width
        for n in range(1, largest + 1):
            for point in range(points):
                inverse = (n - 1) / (strengths[point] * share)
                of_class[n, point] = of_class[n - 1, point] + logarithm(1.0 + 2.0 * inverse)
                of_both[n, point] = of_both[n - 1, point] + logarithm(1.0 + inverse)
        for g in range(width + 1 - wide):
            for point in range(points):
                score[point] = 0.0
            for stratum in range(strata):
                one = counts[g + wide, stratum, 0] - counts[g, stratum, 0]
                other = counts[g + wide, stratum, 1] - counts[g, stratum, 1]
                for point in range(points):
                    of_whole = share_of_excess[stratum, point] * of_both[one + other, point]
                    score[point] += of_class[one, point] + of_class[other, point] - of_whole
            for point in range(points):
                log_f[point, g, g + wide] = score[point]


@inlined
def _rise(
    product: FloatArray,
    inverse: FloatArray,
    score: FloatArray,
    strengths: FloatArray,
    part: float,
    n: float,
) -> None:
    """Add log_rise(K part, n), small whole n in the product."""
    if n <= 0.0:
        return
    if is_multiplied_out(n, inverse[0], part):
        multiply(product, inverse, score, part, n, 1.0)
        return
    point = 0
    while point < strengths.size and strengths[point] * part < _LARGE_FROM:
        score[point] += log_rise(strengths[point] * part, n)
        point += 1
    for large in range(point, strengths.size):
        score[large] += log_rise_of_large(strengths[large] * part, n)
