"""The mean of the evidence over the grid of K, from its logarithms; and the step to a finer grid."""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, inlined
from credimi.inference.evidence.adaptive_weights import zoom_in


@inlined
def finer_grid(lanes: FloatArray, points: int, ratio: float, log_point: float) -> tuple[float, float, float]:
    """A finer grid around the largest evidence: its first strength, its ratio, and the log of a point's weight."""
    least, finer = zoom_in(lanes[0], lanes[1], points)
    return least, finer, log_point + np.log(np.log(finer) / np.log(ratio))


@inlined
def log_mean(evidence: FloatArray, points: int, log_point: float) -> float:
    """log of the mean of exp(evidence) over the first points; `log_point` is the logarithm of a point's weight."""
    largest = evidence[0]
    for point in range(1, points):
        largest = max(largest, evidence[point])
    total = 0.0
    for point in range(points):
        total += np.exp(evidence[point] - largest)
    result: float = largest + np.log(total) + log_point
    return result
