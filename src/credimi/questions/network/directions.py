"""A second opinion on arrows, from triples of columns.

Three columns x - y - w, of which x and w have no edge, are either a collider x -> y <- w, or y separates x and w. If
other columns Z separate x and w, the two hypotheses differ by one Bayes factor:

    collider(x, y, w) = log B(x; w | Z, y) - log B(x; w | Z)
                      = log B(y; x | Z, w) - log B(y; x | Z) ,

as adding x and w to y in either order leads to the same evidence.

The sampled networks compare whole sets of parents. A table of y and many causes has few rows in each cell. Then a
network with y -> x may win, although x is independent of the other causes of y, and depends on them given y. A triple
needs no such table. So an arrow may not be more probable than its triples say. For x -> y these are all w -> y that
have no edge to x, and, against it, all v -> x that have no edge to y:

    log odds(x -> y) <= sum over w of collider(x, y, w) - sum over v of collider(y, x, v) .

Arrows without such a triple follow from other arrows, and stay as they are. O(sum of squared degrees) tests. (With a
tolerance of 1 nat, some more true arrows are left in networks with few rows, but as many false ones where columns have
many causes.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.questions.network.edge_evidence import EdgeEvidence
    from credimi.questions.network.parent_sets import Separators

_EDGE = 0.5  # the probability from which a pair counts as an edge here


@dataclass(frozen=True, slots=True)
class _Triple:
    """cause -> end, and an edge between start and end, but none between start and cause.

    `pair` is the place of the edge among the pairs, and `way` the direction start -> end there: 0 if start is the first
    column of the pair, else 1.
    """

    pair: int
    way: int
    start: int
    end: int
    cause: int


def arrow_bounds(evidence: EdgeEvidence, separators: Separators, edges: FloatArray, forced: FloatArray) -> FloatArray:
    """Upper bounds for the probabilities of both directions of each pair, given that the pair has an edge.

    `edges` are the probabilities of edges, `forced` those of one -> other and other -> one.
    """
    bounds = np.ones_like(forced)
    triples = list(_triples(separators, edges, forced))
    if triples:
        log_odds, checked = np.zeros_like(forced), np.zeros(edges.size, dtype=bool)
        for triple, collider in zip(triples, _colliders(evidence, separators, triples).tolist(), strict=True):
            log_odds[triple.pair, triple.way] += collider
            log_odds[triple.pair, 1 - triple.way] -= collider
            checked[triple.pair] = True
        bounds[checked] = 1.0 / (1.0 + np.exp(-np.clip(log_odds[checked], -700.0, 700.0)))
    return bounds


def _triples(separators: Separators, edges: FloatArray, forced: FloatArray) -> Iterator[_Triple]:
    """All triples of the edges that are more probable than not."""
    pairs = separators.pairs
    directed: list[tuple[int, int, int, int]] = []
    for pair in np.flatnonzero(edges >= _EDGE).tolist():
        one, other = int(pairs.one[pair]), int(pairs.other[pair])
        directed += [(pair, 0, one, other), (pair, 1, other, one)]
    neighbours = {(start, end) for _, _, start, end in directed}
    causes: dict[int, list[int]] = {}
    for pair, way, start, end in directed:
        if forced[pair, way] > edges[pair] / 2.0:
            causes.setdefault(end, []).append(start)
    for pair, way, start, end in directed:
        for cause in causes.get(end, []):
            if cause != start and (cause, start) not in neighbours:
                yield _Triple(pair, way, start, end, cause)


def _colliders(evidence: EdgeEvidence, separators: Separators, triples: list[_Triple]) -> FloatArray:
    """collider(start, end, cause) of each triple; see above."""
    tests: IntegerArray = np.full((len(triples), 2, separators.given.shape[1] + 3), -1, dtype=np.int64)
    for test, triple in zip(tests, triples, strict=True):
        apart = sorted((triple.start, triple.cause))
        pair = separators.pairs.find(*apart)
        separating = [] if pair is None else separators.given[pair].tolist()
        given = [column for column in separating if column >= 0 and column != triple.end]
        cells = np.prod(evidence.values[[*apart, triple.end, *given]], dtype=np.float64)
        columns = [*apart, *(given if cells <= evidence.max_cells else [])]  # a larger table could not be believed
        test[:, : len(columns)] = columns
        test[1, len(columns)] = triple.end
    without, given_end = evidence.of(tests.reshape(-1, tests.shape[2])).reshape(-1, 2).T
    difference: FloatArray = given_end - without
    return difference
