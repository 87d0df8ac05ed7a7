"""Grows a tree that splits only where it is credible, level by level.

**A node** is split by the column that tells most, by the mean of I, among those with P(I > epsilon) >= level; a leaf is
a node in which there is none. A doubtful split may concern few rows only: in nodes of more than `_FEW_ROWS` = 100 rows
the doubt that is allowed, 1 - level, falls in proportion to the rows. And the root has to be sure, P >= `SURE` = 0.95:
that anything tells anything is a claim.

**Numbers** are cut once in a node, where the least entropy is left, and may be cut again below. That the cut was chosen
among many places is paid for, as in `rank`; the posterior then decides, and no further test is needed. Values of
categories that the data cannot tell apart share a branch (see `tree_merging`).

**Many columns** were looked at, in many nodes, and the best of many looks well by chance. How many of them tell nothing
is learned from all columns in all nodes so far, as the rule fdr does it (see `rules`), but the share may be as small as
`_LEAST_NOISE`. So data in which nearly everything tells something get deep trees, and noisy data small ones. When the
tree is grown the share is that of all nodes. Splits that are not credible with it are taken back.

**Missing values.** A row without the column's value goes down all branches, with their shares as weights; parts below
`_LEAST_PART` of a row are left out. Its class counts as one without a value when the column is judged. Rows without a
class count as values without a class.

A level costs one pass over the rows of its nodes, and one batch of posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.discretize import cuts_after
from credimi.core.tables import Tables
from credimi.inference.batched.many_tables import quick_beliefs
from credimi.inference.options import PosteriorOptions
from credimi.selection.rules import from_share, share_of_independent
from credimi.selection.trees.merging import merged_values
from credimi.selection.trees.nodes import SURE, Tree, TreeCandidate, TreeNode, TreeSplit, TreeStop
from credimi.selection.trees.probabilities import learned_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.tree_rows import NodeTables, TreeRows
    from credimi.inference.batched.many_tables import Beliefs

_LEAST_PART = 0.2  # of a row: smaller parts blur the classes of small nodes, and the rows get many
_MOST_CELLS = 1 << 22  # of the tables that are judged in one batch
_LEAST_NOISE = 0.1
_FEW_ROWS = 100.0
_NO_COUNT = 1e-9  # a weight that is rounding


@dataclass(frozen=True, slots=True, eq=False)
class _Open:
    """A node that was not looked at yet: which rows it has, the part of each, and its weight."""

    node: TreeNode
    entries: IntegerArray
    parts: FloatArray
    weights: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """What is believed of the columns of a node, one entry for each candidate."""

    found: NodeTables
    mean: FloatArray
    p_alone: FloatArray
    p_independent: FloatArray


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
        doubt = (1.0 - self.options.level) * min(1.0, _FEW_ROWS / max(node.rows, 1.0))
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
        waiting: list[tuple[_Open, NodeTables]] = []
        cells, following = 0, []
        judged: list[tuple[_Open, _Judged]] = []
        for each in self.open:
            stop = self._stop_before(each.node)
            found = None if stop else self.counter.count(each.entries, each.weights)
            if found is None or not found.columns.size:
                self._leaf(replace(each.node, stop=stop or TreeStop.NO_COLUMN))
                continue
            waiting.append((each, found))
            cells += found.tables.flat.size
            if cells > _MOST_CELLS:
                judged += self._judged(waiting)
                waiting, cells = [], 0
        judged += self._judged(waiting)
        self.independent += [own.p_independent for _, own in judged]
        share = self._share_of_independent()
        for each, own in judged:
            following += self._decide(each, own, share)
        self.open = following

    def _stop_before(self, node: TreeNode) -> TreeStop | None:
        if np.count_nonzero(node.counts > _NO_COUNT) < 2:
            return TreeStop.PURE
        return TreeStop.DEPTH if self.max_depth is not None and node.depth >= self.max_depth else None

    def _leaf(self, node: TreeNode) -> None:
        self.nodes[node.number] = node
        self.done += node.rows
        if self.progress is not None:
            self.progress(min(self.done / self.total, 1.0) if self.total > 0.0 else 1.0)

    def _judged(self, waiting: list[tuple[_Open, NodeTables]]) -> list[tuple[_Open, _Judged]]:
        """The posteriors of all tables of some nodes, in one batch."""
        if not waiting:
            return []
        tables = [found.tables for _, found in waiting]
        joined = Tables(
            np.concatenate([each.flat for each in tables]),
            np.concatenate([each.rows for each in tables]),
            np.concatenate([each.columns for each in tables]),
            np.concatenate([each.odds for each in tables if each.odds is not None]),
        )
        believed = quick_beliefs(joined, self.options)
        ends = np.cumsum([found.columns.size for _, found in waiting])
        return [
            (each, _judged_node(found, believed, slice(end - found.columns.size, end)))
            for (each, found), end in zip(waiting, ends.tolist(), strict=True)
        ]

    def _share_of_independent(self) -> float:
        """The share of columns that tell nothing, among all columns of all nodes that were looked at."""
        return share_of_independent(np.concatenate([np.zeros(0), *self.independent]), least=_LEAST_NOISE)

    def _decide(self, each: _Open, own: _Judged, share: float) -> list[_Open]:
        """Split a node, or make it a leaf."""
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
            return []
        split, codes = self._split(each, best, own.found.places[int(order[0])])
        branch = np.append(split.branch_of, -1)[np.minimum(codes, split.branch_of.size)]
        children = []
        lost = branch < 0
        for number in range(split.shares.size):
            here = branch == number
            if lost.any():
                here |= lost & (each.parts * split.shares[number] >= _LEAST_PART)
            part = np.where(lost[here], split.shares[number], 1.0) if lost.any() else 1.0
            children.append(
                self._opened(
                    (node.number, number, node.depth + 1),
                    each.entries[here],
                    each.parts[here] * part,
                    each.weights[here] * part,
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
            cut = _cut_between(*column.labels.numbers[places].tolist(), coarse=bool(column.labels.dropped_bits))
            branch_of = (np.arange(column.size) > places[0]).astype(np.int64)
            return TreeSplit(best.column, cut, branch_of, totals / totals.sum(), ()), codes
        with_class = self.rows.groups[each.entries] < len(self.rows.classes)
        occurs = np.bincount(codes[with_class], each.weights[with_class], column.size + 1)[:-1] > 0.0
        merged = merged_values(best.table[:-1, :-1], ordered=column.ordered, epsilon=self.options.epsilon)
        branch_of = np.full(column.size, -1, dtype=np.int64)
        branch_of[occurs] = merged
        shares = np.bincount(merged, totals)
        return TreeSplit(best.column, None, branch_of, shares / shares.sum(), ()), codes


def _judged_node(found: NodeTables, believed: Beliefs, own: slice) -> _Judged:
    return _Judged(found, believed.mean[own], believed.p_above[own], believed.p_independent[own])


def _candidate(own: _Judged, p_above: FloatArray, place: int) -> TreeCandidate:
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


def _cut_between(low: float, high: float, *, coarse: bool) -> float:
    """The cut between two numbers; coarse ones have lost bits, and stand for all numbers that are farther from 0."""
    if coarse:
        return float(np.nextafter(high, -np.inf)) if high > 0.0 else low
    return float(cuts_after(np.array([low, high]), np.zeros(1, dtype=np.int64))[0])


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
