"""Sums from which `survey_rows` finds how many rows a table is worth, if at most one side has missing values.

W are the sums of the weights in a cell or margin, Q those of their squares, T all weights of the table. With the class
i complete and the feature j missing in some rows, a_i = W_i/T is the share of class i, c_i = W_i+/T that of its rows
with both, q_ij = W_ij/W_i+, b_j = sum_i a_i q_ij, l_ij = log(q_ij/b_j), L_i = sum_j q_ij l_ij and I = sum_i a_i L_i.

A row of weight w changes I by (w/T) psi, to first order, with

    psi = (L_i - I) + (a_i/c_i) (l_ij - L_i)   for a complete row,
    psi = L_i - I                              for a row that has only its class.

So the variance of I is sum(Q psi^2)/T^2 (the sandwich formula), where N rows that count alike have sum(W psi^2)/T/N.
Near independence I is half the sum over i, j of a_i (q_ij - b_j)^2/b_j, and 2 I is sum(Q k)/T^2 on average, with

    k_ij = a_i (1 - a_i)/c_i^2 (1/b_j - 1)   for complete rows, 0 for others,

which is (1/a_i - 1)(1/b_j - 1) in a complete table. If rows count alike and do not depend on each other, sum(W k)/T is
(s - 1) sum_i a_i (1 - a_i)/c_i, or (r - 1)(s - 1) if the table is complete. A table in which the class is missing is
the same with its sides exchanged. Classes without a complete row have no q; they are taken to be like all others.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled

FIGURES = 10  # of a table: T, I, sum W psi^2, sum Q psi^2, sum Q psi, sum Q, sum W k/T, sum Q k/T, (r - 1)(s - 1), and
# the sum W k/T that is expected
TOTAL, INFORMATION, WEIGHTS, SQUARES, SQUARES_ONCE, SQUARES_ONLY = range(6)
NULL_WEIGHTS, NULL_SQUARES, FREEDOM, INFLATED = range(6, FIGURES)


@compiled
def one_sided_sums(
    flat: FloatArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    squares: FloatArray,
    selection: IntegerArray,
    work: FloatArray,
    figures: FloatArray,
) -> None:
    """Fill the figures of the selected tables; `work` has three lines of at least as many numbers as a side is long."""
    complete, information, shares = work[0], work[1], work[2]
    for number in range(selection.size):
        table = selection[number]
        start, r, s = offsets[table], rows[table], columns[table]
        across, down = 1, s + 1
        for j in range(s):
            if flat[start + r * (s + 1) + j] > 0.0:  # then no feature is missing
                across, down = s + 1, 1
        if across > 1:
            r, s = s, r
        total, seen_total, classes = 0.0, 0.0, 0.0
        for j in range(s):
            shares[j] = 0.0
        for i in range(r):
            complete[i] = 0.0
            for j in range(s):
                complete[i] += flat[start + i * down + j * across]
            weight = complete[i] + flat[start + i * down + s * across]
            total += weight
            if complete[i] > 0.0:
                seen_total += weight
                classes += 1.0
                for j in range(s):
                    shares[j] += weight / complete[i] * flat[start + i * down + j * across]
        values = 0.0
        for j in range(s):
            shares[j] /= max(seen_total, 1e-300)
            values += 1.0 if shares[j] > 0.0 else 0.0
        mean, inflated = 0.0, 0.0
        for i in range(r):
            information[i] = 0.0
            if complete[i] > 0.0:
                for j in range(s):
                    q = flat[start + i * down + j * across] / complete[i]
                    if q > 0.0:
                        information[i] += q * np.log(q / shares[j])
                share = (complete[i] + flat[start + i * down + s * across]) / seen_total
                mean += share * information[i]
                inflated += share * (1.0 - share) * seen_total / complete[i]
        weights, all_squares, once, only, null_weights, null_squares = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for i in range(r):
            alone, alone_square = flat[start + i * down + s * across], squares[start + i * down + s * across]
            weight = complete[i] + alone
            base = information[i] - mean if complete[i] > 0.0 else 0.0
            weights += alone * base * base
            all_squares += alone_square * base * base
            once += alone_square * base
            only += alone_square
            if not complete[i] > 0.0:
                continue
            share = weight / seen_total
            spread = share * (1.0 - share) * (seen_total / complete[i]) ** 2
            for j in range(s):
                count, square = flat[start + i * down + j * across], squares[start + i * down + j * across]
                only += square
                if not count > 0.0:
                    continue
                value = np.log(count / complete[i] / shares[j])
                psi = base + weight / complete[i] * (value - information[i])
                weights += count * psi * psi
                all_squares += square * psi * psi
                once += square * psi
                null = spread * (1.0 / shares[j] - 1.0)
                null_weights += count * null
                null_squares += square * null
        line = figures[table]
        line[TOTAL], line[INFORMATION] = total, mean
        line[WEIGHTS], line[SQUARES], line[SQUARES_ONCE], line[SQUARES_ONLY] = weights, all_squares, once, only
        line[NULL_WEIGHTS], line[NULL_SQUARES] = null_weights / max(total, 1e-300), null_squares / max(total, 1e-300)
        line[FREEDOM] = max(classes - 1.0, 0.0) * max(values - 1.0, 0.0)
        line[INFLATED] = inflated * max(values - 1.0, 0.0)
