"""`DistinctRows`: the different rows of a coded table, and how often each occurs, in an order of their own.

What is drawn for rows with missing values must not depend on where a row stands in the data, nor on whether equal rows
are written one by one or once with a weight. So rows are sorted by their codes, and equal ones are put together. Equal
rows are exchangeable: it does not matter which of them a draw belongs to.

A row of whole weight w stands for w `units` of weight 1, each of which is completed for itself. Another weight w stands
for as many units as w rounded up, of equal weight: w = 0.3 is completed once, w = 2.5 three times, with 2.5/3 each.

The cost is that of sorting: O(columns rows log rows).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

    Codes = NDArray[np.uint16]

_WHOLE = 1e-9  # a weight that is so near to a whole number is meant to be one
_NO_WEIGHTS = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """The different rows, sorted: `codes` is (columns, rows), `units` says for how many rows each of them stands.

    `unit_weights` are the weights of one unit of each row.

    Examples
    --------
    >>> table = DistinctRows.of(np.array([[1, 0, 1], [0, 2, 0]], dtype=np.uint16), np.array([1.0, 0.5, 2.0]))
    >>> table.codes.tolist(), table.units.tolist(), table.unit_weights.tolist()
    ([[0, 1], [2, 0]], [1, 3], [0.5, 1.0])
    """

    codes: Codes
    units: IntegerArray
    unit_weights: FloatArray

    @classmethod
    def of(cls, codes: Codes, weights: FloatArray = _NO_WEIGHTS) -> DistinctRows:
        """The different rows of a table; `weights` are those of the rows, none if all are 1."""
        row_weights = weights if weights.size else np.ones(codes.shape[1])
        units = np.ceil(row_weights * (1.0 - _WHOLE)).astype(np.int64)  # none of a row without weight
        unit_weights = row_weights / np.maximum(units, 1)
        return cls(codes, units, unit_weights).merged(units > 0)

    def merged(self, rows: NDArray[np.bool_] | None = None) -> DistinctRows:
        """Equal rows put together, among these rows or all, and sorted."""
        chosen = np.arange(self.units.size) if rows is None else np.flatnonzero(rows)
        order = chosen[np.lexsort((self.unit_weights[chosen], *self.codes[::-1, chosen]))]
        codes, unit_weights = self.codes[:, order], self.unit_weights[order]
        is_new = np.ones(order.size, dtype=bool)
        is_new[1:] = (codes[:, 1:] != codes[:, :-1]).any(axis=0) | (unit_weights[1:] != unit_weights[:-1])
        units = np.add.reduceat(self.units[order], np.flatnonzero(is_new)) if order.size else self.units[order]
        return DistinctRows(np.ascontiguousarray(codes[:, is_new]), units, unit_weights[is_new])

    def with_more(self, other: DistinctRows) -> DistinctRows:
        """These rows and others."""
        names = ("units", "unit_weights")
        units, unit_weights = (np.concatenate([getattr(each, name) for each in (self, other)]) for name in names)
        return DistinctRows(np.concatenate([self.codes, other.codes], axis=1), units, unit_weights).merged()

    @property
    def weights(self) -> FloatArray:
        """The weights of the rows; none if all are 1."""
        weights: FloatArray = self.units * self.unit_weights
        return _NO_WEIGHTS if (weights == 1.0).all() else weights
