"""The answer of `tree`: the rows as codes, and the tree that grows on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from credimi.core.arguments import require_whole
from credimi.counts.request import CountRequest
from credimi.counts.weights import on_weights
from credimi.questions.tree.growth import grow
from credimi.sources.codes import counter_of

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief
    from credimi.questions.tree.result import Tree

_READING_SHARE = 0.2  # of the whole progress


def grown(data: Data, target: Values, max_depth: int | None, reading: Reading, belief: Belief) -> Tree:
    """The answer to what `credimi.tree` takes."""
    if max_depth is not None:
        require_whole("max_depth", max_depth, 0)
    request = CountRequest.of(target, reading, progress=reading.part(0.0, _READING_SHARE).step("reading"))
    with counter_of(data, request, reading.scratch, uncut=True) as counter:
        tree = grow(
            counter.by_node(),
            epsilon=belief.epsilon,
            level=belief.level,
            max_depth=max_depth,
            threads=belief.threads,
            progress=reading.part(_READING_SHARE, 1.0).step("growing"),
        )
        return replace(tree, remarks=(*tree.remarks, *on_weights(counter)))
