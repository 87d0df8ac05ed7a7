"""A tree as records: what each node has, why it was split, or why it was not."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.ranges import cut_texts, cuts_after
from credimi.columns.text_types import shown_date
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.information import distribution_of
from credimi.inference.rows_to_decide import growth_to_decide, rounded_up
from credimi.inference.tables.many_tables import summarize
from credimi.results.remarks import worded
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray, Record
    from credimi.counts.rows.node_counter import TreeColumn
    from credimi.results.remarks import Remark

_MAX_CUT_CHARACTERS = 12
_FEW_ROWS = 200.0  # from which on a split needs more than the level
SURE = 0.95  # level of claims: the split of the root, intervals, and that a column tells nothing


@stored
class TreeStop(StrEnum):
    """Why a node is a leaf."""

    PURE = "pure"  # all rows have one class
    NO_COLUMN = "no column"  # no column has two values
    NOTHING = "tells nothing"  # no column tells anything, and that is sure
    UNSURE = "unsure"
    DEPTH = "depth"  # as deep as allowed
    INTERRUPTED = "interrupted"  # before it was tested


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeCandidate:
    """A column that was tested in a node; `p_above` is P(I > epsilon), corrected for the number of tested columns.

    `p_alone` and `p_independent` are P(I > epsilon) and P(independent) of the column alone, from even odds. `table` is
    its block of counts, without classes and values that do not occur; `odds` are its prior odds, which are lower if a
    cut was chosen. `approximate` says that `p_independent` may be off (see `allocation_sum`).
    """

    column: int
    mean: float
    p_above: float
    p_alone: float
    p_independent: float
    table: FloatArray
    odds: float
    approximate: bool = False


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeStandIn:
    """A column that says where a row goes if its value of the split is missing.

    `place_of` has, for each code, its line in `gains`, -1 if the value did not occur; numbers up to the `cut` have the
    first line. `gains[line, branch]` is log P(branch | value) / P(branch).
    """

    column: int
    cut: float | None
    place_of: IntegerArray
    gains: FloatArray
    mean: float
    p_above: float


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeSplit:
    """How a node is split: by a cut (numbers up to it go to the first branch), or by values.

    `branch_of` has the branch of each code, -1 if the value did not occur in the node. Rows without a value go down
    all branches, with weights: the `shares` of the branches, changed by the columns that stand in.
    """

    column: int
    cut: float | None
    branch_of: IntegerArray
    shares: FloatArray
    children: tuple[int, ...]
    stand_ins: tuple[TreeStandIn, ...] = ()


@stored
@dataclass(frozen=True, slots=True, eq=False)
class TreeNode:
    """A node of a tree: `counts` are its rows by class; `rows` includes rows without a class.

    `looked_at` is the number of candidate columns, `best` the one that the node is split by or, in a leaf, the most
    credible one, and `runner_up` the next best.
    """

    number: int
    parent: int
    branch: int
    depth: int
    rows: float
    counts: FloatArray
    looked_at: int = 0
    best: TreeCandidate | None = None
    runner_up: TreeCandidate | None = None
    split: TreeSplit | None = None
    stop: TreeStop | None = None


@stored
@dataclass(frozen=True, eq=False)
class Tree:
    """A grown tree. `probabilities` has the class probabilities of each node."""

    target: str
    classes: tuple[str, ...]
    columns: tuple[TreeColumn, ...]
    nodes: tuple[TreeNode, ...]
    epsilon: float
    level: float
    probabilities: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    left_out: tuple[Record, ...] = ()  # the facts of columns that were not used
    remarks: tuple[Remark, ...] = ()  # on P(independent) that may be off, and on the weights of the rows

    def __getstate__(self) -> Record:
        """The state that is pickled: without what can be computed again."""
        return {name: value for name, value in self.__dict__.items() if name not in {"leaves", "_figures"}}

    @cached_property
    def leaves(self) -> IntegerArray:
        """The numbers of the leaves."""
        return np.array([node.number for node in self.nodes if node.split is None], dtype=np.int64)

    @property
    def depth(self) -> int:
        """The depth of the deepest leaf; that of the root is 0."""
        return max(node.depth for node in self.nodes)

    @property
    def interrupted(self) -> bool:
        """Whether there are nodes that were not tested, because the user interrupted."""
        return any(node.stop == TreeStop.INTERRUPTED for node in self.nodes)

    @cached_property
    def _figures(self) -> dict[int, tuple[float, float, float, float]]:
        """Mean, standard deviation and interval of I for the best candidate of each node."""
        with_best = [node for node in self.nodes if node.best is not None]
        if not with_best:
            return {}
        summary = summarize(_tables(with_best), self._options(), if_dependent=False)
        columns = summary.mean.tolist(), summary.std.tolist(), summary.low.tolist(), summary.high.tolist()
        return {node.number: figures for node, figures in zip(with_best, zip(*columns, strict=True), strict=True)}

    def _options(self) -> Belief:
        return Belief(epsilon=self.epsilon, level=max(self.level, SURE))

    def information(self) -> tuple[FloatArray, FloatArray]:
        """The information of each column in this tree, in nats, and its 95 % interval: sums over nodes.

        The information in a node is that of its branches, weighted with the node's share of the rows.
        """
        mean, variance = np.zeros(len(self.columns)), np.zeros(len(self.columns))
        split_nodes = [node for node in self.nodes if node.split is not None]
        for node, (node_mean, std) in zip(split_nodes, self._branch_figures(split_nodes), strict=True):
            share = node.rows / self.nodes[0].rows
            if node.split is not None:
                mean[node.split.column] += share * node_mean
                variance[node.split.column] += (share * std) ** 2
        upper = np.log(max(len(self.classes), 2))
        mean = np.minimum(mean, upper)  # a sum of estimates may be larger
        intervals = np.zeros((mean.size, 2))
        for column in np.flatnonzero(mean > 0.0).tolist():
            intervals[column] = distribution_of(
                mean[column], float(np.sqrt(variance[column])), upper, gaussian=False
            ).interval(SURE)
        return mean, intervals

    def _branch_figures(self, split_nodes: list[TreeNode]) -> list[tuple[float, float]]:
        """Mean and standard deviation of the information of the branches of each split node.

        Values that share a branch tell less than the column with all its values, which the node was chosen by. The
        branches were chosen by their classes, so they may seem to tell more; then the figures are those of the column.
        """
        if not split_nodes:
            return []
        summary = summarize(_branch_tables(split_nodes), self._options(), if_dependent=False)
        of_branches = zip(summary.mean.tolist(), summary.std.tolist(), strict=True)
        of_columns = (self._figures[node.number][:2] for node in split_nodes)
        return [min(pair) for pair in zip(of_branches, of_columns, strict=True)]

    def rows_to_decide(self, number: int) -> int | None:
        """The rows of an unsure leaf at which about half of all samples would decide about its best column.

        None if these rows decide, but a split needs a higher probability.
        """
        node = self.nodes[number]
        if node.stop != TreeStop.UNSURE or node.best is None or node.best.p_alone >= SURE:
            return None
        growth, _ = growth_to_decide(_tables([node]), self._options())
        return rounded_up(float(growth[0]) * node.rows)

    def branches(self, number: int) -> tuple[str, ...]:
        """The names of a node's branches: ranges, or values, joined by ", "."""
        node = self.nodes[number]
        split = node.split
        if split is None:
            return ()
        column = self.columns[split.column]
        if split.cut is not None:
            if column.labels.instants:
                text = shown_date(np.floor(split.cut) if column.labels.integral else split.cut)
            else:
                text = cut_texts(np.array([split.cut]), column.labels.numbers)[0]
                above = float(np.nextafter(split.cut, np.inf))
                if len(text) > _MAX_CUT_CHARACTERS and float(f"{above:.6g}") == above:  # 1, and not 0.9999999999999999
                    return f"< {above:.6g}", f">= {above:.6g}"
            return f"<= {text}", f"> {text}"
        names: list[list[str]] = [[] for _ in split.children]
        for code, branch in enumerate(split.branch_of.tolist()):
            if branch >= 0:
                names[branch].append(column.values[code])
        return tuple(", ".join(values) for values in names)

    def records(self) -> list[Record]:
        """All nodes as plain data, in the order in which they are printed: each node before its branches."""
        records: list[Record] = []
        waiting = [0]
        while waiting:
            node = self.nodes[waiting.pop()]
            records.append(self._record(node))
            if node.split is not None:
                waiting.extend(reversed(node.split.children))
        return records

    def _record(self, node: TreeNode) -> Record:
        branch = "" if node.number == 0 else self.branches(node.parent)[node.branch]
        probabilities = self.probabilities[node.number]
        record: Record = {
            "node": node.number,
            "parent": None if node.number == 0 else node.parent,
            "depth": node.depth,
            "branch": branch,
            "rows": node.rows,
            "counts": node.counts.tolist(),
            "probabilities": probabilities.tolist(),
            "predicts": self.classes[int(probabilities.argmax())],
            "feature": None if node.split is None else self.columns[node.split.column].name,
            "looked_at": node.looked_at,
            "stop": None if node.stop is None else node.stop.value,
            "rows_to_decide": self.rows_to_decide(node.number),
            "best": None,
            "runner_up": None,
        }
        if node.best is not None:
            mean, _, low, high = self._figures[node.number]
            table = node.best.table
            record["best"] = {
                "feature": self.columns[node.best.column].name,
                "mi": mean,
                "low": low,
                "high": high,
                "p_above": node.best.p_above,
                "p_required": required_probability(node, self.level),
                "missing": float(table[:, -1].sum()),
            }
        if node.runner_up is not None:
            record["runner_up"] = {
                "feature": self.columns[node.runner_up.column].name,
                "mi": node.runner_up.mean,
                "p_above": node.runner_up.p_above,
            }
        if node.split is not None:
            record["branches"] = [
                {"node": child, "name": name, "share": share, "counts": self.nodes[child].counts.tolist()}
                for child, name, share in zip(
                    node.split.children, self.branches(node.number), node.split.shares.tolist(), strict=True
                )
            ]
            record["stand_ins"] = [
                {"feature": self.columns[stand_in.column].name, "mi": stand_in.mean, "p_above": stand_in.p_above}
                for stand_in in node.split.stand_ins
            ]
        return record

    def to_dict(self, *, reader: str = PYTHON) -> Record:
        """The whole tree as plain data, with remarks for this reader."""
        mean, intervals = self.information()
        order = sorted(
            np.flatnonzero(mean > 0.0).tolist(), key=lambda column: (-mean[column], self.columns[column].name)
        )
        return {
            "settings": {"target": self.target, "epsilon": self.epsilon, "level": self.level},
            "classes": list(self.classes),
            "rows": self.nodes[0].rows,
            "columns": len(self.columns),
            "leaves": int(self.leaves.size),
            "depth": self.depth,
            "interrupted": self.interrupted,
            "importances": [
                {
                    "feature": self.columns[column].name,
                    "mi": float(mean[column]),
                    "low": float(intervals[column, 0]),
                    "high": float(intervals[column, 1]),
                }
                for column in order
            ],
            "nodes": self.records(),
            "left_out": [dict(facts) for facts in self.left_out],
            "remarks": worded(self.remarks, reader),
        }


