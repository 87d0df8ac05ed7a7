"""The paper's filters: from what is believed of I to the decision whether a feature stays.

    plugin (F)      keeps a feature if I, taken at the most probable chances, exceeds epsilon
    forward (FF)    keeps it if P(I > epsilon) >= level: only what is surely informative
    backward (BF)   drops it if P(I <= epsilon) >= level: only what is surely not

Between the last two lie the features of which the data do not say enough. These look at each feature alone; of many
features, one in twenty of those just kept may be wrong. Beyond the paper:

    fdr             keeps the largest set of which, by the posteriors, at most a share `fdr` is expected to have
                    I <= epsilon: the features in order of P(I > epsilon), as long as the mean of P(I <= epsilon) over
                    those kept does not exceed it (the Bayesian false-discovery rate)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.errors import CredimiError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Decisions = NDArray[np.bool_]

RULES = ("plugin", "forward", "backward", "fdr")


def plugin(information_at_mode: FloatArray, epsilon: float) -> Decisions:
    """Which features the filter F keeps."""
    return information_at_mode > epsilon


def forward(p_above: FloatArray, level: float) -> Decisions:
    """Which features the filter FF keeps, from P(I > epsilon)."""
    return p_above >= level


def backward(p_above: FloatArray, level: float) -> Decisions:
    """Which features the filter BF keeps, from P(I > epsilon)."""
    return 1.0 - p_above < level


def false_discovery(p_above: FloatArray, fdr: float) -> Decisions:
    """Which features are kept if at most a share `fdr` of them is expected not to exceed epsilon; NaN is never kept."""
    doubt = np.where(np.isnan(p_above), np.inf, 1.0 - p_above)
    order = np.argsort(doubt, kind="stable")
    shares = np.cumsum(doubt[order]) / np.arange(1, doubt.size + 1)
    kept = np.zeros(doubt.size, dtype=bool)
    kept[order[: np.searchsorted(shares, fdr, side="right")]] = True  # the shares grow, as the doubts do
    return kept


def checked_rule(rule: str) -> str:
    """The rule, if it is one."""
    if rule not in RULES:
        raise CredimiError(f"unknown rule {rule!r}: choose one of {', '.join(RULES)}")
    return rule
