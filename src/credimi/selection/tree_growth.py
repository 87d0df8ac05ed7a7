"""Grows a tree that splits only where it is credible, level by level.

**A node** is split by the column that tells most, by the mean of I, among those with P(I > epsilon) >= level; a leaf is
a node in which there is none. The root has to be sure, P >= `SURE` = 0.95: that anything tells anything is a claim.

**Numbers** are cut once in a node, where the least entropy is left, and may be cut again below. That the cut was chosen
among many places is paid for, as in `rank`; the posterior then decides, and no further test is needed. Values of
categories that the data cannot tell apart share a branch (see `tree_merging`).

**Many columns** were looked at, and the best of many looks well by chance. How many of them tell nothing is learned in
each node from all of them, as the rule fdr does it (see `rules`). In the same way it is learned from all nodes so far
whether nodes of this tree tend to hold a column that tells something: with P of the best column of node v, p_v, from
even odds, the share t of such nodes is found by EM from the odds p_v t / ((1 - p_v)(1 - t)), and these are then the
odds in all nodes. Data without noise so get deep trees, and noisy data small ones.

**Missing values.** A row without the column's value goes down all branches, with their shares as weights; parts below
`_LEAST_PART` of a row are left out. Its class counts as one without a value when the column is judged. Rows without a
class count as values without a class.

A level costs one pass over the rows of its nodes, and one batch of posteriors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.discretize import cuts_after
from credimi.core.tables import Tables
from credimi.inference.many_tables import quick_beliefs
from credimi.inference.options import PosteriorOptions
from credimi.selection.rules import from_common_odds
from credimi.selection.tree_merging import merged_values
from credimi.selection.tree_nodes import SURE, Tree, TreeCandidate, TreeNode, TreeSplit, TreeStop
from credimi.selection.tree_probabilities import learned_probabilities

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.tree_rows import NodeTables, TreeRows
    from credimi.inference.many_tables import Beliefs

_LEAST_PART = 0.02  # of a row
_MOST_CELLS = 1 << 22  # of the tables that are judged in one batch
_MOST_STEPS, _SETTLED, _NEVER = 1_000, 1e-9, 1e-12
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
    p_above: FloatArray


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
        self.hopes: list[float] = []  # of each node that was looked at: P that its best column tells something
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
            self.nodes = _connected(self.nodes)

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
        odds = self._learned_odds([own for _, own in judged])
        for each, own in judged:
            following += self._decide(each, own, odds)
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

    def _learned_odds(self, judged: list[_Judged]) -> float:
        """The odds that a node holds a column that tells something, from all nodes that were looked at; 1 at first."""
        first = not self.hopes
        self.hopes += [float(own.p_above.max()) for own in judged]
        if first or not self.hopes:
            return 1.0
        hopes = np.clip(np.array(self.hopes), _NEVER, 1.0 - _NEVER)
        odds = hopes / (1.0 - hopes)
        share = 0.5
        for _ in range(_MOST_STEPS):
            before, prior = share, share / (1.0 - share)
            share = (float((odds * prior / (1.0 + odds * prior)).sum()) + 1.0) / (odds.size + 2.0)
            if abs(share - before) < _SETTLED:
                break
        return share / (1.0 - share)

    def _decide(self, each: _Open, own: _Judged, odds: float) -> list[_Open]:
        """TreeSplit a node, or make it a leaf."""
        node, level = each.node, self.options.level
        p_above = own.p_above * odds / (own.p_above * odds + (1.0 - own.p_above))
        own = replace(own, p_above=p_above)
        credible = p_above >= (max(level, SURE) if node.number == 0 else level)
        merit = np.where(credible, own.mean, -1.0) if credible.any() else p_above
        order = np.lexsort((-own.mean, -p_above, -merit))
        best = _candidate(own, int(order[0]))
        runner_up = _candidate(own, int(order[1])) if order.size > 1 else None
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
        merged = merged_values(best.table[:-1, :-1], ordered=column.ordered)
        branch_of = np.full(column.size, -1, dtype=np.int64)
        branch_of[occurs] = merged
        shares = np.bincount(merged, totals)
        return TreeSplit(best.column, None, branch_of, shares / shares.sum(), ()), codes


def _judged_node(found: NodeTables, believed: Beliefs, own: slice) -> _Judged:
    p_above = from_common_odds(believed.p_above[own], believed.p_independent[own])
    return _Judged(found, believed.mean[own], p_above)


def _candidate(own: _Judged, place: int) -> TreeCandidate:
    tables = own.found.tables
    odds = 1.0 if tables.odds is None else float(tables.odds[place])
    figures = float(own.mean[place]), float(own.p_above[place])
    return TreeCandidate(int(own.found.columns[place]), *figures, tables.block(place).astype(np.float64), odds)


def _cut_between(low: float, high: float, *, coarse: bool) -> float:
    """The cut between two numbers; coarse ones have lost bits, and stand for all numbers that are farther from 0."""
    if coarse:
        return float(np.nextafter(high, -np.inf)) if high > 0.0 else low
    return float(cuts_after(np.array([low, high]), np.zeros(1, dtype=np.int64))[0])


def _connected(nodes: list[TreeNode]) -> list[TreeNode]:
    """The nodes that hang together: an interrupted split may have left children without a parent."""
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
