"""Columns that stand in for a missing value: where a row goes, given what is seen of it.

A row whose value of the split is missing goes down all branches, with weights. If nothing else is known these are the
shares s_j of the branches. Other columns may tell more. At each split, all of them are judged as in a node, but against
the branch instead of the class, on the rows whose branch is known. Columns that credibly tell something stand in:
P(I > epsilon) >= level, corrected for the number of tested columns. At most `_MAX_STAND_INS` are used, those that tell
most. Numbers are cut once, where that tells most about the branch.

With n_vj rows of value v in branch j, the branch given the value has the probability

    p_vj = P mean_K (n_vj + K b_v s_j) / (n_v + K b_v) + (1 - P) s_j,

where b_v is the share of the value, P the probability that the column tells anything, and each K is weighted by its
evidence,

    prod_v  Gamma(K b_v) / Gamma(K b_v + n_v)  prod_j  Gamma(n_vj + K b_v s_j) / Gamma(K b_v s_j).

The weights of a row are

    w_j  ~  s_j prod_v p_vj / s_j,

a product over the stand-ins that are not missing in the row; if all are missing, the weights are the shares. The class
of a row is not used: in our studies trees became worse on average if it was, as a row then went to the branch where its
class is common, which confirms the split.

All stand-ins are treated as independent given the branch. An exponent below one for the product, learned from the rows
whose branch is known, made no difference beyond chance in our studies.

Finding the columns costs as much as judging a node. It is done for every split, as rows to be predicted may lack any
value, also where the training data are complete.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import log_gamma
from credimi.core.ties import best_first, places_by_name
from credimi.inference.rules import from_share, share_of_independent
from credimi.questions.tree.judging import judged
from credimi.questions.tree.nodes import TreeStandIn, cut_between

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.counter import Nodes
    from credimi.inference.belief import Belief
    from credimi.questions.tree.judging import Judged
    from credimi.questions.tree.nodes import TreeNode, TreeSplit

_MAX_STAND_INS = 10
_STRENGTHS = 2.0 ** np.arange(-1, 13)


class StandIns:
    """Finds the columns that stand in, for many splits at once."""

    def __init__(self, counter: Nodes, options: Belief) -> None:
        self.counter, self.options = counter, options
        self.places = places_by_name([column.name for column in counter.columns])

    def of(self, nodes: list[tuple[TreeNode, TreeSplit]]) -> list[tuple[TreeStandIn, ...]]:
        """For each divided node: the columns that stand in, those that tell most first."""
        tables = (self.counter.branch_tables(node.number, split.shares.size, split.column) for node, split in nodes)
        judged_nodes = judged(tables, self.options)
        return [tuple(self._credible(*node, figures)) for node, figures in zip(nodes, judged_nodes, strict=True)]

    def _credible(self, node: TreeNode, split: TreeSplit, judged_node: Judged) -> Iterable[TreeStandIn]:
        share = share_of_independent(judged_node.p_independent)
        p_above = from_share(judged_node.p_alone, judged_node.p_independent, share)
        p_tells = from_share(1.0 - judged_node.p_independent, judged_node.p_independent, share)
        order = best_first(self.places[judged_node.node_tables.columns], judged_node.mean, p_above)
        for index in order[p_above[order] >= self.options.level][:_MAX_STAND_INS].tolist():
            column = int(judged_node.node_tables.columns[index])
            cut, place_of = self._cut_and_lines(node, column, judged_node.node_tables.places[index])
            counts = judged_node.node_tables.tables.block(index)[:-1, :-1].T.astype(np.float64)
            gains = log_gains(counts, split.shares, float(p_tells[index]))
            yield TreeStandIn(column, cut, place_of, gains, float(judged_node.mean[index]), float(p_above[index]))

    def _cut_and_lines(self, node: TreeNode, number: int, codes: IntegerArray) -> tuple[float | None, IntegerArray]:
        """The cut of a column of numbers (else None), and for each code its line in `TreeStandIn.gains`.

        A column of numbers is cut between the two `codes`.
        """
        column = self.counter.columns[number]
        if column.numbers:
            return cut_between(column, codes)
        occurs = self.counter.occurs_in_branches(node.number, number)
        return None, np.where(occurs, np.cumsum(occurs) - 1, -1)


def log_evidence(counts: FloatArray, value_shares: FloatArray, shares: FloatArray) -> FloatArray:
    """The log evidence of each K, from counts (values, branches)."""
    strengths = _STRENGTHS[:, np.newaxis] * value_shares
    pseudo = strengths[:, :, np.newaxis] * shares
    inside = (log_gamma(counts + pseudo) - log_gamma(pseudo)).sum(axis=2)
    result: FloatArray = (log_gamma(strengths) - log_gamma(strengths + counts.sum(axis=1)) + inside).sum(axis=1)
    return result


def log_gains(counts: FloatArray, shares: FloatArray, p_tells: float) -> FloatArray:
    """log P(branch | value) / P(branch) for each value and branch, from the counts (values, branches)."""
    totals = counts.sum(axis=1)
    value_shares = totals / totals.sum()
    evidence = log_evidence(counts, value_shares, shares)
    weights = np.exp(evidence - evidence.max())
    pseudo = _STRENGTHS[:, np.newaxis] * value_shares
    ratios = (counts / shares + pseudo[:, :, np.newaxis]) / (totals + pseudo)[:, :, np.newaxis]
    gains: FloatArray = np.log(p_tells * np.tensordot(weights / weights.sum(), ratios, 1) + (1.0 - p_tells))
    return gains


def branch_weights(split: TreeSplit, lines: Iterable[IntegerArray], rows: int) -> FloatArray:
    """The probability of each branch, (rows, branches); for each stand-in, `lines` has the line of each row or -1."""
    score = np.tile(np.log(split.shares), (rows, 1))
    for stand_in, line in zip(split.stand_ins, lines, strict=True):
        present = line >= 0
        score[present] += stand_in.gains[line[present]]
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    probabilities: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return probabilities
