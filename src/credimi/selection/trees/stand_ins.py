"""Columns that stand in for a missing value: where a row goes, given what is seen of it.

A row that lacks the value of a split goes down all branches, with weights. Without more knowledge these are the shares
s_j of the branches. Other columns may tell more: at each split all of them are judged as in a node, but against the
branch in place of the class, on the rows whose branch is known. Those that credibly tell something, P(I > epsilon) >=
level after paying for having looked at many, stand in; at most `_MOST`, those that tell most. Numbers are cut once,
where that tells most about the branch.

With n_vj rows of value v in branch j, the branch given the value has the probability

    p_vj = P mean_K (n_vj + K b_v s_j) / (n_v + K b_v) + (1 - P) s_j,

b_v the share of the value, P the probability that the column tells anything, K weighed by its evidence: the
probabilities of a tree's nodes are shrunk in the same way (see `probabilities`). A row has then the weights

    w_j  ~  s_j prod_v p_vj / s_j,

a product over the values that it has. Without any of them the shares remain. The class of a row has no say: in our
studies a class that drew its row to the branch where it is common made trees worse on average, as it confirms what the
split claims.

All columns that tell something count as if they were independent given the branch. An exponent below one for the
product, learned from the rows whose branch is known, made no difference beyond chance in our studies.

Finding the columns costs as much as judging a node. It is done for every split, as rows to be predicted may lack any
value, also where the training data are complete.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.selection.rules import from_share, share_of_independent
from credimi.selection.trees.judging import judged
from credimi.selection.trees.nodes import TreeStandIn, cut_between
from credimi.selection.trees.probabilities import STRENGTHS, log_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.tree_rows import NodeCounter, NodeTables, TreeRows
    from credimi.inference.options import PosteriorOptions
    from credimi.selection.trees.judging import Judged
    from credimi.selection.trees.nodes import TreeNode, TreeSplit

_MOST = 10


@dataclass(frozen=True, slots=True, eq=False)
class Divided:
    """A node that is to be split: its entries, the part and the weight of each, and its branch, -1 if unknown."""

    node: TreeNode
    split: TreeSplit
    entries: IntegerArray
    parts: FloatArray
    weights: FloatArray
    branch: IntegerArray


class StandIns:
    """Finds the columns that stand in, for many splits at once."""

    def __init__(self, rows: TreeRows, options: PosteriorOptions) -> None:
        self.rows, self.options = rows, options
        self.groups = np.zeros(rows.groups.size, dtype=np.uint16)  # of each row its branch in the node at hand
        self.counters: dict[int, NodeCounter] = {}

    def of(self, nodes: list[Divided]) -> list[tuple[TreeStandIn, ...]]:
        """Of each split the columns that stand in, those that tell most first."""
        found = judged((self._counted(each) for each in nodes), self.options)
        return [tuple(self._chosen(each, own)) for each, own in zip(nodes, found, strict=True)]

    def _counted(self, each: Divided) -> NodeTables:
        """The tables of all other columns against the branch."""
        branches = each.split.shares.size
        if branches not in self.counters:
            self.counters[branches] = self.rows.counter(self.options.threads, self.groups, branches)
        self.groups[each.entries] = np.where(each.branch < 0, branches, each.branch)
        return self.counters[branches].count(each.entries, each.weights).without(each.split.column)

    def _chosen(self, each: Divided, own: Judged) -> Iterable[TreeStandIn]:
        share = share_of_independent(own.p_independent)
        p_above = from_share(own.p_alone, own.p_independent, share)
        sure = from_share(1.0 - own.p_independent, own.p_independent, share)
        order = np.lexsort((-p_above, -own.mean))
        for place in order[p_above[order] >= self.options.level][:_MOST].tolist():
            number = int(own.found.columns[place])
            cut, place_of = self._lines(each, number, own.found.places[place])
            counts = own.found.tables.block(place)[:-1, :-1].T.astype(np.float64)
            gains = log_gains(counts, each.split.shares, float(sure[place]))
            yield TreeStandIn(number, cut, place_of, gains, float(own.mean[place]), float(p_above[place]))

    def _lines(self, each: Divided, number: int, places: IntegerArray) -> tuple[float | None, IntegerArray]:
        """Where numbers are cut, and of each code its line in the table."""
        column = self.rows.columns[number]
        if column.numbers:
            return cut_between(column, places)
        known = each.branch >= 0
        codes = self.rows.codes(number, each.entries[known])
        occurs = np.bincount(codes, each.weights[known], column.size + 1)[:-1] > 0.0
        return None, np.where(occurs, np.cumsum(occurs) - 1, -1)


def log_gains(counts: FloatArray, shares: FloatArray, sure: float) -> FloatArray:
    """Of each value and branch log P(branch | value) / P(branch), from the counts (values, branches)."""
    totals = counts.sum(axis=1)
    own = totals / totals.sum()
    evidence = log_evidence(counts, own, shares)
    weights = np.exp(evidence - evidence.max())
    pseudo = STRENGTHS[:, np.newaxis] * own
    ratios = (counts / shares + pseudo[:, :, np.newaxis]) / (totals + pseudo)[:, :, np.newaxis]
    found: FloatArray = np.log(sure * np.tensordot(weights / weights.sum(), ratios, 1) + (1.0 - sure))
    return found


def branch_weights(split: TreeSplit, lines: Iterable[IntegerArray], rows: int) -> FloatArray:
    """(rows, branches): how probable each branch is; `lines` has the line of each row, -1 if none, by stand-in."""
    score = np.tile(np.log(split.shares), (rows, 1))
    for own, line in zip(split.stand_ins, lines, strict=True):
        seen = line >= 0
        score[seen] += own.gains[line[seen]]
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    found: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return found
