"""Grows a tree that splits only where it is credible, level by level.

**A node** is split by the column that tells most, by the mean of I, among those with P(I > epsilon) >= level; a leaf is
a node in which there is none. A doubtful split may concern few rows only: in nodes of more than `_FEW_ROWS` = 200 rows
the doubt that is allowed, 1 - level, falls with the square of the rows. And the root has to be sure, P >= `SURE` =
0.95: that anything tells anything is a claim.

**Numbers** are cut once in a node, where the least entropy is left, and may be cut again below. That the cut was chosen
among many places is paid for, as in `rank`; the posterior then decides, and no further test is needed. Values of
categories that the data cannot tell apart share a branch (see `merging`).

**Many columns** were looked at, in many nodes, and the best of many looks well by chance. How many of them tell nothing
is learned from all columns in all nodes so far, as the rule fdr does it (see `rules`), but the share may be as small as
`_LEAST_NOISE`. So data in which nearly everything tells something get deep trees, and noisy data small ones. When the
tree is grown the share is that of all nodes. Splits that are not credible with it are taken back.

**Missing values.** A row without the column's value goes down all branches, with weights that other columns tell (see
`stand_ins`); parts below `_LEAST_PART` of a row are left out. Its class counts as one without a value when the column
is judged. Rows without a class count as values without a class.

A level costs two passes over the rows of its nodes, one for the columns that stand in, and two batches of posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.options import PosteriorOptions
from credimi.selection.rules import from_share, share_of_independent
from credimi.selection.trees.judging import judged
from credimi.selection.trees.merging import merged_values
from credimi.selection.trees.nodes import SURE, Tree, TreeCandidate, TreeNode, TreeSplit, TreeStop, cut_between
from credimi.selection.trees.probabilities import learned_probabilities
from credimi.selection.trees.stand_ins import Divided, StandIns, branch_weights

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.tree_rows import NodeTables, TreeRows
    from credimi.selection.trees.judging import Judged
    from credimi.selection.trees.nodes import TreeStandIn

_LEAST_PART = 0.2  # of a row: smaller parts blur the classes of small nodes, and the rows get many
_LEAST_NOISE = 0.1
_FEW_ROWS = 200.0
_ROUNDING = 1e-9  # of the rows of a node: what is less of a class is no row of it


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    """A node that was not looked at yet: its rows (`entries`), the part of each that is here, and the part's weight."""

    node: TreeNode
    entries: IntegerArray
    parts: FloatArray
    weights: FloatArray


