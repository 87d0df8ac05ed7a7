"""How far the evidence of one stratum is from 1 on average under independence, given its margins.

With a_i, b_j the shares of the margins, the mean of B_K over all tables with the same margins has a closed form if each
row of the data has a class of its own: then all these tables have the same evidence. With R = `special.log_rise`,

    log E[B_K] = F - F_b,     F = R(K, n),  F_a = sum_i R(K a_i, n_i+),  F_b = sum_j R(K b_j, n_+j),

where F_a = 0, and likewise if each row has a value of its own. In general

    log E[B_K] = (F - F_a)(F - F_b) / F                                                                  (product)

holds in both these cases, and everywhere to first order in 1/K, where it is

    (P - A)(P - B)/(2 K P),     P = n (n - 1), A = sum n_i (n_i - 1)/a_i, B = sum n_j (n_j - 1)/b_j.     (first order)

Which of the two is used depends on the stratum:

* If all rows are complete, the margins are those that a_i and b_j were learned from: P - A is between 0 and n (r - 1),
  P - B between 0 and n (s - 1). The first order is enough if there is at least one row a cell. In thinner strata it is
  too small (with a thousand strata of four rows each, ten classes and ten values, independent columns would seem
  dependent with certainty), and the product is used.
* If one side has missing values, and more often in some classes, the complete rows have other shares of the classes
  than a_i. Then P - A is as low as -n^2, and B_K is below 1 on average. The first order is far too low unless K is
  above n, and the product is used.
* If both sides have missing values, D_K of `two_sided_weights` is added to log B_K. Both together are the evidence of
  all rows, whose margins are those that a_i and b_j were learned from. So P - A and P - B may not exceed n (r - 1) and
  n (s - 1) in size.

`tests/inference/test_thin_strata.py` compares with sums over all tables.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, inlined
from credimi.inference.special_functions import log_rise, logarithm

_MIN_LOG_EXCESS = np.log(0.5)  # the product is not valid below


@inlined
def _first_order(total: float, margins: FloatArray, r: int, s: int, both_missing: bool) -> float:
    """K (E[B_K] - 1), to first order."""
    pairs = total * (total - 1.0)
    if pairs <= 0.0:
        return 0.0
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    of_rows, of_columns = pairs, pairs
    for i in range(r):
        of_rows -= by_class[i] * (by_class[i] - 1.0) / classes[i]
    for j in range(s):
        of_columns -= by_value[j] * (by_value[j] - 1.0) / values[j]
    if both_missing:
        of_rows, of_columns = min(abs(of_rows), total * (r - 1)), min(abs(of_columns), total * (s - 1))
    return of_rows * of_columns / (2.0 * pairs)


@inlined
def is_thin(total: float, r: int, s: int) -> bool:
    """Whether a stratum has fewer rows than cells, and more than one."""
    return 1.0 < total < r * s


@inlined
def subtract_product(
    total: float, margins: FloatArray, r: int, s: int, strength: FloatArray, score: FloatArray
) -> None:
    """Subtract log E[B_K], by the product, from the score of every strength."""
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    for point in range(strength.size):
        k = strength[point]
        rise = log_rise(k, total)
        of_rows, of_columns = rise, rise
        for i in range(r):
            of_rows -= log_rise(k * classes[i], by_class[i]) if by_class[i] > 0.0 else 0.0
        for j in range(s):
            of_columns -= log_rise(k * values[j], by_value[j]) if by_value[j] > 0.0 else 0.0
        score[point] -= max(of_rows * of_columns / rise, _MIN_LOG_EXCESS)


@inlined
def subtract_excess(
    total: float,
    margins: FloatArray,
    r: int,
    s: int,
    both_missing: bool,
    strength: FloatArray,
    score: FloatArray,
) -> None:
    """Subtract log E[B_K] from the score of every strength; `adaptive_weights.shares` filled the `margins`.

    `both_missing` tells whether both sides have missing values, and whether D_K is to be added.
    """
    first = _first_order(total, margins, r, s, both_missing)
    if first < 0.0 or is_thin(total, r, s):
        subtract_product(total, margins, r, s, strength, score)
    else:
        for point in range(strength.size):
            score[point] -= logarithm(1.0 + first / strength[point])
