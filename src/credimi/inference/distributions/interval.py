"""The credible interval with an atom at 0: which quantiles it asks for, of one distribution or of many at once."""

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
    """Both ends: (1 - level)/2 of the mass is below, and above, at most.

    Where the lower end is the atom at 0, less than that is left below it, and so much more may be left above:
    otherwise the interval would hold more than it says.

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
