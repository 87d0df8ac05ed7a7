"""Radix sort of doubles, each with the class of its row; counts of the sorted numbers; and how these are split.

The key of a double is an unsigned integer that has the same order: its bits, all inverted if it is negative, else only
the first. Keys are sorted by 11 bits at a time, the last bits first, each time into 2,048 parts that keep the order
from before. Bits that are the same in all keys are skipped. This takes a few nanoseconds a number for any numbers. If
there are more distinct numbers than labels may be kept (`columns.labels`), half of the bits are enough.

If b bits are dropped, two neighbours are still distinct if they differ in bit b or above. So the highest bit in which
each differs from the next gives the number of labels for every b at once.

The splits are those that shorten the description of the classes: `columns.numbers.discretize` has the formulas; here
they are computed from integer counts, with n log2 n from a table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    Keys = NDArray[np.uint64]
    Classes = NDArray[np.uint16]


BITS = 11  # of a key, sorted at once
DIGITS = 6
HALF = 33  # bits that are not sorted if the others are enough: three digits
_PARTS = 1 << BITS
_SIGN = np.uint64(1 << 63)
_DIGIT_MASK = np.uint64(_PARTS - 1)
_ONE, _ZERO = np.uint64(1), np.uint64(0)


@intrinsic
def _leading_zeros(_typing: Any, word: Any) -> Any:
    """The number of zero bits before the first set bit."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


@inlined
def _key(bits: np.uint64) -> np.uint64:
    """The key of a double, given its bits; that of -0.0 is that of 0.0."""
    if bits == _SIGN:
        return _SIGN
    return np.uint64(~bits if bits & _SIGN else bits ^ _SIGN)


@compiled
def sort(
    values: FloatArray,
    classes: Classes,
    lowest: int,
    keys: Keys,
    labels: Classes,
    sizes: IntegerArray,
    missing: IntegerArray,
) -> int:
    """Sort the keys by their bits from `lowest` on, to `keys[0]`, with the classes in `labels[0]`; return their number.

    NaN is left out, and counted in `missing` by class. `keys` and `labels` have two rows, each as long as the values.
    `lowest` is a multiple of BITS. `sizes` is scratch for DIGITS x 2^BITS numbers.
    """
    words = values.view(np.uint64)
    first = lowest // BITS
    sizes[:] = 0
    for row in range(words.size):
        if values[row] == values[row]:
            key = _key(words[row])
            for digit in range(first, DIGITS):
                sizes[digit, (key >> np.uint64(digit * BITS)) & _DIGIT_MASK] += 1
        else:
            missing[classes[row]] += 1
    key_count = 0
    for part in range(_PARTS):
        key_count += sizes[DIGITS - 1, part]
    rounds = 0
    for digit in range(first, DIGITS):
        position = 0
        largest = 0
        for part in range(_PARTS):
            size = sizes[digit, part]
            largest = max(largest, size)
            sizes[digit, part] = position
            position += size
        if largest == key_count:
            sizes[digit, 0] = -1  # all keys have the same digit: nothing to sort by
        else:
            rounds += 1
    buffer = rounds % 2
    position = 0
    for row in range(words.size):
        if values[row] == values[row]:
            keys[buffer, position] = _key(words[row])
            labels[buffer, position] = classes[row]
            position += 1
    for digit in range(first, DIGITS):
        if sizes[digit, 0] >= 0:
            _move(
                keys[buffer],
                labels[buffer],
                key_count,
                np.uint64(digit * BITS),
                sizes[digit],
                keys[1 - buffer],
                labels[1 - buffer],
            )
            buffer = 1 - buffer
    return key_count


@inlined
def _move(
    keys: Keys,
    labels: Classes,
    number: int,
    shift: np.uint64,
    next_positions: IntegerArray,
    to_keys: Keys,
    to_labels: Classes,
) -> None:
    """Copy each key to the next position of its part."""
    for row in range(number):
        key = keys[row]
        part = (key >> shift) & _DIGIT_MASK
        position = next_positions[part]
        next_positions[part] = position + 1
        to_keys[np.uint64(position)] = key
        to_labels[np.uint64(position)] = labels[row]


@compiled
def differences(keys: Keys, number: int, lowest: int, pairs: IntegerArray) -> int:
    """Count the neighbours by the highest bit in which they differ, from `lowest` on; return how many are negative."""
    negative = 0
    low = np.uint64(lowest)
    for row in range(number):
        negative += int((keys[row] ^ _SIGN) >> np.uint64(63))
        if row > 0:
            difference = (keys[row] ^ keys[row - 1]) >> low
            if difference:
                pairs[np.uint64(63) - np.uint64(_leading_zeros(difference)) + low] += 1
    return negative


@compiled
def count_labels(
    keys: Keys, labels: Classes, number: int, dropped: int, numbers: FloatArray, block: IntegerArray
) -> int:
    """Fill the distinct numbers with `dropped` bits set to 0, add to `block[class, number]`; return how many there are.

    The keys are sorted by the bits that are not dropped.
    """
    words = numbers.view(np.uint64)
    shift = np.uint64(dropped)
    last_bits, label_index = _ZERO, -1
    for row in range(number):
        key_bits = keys[row] >> shift
        if label_index < 0 or key_bits != last_bits:
            last_bits = key_bits
            bits = keys[row] ^ _SIGN if keys[row] & _SIGN else ~keys[row]
            bits = (bits >> shift) << shift
            bits = _ZERO if bits == _SIGN else bits
            if label_index < 0 or words[label_index] != bits:
                label_index += 1
                words[label_index] = bits
        block[labels[row], label_index] += 1
    return label_index + 1


@compiled
def entropy_left(below: IntegerArray, first: int, last: int, table: FloatArray, remaining: FloatArray) -> None:
    """Fill the entropy in bits on both sides of each cut: n log2 n less that of each class, summed over the sides.

    `below[cut]` has the class counts below a cut; the cuts are those between `first` and `last`. `table` has n log2 n
    of small n.
    """
    for cut in range(first + 1, last):
        lower, upper = 0, 0
        bits = 0.0
        for label in range(below.shape[1]):
            count_below = below[cut, label] - below[first, label]
            count_above = below[last, label] - below[cut, label]
            lower += count_below
            upper += count_above
            bits -= times_logarithm(count_below, table) + times_logarithm(count_above, table)
        remaining[cut] = bits + times_logarithm(lower, table) + times_logarithm(upper, table)


@inlined
def times_logarithm(count: int, table: FloatArray) -> float:
    """n log2 n, from the table if n is small enough."""
    if count < table.size:
        return float(table[np.uint64(count)])
    return float(count * np.log2(count))


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
