"""Evidence that a column tells about the target once another is known, for all pairs of columns.

The same numbers as those of `adaptive_weights` for the strata of one candidate, as the logarithm of the Bayes factor of
dependence against independence; without weights and blocks of components, straight from the joint table of a pair. The
counts in pair tables are small, so that not only cells but margins, too, are multiplied out,

    prod_k (1 + k/(K a_i b_j))  over  prod_k (1 + k/(K a_i)) prod_k (1 + k/(K b_j)),

and both products run on over the strata: a logarithm is taken only when one of them gets too large.

O(rst) a point of the grid of K for each of the two columns of a pair.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.evidence.adaptive_weights import (
    LANES,
    MOST_ZOOMS,
    fill_grid,
    grid_ratio,
    grid_size,
    is_peaked,
)
from credimi.kernels.evidence.excess_evidence import LEAST, is_thin, take_off_thin
from credimi.kernels.evidence.grid_mean import finer_grid, log_mean
from credimi.kernels.jit import compiled, inlined
from credimi.kernels.pairs.pair_bits import BLOCK, count_block, fill_cells
from credimi.kernels.special import log_rise, log_rise_of_large, logarithm

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

GRID = 18
SMOOTHING = 0.5
LOOSEST = 4.0
TIGHTEST = 50.0
_PADDED = 24
_MULTIPLIED_OUT = 48.0  # the largest count whose product is faster than the series
_LARGE = 8.0  # from here on the series holds without a shift
_STEEP = 1e24  # a factor above this, four at a time, might overflow
_FULL = 1e100  # a product above this is turned into its logarithm


@inlined
def _multiply(product: FloatArray, inverse: FloatArray, part: float, n: float) -> None:
    """Multiply by (1 + k/(K part)) for all whole k below n."""
    scale = 1.0 / part
    for first in range(1, np.int64(n), 4):
        one, two = first * scale, (first + 1) * scale if first + 1 < n else 0.0
        three = (first + 2) * scale if first + 2 < n else 0.0
        four = (first + 3) * scale if first + 3 < n else 0.0
        for point in range(inverse.size):
            each = inverse[point]
            product[point] *= (1.0 + one * each) * (1.0 + two * each) * ((1.0 + three * each) * (1.0 + four * each))


@inlined
def _add_rise(score: FloatArray, strength: FloatArray, part: float, n: float, sign: float) -> None:
    """Add or subtract log_rise(K part, n)."""
    for first in range(0, strength.size, LANES):
        some, sums = strength[first : first + LANES], score[first : first + LANES]
        if some[0] * part >= _LARGE:
            for lane in range(LANES):
                sums[lane] += sign * log_rise_of_large(some[lane] * part, n)
        else:
            for lane in range(LANES):
                sums[lane] += sign * log_rise(some[lane] * part, n)


@inlined
def _flush(product: FloatArray, score: FloatArray, sign: float) -> None:
    for point in range(product.size):
        score[point] += sign * logarithm(product[point])
        product[point] = 1.0


@inlined
def _is_short(n: float, inverse: float, part: float) -> bool:
    """Whether the product of n factors is taken."""
    return n <= _MULTIPLIED_OUT and n == np.floor(n) and n * inverse < _STEEP * part


@inlined
def _fill_margins(table: FloatArray, r: int, s: int, whole: bool, margins: FloatArray) -> tuple[float, int, int]:
    """Fill the margins of one stratum and their shares; return its complete rows, and how many classes and values.

    Those that none of its rows has have no share (see `kernels.evidence.occurring`), unless it is `whole`.
    """
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    for j in range(s):
        by_value[j] = 0.0
    total, of_classes, height, width = 0.0, 0.0, 0, 0
    for i in range(r):
        row = table[i * (s + 1) : (i + 1) * (s + 1)]
        by_class[i] = 0.0
        for j in range(s):
            by_class[i] += row[j]
            by_value[j] += row[j]
        total += by_class[i]
        classes[i] = by_class[i] + row[s]
        if whole or classes[i] > 0.0:
            classes[i] += SMOOTHING
            height += 1
        of_classes += classes[i]
    for i in range(r):
        classes[i] /= of_classes
    for j in range(s):
        width += whole or by_value[j] > 0.0
    for j in range(s):
        values[j] = (by_value[j] + SMOOTHING) / (total + width * SMOOTHING) if whole or by_value[j] > 0.0 else 0.0
    return total, height, width


@inlined
def _add_stratum(
    table: FloatArray,
    r: int,
    s: int,
    whole: bool,
    margins: FloatArray,
    lanes: FloatArray,
) -> None:
    """Add log B_K of one stratum, r x (s + 1) with the rows that miss the value last, to the scores and products."""
    strength, score, inverse, product, divisor = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    total, height, width = _fill_margins(table, r, s, whole, margins)
    if total <= 0.0:
        return
    pairs = total * (total - 1.0)
    of_rows, of_columns = pairs, pairs
    for i in range(r):
        n = by_class[i]
        if n * (n - 1.0) == 0.0:  # whose log_rise is 0
            continue
        of_rows -= n * (n - 1.0) / classes[i]
        if _is_short(n, inverse[0], classes[i]):
            _multiply(divisor, inverse, classes[i], n)
            if divisor[0] > _FULL:
                _flush(divisor, score, -1.0)
        else:
            _add_rise(score, strength, classes[i], n, -1.0)
    for j in range(s):
        n = by_value[j]
        if n * (n - 1.0) == 0.0:  # whose log_rise is 0, and that of its cells
            continue
        of_columns -= n * (n - 1.0) / values[j]
        if _is_short(n, inverse[0], values[j]):
            _multiply(divisor, inverse, values[j], n)
            if divisor[0] > _FULL:
                _flush(divisor, score, -1.0)
        else:
            _add_rise(score, strength, values[j], n, -1.0)
        for i in range(r):
            n = table[i * (s + 1) + j]
            if n * (n - 1.0) == 0.0:  # whose log_rise is 0
                continue
            part = classes[i] * values[j]
            if _is_short(n, inverse[0], part):
                _multiply(product, inverse, part, n)
                if product[0] > _FULL:
                    _flush(product, score, 1.0)
            else:
                _add_rise(score, strength, part, n, 1.0)
    if _is_short(total, inverse[0], 1.0):
        _multiply(product, inverse, 1.0, total)
    else:
        _add_rise(score, strength, 1.0, total, 1.0)
    if not whole and is_thin(total, height, width):
        take_off_thin(total, margins, r, s, strength, score)
    elif not whole and pairs > 0.0:
        excess = of_rows * of_columns / (2.0 * pairs)
        for point in range(inverse.size):
            divisor[point] *= 1.0 + max(excess * inverse[point], LEAST)
    if product[0] > _FULL:
        _flush(product, score, 1.0)
    if divisor[0] > _FULL:
        _flush(divisor, score, -1.0)


@compiled
def log_evidence(tables: FloatArray, strata: int, r: int, s: int, margins: FloatArray, room: FloatArray) -> float:
    """log of the mean of B_K over the grid, for `strata` tables one after the other.

    `margins` (4, largest side) and `room` (5 x 24) are scratch.
    """
    if strata == 0:
        return 0.0
    size, whole = r * (s + 1), strata == 1
    total, tallest, widest, freedom = 0.0, 1, 1, 0
    for stratum in range(strata):
        rows, height, width = _fill_margins(tables[stratum * size : (stratum + 1) * size], r, s, whole, margins)
        total += rows
        tallest, widest, freedom = max(tallest, height), max(widest, width), freedom + (height - 1) * max(width - 1, 0)
    points = grid_size(freedom, GRID)
    padded = (points + LANES - 1) // LANES * LANES
    lanes = room[: 5 * padded].reshape(5, padded)
    log_point = -np.log(np.float64(points))
    least, ratio = LOOSEST, grid_ratio(LOOSEST, TIGHTEST, total, tallest, widest, points)
    for zoom in range(MOST_ZOOMS + 1):
        fill_grid(lanes[0], least, ratio)
        for point in range(padded):
            lanes[1, point] = 0.0
            lanes[2, point] = 1.0 / lanes[0, point]
            lanes[3, point] = 1.0
            lanes[4, point] = 1.0
        for stratum in range(strata):
            _add_stratum(tables[stratum * size : (stratum + 1) * size], r, s, whole, margins, lanes)
        _flush(lanes[3], lanes[1], 1.0)
        _flush(lanes[4], lanes[1], -1.0)
        if zoom == MOST_ZOOMS or not is_peaked(lanes[1, :points], freedom, -log_point):
            break
        least, ratio, log_point = finer_grid(lanes, points, ratio, log_point)
    return log_mean(lanes[1], points, log_point)


@inlined
def gather(
    cells: FloatArray,
    r: int,
    steps: tuple[int, int, int],
    values: int,
    has_missing: bool,
    strata: int,
    tables: FloatArray,
) -> int:
    """Lay out the strata of a joint table, those without rows left out, and return how many there are.

    `steps` are those of class, value and stratum in `cells`; the last of the values may be the missing one.
    """
    found, s = 0, values - 1 if has_missing else values
    for stratum in range(strata):
        at, rows = found * r * (s + 1), 0.0
        for i in range(r):
            for j in range(s + 1):
                count = cells[i * steps[0] + j * steps[1] + stratum * steps[2]] if j < values else 0.0
                tables[at] = count
                rows += count
                at += 1
        if rows > 0.0:
            found += 1
    return found


@compiled
def evidence_of_pair(
    cells: FloatArray, r: int, one: IntegerArray, other: IntegerArray, room: FloatArray, found: FloatArray
) -> None:
    """log Bayes factors of a joint table (class, value, other value): of the first column given the other, and reverse.

    `one` and `other` say of a column how many values it has, missing included, and whether it misses any (see
    `layout` of `evidence_of_blocks`). `room` is scratch.
    """
    values, others = one[1], other[1]
    size = r * (values + 1) * (others + 1)
    side = max(r, values, others)
    tables, margins = room[: 2 * size], room[2 * size : 2 * size + 4 * side].reshape(4, side)
    lanes = room[2 * size + 4 * side : 2 * size + 4 * side + 5 * _PADDED]
    step = values * others, others, 1
    strata = gather(cells, r, step, values, one[2] > 0, others - other[2], tables)
    found[0] = log_evidence(tables, strata, r, values - one[2], margins, lanes)
    step = values * others, 1, others
    strata = gather(cells, r, step, others, other[2] > 0, values - one[2], tables)
    found[1] = log_evidence(tables, strata, r, others - other[2], margins, lanes)


@inlined
def room_for(r: int, values: int) -> int:
    """The scratch that `evidence_of_pair` needs for columns of up to so many values."""
    return 2 * r * (values + 1) * (values + 1) + 4 * max(r, values + 1) + 5 * _PADDED


@compiled
def evidence_of_blocks(
    bits: NDArray[np.uint64],
    ends: IntegerArray,
    totals: IntegerArray,
    layout: IntegerArray,
    blocks: IntegerArray,
    block: int,
    beside: int,
    found: FloatArray,
) -> None:
    """log Bayes factors of all columns of one block given each of another, and the reverse.

    A line of `layout` has of a column: the number of its first value in `totals`; its values, missing included;
    1 if the last of them is the missing one; and where its sets start in its block. A line of `blocks`: the first
    column, the one after the last, the first panel, and how many sets there are. `found` is (2, columns, columns).
    """
    r, most = totals.shape[1], 2
    for column in range(layout.shape[0]):
        most = max(most, layout[column, 1])
    counts = np.empty(r * BLOCK * BLOCK, dtype=np.int64)
    cells, room, both = np.empty(r * most * most), np.empty(room_for(r, most)), np.empty(2)
    one, two = blocks[block], blocks[beside]
    count_block(bits, ends, one[2], one[3], two[2], two[3], counts)
    for column in range(one[0], one[1]):
        own = layout[column]
        for other in range(max(two[0], column + 1), two[1]):
            its = layout[other]
            fill_cells(counts, totals, own[0], own[1], own[3], its[0], its[1], its[3], cells)
            evidence_of_pair(cells, r, own, its, room, both)
            found[0, column - one[0], other - two[0]] = both[0]
            found[1, column - one[0], other - two[0]] = both[1]


@compiled
def evidence_of_pairs(
    cells: FloatArray, starts: IntegerArray, r: int, layout: IntegerArray, pairs: IntegerArray, found: FloatArray
) -> None:
    """The same of some pairs from their joint tables, which follow each other in `cells`; `found` is (pairs, 2)."""
    most = 2
    for column in range(layout.shape[0]):
        most = max(most, layout[column, 1])
    room = np.empty(room_for(r, most))
    for pair in range(pairs.shape[0]):
        own, its = layout[pairs[pair, 0]], layout[pairs[pair, 1]]
        evidence_of_pair(cells[starts[pair] :], r, own, its, room, found[pair])
