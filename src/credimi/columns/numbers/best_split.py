"""The best split of instances that are sorted by value: the one with the smallest class entropy on both sides.

`boundaries` finds the positions at which a split can be best: the ends of runs of values with proportional class counts
(see `discretization`). `best_split` compares those of one part. What it minimises,

    f(n1) - sum_c f(n1_c) + f(n2) - sum_c f(n2_c),        f(n) = n log2 n,

changes in few terms only when one instance moves from the right to the left, whatever the number of classes. A sum of
doubles that is updated a million times accumulates rounding errors. Here f is rounded to whole multiples of 1 / scale,
and sums of integers are exact. Splits that are best within this rounding are then computed again in doubles, term by
term, and the first of equals is taken, as in `discretization`.

The cost is O(n + e r) for n instances, r classes and e such ends of runs; f of small numbers is in a table. Whether a
run ends at an instance is unpredictable for the processor, so it is looked up without a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined

if TYPE_CHECKING:
    Classes = NDArray[Any]  # of unsigned integers
    Flags = NDArray[np.uint8]


STEP = 4096  # instances between stored sums
_NO_SPLIT = int(np.iinfo(np.int64).max)


@compiled
def boundaries(values: FloatArray, classes: Classes, class_count: int, flags: Flags) -> None:
    """Set `flags` to 1 at the last instance of each run except the last run, and to 0 elsewhere."""
    size = values.size
    counts, next_counts = np.zeros(class_count, dtype=np.int64), np.zeros(class_count, dtype=np.int64)
    start = 0
    while start < size:
        middle = start + 1
        while middle < size and values[middle] != values[middle - 1]:  # true for nearly all measured numbers
            flags[middle - 1] = classes[middle] != classes[middle - 1]
            middle += 1
        if middle == size:
            flags[size - 1] = 0
            return
        start = _flag_tied(values, classes, middle - 1, flags, counts, next_counts)


@inlined
def _flag_tied(
    values: FloatArray, classes: Classes, first: int, flags: Flags, counts: IntegerArray, next_counts: IntegerArray
) -> int:
    """The same from a value that occurs several times, up to the next that occurs once; return its index."""
    start = first
    middle = _group_end(values, start)
    if start > 0:
        flags[start - 1] = not _are_proportional(classes, start - 1, start, middle, counts, next_counts)
    while True:
        flags[start : middle - 1] = 0
        if middle == values.size:
            flags[middle - 1] = 0
            return middle
        end = _group_end(values, middle)
        flags[middle - 1] = not _are_proportional(classes, start, middle, end, counts, next_counts)
        if end - middle == 1:
            return middle
        start, middle = middle, end


@inlined
def _group_end(values: FloatArray, start: int) -> int:
    """The index after the last instance that has the same value as `start`."""
    end = start + 1
    while end < values.size and values[end] == values[start]:
        end += 1
    return end


@inlined
def _are_proportional(
    classes: Classes, start: int, middle: int, end: int, counts: IntegerArray, next_counts: IntegerArray
) -> bool:
    """Whether two neighbouring groups have the same shares of classes; both arrays of counts are 0 before and after."""
    for at in range(start, middle):
        counts[classes[at]] += 1
    for at in range(middle, end):
        next_counts[classes[at]] += 1
    alike = True
    for at in range(start, end):
        alike = alike and counts[classes[at]] * (end - middle) == next_counts[classes[at]] * (middle - start)
    for at in range(start, end):
        counts[classes[at]] = 0
        next_counts[classes[at]] = 0
    return alike


@inlined
def _times_logarithm(count: Any) -> float:
    """f of the module's docstring."""
    return float(count * np.log2(count)) if count > 1 else 0.0


@inlined
def _rounded(count: np.uint64, table: IntegerArray, scale: float, inside: bool) -> int:
    """f in multiples of 1 / scale, from the table if it is large enough: `inside`."""
    if inside:
        return int(table[count])
    return int(np.rint(_times_logarithm(count) * scale))


@compiled
def fill_table(table: IntegerArray, scale: float) -> None:
    """Fill f of 0, 1, 2, ... in multiples of 1 / scale."""
    for count in range(table.size):
        table[count] = int(np.rint(_times_logarithm(count) * scale))


