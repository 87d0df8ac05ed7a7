"""The paper's filters: from what is believed of I to the decision whether a feature stays.

    plugin (F)      keeps a feature if I, taken at the most probable chances, exceeds epsilon
    forward (FF)    keeps it if P(I > epsilon) >= level: only what is surely informative
    backward (BF)   drops it if P(I <= epsilon) >= level: only what is surely not

Between the last two lie the features of which the data do not say enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.errors import CredimiError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    Decisions = NDArray[np.bool_]

RULES = ("plugin", "forward", "backward")


def plugin(information_at_mode: FloatArray, epsilon: float) -> Decisions:
    """Which features the filter F keeps."""
    return information_at_mode > epsilon


def forward(p_above: FloatArray, level: float) -> Decisions:
    """Which features the filter FF keeps, from P(I > epsilon)."""
    return p_above >= level


def backward(p_above: FloatArray, level: float) -> Decisions:
    """Which features the filter BF keeps, from P(I > epsilon)."""
    return 1.0 - p_above < level


def checked_rule(rule: str) -> str:
    """The rule, if it is one."""
    if rule not in RULES:
        raise CredimiError(f"unknown rule {rule!r}: choose one of {', '.join(RULES)}")
    return rule
