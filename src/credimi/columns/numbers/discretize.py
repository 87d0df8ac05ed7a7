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
from functools import lru_cache, partial
from heapq import heappop, heappush
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.numbers.ranges import checked_counts, cuts_after, with_counts
from credimi.columns.numbers.sorted_numbers import SortBuffers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import CountArray, FloatArray, IntegerArray

    Classes = NDArray[np.unsignedinteger]
    Split = tuple[int, FloatArray, FloatArray]  # the position after it, and the counts on its two sides

ROUNDING = 1e-12  # of n log2 n: above the error of a sum over hundreds of classes, far below what decides a choice
_TABLE_BITS = 22  # n log2 n is looked up in a table if n has at most so many bits: 32 MiB
_SMALLEST_DOUBLE = np.finfo(np.float64).tiny


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
    numbers, counts = with_counts(*checked_counts(values, class_counts))
    totals = counts.sum(axis=0)
    changes = (counts[:, 1:] * totals[:-1] != counts[:, :-1] * totals[1:]).any(axis=0)  # of the shares of the classes
    ends = np.flatnonzero(changes)  # the last value of each run but the last run
    below = np.cumsum(counts, axis=1)
    # (r, runs + 1): each class below the start of each run, and below the end of all. Differences of these sums are
    # exactly 0 for a class that does not occur between: adding 0 changes no double.
    edges = np.hstack([np.zeros((counts.shape[0], 1)), below[:, ends], below[:, -1:]])

    def split(first: int, last: int) -> Split | None:
        middle = _best_split(edges[:, first : last + 1], _bits_left(edges, first, last), min_samples)
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
    table, scale = _whole_logarithms(max(numbers.size - 1, 1).bit_length())
    left, right = np.empty((2, class_count), dtype=np.int64)
    scratch = buffers.keys[1].view(np.int64)  # memory that is not needed any more; new memory would be slower
    min_rows = math.ceil(min_samples)

    def split(first: int, last: int) -> Split | None:
        position = best_split.best_split(
            labels, flags, sums, first, last, min_rows, ROUNDING, table, scale, left, right, scratch
        )
        return None if position < 0 else (position, left.astype(np.float64), right.astype(np.float64))

    return numbers, _accepted_splits(numbers.size, split, max_bins) - 1


def cut_by_mdl(values: FloatArray, block: CountArray) -> tuple[FloatArray, IntegerArray, float]:
    """What `mdl_places` and `evidence_share` find, from integer counts, in compiled code.

    `values` ascend; `block` has integer counts, classes x values, with the missing ones last.
    """
    from credimi.columns.numbers import sort_numbers  # noqa: PLC0415  (loads compiled code)

    classes = block.shape[0] - 1
    below = np.empty((values.size + 1, classes), dtype=np.int64)
    counted_values, edges = np.empty(values.size, dtype=np.int64), np.empty(values.size + 2, dtype=np.int64)
    count = sort_numbers.sums_below(np.ascontiguousarray(block, dtype=np.int64), below, counted_values)
    numbers, below = values if count == values.size else values[counted_values[:count]], below[: count + 1]
    edges = edges[: sort_numbers.run_edges(below, count, edges)]
    logarithms = logarithm_table(int(below[-1].sum()).bit_length())
    entropies, accepted_edges = np.empty(count + 1), np.empty(3 * edges.size + 4, dtype=np.int64)
    bits_by_classes = np.array([np.nan, *(bits_of_sides(present) for present in range(1, classes + 1))])
    cut_count = sort_numbers.split_all(below[edges], logarithms, bits_by_classes, ROUNDING, entropies, accepted_edges)
    cut_positions = np.sort(edges[accepted_edges[:cut_count]]) - 1
    if not cut_count:
        return numbers, cut_positions, 1.0

    def entropy_left(first: int, last: int) -> FloatArray:
        sort_numbers.entropy_left(below, first, last, logarithms, entropies)
        return entropies[first + 1 : last].copy()

    return numbers, cut_positions, _share_at(entropy_left, cut_positions, count)


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
    _, counts = with_counts(np.zeros(counts.shape[1]), counts)
    below = np.zeros((counts.shape[0], counts.shape[1] + 1))  # column k + 1: for a cut after the value k
    np.cumsum(counts, axis=1, out=below[:, 1:])
    return _share_at(partial(_bits_left, below), cut_positions, counts.shape[1])


def _share_at(bits_left: Callable[[int, int], FloatArray], cut_positions: IntegerArray, value_count: int) -> float:
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
def _whole_logarithms(bits: int) -> tuple[IntegerArray, float]:
    """n log2 n for up to 2^bits instances, and a scale: they are whole multiples of 1 / scale; sums are below 2^62."""
    from credimi.columns.numbers import best_split as splitting  # noqa: PLC0415  (loads compiled code)

    scale = 2.0 ** (60 - bits - bits.bit_length())
    table = np.empty(1 + (1 << min(bits, _TABLE_BITS)), dtype=np.int64)
    splitting.fill_table(table, scale)
    return table, scale


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


def _bits_left(edges: FloatArray, first: int, last: int) -> FloatArray:
    """The bits that remain on both sides of each edge between two given edges."""
    inner = edges[:, first + 1 : last]
    return _bits(inner - edges[:, first : first + 1]) + _bits(edges[:, last : last + 1] - inner)


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
