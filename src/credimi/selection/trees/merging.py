"""Values that go down the same branch, because the data cannot tell them apart.

Two values have the same class shares, or shares of their own. With shares pi ~ Dirichlet(K a), a the class shares of
the node, the evidence that they differ is, in logarithms,

    d(n) = log Gamma(K) - log Gamma(K + n) + sum_i [log Gamma(n_i + K a_i) - log Gamma(K a_i)],
    log B_K = d(n_1) + d(n_2) - d(n_1 + n_2),

and B its mean over K = 1, 2, 4, ..., 128. Which values form a group was chosen by their classes. That is paid for: B is
divided by the number of ways to divide the m values of two groups, 2^(m - 2) if one value of each stays where it is, or
m - 1 cuts of ranges. The two values or groups for which B is least are joined, if B < 99: branches of their
own are for values of which it is 99 % sure that they differ. Values that are joined though they differ can be split
again below; values that are kept apart though they are alike leave small nodes behind, and nothing mends that. With
very many rows the data tell everything apart: values are also joined where to tell them apart would tell no more than
epsilon about the class of a row that has one of them, so that a node of these rows would not be split by them. This is
repeated with the joined ones until no such pair is left, or two branches are. Ranges are joined with their neighbours
only. So are more than `_FEW` categories, in the order of the first axis of correspondence analysis, which for two
classes is the order of their class shares.

O(s^2 r) for s values, at most `_FEW`, or O(s r) in order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import log_gamma

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray

_STRENGTHS = 2.0 ** np.arange(8)
_FEW = 32
_SURELY_APART = np.log(99.0)
_MUCH = 1e6  # more than any evidence: what is not worth a branch is joined first
_LEAST = 1e-300  # so that logarithms are finite
_PSEUDO = 0.5  # of each class, in the shares of the node


def merged_values(counts: FloatArray, *, ordered: bool, epsilon: float = 0.0) -> IntegerArray:
    """The branch of each value, from the counts (classes, values); branches are numbered by their first value."""
    values = counts.shape[1]
    if values <= 2:
        return np.arange(values)
    shares = counts.sum(axis=1) + _PSEUDO
    evidence = _Evidence(shares / shares.sum())
    neighbours = ordered or values > _FEW
    order = np.arange(values) if ordered or not neighbours else _axis_order(counts)
    groups = [[int(value)] for value in order]
    of_groups = [counts[:, value] for value in order]
    alone = [evidence.own(each) for each in of_groups]
    apart: dict[tuple[int, int], float] = {}  # by the first values of the two groups
    while len(groups) > 2:
        pairs = [
            (one, other)
            for one in range(len(groups))
            for other in range(one + 1, min(one + 2, len(groups)) if neighbours else len(groups))
        ]
        names = [(groups[one][0], groups[other][0]) for one, other in pairs]
        new = [place for place, name in enumerate(names) if name not in apart]
        if new:
            joined = np.stack([of_groups[pairs[place][0]] + of_groups[pairs[place][1]] for place in new])
            lone = np.stack([alone[pairs[place][0]] + alone[pairs[place][1]] for place in new])
            both = np.stack([np.stack([of_groups[each] for each in pairs[place]]) for place in new])
            sizes = np.array([sum(len(groups[each]) for each in pairs[place]) for place in new])
            chosen = np.log(sizes - 1.0) if ordered else (sizes - 2.0) * np.log(2.0)
            differ = evidence.mean(lone - evidence.own(joined)) - chosen
            believed = np.where(_gained(both) < epsilon * joined.sum(axis=1), differ - _MUCH, differ)
            apart.update((names[place], found) for place, found in zip(new, believed.tolist(), strict=True))
        least = min(range(len(pairs)), key=lambda place: apart[names[place]])
        if apart[names[least]] >= _SURELY_APART:
            break
        one, other = pairs[least]
        gone = {groups[one][0], groups[other][0]}
        apart = {name: found for name, found in apart.items() if not gone & set(name)}
        groups[one] += groups.pop(other)
        of_groups[one] = of_groups[one] + of_groups.pop(other)
        alone.pop(other)
        alone[one] = evidence.own(of_groups[one])
    found = np.empty(values, dtype=np.int64)
    for branch, members in enumerate(sorted(groups, key=min)):
        found[members] = branch
    return found


def _gained(pairs: FloatArray) -> FloatArray:
    """The information of telling two values apart, times the rows; of counts (pairs, 2, classes)."""

    def entropy(counts: FloatArray) -> FloatArray:
        total = counts.sum(axis=-1)
        inside = (counts * np.log(np.maximum(counts, _LEAST))).sum(axis=-1)
        found: FloatArray = total * np.log(np.maximum(total, _LEAST)) - inside
        return found

    gained: FloatArray = entropy(pairs.sum(axis=1)) - entropy(pairs).sum(axis=1)
    return gained


class _Evidence:
    """d(n) for all K at once."""

    def __init__(self, shares: FloatArray) -> None:
        self._pseudo = _STRENGTHS[:, np.newaxis] * shares
        self._start = log_gamma(_STRENGTHS) - log_gamma(self._pseudo).sum(axis=1)

    def own(self, counts: FloatArray) -> FloatArray:
        """(..., K) of counts (..., classes)."""
        inside = log_gamma(counts[..., np.newaxis, :] + self._pseudo).sum(axis=-1)
        total = log_gamma(counts.sum(axis=-1)[..., np.newaxis] + _STRENGTHS)
        found: FloatArray = self._start - total + inside
        return found

    @staticmethod
    def mean(logarithms: FloatArray) -> FloatArray:
        """The logarithm of the mean over K."""
        largest = logarithms.max(axis=-1, keepdims=True)
        found: FloatArray = largest[..., 0] + np.log(np.exp(logarithms - largest).mean(axis=-1))
        return found


def _axis_order(counts: FloatArray) -> IntegerArray:
    """Values in the order of the first axis of correspondence analysis."""
    shares = counts / counts.sum()
    rows, columns = shares.sum(axis=1, keepdims=True), shares.sum(axis=0, keepdims=True)
    expected = rows * columns
    residuals = np.divide(shares - expected, np.sqrt(expected), out=np.zeros_like(shares), where=expected > 0.0)
    _, _, axes = np.linalg.svd(residuals, full_matrices=False)
    return np.argsort(axes[0] / np.sqrt(columns[0]), kind="stable")
