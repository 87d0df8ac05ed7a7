"""The answer of `tree`: the rows as codes, and the tree that grows on them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from credimi.core.arguments import require_whole
from credimi.core.errors import CredimiError
from credimi.counts.request import CountRequest
from credimi.counts.rows.node_counter import node_counter
from credimi.counts.weights import on_weights
from credimi.questions.tree.growth import grow
from credimi.sources.codes import encoded_table
from credimi.sources.count import require_rows_here

if TYPE_CHECKING:
    from credimi.core.types import Data, Values
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief
    from credimi.questions.tree.result import Tree


def grown(data: Data, target: Values, max_depth: int | None, reading: Reading, belief: Belief) -> Tree:
    """The answer to what `credimi.tree` takes."""
    if max_depth is not None:
        require_whole("max_depth", max_depth, 0)
    require_rows_here(data)
    table = encoded_table(data, CountRequest.of(target, reading))
    if not table.counts.rows:
        raise CredimiError(f"there are no rows: nothing can be said about {table.counts.target!r}")
    counter = node_counter(table, belief.threads)
    tree = grow(
        counter,
        epsilon=belief.epsilon,
        level=belief.level,
        max_depth=max_depth,
        threads=belief.threads,
        progress=reading.step("growing"),
    )
    return replace(tree, remarks=(*tree.remarks, *on_weights(counter.codes)))
