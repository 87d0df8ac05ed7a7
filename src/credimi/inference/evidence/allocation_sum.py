"""The evidence of rows that lack one side, exactly: a sum over the classes that few such rows may have had.

With c, m, k as in `two_sided_weights`, D = log E[X Y] / (E[X] E[Y]) for X = prod x_i^m_i, Y = prod y_j^k_j and
pi ~ Dirichlet(c). Each of the k_j rows that lack the target had one of the classes. Let u_i be how many of them had
class i. Given these, all integrals are Dirichlet integrals, and with (c)_u = c (c + 1) ... (c + u - 1)

    exp D = sum_u P(u) prod_i (c_i+ + m_i)_(u_i) / (c_i+)_(u_i)  (C)_k / (C + M)_k .

P(u) is the probability of u if the k_j rows of each value get Dirichlet-multinomial classes with the parameters c_ij,
i = 1, 2 ..: a convolution over the values. All terms are positive and no large terms cancel, whatever the counts. With
two classes the cost is O(k^2), with three O(k^4). The roles of target and feature may be exchanged: D is the same.

**Where Laplace's formula does not do.** It takes the corrections of cells and margins to cancel, which holds where the
complete counts say how probable a cell is. The rows that lack the feature leave A_ij = m_i pi_ij/x_i to a cell, those
that lack the target B_ij = k_j pi_ij/y_j. Together they say about as much about the cell as q_ij = min(A_ij, B_ij) rows
would. Stirling's error changes from 1/12c to 1/12(c + q), so that Laplace's formula is not used if a cell has both
q/(c (c + q)) > `_MAX_CHANGE` and q > `_MAX_SHARE` c. (A smaller q adds little to c, however small c is.) Nor is it used
where rounding matters: with more than `_MOST_ROWS`, or if a cell has probability from the margins alone. Its slack
c/pi = N - m_i/x_i - k_j/y_j is then a difference of numbers near N, with less than six digits.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, Workspace, compiled
from credimi.inference.moments import information_matrix as at

MAX_OPERATIONS = 1e6  # 0.02 s
_MAX_CHANGE, _MAX_SHARE = 0.2, 0.5
_DOUBT_PER_SHARE = 0.1  # twice the largest error seen, in nats, by q/c
MAX_DOUBT = 2.0  # nats: then D may be anything between Laplace's formula and 0
_MOST_ROWS, _ROUNDING = 1e11, 1e-13
_TOLERANCE = 0.02
_MIN_SLACK = 1e-10  # relative to N: smaller slacks are rounding errors


@compiled
def factor_is_lost(total: float, work: Workspace) -> bool:
    """Whether Laplace's factor is lost to rounding; such a cell has a negligible weight in the prior."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    for i in range(counts.shape[0]):
        for j in range(counts.shape[1]):
            if counts[i, j] < _MIN_SLACK * total * probability[i, j]:
                return True
    return False


@compiled
def doubt(total: float, work: Workspace) -> float:
    """How far Laplace's formula may be off, in nats, from the mode of N = `total` rows; 0 if it does."""
    counts, probability = work.cells[at.COUNTS], work.cells[at.PROBABILITY]
    row_only, column_only = work.rows[at.ROW_ONLY], work.columns[at.COLUMN_ONLY]
    found = _ROUNDING * total if total > _MOST_ROWS else 0.0
    rows, columns = counts.shape
    for i in range(rows):
        row_sum = 0.0
        for j in range(columns):
            row_sum += probability[i, j]
        for j in range(columns):
            c = counts[i, j]
            left = row_only[i] * probability[i, j] / row_sum
            if left > _MAX_SHARE * c and left > _MAX_CHANGE * c * (c + left):
                column_sum = 0.0
                for other in range(rows):
                    column_sum += probability[other, j]
                left = min(left, column_only[j] * probability[i, j] / column_sum)
                if left > _MAX_SHARE * c and left > _MAX_CHANGE * c * (c + left):
                    found = max(found, _DOUBT_PER_SHARE * left / c)
    return min(found, MAX_DOUBT)


@compiled
def operations(margin: FloatArray, classes: int) -> float:
    """How many operations the sum over the allocations of `margin` takes; infinity if there is no such sum."""
    if classes > 3:
        return np.inf
    done, cost = 0.0, 0.0
    for j in range(margin.size):
        k = margin[j]
        if k != np.floor(k):
            return np.inf
        if classes == 2:
            cost += (done + 1.0) * (k + 1.0)
        else:
            cost += 0.25 * (done + 1.0) * (done + 2.0) * (k + 1.0) * (k + 2.0)
        done += k
    return cost


@compiled
def _fill_splits(first: float, second: float, count: int, splits: FloatArray) -> None:
    """log P(v) of the Beta-binomial: v of `count` rows belong to `first`, the others to `second`."""
    log_none = 0.0
    for v in range(count):
        log_none += np.log((second + v) / (first + second + v))
    splits[0] = log_none
    for v in range(count):
        splits[v + 1] = splits[v] + np.log((count - v) / (v + 1.0) * ((first + v) / (second + (count - v - 1))))


