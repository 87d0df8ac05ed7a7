"""Tests which of two filters predicts better: on the first k rows of one order, and over orders.

On the first k rows of an order, d_1 ... d_k are 1 if only the first filter was right, -1 if only the second was, and 0
otherwise. The paper's test is the two-tailed paired t test, for each k:

    t = mean / sqrt(variance/k),      variance = (sum d^2 - (sum d)^2/k)/(k - 1),      k - 1 degrees of freedom.

If the variance is 0, the test has no value, and is called not significant. It is made at every k, so one order has many
tests, and by chance alone some stretch is significant in far more than one order in twenty.

Over orders, the differences of two accuracies, one per order, make one t test in the same way. The orders are of the
same rows: the test tells whether the difference would hold in other orders of these rows, not on other data.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.distributions.beta_tails import student_below

if TYPE_CHECKING:
    from credimi.core.types import BooleanArray, FloatArray

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Difference:
    """One accuracy minus another, over orders: the mean, and the p-value of the two-tailed paired t test."""

    mean: float
    p_value: float

    @property
    def verdict(self) -> str:
        """In words: "better", "worse" or "no difference"."""
        if not self.p_value < LEVEL:
            return "no difference"
        return "better" if self.mean > 0.0 else "worse"


def of_first_rows(one: BooleanArray, other: BooleanArray) -> tuple[FloatArray, BooleanArray]:
    """Orders x rows: p-values on the first k rows, and where `one` is significantly ahead or behind."""
    difference = one.astype(np.int64) - other.astype(np.int64)
    rows = np.arange(1, one.shape[1] + 1)
    total, squares = np.cumsum(difference, axis=1), np.cumsum(difference * difference, axis=1)
    scatter = rows * squares - total * total  # k (k - 1) variance, in whole numbers, so that 0 is exact
    with np.errstate(divide="ignore", invalid="ignore"):
        t = total * np.sqrt((rows - 1) / scatter)
        t = np.where(scatter > 0, t, 0.0)
        p_value = 2.0 * student_below(np.maximum(rows - 1.0, 1.0), t)
    return np.asarray(p_value), np.asarray(p_value < LEVEL)


def over_orders(one: FloatArray, other: FloatArray) -> Difference:
    """The difference of accuracies, one per order; not significant if all orders differ by the same amount."""
    difference = one - other
    mean, count = float(difference.mean()), difference.size
    if count < 2 or np.ptp(difference) <= 1e-12:
        return Difference(mean, 1.0)
    t = mean / (difference.std(ddof=1) / np.sqrt(count))
    return Difference(mean, float(2.0 * student_below(np.array([count - 1.0]), np.array([t]))[0]))


def stretches(one: BooleanArray, other: BooleanArray) -> dict[str, float]:
    """The number of orders with a significant difference at some k, in each direction, and how many rows they span."""
    _, significant = of_first_rows(one, other)
    lead = np.cumsum(one.astype(np.int64) - other.astype(np.int64), axis=1)
    ahead, behind = significant & (lead > 0), significant & (lead < 0)
    return {
        "orders": int(one.shape[0]),
        "differ": int(significant.any(axis=1).sum()),
        "ahead": int(ahead.any(axis=1).sum()),
        "behind": int(behind.any(axis=1).sum()),
        "ahead_rows": float(ahead.sum(axis=1).mean()),
        "behind_rows": float(behind.sum(axis=1).mean()),
        "ahead_at_end": int(ahead[:, -1].sum()),
        "behind_at_end": int(behind[:, -1].sum()),
    }


def claim(one: BooleanArray, other: BooleanArray, first: int, last: int) -> dict[str, float]:
    """In how many orders `one` is significantly ahead at row `first`, and at all rows from `first` to `last`."""
    _, significant = of_first_rows(one, other)
    lead = np.cumsum(one.astype(np.int64) - other.astype(np.int64), axis=1)
    ahead = (significant & (lead > 0))[:, first - 1 : last]
    return {
        "first": first,
        "last": last,
        "orders": int(one.shape[0]),
        "at_first": int(ahead[:, 0].sum()),
        "somewhere": int(ahead.any(axis=1).sum()),
        "half": int((ahead.mean(axis=1) >= 0.5).sum()),
        "throughout": int(ahead.all(axis=1).sum()),
        "accuracy_one": float(one[:, :first].mean()),
        "accuracy_other": float(other[:, :first].mean()),
    }
