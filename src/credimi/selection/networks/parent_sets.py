"""How well each set of parents explains a column, from conditional evidence.

A set S is reached one column at a time, and every step has a log Bayes factor: adding v to S - v, log B(u; v | S - v).
Ways to the same set differ a little, as each step has a prior of its own; their mean counts,

    E(u, S) = mean over v in S of [ E(u, S - v) + log B(u; v | S - v) ],       E(u, {}) = 0.

B is symmetric in u and v, so that networks with the same independencies have about the same evidence. All sets of up to
`_ALL` candidates are weighed. A larger set is weighed if each of its subsets with one column less, except at most one,
is better than all of its own subsets: only such sets can be the best that some order of the columns allows. Sets whose
table would have many more cells than rows are left out (see `EdgeEvidence.most_cells`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from credimi.selection.networks.candidates import CLEAR, DETERMINED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.conditional.edge_evidence import EdgeEvidence
    from credimi.selection.networks.candidates import Candidates
    from credimi.selection.networks.pair_set import PairSet

_ALL = 3


@dataclass(slots=True, eq=False)
class Separators:
    """Of each pair the least log Bayes factor that was met, and what was given there, -1 where there were fewer.

    Sets that determine one of the two separate nothing; `determined` says of which pairs there are such.
    """

    pairs: PairSet
    least: FloatArray
    given: NDArray[np.int32]
    determined: BooleanArray

    @classmethod
    def of(cls, near: Candidates, width: int) -> Separators:
        """What single columns separate; sets of up to `width` columns follow."""
        given = np.full((len(near.pairs), width), -1, dtype=np.int32)
        given[:, 0] = near.given
        return cls(near.pairs, near.least.copy(), given, near.determined.copy())

    def add(self, tests: IntegerArray, found: FloatArray, left: FloatArray) -> None:
        """Keep what is less than before, clearly so where a smaller set separates the pair already."""
        places, given = self.pairs.places(tests[:, 0], tests[:, 1]), tests[:, 2:]
        self.determined[places[(left < DETERMINED) & (found < CLEAR)]] = True
        order = np.lexsort((found, places))
        order = order[left[order] >= DETERMINED]
        places, found, given = places[order], found[order], given[order]
        first = np.diff(places, prepend=-1) > 0
        places, found, given = places[first], found[first], given[first]
        before = self.least[places]
        less = found < before - np.where(before < 0.0, CLEAR, 0.0)
        self.least[places[less]] = found[less]
        self.given[places[less]] = -1
        self.given[places[less], : given.shape[1]] = given[less]


@dataclass(slots=True, eq=False)
class ParentSets:
    """The sets of one column: masks of its candidates, their evidence, and how many parents they have."""

    candidates: IntegerArray
    evidence: dict[int, float]

    def arrays(self, log_odds: float) -> tuple[IntegerArray, FloatArray]:
        """Masks and scores, with the prior log odds of each parent; best first."""
        masks = np.fromiter(self.evidence, dtype=np.int64, count=len(self.evidence))
        raw = np.fromiter(self.evidence.values(), dtype=np.float64, count=masks.size)
        scores = raw + log_odds * np.bitwise_count(masks)
        order = np.argsort(-scores, kind="stable")
        return masks[order], scores[order]


@cache
def _subsets(size: int, count: int) -> tuple[IntegerArray, IntegerArray]:
    """All subsets of `count` out of `size` places, and their masks."""
    found = np.array(list(combinations(range(size), count)), dtype=np.int64).reshape(-1, count)
    return found, (1 << found).sum(axis=1)


def parent_sets(
    evidence: EdgeEvidence, partners: tuple[IntegerArray, ...], most: int, log_odds: float, separators: Separators
) -> list[ParentSets]:
    """The sets of all columns, of up to `most` parents; what separates pairs on the way is kept."""
    found = [ParentSets(each, {0: 0.0}) for each in partners]
    for count in range(1, most + 1):
        wanted = [_wanted(evidence, column, own, count, log_odds) for column, own in enumerate(found)]
        if not any(len(each) for each in wanted):
            break
        _weigh(evidence, found, wanted, separators)
    return found


def _wanted(
    evidence: EdgeEvidence, column: int, own: ParentSets, count: int, log_odds: float
) -> list[tuple[int, tuple[int, ...]]]:
    """The sets of `count` parents of a column that are to be weighed: mask and places."""
    size = own.candidates.size
    if count <= _ALL:
        places, masks = _subsets(size, count)
    else:
        places, masks = _extended(own, count, log_odds)
    if not masks.size:
        return []
    values = evidence.values
    cells = np.prod(values[own.candidates][places], axis=1, dtype=np.float64) * values[column]
    fits = cells <= evidence.most_cells if count > 1 else np.ones(cells.size, dtype=bool)
    return [(int(mask), tuple(each)) for mask, each in zip(masks[fits].tolist(), places[fits].tolist(), strict=True)]


def _extended(own: ParentSets, count: int, log_odds: float) -> tuple[IntegerArray, IntegerArray]:
    """Sets of `count` parents that may be better than all of their subsets: places among the candidates, and masks.

    They need not be near the best set. An order of the columns may exclude what the best sets have in common, such as
    an effect of the column that says more about it than its causes do.
    """
    masks, scores = own.arrays(log_odds)
    score = dict(zip(masks.tolist(), scores.tolist(), strict=True))
    better = {
        mask
        for mask in score
        if mask.bit_count() == count - 1
        and all(score[mask] > score.get(mask ^ 1 << place, -np.inf) for place in _places(mask))
    }
    size = own.candidates.size
    larger = {mask | 1 << place for mask in better for place in range(size) if not mask >> place & 1}
    promising = sorted(mask for mask in larger if sum(mask ^ 1 << at in better for at in _places(mask)) >= count - 1)
    places = np.array([_places(mask) for mask in promising], dtype=np.int64).reshape(-1, count)
    return places, np.array(promising, dtype=np.int64)


def _places(mask: int) -> list[int]:
    """The places of the bits that are set."""
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def _weigh(
    evidence: EdgeEvidence,
    found: list[ParentSets],
    wanted: list[list[tuple[int, tuple[int, ...]]]],
    separators: Separators,
) -> None:
    """Add the evidence of the wanted sets, all of one size."""
    tests = np.array(list(_steps(found, wanted)), dtype=np.int64)
    if not tests.size:
        return
    unique, place = _unique(tests, evidence.columns)
    factors, left = evidence.and_left(unique)
    separators.add(unique, factors, left)
    ways = iter(factors[place].tolist())
    for own, sets in zip(found, wanted, strict=True):
        weighed = {}
        for mask, places in sets:
            ends = [own.evidence[mask ^ 1 << at] + next(ways) for at in places if mask ^ 1 << at in own.evidence]
            if ends:
                weighed[mask] = sum(ends) / len(ends)
        own.evidence |= weighed


def _steps(found: list[ParentSets], wanted: list[list[tuple[int, tuple[int, ...]]]]) -> Iterator[list[int]]:
    """One test for each last step to each set, from a smaller set that was weighed."""
    for column, (own, sets) in enumerate(zip(found, wanted, strict=True)):
        names = own.candidates.tolist()
        for mask, places in sets:
            for at in places:
                if mask ^ 1 << at in own.evidence:
                    other = names[at]
                    given = sorted(names[each] for each in places if each != at)
                    yield [min(column, other), max(column, other), *given]


def _unique(tests: IntegerArray, columns: int) -> tuple[IntegerArray, NDArray[np.intp]]:
    """Each test once, and where each of the given ones is."""
    key = tests[:, 0].copy()
    for place in range(1, tests.shape[1]):
        if key.max() > (1 << 62) // (columns + 1):
            key = np.unique(key, return_inverse=True)[1]
        key = key * columns + tests[:, place]
    _, first, place_of = np.unique(key, return_index=True, return_inverse=True)
    return tests[first], place_of
