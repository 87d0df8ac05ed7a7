"""Merges values of a column that the data cannot tell apart: they go down the same branch.

Two values have the same class shares, or different ones. With shares pi ~ Dirichlet(K a), where a are the class shares
of the node, the evidence that they differ is, in logarithms,

    d(n) = log Gamma(K) - log Gamma(K + n) + sum_i [log Gamma(n_i + K a_i) - log Gamma(K a_i)],
    log B_K = d(n_1) + d(n_2) - d(n_1 + n_2),

and B is its mean over K = 1, 2, 4, ..., 128. The groups of values were chosen by their classes, so whether two groups
differ is decided by a corrected B: it is divided by the number of ways to divide the m values of the two groups,
2^(m - 2) if one value of each is fixed, or m - 1 cuts of ranges. Groups may be merged if the corrected B is below 99:
only values that differ with a probability of 99 % get separate branches. Of these groups, the two that are most alike
are merged, those with the smallest B. B is not corrected there: the correction grows with the number of values, so the
largest groups would be merged first, and of hundreds of values a split would separate only one or two. Values that are
merged although they differ can be split again below; but values that are kept apart although they are alike leave small
nodes, and nothing repairs that.

With very many rows the data tell all values apart. So two groups are also merged if their difference tells no more than
epsilon about the class of a row in one of them: a node of these rows would not be split by them. Merging is repeated
until no such pair is left, or only two branches. Ranges are merged with their neighbours only. So are categories, if
there are more than `_MAX_UNORDERED`; their order is that of the first axis of correspondence analysis, which for two
classes is the order of their class shares.

O(s^2 r) for s values, at most `_MAX_UNORDERED`, and r classes; or O(s r) in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import log_gamma

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray

_STRENGTHS = 2.0 ** np.arange(8)
_MAX_UNORDERED = 32  # values; of more, only neighbours in an order are merged
_MIN_EVIDENCE_APART = np.log(99.0)
_MORE_THAN_ANY_EVIDENCE = 1e6  # subtracted for groups that are not worth separate branches: they are merged first
_SMALLEST_POSITIVE = 1e-300  # so that logarithms are finite
_PSEUDO_ROWS = 0.5  # added to each class, for the class shares of the node


def merged_values(counts: FloatArray, *, ordered: bool, epsilon: float = 0.0) -> IntegerArray:
    """The branch of each value, from the counts (classes, values); branches are numbered by their first value."""
    values = counts.shape[1]
    if values <= 2:
        return np.arange(values)
    shares = counts.sum(axis=1) + _PSEUDO_ROWS
    evidence = _Evidence(shares / shares.sum())
    neighbours_only = ordered or values > _MAX_UNORDERED
    order = np.arange(values) if ordered or not neighbours_only else _axis_order(counts)
    groups = [[int(value)] for value in order]
    group_counts = [counts[:, value] for value in order]
    group_evidence = [evidence.of_counts(each) for each in group_counts]
    log_factors: dict[tuple[int, int], float] = {}  # log B; keys are the first values of the two groups
    surely_differ: set[tuple[int, int]] = set()  # the keys of groups whose corrected B is large
    while len(groups) > 2:
        pairs = [
            (one, other)
            for one in range(len(groups))
            for other in range(one + 1, min(one + 2, len(groups)) if neighbours_only else len(groups))
        ]
        keys = [(groups[one][0], groups[other][0]) for one, other in pairs]
        new_pairs = [pair for pair, key in zip(pairs, keys, strict=True) if key not in log_factors]
        if new_pairs:
            pair_counts = np.stack([np.stack([group_counts[group] for group in pair]) for pair in new_pairs])
            joined_counts = pair_counts.sum(axis=1)
            evidence_apart = np.stack([group_evidence[one] + group_evidence[other] for one, other in new_pairs])
            sizes = np.array([sum(len(groups[group]) for group in pair) for pair in new_pairs])
            log_choices = np.log(sizes - 1.0) if ordered else (sizes - 2.0) * np.log(2.0)
            log_factor = evidence.mean(evidence_apart - evidence.of_counts(joined_counts))
            hardly_differ = _information_apart(pair_counts) < epsilon * joined_counts.sum(axis=1)
            log_factor[hardly_differ] -= _MORE_THAN_ANY_EVIDENCE
            apart = log_factor - log_choices >= _MIN_EVIDENCE_APART
            new_keys = [key for key in keys if key not in log_factors]
            log_factors.update(zip(new_keys, log_factor.tolist(), strict=True))
            surely_differ.update(key for key, differ in zip(new_keys, apart.tolist(), strict=True) if differ)
        may_be_merged = [pair for pair, key in enumerate(keys) if key not in surely_differ]
        if not may_be_merged:
            break
        one, other = pairs[min(may_be_merged, key=lambda pair: log_factors[keys[pair]])]
        merged_keys = {groups[one][0], groups[other][0]}
        log_factors = {key: factor for key, factor in log_factors.items() if not merged_keys & set(key)}
        surely_differ = {key for key in surely_differ if not merged_keys & set(key)}
        groups[one] += groups.pop(other)
        group_counts[one] = group_counts[one] + group_counts.pop(other)
        group_evidence.pop(other)
        group_evidence[one] = evidence.of_counts(group_counts[one])
    result = np.empty(values, dtype=np.int64)
    for branch, members in enumerate(sorted(groups, key=min)):
        result[members] = branch
    return result


def _information_apart(pairs: FloatArray) -> FloatArray:
    """The information of the difference of two groups, times their rows, from counts (pairs, 2, classes)."""

    def entropy(counts: FloatArray) -> FloatArray:
        total = counts.sum(axis=-1)
        inside = (counts * np.log(np.maximum(counts, _SMALLEST_POSITIVE))).sum(axis=-1)
        entropies: FloatArray = total * np.log(np.maximum(total, _SMALLEST_POSITIVE)) - inside
        return entropies

    information: FloatArray = entropy(pairs.sum(axis=1)) - entropy(pairs).sum(axis=1)
    return information


class _Evidence:
    """Computes d(n) for all K at once."""

    def __init__(self, shares: FloatArray) -> None:
        self._pseudo = _STRENGTHS[:, np.newaxis] * shares
        self._start = log_gamma(_STRENGTHS) - log_gamma(self._pseudo).sum(axis=1)

    def of_counts(self, counts: FloatArray) -> FloatArray:
        """d(n) as (..., K), from counts (..., classes)."""
        inside = log_gamma(counts[..., np.newaxis, :] + self._pseudo).sum(axis=-1)
        total = log_gamma(counts.sum(axis=-1)[..., np.newaxis] + _STRENGTHS)
        result: FloatArray = self._start - total + inside
        return result

    @staticmethod
    def mean(logarithms: FloatArray) -> FloatArray:
        """The logarithm of the mean over K, from logarithms (..., K)."""
        largest = logarithms.max(axis=-1, keepdims=True)
        result: FloatArray = largest[..., 0] + np.log(np.exp(logarithms - largest).mean(axis=-1))
        return result


def _axis_order(counts: FloatArray) -> IntegerArray:
    """The values in the order of the first axis of correspondence analysis."""
    shares = counts / counts.sum()
    rows, columns = shares.sum(axis=1, keepdims=True), shares.sum(axis=0, keepdims=True)
    expected = rows * columns
    residuals = np.divide(shares - expected, np.sqrt(expected), out=np.zeros_like(shares), where=expected > 0.0)
    _, _, axes = np.linalg.svd(residuals, full_matrices=False)
    return np.argsort(axes[0] / np.sqrt(columns[0]), kind="stable")
