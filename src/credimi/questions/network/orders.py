"""Probabilities of edges and directions, averaged over networks: several random walks over the orders of the columns.

Walks that end with far less evidence than the best one are stuck and are left out (see
`questions.network.order_samples`). `learn` then lowers the probabilities of edges that could not be tested well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.questions.network import order_samples

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.questions.network.pair_set import PairSet
    from credimi.questions.network.parent_sets import ParentSets

WALKS = 4
_STEPS_PER_COLUMN = 600
_MIN_STEPS = 6_000
_RECORDS_PER_WALK = 200
_MAX_DEFICIT = 12.0  # log evidence: a walk further below the best walk is left out


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """`candidates[b]` are the possible parents a of column b, padded with -1; `arcs`, of the same shape, has P(a -> b).

    `forced` is the part of this probability from networks in which no other direction has the same independencies.
    `parents` has the parents of each column in one network that was drawn; `agree` is the number of walks in use.
    """

    candidates: IntegerArray
    arcs: FloatArray
    forced: FloatArray
    parents: tuple[IntegerArray, ...]
    agree: int

    def of_pairs(self, pairs: PairSet, figures: FloatArray) -> FloatArray:
        """For each pair (one, other): the figure of one -> other and that of other -> one, from `arcs` or `forced`."""
        result = np.zeros((len(pairs), 2))
        child, bit = np.nonzero(self.candidates >= 0)
        parent = self.candidates[child, bit]
        result[pairs.index_of(parent, child), (parent > child).astype(np.int64)] = figures[child, bit]
        return result


def sampled(
    sets: list[ParentSets], log_odds: float, *, seed: int, effort: float = 1.0, threads: int | None = None
) -> Sampled:
    """Sample networks from these sets of parents; `log_odds` are the prior log odds of each parent."""
    columns, max_candidates = len(sets), max((column_sets.candidates.size for column_sets in sets), default=0)
    candidates = np.full((columns, max(max_candidates, 1)), -1, dtype=np.int64)
    for column, column_sets in enumerate(sets):
        candidates[column, : column_sets.candidates.size] = column_sets.candidates
    child, position = np.nonzero(candidates >= 0)
    parent = candidates[child, position]
    order = np.argsort(parent, kind="stable")
    holders = child[order].astype(np.int64)
    holder_starts = np.concatenate([[0], np.cumsum(np.bincount(parent, minlength=columns))]).astype(np.int64)
    arrays = [column_sets.arrays(log_odds) for column_sets in sets]
    starts = np.concatenate([[0], np.cumsum([masks.size for masks, _ in arrays])]).astype(np.int64)
    masks = np.concatenate([masks for masks, _ in arrays])
    scores = np.concatenate([scores for _, scores in arrays])
    steps = int(effort * max(_STEPS_PER_COLUMN * columns, _MIN_STEPS))
    arcs, forced = np.zeros((2, WALKS, *candidates.shape))
    evidence, drawn_masks = np.zeros((WALKS, _RECORDS_PER_WALK)), np.zeros((WALKS, columns), dtype=np.int64)

    def walk(number: int) -> None:
        generator = np.random.default_rng([seed, number])
        state = generator.integers(1 << 63, size=1, dtype=np.uint64)
        order_samples.sample_orders(
            *(candidates, holder_starts, holders, starts, masks, scores, generator.permutation(columns)),
            *(2 * steps, steps, max(steps // _RECORDS_PER_WALK, 1), state),
            *(arcs[number], forced[number], evidence[number], drawn_masks[number]),
        )

    share(walk, range(WALKS), threads)
    mean_evidence = evidence.mean(axis=1)
    best = int(mean_evidence.argmax())
    good = mean_evidence > mean_evidence[best] - _MAX_DEFICIT
    parents = tuple(
        column_sets.candidates[[position for position in range(column_sets.candidates.size) if mask >> position & 1]]
        for column_sets, mask in zip(sets, drawn_masks[best].tolist(), strict=True)
    )
    return Sampled(candidates, arcs[good].mean(axis=0), forced[good].mean(axis=0), parents, int(good.sum()))
