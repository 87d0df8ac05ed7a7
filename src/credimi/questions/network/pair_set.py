"""`PairSet`: a subset of all pairs of columns, so that figures of these pairs need no matrix of all pairs.

With thousands of columns, nearly all pairs are independent as far as one can see, and nothing more is computed for
them. The figures of the other pairs are in arrays with one entry for each pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """Pairs (`one`, `other`) of column indices: `one` < `other`, in the order (0, 1), (0, 2) ... (1, 2) ...

    `columns` is the number of columns.

    Examples
    --------
    >>> pairs = PairSet(4, np.array([0, 1, 2]), np.array([2, 3, 3]))
    >>> pairs.index_of(np.array([3, 0]), np.array([2, 2])).tolist()
    [2, 0]
    >>> pairs.numbers.tolist()
    [1, 4, 5]
    """

    columns: int
    one: IntegerArray
    other: IntegerArray
    _keys: IntegerArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_keys", self.one * self.columns + self.other)

    def __len__(self) -> int:
        return self._keys.size

    def index_of(self, u: IntegerArray, v: IntegerArray) -> IntegerArray:
        """The index of each pair (u, v) or (v, u) in this set; all of them have to be in it."""
        return np.searchsorted(self._keys, np.minimum(u, v) * self.columns + np.maximum(u, v))

    def find(self, u: int, v: int) -> int | None:
        """The index of one pair (u, v) or (v, u); None if it is not in this set."""
        key = min(u, v) * self.columns + max(u, v)
        index = int(np.searchsorted(self._keys, key))
        return index if index < self._keys.size and self._keys[index] == key else None

    def union(self, other: PairSet) -> PairSet:
        """The pairs of both sets."""
        keys = np.union1d(self._keys, other._keys)
        return PairSet(self.columns, keys // self.columns, keys % self.columns)

    def matrix(self, forward: FloatArray, backward: FloatArray) -> FloatArray:
        """A square matrix over all columns: `forward` at (one, other), `backward` at (other, one), 0 elsewhere."""
        matrix = np.zeros((self.columns, self.columns))
        matrix[self.one, self.other], matrix[self.other, self.one] = forward, backward
        return matrix

    @property
    def numbers(self) -> IntegerArray:
        """The index of each pair among all pairs of the columns."""
        return self.one * (2 * self.columns - self.one - 1) // 2 + self.other - self.one - 1
