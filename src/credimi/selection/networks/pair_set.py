"""`PairSet`: some of all pairs of columns, so that what is known of each pair takes no matrix of all of them.

Of thousands of columns, nearly all pairs are independent as far as one can see, and nothing more is asked of them. Of
the others, figures are kept in arrays, one place a pair.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray


@dataclass(frozen=True, slots=True, eq=False)
class PairSet:
    """Pairs of so many columns: `one` < `other`, in the order (0, 1), (0, 2) ... (1, 2) ...

    Examples
    --------
    >>> pairs = PairSet(4, np.array([0, 1, 2]), np.array([2, 3, 3]))
    >>> pairs.places(np.array([3, 0]), np.array([2, 2])).tolist()
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

    def places(self, u: IntegerArray, v: IntegerArray) -> IntegerArray:
        """Where the pairs of u and v are; they have to be among these."""
        return np.searchsorted(self._keys, np.minimum(u, v) * self.columns + np.maximum(u, v))

    def find(self, u: int, v: int) -> int | None:
        """The place of one pair; None if it is not among these."""
        key = min(u, v) * self.columns + max(u, v)
        place = int(np.searchsorted(self._keys, key))
        return place if place < self._keys.size and self._keys[place] == key else None

    def union(self, other: PairSet) -> PairSet:
        """The pairs of both sets."""
        keys = np.union1d(self._keys, other._keys)
        return PairSet(self.columns, keys // self.columns, keys % self.columns)

    def matrix(self, forward: FloatArray, backward: FloatArray) -> FloatArray:
        """A matrix of all columns: `forward` at (one, other), `backward` at (other, one), 0 elsewhere."""
        found = np.zeros((self.columns, self.columns))
        found[self.one, self.other], found[self.other, self.one] = forward, backward
        return found

    @property
    def numbers(self) -> IntegerArray:
        """The number of each among all pairs of the columns."""
        return self.one * (2 * self.columns - self.one - 1) // 2 + self.other - self.one - 1
