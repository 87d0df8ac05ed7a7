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

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.inference.conditional.edge_evidence import EdgeEvidence

_OUT = -4.0  # log odds of an edge, below which a pair is no candidate
_MEDIATORS = 10  # columns that are tried as separators of a pair
DETERMINED = 0.1  # of the entropy left: less tells nothing
CLEAR = 1.0  # nats: a log Bayes factor of dependence
_PAIRS = 4096  # whose mediators are looked for at once
_TOGETHER = 5  # partners that explain a column together, at most


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Of each column its possible neighbours, strongest first; `alone` is the log Bayes factor of every pair.

    `least` is the least of a pair's log Bayes factors so far, and `given` the column that was given there, or -1.
    `determined` says of which pairs a column, once given, leaves next to nothing of one of the two, and no clear
    dependence; `untried` of which a separating column has too many values.
    """

    partners: tuple[IntegerArray, ...]
    alone: FloatArray
    least: FloatArray
    given: IntegerArray
    determined: BooleanArray
    untried: BooleanArray


def pairs_alone(evidence: EdgeEvidence) -> FloatArray:
    """The log Bayes factor of each pair, as a symmetric matrix."""
    one, other = np.triu_indices(evidence.columns, 1)
    alone = np.zeros((evidence.columns, evidence.columns))
    alone[one, other] = alone[other, one] = evidence.of(np.column_stack([one, other]))
    return alone


def candidates(evidence: EdgeEvidence, log_odds: float, most: int) -> Candidates:
    """The possible neighbours of each column, at most `most`."""
    alone = pairs_alone(evidence)
    one, other = np.triu_indices(evidence.columns, 1)
    least, given = alone.copy(), np.full(alone.shape, -1)
    alive = alone[one, other] + log_odds > _OUT
    one, other = one[alive], other[alive]
    mediators = _mediators(alone, one, other, log_odds)
    values = evidence.values
    cells = (values[one] * values[other])[:, np.newaxis] * np.where(mediators >= 0, values[mediators], 0)
    large = cells > evidence.most_cells
    strong = np.minimum(alone[one[:, np.newaxis], mediators], alone[other[:, np.newaxis], mediators])
    determined, untried = np.zeros((2, *alone.shape), dtype=bool)
    untried[one, other] = untried[other, one] = (large & (strong > alone[one, other][:, np.newaxis])).any(axis=1)
    mediators[large] = -1
    for rank in range(mediators.shape[1]):
        asked = np.flatnonzero((mediators[:, rank] >= 0) & (least[one, other] + log_odds > _OUT))
        if not asked.size:
            continue
        u, v, z = one[asked], other[asked], mediators[asked, rank]
        found, left = evidence.and_left(np.column_stack([u, v, z]))
        known = (left < DETERMINED) & (found < CLEAR)
        determined[u[known], v[known]] = determined[v[known], u[known]] = True
        less = (found < least[u, v]) & (left >= DETERMINED)
        u, v, z, found = u[less], v[less], z[less], found[less]
        least[u, v] = least[v, u] = found
        given[u, v] = given[v, u] = z
    possible = least + log_odds > _OUT
    np.fill_diagonal(possible, val=False)
    crowded = np.flatnonzero(possible.sum(axis=1) > most)
    together = _together(evidence, alone, possible, crowded.tolist(), log_odds)
    partners = []
    for column in range(evidence.columns):
        first = np.array(together.get(column, []), dtype=np.int64)
        order = np.argsort(-least[column], kind="stable")
        order = order[possible[column, order] & ~np.isin(order, first)]
        partners.append(np.concatenate([first, order])[:most])
    return Candidates(tuple(partners), alone, least, given, determined, untried)


def _together(
    evidence: EdgeEvidence, alone: FloatArray, possible: BooleanArray, columns: list[int], log_odds: float
) -> dict[int, list[int]]:
    """Of some columns, the partners that explain them together, found one after the other, given those before."""
    values = evidence.values
    found = {column: [int(np.where(possible[column], alone[column], -np.inf).argmax())] for column in columns}
    growing = set(columns)
    for count in range(1, _TOGETHER):
        tests = [
            np.column_stack([np.full(others.size, column), others, np.tile(found[column], (others.size, 1))])
            for column in sorted(growing)
            for others in [np.setdiff1d(np.flatnonzero(possible[column]), found[column])]
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


def _mediators(alone: FloatArray, one: IntegerArray, other: IntegerArray, log_odds: float) -> IntegerArray:
    """Of each pair the columns that depend on both, most first, -1 where there are fewer."""
    many = min(_MEDIATORS, max(alone.shape[0] - 2, 0))
    found = np.full((one.size, many), -1)
    for start in range(0, one.size, _PAIRS):
        part = slice(start, start + _PAIRS)
        u, v = one[part], other[part]
        both = np.minimum(alone[u], alone[v])
        each = np.arange(u.size)
        both[each, u] = both[each, v] = -np.inf
        order = np.argsort(-both, axis=1, kind="stable")[:, :many]
        depends = both[each[:, np.newaxis], order] + log_odds > 0.0
        found[part] = np.where(depends, order, -1)
    return found
