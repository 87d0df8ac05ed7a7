"""Class probabilities of a tree's nodes: shrunk from the leaf to its parent, and so on to the root.

Of a node with probabilities q, branch j has the counts n_j, N_j in all, and a share b_j of the rows. As in the adaptive
prior (see `adaptive_prior`), the class probabilities of the branch are Dirichlet with the parameters K b_j q, so that

    own_j = (n_j + K b_j q) / (N_j + K b_j),        p_j = P mean_K own_j + (1 - P) q,

where P is the probability that the node's column tells anything: how sure one is of the split. K is large where the
branches hardly differ. Its distribution is learned in two steps: the weights of all K are found by EM from all splits
of the tree, each of which has the evidence

    prod_j  Gamma(K b_j) / Gamma(K b_j + N_j)  prod_i  Gamma(n_ij + K b_j a_i) / Gamma(K b_j a_i),

a the class shares of the node; then each split weighs them by its own evidence. So a tree with pure leaves is shrunk
little, a noisy one much, and in each the doubtful splits more than the others. The root has its class shares, with half
a row more of each class.

O(nodes x classes) for each K.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import log_gamma

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray
    from credimi.selection.trees.nodes import TreeNode

STRENGTHS = 2.0 ** np.arange(-1, 13)
_PSEUDO = 0.5  # rows of each class
_MOST_STEPS, _SETTLED = 200, 1e-6


def learned_probabilities(nodes: Sequence[TreeNode]) -> FloatArray:
    """The class probabilities of all nodes; a node comes after its parent."""
    found = np.empty((len(nodes), nodes[0].counts.size))
    found[0] = _smoothed(nodes[0].counts)
    split = [node for node in nodes if node.split is not None]
    if not split:
        return found
    evidence = np.array([_evidence(nodes, node) for node in split])
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    weights = evidence * _learned_weights(evidence)
    weights /= weights.sum(axis=1, keepdims=True)
    for node, own in zip(split, weights, strict=True):
        if node.split is None or node.best is None:
            continue
        above, sure = found[node.number], node.best.p_above
        for child, share in zip(node.split.children, node.split.shares.tolist(), strict=True):
            counts, strengths = nodes[child].counts, STRENGTHS[:, np.newaxis] * share
            shrunk = own @ ((counts + strengths * above) / (counts.sum() + strengths))
            found[child] = sure * shrunk + (1.0 - sure) * above
    return found


def _smoothed(counts: FloatArray) -> FloatArray:
    shares: FloatArray = (counts + _PSEUDO) / (counts + _PSEUDO).sum()
    return shares


def _evidence(nodes: Sequence[TreeNode], node: TreeNode) -> FloatArray:
    """The logarithm of the evidence of each K, of one split."""
    split = node.split
    if split is None:
        return np.zeros(STRENGTHS.size)
    return log_evidence(
        np.stack([nodes[child].counts for child in split.children]), split.shares, _smoothed(node.counts)
    )


def log_evidence(counts: FloatArray, shares: FloatArray, above: FloatArray) -> FloatArray:
    """The logarithm of the evidence of each K, from the counts (branches, classes); `above` are the node's shares."""
    strengths = STRENGTHS[:, np.newaxis] * shares
    pseudo = strengths[:, :, np.newaxis] * above
    inside = (log_gamma(counts + pseudo) - log_gamma(pseudo)).sum(axis=2)
    found: FloatArray = (log_gamma(strengths) - log_gamma(strengths + counts.sum(axis=1)) + inside).sum(axis=1)
    return found


def _learned_weights(evidence: FloatArray) -> FloatArray:
    """The weight of each K in this tree, by EM; one split more has them all alike."""
    splits, strengths = evidence.shape
    weights = np.full(strengths, 1.0 / strengths)
    for _ in range(_MOST_STEPS):
        before, own = weights, evidence * weights
        weights = ((own / own.sum(axis=1, keepdims=True)).sum(axis=0) + 1.0 / strengths) / (splits + 1.0)
        if np.abs(weights - before).max() < _SETTLED:
            break
    return weights