@compiled
def sums_below(classes: Classes, sums: IntegerArray) -> None:
    """Fill the class counts of the first 0, STEP, 2 STEP, ... instances, one row each."""
    for label in range(sums.shape[1]):
        sums[0, label] = 0
    for step in range(1, sums.shape[0]):
        for label in range(sums.shape[1]):  # a loop: for numpy's copy Numba would compile error messages as well
            sums[step, label] = sums[step - 1, label]
        for at in range((step - 1) * STEP, step * STEP):
            sums[step, classes[at]] += 1


@inlined
def _add_below(instance: int, sign: int, classes: Classes, sums: IntegerArray, counts: IntegerArray) -> None:
    """Add or subtract the class counts of all instances before this one."""
    step = instance // STEP
    for label in range(counts.size):
        counts[label] += sign * sums[step, label]
    for at in range(step * STEP, instance):
        counts[classes[at]] += sign


@inlined
def _count(
    begin: int, middle: int, end: int, classes: Classes, sums: IntegerArray, left: IntegerArray, right: IntegerArray
) -> None:
    """Fill the class counts on both sides of a split."""
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
    min_instances: int,
    rounding: float,
    table: IntegerArray,
    scale: float,
    left: IntegerArray,
    right: IntegerArray,
    remaining: IntegerArray,
) -> int:
    """The first instance after the best split of a part, -1 if no split leaves `min_instances` instances on each side.

    `left` and `right` receive the class counts on both sides; `remaining` is scratch, one number an instance.
    """
    size, one = np.uint64(end - begin), np.uint64(1)
    inside = end - begin < table.size
    _count(begin, begin, end, classes, sums, left, right)
    lower, upper = left.view(np.uint64), right.view(np.uint64)  # an index that may be negative takes twice the time
    within = 0  # the sum of f over the classes of both sides
    for count in upper:
        within += _rounded(count, table, scale, inside)
    # The last instance before a split is one of these.
    lowest, highest = begin + max(min_instances, 1) - 1, end - max(min_instances, 1)
    least = _NO_SPLIT
    below = np.uint64(0)
    for at in range(np.uint64(begin), np.uint64(max(highest, begin))):
        label = classes[at]
        count_below, count_above = lower[label], upper[label]
        within += _rounded(count_below + one, table, scale, inside) - _rounded(count_below, table, scale, inside)
        within += _rounded(count_above - one, table, scale, inside) - _rounded(count_above, table, scale, inside)
        lower[label], upper[label] = count_below + one, count_above - one
        below += one
        both_sides = _rounded(below, table, scale, inside) + _rounded(size - below, table, scale, inside)
        remains = both_sides - within if flags[at] & (at >= np.uint64(lowest)) else _NO_SPLIT
        remaining[at] = remains
        least = min(least, remains)
    if least == _NO_SPLIT:
        return -1
    slack = rounding * (end - begin) * np.log2(end - begin + 1.0)
    near_least = least + int(np.ceil(2.0 * slack * scale)) + 4 * left.size + 8
    chosen = _first_of_equals(classes, sums, begin, end, highest, slack, near_least, left, right, remaining)
    _count(begin, chosen, end, classes, sums, left, right)
    return chosen


@inlined
def _first_of_equals(
    classes: Classes,
    sums: IntegerArray,
    begin: int,
    end: int,
    highest: int,
    slack: float,
    near_least: int,
    left: IntegerArray,
    right: IntegerArray,
    remaining: IntegerArray,
) -> int:
    """The first of the best splits, compared in doubles, among those at which at most `near_least` remains."""
    candidates = 0
    for at in range(begin, highest):
        if remaining[at] <= near_least:
            remaining[begin + candidates] = at + 1  # overwrites only what was read already
            candidates += 1
    if candidates == 1:
        return int(remaining[begin])
    bits, least = np.empty(candidates), np.inf
    position = remaining[begin]
    _count(begin, position, end, classes, sums, left, right)
    for candidate in range(candidates):
        while position < remaining[begin + candidate]:
            left[classes[position]] += 1
            right[classes[position]] -= 1
            position += 1
        bits[candidate] = _class_bits(left) + _class_bits(right)
        least = min(least, bits[candidate])
    best = 0
    while bits[best] > least + slack:
        best += 1
    return int(remaining[begin + best])


@inlined
def _class_bits(counts: IntegerArray) -> float:
    """n Ent = f(n) - sum_c f(n_c)."""
    total = 0
    within = 0.0
    for count in counts:
        total += count
        within += _times_logarithm(count)
    return _times_logarithm(total) - within
