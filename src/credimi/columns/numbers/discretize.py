"""Numbers into intervals: where to cut a continuous column, so that it can be counted like categories.

`mdl_cuts` follows Fayyad and Irani (1993). A set S of n instances, k of whose classes are present, with class entropy

    Ent(S) = -sum_c p_c log2 p_c                                                  (bits per instance)

is split at the cut that leaves the smallest entropy within the two sides, S1 (value <= cut) and S2, that is, at the
largest

    gain = Ent(S) - (n1/n) Ent(S1) - (n2/n) Ent(S2),

and the sides are split again in the same way, as long as a split shortens the description of the data. Suppose a sender
tells the classes to a receiver who knows the values:

    without the split     n Ent(S)                  the classes, in the best code for them
                          k Ent(S)                  that code: one word of mean length Ent(S) for each class
    with the split        log2(n - 1)               which of the n - 1 places between the instances
                          log2(3^k - 2)             on which side each class occurs: left, right or both, but not all
                                                    classes on one side alone
                          n1 Ent(S1) + n2 Ent(S2)   the classes
                          k1 Ent(S1) + k2 Ent(S2)   the two codes

The split is the shorter message, and is accepted, if

    n gain > log2(n - 1) + log2(3^k - 2) - k Ent(S) + k1 Ent(S1) + k2 Ent(S2).

Candidates lie halfway between neighbouring values. Not all of them have to be tried: n Ent as a function of the class
counts is homogeneous and concave. So along a run of values with proportional class counts, the remaining entropy is a
concave function of how much of the run lies to the left, and is smallest at an end of the run. Runs are therefore
joined first, and no minimum is lost. (Values of one single class, Fayyad and Irani's case, are such runs.) If several
cuts are equally good within rounding, the lowest wins, whatever the order of the classes.

A split of d runs and r classes costs O(d r) operations, from sums over all lower values that are taken once.

**Correction for the choice.** If the target depends on the column through m cuts, it is not known beforehand between
which of the d values they lie. So the evidence for dependence is that of the table with given cuts, B(c), averaged over
all C(d - 1, m) sets of positions where they might be. The chosen cuts are the best ones, c*, and B(c*) is much more
than the average, above all if there is no dependence. `evidence_share` is the average divided by the best. The evidence
of a set of cuts is taken proportional to the likelihood of the classes in the bins, exp(-sum_bins n Ent) in nats. It
falls when one of the cuts is moved, almost independently of the others:

    share = prod_k [ sum_c exp(log likelihood with the k-th cut at c - log likelihood at c*) ] / C(d - 1, m),

c over all positions between the neighbours of the k-th cut. For one cut this is the average itself, with the likelihood
as the evidence; for two cuts it was within .3 nats of the sum over all pairs. It costs O(d r).
"""

from __future__ import annotations

import math
from functools import lru_cache
from heapq import heappop, heappush
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.sorted_numbers import SortBuffers
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

    Classes = NDArray[np.unsignedinteger]
    Split = tuple[int, FloatArray, FloatArray]  # the position after it, and the counts on its two sides

ROUNDING = 1e-12  # of n log2 n: above the error of a sum over hundreds of classes, far below what decides a choice
_TABLE_BITS = 22  # n log2 n is looked up in a table if n has at most so many bits: 32 MiB
_LARGEST_DOUBLE = np.finfo(np.float64).max
_SMALLEST_DOUBLE = np.finfo(np.float64).tiny
_LABEL_DIGITS = range(6, 17)  # a label has six digits, unless it needs more; seventeen digits identify every double


def mdl_cuts(
    values: ArrayLike, class_counts: ArrayLike, *, min_samples: float = 0.0, max_bins: int | None = None
) -> FloatArray:
    """Cuts that leave the smallest class entropy, as many as shorten the description; sorted, possibly none.

    Parameters
    ----------
    values : (d,) array
        The distinct values of the column, in order.
    class_counts : (d, r) array
        How often (or with which weight) each class occurs at each value. Values without counts are ignored.
    min_samples : float
        How many instances (or how much weight) each side of a split must hold.
    max_bins : int, optional
        If there would be more bins, only the splits that gain most bits are made, starting with the first.
    """
    numbers, cut_positions = mdl_places(values, class_counts, min_samples=min_samples, max_bins=max_bins)
    return cuts_after(numbers, cut_positions)


