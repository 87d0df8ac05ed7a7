"""Which of all pairs of columns may tell more together than apart; the others are left out.

`inference.conditional.synergy` says what together and apart mean. With T the sum of n log n over a table, the log
likelihood ratios of dependence given the third are

    X, W given Y:  L = T_xwy - T_xy - T_wy + T_y, and so on;    N S = T_xwy - T_xw - T_xy - T_wy + T_x + T_w + T_y - T .

Of all normal priors of the effects the one that suits a table best gives a log Bayes factor of dependence of

    U = L - (d/2)(1 + log(2L/d)),  d the degrees of freedom, where 2L > d,

which is above that of the adaptive prior in tables with `_DENSE` rows a cell (studies/interactions.py). For synergy all
three have to be large, so that most pairs need no more than the first: T_xy and T_wy are known beforehand, and n log n
is looked up. A missing value counts as a value there, which can only make L larger. What is left gets all
three, of the rows that have both columns, and then the evidence itself (`pair_evidence`). In tables with fewer rows
than that, all pairs do.

Redundancy, S < 0, needs two columns that are informative alone; of these S itself is looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled, inlined
from credimi.kernels.pairs.pair_bits import BLOCK, count_block, fill_cells, place_in_block
from credimi.kernels.pairs.pair_evidence import evidence_of_pair, room_for

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

_DENSE = 4.0


@inlined
def _sum_of_cells(
    counts: IntegerArray,
    totals: IntegerArray,
    own: IntegerArray,
    its: IntegerArray,
    logs: FloatArray,
    rest: IntegerArray,
) -> float:
    """T_xwy of a pair, missing as a value, straight from the counts of its blocks."""
    found = 0.0
    values, others = own[1], its[1]
    for group in range(totals.shape[1]):
        for other in range(others):
            rest[other] = totals[its[0] + other, group]
        for value in range(values - 1):
            left = totals[own[0] + value, group]
            at = place_in_block(group, own[3] + value, its[3])
            for other in range(others - 1):
                n = np.uint64(counts[at + other])
                found += logs[n]
                rest[other] -= np.int64(n)
                left -= np.int64(n)
            found += logs[np.uint64(left)]
            rest[others - 1] -= left
        for other in range(others):
            found += logs[np.uint64(rest[other])]
    return found


@inlined
def _sum_of_two(
    counts: IntegerArray, totals: IntegerArray, own: IntegerArray, its: IntegerArray, logs: FloatArray
) -> float:
    """The same of two columns of two values each, without a loop."""
    found = 0.0
    for group in range(totals.shape[1]):
        n = np.uint64(counts[place_in_block(group, own[3], its[3])])
        one, other = np.uint64(totals[own[0], group]), np.uint64(totals[its[0], group])
        rest = np.uint64(totals[own[0] + 1, group])
        found += (logs[n] + logs[one - n]) + (logs[other - n] + logs[rest - (other - n)])
    return found


@inlined
def _sum_of_three(
    counts: IntegerArray, totals: IntegerArray, own: IntegerArray, its: IntegerArray, logs: FloatArray
) -> float:
    """The same of two columns of three values each, without a loop: such are genotypes."""
    found = 0.0
    x, w = own[0], its[0]
    for group in range(totals.shape[1]):
        at, below = place_in_block(group, own[3], its[3]), place_in_block(group, own[3] + 1, its[3])
        a, b = np.uint64(counts[at]), np.uint64(counts[at + 1])
        d, e = np.uint64(counts[below]), np.uint64(counts[below + 1])
        c = np.uint64(totals[x, group]) - a - b
        f = np.uint64(totals[x + 1, group]) - d - e
        g, h = np.uint64(totals[w, group]) - a - d, np.uint64(totals[w + 1, group]) - b - e
        i = np.uint64(totals[w + 2, group]) - c - f
        found += ((logs[a] + logs[b]) + (logs[c] + logs[d])) + ((logs[e] + logs[f]) + (logs[g] + logs[h])) + logs[i]
    return found


@inlined
def _best_evidence(ratio: float, freedom: float) -> float:
    """U of the module's docstring."""
    if freedom <= 0.0 or 2.0 * ratio <= freedom:
        return 0.0
    found: float = ratio - 0.5 * freedom * (1.0 + np.log(2.0 * ratio / freedom))
    return found


