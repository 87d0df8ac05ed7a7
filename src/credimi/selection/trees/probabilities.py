"""Class probabilities of a tree's nodes: shrunk from the leaf to its parent, and so on to the root.

A node has the class probabilities q. Its branch j has the counts n_j by class, N_j in all, and a share b_j of the rows.
As in the adaptive prior (see `adaptive_prior`), the class probabilities of the branch have a Dirichlet prior with the
parameters K b_j q, so that

    own_j = (n_j + K b_j q) / (N_j + K b_j),        p_j = P mean_K own_j + (1 - P) q,

where P is the probability that the column of the split tells anything. K is large where the branches hardly differ. Its
distribution is learned in two steps. First, EM learns the weight of each K from all splits of the tree; the evidence of
a split is

    prod_j  Gamma(K b_j) / Gamma(K b_j + N_j)  prod_i  Gamma(n_ij + K b_j a_i) / Gamma(K b_j a_i),

where a are the class shares of the node. Then each split multiplies these weights by its own evidence. So a tree with
pure leaves is shrunk little, a noisy one much, and doubtful splits more than the others. The probabilities of the root
are its class shares, with half a row added to each class.

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
_PSEUDO_ROWS = 0.5  # added to each class of the root
_MAX_STEPS, _MAX_CHANGE = 200, 1e-6


def learned_probabilities(nodes: Sequence[TreeNode]) -> FloatArray:
    """The class probabilities of all nodes; a node comes after its parent."""
    probabilities = np.empty((len(nodes), nodes[0].counts.size))
    probabilities[0] = _smoothed(nodes[0].counts)
    split = [node for node in nodes if node.split is not None]
    if not split:
        return probabilities
    evidence = np.array([_evidence(nodes, node) for node in split])
    evidence = np.exp(evidence - evidence.max(axis=1, keepdims=True))
    weights = evidence * _learned_weights(evidence)
    weights /= weights.sum(axis=1, keepdims=True)
    for node, strength_weights in zip(split, weights, strict=True):
        if node.split is None or node.best is None:
            continue
        parent, p_above = probabilities[node.number], node.best.p_above
        for child, share in zip(node.split.children, node.split.shares.tolist(), strict=True):
            counts, strengths = nodes[child].counts, STRENGTHS[:, np.newaxis] * share
            shrunk = strength_weights @ ((counts + strengths * parent) / (counts.sum() + strengths))
            probabilities[child] = p_above * shrunk + (1.0 - p_above) * parent
    return probabilities


def _smoothed(counts: FloatArray) -> FloatArray:
    shares: FloatArray = (counts + _PSEUDO_ROWS) / (counts + _PSEUDO_ROWS).sum()
    return shares


def _evidence(nodes: Sequence[TreeNode], node: TreeNode) -> FloatArray:
    """The log evidence of each K, from one split."""
    split = node.split
    if split is None:
        return np.zeros(STRENGTHS.size)
    return log_evidence(
        np.stack([nodes[child].counts for child in split.children]), split.shares, _smoothed(node.counts)
    )


def log_evidence(counts: FloatArray, shares: FloatArray, node_shares: FloatArray) -> FloatArray:
    """The log evidence of each K, from counts (branches, classes); `node_shares` are the class shares of the node."""
    strengths = STRENGTHS[:, np.newaxis] * shares
    pseudo = strengths[:, :, np.newaxis] * node_shares
    inside = (log_gamma(counts + pseudo) - log_gamma(pseudo)).sum(axis=2)
    result: FloatArray = (log_gamma(strengths) - log_gamma(strengths + counts.sum(axis=1)) + inside).sum(axis=1)
    return result


def _learned_weights(evidence: FloatArray) -> FloatArray:
    """The weight of each K in this tree, by EM; one more split is added that has equal evidence for all K."""
    splits, strengths = evidence.shape
    weights = np.full(strengths, 1.0 / strengths)
    for _ in range(_MAX_STEPS):
        previous, joint = weights, evidence * weights
        weights = ((joint / joint.sum(axis=1, keepdims=True)).sum(axis=0) + 1.0 / strengths) / (splits + 1.0)
        if np.abs(weights - previous).max() < _MAX_CHANGE:
            break
    return weights
