"""`Tree`: a grown tree: what its columns tell, its nodes as plain data, and how it is shown and exported."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from credimi.columns.numbers.ranges import cut_texts
from credimi.columns.text_types import shown_date
from credimi.core.arguments import unknown
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.inference.belief import Belief
from credimi.inference.information import distribution_of
from credimi.inference.rows_to_decide import growth_to_decide, rounded_up
from credimi.inference.tables.many_tables import summarize
from credimi.questions.tree import view
from credimi.questions.tree.nodes import SURE, TreeCandidate, TreeNode, TreeStandIn, TreeStop, required_probability
from credimi.results.remarks import worded
from credimi.results.result import RecordResult
from credimi.results.section import NATS
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

    from matplotlib.axes import Axes

    from credimi.core.types import FloatArray, IntegerArray, Record, Value
    from credimi.counts.nodes.node_counter import TreeColumn
    from credimi.results.remarks import Remark
    from credimi.results.section import Section, Shown

_MAX_CUT_CHARACTERS = 12
_COLUMNS = (
    "node",
    "parent",
    "depth",
    "branch",
    "rows",
    "predicts",
    "feature",
    "stop",
    "rows_to_decide",
    "best",
    "mi",
    "low",
    "high",
    "p_above",
    "counts",
    "probabilities",
)


@stored
@dataclass(frozen=True, eq=False, repr=False)
class Tree(RecordResult):
    """A grown tree: a row for each node, each node before its branches. Prints as text, one line for each node.

    `inputs` are the columns it was grown from, `nodes` its nodes as records, `probabilities` the class probabilities of
    each. The rows have

    - node, parent, depth: the number of the node, that of the node above, and how many nodes are above
    - branch: the values or the range of the parent's column that lead here
    - rows, counts, probabilities, predicts: how many rows are here, how many of each class, the probabilities of the
      classes, and the most probable class
    - feature: the column by which the node is split; None for leaves
    - stop, rows_to_decide: why a leaf is not split, and the rows at which half of all samples would decide about it
    - best, mi, low, high, p_above: the column that tells most here, what it tells in nats, the 95 % interval, and the
      probability of more than epsilon
    """

    _view: ClassVar[ModuleType] = view
    _key: ClassVar[tuple[str, ...]] = ("node",)
    _called: ClassVar[str] = "tree"
    rows_in_json: ClassVar[str] = "nodes"
    _styles: ClassVar[tuple[str, ...]] = ("tables.css", "tree.css")

    target: str
    classes: tuple[str, ...]
    inputs: tuple[TreeColumn, ...]
    nodes: tuple[TreeNode, ...]
    epsilon: float
    level: float
    epsilon_share: str | None = None  # what epsilon was, if it was a share of the entropy of the target
    probabilities: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))
    left_out: tuple[Record, ...] = ()  # the facts of columns that were not used
    target_as: str | None = None  # "ranges" if the target is a number
    remarks: tuple[Remark, ...] = ()  # on P(independent) that may be off, and on the weights of the rows

    def __getstate__(self) -> Record:
        """The state that is pickled: without what can be computed again."""
        return {each.name: getattr(self, each.name) for each in fields(self)}

    @property
    def settings(self) -> Record:  # type: ignore[override]  # made of the fields
        """The options of the tree."""
        of_number = {} if self.target_as is None else {"target_as": self.target_as}
        return {"target": self.target, **self._options().threshold, "level": self.level} | of_number

    @property
    def features(self) -> tuple[str, ...]:
        """The columns by which nodes are split, those that tell most first."""
        return tuple(each["feature"] for each in self._importances())

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
        return Belief(epsilon=self.epsilon, level=max(self.level, SURE), epsilon_share=self.epsilon_share)

    def _unknown(self, name: Value) -> str:
        if not isinstance(name, str):
            return super()._unknown(name)
        offered = [column.name for column in self.inputs]
        if name not in offered:
            return unknown(name, offered)
        nodes = [row["node"] for row in self if row["feature"] == name]
        asked = f"splits node {', '.join(map(str, nodes))}" if nodes else "splits no node"
        return f"the rows of a tree are its nodes: pass a number; {name!r} {asked}"

    def information(self) -> tuple[FloatArray, FloatArray]:
        """The information of each column in this tree, in nats, and its 95 % interval: sums over nodes.

        The information in a node is that of its branches, weighted with the node's share of the rows.
        """
        mean, variance = np.zeros(len(self.inputs)), np.zeros(len(self.inputs))
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
        column = self.inputs[split.column]
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
            records.append(self._node_record(node))
            if node.split is not None:
                waiting.extend(reversed(node.split.children))
        return records

    def _node_record(self, node: TreeNode) -> Record:
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
            "feature": None if node.split is None else self.inputs[node.split.column].name,
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
                "feature": self.inputs[node.best.column].name,
                "mi": mean,
                "low": low,
                "high": high,
                "p_above": node.best.p_above,
                "p_required": required_probability(node, self.level),
                "missing": float(table[:, -1].sum()),
            }
        if node.runner_up is not None:
            record["runner_up"] = self._named(node.runner_up)
        if node.split is not None:
            record["branches"] = [
                {"node": child, "name": name, "share": share, "counts": self.nodes[child].counts.tolist()}
                for child, name, share in zip(
                    node.split.children, self.branches(node.number), node.split.shares.tolist(), strict=True
                )
            ]
            record["stand_ins"] = list(map(self._named, node.split.stand_ins))
        return record

    def _named(self, other: TreeCandidate | TreeStandIn) -> Record:
        """Another column than the one a node is split by, and what it tells there."""
        return {"feature": self.inputs[other.column].name, "mi": other.mean, "p_above": other.p_above}

    def _importances(self) -> list[Record]:
        """What each column tells in this tree; those that tell most first."""
        mean, intervals = self.information()
        told = np.flatnonzero(mean > 0.0).tolist()
        order = sorted(told, key=lambda column: (-mean[column], self.inputs[column].name))
        names = ("feature", "mi", "low", "high")
        figures = [(self.inputs[each].name, float(mean[each]), *intervals[each].tolist()) for each in order]
        return [dict(zip(names, each, strict=True)) for each in figures]

    def to_dict(self, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """The whole tree as plain data, with remarks for this reader."""
        return {
            "settings": self._settings(units),
            "classes": list(self.classes),
            "rows": self.nodes[0].rows,
            "columns": len(self.inputs),
            "leaves": int(self.leaves.size),
            "depth": self.depth,
            "interrupted": self.interrupted,
            "importances": self._importances(),
            "nodes": self.records(),
            "left_out": [dict(facts) for facts in self.left_out],
            "remarks": worded(self.remarks, reader, units),
        }

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return _COLUMNS

    def rows_as_records(self) -> list[Record]:
        """The nodes as flat rows; `tells` to `p_above` are of the column that it is split by, or might have been."""
        rows = []
        for node in self.records():
            best = node["best"] or dict.fromkeys(("feature", "mi", "low", "high", "p_above"))
            figures = {name: best[name] for name in ("low", "high", "p_above")}
            rows.append(node | {"best": best["feature"], "mi": best["mi"]} | figures)
        return rows

    def plot(self, path: str | Path | None = None, *, max_depth: int | None = None, ax: Axes | None = None) -> Axes:
        """Draw the tree, with matplotlib, down to this depth; also into a .png, .svg or .pdf file, if one is named."""
        return self._plotted(path, ax, max_depth=max_depth)

    def _page_sections(self, shown: Shown) -> Iterator[Section]:
        return view.page_sections(self, shown)


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
