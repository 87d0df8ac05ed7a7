"""Tables of the nodes of a tree: all columns against the target, on the rows of one node, and where to cut numbers.

Blocks are (r + 1) x (s + 1), one after the other, the missing class and the missing value last. An entry is a row in a
node: a row may be in several nodes, in each with a part of its weight.

* `count_columns` fills the blocks of columns of bytes that are stored row by row. The codes of a row are next to each
  other in memory, so that counting all columns costs about as much as reading one.
* `interpret_columns` turns each such block into the table that is judged, without classes and values that do not
  occur. The table of a column of numbers has two values: below and above the best cut.
* `count_wide_column` counts a column of more than 255 values, which is stored separately: only the values that occur in
  the node have a place in its block.

**The best cut** leaves the smallest entropy of the classes below and above it. It was chosen among d - 1 cuts, and the
evidence is corrected for this choice: it is the mean over all cuts as a share of the best (see
`columns.numbers.discretize.evidence_share`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined

if TYPE_CHECKING:
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
    for index in range(entries.size):
        row = np.uint64(entries[index])
        weight = weights[index]
        group = np.int64(classes[row])
        for column in range(first, last):
            flat[np.uint64(offsets[column] + group * widths[column] + codes[row, np.uint64(column)])] += weight


@compiled
def interpret_columns(
    flat: FloatArray,
    offsets: IntegerArray,
    widths: IntegerArray,
    classes: int,
    numbers: Codes,
    out: FloatArray,
    shapes: IntegerArray,
    cut_values: IntegerArray,
    shares: FloatArray,
    scratch: FloatArray,
) -> int:
    """Write the tables that are judged to `out`, one after the other; return how many cells they have.

    `shapes` receives the numbers of classes and values of each; 0 if a column has only one class or one value. For a
    column of numbers, `cut_values` receives the last value below the cut and the first above it, and `shares` the share
    of the evidence that is left after the choice of the cut. `scratch` has two numbers for each class, and one for each
    value.
    """
    written = 0
    present = scratch[: 2 * classes]
    for column in range(offsets.size):
        width = widths[column]
        block = flat[offsets[column] : offsets[column] + (classes + 1) * width].reshape((classes + 1, width))
        shares[column] = 1.0
        if numbers[column]:
            written += _cut_block(block, classes, width - 1, column, out[written:], shapes, cut_values, shares, scratch)
            continue
        class_count = 0
        for group in range(classes):
            total = 0.0
            for value in range(width):
                total += block[group, value]
            present[group] = total
            class_count += total > 0.0
        value_count = 0
        occurs = scratch[2 * classes :]
        for value in range(width - 1):
            total = 0.0
            for group in range(classes):
                total += block[group, value]
            occurs[value] = total
            value_count += total > 0.0
        if class_count < 2 or value_count < 2:
            shapes[column, 0] = shapes[column, 1] = 0
            continue
        shapes[column, 0], shapes[column, 1] = class_count, value_count
        for group in range(classes + 1):
            if group == classes or present[group] > 0.0:
                for value in range(width):
                    if value == width - 1 or occurs[value] > 0.0:
                        out[written] = block[group, value]
                        written += 1
    return written


@inlined
def _cut_block(
    block: FloatArray,
    classes: int,
    values: int,
    column: int,
    out: FloatArray,
    shapes: IntegerArray,
    cut_values: IntegerArray,
    shares: FloatArray,
    scratch: FloatArray,
) -> int:
    """Write the table of one column of numbers, cut once; return how many cells it has."""
    counts = np.empty((values, classes))
    occurring = np.empty(values, dtype=np.int64)
    value_count = 0
    for value in range(values):
        total = 0.0
        for group in range(classes):
            counts[value_count, group] = block[group, value]
            total += block[group, value]
        if total > 0.0:
            occurring[value_count] = value
            value_count += 1
    first_above, share = _best_cut(counts[:value_count], scratch)
    if first_above < 0:
        shapes[column, 0] = shapes[column, 1] = 0
        return 0
    shares[column] = share
    cut_values[column, 0], cut_values[column, 1] = occurring[first_above - 1], occurring[first_above]
    written = line_count = 0
    for group in range(classes + 1):
        below = above = 0.0
        unseen = block[group, values]  # and values that have no class: they may lie between the two sides of the cut
        index = 0
        for value in range(values):
            if index == value_count or occurring[index] != value:
                unseen += block[group, value]
                continue
            if index < first_above:
                below += block[group, value]
            else:
                above += block[group, value]
            index += 1
        if group == classes or below + above + unseen > 0.0:
            out[written], out[written + 1], out[written + 2] = below, above, unseen
            written += 3
            line_count += 1
    shapes[column, 0], shapes[column, 1] = line_count - 1, 2
    return written


@inlined
def _best_cut(counts: FloatArray, scratch: FloatArray) -> tuple[int, float]:
    """The index of the first value above the best cut, -1 if there is none, and the share of the evidence that is left.

    `counts[value, class]` has the values that occur, in order. Of equally good cuts the lowest is taken.
    """
    size, classes = counts.shape
    if size < 2:
        return -1, 1.0
    below, above = scratch[:classes], scratch[classes : 2 * classes]
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
def count_wide_column(
    codes: Codes,
    groups: Codes,
    entries: IntegerArray,
    weights: FloatArray,
    classes: int,
    values: int,
    seen: Codes,
    occurring: IntegerArray,
    flat: FloatArray,
) -> int:
    """Count one column of codes, of which `values` means missing; return how many values occur.

    `flat` receives a block of these values only, and `occurring` their codes. `seen` is 0 everywhere, before and after.
    """
    lowest, highest = values, -1
    for index in range(entries.size):
        row = np.uint64(entries[index])
        code = int(codes[row])
        if code < values and groups[row] < classes and weights[index] > 0.0:
            seen[code] = 1
            lowest, highest = min(lowest, code), max(highest, code)
    value_count = 0
    for value in range(lowest, highest + 1):
        if seen[value]:
            occurring[value_count] = value
            seen[value] = 0
            value_count += 1
    index_of_code = np.full(max(highest - lowest + 1, 0), value_count, dtype=np.int64)
    for value in range(value_count):
        index_of_code[occurring[value] - lowest] = value
    width = value_count + 1
    flat[: (classes + 1) * width] = 0.0
    for index in range(entries.size):
        row = np.uint64(entries[index])
        code = int(codes[row])
        place = index_of_code[code - lowest] if lowest <= code <= highest else value_count
        flat[np.int64(groups[row]) * width + place] += weights[index]
    return value_count
