"""`NodeRows`: which rows are in which node of a tree, and the counts of the columns there; these add up over parts.

A question says how a node is divided. A row without a value at a split goes down all branches, with a part of its
weight in each; parts below `_MIN_PART` of a row are left out.

Columns of up to 255 values are stored row by row, one byte per cell, so that the rows of a node are read once for all
of them. Each other column is an array of two bytes per cell.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.codes import Codebook, Codes

MAX_NARROW_VALUES = 255  # of a column of bytes; the largest byte is "missing"
_ROWS_AT_ONCE = 1 << 16
_MIN_PART = 0.2  # of a row: smaller parts would blur the classes of small nodes, and be many


@dataclass(slots=True, eq=False)
class Members:
    """The rows of a node, the part of each that is in it, and its weight; and its branch, once it is divided."""

    rows: IntegerArray
    parts: FloatArray
    weights: FloatArray
    branch: IntegerArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


class NodeRows:
    """The rows of the open nodes, which have numbers; 0 is the root, with all rows."""

    def __init__(self, codes: Codes) -> None:
        self.codes, self.columns_in_order = codes, narrow_first(codes.book)
        is_narrow = codes.sizes <= MAX_NARROW_VALUES
        self.narrow_columns, self.wide_columns = np.flatnonzero(is_narrow), np.flatnonzero(~is_narrow)
        self.narrow = codes.storage.zeros((codes.groups.size, self.narrow_columns.size), np.uint8)
        for start in range(0, codes.groups.size, _ROWS_AT_ONCE):  # a file is written from its start to its end
            part = slice(start, start + _ROWS_AT_ONCE)
            for place, column in enumerate(self.narrow_columns.tolist()):
                self.narrow[part, place] = codes.columns[column][part]
        self.groups = codes.groups.astype(np.uint16)
        self.branches = np.zeros_like(self.groups)  # of the rows of the node at hand
        weights = np.ones(self.groups.size) if codes.weights is None else codes.weights
        rows = np.flatnonzero(weights > 0.0)
        self.members = {0: Members(rows, np.ones(rows.size), weights[rows])}

    def class_totals(self, node: int) -> FloatArray:
        """The weight of each class in a node; that of rows without a class comes last."""
        members = self.members[node]
        totals = np.bincount(self.groups[members.rows], members.weights, len(self.codes.classes) + 1)
        return totals.astype(np.float64)

    def cells(self, node: int, branches: int = 0) -> FloatArray:
        """The class totals of a node, and the blocks of all columns, narrow ones first; missing counts are last.

        With `branches`, the node is divided, and columns are counted against its branches.
        """
        from credimi.counts.nodes import node_tables  # noqa: PLC0415  (loads compiled code)

        members = self.members[node]
        height = (branches or len(self.codes.classes)) + 1
        groups = self._groups_of_branches(members, branches) if branches else self.groups
        widths = self.codes.sizes[self.columns_in_order] + 1
        flat = np.zeros(height * (1 + int(widths.sum())))
        own = groups[members.rows].astype(np.int64)
        flat[:height] = np.bincount(own, members.weights, height)
        starts = height * (1 + np.cumsum(widths) - widths)
        count = self.narrow_columns.size
        node_tables.count_columns(
            self.narrow, groups, members.rows, members.weights, 0, count, starts[:count], widths[:count], flat
        )
        places = zip(self.wide_columns.tolist(), starts[count:].tolist(), widths[count:].tolist(), strict=True)
        for column, start, width in places:
            place = own * width + np.minimum(self.codes.columns[column][members.rows], width - 1)
            flat[start : start + height * width] = np.bincount(place, members.weights, height * width)
        return flat

    def divide(self, node: int, column: int, branch_of: IntegerArray) -> None:
        """Divide a node: `branch_of` has the branch of each value of the column, -1 for values without one."""
        members = self.members[node]
        codes = self.codes.columns[column][members.rows]
        members.branch = np.append(branch_of, -1)[np.minimum(codes, branch_of.size)]

    def descend(
        self,
        node: int,
        children: Sequence[int],
        stand_ins: Sequence[tuple[int, IntegerArray]],
        shares_of: Callable[[Iterator[IntegerArray], int], FloatArray],
    ) -> None:
        """Send the rows of a divided node to its children; rows without a value go down all branches.

        `shares_of` says with what probabilities, (rows, branches). It gets the line of each row in each of the columns
        that stand in: `stand_ins` has their numbers, and the line of each code. And it gets the number of rows.
        """
        members = self.members.pop(node)
        shares = np.ones((members.rows.size, len(children)))
        missing = members.branch < 0
        if missing.any():
            rows = members.rows[missing]
            lines = (np.append(line_of, -1)[self.codes.columns[column][rows]] for column, line_of in stand_ins)
            shares[missing] = shares_of(lines, rows.size)
        for branch, (child, part) in enumerate(zip(children, shares.T, strict=True)):
            stays = (members.branch == branch) | (missing & (members.parts * part >= _MIN_PART))
            parts, weights = members.parts[stays] * part[stays], members.weights[stays] * part[stays]
            self.members[child] = Members(members.rows[stays], parts, weights)

    def close(self, node: int) -> None:
        """Forget the rows of a leaf."""
        del self.members[node]

    def _groups_of_branches(self, members: Members, branches: int) -> NDArray[np.uint16]:
        self.branches[members.rows] = np.where(members.branch < 0, branches, members.branch)
        return self.branches


def narrow_first(book: Codebook) -> IntegerArray:
    """The columns in the order in which they are counted: those of up to 255 values first."""
    return np.argsort(book.sizes > MAX_NARROW_VALUES, kind="stable")