def mdl_places(
    values: ArrayLike,
    class_counts: ArrayLike,
    *,
    min_samples: float = 0.0,
    max_bins: int | None = None,
) -> tuple[FloatArray, IntegerArray]:
    """The values that have counts, and the positions among them after which `mdl_cuts` cuts."""
    numbers, counts = _with_counts(*_checked(values, class_counts))
    ends = np.flatnonzero(_changes(counts))  # the last value of each run but the last run
    edges = _sums_below(counts, ends)
    bits_left = _entropy_left(edges)

    def split(first: int, last: int) -> Split | None:
        middle = _best_split(edges[:, first : last + 1], bits_left(first, last), min_samples)
        if middle < 0:
            return None
        return first + middle, edges[:, first + middle] - edges[:, first], edges[:, last] - edges[:, first + middle]

    return numbers, ends[_accepted_splits(ends.size + 1, split, max_bins) - 1]


def mdl_places_of_rows(
    values: FloatArray, classes: Classes, class_count: int, *, min_samples: float = 0.0, max_bins: int | None = None
) -> tuple[FloatArray, IntegerArray]:
    """The same for single instances, in any order, in compiled code: the sorted values, and the positions of the cuts.

    `values` may hold NaN, which is left out; `classes` are codes below `class_count`, which is at most 2^16.
    """
    from credimi.columns.numbers import best_split  # noqa: PLC0415  (loads compiled code)

    buffers = SortBuffers(values.size)
    present = buffers.sort(values, classes.astype(np.uint16), 0, np.zeros(class_count, dtype=np.int64))
    numbers, labels = buffers.numbers(present), buffers.labels[0, :present]
    if not numbers.size:
        return numbers, np.zeros(0, dtype=np.int64)
    flags = np.empty(numbers.size, dtype=np.uint8)
    best_split.boundaries(numbers, labels, class_count, flags)
    sums = np.empty((numbers.size // best_split.STEP + 1, class_count), dtype=np.int64)
    best_split.sums_below(labels, sums)
    table, scale = _log_table(numbers.size)
    left, right = np.empty((2, class_count), dtype=np.int64)
    scratch = buffers.keys[1].view(np.int64)  # memory that is not needed any more; new memory would be slower
    min_rows = math.ceil(min_samples)

    def split(first: int, last: int) -> Split | None:
        position = best_split.best_split(
            labels, flags, sums, first, last, min_rows, ROUNDING, table, scale, left, right, scratch
        )
        return None if position < 0 else (position, left.astype(np.float64), right.astype(np.float64))

    return numbers, _accepted_splits(numbers.size, split, max_bins) - 1


def evidence_share(class_counts: ArrayLike, cut_positions: IntegerArray) -> float:
    """The evidence for dependence, averaged over all positions of so many cuts, divided by that at `cut_positions`.

    Parameters
    ----------
    class_counts : (d, r) array
        How often each class occurs at each of the distinct values, in order. Values without counts are ignored.
    cut_positions : (m,) array
        After which values the cuts are, in order, as returned by `mdl_places`.
    """
    if not len(cut_positions):
        return 1.0
    counts = np.asarray(class_counts).T.astype(np.float64, order="C")
    _, counts = _with_counts(np.zeros(counts.shape[1]), counts)
    below = np.zeros((counts.shape[0], counts.shape[1] + 1))  # column k + 1: for a cut after the value k
    np.cumsum(counts, axis=1, out=below[:, 1:])
    return share_at(_entropy_left(below), cut_positions, counts.shape[1])


def share_at(bits_left: Callable[[int, int], FloatArray], cut_positions: IntegerArray, value_count: int) -> float:
    """The same, where `bits_left(low, high)` gives the bits that remain on both sides of each cut between two edges."""
    cut_count = len(cut_positions)
    edges = [0, *(cut_positions + 1).tolist(), value_count]
    log_share = math.lgamma(cut_count + 1) + math.lgamma(value_count - cut_count) - math.lgamma(value_count)
    for low, best, high in zip(edges, edges[1:], edges[2:], strict=False):
        remaining = bits_left(low, high)
        fewest_bits = remaining.min()  # at the cut itself, unless its neighbours were chosen after it
        log_share += math.log(2.0) * (remaining[best - low - 1] - fewest_bits) + math.log(
            np.exp2(fewest_bits - remaining).sum()
        )
    # Hundreds of good cuts may give more than 1, or underflow.
    return max(math.exp(min(log_share, 0.0)), _SMALLEST_DOUBLE)


@lru_cache(maxsize=1)  # the columns of a table have the same rows, or nearly
def _log_table_of_bits(bits: int) -> tuple[IntegerArray, float]:
    """n log2 n for up to 2^bits instances, and a scale: they are whole multiples of 1 / scale; sums are below 2^62."""
    from credimi.columns.numbers import best_split as splitting  # noqa: PLC0415  (loads compiled code)

    scale = 2.0 ** (60 - bits - bits.bit_length())
    table = np.empty(1 + (1 << min(bits, _TABLE_BITS)), dtype=np.int64)
    splitting.fill_table(table, scale)
    return table, scale


def _log_table(size: int) -> tuple[IntegerArray, float]:
    return _log_table_of_bits(max(size - 1, 1).bit_length())


def _accepted_splits(size: int, split: Callable[[int, int], Split | None], max_bins: int | None) -> IntegerArray:
    """The sorted positions after the accepted splits; `split` returns the best split between two positions."""
    accepted: list[int] = []
    offers: list[tuple[float, int, int, int]] = []  # a heap: the largest gain first, then the lowest position
    bin_limit = size if max_bins is None else max_bins

    def offer_split(first: int, last: int) -> None:
        best = split(first, last) if last - first > 1 else None
        gain = None if best is None else _gain(best[1], best[2])
        if best is not None and gain is not None:
            # A difference of less than a millionth of a bit may be rounding: then the lower position goes first.
            heappush(offers, (-round(gain, 6), first, best[0], last))

    offer_split(0, size)
    while offers and len(accepted) + 1 < bin_limit:
        _, first, middle, last = heappop(offers)
        accepted.append(middle)
        offer_split(first, middle)
        offer_split(middle, last)
    return np.sort(np.array(accepted, dtype=np.int64))


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
    values, counts = _with_counts(*_checked(values, np.asarray(totals)[..., np.newaxis]))
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


def _checked(values: ArrayLike, class_counts: ArrayLike) -> tuple[FloatArray, FloatArray]:
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


def _with_counts(numbers: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The values that have counts, and their counts."""
    occurs = counts.any(axis=0)
    return (numbers, counts) if occurs.all() else (numbers[occurs], counts[:, occurs])


def _changes(counts: FloatArray) -> BooleanArray:
    """Whether the share of the classes changes from each value to the next."""
    totals = counts.sum(axis=0)
    changes: BooleanArray = (counts[:, 1:] * totals[:-1] != counts[:, :-1] * totals[1:]).any(axis=0)
    return changes


def _sums_below(counts: FloatArray, ends: IntegerArray) -> FloatArray:
    """(r, runs + 1): the counts of each class below the start of each run, and below the end of all."""
    below = np.cumsum(counts, axis=1)
    # Differences of these sums are exactly 0 for a class that does not occur between: adding 0 changes no double.
    return np.hstack([np.zeros((counts.shape[0], 1)), below[:, ends], below[:, -1:]])


def _entropy_left(edges: FloatArray) -> Callable[[int, int], FloatArray]:
    """A function that returns the bits that remain on both sides of each edge between two given edges."""

    def bits_left(first: int, last: int) -> FloatArray:
        inner = edges[:, first + 1 : last]
        return _bits(inner - edges[:, first : first + 1]) + _bits(edges[:, last : last + 1] - inner)

    return bits_left


@lru_cache(maxsize=2)
def logarithm_table(bits: int) -> FloatArray:
    """n log2 n for fewer than 2^bits instances, or fewer if the table would be too large."""
    return _times_logarithm(np.arange(1 << min(bits, _TABLE_BITS), dtype=np.float64))


def _best_split(edges: FloatArray, remaining: FloatArray, min_samples: float) -> int:
    """The inner edge at which the smallest entropy remains; if several are equally good, the lowest.

    Edges that leave fewer than `min_samples` instances on a side are skipped; -1 if no edge is left.
    """
    if min_samples > 0.0:
        left, right = edges[:, 1:-1] - edges[:, :1], edges[:, -1:] - edges[:, 1:-1]
        remaining[np.minimum(left.sum(axis=0), right.sum(axis=0)) < min_samples] = np.inf
        if np.isinf(remaining).all():
            return -1
    total = float((edges[:, -1] - edges[:, 0]).sum())
    slack = ROUNDING * total * np.log2(total + 1.0)
    return 1 + int(np.argmax(remaining <= remaining.min() + slack))


def _gain(left: FloatArray, right: FloatArray) -> float | None:
    """n gain, the bits that a split into these sides saves on the classes; None if it is not accepted (see above)."""
    parts = np.stack([left + right, left, right], axis=1)  # together, as a call takes longer than its work
    totals, present, bits = parts.sum(axis=0), np.count_nonzero(parts, axis=0), _bits(parts)
    classes = int(present[0])
    # Weights that add up to less than two instances still have one position between them.
    position_bits = math.log2(max(float(totals[0]) - 1.0, 1.0))
    whole_code, left_code, right_code = (present * bits / totals).tolist()  # k Ent
    whole_bits, left_bits, right_bits = bits.tolist()
    gain = float(whole_bits - left_bits - right_bits)
    return gain if gain > position_bits + bits_of_sides(classes) + (left_code + right_code - whole_code) else None


def bits_of_sides(classes: int) -> float:
    """log2(3^k - 2), where 3^k itself may overflow."""
    return classes * math.log2(3.0) + math.log1p(-2.0 * 3.0**-classes) / math.log(2.0)


def _bits(counts: FloatArray) -> FloatArray:
    """n Ent = n log2 n - sum_c n_c log2 n_c over the first axis."""
    bits: FloatArray = _times_logarithm(counts.sum(axis=0)) - _times_logarithm(counts).sum(axis=0)
    return bits


def _times_logarithm(counts: FloatArray) -> FloatArray:
    """n log2 n, and 0 where n is 0."""
    return counts * np.log2(np.maximum(counts, _SMALLEST_DOUBLE))


def cuts_after(values: FloatArray, positions: IntegerArray) -> FloatArray:
    """The cut after each of these positions among the values: halfway to the next value, and below that value."""
    # Halves add up without overflow; an infinite value counts as the largest double. Between neighbouring doubles there
    # is no middle, and the lower one is used.
    low, high = values[positions], values[positions + 1]
    middle = 0.5 * np.maximum(low, -_LARGEST_DOUBLE) + 0.5 * np.minimum(high, _LARGEST_DOUBLE)
    return np.where((low <= middle) & (middle < high), middle, low)


def cut_texts(cuts: FloatArray, values: FloatArray) -> list[str]:
    """The cuts in as few digits, from six up, as keep the cuts distinct and the values in their bins."""
    bins = bins_of(values, cuts)
    for digits in _LABEL_DIGITS:
        texts = [f"{cut + 0.0:.{digits}g}" for cut in cuts]  # + 0.0: no "-0"
        rounded = np.array(texts, dtype=np.float64)
        if (rounded[1:] > rounded[:-1]).all() and np.array_equal(bins_of(values, rounded), bins):
            return texts
    return [f"{cut + 0.0:.17g}" for cut in cuts]
