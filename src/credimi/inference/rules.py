"""The rules F, FF, BF, fdr and informative: from the posterior of I to the decision whether a feature is kept.

    plugin (F)      keeps a feature if I, at the most probable cell probabilities, exceeds epsilon
    forward (FF)    keeps it if P(I > epsilon) >= level: only what is surely informative
    backward (BF)   drops it if P(I <= epsilon) >= level: only what is surely not

A feature that backward keeps and forward does not is unsure. These three rules judge each feature alone; with many
features, one in twenty of those just kept may be wrong. Beyond the paper:

    fdr             keeps the largest set of which, by the posteriors, at most a share `fdr` is expected to have
                    I <= epsilon: the features in order of P(I > epsilon), as long as the mean of P(I <= epsilon) over
                    those kept does not exceed it (the Bayesian false-discovery rate); of equal ones all or none
    informative     keeps a feature unless it is more probably independent of the target than not, P(I > 0) >= 1/2:
                    no claim, but what predicts best

Each posterior starts from even odds that its feature is independent of the target. If nearly all of thousands of
features are independent, even odds are far too optimistic: with 5,000 columns of noise a few look good by chance. The
rules fdr and informative estimate the odds from all features together. If q_k is P(independent | data) from even odds,
the share s of independent features has the likelihood prod_k [s q_k + (1 - s)(1 - q_k)]. s is chosen where this times
s (1 - s) is largest, but not below 1/2, as too few independent features do less harm. From such odds P(independent) is
s q/(s q + (1 - s)(1 - q)), and P(I > epsilon) changes in proportion to 1 - P(independent). Without an atom (fixed
pseudo-counts) q = 0, and nothing changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import BooleanArray, FloatArray
    from credimi.inference.belief import Belief
    from credimi.inference.tables.many_tables import Beliefs

    Decisions = BooleanArray

RULES = ("plugin", "forward", "backward", "fdr", "informative")
AS_IN_THE_PAPER = {"F": "plugin", "FF": "forward", "BF": "backward"}
NEEDS_INDEPENDENCE = (
    "the rule informative needs P(independent), which only the adaptive prior has: leave out prior and method, or name "
    "another rule (--rule)"
)
CREDIBLE = 0.95  # a probability from which on something is sure, where no level is asked for
EVEN = 0.5  # what is more probable than not; also the largest share of dependent features that is assumed
_RELATIVE_WIDTH = 1e-13
_MAX_ROUNDING = 1e-9  # probabilities of equal tables differ by less, whatever the order of their sums


def decide(rule: str, beliefs: Beliefs, options: Belief) -> Decisions:
    """Mask of the features that the rule keeps; features with NaN (nothing is known) are never kept."""
    rule = checked_rule(rule)
    if rule == "plugin":
        return plugin(beliefs.at_mode, options.nats)
    if rule == "fdr":
        return false_discovery(beliefs.p_above, options.fdr, beliefs.p_independent)
    if rule == "informative":
        return informative(beliefs.p_independent)
    return (forward if rule == "forward" else backward)(beliefs.p_above, options.level)


def check_k(k: object, features: int) -> None:
    """Refuse what cannot be a number of features to keep."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= features:
        raise CredimiError(f"k is {k!r}: it must be a whole number from 1 to {features}, the number of features")


def best(k: int, mean: FloatArray, p_above: FloatArray) -> Decisions:
    """Mask of the k best by P(I > epsilon), then by E[I]; NaN comes last, and ties are in the order of the data."""
    size = mean.size
    p_above, mean = (np.nan_to_num(figures, nan=-1.0) for figures in (p_above, mean))
    kept = np.zeros(size, dtype=bool)
    kept[np.lexsort((np.arange(size), -mean, -p_above))[:k]] = True
    return kept


def filled(kept: Decisions, min_features: int, mean: FloatArray, p_above: FloatArray) -> Decisions:
    """Mask of the features that are kept, and of the best others until there are `min_features`, or no others."""
    lacking = min_features - int(np.count_nonzero(kept))
    if lacking <= 0:
        return kept
    others = ~kept
    kept = kept.copy()
    kept[others] = best(lacking, mean[others], p_above[others])
    return kept


