"""Screening of all pairs of columns: which of them may have synergy or redundancy; the others are left out.

`questions.interactions.synergy` defines both. With T the sum of n log n over a table, the log likelihood ratios of
dependence of two variables given the third are

    X, W given Y:  L = T_xwy - T_xy - T_wy + T_y, and so on;    N S = T_xwy - T_xw - T_xy - T_wy + T_x + T_w + T_y - T .

Of all normal priors of the effects, the one that fits a table best gives a log Bayes factor of dependence of

    U = L - (d/2)(1 + log(2L/d)),  d the degrees of freedom, where 2L > d,

which is above that of the adaptive prior in tables with `_DENSE` rows a cell (studies/interactions.py). Synergy needs
all three to be large, so most pairs are excluded by the first alone: T_xy and T_wy are known beforehand, and n log n is
looked up. A missing value counts as a value there, which can only make L larger. For the remaining pairs all three are
computed from the rows that have both columns, and then the evidence itself (`pair_evidence`). In tables with fewer
rows a cell, the evidence is computed for all pairs.

Redundancy, S < 0, needs two columns that are informative alone; for these pairs S itself is computed.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import BooleanArray, FloatArray, IntegerArray, NDArray, compiled, inlined
from credimi.counts.rows.pair_bits import BLOCK, count_block, fill_cells, index_in_block
from credimi.inference.evidence.pair_evidence import evidence_of_pair, room_for

_DENSE = 4.0  # rows a cell


@inlined
def _sum_of_cells(
    counts: IntegerArray,
    totals: IntegerArray,
    column_layout: IntegerArray,
    other_layout: IntegerArray,
    logs: FloatArray,
    rest: IntegerArray,
) -> float:
    """T_xwy of a pair from the counts of its blocks; a missing value counts as a value."""
    total = 0.0
    values, other_values = column_layout[1], other_layout[1]
    for group in range(totals.shape[1]):
        for other in range(other_values):
            rest[other] = totals[other_layout[0] + other, group]
        for value in range(values - 1):
            row_rest = totals[column_layout[0] + value, group]
            at = index_in_block(group, column_layout[3] + value, other_layout[3])
            for other in range(other_values - 1):
                n = np.uint64(counts[at + other])
                total += logs[n]
                rest[other] -= np.int64(n)
                row_rest -= np.int64(n)
            total += logs[np.uint64(row_rest)]
            rest[other_values - 1] -= row_rest
        for other in range(other_values):
            total += logs[np.uint64(rest[other])]
    return total


@inlined
def _best_evidence(ratio: float, freedom: float) -> float:
    """U of the module's docstring."""
    if freedom <= 0.0 or 2.0 * ratio <= freedom:
        return 0.0
    evidence: float = ratio - 0.5 * freedom * (1.0 + np.log(2.0 * ratio / freedom))
    return evidence


@inlined
def _n_log_n(count: float, logs: FloatArray) -> float:
    """n log n, looked up as far as `logs` goes."""
    number = np.int64(count)
    result: float = logs[number] if number < logs.size else count * np.log(count)
    return result