@inlined
def _figures(
    cells: FloatArray, r: int, own: IntegerArray, its: IntegerArray, logs: FloatArray, margins: FloatArray
) -> tuple[float, float, float]:
    """The least U of the three, S, and the rows that have both columns.

    `margins` is scratch: (6, r times the most values).
    """
    values, others = own[1], its[1]
    s, t = values - own[2], others - its[2]
    xy, wy, xw, y, x, w = margins[0], margins[1], margins[2], margins[3], margins[4], margins[5]
    for each in range(r * max(s, t)):
        xy[each] = 0.0
        wy[each] = 0.0
    for each in range(max(r, s, t)):
        y[each] = 0.0
        x[each] = 0.0
        w[each] = 0.0
    for each in range(s * t):
        xw[each] = 0.0
    total, whole = 0.0, 0.0
    for i in range(r):
        for j in range(s):
            for k in range(t):
                n = cells[(i * values + j) * others + k]
                whole += logs[np.int64(n)]
                xy[i * s + j] += n
                wy[i * t + k] += n
                xw[j * t + k] += n
                y[i] += n
                x[j] += n
                w[k] += n
                total += n
    of_xy, of_wy, of_xw, of_x, of_w, of_y = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    per_class, per_x, per_w = 0.0, 0.0, 0.0  # degrees of freedom
    for i in range(r):
        of_y += logs[np.int64(y[i])]
        there, beside = -1.0, -1.0
        for j in range(s):
            of_xy += logs[np.int64(xy[i * s + j])]
            there += xy[i * s + j] > 0.0
        for k in range(t):
            of_wy += logs[np.int64(wy[i * t + k])]
            beside += wy[i * t + k] > 0.0
        per_class += max(there, 0.0) * max(beside, 0.0)
    for j in range(s):
        of_x += logs[np.int64(x[j])]
        there, beside = -1.0, -1.0
        for i in range(r):
            there += xy[i * s + j] > 0.0
        for k in range(t):
            of_xw += logs[np.int64(xw[j * t + k])]
            beside += xw[j * t + k] > 0.0
        per_x += max(there, 0.0) * max(beside, 0.0)
    for k in range(t):
        of_w += logs[np.int64(w[k])]
        there, beside = -1.0, -1.0
        for i in range(r):
            there += wy[i * t + k] > 0.0
        for j in range(s):
            beside += xw[j * t + k] > 0.0
        per_w += max(there, 0.0) * max(beside, 0.0)
    least = _best_evidence(whole - of_xy - of_wy + of_y, per_class)
    least = min(least, _best_evidence(whole - of_xw - of_wy + of_w, per_w))
    least = min(least, _best_evidence(whole - of_xw - of_xy + of_x, per_x))
    if total <= 0.0:
        return 0.0, 0.0, 0.0
    together = whole - of_xw - of_xy - of_wy + of_x + of_w + of_y - total * np.log(total)
    return least, together / total, total


@compiled
def screen_blocks(
    bits: NDArray[np.uint64],
    ends: IntegerArray,
    totals: IntegerArray,
    layout: IntegerArray,
    blocks: IntegerArray,
    logs: FloatArray,
    alone: FloatArray,
    informative: NDArray[np.bool_],
    bounds: FloatArray,
    least_evidence: float,
    redundancy: float,
    block: int,
    first: int,
    stop: int,
    pairs: IntegerArray,
    scores: FloatArray,
) -> int:
    """Find the pairs of one block with those from `first` up to `stop` that may be more than nothing; their number.

    `logs` has n log n of all n up to the number of rows, `alone` T_xy of each column and behind the last T_y,
    `bounds[s, t]` the least L of columns with so many values. Pairs with a log Bayes factor above `least_evidence` are
    taken, and those with S below `redundancy`: their columns go to `pairs`, evidence and S to `scores`, both with room
    for all pairs.
    """
    r, most, columns = totals.shape[1], 2, layout.shape[0]
    for column in range(columns):
        most = max(most, layout[column, 1])
    rows = 0
    for group in range(r):
        for value in range(layout[0, 1]):
            rows += totals[value, group]
    counts, rest = np.empty(r * BLOCK * BLOCK, dtype=np.int64), np.empty(most, dtype=np.int64)
    cells, room, both = np.empty(r * most * most), np.empty(room_for(r, most)), np.empty(2)
    margins = np.empty((6, max(r, most) * most))
    found, one = 0, blocks[block]
    for beside in range(first, stop):
        two = blocks[beside]
        count_block(bits, ends, one[2], one[3], two[2], two[3], counts)
        for column in range(one[0], one[1]):
            own = layout[column]
            for other in range(max(two[0], column + 1), two[1]):
                its = layout[other]
                dense = rows >= _DENSE * r * own[1] * its[1]
                redundant = informative[column] and informative[other]
                if dense and not redundant:
                    if own[1] == 3 and its[1] == 3:
                        ratio = _sum_of_three(counts, totals, own, its, logs)
                    elif own[1] == 2 and its[1] == 2:
                        ratio = _sum_of_two(counts, totals, own, its, logs)
                    else:
                        ratio = _sum_of_cells(counts, totals, own, its, logs, rest)
                    ratio += alone[columns] - alone[column] - alone[other]
                    if ratio < bounds[own[1] - own[2], its[1] - its[2]]:
                        continue
                fill_cells(counts, totals, own[0], own[1], own[3], its[0], its[1], its[3], cells)
                evidence, synergy, complete = _figures(cells, r, own, its, logs, margins)
                sparse = complete < _DENSE * r * own[1] * its[1]
                if sparse or evidence > least_evidence:
                    evidence_of_pair(cells, r, own, its, room, both)
                    evidence = min(both[0], both[1]) if sparse else min(evidence, both[0], both[1])
                if evidence > least_evidence or (redundant and synergy < redundancy):
                    pairs[found, 0] = column
                    pairs[found, 1] = other
                    scores[found, 0] = evidence
                    scores[found, 1] = synergy
                    found += 1
    return found
