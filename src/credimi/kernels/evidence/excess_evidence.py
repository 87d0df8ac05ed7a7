"""How far the evidence of one stratum is above 1 on average under independence, because its margins are estimated.

With a_i, b_j the shares of the margins, the mean of B_K over all tables with the same margins has a closed form if each
row of the data has a class of its own: then all these tables have the same evidence. With R = `special.log_rise`,

    log E[B_K] = F - F_b,     F = R(K, n),  F_a = sum_i R(K a_i, n_i+),  F_b = sum_j R(K b_j, n_+j),

where F_a = 0, and likewise if each row has a value of its own. In general

    log E[B_K] = (F - F_a)(F - F_b) / F

holds in both these cases, and everywhere to first order in 1/K, where it is (P - A)(P - B)/(2 K P), P = n (n - 1),
A = sum n_i (n_i - 1)/a_i, B = sum n_j (n_j - 1)/b_j. The first order is enough for strata with at least one row a
cell. If all rows are complete, P - A is between 0 and n (r - 1), and P - B between 0 and n (s - 1). Rows that lack one
side change a_i and b_j. If they are missing at random, but more often in some classes and for some values, the complete
rows have other shares than a_i and b_j, and P - A and P - B are as large as n^2. That is no excess of estimated
margins, and not small beside K. So neither may exceed n (r - 1), or n (s - 1), in size. In thinner strata the first
order is too small: with a thousand strata of four rows each, ten classes and ten values, independent columns would seem
dependent with certainty.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.kernels.jit import inlined
from credimi.kernels.special import log_rise, logarithm

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray

MIN_EXCESS = -0.5  # a first-order excess below this is not valid


@inlined
def first_order(total: float, of_rows: float, of_columns: float, r: int, s: int) -> float:
    """K (E[B_K] - 1), to first order, from P - A and P - B; more than one row is needed."""
    max_of_rows, max_of_columns = total * (r - 1), total * (s - 1)
    of_rows = min(max(of_rows, -max_of_rows), max_of_rows)
    of_columns = min(max(of_columns, -max_of_columns), max_of_columns)
    return of_rows * of_columns / (2.0 * total * (total - 1.0))


@inlined
def _first_order_of_margins(total: float, margins: FloatArray, r: int, s: int) -> float:
    """The same from the margins."""
    pairs = total * (total - 1.0)
    if pairs <= 0.0:
        return 0.0
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    of_rows, of_columns = pairs, pairs
    for i in range(r):
        of_rows -= by_class[i] * (by_class[i] - 1.0) / classes[i]
    for j in range(s):
        of_columns -= by_value[j] * (by_value[j] - 1.0) / values[j]
    return first_order(total, of_rows, of_columns, r, s)


@inlined
def is_thin(total: float, r: int, s: int) -> bool:
    """Whether a stratum has fewer rows than cells, and more than one."""
    return 1.0 < total < r * s


@inlined
def subtract_thin_excess(
    total: float, margins: FloatArray, r: int, s: int, strength: FloatArray, score: FloatArray
) -> None:
    """Subtract log E[B_K] of a thin stratum from the score of every strength."""
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    for point in range(strength.size):
        k = strength[point]
        rise = log_rise(k, total)
        of_rows, of_columns = rise, rise
        for i in range(r):
            of_rows -= log_rise(k * classes[i], by_class[i]) if by_class[i] > 0.0 else 0.0
        for j in range(s):
            of_columns -= log_rise(k * values[j], by_value[j]) if by_value[j] > 0.0 else 0.0
        score[point] -= max(of_rows * of_columns / rise, logarithm(1.0 + MIN_EXCESS))


@inlined
def subtract_excess(total: float, margins: FloatArray, r: int, s: int, strength: FloatArray, score: FloatArray) -> None:
    """Subtract log E[B_K] from the score of every strength; `adaptive_weights.shares` filled the `margins`."""
    if is_thin(total, r, s):
        subtract_thin_excess(total, margins, r, s, strength, score)
    else:
        first = _first_order_of_margins(total, margins, r, s)
        for point in range(strength.size):
            score[point] -= logarithm(1.0 + max(first / strength[point], MIN_EXCESS))