@inlined
def _screening_scores(
    cells: FloatArray,
    r: int,
    column_layout: IntegerArray,
    other_layout: IntegerArray,
    logs: FloatArray,
    margins: FloatArray,
) -> tuple[float, float, float]:
    """The smallest U of the three, S, and the number of rows that have both columns.

    `margins` is scratch: (6, r times the maximum number of values).
    """
    values, other_values = column_layout[1], other_layout[1]
    s, t = values - column_layout[2], other_values - other_layout[2]
    xy, wy, xw, y, x, w = margins[0], margins[1], margins[2], margins[3], margins[4], margins[5]
    for cell in range(r * max(s, t)):
        xy[cell] = 0.0
        wy[cell] = 0.0
    for cell in range(max(r, s, t)):
        y[cell] = 0.0
        x[cell] = 0.0
        w[cell] = 0.0
    for cell in range(s * t):
        xw[cell] = 0.0
    total, of_xwy = 0.0, 0.0
    for i in range(r):
        for j in range(s):
            for k in range(t):
                n = cells[(i * values + j) * other_values + k]
                of_xwy += _n_log_n(n, logs)
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
        of_y += _n_log_n(y[i], logs)
        first_freedom, second_freedom = -1.0, -1.0
        for j in range(s):
            of_xy += _n_log_n(xy[i * s + j], logs)
            first_freedom += xy[i * s + j] > 0.0
        for k in range(t):
            of_wy += _n_log_n(wy[i * t + k], logs)
            second_freedom += wy[i * t + k] > 0.0
        per_class += max(first_freedom, 0.0) * max(second_freedom, 0.0)
    for j in range(s):
        of_x += _n_log_n(x[j], logs)
        first_freedom, second_freedom = -1.0, -1.0
        for i in range(r):
            first_freedom += xy[i * s + j] > 0.0
        for k in range(t):
            of_xw += _n_log_n(xw[j * t + k], logs)
            second_freedom += xw[j * t + k] > 0.0
        per_x += max(first_freedom, 0.0) * max(second_freedom, 0.0)
    for k in range(t):
        of_w += _n_log_n(w[k], logs)
        first_freedom, second_freedom = -1.0, -1.0
        for i in range(r):
            first_freedom += wy[i * t + k] > 0.0
        for j in range(s):
            second_freedom += xw[j * t + k] > 0.0
        per_w += max(first_freedom, 0.0) * max(second_freedom, 0.0)
    smallest = _best_evidence(of_xwy - of_xy - of_wy + of_y, per_class)
    smallest = min(smallest, _best_evidence(of_xwy - of_xw - of_wy + of_w, per_w))
    smallest = min(smallest, _best_evidence(of_xwy - of_xw - of_xy + of_x, per_x))
    if total <= 0.0:
        return 0.0, 0.0, 0.0
    scaled_synergy = of_xwy - of_xw - of_xy - of_wy + of_x + of_w + of_y - total * np.log(total)
    return smallest, scaled_synergy / total, total


@inlined
def _judged(
    cells: FloatArray,
    r: int,
    column_layout: IntegerArray,
    other_layout: IntegerArray,
    logs: FloatArray,
    margins: FloatArray,
    scratch: FloatArray,
    log_factors: FloatArray,
    least_evidence: float,
) -> tuple[float, float]:
    """The evidence of a pair, and S, from its joint table; all arrays from `margins` on are scratch."""
    evidence, synergy, complete_rows = _screening_scores(cells, r, column_layout, other_layout, logs, margins)
    sparse = complete_rows < _DENSE * r * column_layout[1] * other_layout[1]
    if sparse or evidence > least_evidence:
        evidence_of_pair(cells, r, column_layout, other_layout, scratch, log_factors)
        evidence = min(log_factors[0], log_factors[1]) if sparse else min(evidence, log_factors[0], log_factors[1])
    return evidence, synergy


