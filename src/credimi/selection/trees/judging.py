"""What is believed of the columns of many nodes, computed in few batches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.batched.many_tables import quick_beliefs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.core.types import FloatArray
    from credimi.counting.rows.tree_rows import NodeTables
    from credimi.inference.options import PosteriorOptions

_MOST_CELLS = 1 << 22  # of the tables that are judged in one batch


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """What is believed of the columns of a node, one entry for each candidate."""

    found: NodeTables
    mean: FloatArray
    p_alone: FloatArray
    p_independent: FloatArray


def judged(nodes: Iterable[NodeTables], options: PosteriorOptions) -> list[Judged]:
    """The posteriors of all tables of some nodes, which are counted while they are asked for."""
    waiting: list[NodeTables] = []
    done: list[Judged] = []
    cells = 0
    for found in nodes:
        waiting.append(found)
        cells += found.tables.flat.size
        if cells > _MOST_CELLS:
            done += _batch(waiting, options)
            waiting, cells = [], 0
    return done + _batch(waiting, options)


def _batch(waiting: list[NodeTables], options: PosteriorOptions) -> list[Judged]:
    ends = np.cumsum([found.columns.size for found in waiting])
    if not ends.size or not ends[-1]:
        return [Judged(found, np.zeros(0), np.zeros(0), np.zeros(0)) for found in waiting]
    tables = [found.tables for found in waiting]
    joined = Tables(
        np.concatenate([each.flat for each in tables]),
        np.concatenate([each.rows for each in tables]),
        np.concatenate([each.columns for each in tables]),
        np.concatenate([each.odds for each in tables if each.odds is not None]),
    )
    believed = quick_beliefs(joined, options)
    parts = [slice(end - found.columns.size, end) for found, end in zip(waiting, ends.tolist(), strict=True)]
    return [
        Judged(found, believed.mean[own], believed.p_above[own], believed.p_independent[own])
        for found, own in zip(waiting, parts, strict=True)
    ]
