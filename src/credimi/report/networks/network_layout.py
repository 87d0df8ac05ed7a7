"""Where the columns of a network are drawn: forces between them, always the same for the same network.

Fruchterman and Reingold 1991: columns repel each other, edges pull, gravity holds parts together, and the steps get
smaller. O(p^2) a step; columns without edges are put in rows below the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray, IntegerArray

    Places = FloatArray

_STEPS = 250
_GRAVITY = 0.1
_ROW = 1.5  # from one row of columns without edges to the next: names lie above and below them


def places(count: int, edges: Sequence[tuple[int, int, float]]) -> Places:
    """Of each column x and y, with a distance of about 1 between neighbours; edges have ends and a weight up to 1."""
    found = np.zeros((count, 2))
    ends = np.array([(a, b) for a, b, _ in edges], dtype=np.int64).reshape(-1, 2)
    joined = np.unique(ends)
    if joined.size:
        own = np.searchsorted(joined, ends)
        weights = np.array([weight for *_, weight in edges])
        found[joined] = _relaxed(joined.size, own, weights)
    alone = np.setdiff1d(np.arange(count), joined)
    if alone.size:
        low, high = (found[joined, 0].min(), found[joined, 0].max()) if joined.size else (0.0, 0.0)
        across = max(int(np.ceil(np.sqrt(2.0 * alone.size))), int(high - low) + 1)
        bottom = found[joined, 1].max() + 1.0 if joined.size else 0.0
        order = np.arange(alone.size)
        found[alone] = np.column_stack([low + order % across, bottom + _ROW * (order // across)])
    return found


def _relaxed(count: int, ends: IntegerArray, weights: Places) -> Places:
    generator = np.random.default_rng(0)
    side = np.sqrt(count)
    angle = np.arange(count) * 2.399963  # a sunflower: no two in one place
    radius = 0.6 * np.sqrt(np.arange(count) + 0.5)
    where = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + generator.normal(0.0, 0.01, (count, 2))
    pull = 0.3 + 0.7 * weights
    for step in range(_STEPS):
        apart = where[:, np.newaxis, :] - where[np.newaxis, :, :]
        square = np.maximum((apart**2).sum(axis=2), 1e-4)
        force = (apart / square[:, :, np.newaxis]).sum(axis=1)
        along = where[ends[:, 0]] - where[ends[:, 1]]
        drawn = along * (np.linalg.norm(along, axis=1) * pull)[:, np.newaxis]
        np.add.at(force, ends[:, 0], -drawn)
        np.add.at(force, ends[:, 1], drawn)
        force -= _GRAVITY * where * np.sqrt(side)
        size = np.maximum(np.linalg.norm(force, axis=1, keepdims=True), 1e-9)
        most = 0.25 * side * (1.0 - step / _STEPS) ** 1.5 + 0.002
        where = where + force / size * np.minimum(size, most)
    return where
