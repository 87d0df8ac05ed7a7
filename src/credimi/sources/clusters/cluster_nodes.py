"""`NodesElsewhere`: counts the nodes of a tree on rows that are elsewhere, all open nodes of a level together.

What is sent is the tree: how each ancestor of the wanted nodes was divided, and what columns stand in for missing
values. The workers send their rows down this tree (`NodeRows`), count all columns in the wanted nodes, and forget the
tree again. Here the added-up counts become the tables that are judged, as in `NodeCounter`.

A level takes two asks, one for its nodes and one for the branches of those that were divided, unless their counts have
more than `_CELLS_AT_ONCE` cells. A column of numbers has a cell for each of its values and classes.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.counts.nodes.node_counter import NodeTables, tree_columns
from credimi.counts.nodes.node_rows import MAX_NARROW_VALUES, NodeRows, narrow_first
from credimi.sources.clusters.asked import Added

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.core.types import AnyArray, BooleanArray, FloatArray, IntegerArray
    from credimi.counts.codes import Codebook, Codes
    from credimi.sources.clusters.asked import RowsElsewhere

    SharesOf = Callable[[Iterator[IntegerArray], int], FloatArray]
    _Packed = tuple[int, bytes, tuple[int, ...], tuple[tuple[int, bytes], ...], SharesOf | None]

_CELLS_AT_ONCE = 1 << 22
_CELLS_KEPT = 1 << 23


@dataclass(slots=True)
class _Division:
    """How a node is divided, and how its rows went to its children, once they did."""

    column: int
    branch_of: IntegerArray
    children: tuple[int, ...] = ()
    stand_ins: tuple[tuple[int, IntegerArray], ...] = ()
    shares_of: SharesOf | None = None

    @property
    def branches(self) -> int:
        """Their number."""
        return int(self.branch_of.max(initial=-1)) + 1

    def packed(self) -> _Packed:
        """What is sent: the branches, compressed, as they are long arrays of few numbers."""
        stand_ins = tuple((column, _compressed(branch_of)) for column, branch_of in self.stand_ins)
        return self.column, _compressed(self.branch_of), self.children, stand_ins, self.shares_of


def _compressed(numbers: IntegerArray) -> bytes:
    return zlib.compress(numbers.astype("<i8").tobytes())


def _restored(data: bytes) -> IntegerArray:
    return np.frombuffer(zlib.decompress(data), dtype="<i8").astype(np.int64)


class NodesElsewhere:
    """The nodes of a tree on rows that are elsewhere."""

    def __init__(self, book: Codebook, elsewhere: RowsElsewhere) -> None:
        self.book, self.columns = book, tree_columns(book)
        self._elsewhere, self._order = elsewhere, narrow_first(book)
        self._widths = book.sizes[self._order] + 1
        self._place = np.argsort(self._order)  # of each column in that order
        self._numbers = np.array([self.columns[column].numbers for column in self._order.tolist()], dtype=np.uint8)
        self._divisions: dict[int, _Division] = {}
        self._parents: dict[int, int] = {}
        self._open = [0]
        self._cells: dict[tuple[int, int], FloatArray] = {}  # by node, and its number of branches; 0 for the classes
        self._last = 0

    def class_totals(self, node: int) -> FloatArray:
        """The weight of each class in a node; that of rows without a class comes last."""
        return self._counted(node)[: len(self.book.classes) + 1].copy()

    def tables(self, node: int) -> NodeTables:
        """The tables of all columns that have at least two classes and two values in a node."""
        self._last = node
        return self._interpreted(self._counted(node), len(self.book.classes))

    def value_counts(self, node: int, column: int) -> FloatArray:
        """The weight of each value of a column with each class, (values, classes), in the node."""
        return self._block(self._counted(node), len(self.book.classes), column)[:-1, :-1].T.copy()

    def value_counts_of_last(self, column: int) -> FloatArray:
        """The same in the node whose tables were made last, without values that lack."""
        counts = self.value_counts(self._last, column)
        occurring: FloatArray = counts[counts.sum(axis=1) > 0.0]
        return occurring

    def divide(self, node: int, column: int, branch_of: IntegerArray) -> None:
        """Divide a node: `branch_of` has the branch of each value of the column, -1 for values without one."""
        self._divisions[node] = _Division(column, branch_of)

    def branch_tables(self, node: int, branches: int, column: int) -> NodeTables:
        """The tables of all other columns against the branches of a divided node, of which `column` was the split."""
        found = self._interpreted(self._counted(node, branches), branches)
        return found.chosen(found.columns != column)

    def occurs_in_branches(self, node: int, column: int) -> BooleanArray:
        """Which values of a column occur in the rows of a divided node that have a branch."""
        branches = self._divisions[node].branches
        occurs: BooleanArray = self._block(self._counted(node, branches), branches, column)[:-1, :-1].sum(axis=0) > 0.0
        return occurs

    def descend(
        self,
        node: int,
        children: Sequence[int],
        stand_ins: Sequence[tuple[int, IntegerArray]],
        shares_of: SharesOf,
    ) -> None:
        """Send the rows of a divided node to its children; see `NodeRows`."""
        division = self._divisions[node]
        division.children, division.stand_ins, division.shares_of = tuple(children), tuple(stand_ins), shares_of
        self._parents |= dict.fromkeys(children, node)
        self.close(node)
        self._open += children

    def close(self, node: int) -> None:
        """Forget the counts of a leaf."""
        self._open.remove(node)
        for key in [key for key in self._cells if key[0] == node]:
            del self._cells[key]

    def _counted(self, node: int, branches: int = 0) -> FloatArray:
        """The cells of a node (see `NodeRows.cells`); those of others that will be wanted are counted with them."""
        if (node, branches) not in self._cells:
            self._fetch(self._wanted_with((node, branches)))
        return self._cells[node, branches]

    def _wanted_with(self, first: tuple[int, int]) -> list[tuple[int, int]]:
        """The nodes to count now: this one, and others of its kind, as many as are counted at once."""
        wanted, cells = [first], self._size(first[1])
        for node in self._open:
            division = self._divisions.get(node)
            key = node, division.branches if first[1] and division is not None else 0
            cells += self._size(key[1])
            if cells > _CELLS_AT_ONCE:
                break
            if key != first and bool(key[1]) == bool(first[1]) and key not in self._cells:
                wanted.append(key)
        return wanted

    def _size(self, branches: int) -> int:
        return ((branches or len(self.book.classes)) + 1) * (1 + int(self._widths.sum()))

    def _fetch(self, wanted: list[tuple[int, int]]) -> None:
        sizes = [self._size(branches) for _, branches in wanted]
        if sum(sizes) + sum(cells.size for cells in self._cells.values()) > _CELLS_KEPT:
            self._cells.clear()
        flat = self._elsewhere.numbers(CountNodes(self._way_to(wanted), tuple(wanted)))
        if not flat.size:
            flat = np.zeros(sum(sizes))
        self._cells |= zip(wanted, np.split(flat, np.cumsum(sizes)[:-1]), strict=True)

    def _way_to(self, wanted: list[tuple[int, int]]) -> dict[int, _Packed]:
        """The divisions of all ancestors of these nodes, parents first; and of the nodes that are divided."""
        needed = {node for node, branches in wanted if branches}
        for node, _ in wanted:
            parent = self._parents.get(node)
            while parent is not None and parent not in needed:
                needed.add(parent)
                parent = self._parents.get(parent)
        return {node: self._divisions[node].packed() for node in sorted(needed)}

    def _block(self, cells: FloatArray, classes: int, column: int) -> FloatArray:
        place = int(self._place[column])
        start = (classes + 1) * (1 + int(self._widths[:place].sum()))
        width = int(self._widths[place])
        block: FloatArray = cells[start : start + (classes + 1) * width].reshape(classes + 1, width)
        return block

    def _interpreted(self, cells: FloatArray, classes: int) -> NodeTables:
        """The tables of all columns that have at least two groups and two values in these cells."""
        from credimi.counts.nodes import node_tables  # noqa: PLC0415  (loads compiled code)

        cells = cells.copy()
        for column in np.flatnonzero(self.book.sizes > MAX_NARROW_VALUES).tolist():
            if not self.columns[column].numbers:  # as in `NodeCounter`: values without a class count as missing
                block = self._block(cells, classes, column)
                unseen = np.flatnonzero(block[:-1, :-1].sum(axis=0) == 0.0)
                block[-1, -1] += block[-1, unseen].sum()
                block[-1, unseen] = 0.0
        flat, sizes, count = cells[classes + 1 :], (classes + 1) * self._widths, self._widths.size
        out, scratch = np.empty(flat.size), np.empty(2 * classes + int(self._widths.max(initial=1)) + 1)
        shapes, cuts = np.zeros((count, 2), dtype=np.int64), np.full((count, 2), -1, dtype=np.int64)
        shares, offsets = np.ones(count), np.cumsum(sizes) - sizes
        used = node_tables.interpret_columns(
            flat, offsets, self._widths, classes, self._numbers, out, shapes, cuts, shares, scratch
        )
        has_table = shapes[:, 0] > 0
        tables = Tables(out[:used].copy(), shapes[has_table, 0], shapes[has_table, 1], shares[has_table])
        return NodeTables(tables, self._order[has_table], cuts[has_table])


@dataclass(frozen=True, slots=True, eq=False)
class CountNodes(Added):
    """The cells of some nodes; `way` has the divisions that lead there."""

    way: dict[int, _Packed]
    wanted: tuple[tuple[int, int], ...]

    def numbers(self, codes: Codes) -> AnyArray:
        """The cells, one node after the other."""
        rows = NodeRows(codes)
        for node, (column, branch_of, children, stand_ins, shares_of) in self.way.items():
            rows.divide(node, column, _restored(branch_of))
            if children and shares_of is not None:
                rows.descend(node, children, [(other, _restored(of)) for other, of in stand_ins], shares_of)
        return np.concatenate([rows.cells(node, branches) for node, branches in self.wanted])
