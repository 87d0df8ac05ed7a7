"""Where the columns of a network are drawn: forces between them, always the same for the same network.

Fruchterman and Reingold 1991: columns repel each other, edges pull, gravity holds parts together, and the steps get
smaller. O(p^2) for each step. Columns without edges are put in rows below the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.version import __version__
from credimi.results.page import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray, IntegerArray, Record, Value

    Positions = FloatArray

_SCRIPTS = ("network_matrix.js", "network.js")
_MAX_NAME_CHARACTERS = 200
_STEPS = 250
_GRAVITY = 0.1
_ROW_DISTANCE = 1.5  # between rows of columns without edges: names are above and below them


def column_positions(count: int, edges: Sequence[tuple[int, int, float]]) -> Positions:
    """x and y of each column, with a distance of about 1 between neighbours. Edges have ends and a weight up to 1."""
    positions = np.zeros((count, 2))
    ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64).reshape(-1, 2)
    joined = np.unique(ends)
    if joined.size:
        joined_ends = np.searchsorted(joined, ends)
        weights = np.array([weight for *_, weight in edges])
        positions[joined] = _relaxed(joined.size, joined_ends, weights)
    alone = np.setdiff1d(np.arange(count), joined)
    if alone.size:
        low, high = (positions[joined, 0].min(), positions[joined, 0].max()) if joined.size else (0.0, 0.0)
        per_row = max(int(np.ceil(np.sqrt(2.0 * alone.size))), int(high - low) + 1)
        bottom = positions[joined, 1].max() + 1.0 if joined.size else 0.0
        order = np.arange(alone.size)
        positions[alone] = np.column_stack([low + order % per_row, bottom + _ROW_DISTANCE * (order // per_row)])
    return positions


def _relaxed(count: int, ends: IntegerArray, weights: FloatArray) -> Positions:
    """The positions of columns with edges, after all steps of the simulation."""
    generator = np.random.default_rng(0)
    side = np.sqrt(count)
    angle = np.arange(count) * 2.399963  # a sunflower: no two columns at the same point
    radius = 0.6 * np.sqrt(np.arange(count) + 0.5)
    positions = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + generator.normal(
        0.0, 0.01, (count, 2)
    )
    pull = 0.3 + 0.7 * weights
    for step in range(_STEPS):
        differences = positions[:, np.newaxis, :] - positions[np.newaxis, :, :]
        square_distances = np.maximum((differences**2).sum(axis=2), 1e-4)
        force = (differences / square_distances[:, :, np.newaxis]).sum(axis=1)
        edge_vectors = positions[ends[:, 0]] - positions[ends[:, 1]]
        pulls = edge_vectors * (np.linalg.norm(edge_vectors, axis=1) * pull)[:, np.newaxis]
        np.add.at(force, ends[:, 0], -pulls)
        np.add.at(force, ends[:, 1], pulls)
        force -= _GRAVITY * positions * np.sqrt(side)
        force_size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        max_step = 0.25 * side * (1.0 - step / _STEPS) ** 1.5 + 0.002
        positions = positions + force / force_size * np.minimum(force_size, max_step)
    return positions


def graph_page(
    words: Record, columns: Sequence[str], drawn: Sequence[Record], *, largest: float, **facts: Value
) -> str:
    """The page that draws columns and their links; `drawn` are the links that decide where columns are.

    The largest information is `largest`; `facts` are all else that the script reads.
    """
    place_of = {name: place for place, name in enumerate(columns)}
    weighted = [(place_of[row["a"]], place_of[row["b"]], (row["mi"] / (largest or 1.0)) ** 0.5) for row in drawn]
    data = {
        "title": words["heading"],
        "words": words,
        "version": f"credimi {__version__}",
        "columns": [
            name if len(name) <= _MAX_NAME_CHARACTERS else f"{name[:_MAX_NAME_CHARACTERS]}…" for name in columns
        ],
        "places": [[round(float(x), 3), round(float(y), 3)] for x, y in column_positions(len(columns), weighted)],
    }
    return filled("network.html", ("page.css", "network.css"), _SCRIPTS, data | facts)
