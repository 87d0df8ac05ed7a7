"""Ties between columns, which their names decide: the order of the columns of a table changes no choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray


def places_by_name(names: Sequence[str]) -> IntegerArray:
    """The place of each column among all of them, sorted by name; equal names as they come."""
    places: IntegerArray = np.empty(len(names), dtype=np.int64)
    places[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return places


def best_of(figures: FloatArray, eligible: BooleanArray, places: IntegerArray) -> int:
    """The eligible column with the largest figure, the first by its place if several are equal."""
    eligible_figures = np.where(eligible, figures, -np.inf)
    best = np.flatnonzero(eligible_figures == eligible_figures.max())
    return int(best[np.argmin(places[best])])
