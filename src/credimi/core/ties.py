"""Ties between columns, which their names decide: the order of rows and columns changes no choice.

The last digits of sums depend on that order. So figures that differ only there are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray, IntegerArray


_DIGITS = 10


def places_by_name(names: Sequence[str]) -> IntegerArray:
    """The place of each column among all of them, sorted by name; equal names as they come."""
    places: IntegerArray = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return places


def best_first(places: IntegerArray, *figures: FloatArray) -> IntegerArray:
    """The columns, those with the largest first figure first; if it is equal by the next, at last by their places."""
    return np.lexsort((places, *(-np.round(each, _DIGITS) for each in reversed(figures))))
