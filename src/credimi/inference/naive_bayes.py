"""Naive Bayes from counts. Its formulas are here and nowhere else.

    log P(class i | row) = log P(i) + sum over the features seen of log P(value j | i)  + constant,
    P(i) = (n_i + b) / (n + r b),        P(j | i) = (n_ij + a) / (n_i+ + s a),

where n_i are the rows of class i, n_ij those of them that have the value j, n_i+ those in which the feature is seen, r
the number of classes, s the number of the feature's values, and a, b pseudo-counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray


def log_shares(totals: FloatArray, pseudo_count: float = 0.0) -> FloatArray:
    """log P(i), with the classes along the last axis."""
    smoothed = totals + pseudo_count
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(smoothed / smoothed.sum(axis=-1, keepdims=True)))


def log_value_shares(
    counts: FloatArray, seen: FloatArray, values: int | IntegerArray, pseudo_count: float
) -> FloatArray:
    """log P(j | i) from n_ij, n_i+ and s; P is 1/s if the feature was never seen and the pseudo-count is 0."""
    total = seen + values * pseudo_count
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(np.where(total > 0.0, (counts + pseudo_count) / total, 1.0 / values)))


def normalised(log_joint: FloatArray) -> FloatArray:
    """Log probabilities of the classes; if no class is possible, all are equally probable."""
    log_joint = np.where(np.isneginf(log_joint).all(axis=1, keepdims=True), 0.0, log_joint)
    highest = log_joint.max(axis=1, keepdims=True)
    return np.asarray(log_joint - highest - np.log(np.exp(log_joint - highest).sum(axis=1, keepdims=True)))
