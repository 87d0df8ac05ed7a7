"""Finds where an increasing function becomes positive, exactly to one double.

The doubles are numbered in order, and the number is found by bracketing: outward in growing steps from guesses, then
inward by the method of Chandrupatla (1997), which interpolates where that is safe and bisects otherwise. The numbers
grow like log |x|, so that a root at 1e-200 is found as easily as one at 0.1, and a jump is found exactly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray

_SIGN = np.uint64(1 << 63)
_NEIGHBOURS = np.arange(-8, 9)
_FEW = 4  # brackets, up to which looking at all neighbours at once takes less time than one after the other
_STRIDES = [np.uint64(16**power) for power in range(16)] + [np.uint64(2**64 - 1)]


def first_positive(
    excess: Callable[[FloatArray, NDArray[np.bool_]], FloatArray], low: FloatArray, high: FloatArray
) -> FloatArray:
    """Least doubles at which an increasing function is positive, from guesses `low` <= `high`.

    `excess(x, index)` belongs to those elements that the mask `index` selects, x (elements,) or (several, elements).
    It is negative at -inf, positive at inf.
    """
    least, greatest = _number(np.array([-np.inf, np.inf]))
    every = np.ones(low.shape, dtype=np.bool_)
    before, after = _number(low), _number(high)
    if low.size <= _FEW and (before == after).all() and (np.abs(low) < np.finfo(np.float64).max).all():
        near = before + _NEIGHBOURS[:, np.newaxis].astype(np.uint64)
        positive = excess(_double(near), every) > 0.0
        first = positive.argmax(axis=0)
        if (positive.any(axis=0) & (first > 0)).all():
            return _double(near[first, np.arange(low.size)])
    before -= np.minimum(before - least, np.uint64(1))
    below, above = excess(_double(before), every), excess(_double(after), every)
    for stride in _STRIDES:
        if not (index := above < 0.0).any():
            break
        before[index], below[index] = after[index], above[index]
        after[index] += np.minimum(greatest - after[index], stride)
        above[index] = excess(_double(after[index]), index)
    for stride in _STRIDES:
        if not (index := below > 0.0).any():
            break
        after[index], above[index] = before[index], below[index]
        before[index] -= np.minimum(before[index] - least, stride)
        below[index] = excess(_double(before[index]), index)
    return _double(_chandrupatla(excess, before, after, below, above))


def crossing(
    function: Callable[[FloatArray], FloatArray], low: FloatArray, high: FloatArray, tolerance: FloatArray | float
) -> FloatArray:
    """Where increasing functions pass 0 between `low` and `high`, to within a tolerance; by the same method."""
    newest, other, oldest = high, low, low
    at_newest, at_other = function(high), function(low)
    at_oldest, step = at_other, np.full(low.shape, 0.5)
    while (unfinished := np.abs(other - newest) > tolerance).any():
        trial = np.where(unfinished, newest + step * (other - newest), newest)
        at_trial = np.where(unfinished, function(trial), at_newest)
        same = (at_trial > 0.0) == (at_newest > 0.0)
        oldest, at_oldest = np.where(same, newest, other), np.where(same, at_newest, at_other)
        other, at_other = np.where(same, other, newest), np.where(same, at_other, at_newest)
        newest, at_newest = trial, at_trial
        with np.errstate(all="ignore"):  # as below
            position, value = (newest - other) / (oldest - other), (at_newest - at_other) / (at_oldest - at_other)
            safe = (value**2 < position) & ((1.0 - value) ** 2 < 1.0 - position)
            step = at_newest / (at_other - at_newest) * at_oldest / (at_other - at_oldest)
            reach = (oldest - newest) / (other - newest)
            step += reach * at_newest / (at_oldest - at_newest) * at_other / (at_oldest - at_other)
            least = np.minimum(0.4 * tolerance / np.abs(other - newest), 0.5)
        step = np.clip(np.where(safe, step, 0.5), least, 1.0 - least)
    return np.where(at_newest > 0.0, newest, other)


def _chandrupatla(
    excess: Callable[[FloatArray, NDArray[np.bool_]], FloatArray],
    before: NDArray[np.uint64],
    after: NDArray[np.uint64],
    below: FloatArray,
    above: FloatArray,
) -> NDArray[np.uint64]:
    """Close the brackets (before, after] on neighbouring doubles; `below` < 0 < `above` are the values at the ends."""
    newest, other, oldest = after, before, before
    at_newest, at_other, at_oldest = above, below, below
    while (index := (width := np.where(other > newest, other - newest, newest - other)) > 1).any():
        with np.errstate(all="ignore"):  # if two of the three points coincide, the interpolation is not used
            position = _difference(newest, other) / _difference(oldest, other)
            value = (at_newest - at_other) / (at_oldest - at_other)
            safe = (value**2 < position) & ((1.0 - value) ** 2 < 1.0 - position)
            reach = _difference(oldest, newest) / _difference(other, newest)
            fraction = at_newest / (at_other - at_newest) * at_oldest / (at_other - at_oldest)
            fraction += reach * at_newest / (at_oldest - at_newest) * at_other / (at_oldest - at_other)
        step = np.maximum(np.where(safe, fraction, 0.5) * width, 1.0).astype(np.uint64)
        step = np.minimum(step, width - np.uint64(1))  # strictly inside, even if a width above 2^53 was rounded
        trial = np.where(other > newest, newest + step, newest - step)
        at_trial = at_newest.copy()
        at_trial[index] = excess(_double(trial[index]), index)
        same = (at_trial > 0.0) == (at_newest > 0.0)
        oldest, at_oldest = np.where(same, newest, other), np.where(same, at_newest, at_other)
        other, at_other = np.where(same, other, newest), np.where(same, at_other, at_newest)
        newest, at_newest = np.where(index, trial, newest), at_trial
    return np.where(at_newest > 0.0, newest, other)


def _number(x: FloatArray) -> NDArray[np.uint64]:
    """Give each double its number in their order."""
    bits = (x + 0.0).view(np.uint64)
    return np.where(bits & _SIGN, ~bits, bits | _SIGN)


def _double(number: NDArray[np.uint64]) -> FloatArray:
    """Give the double of a number; adding 0.0 turns -0.0 into 0.0."""
    return np.where(number & _SIGN, number & ~_SIGN, ~number).view(np.float64) + 0.0


def _difference(number: NDArray[np.uint64], other: NDArray[np.uint64]) -> FloatArray:
    """Signed difference, from the unsigned one that does not wrap."""
    return np.where(number >= other, (number - other).astype(np.float64), -(other - number).astype(np.float64))