def grow(
    rows: TreeRows,
    *,
    epsilon: float = 0.003,
    level: float = 0.5,
    max_depth: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Tree:
    """Grow a tree. If the user interrupts (Ctrl-C), it has what was found so far.

    `progress` is called with the share of the rows that have reached a leaf.
    """
    options = PosteriorOptions(epsilon=epsilon, level=level, threads=threads)
    grower = _Grower(rows, options, max_depth, progress)
    grower.grow()
    return Tree(
        rows.target,
        rows.classes,
        rows.columns,
        tuple(grower.nodes),
        options.epsilon,
        options.level,
        learned_probabilities(grower.nodes),
        tuple(feature.facts for feature in rows.left_out),
    )


class _Grower:
    def __init__(
        self,
        rows: TreeRows,
        options: PosteriorOptions,
        max_depth: int | None,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.rows, self.options, self.max_depth, self.progress = rows, options, max_depth, progress
        self.counter = rows.counter(options.threads)
        self.stand_ins = StandIns(rows, options)
        self.nodes: list[TreeNode] = []
        self.independent: list[FloatArray] = []  # of each node that was looked at: P(independent) of its columns
        weights = np.ones(rows.groups.size) if rows.weights is None else rows.weights
        entries = np.flatnonzero(weights > 0.0)
        self.open = [self._opened((-1, 0, 0), entries, np.ones(entries.size), weights[entries])]
        self.total, self.done = self.open[0].node.rows, 0.0

    def grow(self) -> None:
        """Grow level by level, until all nodes are leaves or the user interrupts."""
        try:
            while self.open:
                self._grow_level()
        except KeyboardInterrupt:
            for number, node in enumerate(self.nodes):
                if node.split is None and node.stop is None:
                    self.nodes[number] = replace(node, stop=TreeStop.INTERRUPTED)
        self._take_back()
        self.nodes = _connected(self.nodes)

    def _take_back(self) -> None:
        """Judge all nodes by the share of noise in the whole tree, and make leaves of those that it makes doubtful."""
        share = self._share_of_independent()
        for number, node in enumerate(self.nodes):
            best = _judged_again(node.best, share)
            split, stop = node.split, node.stop
            if best is not None and best.p_above < self._needed(node):
                split, stop = None, TreeStop.NOTHING if 1.0 - best.p_above >= SURE else TreeStop.UNSURE
            runner_up = _judged_again(node.runner_up, share)
            self.nodes[number] = replace(node, best=best, runner_up=runner_up, split=split, stop=stop)

    def _needed(self, node: TreeNode) -> float:
        """How probable it has to be that a column tells something there."""
        doubt = (1.0 - self.options.level) * (_FEW_ROWS / max(node.rows, _FEW_ROWS)) ** 2
        return max(1.0 - doubt, SURE) if node.number == 0 else 1.0 - doubt

    def _opened(
        self, place: tuple[int, int, int], entries: IntegerArray, parts: FloatArray, weights: FloatArray
    ) -> _Open:
        """A new node; its place is its parent, the branch of it, and the depth."""
        classes = len(self.rows.classes)
        counts = np.bincount(self.rows.groups[entries], weights, classes + 1).astype(np.float64)
        node = TreeNode(len(self.nodes), *place, float(counts.sum()), counts[:classes])
        self.nodes.append(node)
        return _Open(node, entries, parts, weights)

    def _grow_level(self) -> None:
        looked_at: list[_Open] = []
        found = judged(self._counted(looked_at), self.options)
        self.independent += [own.p_independent for own in found]
        share = self._share_of_independent()
        split = [
            each for opened, own in zip(looked_at, found, strict=True) if (each := self._decide(opened, own, share))
        ]
        self.open = []
        for each, stand_ins in zip(split, self.stand_ins.of(split), strict=True):
            self.open += self._divide(each, stand_ins)

    def _counted(self, looked_at: list[_Open]) -> Iterator[NodeTables]:
        """The tables of the nodes that are looked at; the others are leaves."""
        for each in self.open:
            stop = self._stop_before(each.node)
            found = None if stop else self.counter.count(each.entries, each.weights)
            if found is None or not found.columns.size:
                self._leaf(replace(each.node, stop=stop or TreeStop.NO_COLUMN))
                continue
            looked_at.append(each)
            yield found

    def _stop_before(self, node: TreeNode) -> TreeStop | None:
        if np.count_nonzero(node.counts > _ROUNDING * node.rows) < 2:
            return TreeStop.PURE
        return TreeStop.DEPTH if self.max_depth is not None and node.depth >= self.max_depth else None

    def _leaf(self, node: TreeNode) -> None:
        self.nodes[node.number] = node
        self.done += node.rows
        if self.progress is not None:
            self.progress(min(self.done / self.total, 1.0) if self.total > 0.0 else 1.0)

    def _share_of_independent(self) -> float:
        """The share of columns that tell nothing, among all columns of all nodes that were looked at."""
        return share_of_independent(np.concatenate([np.zeros(0), *self.independent]), least=_LEAST_NOISE)

    def _decide(self, each: _Open, own: Judged, share: float) -> Divided | None:
        """How a node is split; None if it is a leaf."""
        node = each.node
        p_above = from_share(own.p_alone, own.p_independent, share)
        credible = p_above >= self._needed(node)
        merit = np.where(credible, own.mean, -1.0) if credible.any() else p_above
        order = np.lexsort((-own.mean, -p_above, -merit))
        best = _candidate(own, p_above, int(order[0]))
        runner_up = _candidate(own, p_above, int(order[1])) if order.size > 1 else None
        node = replace(node, looked_at=own.mean.size, best=best, runner_up=runner_up)
        if not credible.any():
            nothing = 1.0 - float(p_above.max()) >= SURE
            self._leaf(replace(node, stop=TreeStop.NOTHING if nothing else TreeStop.UNSURE))
            return None
        split, codes = self._split(each, best, own.found.places[int(order[0])])
        branch = np.append(split.branch_of, -1)[np.minimum(codes, split.branch_of.size)]
        return Divided(node, split, each.entries, each.parts, each.weights, branch)

    def _divide(self, each: Divided, stand_ins: tuple[TreeStandIn, ...]) -> list[_Open]:
        """The children of a node; rows without a value go down all branches."""
        node, split = each.node, replace(each.split, stand_ins=stand_ins)
        part = np.ones((each.entries.size, split.shares.size))
        lost = each.branch < 0
        if lost.any():
            codes = (self.rows.codes(own.column, each.entries[lost]) for own in stand_ins)
            lines = (np.append(own.place_of, -1)[code] for own, code in zip(stand_ins, codes, strict=True))
            part[lost] = branch_weights(split, lines, int(lost.sum()))
        children = []
        for number, own_part in enumerate(part.T):
            here = (each.branch == number) | (lost & (each.parts * own_part >= _LEAST_PART))
            children.append(
                self._opened(
                    (node.number, number, node.depth + 1),
                    each.entries[here],
                    each.parts[here] * own_part[here],
                    each.weights[here] * own_part[here],
                )
            )
        numbers = tuple(child.node.number for child in children)
        self.nodes[node.number] = replace(node, split=replace(split, children=numbers))
        return children

    def _split(self, each: _Open, best: TreeCandidate, places: IntegerArray) -> tuple[TreeSplit, IntegerArray]:
        """The branches of a node, and the codes of its rows."""
        column = self.rows.columns[best.column]
        codes = self.rows.codes(best.column, each.entries).astype(np.int64)
        totals = best.table[:, :-1].sum(axis=0)
        if column.numbers:
            cut, branch_of = cut_between(column, places)
            return TreeSplit(best.column, cut, branch_of, totals / totals.sum(), ()), codes
        with_class = self.rows.groups[each.entries] < len(self.rows.classes)
        occurs = np.bincount(codes[with_class], each.weights[with_class], column.size + 1)[:-1] > 0.0
        merged = merged_values(best.table[:-1, :-1], ordered=column.ordered, epsilon=self.options.epsilon)
        branch_of = np.full(column.size, -1, dtype=np.int64)
        branch_of[occurs] = merged
        shares = np.bincount(merged, totals)
        return TreeSplit(best.column, None, branch_of, shares / shares.sum(), ()), codes


def _candidate(own: Judged, p_above: FloatArray, place: int) -> TreeCandidate:
    tables = own.found.tables
    odds = 1.0 if tables.odds is None else float(tables.odds[place])
    return TreeCandidate(
        int(own.found.columns[place]),
        float(own.mean[place]),
        float(p_above[place]),
        float(own.p_alone[place]),
        float(own.p_independent[place]),
        tables.block(place).astype(np.float64),
        odds,
    )


def _judged_again(candidate: TreeCandidate | None, share: float) -> TreeCandidate | None:
    if candidate is None:
        return None
    paid = from_share(np.array([candidate.p_alone]), np.array([candidate.p_independent]), share)
    return replace(candidate, p_above=float(paid[0]))


def _connected(nodes: list[TreeNode]) -> list[TreeNode]:
    """The nodes that hang together: a split that was interrupted or taken back leaves children without a parent."""
    kept: list[TreeNode] = []
    place: dict[int, int] = {}
    for node in nodes:
        parent = -1 if node.number == 0 else node.parent
        known = parent < 0 or (parent in place and nodes[parent].split is not None)
        if known:
            place[node.number] = len(kept)
            kept.append(node)
    found = []
    for node in kept:
        split = node.split
        if split is not None:
            split = replace(split, children=tuple(place[child] for child in split.children))
        found.append(replace(node, number=place[node.number], parent=place.get(node.parent, -1), split=split))
    return found
