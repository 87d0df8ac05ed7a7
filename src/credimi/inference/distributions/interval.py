"""The credible interval of a distribution with an atom at 0: the quantiles that it needs, for one or many at once.

`tables.many_tables` computes those that `rank` prints.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

Ends = TypeVar("Ends", float, "NDArray[np.float64]")


def credible_interval(
    level: float,
    p_zero: ArrayLike,
    *,
    with_below: Callable[[float], Ends],
    with_above: Callable[[float | NDArray[np.float64]], Ends],
    below_zero: Callable[[], ArrayLike],
) -> tuple[Ends, Ends]:
    """Both ends: at most (1 - level)/2 of the mass is below the interval, and above it.

    If the lower end is the atom at 0, less mass than that is below it, and correspondingly more may be above it:
    otherwise the interval would hold more than its level.

    Parameters
    ----------
    level
        The mass inside.
    p_zero
        The mass of the atom.
    with_below, with_above
        The quantile with so much mass below it, or above it.
    below_zero
        The mass below 0, which a Gaussian has.
    """
    tail = 0.5 * (1.0 - level)
    low = with_below(tail)
    at_atom = (np.asarray(low) == 0.0) & (np.asarray(p_zero) > 0.0)
    if not at_atom.any():
        return low, with_above(tail)
    rest = 1.0 - level - np.maximum(below_zero(), 0.0)
    return low, with_above(np.where(at_atom, rest, tail))
