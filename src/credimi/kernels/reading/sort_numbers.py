"""Doubles in order, each with the class of its row, by radix; and what is counted of them then.

The bits of a double, all of them turned if it is negative, else the first alone, are an unsigned integer in the same
order: its key. Keys are sorted by 11 bits at a time, the last first, each time into 2,048 parts of the same order as
before. Bits that are the same in all keys are passed over. That is a few nanoseconds a number, whatever the numbers,
and where more numbers are there than labels are kept (`columns.labels`) half of the bits are enough.

Two neighbours of which b bits are dropped are still two if they differ in bit b or above. So the highest bit in which
each differs from the next tells how many labels there are, for every b at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import FloatArray, IntegerArray, compiled, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Keys = NDArray[np.uint64]
    Classes = NDArray[np.uint16]

BITS = 11  # of a key that are sorted at once
DIGITS = 6
HALF = 33  # bits that are left out where the others are enough: three digits
_PARTS = 1 << BITS
_SIGN = np.uint64(1 << 63)
_LAST = np.uint64(_PARTS - 1)
_ONE, _ZERO = np.uint64(1), np.uint64(0)


@intrinsic
def _leading_zeros(_typing: Any, word: Any) -> Any:
    """How many bits before the first that is set."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctlz(arguments[0], ir.IntType(1)(0))

    return types.uint64(types.uint64), generate


@inlined
def _key(bits: np.uint64) -> np.uint64:
    """The key of a double that is given by its bits; -0.0 is 0.0."""
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

    NaN is left out, and counted in `missing` by its class. Both arrays have two rows, for all values each; `lowest` is
    a multiple of BITS, and `sizes` room for DIGITS x 2^BITS numbers.
    """
    words = values.view(np.uint64)
    first = lowest // BITS
    sizes[:] = 0
    for row in range(words.size):
        if values[row] == values[row]:
            key = _key(words[row])
            for digit in range(first, DIGITS):
                sizes[digit, (key >> np.uint64(digit * BITS)) & _LAST] += 1
        else:
            missing[classes[row]] += 1
    number = 0
    for part in range(_PARTS):
        number += sizes[DIGITS - 1, part]
    rounds = 0
    for digit in range(first, DIGITS):
        place = 0
        largest = 0
        for part in range(_PARTS):
            size = sizes[digit, part]
            largest = max(largest, size)
            sizes[digit, part] = place
            place += size
        if largest == number:
            sizes[digit, 0] = -1  # nothing to sort by
        else:
            rounds += 1
    half = rounds % 2
    place = 0
    for row in range(words.size):
        if values[row] == values[row]:
            keys[half, place] = _key(words[row])
            labels[half, place] = classes[row]
            place += 1
    for digit in range(first, DIGITS):
        if sizes[digit, 0] >= 0:
            _move(
                keys[half],
                labels[half],
                number,
                np.uint64(digit * BITS),
                sizes[digit],
                keys[1 - half],
                labels[1 - half],
            )
            half = 1 - half
    return number


@inlined
def _move(
    keys: Keys, labels: Classes, number: int, shift: np.uint64, places: IntegerArray, to: Keys, beside: Classes
) -> None:
    """Put each key to the next place of its part."""
    for row in range(number):
        key = keys[row]
        part = (key >> shift) & _LAST
        place = places[part]
        places[part] = place + 1
        to[np.uint64(place)] = key
        beside[np.uint64(place)] = labels[row]


@compiled
def differences(keys: Keys, number: int, lowest: int, pairs: IntegerArray) -> int:
    """Count the neighbours by the highest bit in which they differ, from `lowest` on; return how many are negative."""
    negative = 0
    low = np.uint64(lowest)
    for row in range(number):
        negative += int((keys[row] ^ _SIGN) >> np.uint64(63))
        if row > 0:
            apart = (keys[row] ^ keys[row - 1]) >> low
            if apart:
                pairs[np.uint64(63) - np.uint64(_leading_zeros(apart)) + low] += 1
    return negative


@compiled
def count_labels(
    keys: Keys, labels: Classes, number: int, dropped: int, numbers: FloatArray, block: IntegerArray
) -> int:
    """Fill the distinct numbers, of which so many bits are dropped, and add to `block[class, number]`; return how many.

    The keys are in order, as far as the bits go that are kept.
    """
    words = numbers.view(np.uint64)
    shift = np.uint64(dropped)
    last, found = _ZERO, -1
    for row in range(number):
        kept = keys[row] >> shift
        if found < 0 or kept != last:
            last = kept
            bits = keys[row] ^ _SIGN if keys[row] & _SIGN else ~keys[row]
            bits = (bits >> shift) << shift
            bits = _ZERO if bits == _SIGN else bits
            if found < 0 or words[found] != bits:
                found += 1
                words[found] = bits
        block[labels[row], found] += 1
    return found + 1


@compiled
def entropy_left(below: IntegerArray, first: int, last: int, table: FloatArray, left: FloatArray) -> None:
    """Of each place between two, the bits that remain on its two sides: n log2 n less that of each class, for both.

    `below[place]` is how often each class occurs below the place; the table has n log2 n, as far as it goes.
    """
    for place in range(first + 1, last):
        lower, upper = 0, 0
        bits = 0.0
        for label in range(below.shape[1]):
            here = below[place, label] - below[first, label]
            there = below[last, label] - below[place, label]
            lower += here
            upper += there
            bits -= times_logarithm(here, table) + times_logarithm(there, table)
        left[place] = bits + times_logarithm(lower, table) + times_logarithm(upper, table)


@inlined
def times_logarithm(count: int, table: FloatArray) -> float:
    """Count times its logarithm, from the table as far as that goes."""
    if count < table.size:
        return float(table[np.uint64(count)])
    return float(count * np.log2(count))
