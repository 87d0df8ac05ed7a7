"""Possible neighbours of each column: pairs that depend, and that no single other column separates for certain.

All pairs are first tested unconditionally. A pair that depends is then tested given one other column (a mediator) at
a time, beginning with the columns that depend most on both. The pair is excluded as soon as the evidence given one
mediator is too small. Each column keeps its `max_partners` strongest partners. The cost is O(pairs) tests where
nothing depends, and at most `_MAX_MEDIATORS` times as many.

Where a column has more partners than that, the partners that explain it jointly come first: the one that tells most,
then the one that tells most given the first, and so on. The reason: columns with many common neighbours depend on one
another, and no single column separates them. Among so many partners a true neighbour could be lost, and another
column would take its place for certain.

A column that determines one of the two, or nearly, separates nothing: given a copy of u, all columns are independent
of u, even its neighbours. But such a column might be the true neighbour, so the pair is marked (`determined`). Where a
column that might separate a pair has too many values to be tested, the pair is marked as well (`untried`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.questions.network.pair_set import PairSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.questions.network.edge_evidence import EdgeEvidence

_MIN_LOG_ODDS = -4.0  # of an edge: a pair below this is no candidate
_MAX_MEDIATORS = 10  # columns that are tried as separators of a pair, each for itself
DETERMINED_BELOW = 0.1  # share of its entropy: if less is left given other columns, these determine a column
CLEAR_EVIDENCE = 1.0  # log Bayes factor from which dependence is clear
_TESTS_AT_ONCE = 1 << 18
_CELLS_AT_ONCE = 1 << 22  # of the matrix in which mediators are searched
_MAX_JOINT_PARTNERS = 5  # partners that explain a column jointly


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The possible neighbours of each column, strongest first (`partners`), and figures of the pairs that depend.

    `least_evidence` is the smallest log Bayes factor of a pair so far, and `given` the column it was conditioned on,
    or -1. `determined` marks pairs for which some other column nearly determines one of the two and leaves no clear
    dependence. `untried` marks pairs for which a possible separator has too many values to be tested.
    """

    partners: tuple[IntegerArray, ...]
    pairs: PairSet
    least_evidence: FloatArray
    given: NDArray[np.int32]
    determined: BooleanArray
    untried: BooleanArray