def plugin(information_at_mode: FloatArray, epsilon: float) -> Decisions:
    """Mask of the features that the filter F keeps."""
    return information_at_mode > epsilon


def forward(p_above: FloatArray, level: float) -> Decisions:
    """Mask of the features that the filter FF keeps, from P(I > epsilon)."""
    return p_above >= level


def backward(p_above: FloatArray, level: float) -> Decisions:
    """Mask of the features that the filter BF keeps, from P(I > epsilon)."""
    return 1.0 - p_above < level


def unsure(p_above: FloatArray, level: float) -> Decisions:
    """Mask of the unsure features: backward keeps them, and forward does not."""
    return backward(p_above, level) & ~forward(p_above, level)


def false_discovery(p_above: FloatArray, fdr: float, p_independent: FloatArray | None = None) -> Decisions:
    """Mask of the kept features, if at most a share `fdr` of them is expected not to exceed epsilon; NaN is never kept.

    `p_independent` is NaN for features that do not count for the share of independent features.
    """
    if p_independent is not None:
        p_above = from_common_odds(p_above, p_independent)
    doubt = np.where(np.isnan(p_above), np.inf, 1.0 - p_above)
    order = np.argsort(doubt, kind="stable")
    shares = np.cumsum(doubt[order]) / np.arange(1, doubt.size + 1)
    count = int(np.searchsorted(shares, fdr, side="right"))  # the shares increase, as the doubts do
    kept = np.zeros(doubt.size, dtype=bool)
    kept[order[:count]] = True
    if count < doubt.size:  # what is as doubtful as the first that is left out is left out as well
        kept &= doubt < doubt[order[count]] - _MAX_ROUNDING
    return kept


def informative(p_independent: FloatArray) -> Decisions:
    """Mask of the features that are not more probably independent than not; NaN is never kept."""
    return from_common_odds(1.0 - p_independent, p_independent) >= EVEN


def from_common_odds(p_above: FloatArray, p_independent: FloatArray) -> FloatArray:
    """P(I > epsilon) with the prior share of independent features that is learned from all features together."""
    return from_share(p_above, p_independent, share_of_independent(p_independent))


def from_share(p_above: FloatArray, p_independent: FloatArray, share: float) -> FloatArray:
    """P(I > epsilon) if the prior share of independent features is `share` instead of one half."""
    # P(dependent) is (1 - s)(1 - q)/(s q + (1 - s)(1 - q)) instead of 1 - q
    mixed = share * p_independent + (1.0 - share) * (1.0 - p_independent)
    result: FloatArray = np.where(np.isnan(p_independent), p_above, p_above * (1.0 - share) / mixed)
    return result


def share_of_independent(
    p_independent: FloatArray, others: int = 0, min_share: float = EVEN, counts: FloatArray | None = None
) -> float:
    """The share of independent features, learned from all features together; NaN does not count.

    `others` is the number of further features that are certainly, or almost certainly, independent. The result is at
    least `min_share`. `counts` says how many features have each value of `p_independent`; default: one each.
    The log likelihood is concave in the share: bisection finds the point where its slope is 0. It is applied to the
    rest, 1 - share, which may be as small as one in millions.
    """
    has_value = ~np.isnan(p_independent)
    p_known, multiplicity = p_independent[has_value], 1.0 if counts is None else counts[has_value]
    tilt = 2.0 * p_known - 1.0
    low, high = 0.0, 1.0 - min_share
    while high - low > _RELATIVE_WIDTH * high:
        rest = 0.5 * (low + high)
        slope = (
            float((multiplicity * tilt / (p_known - rest * tilt)).sum()) + (others + 1.0) / (1.0 - rest) - 1.0 / rest
        )
        low, high = (low, rest) if slope > 0.0 else (rest, high)
    return min_share if high == 1.0 - min_share else 1.0 - 0.5 * (low + high)


def checked_rule(rule: str, others: Sequence[str] = ()) -> str:
    """The rule, by our name if it was given the paper's; an error message lists `others` as further choices."""
    rule = AS_IN_THE_PAPER.get(rule, rule)
    if rule not in {*RULES, *others}:
        raise CredimiError(f"unknown rule {rule!r}: choose one of {', '.join([*RULES, *others])}")
    return rule
