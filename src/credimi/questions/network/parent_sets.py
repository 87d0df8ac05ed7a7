"""How well each set of parents explains a column, from conditional evidence.

A set S of parents of u grows one column at a time. The step that adds v to S - v has the log Bayes factor
log B(u; v | S - v). Different last steps to the same set differ a little, as each has its own prior, so their mean is
used:

    E(u, S) = mean over v in S of [ E(u, S - v) + log B(u; v | S - v) ],       E(u, {}) = 0.

B is symmetric in u and v, so that networks with the same independencies have about the same evidence. All sets of up to
`_MAX_EXHAUSTIVE` candidates are weighed. A larger set is weighed if each of its subsets with one column less, except at
most one, is better than all of its own subsets: only such sets can be the best that some order of the columns allows.
Sets whose table would have many more cells than rows are left out (see `EdgeEvidence.max_cells`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from credimi.questions.network.candidates import CLEAR_EVIDENCE, DETERMINED_BELOW

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.questions.network.candidates import Candidates
    from credimi.questions.network.edge_evidence import EdgeEvidence
    from credimi.questions.network.pair_set import PairSet

_MAX_EXHAUSTIVE = 3  # parents: all sets of up to so many are weighed


@dataclass(slots=True, eq=False)
class Separators:
    """For each pair: the smallest log Bayes factor found so far, and the columns it was conditioned on, padded with -1.

    Sets of columns that determine one of the two separate nothing; `determined` marks pairs with such a set.
    """

    pairs: PairSet
    least_evidence: FloatArray
    given: NDArray[np.int32]
    determined: BooleanArray

    @classmethod
    def of(cls, neighbours: Candidates, max_given: int) -> Separators:
        """Begin with the results given single columns; sets of up to `max_given` columns may be added."""
        given = np.full((len(neighbours.pairs), max_given), -1, dtype=np.int32)
        given[:, 0] = neighbours.given
        return cls(neighbours.pairs, neighbours.least_evidence.copy(), given, neighbours.determined.copy())

    def add(self, tests: IntegerArray, factors: FloatArray, entropy_left: FloatArray) -> None:
        """Record the evidence of tests that is smaller than before; clearly smaller, if the pair is separated already.

        A test is a row of column indices: the pair, then the columns that it was conditioned on.
        """
        indices, given = self.pairs.index_of(tests[:, 0], tests[:, 1]), tests[:, 2:]
        self.determined[indices[(entropy_left < DETERMINED_BELOW) & (factors < CLEAR_EVIDENCE)]] = True
        order = np.lexsort((factors, indices))
        order = order[entropy_left[order] >= DETERMINED_BELOW]
        indices, factors, given = indices[order], factors[order], given[order]
        first = np.diff(indices, prepend=-1) > 0
        indices, factors, given = indices[first], factors[first], given[first]
        previous = self.least_evidence[indices]
        lower = factors < previous - np.where(previous < 0.0, CLEAR_EVIDENCE, 0.0)
        self.least_evidence[indices[lower]] = factors[lower]
        self.given[indices[lower]] = -1
        self.given[indices[lower], : given.shape[1]] = given[lower]


@dataclass(slots=True, eq=False)
class ParentSets:
    """The possible sets of parents of one column: `evidence` maps a bit mask of its candidates to log evidence."""

    candidates: IntegerArray
    evidence: dict[int, float]

    def arrays(self, log_odds: float) -> tuple[IntegerArray, FloatArray]:
        """Masks and scores, best first; a score is log evidence plus the prior log odds of each parent."""
        masks = np.fromiter(self.evidence, dtype=np.int64, count=len(self.evidence))
        evidence = np.fromiter(self.evidence.values(), dtype=np.float64, count=masks.size)
        scores = evidence + log_odds * np.bitwise_count(masks)
        order = np.argsort(-scores, kind="stable")
        return masks[order], scores[order]


@cache
def _subsets(size: int, count: int) -> tuple[IntegerArray, IntegerArray]:
    """All subsets of `count` out of `size` positions, and their bit masks."""
    positions = np.array(list(combinations(range(size), count)), dtype=np.int64).reshape(-1, count)
    return positions, (1 << positions).sum(axis=1)


def parent_sets(
    evidence: EdgeEvidence,
    partners: tuple[IntegerArray, ...],
    max_parents: int,
    log_odds: float,
    separators: Separators,
) -> list[ParentSets]:
    """The sets of up to `max_parents` parents of all columns; updates `separators` with all tests on the way."""
    sets = [ParentSets(candidates, {0: 0.0}) for candidates in partners]
    for count in range(1, max_parents + 1):
        wanted = [
            _sets_to_weigh(evidence, column, column_sets, count, log_odds) for column, column_sets in enumerate(sets)
        ]
        if not any(len(column_wanted) for column_wanted in wanted):
            break
        _weigh(evidence, sets, wanted, separators)
    return sets


def _sets_to_weigh(
    evidence: EdgeEvidence, column: int, column_sets: ParentSets, count: int, log_odds: float
) -> list[tuple[int, tuple[int, ...]]]:
    """The sets of `count` parents of a column that are to be weighed: mask, and positions among the candidates."""
    size = column_sets.candidates.size
    if count <= _MAX_EXHAUSTIVE:
        positions, masks = _subsets(size, count)
    else:
        positions, masks = _extended(column_sets, count, log_odds)
    if not masks.size:
        return []
    values = evidence.values
    cells = np.prod(values[column_sets.candidates][positions], axis=1, dtype=np.float64) * values[column]
    fits = cells <= evidence.max_cells if count > 1 else np.ones(cells.size, dtype=bool)
    return [
        (int(mask), tuple(members))
        for mask, members in zip(masks[fits].tolist(), positions[fits].tolist(), strict=True)
    ]


def _extended(column_sets: ParentSets, count: int, log_odds: float) -> tuple[IntegerArray, IntegerArray]:
    """Sets of `count` parents that may be better than all of their subsets; their positions and their masks.

    They need not be near the best set. An order of the columns may exclude what the best sets have in common, such as
    an effect of the column that says more about it than its causes do.
    """
    masks, scores = column_sets.arrays(log_odds)
    score = dict(zip(masks.tolist(), scores.tolist(), strict=True))
    better = {
        mask
        for mask in score
        if mask.bit_count() == count - 1
        and all(score[mask] > score.get(mask ^ 1 << position, -np.inf) for position in _positions(mask))
    }
    size = column_sets.candidates.size
    larger = {mask | 1 << position for mask in better for position in range(size) if not mask >> position & 1}
    extended = sorted(
        mask for mask in larger if sum(mask ^ 1 << position in better for position in _positions(mask)) >= count - 1
    )
    positions = np.array([_positions(mask) for mask in extended], dtype=np.int64).reshape(-1, count)
    return positions, np.array(extended, dtype=np.int64)


def _positions(mask: int) -> list[int]:
    """The positions of the candidates that are in a set."""
    return [position for position in range(mask.bit_length()) if mask >> position & 1]


def _weigh(
    evidence: EdgeEvidence,
    all_sets: list[ParentSets],
    wanted: list[list[tuple[int, tuple[int, ...]]]],
    separators: Separators,
) -> None:
    """Compute the evidence of the wanted sets, all of one size, and add it to `all_sets`."""
    tests = np.array(list(_last_steps(all_sets, wanted)), dtype=np.int64)
    if not tests.size:
        return
    unique, index = _unique_tests(tests, evidence.columns)
    factors, entropy_left = evidence.and_left(unique)
    separators.add(unique, factors, entropy_left)
    factor_of_step = iter(factors[index].tolist())
    for column_sets, wanted_sets in zip(all_sets, wanted, strict=True):
        weighed = {}
        for mask, positions in wanted_sets:
            totals = [
                column_sets.evidence[mask ^ 1 << position] + next(factor_of_step)
                for position in positions
                if mask ^ 1 << position in column_sets.evidence
            ]
            if totals:
                weighed[mask] = sum(totals) / len(totals)
        column_sets.evidence |= weighed


def _last_steps(all_sets: list[ParentSets], wanted: list[list[tuple[int, tuple[int, ...]]]]) -> Iterator[list[int]]:
    """One test for each last step to each wanted set, if the smaller set before that step was weighed."""
    for column, (column_sets, wanted_sets) in enumerate(zip(all_sets, wanted, strict=True)):
        candidates = column_sets.candidates.tolist()
        for mask, positions in wanted_sets:
            for position in positions:
                if mask ^ 1 << position in column_sets.evidence:
                    other = candidates[position]
                    given = sorted(candidates[member] for member in positions if member != position)
                    yield [min(column, other), max(column, other), *given]


def _unique_tests(tests: IntegerArray, columns: int) -> tuple[IntegerArray, NDArray[np.intp]]:
    """Each different test once, and the index of each of `tests` among these."""
    key = tests[:, 0].copy()
    for position in range(1, tests.shape[1]):
        if key.max() > (1 << 62) // (columns + 1):
            key = np.unique(key, return_inverse=True)[1]
        key = key * columns + tests[:, position]
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    return tests[first], index
