"""Many tables of counts in one flat array; counts moved to other labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import entropy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, BooleanArray, FloatArray, IntegerArray

    CountArray = AnyArray
    Positions = IntegerArray


_BOUND = 3  # the row of `averaged` with the upper bound


@dataclass(frozen=True, eq=False)
class Tables:
    """Many tables in one flat array, each block (r + 1) x (s + 1) with the missing counts last (see many_tables).

    `odds` are prior odds that target and feature depend, which multiply those of the adaptive prior; 1 by default.
    `averaged` has, for columns of numbers of which no cut was chosen, the components of their posterior (3, size): log
    evidence relative to independence, mean and variance of I; the table is then that of the most probable ranges. Where
    the target is a number, too, a fourth row has the upper bound of I.
    """

    flat: NDArray[np.number]
    rows: IntegerArray
    columns: IntegerArray
    odds: FloatArray | None = None
    averaged: tuple[FloatArray | None, ...] | None = None

    @cached_property
    def offsets(self) -> IntegerArray:
        """Where each block starts."""
        sizes = (self.rows + 1) * (self.columns + 1)
        offsets = np.zeros(sizes.size, dtype=np.int64)
        np.cumsum(sizes[:-1], out=offsets[1:])
        return offsets

    def block(self, table: int) -> NDArray[np.number]:
        """One block, (r + 1) x (s + 1)."""
        start, shape = self.offsets[table], (self.rows[table] + 1, self.columns[table] + 1)
        return self.flat[start : start + shape[0] * shape[1]].reshape(shape)

    @property
    def entropy_of_target(self) -> float:
        """The entropy of the target in nats, if it is the same in all tables; NaN if no row has it."""
        totals = self.block(0)[:-1].sum(axis=1) if self.rows.size else np.zeros(1)
        return entropy(totals) if totals.any() else np.nan

    def chosen(self, tables: BooleanArray) -> Tables:
        """The tables where the mask `tables` is true."""
        cells = np.repeat(tables, (self.rows + 1) * (self.columns + 1))
        odds = None if self.odds is None else self.odds[tables]
        averaged = None
        if self.averaged is not None:
            averaged = tuple(each for each, wanted in zip(self.averaged, tables.tolist(), strict=True) if wanted)
        return Tables(self.flat[cells], self.rows[tables], self.columns[tables], odds, averaged)

    @property
    def upper(self) -> FloatArray:
        """The upper bound of the information of each table; averaged numbers have more cells than classes."""
        least = np.minimum(self.rows, self.columns)
        if self.averaged is not None:
            least = np.where([each is not None for each in self.averaged], self.rows, least)
        upper: FloatArray = np.log(least)
        for table, each in enumerate(self.averaged or ()):
            if each is not None and each.shape[0] > _BOUND:
                upper[table] = each[_BOUND, 0]
        return upper

    @classmethod
    def of(
        cls,
        blocks: list[FloatArray],
        odds: list[float] | None = None,
        averaged: Sequence[FloatArray | None] | None = None,
    ) -> Tables:
        """Join blocks as `Table.block` makes them."""
        return cls(
            np.concatenate([block.ravel() for block in blocks]) if blocks else np.zeros(0),
            np.array([block.shape[0] - 1 for block in blocks], dtype=np.int64),
            np.array([block.shape[1] - 1 for block in blocks], dtype=np.int64),
            None if odds is None else np.array(odds, dtype=np.float64),
            None if averaged is None or all(each is None for each in averaged) else tuple(averaged),
        )

    @classmethod
    def joined(cls, parts: Sequence[Tables]) -> Tables:
        """The tables of several such records, one after the other."""
        if not parts:
            return cls.of([])
        flat, rows, columns = (
            np.concatenate([getattr(part, name) for part in parts]) for name in ("flat", "rows", "columns")
        )
        odds = [part.odds for part in parts if part.odds is not None]
        return cls(flat, rows, columns, np.concatenate(odds) if odds else None)


def relabel(block: CountArray, rows: Positions, columns: Positions, size: tuple[int, int]) -> CountArray:
    """A block on more or fewer labels: row i goes to `rows[i]`, column j to `columns[j]`, missing counts stay last."""
    height, width = size
    if block.shape == (height + 1, width + 1) and _is_identity(rows) and _is_identity(columns):
        return block
    columns_moved = np.zeros((block.shape[0], width + 1), dtype=block.dtype)
    _add_rows(columns_moved.T, np.append(columns, width), block.T)
    if height + 1 == block.shape[0] and _is_identity(rows):
        return columns_moved
    out = np.zeros((height + 1, width + 1), dtype=block.dtype)
    _add_rows(out, np.append(rows, height), columns_moved)
    return out


def _add_rows(out: CountArray, positions: Positions, block: CountArray) -> None:
    """Add row i of the block to row positions[i]; several rows may go to the same one."""
    if np.all(positions[1:] > positions[:-1]):
        out[positions] = block
    else:
        np.add.at(out, positions, block)


def _is_identity(positions: Positions) -> bool:
    return bool((positions == np.arange(positions.size)).all())
