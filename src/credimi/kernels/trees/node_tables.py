"""Tables of the nodes of a tree: all columns against the target, on the rows of one node, and where to cut numbers.

Blocks are (r + 1) x (s + 1), one after the other, the missing class and the missing value last. Rows are entries: a row
may be in several nodes, in each with a part of its weight.

* `count_columns`: the blocks of columns of bytes that are stored row by row. A row's codes are next to each other in
  memory, so that all of its columns cost about as much as reading one.
* `settle_columns`: makes of each such block the table that is judged: without classes and values that do not occur;
  of numbers, with the values below and above the best cut.
* `settle_wide_column`: the same for a column of more than 255 values, stored as a column of its own. Only the values
  that occur in the node are looked at.

**The best cut** leaves the least entropy of the classes below and above it. It was chosen among d - 1 places, which is
paid for: its evidence is the mean over all places as a share of the best (see
`columns.numbers.discretize.evidence_share`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import FloatArray, IntegerArray, compiled, inlined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Codes = NDArray[Any]  # of unsigned integers

_ROUNDING = 1e-12  # as in `columns.numbers.discretize`
_LEAST_SHARE = 1e-300


@compiled
def count_columns(
    codes: Codes,
    classes: Codes,
    entries: IntegerArray,
    weights: FloatArray,
    first: int,
    last: int,
    offsets: IntegerArray,
    widths: IntegerArray,
    flat: FloatArray,
) -> None:
    """Add the weights of the entries to the blocks of the columns from `first` up to `last`."""
    for at in range(entries.size):
        row = np.uint64(entries[at])
        weight = weights[at]
        group = np.int64(classes[row])
        for column in range(first, last):
            flat[np.uint64(offsets[column] + group * widths[column] + codes[row, np.uint64(column)])] += weight


@compiled
def settle_columns(
    flat: FloatArray,
    offsets: IntegerArray,
    widths: IntegerArray,
    classes: int,
    numbers: Codes,
    out: FloatArray,
    shapes: IntegerArray,
    places: IntegerArray,
    shares: FloatArray,
    room: FloatArray,
) -> int:
    """Write the settled blocks to `out`, one after the other; return how many cells they have.

    `shapes` gets rows and columns of each, 0 where a column tells nothing: one class or one value. Of numbers, `places`
    gets the last value below the cut and the first above it, and `shares` what the choice of the cut leaves of the
    evidence. `room` has two numbers for each class, and one for each value.
    """
    used = 0
    present = room[: 2 * classes]
    for column in range(offsets.size):
        width = widths[column]
        block = flat[offsets[column] : offsets[column] + (classes + 1) * width].reshape((classes + 1, width))
        shares[column] = 1.0
        if numbers[column]:
            used += _cut_block(block, classes, width - 1, column, out[used:], shapes, places, shares, room)
            continue
        kept = 0
        for group in range(classes):
            total = 0.0
            for value in range(width):
                total += block[group, value]
            present[group] = total
            kept += total > 0.0
        values = 0
        occurs = room[2 * classes :]
        for value in range(width - 1):
            total = 0.0
            for group in range(classes):
                total += block[group, value]
            occurs[value] = total
            values += total > 0.0
        if kept < 2 or values < 2:
            shapes[column, 0] = shapes[column, 1] = 0
            continue
        shapes[column, 0], shapes[column, 1] = kept, values
        for group in range(classes + 1):
            if group == classes or present[group] > 0.0:
                for value in range(width):
                    if value == width - 1 or occurs[value] > 0.0:
                        out[used] = block[group, value]
                        used += 1
    return used


@inlined
def _cut_block(
    block: FloatArray,
    classes: int,
    values: int,
    column: int,
    out: FloatArray,
    shapes: IntegerArray,
    places: IntegerArray,
    shares: FloatArray,
    room: FloatArray,
) -> int:
    """The block of one column of numbers, cut once."""
    counts = np.empty((values, classes))
    where = np.empty(values, dtype=np.int64)
    found = 0
    for value in range(values):
        total = 0.0
        for group in range(classes):
            counts[found, group] = block[group, value]
            total += block[group, value]
        if total > 0.0:
            where[found] = value
            found += 1
    behind, share = _best_cut(counts[:found], room)
    if behind < 0:
        shapes[column, 0] = shapes[column, 1] = 0
        return 0
    shares[column] = share
    places[column, 0], places[column, 1] = where[behind - 1], where[behind]
    used = kept = 0
    for group in range(classes + 1):
        below = above = 0.0
        unseen = block[group, values]  # with the values that have no class: one may lie where the cut is put
        place = 0
        for value in range(values):
            if place == found or where[place] != value:
                unseen += block[group, value]
                continue
            if place < behind:
                below += block[group, value]
            else:
                above += block[group, value]
            place += 1
        if group == classes or below + above + unseen > 0.0:
            out[used], out[used + 1], out[used + 2] = below, above, unseen
            used += 3
            kept += 1
    shapes[column, 0], shapes[column, 1] = kept - 1, 2
    return used


@inlined
def _best_cut(counts: FloatArray, room: FloatArray) -> tuple[int, float]:
    """The first value above the best cut, -1 if there is none, and the share of the evidence that is left.

    `counts[value, class]` of the values that occur, in order; of equally good cuts the lowest is taken.
    """
    size, classes = counts.shape
    if size < 2:
        return -1, 1.0
    below, above = room[:classes], room[classes : 2 * classes]
    below[:] = 0.0
    above[:] = 0.0
    for value in range(size):
        for group in range(classes):
            above[group] += counts[value, group]
    total, present = 0.0, 0
    for group in range(classes):
        total += above[group]
        present += above[group] > 0.0
    if present < 2:
        return -1, 1.0
    remaining = np.empty(size - 1)
    least = np.inf
    for value in range(size - 1):
        bits = 0.0
        under = over = 0.0
        for group in range(classes):
            count = counts[value, group]
            below[group] += count
            above[group] = max(above[group] - count, 0.0)
            under += below[group]
            over += above[group]
            bits -= _times_logarithm(below[group]) + _times_logarithm(above[group])
        remaining[value] = bits + _times_logarithm(under) + _times_logarithm(over)
        least = min(least, remaining[value])
    slack = _ROUNDING * total * np.log2(total + 1.0)
    best, evidence = -1, 0.0
    for value in range(size - 1):
        if best < 0 and remaining[value] <= least + slack:
            best = value
        evidence += np.exp2(least - remaining[value])
    return best + 1, max(min(evidence / (size - 1), 1.0), _LEAST_SHARE)


@inlined
def _times_logarithm(count: float) -> float:
    return count * np.log2(count) if count > 0.0 else 0.0


@compiled
def settle_wide_column(
    codes: Codes,
    groups: Codes,
    entries: IntegerArray,
    weights: FloatArray,
    classes: int,
    values: int,
    number: bool,
    seen: Codes,
    position: IntegerArray,
    out: FloatArray,
    shape: IntegerArray,
    place: IntegerArray,
    room: FloatArray,
) -> float:
    """Settle one column of codes up to `values`, which means missing; return the share of the evidence.

    `seen` is 0 everywhere, before and after; `position` is room for one number for each value.
    """
    shape[0] = shape[1] = 0
    lowest, highest = values, -1
    for at in range(entries.size):
        row = np.uint64(entries[at])
        code = int(codes[row])
        if code < values and groups[row] < classes and weights[at] > 0.0:
            seen[code] = 1
            lowest, highest = min(lowest, code), max(highest, code)
    found = 0
    for value in range(lowest, highest + 1):
        if seen[value]:
            position[found] = value
            seen[value] = 0
            found += 1
    if found < 2:
        return 1.0
    where = np.full(highest - lowest + 1, -1, dtype=np.int64)
    for value in range(found):
        where[position[value] - lowest] = value
    counts = np.zeros((found + 1, classes + 1))  # the last value is "missing", the last class too
    for at in range(entries.size):
        row = np.uint64(entries[at])
        code = int(codes[row])
        known = lowest <= code <= highest and where[code - lowest] >= 0
        counts[where[code - lowest] if known else found, np.int64(groups[row])] += weights[at]
    share = 1.0
    if number:
        behind, share = _best_cut(np.ascontiguousarray(counts[:found, :classes]), room)
        if behind < 0:
            return 1.0
        place[0], place[1] = position[behind - 1], position[behind]
        for value in range(1, behind):
            counts[0] += counts[value]
        for value in range(behind + 1, found):
            counts[behind] += counts[value]
        counts[1] = counts[behind]
        counts[2] = counts[found]
        found = 2
    used = kept = 0
    for group in range(classes + 1):
        total = 0.0
        for value in range(found + 1):
            total += counts[value, group]
        if group == classes or total > 0.0:
            for value in range(found + 1):
                out[used] = counts[value, group]
                used += 1
            kept += 1
    if kept > 2:
        shape[0], shape[1] = kept - 1, found
    return share
