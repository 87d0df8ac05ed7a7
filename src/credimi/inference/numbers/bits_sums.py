"""The compiled sums over segmentations of `inference.numbers.bits`, from the evidence of each range.

`bits_kernels` derives the recursion. Moments of I follow from the same sums: given K and a segmentation, I is the sum
of the terms of its ranges,

    sum_A (N_A/N) b (1/c) sum_i a_i l_i,  a_i = K b p_i + n_i,  c = sum a_i,
    l_i = psi(a_i + 1) - psi(c + 1) - log p_i,

so that its first and second moment over all segmentations, and the mean of l^2, are sums in which Z(g) is replaced by
Z(g) times these. Terms are needed only of ranges that occur: their probability is Z(g) f(g, h) times the same sum from
the right.
"""

from __future__ import annotations

import math

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.inference.numbers.bits_kernels import fill_counts, fits
from credimi.inference.special_functions import log_excess, logarithm

_HALF = 0.5
_NEVER = -1e300
_TINY = 1e-300
_NEEDED = 1e-6  # the posterior probability from which on a range is looked at


@compiled
def sum_over_cuts(log_f: FloatArray, strides: IntegerArray, rates: FloatArray, evidence: FloatArray) -> None:
    """Fill the log evidence relative to independence, of each strength, stride and rate of borders."""
    width = log_f.shape[1] - 1
    factor, best = np.empty((width + 1, width + 1)), np.empty(width + 1)
    forward, powers = np.empty(width + 1), np.empty(width + 1)
    for point in range(log_f.shape[0]):
        for index in range(strides.size):
            stride = strides[index]
            cells = width // stride
            _scale(log_f[point], stride, best, factor)
            for rate in range(rates.size):
                q = rates[rate] / (cells - 1)
                if q > _HALF:
                    evidence[point, index, rate] = -np.inf
                    continue
                _fill_powers(cells, q, powers)
                total = _sum_forward(factor, cells, q, powers, forward)
                evidence[point, index, rate] = (
                    math.log(max(total, _TINY)) + best[cells] - best[0] - log_f[point, 0, width] - _log_cut(cells, q)
                )


@inlined
def _log_cut(cells: int, q: float) -> float:
    """log of the probability of one border at least."""
    return math.log(-math.expm1((cells - 1) * math.log1p(-q)))


@inlined
def _scale(log_f: FloatArray, stride: int, best: FloatArray, factor: FloatArray) -> None:
    """Fill `best`, and f(g, h) exp(best(g) - best(h)), for every border of this stride.

    `best` is that of a segmentation in which a border has a price.
    """
    cells = (log_f.shape[0] - 1) // stride
    price = math.log(cells)  # of a border: without it the best segmentation might have very many
    best[0] = price
    for h in range(1, cells + 1):
        best[h] = _NEVER
        for g in range(h):
            best[h] = max(best[h], best[g] + log_f[g * stride, h * stride] - price)
        for g in range(h):
            factor[h, g] = math.exp(best[g] + log_f[g * stride, h * stride] - best[h])


@inlined
def _sum_forward(factor: FloatArray, cells: int, q: float, powers: FloatArray, forward: FloatArray) -> float:
    """Fill Z(h), and return Z(G) without the segmentation that has no border."""
    forward[0] = 1.0 / q  # there is no border before the first range
    for h in range(1, cells + 1):
        row, power, total = factor[h], powers[cells - h :], 0.0
        for g in range(h):
            total += forward[g] * row[g] * power[g]
        if h == cells:
            total -= forward[0] * row[0] * power[0]
        forward[h] = total
    result: float = forward[cells]
    return result


@inlined
def _fill_powers(cells: int, q: float, powers: FloatArray) -> None:
    """Fill q (1 - q)^(G - 1 - j): of a border, and none in the cells before it."""
    power = q
    for place in range(cells - 1, -1, -1):
        powers[place] = power
        power *= 1.0 - q


@compiled
def moments_over_cuts(
    below: FloatArray,
    strength: float,
    log_f: FloatArray,
    strides: IntegerArray,
    rates: FloatArray,
    weights: FloatArray,
    moments: FloatArray,
) -> None:
    """Fill mean and second moment of I over the segmentations, and the mean square of its terms, for one strength.

    `below` are the counts of which I is taken (with weights where values are missing), `weights` (strides, rates) says
    which settings matter, and `moments` is (strides, rates, 3).
    """
    width = log_f.shape[0] - 1
    size = width + 1
    needed, backward, forward = np.zeros((size, size)), np.empty(size), np.empty(size)
    factor, best, powers = np.empty((size, size)), np.empty(size), np.empty(size)
    for index in range(strides.size):
        if not _any(weights[index]):
            continue
        stride = strides[index]
        cells = width // stride
        _scale(log_f, stride, best, factor)
        for rate in range(rates.size):
            if weights[index, rate] > 0.0:
                q = rates[rate] / (cells - 1)
                _fill_powers(cells, q, powers)
                total = max(_sum_forward(factor, cells, q, powers, forward), _TINY)
                _mark(factor, cells, stride, forward, backward, powers, weights[index, rate] / total, needed)
    means, squares = np.zeros((size, size)), np.zeros((size, size))
    _fill_terms(below, strength, needed, means, squares)
    first, second, square = np.zeros(size), np.zeros(size), np.zeros(size)
    for index in range(strides.size):
        if not _any(weights[index]):
            continue
        stride = strides[index]
        cells = width // stride
        _scale(log_f, stride, best, factor)
        for rate in range(rates.size):
            if weights[index, rate] <= 0.0:
                continue
            q = rates[rate] / (cells - 1)
            _fill_powers(cells, q, powers)
            _sum_forward(factor, cells, q, powers, forward)
            for h in range(1, cells + 1):
                row, power = factor[h], powers[cells - h :]
                a, b, c = 0.0, 0.0, 0.0
                for g in range(1 if h == cells else 0, h):
                    share = forward[g] * row[g] * power[g]
                    term = means[g * stride, h * stride]
                    a += share * (first[g] + term)
                    b += share * (second[g] + 2.0 * term * first[g] + term * term)
                    c += share * (square[g] + squares[g * stride, h * stride])
                total = max(forward[h], _TINY)
                first[h], second[h], square[h] = a / total, b / total, c / total
            moments[index, rate, 0] = first[cells]
            moments[index, rate, 1] = second[cells]
            moments[index, rate, 2] = square[cells]


