"""Probabilities of edges and directions, averaged over networks: several walks over the orders of the columns.

Walks that end far below the best found no better place: they are left out (see `kernels.networks.order_samples`).
`learn` then lowers probabilities of edges that could not be tested well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.kernels.networks import order_samples

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.selection.networks.pair_set import PairSet
    from credimi.selection.networks.parent_sets import ParentSets

WALKS = 4
_STEPS_A_COLUMN = 600
_FEWEST_STEPS = 6_000
_RECORDS = 200  # of each walk
_BEHIND = 12.0  # log evidence below the best walk


@dataclass(frozen=True, slots=True, eq=False)
class Sampled:
    """`candidates[b]` are the possible parents of b, -1 where there are fewer; `arcs`, laid out alike, has P(a -> b).

    `forced` is the part of it in which no other direction has the same independencies. `parents` are those of one
    network that was drawn, of each column; `agree` says how many walks count.
    """

    candidates: IntegerArray
    arcs: FloatArray
    forced: FloatArray
    parents: tuple[IntegerArray, ...]
    agree: int

    def of_pairs(self, pairs: PairSet, figures: FloatArray) -> FloatArray:
        """Of each pair (one, other) the figure of one -> other and of other -> one, from `arcs` or `forced`."""
        found = np.zeros((len(pairs), 2))
        child, bit = np.nonzero(self.candidates >= 0)
        parent = self.candidates[child, bit]
        found[pairs.places(parent, child), (parent > child).astype(np.int64)] = figures[child, bit]
        return found


def sampled(
    sets: list[ParentSets], log_odds: float, *, seed: int, effort: float = 1.0, threads: int | None = None
) -> Sampled:
    """Networks of these sets of parents, each parent with these prior odds."""
    columns, most = len(sets), max((each.candidates.size for each in sets), default=0)
    candidates = np.full((columns, max(most, 1)), -1, dtype=np.int64)
    for column, own in enumerate(sets):
        candidates[column, : own.candidates.size] = own.candidates
    who, bits = np.nonzero(candidates >= 0)
    held = candidates[who, bits]
    order = np.argsort(held, kind="stable")
    holders = who[order].astype(np.int64)
    holder_starts = np.concatenate([[0], np.cumsum(np.bincount(held, minlength=columns))]).astype(np.int64)
    arrays = [each.arrays(log_odds) for each in sets]
    starts = np.concatenate([[0], np.cumsum([masks.size for masks, _ in arrays])]).astype(np.int64)
    masks = np.concatenate([masks for masks, _ in arrays])
    scores = np.concatenate([scores for _, scores in arrays])
    steps = int(effort * max(_STEPS_A_COLUMN * columns, _FEWEST_STEPS))
    arcs, forced = np.zeros((2, WALKS, *candidates.shape))
    totals, drawn = np.zeros((WALKS, _RECORDS)), np.zeros((WALKS, columns), dtype=np.int64)

    def walk(number: int) -> None:
        generator = np.random.default_rng([seed, number])
        state = generator.integers(1 << 63, size=1, dtype=np.uint64)
        order_samples.sample_orders(
            *(candidates, holder_starts, holders, starts, masks, scores, generator.permutation(columns)),
            *(2 * steps, steps, max(steps // _RECORDS, 1), state),
            *(arcs[number], forced[number], totals[number], drawn[number]),
        )

    share(walk, range(WALKS), threads)
    heights = totals.mean(axis=1)
    best = int(heights.argmax())
    good = heights > heights[best] - _BEHIND
    parents = tuple(
        own.candidates[[place for place in range(own.candidates.size) if mask >> place & 1]]
        for own, mask in zip(sets, drawn[best].tolist(), strict=True)
    )
    return Sampled(candidates, arcs[good].mean(axis=0), forced[good].mean(axis=0), parents, int(good.sum()))
