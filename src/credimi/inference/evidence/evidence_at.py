"""log B_K of tables, each at one strength K; the weights of the adaptive prior are made from it.

`adaptive_weights` and `two_sided_weights` return P(independent) itself. Beyond odds of e^745 to 1 a double cannot hold
it, and it is 0. Its logarithm follows from the weight of one K and its log B_K, however small it is (see
`credimi.inference.evidence.adaptive_prior.log_odds_of_dependence`).
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NumberArray, compiled
from credimi.core.table_patterns import BOTH, pattern_of
from credimi.inference.evidence.adaptive_weights import LANES, fill_scores, grid_ratio, grid_size, shares
from credimi.inference.evidence.two_sided_weights import load_component, margins_evidence
from credimi.inference.mode.find import find_mode
from credimi.inference.moments.information_matrix import workspace


@compiled
def log_evidence_at(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    smoothing: float,
    strength: FloatArray,
    log_evidence: FloatArray,
) -> None:
    """Fill log B_K of each table, relative to independence; K is its `strength`."""
    side, cells = 1, 1
    for table in range(offsets.size):
        side = max(side, rows[table], columns[table])
        cells = max(cells, rows[table] * columns[table])
    margins, terms, lanes = np.empty((4, side)), np.empty((3, cells + 2 * side + 1)), np.empty((4, LANES))
    r, s = rows[:0].size, columns[:0].size  # 0, but not a literal: Numba would compile `workspace` once more
    work = workspace(r, s)
    for table in range(offsets.size):
        height, width, start = rows[table], columns[table], offsets[table]
        total = shares(flat, start, height, width, smoothing, margins[0], margins[1], margins[2], margins[3])
        lanes[0, :] = strength[table]
        fill_scores(flat, start, height, width, total, margins, terms, lanes)
        log_evidence[table] = lanes[1, 0]
        if pattern_of(flat, start, height, width) != BOTH:
            continue
        work = load_component(work, flat, start, height, width, strength[table], margins)
        find_mode(work)
        log_evidence[table] += margins_evidence(work)


@compiled
def log_prior_of_points(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    smoothing: float,
    loosest: float,
    tightest: float,
    strengths: FloatArray,
    log_prior: FloatArray,
) -> None:
    """Fill the logarithm of the prior weight, given dependence, of a point of each table's grid.

    The points of a grid that was made finer represent shorter intervals of log K.
    """
    side = 1
    for table in range(offsets.size):
        side = max(side, rows[table], columns[table])
    margins = np.empty((4, side))
    for table in range(offsets.size):
        r, s = rows[table], columns[table]
        total = shares(flat, offsets[table], r, s, smoothing, margins[0], margins[1], margins[2], margins[3])
        points = grid_size((r - 1) * (s - 1), strengths.shape[1])
        coarse = np.log(grid_ratio(loosest, tightest, total, r, s, points))
        fine = np.log(strengths[table, 1] / strengths[table, 0])
        log_prior[table] = np.log(min(fine / coarse, 1.0) / points)
