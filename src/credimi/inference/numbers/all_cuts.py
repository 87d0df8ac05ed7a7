"""I(number; classes), averaged over all ways to cut the number into ranges.

A cut decides too much: ranges chosen badly hide what a number tells, and ranges chosen because they inform overstate
it. Here no cut is chosen. Cells are fine ranges of the number in order, such as 64 quantiles. A segmentation S joins
neighbouring cells to m >= 2 ranges, and with S the number is a table of r classes and m values.

**Evidence.** With the library's own prior (`evidence.adaptive_prior`) the table has the log Bayes factor

    log B_K(S) = R(K, N) - sum_i R(K a_i, n_i) + sum_s [ sum_i R(K a_i b_s, n_is) - R(K b_s, n_s) ],    R = log_rise,

where a_i is the share of the class, b_s that of the range: with half a count for each class, and a count of 1 for the
whole number, spread evenly over its cells. The bracket is the score of one range, whatever the others are. So the sum
over all segmentations is a recursion over borders, with the chance of a border as in a renewal process:

    Z(h) = sum_{g < h} Z(g) o^[g > 0] exp(score(g, h)),       Z(0) = 1.

**Prior.** Each of the G - 1 borders between G cells is there with odds o = c/(G - 1), c expected borders; at least one
is. So S has the prior o^(m - 1)/((1 + o)^(G - 1) - 1). c is one of `BORDERS`, K one of `STRENGTHS` values evenly spaced
in log K from 2 r (as in `adaptive_prior` for two classes) to 2 N, all equally probable. (If c were uniform in log c,
the number of borders k would have a prior proportional to 1/k: the integral of t^(k-1) (1 - t)^(G-1-k) over t times
the binomial coefficient is 1/k.) The recursion costs O(G^2) for each c and K; one over the number of ranges would cost
O(M G^2) for each K.

**Moments.** Given S and K, I is about sum_s c(s), another sum over ranges:

    c(s) = b_s sum_i E[theta_i l_i],   E[theta_i l_i] = t_i (psi(A_i + 1) - psi(A + 1) - log a_i),   t_i = A_i/A,

with theta the class shares in the range, A_i = K a_i b_s + n_is, A their sum. The first and second moment of such a sum
over all S follow from the recursion, too, with Z(g) replaced by sums of Z c and Z c^2. The variance given K is that
between the segmentations, and that of the rows, (E[l^2] - E[I]^2)/N + (r - 1)/(2 N^2): leading order, and the term that
is left near independence. For each K there is one component of the posterior, a Beta with these moments.

**Two resolutions.** Quantiles miss sharp edges between them. So there are two sets of cells (see
`columns.numbers.number_cells`): up to 64 quantiles, with the prior weight 3/4, all of whose borders are summed over;
and up to N/2, of which only those are summed over that a greedy tree proposes, and every fourth of the 64. The prior
is that of all borders of the fine cells. So the sum is a lower bound of the evidence, and noise stays noise, although
the borders were chosen by looking.

**Is it calibrated?** E[B | independent], over all ways to deal the classes to the rows, is not exactly 1, as a_i and
b_s are learned from the same rows: with 8 to 20 rows it is 1.1 to 1.2, most of it at the loosest strengths, and B > 19
is still rarer than 1 in 100 (tests enumerate it).

**Missing values**, as the paper treats them: at its fixed point a class i and a range s have the probability

    pi_is = n_is/(T - x_i - y_s),    x_i = f_i/pi_i+,   y_s = u_s/pi_+s,

f_i the rows of class i that lack the number, u_s those of the range that lack the class, T all rows. So in I the class
shares of a range, theta_i, become w_i theta_i/W with w_i = T/(T - x_i - y_s) and W = sum_k w_k theta_k; the range has
the share pi_+s, the classes pi_i+, and E[theta_i log W] is taken to second order. If only the number is missing, pi_is
is the class's share times that of the range in its complete rows; if only the class is missing, rows without it widen
the ranges. The evidence is that of the complete rows, which is exact if one side is complete; if both miss, it is
multiplied by what incomplete rows add to the evidence of the most probable ranges (`of_column`).

**Strata.** Classes may be asked for within strata (other rows, other class shares, the same cells): all strata have
one segmentation and one K, scores and terms are sums over the strata, and I is the mean of the strata's.

The cost is O(G^2 (r + c)) for each K, for 64 cells and two classes .6 ms in all (see `all_cuts_kernels`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.numbers.number_cells import Cells
    from credimi.core.types import FloatArray, IntegerArray

BORDERS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
STRENGTHS = 8
LOOSEST, TIGHTEST = 2.0, 2.0  # times the classes; times the rows
COARSE = 0.75  # the prior weight of the coarse resolution, if there are two


@dataclass(frozen=True, slots=True, eq=False)
class CutFigures:
    """One resolution at every strength: log evidence relative to independence, and moments of I given dependence.

    `mean` and `second` are moments of the sum of a segmentation's terms, `square` is the mean of l^2. What is left are
    the kernel's sums, from which borders are found.
    """

    cells: Cells
    strengths: FloatArray
    log_evidence: FloatArray
    mean: FloatArray
    second: FloatArray
    square: FloatArray
    edges: FloatArray
    forward: FloatArray

    def variance(self, rows: float, freedom: int) -> FloatArray:
        """The variance of I of each component, from so many rows; `freedom` is r - 1, times the strata."""
        between = np.maximum(self.second - self.mean**2, 0.0)
        of_rows = np.maximum(self.square - self.mean**2, 0.0) / rows
        variance: FloatArray = between + of_rows + 0.5 * freedom / rows**2
        return variance


def strengths_for(rows: float, classes: int = 2, count: int = STRENGTHS) -> FloatArray:
    """The grid of K for so many rows (of a stratum, on average)."""
    loosest = LOOSEST * classes
    grid: FloatArray = loosest * np.geomspace(1.0, max(TIGHTEST * rows / loosest, 2.0), count)
    return grid


def border_odds(count: int) -> FloatArray:
    """The odds of a border between so many cells, ascending."""
    odds: FloatArray = np.array(BORDERS) / max(count - 1.0, 1.0)
    return odds


def weighed(cells: Cells, strengths: FloatArray, *, moments: bool = True) -> CutFigures:
    """The evidence and moments of one resolution, summed over all segmentations."""
    from credimi.inference.numbers import all_cuts_kernels  # noqa: PLC0415  (loads compiled code)

    borders, points = cells.width.size, strengths.size
    figures, scale = np.empty((4, points)), np.empty((borders, points))
    edges, forward = np.zeros((borders * (borders - 1) // 2, points)), np.empty((borders, len(BORDERS), points))
    all_cuts_kernels.weigh_cuts(
        np.ascontiguousarray(cells.below, dtype=np.float64),
        cells.width,
        np.ascontiguousarray(cells.masses()),
        np.zeros(cells.below.shape[:2]) if cells.unclassed is None else cells.unclassed,
        cells.shares(),
        strengths,
        border_odds(cells.count),
        float(cells.count),
        cells.class_shares is not None,
        moments,
        figures,
        edges,
        forward,
        scale,
    )
    evidence, mean, second, square = figures
    return CutFigures(cells, strengths, evidence, mean, second, square, edges, forward)


@dataclass(frozen=True, slots=True, eq=False)
class CutPosterior:
    """The components of one number, over strengths and resolutions: prior weights are part of `log_evidence`."""

    log_evidence: FloatArray
    mean: FloatArray
    variance: FloatArray

    @property
    def log_odds(self) -> float:
        """The log Bayes factor of dependence, averaged over everything."""
        top = float(self.log_evidence.max())
        return top + float(np.log(np.exp(self.log_evidence - top).sum()))

    def components(self) -> FloatArray:
        """The same as one array (3, components), as `Tables.averaged` takes it."""
        components: FloatArray = np.stack([self.log_evidence, self.mean, self.variance])
        return components

    @property
    def weights(self) -> FloatArray:
        """The weights of the components given dependence; they add up to 1."""
        weights: FloatArray = np.exp(self.log_evidence - self.log_odds)
        return weights


def joined(
    resolutions: Sequence[CutFigures], rows: float, freedom: int, weights: Sequence[float] | None = None
) -> CutPosterior:
    """The components of several resolutions; their prior weights are those of a coarse and a fine one, or equal."""
    count = len(resolutions)
    usual = (COARSE, 1.0 - COARSE) if count == 2 else (1.0 / count,) * count
    prior = [weight / each.strengths.size for weight, each in zip(weights or usual, resolutions, strict=True)]
    return CutPosterior(
        np.concatenate([each.log_evidence + np.log(p) for each, p in zip(resolutions, prior, strict=True)]),
        np.concatenate([each.mean for each in resolutions]),
        np.concatenate([each.variance(rows, freedom) for each in resolutions]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Borders:
    """The most probable borders in the cells of one resolution, and how probable one is near each of them."""

    resolution: int
    borders: IntegerArray
    probability: FloatArray


def most_probable_borders(resolutions: Sequence[CutFigures]) -> Borders:
    """The most probable segmentation, at the strength and the chance of a border that have most weight.

    It is one of the resolution that has most weight; the probability of a border is that within this resolution, over
    all strengths and chances, given dependence.
    """
    from credimi.inference.numbers import all_cuts_kernels  # noqa: PLC0415  (loads compiled code)

    evidence = [np.logaddexp.reduce(each.log_evidence) for each in resolutions]
    resolution = int(np.argmax(evidence))
    figures = resolutions[resolution]
    odds = border_odds(figures.cells.count)
    power = (figures.cells.count - 1.0) * np.log1p(odds)
    log_sets = power + np.log(-np.expm1(-power))  # of all sets of borders that are not empty
    by_chance = figures.forward[-1] * np.exp(-log_sets + log_sets[0])[:, np.newaxis]
    weights = by_chance / by_chance.sum(axis=0) * np.exp(figures.log_evidence - evidence[resolution])
    chance, best = np.unravel_index(np.argmax(weights), weights.shape)
    borders, probability = np.empty(figures.cells.width.size, dtype=np.int64), np.empty(figures.cells.width.size)
    size, sums = figures.strengths.size, (figures.edges, figures.forward)
    count = all_cuts_kernels.find_borders(
        size, np.ascontiguousarray(weights), odds, *sums, int(best), int(chance), borders, probability
    )
    return Borders(resolution, borders[:count].copy(), probability[:count].copy())
