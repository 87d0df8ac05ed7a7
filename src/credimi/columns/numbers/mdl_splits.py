"""All splits of a column of numbers that shorten the description of its classes, from its counts, in one call.

`columns.numbers.discretize` has the formulas; here they are computed from integer counts, with n log2 n from a table.
"""

from __future__ import annotations

import numpy as np

from credimi.columns.numbers.sort_numbers import entropy_left, times_logarithm
from credimi.compile.jit import FloatArray, IntegerArray, compiled, inlined


@compiled
def sums_below(block: IntegerArray, below: IntegerArray, occurring: IntegerArray) -> int:
    """Fill `below[k]`, the class counts below the k-th of the values that occur; return the number of these values.

    `block` is classes x values; the missing class and the missing value are last, and are left out. `occurring`
    receives the indices of the values that occur. `below` has one row more than there are values.
    """
    classes, values = block.shape[0] - 1, block.shape[1] - 1
    for label in range(classes):
        below[0, label] = 0
    value_count = 0
    for value in range(values):
        total = 0
        for label in range(classes):
            total += block[label, value]
            below[value_count + 1, label] = below[value_count, label] + block[label, value]
        if total > 0:
            occurring[value_count] = value
            value_count += 1
    return value_count


@compiled
def run_edges(below: IntegerArray, value_count: int, edges: IntegerArray) -> int:
    """Fill `edges`: both ends, and each value whose class shares differ from the value before; return how many."""
    classes = below.shape[1]
    edges[0] = 0
    edge_count = 1
    previous_total = 0
    for label in range(classes):
        previous_total += below[min(value_count, 1), label]
    for value in range(1, value_count):
        total = 0
        for label in range(classes):
            total += below[value + 1, label] - below[value, label]
        changes = False
        for label in range(classes):
            count, previous_count = (
                below[value + 1, label] - below[value, label],
                below[value, label] - below[value - 1, label],
            )
            changes = changes or count * previous_total != previous_count * total
        if changes:
            edges[edge_count] = value
            edge_count += 1
        previous_total = total
    edges[edge_count] = value_count
    return edge_count + 1


@inlined
def _bits_of(below: IntegerArray, first: int, last: int, table: FloatArray) -> tuple[float, int, int]:
    """n Ent between two edges, n, and how many classes occur there."""
    total, present, bits = 0, 0, 0.0
    for label in range(below.shape[1]):
        count = below[last, label] - below[first, label]
        total += count
        present += int(count > 0)
        bits += times_logarithm(count, table)
    return times_logarithm(total, table) - bits, total, present


@inlined
def _shortens(below: IntegerArray, first: int, middle: int, last: int, table: FloatArray, sides: FloatArray) -> bool:
    """Whether a split shortens the description; `sides[k]` is log2(3^k - 2)."""
    bits, total, present = _bits_of(below, first, last, table)
    bits_left, total_left, present_left = _bits_of(below, first, middle, table)
    bits_right, total_right, present_right = _bits_of(below, middle, last, table)
    cut_bits = np.log2(max(float(total) - 1.0, 1.0))
    class_bits = (
        present_left * bits_left / total_left + present_right * bits_right / total_right - present * bits / total
    )
    return bool(bits - bits_left - bits_right > cut_bits + sides[present] + class_bits)


@compiled
def split_all(
    below: IntegerArray,
    table: FloatArray,
    sides: FloatArray,
    rounding: float,
    remaining: FloatArray,
    splits: IntegerArray,
) -> int:
    """Fill the edges of all accepted splits, in any order; return how many there are.

    `below[edge]` are the class counts below each edge. `splits` has three elements for each edge, and four more.
    """
    edges = below.shape[0]
    split_count, interval_count = 0, 1  # intervals to do are at the end of `splits`, as first edge and last edge
    splits[splits.size - 1], splits[splits.size - 2] = 0, edges - 1
    while interval_count > 0:
        top = splits.size - 2 * interval_count
        last, first = splits[top], splits[top + 1]
        interval_count -= 1
        if last - first < 2:
            continue
        entropy_left(below, first, last, table, remaining)
        least = remaining[first + 1]
        for cut in range(first + 2, last):
            least = min(least, remaining[cut])
        total = 0
        for label in range(below.shape[1]):
            total += below[last, label] - below[first, label]
        max_remaining = least + rounding * float(total) * np.log2(float(total) + 1.0)
        middle = first + 1
        while remaining[middle] > max_remaining:
            middle += 1
        if _shortens(below, first, middle, last, table, sides):
            splits[split_count] = middle
            split_count += 1
            splits[top + 1], splits[top] = first, middle
            splits[top - 1], splits[top - 2] = middle, last
            interval_count += 2
    return split_count