def required_probability(node: TreeNode, level: float) -> float:
    """The probability that a column tells something which is required for a split of this node."""
    doubt = (1.0 - level) * (_FEW_ROWS / max(node.rows, _FEW_ROWS)) ** 2
    return max(1.0 - doubt, SURE) if node.number == 0 else 1.0 - doubt


def cut_between(column: TreeColumn, codes: IntegerArray) -> tuple[float, IntegerArray]:
    """The cut between two codes of a column of numbers, and the side (0 or 1) of each code of the column.

    The sides are those to which rows go in a prediction. Coarse numbers have lost bits, and stand for all numbers up to
    the next that are farther from 0.
    """
    numbers = column.labels.numbers
    low, high = numbers[codes].tolist()
    if column.labels.dropped_bits:
        cut = float(np.nextafter(high, -np.inf)) if high > 0.0 else low
    else:
        cut = float(cuts_after(np.array([low, high]), np.zeros(1, dtype=np.int64))[0])
    return cut, (numbers > cut).astype(np.int64)


def _tables(nodes: list[TreeNode]) -> Tables:
    """The tables of the best candidates."""
    best = [node.best for node in nodes if node.best is not None]
    return Tables.of([candidate.table for candidate in best], [candidate.odds for candidate in best])


def _branch_tables(split_nodes: list[TreeNode]) -> Tables:
    """The tables of the branches: those of the best candidates, with the values of a branch together."""
    tables, odds = [], []
    for node in split_nodes:
        if node.split is None or node.best is None:
            continue
        table = node.best.table
        if node.split.cut is None:
            branch_of = node.split.branch_of[node.split.branch_of >= 0]  # of the values that occur in the node
            together = np.zeros((table.shape[0], node.split.shares.size + 1))
            np.add.at(together.T, np.append(branch_of, node.split.shares.size), table.T)
            table = together
        tables.append(table)
        odds.append(node.best.odds)
    return Tables.of(tables, odds)
