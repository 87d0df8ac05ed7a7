"""Which columns may be neighbours of which: pairs that depend, and that no single other column separates for certain.

All pairs are weighed alone. A pair that depends is weighed given one other column, those first that depend most on
both; it is out as soon as one of them leaves too little. Of each column the `most` strongest partners stay. O(pairs)
tests where nothing depends, and `_MEDIATORS` times as many at most.

Where a column has more partners than may stay, those come first that explain it together: the one that tells most, the
one that tells most given that, and so on. Columns with common neighbours of many neighbours depend on one another, and
no single column separates them. In their crowd a true neighbour would be lost, and another would take its place for
certain.

A column that determines one of the two, or nearly, separates nothing: given a copy of u, all are independent of u, its
neighbours too. But then it might be the neighbour instead, and this is kept (`determined`). Where a column that might
separate a pair has too many values to be tried, the pair is in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.selection.networks.pair_set import PairSet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.conditional.edge_evidence import EdgeEvidence

_OUT = -4.0  # log odds of an edge, below which a pair is no candidate
_MEDIATORS = 10  # columns that are tried as separators of a pair
DETERMINED = 0.1  # of the entropy left: less tells nothing
CLEAR = 1.0  # nats: a log Bayes factor of dependence
_TESTS = 1 << 18  # pairs that are weighed at once
_CELLS = 1 << 22  # of rows of the matrix in which mediators are looked for at once
_TOGETHER = 5  # partners that explain a column together, at most


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Of each column its possible neighbours, strongest first, and what is known of each pair that depends.

    `least` is the least of a pair's log Bayes factors so far, and `given` the column that was given there, or -1.
    `determined` says of which pairs a column, once given, leaves next to nothing of one of the two, and no clear
    dependence; `untried` of which a separating column has too many values.
    """

    partners: tuple[IntegerArray, ...]
    pairs: PairSet
    least: FloatArray
    given: NDArray[np.int32]
    determined: BooleanArray
    untried: BooleanArray


