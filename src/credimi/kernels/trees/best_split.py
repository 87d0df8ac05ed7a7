"""The best split of instances in order of their values, by least class entropy on both sides.

`boundaries` finds the places where a split can be best: the ends of runs of values with proportional class counts (see
`discretization`). `best_split` looks at those of one part. What it minimises,

    f(n1) - sum_c f(n1_c) + f(n2) - sum_c f(n2_c),        f(n) = n log2 n,

changes in few terms only when one instance crosses from the right to the left, whatever the number of classes. A sum
of doubles that is changed a million times drifts. Here f is rounded to whole multiples of 1 / scale, and integers do
not drift: each sum is that of its terms, however it was reached. Places that are the best within this rounding are
then computed again in doubles, term by term, and the lowest of equals wins, as in `discretization`.

O(n + e r) operations for n instances, r classes and e such places; f of small numbers stands in a table. Whether a
place is one where runs end is as good as random, so it is looked up and not branched on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import FloatArray, IntegerArray, compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Classes = NDArray[Any]  # of unsigned integers
    Flags = NDArray[np.uint8]

STEP = 4096  # instances between the sums that are kept
_NONE = int(np.iinfo(np.int64).max)


@compiled
def boundaries(values: FloatArray, classes: Classes, number: int, flags: Flags) -> None:
    """Set `flags` to 1 at the last instance of each run, the very last excepted, to 0 elsewhere."""
    size = values.size
    here, following = np.zeros(number, dtype=np.int64), np.zeros(number, dtype=np.int64)
    start = 0
    while start < size:
        middle = start + 1
        while middle < size and values[middle] != values[middle - 1]:  # nearly all, where numbers are measured
            flags[middle - 1] = classes[middle] != classes[middle - 1]
            middle += 1
        if middle == size:
            flags[size - 1] = 0
            return
        start = _tied(values, classes, middle - 1, flags, here, following)


@inlined
def _tied(
    values: FloatArray, classes: Classes, first: int, flags: Flags, here: IntegerArray, following: IntegerArray
) -> int:
    """The same from a value that occurs more than once on; where it next occurs once, with the one before it done."""
    start = first
    middle = _group_end(values, start)
    if start > 0:
        flags[start - 1] = not _proportional(classes, start - 1, start, middle, here, following)
    while True:
        flags[start : middle - 1] = 0
        if middle == values.size:
            flags[middle - 1] = 0
            return middle
        end = _group_end(values, middle)
        flags[middle - 1] = not _proportional(classes, start, middle, end, here, following)
        if end - middle == 1:
            return middle
        start, middle = middle, end


@inlined
def _group_end(values: FloatArray, start: int) -> int:
    """Behind the last instance that has the value of this one."""
    end = start + 1
    while end < values.size and values[end] == values[start]:
        end += 1
    return end


@inlined
def _proportional(
    classes: Classes, start: int, middle: int, end: int, here: IntegerArray, following: IntegerArray
) -> bool:
    """Whether two neighbouring groups have the same shares of classes; the two arrays are 0 before and after."""
    for at in range(start, middle):
        here[classes[at]] += 1
    for at in range(middle, end):
        following[classes[at]] += 1
    alike = True
    for at in range(start, end):
        alike = alike and here[classes[at]] * (end - middle) == following[classes[at]] * (middle - start)
    for at in range(start, end):
        here[classes[at]] = 0
        following[classes[at]] = 0
    return alike


@inlined
def _times_logarithm(count: Any) -> float:
    return float(count * np.log2(count)) if count > 1 else 0.0


@inlined
def _rounded(count: np.uint64, table: IntegerArray, scale: float, inside: bool) -> int:
    """f in multiples of 1 / scale, from the table where all that is asked for is `inside`."""
    if inside:
        return int(table[count])
    return int(np.rint(_times_logarithm(count) * scale))


@compiled
def fill_table(table: IntegerArray, scale: float) -> None:
    """f of 0, 1, 2, ... in multiples of 1 / scale."""
    for count in range(table.size):
        table[count] = int(np.rint(_times_logarithm(count) * scale))


@compiled
def sums_below(classes: Classes, sums: IntegerArray) -> None:
    """How often each class occurs among the first 0, STEP, 2 STEP, ... instances, one row each."""
    for label in range(sums.shape[1]):
        sums[0, label] = 0
    for step in range(1, sums.shape[0]):
        for label in range(sums.shape[1]):  # copied by numpy's words, Numba would compile their messages as well
            sums[step, label] = sums[step - 1, label]
        for at in range((step - 1) * STEP, step * STEP):
            sums[step, classes[at]] += 1


@inlined
def _add_below(place: int, sign: int, classes: Classes, sums: IntegerArray, counts: IntegerArray) -> None:
    """Add or subtract the counts of all instances below this one."""
    step = place // STEP
    for label in range(counts.size):
        counts[label] += sign * sums[step, label]
    for at in range(step * STEP, place):
        counts[classes[at]] += sign


@inlined
def _count(
    begin: int, middle: int, end: int, classes: Classes, sums: IntegerArray, left: IntegerArray, right: IntegerArray
) -> None:
    """The counts on both sides of a split."""
    left[:] = 0
    _add_below(begin, -1, classes, sums, left)
    _add_below(middle, 1, classes, sums, left)
    right[:] = 0
    _add_below(middle, -1, classes, sums, right)
    _add_below(end, 1, classes, sums, right)


@compiled
def best_split(
    classes: Classes,
    flags: Flags,
    sums: IntegerArray,
    begin: int,
    end: int,
    fewest: int,
    rounding: float,
    table: IntegerArray,
    scale: float,
    left: IntegerArray,
    right: IntegerArray,
    remaining: IntegerArray,
) -> int:
    """The first instance behind the best split of a part, -1 if no split leaves `fewest` instances to each side.

    The counts of the classes on both sides go to `left` and `right`; `remaining` is room for one number an instance.
    """
    size, one = np.uint64(end - begin), np.uint64(1)
    inside = end - begin < table.size
    _count(begin, begin, end, classes, sums, left, right)
    lower, upper = left.view(np.uint64), right.view(np.uint64)  # an index that may be negative costs twice the time
    within = 0  # the sum of f over the classes of both sides
    for count in upper:
        within += _rounded(count, table, scale, inside)
    lowest, highest = begin + max(fewest, 1) - 1, end - max(fewest, 1)  # the last before a split is one of these
    least = _NONE
    below = np.uint64(0)
    for at in range(np.uint64(begin), np.uint64(max(highest, begin))):
        label = classes[at]
        here, there = lower[label], upper[label]
        within += _rounded(here + one, table, scale, inside) - _rounded(here, table, scale, inside)
        within += _rounded(there - one, table, scale, inside) - _rounded(there, table, scale, inside)
        lower[label], upper[label] = here + one, there - one
        below += one
        both = _rounded(below, table, scale, inside) + _rounded(size - below, table, scale, inside)
        remains = both - within if flags[at] & (at >= np.uint64(lowest)) else _NONE
        remaining[at] = remains
        least = min(least, remains)
    if least == _NONE:
        return -1
    slack = rounding * (end - begin) * np.log2(end - begin + 1.0)
    nearly = least + int(np.ceil(2.0 * slack * scale)) + 4 * left.size + 8
    chosen = _lowest_of_equals(classes, sums, begin, end, highest, slack, nearly, left, right, remaining)
    _count(begin, chosen, end, classes, sums, left, right)
    return chosen


@inlined
def _lowest_of_equals(
    classes: Classes,
    sums: IntegerArray,
    begin: int,
    end: int,
    highest: int,
    slack: float,
    nearly: int,
    left: IntegerArray,
    right: IntegerArray,
    remaining: IntegerArray,
) -> int:
    """Of the places at which at most `nearly` remains, the first that is as good as any of them."""
    candidates = 0
    for at in range(begin, highest):
        if remaining[at] <= nearly:
            remaining[begin + candidates] = at + 1  # room that was read already
            candidates += 1
    if candidates == 1:
        return int(remaining[begin])
    bits, least = np.empty(candidates), np.inf
    place = remaining[begin]
    _count(begin, place, end, classes, sums, left, right)
    for candidate in range(candidates):
        while place < remaining[begin + candidate]:
            left[classes[place]] += 1
            right[classes[place]] -= 1
            place += 1
        bits[candidate] = _bits(left) + _bits(right)
        least = min(least, bits[candidate])
    best = 0
    while bits[best] > least + slack:
        best += 1
    return int(remaining[begin + best])


@inlined
def _bits(counts: IntegerArray) -> float:
    """n Ent = f(n) - sum_c f(n_c)."""
    total = 0
    within = 0.0
    for count in counts:
        total += count
        within += _times_logarithm(count)
    return _times_logarithm(total) - within
