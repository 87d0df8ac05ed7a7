"""Posterior figures of all columns of many nodes, computed in few batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.tables.many_tables import quick_beliefs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.core.types import BooleanArray, FloatArray
    from credimi.counts.nodes.node_counter import NodeTables
    from credimi.inference.belief import Belief

_MAX_CELLS = 1 << 22  # of the tables that are judged in one batch


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Posterior figures of the candidate columns of a node, one entry for each."""

    node_tables: NodeTables
    mean: FloatArray
    p_alone: FloatArray
    p_independent: FloatArray
    approximate: BooleanArray


def judged(nodes: Iterable[NodeTables], options: Belief) -> list[Judged]:
    """The posteriors of all tables of some nodes; the tables may come from an iterator that counts them on demand."""
    batch: list[NodeTables] = []
    result: list[Judged] = []
    cells = 0
    for node_tables in nodes:
        batch.append(node_tables)
        cells += node_tables.tables.flat.size
        if cells > _MAX_CELLS:
            result += _judge_batch(batch, options)
            batch, cells = [], 0
    return result + _judge_batch(batch, options)


def _judge_batch(batch: list[NodeTables], options: Belief) -> list[Judged]:
    ends = np.cumsum([node_tables.columns.size for node_tables in batch])
    if not ends.size or not ends[-1]:
        empty, unmarked = np.zeros(0), np.zeros(0, dtype=np.bool_)
        return [Judged(node_tables, empty, empty, empty, unmarked) for node_tables in batch]
    joined = Tables.joined([node_tables.tables for node_tables in batch])
    beliefs = quick_beliefs(joined, options)
    approximate = np.zeros(joined.rows.size, dtype=np.bool_) if beliefs.approximate is None else beliefs.approximate
    parts = [slice(end - node_tables.columns.size, end) for node_tables, end in zip(batch, ends.tolist(), strict=True)]
    return [
        Judged(node_tables, beliefs.mean[part], beliefs.p_above[part], beliefs.p_independent[part], approximate[part])
        for node_tables, part in zip(batch, parts, strict=True)
    ]