@compiled
def _fill_factors(complete: float, margin: float, count: int, factors: FloatArray) -> None:
    """log of (complete + margin)_u / (complete)_u for u up to `count`."""
    factors[0] = 0.0
    for u in range(count):
        factors[u + 1] = factors[u] + np.log1p(margin / (complete + u))


@compiled
def _convolve(known: FloatArray, part: FloatArray, done: int, count: int, classes: int, longer: FloatArray) -> None:
    """log P of the sums of the allocations of `done` rows, `known`, and of `count` more, `part`."""
    for u in range(done + count + 1):
        for w in range(done + count - u + 1 if classes > 2 else 1):
            for summed in (False, True):
                best = longer[u, w] if summed else -np.inf
                total = 0.0
                for v in range(max(u - done, 0), min(u, count) + 1):
                    least = max(w - (done - (u - v)), 0)
                    for x in range(least, (min(w, count - v) if classes > 2 else 0) + 1):
                        term = known[u - v, w - x] + part[v, x]
                        if summed:
                            total += np.exp(term - best)
                        else:
                            best = max(best, term)
                longer[u, w] = best + np.log(total) if summed else best


@compiled
def allocation_sum(counts: FloatArray, row_only: FloatArray, column_only: FloatArray) -> float:
    """D, by the sum over the rows (two or three) of those that are known to have the column only."""
    r, s = counts.shape
    all_only, most = 0, 0
    for j in range(s):
        all_only += int(column_only[j])
        most = max(most, int(column_only[j]))
    classes = np.empty(r)
    factors = np.empty((r + 1, all_only + 1))
    total, of_rows = 0.0, 0.0
    for i in range(r):
        classes[i] = 0.0
        for j in range(s):
            classes[i] += counts[i, j]
        total += classes[i]
        of_rows += row_only[i]
        _fill_factors(classes[i], row_only[i], all_only, factors[i])
    _fill_factors(total, of_rows, all_only, factors[r])
    depth = all_only + 1 if r > 2 else 1  # the second index is that of the third class
    known, longer = np.full((all_only + 1, depth), -np.inf), np.empty((all_only + 1, depth))
    outer, inner = np.empty(most + 1), np.empty(most + 1)
    part = np.empty((most + 1, most + 1 if r > 2 else 1))
    known[0, 0] = 0.0
    done = 0
    for j in range(s):
        k = int(column_only[j])
        if k == 0:
            continue
        rest = counts[1, j] + (counts[2, j] if r > 2 else 0.0)
        _fill_splits(counts[0, j], rest, k, outer)
        for v in range(k + 1):
            if r == 2:
                part[v, 0] = outer[v]
            else:
                _fill_splits(counts[2, j], counts[1, j], k - v, inner)
                for w in range(k - v + 1):
                    part[v, w] = outer[v] + inner[w]
        _convolve(known, part, done, k, r, longer)
        done += k
        known, longer = longer, known
    best = -np.inf
    for u in range(all_only + 1):
        for w in range(all_only - u + 1 if r > 2 else 1):
            known[u, w] += factors[0, u] + factors[1, all_only - u - w] + (factors[2, w] if r > 2 else 0.0)
            best = max(best, known[u, w])
    evidence = 0.0
    for u in range(all_only + 1):
        for w in range(all_only - u + 1 if r > 2 else 1):
            evidence += np.exp(known[u, w] - best)
    return float(best + np.log(evidence) - factors[r, all_only])


@compiled
def exact_evidence(counts: FloatArray, row_only: FloatArray, column_only: FloatArray) -> float:
    """D, by the sum over the side that takes fewer operations; NaN if both take too many."""
    rows, columns = counts.shape
    by_rows, by_columns = operations(column_only, rows), operations(row_only, columns)
    if min(by_rows, by_columns) > MAX_OPERATIONS:
        return np.nan
    if by_rows <= by_columns:
        return allocation_sum(counts, row_only, column_only)
    return allocation_sum(np.ascontiguousarray(counts.T), column_only, row_only)


@compiled
def may_be_off(
    score: FloatArray, guess: FloatArray, doubts: FloatArray, known: IntegerArray, points: int, independence: float
) -> bool:
    """Whether the share of independence may be off by more than `_TOLERANCE`, as far as D is in doubt at some points.

    D is made less, and more, by its doubt, and set to 0 where that is the largest. `score` has log B of the complete
    rows, and `independence` is its score.
    """
    least, most = 1.0, 0.0
    for case in range(4):
        best = independence
        for summed in (False, True):
            total = np.exp(independence - best)
            for point in range(points):
                if known[point]:
                    is_unknown = case == 3 and doubts[point] >= MAX_DOUBT
                    evidence = 0.0 if is_unknown else guess[point] + (case % 3 - 1) * doubts[point]
                    if summed:
                        total += np.exp(score[point] + evidence - best)
                    else:
                        best = max(best, score[point] + evidence)
            if summed:
                share = np.exp(independence - best) / total
                least, most = min(least, share), max(most, share)
    return bool(most - least > _TOLERANCE)