def unconditional_evidence(evidence: EdgeEvidence, complete_rows: FloatArray | None = None) -> FloatArray:
    """The log Bayes factor of each pair given nothing, as a symmetric matrix.

    `complete_rows`, if passed, is filled with the number of complete rows of each pair.
    """
    columns = evidence.columns
    log_factors = np.zeros((columns, columns))
    columns_at_once = max(_TESTS_AT_ONCE // max(columns, 1), 1)
    for first in range(0, columns, columns_at_once):
        one, other = np.nonzero(
            np.arange(first, min(first + columns_at_once, columns))[:, np.newaxis] < np.arange(columns)
        )
        one += first
        factors, rows, _ = evidence.with_rows(np.column_stack([one, other]))
        log_factors[one, other] = log_factors[other, one] = factors
        if complete_rows is not None:
            complete_rows[one, other] = complete_rows[other, one] = rows
    return log_factors


def candidates(evidence: EdgeEvidence, unconditional: FloatArray, log_odds: float, max_partners: int) -> Candidates:
    """The possible neighbours of each column, at most `max_partners`; see `unconditional_evidence`."""
    pairs = _dependent_pairs(unconditional, log_odds)
    neighbours = Candidates(
        (),
        pairs,
        unconditional[pairs.one, pairs.other],
        np.full(len(pairs), -1, dtype=np.int32),
        *np.zeros((2, len(pairs)), dtype=bool),
    )
    for start in range(0, len(pairs), _TESTS_AT_ONCE):
        _condition_on_mediators(
            evidence, unconditional, log_odds, neighbours, np.arange(start, min(start + _TESTS_AT_ONCE, len(pairs)))
        )
    possible = np.flatnonzero(neighbours.least_evidence + log_odds > _MIN_LOG_ODDS)
    ranked = _partners_by_strength(pairs, possible, neighbours.least_evidence)
    crowded = {
        column: np.sort(column_partners)
        for column, column_partners in enumerate(ranked)
        if column_partners.size > max_partners
    }
    joint = _joint_partners(evidence, unconditional, crowded, log_odds)
    partners = []
    for column, column_partners in enumerate(ranked):
        chosen = np.array(joint.get(column, []), dtype=np.int64)
        partners.append(np.concatenate([chosen, column_partners[~np.isin(column_partners, chosen)]])[:max_partners])
    return Candidates(
        tuple(partners), pairs, neighbours.least_evidence, neighbours.given, neighbours.determined, neighbours.untried
    )


def _dependent_pairs(unconditional: FloatArray, log_odds: float) -> PairSet:
    """The pairs that may have an edge, judged by the two columns without any other."""
    columns = len(unconditional)
    partners = [
        column + 1 + np.flatnonzero(unconditional[column, column + 1 :] + log_odds > _MIN_LOG_ODDS)
        for column in range(columns)
    ]
    one = np.repeat(np.arange(columns), [column_partners.size for column_partners in partners])
    return PairSet(columns, one, np.concatenate([np.zeros(0, dtype=np.int64), *partners]))


def _condition_on_mediators(
    evidence: EdgeEvidence, unconditional: FloatArray, log_odds: float, neighbours: Candidates, indices: IntegerArray
) -> None:
    """Test the pairs at these indices given one mediator after the other, until the evidence is too small.

    Updates `neighbours`.
    """
    one, other, values = neighbours.pairs.one[indices], neighbours.pairs.other[indices], evidence.values
    between = mediators(unconditional, one, other, log_odds, evidence.threads)
    cells = (values[one] * values[other])[:, np.newaxis] * np.where(between >= 0, values[between], 0)
    too_large = cells > evidence.max_cells
    strength = np.minimum(unconditional[one[:, np.newaxis], between], unconditional[other[:, np.newaxis], between])
    neighbours.untried[indices] = (too_large & (strength > unconditional[one, other][:, np.newaxis])).any(axis=1)
    between[too_large] = -1
    for rank in range(between.shape[1]):
        tested = np.flatnonzero(
            (between[:, rank] >= 0) & (neighbours.least_evidence[indices] + log_odds > _MIN_LOG_ODDS)
        )
        if not tested.size:
            continue
        tested_indices, given = indices[tested], between[tested, rank]
        factors, entropy_left = evidence.and_left(np.column_stack([one[tested], other[tested], given]))
        neighbours.determined[tested_indices[(entropy_left < DETERMINED_BELOW) & (factors < CLEAR_EVIDENCE)]] = True
        lower = (factors < neighbours.least_evidence[tested_indices]) & (entropy_left >= DETERMINED_BELOW)
        neighbours.least_evidence[tested_indices[lower]] = factors[lower]
        neighbours.given[tested_indices[lower]] = given[lower]


def _partners_by_strength(pairs: PairSet, possible: IntegerArray, least_evidence: FloatArray) -> list[IntegerArray]:
    """For each column: its partners in these possible pairs, strongest first."""
    one, other, strength = pairs.one[possible], pairs.other[possible], least_evidence[possible]
    column, partner = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort((partner, -np.concatenate([strength, strength]), column))
    ends = np.cumsum(np.bincount(column, minlength=pairs.columns))
    return np.split(partner[order], ends[:-1])


def _joint_partners(
    evidence: EdgeEvidence, unconditional: FloatArray, possible: dict[int, IntegerArray], log_odds: float
) -> dict[int, list[int]]:
    """For some columns: the partners that explain them jointly, chosen one at a time given those before.

    `possible` has the partners of each of these columns, in ascending order.
    """
    values = evidence.values
    chosen = {
        column: [int(partners[unconditional[column, partners].argmax()])] for column, partners in possible.items()
    }
    growing = set(possible)
    for count in range(1, _MAX_JOINT_PARTNERS):
        tests_by_column = [
            np.column_stack([np.full(others.size, column), others, np.tile(chosen[column], (others.size, 1))])
            for column in sorted(growing)
            for others in [np.setdiff1d(possible[column], chosen[column])]
        ]
        tests = np.concatenate([np.zeros((0, count + 2), dtype=np.int64), *tests_by_column])
        tests = tests[values[tests].prod(axis=1, dtype=np.float64) <= evidence.max_cells]
        factors, entropy_left = evidence.and_left(tests)
        factors = np.where(entropy_left >= DETERMINED_BELOW, factors, -np.inf)
        growing = set()
        for test in np.lexsort((factors, tests[:, 0])).tolist():  # the last test of each column is its best
            column = int(tests[test, 0])
            if factors[test] + log_odds > 0.0:
                chosen[column] = [*chosen[column][:count], int(tests[test, 1])]
                growing.add(column)
    return chosen


def mediators(
    unconditional: FloatArray, one: IntegerArray, other: IntegerArray, log_odds: float, threads: int | None
) -> IntegerArray:
    """For each pair: the columns that depend on both, strongest first, padded with -1."""
    columns = len(unconditional)
    width = min(_MAX_MEDIATORS, max(columns - 2, 0))
    result = np.full((one.size, width), -1)
    step = max(_CELLS_AT_ONCE // max(columns, 1), 1)

    def fill(start: int) -> None:
        u, v = one[start : start + step], other[start : start + step]
        weaker_evidence = np.minimum(unconditional[u], unconditional[v])
        pair = np.arange(u.size)
        weaker_evidence[pair, u] = weaker_evidence[pair, v] = -np.inf
        threshold = np.partition(weaker_evidence, -width, axis=1)[:, -width, np.newaxis]
        pair, column = np.nonzero((weaker_evidence >= threshold) & (weaker_evidence + log_odds > 0.0))
        order = np.lexsort((column, -weaker_evidence[pair, column], pair))
        pair, column = pair[order], column[order]
        rank = np.arange(pair.size) - np.searchsorted(pair, pair)
        among_first = rank < width
        result[start + pair[among_first], rank[among_first]] = column[among_first]

    share(fill, range(0, one.size, step) if width else (), threads)
    return result
