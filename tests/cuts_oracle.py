"""All segmentations of a few cells, one after the other, in 50 digits: the oracle of `inference.numbers.all_cuts`."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from mpmath import digamma, exp, log, loggamma, mp, mpf

from credimi.columns.numbers.number_cells import SMOOTHING
from credimi.inference.numbers.all_cuts import BORDERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.numbers.number_cells import Cells

mp.dps = 50


def dirichlet_multinomial(counts: Sequence[mpf], parameters: Sequence[mpf]) -> mpf:
    """The log evidence of counts in a given order."""
    total, weight = sum(counts), sum(parameters)
    terms = (
        loggamma(parameter + count) - loggamma(parameter)
        for count, parameter in zip(counts, parameters, strict=True)
        if count
    )
    return loggamma(weight) - loggamma(weight + total) + sum(terms)


def enumerated(cells: Cells, strength: float) -> tuple[mpf, mpf, mpf, mpf]:
    """Log evidence relative to independence, mean and second moment over segmentations, and the mean of l^2."""
    below = [[[mpf(float(n)) for n in row] for row in stratum] for stratum in cells.below.tolist()]
    size, classes = len(below[0]), len(below[0][0])
    places = [mpf(place) for place in cells.width.tolist()]
    rows = [sum(stratum[-1]) for stratum in below]
    shares = [
        [(n + mpf(SMOOTHING)) / (of + mpf(SMOOTHING) * classes) for n in s[-1]]
        for s, of in zip(below, rows, strict=True)
    ]
    k = mpf(strength)
    totals = [mpf(0)] * 4
    for borders in (set(c) for m in range(1, size - 1) for c in combinations(range(1, size - 1), m)):
        edges = [0, *sorted(borders), size - 1]
        evidence, information, square = mpf(0), mpf(0), mpf(0)
        for stratum, of, share in zip(below, rows, shares, strict=True):
            cell_counts, cell_parameters, ranges, range_parameters = [], [], [], []
            for g, h in pairwise(edges):
                counts = [high - low for low, high in zip(stratum[g], stratum[h], strict=True)]
                part = (sum(counts) + places[h] - places[g]) / (of + 1)
                cell_counts += counts
                cell_parameters += [k * part * a for a in share]
                ranges.append(sum(counts))
                range_parameters.append(k * part)
                own = [k * part * a + n for a, n in zip(share, counts, strict=True)]
                for alpha, a in zip(own, share, strict=True):
                    one = digamma(alpha + 1) - digamma(sum(own) + 1) - log(a)
                    information += of / sum(rows) * part * alpha / sum(own) * one
                    square += of / sum(rows) * part * alpha / sum(own) * one**2
            evidence += dirichlet_multinomial(cell_counts, cell_parameters)
            evidence -= dirichlet_multinomial(ranges, range_parameters)
            evidence -= dirichlet_multinomial(stratum[-1], [k * a for a in share])
        weight = exp(evidence) * prior(len(borders), cells.count)
        for at, value in enumerate((1, information, information**2, square)):
            totals[at] += weight * value
    return log(totals[0]), totals[1] / totals[0], totals[2] / totals[0], totals[3] / totals[0]


def prior(borders: int, cells: int) -> mpf:
    """The prior probability of one set of so many borders."""
    odds = [mpf(border) / (cells - 1) for border in BORDERS]
    return sum(o**borders / ((1 + o) ** (cells - 1) - 1) for o in odds) / len(odds)