@compiled
def screen_blocks(
    bits: NDArray[np.uint64],
    ends: IntegerArray,
    totals: IntegerArray,
    layout: IntegerArray,
    blocks: IntegerArray,
    logs: FloatArray,
    alone: FloatArray,
    informative: BooleanArray,
    bounds: FloatArray,
    least_evidence: float,
    redundancy: float,
    block: int,
    first: int,
    stop: int,
    pairs: IntegerArray,
    scores: FloatArray,
) -> int:
    """Select pairs of columns of one block with those of the blocks from `first` up to `stop`; return their number.

    `logs` has n log n for all n up to the number of rows. `alone` has T_xy of each column, and T_y after the last.
    `bounds[s, t]` is the smallest L of interest for columns with s and t values. Selected are pairs with a log Bayes
    factor above `least_evidence`, and pairs of informative columns with S below `redundancy`. Their columns are written
    to `pairs`, their evidence and S to `scores`; both arrays are large enough for all pairs.
    """
    r, max_values, columns = totals.shape[1], 2, layout.shape[0]
    for column in range(columns):
        max_values = max(max_values, layout[column, 1])
    rows = 0
    for group in range(r):
        for value in range(layout[0, 1]):
            rows += totals[value, group]
    counts, rest = np.empty(r * BLOCK * BLOCK, dtype=np.int64), np.empty(max_values, dtype=np.int64)
    cells, scratch, log_factors = np.empty(r * max_values * max_values), np.empty(room_for(r, max_values)), np.empty(2)
    margins = np.empty((6, max(r, max_values) * max_values))
    pair_count, first_block = 0, blocks[block]
    for other_block in range(first, stop):
        second_block = blocks[other_block]
        count_block(bits, ends, first_block[2], first_block[3], second_block[2], second_block[3], counts)
        for column in range(first_block[0], first_block[1]):
            column_layout = layout[column]
            for other in range(max(second_block[0], column + 1), second_block[1]):
                other_layout = layout[other]
                dense = rows >= _DENSE * r * column_layout[1] * other_layout[1]
                redundant = informative[column] and informative[other]
                if dense and not redundant:
                    ratio = _sum_of_cells(counts, totals, column_layout, other_layout, logs, rest)
                    ratio += alone[columns] - alone[column] - alone[other]
                    if ratio < bounds[column_layout[1] - column_layout[2], other_layout[1] - other_layout[2]]:
                        continue
                fill_cells(counts, totals, column_layout, other_layout, cells)
                evidence, synergy = _judged(
                    cells, r, column_layout, other_layout, logs, margins, scratch, log_factors, least_evidence
                )
                if evidence > least_evidence or (redundant and synergy < redundancy):
                    pairs[pair_count, 0] = column
                    pairs[pair_count, 1] = other
                    scores[pair_count, 0] = evidence
                    scores[pair_count, 1] = synergy
                    pair_count += 1
    return pair_count


@compiled
def screen_tables(
    cells: FloatArray,
    starts: IntegerArray,
    r: int,
    layout: IntegerArray,
    chosen: IntegerArray,
    logs: FloatArray,
    alone: FloatArray,
    informative: BooleanArray,
    bounds: FloatArray,
    rows: int,
    least_evidence: float,
    redundancy: float,
    pairs: IntegerArray,
    scores: FloatArray,
) -> int:
    """The same for chosen pairs, whose joint tables follow each other in `cells`; `rows` have a class.

    `logs` need not go up to the number of rows.
    """
    max_values, columns, pair_count = 2, layout.shape[0], 0
    for column in range(columns):
        max_values = max(max_values, layout[column, 1])
    scratch, log_factors = np.empty(room_for(r, max_values)), np.empty(2)
    margins = np.empty((6, max(r, max_values) * max_values))
    for index in range(chosen.shape[0]):
        column, other = chosen[index, 0], chosen[index, 1]
        column_layout, other_layout = layout[column], layout[other]
        size = r * column_layout[1] * other_layout[1]
        table = cells[starts[index] : starts[index] + size]
        redundant = informative[column] and informative[other]
        if rows >= _DENSE * size and not redundant:
            ratio = alone[columns] - alone[column] - alone[other]
            for cell in range(size):
                ratio += _n_log_n(table[cell], logs)
            if ratio < bounds[column_layout[1] - column_layout[2], other_layout[1] - other_layout[2]]:
                continue
        evidence, synergy = _judged(
            table, r, column_layout, other_layout, logs, margins, scratch, log_factors, least_evidence
        )
        if evidence > least_evidence or (redundant and synergy < redundancy):
            pairs[pair_count, 0] = column
            pairs[pair_count, 1] = other
            scores[pair_count, 0] = evidence
            scores[pair_count, 1] = synergy
            pair_count += 1
    return pair_count
