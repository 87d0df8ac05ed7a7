"""Class probabilities of a tree's nodes, from the root down, averaged over what may be behind each split.

**A branch changes the odds of the classes.** With the class probabilities q of a node and P(j | i), the probability
that a row of class i goes to branch j, those of the branch are, by Bayes' rule,

    p_ij  ~  q_i P(j | i) / P(j),        P(j | i) / P(j) = o_ij / sum_k b_k o_ik,

where o_j are class probabilities of branch j as the rows of this node show them, and b_j is the share of the branch. So
a split says only how branches differ: weighted with their shares they have the probabilities of the node again. The
class shares of the node were shrunk when its own branch was judged. If its branches were shrunk to probabilities, and
not their differences, each further split would take some of that back.

**How much branches differ** is shrunk, since the split was chosen among many. Value v, with the counts n_v by class,
N_v in all, has the probabilities

    o_v = a + kept_K (n_v/N_v - a),

where a are the class shares of the node. They are averaged over K, with the weights of `strengths`: the law of K is
learned from all columns in all nodes, not from those that were chosen. In a column of numbers, o are those of the
two sides of a cut, and they are averaged over all cuts (up to `_CUTS`), weighted with their evidence; a branch of the
tree has, under another cut, rows on both sides of it. A branch of several values has the mean of its values, by rows.

**Rows without the value** of the split are in several branches, in parts w_j. Their classes are known, so the parts are
taken as proportional to w_j o_ij. A branch has the mean of o, for its rows with the value, and of the classes of the
others. So classes that lack the value are not taken as absent from the branches.

The probabilities of the root are its class shares, with half a row added to each class. In a, the probabilities q count
as one row, so that no class has the share 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.questions.tree.strengths import StrengthLaw, cut_evidence, cut_places, mean_of_logs, table_evidence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.questions.tree.nodes import TreeNode

_PSEUDO_ROWS = 0.5  # added to each class of the root
_SMALLEST = 1e-300
_CUTS = 255  # of a column that splits a node


@dataclass(frozen=True, slots=True, eq=False)
class SplitCounts:
    """The rows of a node with the value of its split: (values, classes) of the values that occur, in order.

    `branch` is the branch of each value. Numbers may be cut elsewhere.
    """

    counts: FloatArray
    branch: IntegerArray
    numbers: bool


def learned_probabilities(
    nodes: Sequence[TreeNode], splits: Mapping[int, SplitCounts], evidence: Sequence[FloatArray]
) -> FloatArray:
    """The class probabilities of all nodes; a node comes after its parent.

    `splits` has the counts of each split node, `evidence` log B_K of all columns in each tested node.
    """
    shares = nodes[0].counts + _PSEUDO_ROWS
    probabilities = np.tile(shares / shares.sum(), (len(nodes), 1))
    law = StrengthLaw(evidence)
    for node in nodes:
        if node.split is not None and node.split.children:
            children = list(node.split.children)
            counts = np.stack([nodes[child].counts for child in children])
            probabilities[children] = _of_branches(probabilities[node.number], splits[node.number], counts, law)
    return probabilities


def _of_branches(node: FloatArray, split: SplitCounts, counts: FloatArray, law: StrengthLaw) -> FloatArray:
    """The class probabilities of the branches, from those of the node; `counts` has all rows of each branch."""
    present = np.stack([split.counts[split.branch == branch].sum(axis=0) for branch in range(len(counts))])
    averaged = _averaged(node, split, law)
    others = np.maximum(counts - present, 0.0)  # rows in parts, without the value
    joint = others * averaged
    others = joint * (others.sum(axis=0) / np.maximum(joint.sum(axis=0), _SMALLEST))
    shown = present.sum(axis=1, keepdims=True) * averaged + others
    # In every branch the factors P(j | i) / P(j) are up to a constant.
    factors = shown / shown.sum(axis=1, keepdims=True) / shown.sum(axis=0)
    odds = node * factors
    return np.asarray(odds / odds.sum(axis=1, keepdims=True))


def _averaged(node: FloatArray, split: SplitCounts, law: StrengthLaw) -> FloatArray:
    """The class probabilities that the rows of the node show for each branch: the mean over strengths, and cuts."""
    counts = split.counts
    rows = counts.sum(axis=1)
    of_values = np.arange(split.branch.max() + 1)[:, np.newaxis] == split.branch
    shares = of_values * rows / (of_values * rows).sum(axis=1, keepdims=True)  # of each value in the rows of a branch
    centre = (counts.sum(axis=0) + node) / (rows.sum() + 1.0)
    if not split.numbers:
        evidence = table_evidence(counts)
        kept = (law.weights(evidence.log_factor) * evidence.kept).sum()
        return np.asarray(shares @ (kept * counts / rows[:, np.newaxis] + (1.0 - kept) * centre))
    places = cut_places(counts, _CUTS)
    evidence = cut_evidence(counts, places)
    weights = law.weights(mean_of_logs(evidence.log_factor))
    of_cut = np.exp(evidence.log_factor - evidence.log_factor.max(axis=0))
    of_cut *= weights / of_cut.sum(axis=0)
    kept = (of_cut * evidence.kept).sum(axis=1, keepdims=True)
    of_centre = (of_cut.sum(axis=1, keepdims=True) - kept) * centre
    below, above = counts.cumsum(axis=0)[places], counts[::-1].cumsum(axis=0)[-2::-1][places]
    on_left = shares.cumsum(axis=1)[:, places]  # of the rows of each branch, for each cut
    of_left, of_right = (kept * side / side.sum(axis=1, keepdims=True) + of_centre for side in (below, above))
    return np.asarray(on_left @ of_left + (1.0 - on_left) @ of_right)
