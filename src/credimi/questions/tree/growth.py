"""Grows a tree, level by level, that splits only where a split is credible.

**A node** is split by the column with the largest mean of I among those with P(I > epsilon) >= level; if there is none
it is a leaf. Doubtful splits are allowed for few rows only: in nodes of more than 200 rows the allowed
doubt, 1 - level, falls with the square of the rows. And the split of the root needs P >= `SURE` = 0.95: that any column
tells anything is a claim. The rows of the node themselves have to speak for the column: at even prior odds it must not
be more probably independent. Otherwise small nodes would be split because most columns tell something elsewhere.

**Texts that name rows** are no candidates: texts of more than two values, with fewer than two rows for each. In a small
node this may be so of a column that is no identifier in the whole table, and little can be learned from single rows.

**Numbers** are cut once in a node, where the remaining entropy is smallest, and may be cut again below. The prior odds
are corrected for the choice of the cut among many, as in `rank`; the posterior then decides, and no further test is
needed. Categories that the data cannot tell apart share a branch (see `merging`).

**Many columns** are tested in many nodes, and the best of many looks good by chance. The share of columns that tell
nothing is learned from all columns in all nodes so far, as in the rule fdr (see `rules`), but with `_MIN_NOISE` as
its minimum. So trees are deep if nearly all columns tell something, and small if the data are noisy. At the end the
share is learned from all nodes, and splits that are not credible with it are taken back.

**Missing values.** A row whose value is missing goes down all branches, with weights from other columns (see
`surrogates`); parts below `_MIN_PART` of a row are left out. When the column is judged, such a row counts in the
margin of its class, and a row without a class in the margin of its value.

A level costs two passes over the rows of its nodes, one of them for the stand-ins, and two batches of posteriors.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.defaults import EPSILON
from credimi.core.ties import best_first, places_by_name
from credimi.inference.belief import Belief
from credimi.inference.rules import from_share, share_of_independent
from credimi.questions.tree.judging import judged
from credimi.questions.tree.merging import merged_values
from credimi.questions.tree.nodes import (
    SURE,
    TreeCandidate,
    TreeNode,
    TreeSplit,
    TreeStop,
    cut_between,
    required_probability,
)
from credimi.questions.tree.probabilities import SplitCounts, learned_probabilities
from credimi.questions.tree.result import Tree
from credimi.questions.tree.strengths import column_evidence
from credimi.questions.tree.surrogates import StandIns, branch_weights
from credimi.results.remarks import approximate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.counter import Nodes
    from credimi.counts.nodes.node_counter import NodeTables
    from credimi.questions.tree.judging import Judged
    from credimi.results.remarks import Remark

_MIN_NOISE = 0.1  # share of columns that tell nothing
_EVEN = 0.5
_MIN_CLASS_SHARE = 1e-9  # of the rows of a node: a class with less is absent, up to rounding


def grow(
    counter: Nodes,
    *,
    epsilon: float | str = EPSILON,
    level: float = 0.5,
    max_depth: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Tree:
    """Grow a tree. If the user interrupts (Ctrl-C), the tree has the splits so far.

    `progress` is called with the share of the rows that have reached a leaf.
    """
    options = Belief(epsilon=epsilon, level=level, threads=threads)
    options = options.settled(counter.book.interpreted.entropy)
    grower = _Grower(counter, options, max_depth, progress)
    grower.grow()
    book = counter.book
    return Tree(
        book.target,
        book.classes,
        counter.columns,
        tuple(grower.nodes),
        options.nats,
        options.level,
        options.epsilon_share,
        grower.probabilities,
        tuple(feature.facts for feature in book.left_out),
        book.settings.target_in_words.get("target_as"),
        _remarks(grower.nodes, counter, options.nats),
    )


def _remarks(nodes: list[TreeNode], counter: Nodes, epsilon: float) -> tuple[Remark, ...]:
    """The columns whose P(independent) may be off in a node that shows them, largest mean first."""
    largest: dict[str, float] = {}
    for candidate in (each for node in nodes for each in (node.best, node.runner_up)):
        if candidate is not None and candidate.approximate:
            name = counter.columns[candidate.column].name
            largest[name] = max(candidate.mean, largest.get(name, 0.0))
    return tuple(approximate(name, largest[name], epsilon) for name in sorted(largest, key=lambda each: -largest[each]))


class _Grower:
    def __init__(
        self,
        counter: Nodes,
        options: Belief,
        max_depth: int | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.counter, self.options, self.max_depth, self.progress = counter, options, max_depth, progress
        self.stand_ins = StandIns(counter, options)
        self.unordered = np.array([not (column.numbers or column.ordered) for column in counter.columns], dtype=bool)
        self.places = places_by_name([column.name for column in counter.columns])
        self.nodes: list[TreeNode] = []
        self.p_independent: list[FloatArray] = []  # of the columns of each tested node
        self.evidence: list[FloatArray] = []  # log B_K of the columns of each tested node
        self.split_counts: dict[int, SplitCounts] = {}
        self.probabilities = np.zeros((0, 0))
        self.open = [self._open_node(-1, 0, 0)]
        self.total_rows, self.finished_rows = self.open[0].rows, 0.0

    def grow(self) -> None:
        """Grow level by level, until all nodes are leaves or the user interrupts."""
        try:
            while self.open:
                self._grow_level()
        except KeyboardInterrupt:
            for number, node in enumerate(self.nodes):
                if node.split is None and node.stop is None:
                    self.nodes[number] = replace(node, stop=TreeStop.INTERRUPTED)
        self._take_back_doubtful_splits()
        probabilities = learned_probabilities(self.nodes, self.split_counts, self.evidence)
        self.nodes, kept = _connected_nodes(self.nodes)
        self.probabilities = probabilities[kept]

    def _take_back_doubtful_splits(self) -> None:
        """Judge all nodes with the share of noise in the whole tree; nodes whose split is doubtful become leaves."""
        share = self._share_of_independent()
        for number, node in enumerate(self.nodes):
            best = _with_share(node.best, share)
            split, stop = node.split, node.stop
            if best is not None and best.p_above < required_probability(node, self.options.level):
                split, stop = None, TreeStop.NOTHING if 1.0 - best.p_above >= SURE else TreeStop.UNSURE
            runner_up = _with_share(node.runner_up, share)
            self.nodes[number] = replace(node, best=best, runner_up=runner_up, split=split, stop=stop)

    def _open_node(self, parent: int, branch: int, depth: int) -> TreeNode:
        """Add a new node, whose rows are known to the counter."""
        totals = self.counter.class_totals(len(self.nodes))
        node = TreeNode(len(self.nodes), parent, branch, depth, float(totals.sum()), totals[:-1])
        self.nodes.append(node)
        return node

    def _grow_level(self) -> None:
        tested: list[TreeNode] = []
        judged_nodes = judged(self._counted(tested), self.options)
        self.p_independent += [judged_node.p_independent for judged_node in judged_nodes]
        share = self._share_of_independent()
        decided = (self._decide(*each, share) for each in zip(tested, judged_nodes, strict=True))
        divided_nodes = [node for node in decided if node is not None]
        stood_in = zip(divided_nodes, self.stand_ins.of(divided_nodes), strict=True)
        splits = [(node, replace(split, stand_ins=stand_ins)) for (node, split), stand_ins in stood_in]
        first, families = len(self.nodes), []
        for node, split in splits:  # all of them, before a child is counted: those of a level are counted together
            families.append(tuple(range(first, first + split.shares.size)))
            lines = [(stand_in.column, stand_in.place_of) for stand_in in split.stand_ins]
            self.counter.descend(node.number, families[-1], lines, partial(branch_weights, split))
            first += split.shares.size
        self.open = []
        for (node, split), children in zip(splits, families, strict=True):
            self.nodes[node.number] = replace(node, split=replace(split, children=children))
            self.open += [self._open_node(node.number, branch, node.depth + 1) for branch in range(len(children))]

    def _counted(self, tested: list[TreeNode]) -> Iterator[NodeTables]:
        """The tables of the open nodes that are tested (which are added to `tested`); the others become leaves."""
        for node in self.open:
            stop = self._stop_before(node)
            node_tables = None if stop else self._candidates(node)
            if node_tables is None or not node_tables.columns.size:
                self._leaf(replace(node, stop=stop or TreeStop.NO_COLUMN))
                continue
            tested.append(node)
            yield node_tables

    def _candidates(self, node: TreeNode) -> NodeTables:
        """The tables of the columns that may split a node."""
        found = self.counter.tables(node.number)
        values = found.tables.columns
        is_identifier = self.unordered[found.columns] & (values > 2)
        for index in np.flatnonzero(is_identifier).tolist():
            is_identifier[index] = 2 * values[index] > found.tables.block(index)[:, :-1].sum()
        found = found.chosen(~is_identifier)
        evidence = [
            column_evidence(self.counter.value_counts_of_last(column), numbers=self.counter.columns[column].numbers)
            for column in found.columns.tolist()
        ]
        if evidence:
            self.evidence.append(np.stack(evidence))
        return found

    def _stop_before(self, node: TreeNode) -> TreeStop | None:
        if np.count_nonzero(node.counts > _MIN_CLASS_SHARE * node.rows) < 2:
            return TreeStop.PURE
        return TreeStop.DEPTH if self.max_depth is not None and node.depth >= self.max_depth else None

    def _leaf(self, node: TreeNode) -> None:
        self.nodes[node.number] = node
        self.counter.close(node.number)
        self.finished_rows += node.rows
        if self.progress is not None:
            self.progress(min(self.finished_rows / self.total_rows, 1.0) if self.total_rows > 0.0 else 1.0)

    def _share_of_independent(self) -> float:
        """The share of columns that tell nothing, among all columns of all tested nodes."""
        return share_of_independent(np.concatenate([np.zeros(0), *self.p_independent]), min_share=_MIN_NOISE)

    def _decide(self, node: TreeNode, judged_node: Judged, share: float) -> tuple[TreeNode, TreeSplit] | None:
        """The node, and how it is split; None if it is a leaf."""
        p_above = from_share(judged_node.p_alone, judged_node.p_independent, share)
        credible = (p_above >= required_probability(node, self.options.level)) & (judged_node.p_independent < _EVEN)
        merit = np.where(credible, judged_node.mean, -1.0) if credible.any() else p_above
        order = best_first(self.places[judged_node.node_tables.columns], merit, p_above, judged_node.mean)
        best = _candidate(judged_node, p_above, int(order[0]))
        runner_up = _candidate(judged_node, p_above, int(order[1])) if order.size > 1 else None
        node = replace(node, looked_at=judged_node.mean.size, best=best, runner_up=runner_up)
        if not credible.any():
            tells_nothing = 1.0 - float(p_above.max()) >= SURE
            self._leaf(replace(node, stop=TreeStop.NOTHING if tells_nothing else TreeStop.UNSURE))
            return None
        split = self._split(node, best, judged_node.node_tables.places[int(order[0])])
        self.counter.divide(node.number, split.column, split.branch_of)
        return node, split

    def _split(self, node: TreeNode, best: TreeCandidate, cut_codes: IntegerArray) -> TreeSplit:
        """The split of a node by its best column; a column of numbers is cut between the two codes `cut_codes`."""
        column, counts = self.counter.columns[best.column], self.counter.value_counts(node.number, best.column)
        occurs, totals = counts.sum(axis=1) > 0.0, best.table[:, :-1].sum(axis=0)
        cut, shares = None, totals
        if column.numbers:
            cut, branch_of = cut_between(column, cut_codes)
        else:
            merged = merged_values(best.table[:-1, :-1], ordered=column.ordered, epsilon=self.options.nats)
            branch_of = np.full(column.size, -1, dtype=np.int64)
            branch_of[occurs] = merged
            shares = np.bincount(merged, totals)
        self.split_counts[node.number] = SplitCounts(counts[occurs], branch_of[occurs], column.numbers)
        return TreeSplit(best.column, cut, branch_of, shares / shares.sum(), ())


def _candidate(judged_node: Judged, p_above: FloatArray, index: int) -> TreeCandidate:
    tables = judged_node.node_tables.tables
    odds = 1.0 if tables.odds is None else float(tables.odds[index])
    return TreeCandidate(
        int(judged_node.node_tables.columns[index]),
        float(judged_node.mean[index]),
        float(p_above[index]),
        float(judged_node.p_alone[index]),
        float(judged_node.p_independent[index]),
        tables.block(index).astype(np.float64),
        odds,
        bool(judged_node.approximate[index]),
    )


def _with_share(candidate: TreeCandidate | None, share: float) -> TreeCandidate | None:
    if candidate is None:
        return None
    p_above = from_share(np.array([candidate.p_alone]), np.array([candidate.p_independent]), share)
    return replace(candidate, p_above=float(p_above[0]))


def _connected_nodes(nodes: list[TreeNode]) -> tuple[list[TreeNode], list[int]]:
    """The nodes that are connected with the root, renumbered; and their old numbers.

    A split that was interrupted or taken back leaves children without a parent.
    """
    connected: list[TreeNode] = []
    new_number: dict[int, int] = {}
    for node in nodes:
        parent = -1 if node.number == 0 else node.parent
        is_connected = parent < 0 or (parent in new_number and nodes[parent].split is not None)
        if is_connected:
            new_number[node.number] = len(connected)
            connected.append(node)
    renumbered = []
    for node in connected:
        split = node.split
        if split is not None:
            split = replace(split, children=tuple(new_number[child] for child in split.children))
        renumbered.append(
            replace(node, number=new_number[node.number], parent=new_number.get(node.parent, -1), split=split)
        )
    return renumbered, [node.number for node in connected]