def pairs_alone(evidence: EdgeEvidence, complete: FloatArray | None = None) -> FloatArray:
    """The log Bayes factor of each pair, as a symmetric matrix; `complete` gets the complete rows of each pair."""
    columns = evidence.columns
    alone = np.zeros((columns, columns))
    widest = max(_TESTS // max(columns, 1), 1)  # columns at once
    for first in range(0, columns, widest):
        one, other = np.nonzero(np.arange(first, min(first + widest, columns))[:, np.newaxis] < np.arange(columns))
        one += first
        factors, rows, _ = evidence.with_rows(np.column_stack([one, other]))
        alone[one, other] = alone[other, one] = factors
        if complete is not None:
            complete[one, other] = complete[other, one] = rows
    return alone


def candidates(evidence: EdgeEvidence, alone: FloatArray, log_odds: float, most: int) -> Candidates:
    """The possible neighbours of each column, at most `most`; `alone` has the log Bayes factor of every pair."""
    pairs = _depending(alone, log_odds)
    near = Candidates(
        (),
        pairs,
        alone[pairs.one, pairs.other],
        np.full(len(pairs), -1, dtype=np.int32),
        *np.zeros((2, len(pairs)), dtype=bool),
    )
    for start in range(0, len(pairs), _TESTS):
        _separate(evidence, alone, log_odds, near, np.arange(start, min(start + _TESTS, len(pairs))))
    possible = np.flatnonzero(near.least + log_odds > _OUT)
    lists = _by_strength(pairs, possible, near.least)
    crowded = {column: np.sort(own) for column, own in enumerate(lists) if own.size > most}
    together = _together(evidence, alone, crowded, log_odds)
    partners = []
    for column, own in enumerate(lists):
        first = np.array(together.get(column, []), dtype=np.int64)
        partners.append(np.concatenate([first, own[~np.isin(own, first)]])[:most])
    return Candidates(tuple(partners), pairs, near.least, near.given, near.determined, near.untried)


def _depending(alone: FloatArray, log_odds: float) -> PairSet:
    """The pairs that may have an edge, as far as the two columns alone tell."""
    columns = len(alone)
    found = [column + 1 + np.flatnonzero(alone[column, column + 1 :] + log_odds > _OUT) for column in range(columns)]
    one = np.repeat(np.arange(columns), [own.size for own in found])
    return PairSet(columns, one, np.concatenate([np.zeros(0, dtype=np.int64), *found]))


def _separate(
    evidence: EdgeEvidence, alone: FloatArray, log_odds: float, near: Candidates, places: IntegerArray
) -> None:
    """Weigh the pairs at these places given one other column after the other, until one leaves too little."""
    one, other, values = near.pairs.one[places], near.pairs.other[places], evidence.values
    between = mediators(alone, one, other, log_odds, evidence.threads)
    cells = (values[one] * values[other])[:, np.newaxis] * np.where(between >= 0, values[between], 0)
    large = cells > evidence.most_cells
    strong = np.minimum(alone[one[:, np.newaxis], between], alone[other[:, np.newaxis], between])
    near.untried[places] = (large & (strong > alone[one, other][:, np.newaxis])).any(axis=1)
    between[large] = -1
    for rank in range(between.shape[1]):
        asked = np.flatnonzero((between[:, rank] >= 0) & (near.least[places] + log_odds > _OUT))
        if not asked.size:
            continue
        here, given = places[asked], between[asked, rank]
        factors, left = evidence.and_left(np.column_stack([one[asked], other[asked], given]))
        near.determined[here[(left < DETERMINED) & (factors < CLEAR)]] = True
        less = (factors < near.least[here]) & (left >= DETERMINED)
        near.least[here[less]] = factors[less]
        near.given[here[less]] = given[less]


def _by_strength(pairs: PairSet, possible: IntegerArray, least: FloatArray) -> list[IntegerArray]:
    """Of each column the others that it has one of these pairs with, the strongest first."""
    one, other, strength = pairs.one[possible], pairs.other[possible], least[possible]
    own, partner = np.concatenate([one, other]), np.concatenate([other, one])
    order = np.lexsort((partner, -np.concatenate([strength, strength]), own))
    ends = np.cumsum(np.bincount(own, minlength=pairs.columns))
    return np.split(partner[order], ends[:-1])


def _together(
    evidence: EdgeEvidence, alone: FloatArray, possible: dict[int, IntegerArray], log_odds: float
) -> dict[int, list[int]]:
    """Of some columns, the partners that explain them together, found one after the other, given those before.

    `possible` are the partners of each of these columns, in order.
    """
    values = evidence.values
    found = {column: [int(own[alone[column, own].argmax()])] for column, own in possible.items()}
    growing = set(possible)
    for count in range(1, _TOGETHER):
        tests = [
            np.column_stack([np.full(others.size, column), others, np.tile(found[column], (others.size, 1))])
            for column in sorted(growing)
            for others in [np.setdiff1d(possible[column], found[column])]
        ]
        asked = np.concatenate([np.zeros((0, count + 2), dtype=np.int64), *tests])
        asked = asked[values[asked].prod(axis=1, dtype=np.float64) <= evidence.most_cells]
        factors, left = evidence.and_left(asked)
        factors = np.where(left >= DETERMINED, factors, -np.inf)
        growing = set()
        for place in np.lexsort((factors, asked[:, 0])).tolist():  # the last of each column is its best
            column = int(asked[place, 0])
            if factors[place] + log_odds > 0.0:
                found[column] = [*found[column][:count], int(asked[place, 1])]
                growing.add(column)
    return found


def mediators(
    alone: FloatArray, one: IntegerArray, other: IntegerArray, log_odds: float, threads: int | None
) -> IntegerArray:
    """Of each pair the columns that depend on both, most first, -1 where there are fewer."""
    columns = len(alone)
    many = min(_MEDIATORS, max(columns - 2, 0))
    found = np.full((one.size, many), -1)
    step = max(_CELLS // max(columns, 1), 1)

    def look(start: int) -> None:
        u, v = one[start : start + step], other[start : start + step]
        both = np.minimum(alone[u], alone[v])
        pair = np.arange(u.size)
        both[pair, u] = both[pair, v] = -np.inf
        least = np.partition(both, -many, axis=1)[:, -many, np.newaxis]  # of those that may be among the first
        pair, column = np.nonzero((both >= least) & (both + log_odds > 0.0))
        order = np.lexsort((column, -both[pair, column], pair))
        pair, column = pair[order], column[order]
        rank = np.arange(pair.size) - np.searchsorted(pair, pair)
        first = rank < many
        found[start + pair[first], rank[first]] = column[first]

    share(look, range(0, one.size, step) if many else (), threads)
    return found
