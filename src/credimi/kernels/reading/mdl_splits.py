"""All splits of a column of numbers that shorten the description of its classes, from its counts, in one call.

`columns.numbers.discretize` has the formulas; here they are computed of whole counts, with n log2 n from a table.
"""

from __future__ import annotations

import numpy as np

from credimi.kernels.jit import FloatArray, IntegerArray, compiled, inlined
from credimi.kernels.reading.sort_numbers import entropy_left, times_logarithm


@compiled
def sums_below(block: IntegerArray, below: IntegerArray, kept: IntegerArray) -> int:
    """Fill `below[k]`, the counts of each class below the k-th of the values that have counts; return their number.

    `block` is classes x values, both with missing ones last, which are left out; `kept` gets the places of the values
    that have counts. `below` has one row more than there are values.
    """
    classes, values = block.shape[0] - 1, block.shape[1] - 1
    for label in range(classes):
        below[0, label] = 0
    number = 0
    for value in range(values):
        total = 0
        for label in range(classes):
            total += block[label, value]
            below[number + 1, label] = below[number, label] + block[label, value]
        if total > 0:
            kept[number] = value
            number += 1
    return number


@compiled
def run_edges(below: IntegerArray, number: int, edges: IntegerArray) -> int:
    """Where the share of the classes changes from one of so many values to the next, and both ends; return how many."""
    classes = below.shape[1]
    edges[0] = 0
    found = 1
    last = 0
    for label in range(classes):
        last += below[min(number, 1), label]
    for value in range(1, number):
        total = 0
        for label in range(classes):
            total += below[value + 1, label] - below[value, label]
        changes = False
        for label in range(classes):
            here, before = below[value + 1, label] - below[value, label], below[value, label] - below[value - 1, label]
            changes = changes or here * last != before * total
        if changes:
            edges[found] = value
            found += 1
        last = total
    edges[found] = number
    return found + 1


@inlined
def _bits_of(below: IntegerArray, first: int, last: int, table: FloatArray) -> tuple[float, int, int]:
    """n Ent between two places, n, and how many classes there are."""
    total, present, bits = 0, 0, 0.0
    for label in range(below.shape[1]):
        here = below[last, label] - below[first, label]
        total += here
        present += int(here > 0)
        bits += times_logarithm(here, table)
    return times_logarithm(total, table) - bits, total, present


@inlined
def _shortens(below: IntegerArray, first: int, middle: int, last: int, table: FloatArray, sides: FloatArray) -> bool:
    """Whether a split shortens the description; `sides[k]` is log2(3^k - 2)."""
    whole, total, present = _bits_of(below, first, last, table)
    left, total_left, present_left = _bits_of(below, first, middle, table)
    right, total_right, present_right = _bits_of(below, middle, last, table)
    place = np.log2(max(float(total) - 1.0, 1.0))
    codes = present_left * left / total_left + present_right * right / total_right - present * whole / total
    return bool(whole - left - right > place + sides[present] + codes)


@compiled
def split_all(
    below: IntegerArray, table: FloatArray, sides: FloatArray, rounding: float, left: FloatArray, places: IntegerArray
) -> int:
    """Fill the places of all accepted splits, in any order; return how many.

    `below[edge]` are the counts of each class below each edge. `places` has room for three times as many as there are
    edges, and four more.
    """
    edges = below.shape[0]
    found, waiting = 0, 1  # intervals to look at are at the end of `places`, each by its first edge and its last
    places[places.size - 1], places[places.size - 2] = 0, edges - 1
    while waiting > 0:
        top = places.size - 2 * waiting
        last, first = places[top], places[top + 1]
        waiting -= 1
        if last - first < 2:
            continue
        entropy_left(below, first, last, table, left)
        least = left[first + 1]
        for place in range(first + 2, last):
            least = min(least, left[place])
        total = 0
        for label in range(below.shape[1]):
            total += below[last, label] - below[first, label]
        most = least + rounding * float(total) * np.log2(float(total) + 1.0)
        middle = first + 1
        while left[middle] > most:
            middle += 1
        if _shortens(below, first, middle, last, table, sides):
            places[found] = middle
            found += 1
            places[top + 1], places[top] = first, middle
            places[top - 1], places[top - 2] = middle, last
            waiting += 2
    return found