@inlined
def _any(weights: FloatArray) -> bool:
    """Whether one of the weights is positive."""
    found = False
    for place in range(weights.size):
        found = found or weights[place] > 0.0
    return found


@inlined
def _mark(
    factor: FloatArray,
    cells: int,
    stride: int,
    forward: FloatArray,
    backward: FloatArray,
    powers: FloatArray,
    weight: float,
    needed: FloatArray,
) -> None:
    """Add the posterior probability of each range."""
    backward[cells] = 1.0
    for g in range(cells - 1, -1, -1):
        total = 0.0
        for h in range(g + 1, cells + 1):
            if g > 0 or h < cells:
                share = factor[h, g] * powers[cells - h + g] * backward[h]
                needed[g * stride, h * stride] += forward[g] * share * weight
                total += share
        backward[g] = total


@inlined
def _fill_terms(below: FloatArray, strength: float, needed: FloatArray, means: FloatArray, squares: FloatArray) -> None:
    """Fill what each range that is needed adds to I, on average, and to the mean square of its terms."""
    strata, width = below.shape[0], below.shape[1] - 1
    everything = 0.0
    for stratum in range(strata):
        everything += below[stratum, width, 0] + below[stratum, width, 1]
    counts, uneven = np.empty((width + 1, strata, 2), dtype=np.int64), np.empty(strata, dtype=np.int64)
    evens, others, most = fill_counts(below, counts, uneven)
    if not fits(evens, most, width):
        for stratum in range(strata):
            uneven[stratum] = stratum
        evens, others = 0, strata
    else:
        _fill_even_terms(counts[:, :evens], most, strength, everything, needed, means, squares)
    for g in range(width if others else 0):
        for h in range(g + 1, width + 1):
            if needed[g, h] < _NEEDED:
                continue
            for index in range(others):
                stratum = uneven[index]
                one, other = below[stratum, width, 0], below[stratum, width, 1]
                rows = one + other
                p, r = (one + _HALF) / (rows + 1.0), (other + _HALF) / (rows + 1.0)
                one = below[stratum, h, 0] - below[stratum, g, 0]
                other = below[stratum, h, 1] - below[stratum, g, 1]
                share = (one + other + (h - g) / width) / (rows + 1.0)
                a, b = strength * share * p + one, strength * share * r + other
                c = a + b
                excess = log_excess(c)
                of_one = log_excess(a) - excess + logarithm(a / (c * p))
                of_other = log_excess(b) - excess + logarithm(b / (c * r))
                scale = rows / everything * share / c
                means[g, h] += scale * (a * of_one + b * of_other)
                squares[g, h] += scale * (a * of_one * of_one + b * of_other * of_other)


@inlined
def _fill_even_terms(
    counts: IntegerArray,
    most: int,
    strength: float,
    everything: float,
    needed: FloatArray,
    means: FloatArray,
    squares: FloatArray,
) -> None:
    """The same of even strata, with digammas that are looked up."""
    width, strata = counts.shape[0] - 1, counts.shape[1]
    of_class, of_both = np.empty(most + 1), np.empty(most + 1)
    log_two = math.log(2.0)
    for wide in range(1, width + 1):
        largest, share = min(most, most * wide // width + 2), wide / width
        a, c = _HALF * strength * share, strength * share
        of_class[0], of_both[0] = log_excess(a) + math.log(a) + log_two, log_excess(c) + math.log(c)
        for n in range(1, largest + 1):
            of_class[n] = of_class[n - 1] + 1.0 / (a + n)
            of_both[n] = of_both[n - 1] + 1.0 / (c + n)
        for g in range(width + 1 - wide):
            if needed[g, g + wide] < _NEEDED:
                continue
            for stratum in range(strata):
                one = counts[g + wide, stratum, 0] - counts[g, stratum, 0]
                other = counts[g + wide, stratum, 1] - counts[g, stratum, 1]
                rows = counts[width, stratum, 0] + counts[width, stratum, 1]
                of_one, of_other = of_class[one] - of_both[one + other], of_class[other] - of_both[one + other]
                scale = rows / everything * share / (c + one + other)
                means[g, g + wide] += scale * ((a + one) * of_one + (a + other) * of_other)
                squares[g, g + wide] += scale * ((a + one) * of_one * of_one + (a + other) * of_other * of_other)
