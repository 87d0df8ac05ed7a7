"""Ranges of numbers: cuts at quantiles, the range of each value, and what ranges are called.

`discretize` finds the cuts that tell most of a target. A cut lies halfway between two neighbouring values, and a value
at a cut belongs to the range below it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray, IntegerArray

_LARGEST_DOUBLE = np.finfo(np.float64).max
_LABEL_DIGITS = range(6, 17)  # a label has six digits, unless it needs more; seventeen digits identify every double


def quantile_cuts(values: ArrayLike, totals: ArrayLike, bins: int) -> FloatArray:
    """Cuts into bins of nearly equal counts: each quantile k/bins at the nearest position between two values.

    If two positions are equally near, the lower is taken. Quantiles at the same position are one cut, so there may be
    fewer bins than asked for; there are at least two if there are two values and two bins are asked for.

    Parameters
    ----------
    values : (d,) array
        The distinct values of the column, in order.
    totals : (d,) array
        How often each occurs. Values without counts are ignored.
    bins : int
        The number of bins wanted.
    """
    if bins < 1:
        raise CredimiError(f"bins is {bins}: ask for at least one")
    values, counts = with_counts(*checked_counts(values, np.asarray(totals)[..., np.newaxis]))
    if values.size < 2:
        return np.zeros(0)
    below = np.cumsum(counts[0])
    scaled_sums = below[:-1] * bins  # multiplied by bins, so that whole counts are compared exactly
    scaled_quantiles = below[-1] * np.arange(1, bins)
    upper = np.searchsorted(scaled_sums, scaled_quantiles)
    lower, upper = np.maximum(upper - 1, 0), np.minimum(upper, scaled_sums.size - 1)
    nearest = np.where(scaled_quantiles - scaled_sums[lower] <= scaled_sums[upper] - scaled_quantiles, lower, upper)
    return cuts_after(values, np.unique(nearest))


def bins_of(values: ArrayLike, cuts: ArrayLike) -> IntegerArray:
    """The bin of each value, from 0: the number of cuts below it. A value at a cut goes left; NaN has no bin."""
    return np.searchsorted(np.asarray(cuts, dtype=np.float64), np.asarray(values, dtype=np.float64)).astype(np.int64)


def cuts_after(values: FloatArray, positions: IntegerArray) -> FloatArray:
    """The cut after each of these positions among the values: halfway to the next value, and below that value."""
    # Halves add up without overflow; an infinite value counts as the largest double. Between neighbouring doubles there
    # is no middle, and the lower one is used.
    low, high = values[positions], values[positions + 1]
    middle = 0.5 * np.maximum(low, -_LARGEST_DOUBLE) + 0.5 * np.minimum(high, _LARGEST_DOUBLE)
    return np.where((low <= middle) & (middle < high), middle, low)


def interval_labels(cuts: ArrayLike, values: ArrayLike | None = None) -> list[str]:
    """A name for each bin, such as "<= 2.5", "2.5 to 7", "> 7"; "all" if nothing is cut.

    Cuts have six digits, or as many more as keep them distinct. If `values` are given, the digits are also enough to
    say in which bin each value is: 123457.5, in six digits 123458, is no name for a cut below 123458.
    """
    numbers = np.asarray(cuts, dtype=np.float64)
    return named_ranges(cut_texts(numbers, np.zeros(0) if values is None else np.asarray(values, dtype=np.float64)))


def named_ranges(texts: Sequence[str]) -> list[str]:
    """A name for each bin between cuts with these names; "all" if there are none."""
    if not texts:
        return ["all"]
    between = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *between, f"> {texts[-1]}"]


def cut_texts(cuts: FloatArray, values: FloatArray) -> list[str]:
    """The cuts in as few digits, from six up, as keep the cuts distinct and the values in their bins."""
    bins = bins_of(values, cuts)
    for digits in _LABEL_DIGITS:
        texts = [f"{cut + 0.0:.{digits}g}" for cut in cuts]  # + 0.0: no "-0"
        rounded = np.array(texts, dtype=np.float64)
        if (rounded[1:] > rounded[:-1]).all() and np.array_equal(bins_of(values, rounded), bins):
            return texts
    return [f"{cut + 0.0:.17g}" for cut in cuts]


def checked_counts(values: ArrayLike, class_counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Values and their counts as doubles, (r, d): numpy is fast on long rows."""
    numbers = np.asarray(values, dtype=np.float64)
    counts = np.asarray(class_counts).T.astype(np.float64, order="C")
    if numbers.ndim != 1 or counts.ndim != 2 or numbers.size != counts.shape[1]:
        raise CredimiError(
            f"values of shape {numbers.shape} do not match counts of shape {counts.T.shape}: "
            "pass the distinct values, and one row of counts for each"
        )
    if not (numbers[1:] > numbers[:-1]).all() or np.isnan(numbers[:1]).any():  # NaN is not greater than anything
        raise CredimiError("values must be distinct numbers in increasing order: sort them, and leave out NaN")
    if counts.size and not (counts.min() >= 0.0 and counts.max() < np.inf):  # false for NaN
        raise CredimiError("counts must be finite numbers from 0 up")
    return numbers, counts


def with_counts(numbers: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values that have counts, and their counts."""
    occurs = counts.any(axis=0)
    return (numbers, counts) if occurs.all() else (numbers[occurs], counts[:, occurs])
