"""Evidence that a column depends on the target given another column, for all pairs of columns.

The results are those of `adaptive_weights` for the strata of one candidate, as the logarithm of the Bayes factor of
dependence against independence. They are computed from the joint table of a pair, without weights and blocks of
components. The counts in pair tables are small, so that both cells and margins are multiplied out,

    prod_k (1 + k/(K a_i b_j))  over  prod_k (1 + k/(K a_i)) prod_k (1 + k/(K b_j)),

and both products continue over all strata: a logarithm is taken only when one of them gets too large.

The cost is O(rst) a point of the grid of K, for each of the two columns of a pair.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled, inlined
from credimi.counts.rows.pair_bits import BLOCK, count_block, fill_cells
from credimi.inference.evidence.adaptive_weights import (
    MAX_ZOOMS,
    fill_grid,
    finer_grid,
    grid_ratio,
    grid_size,
    is_peaked,
    log_mean,
)
from credimi.inference.evidence.excess_evidence import is_thin, subtract_product
from credimi.inference.special_functions import (
    LANES,
    MAX_PRODUCT,
    add_rise,
    is_multiplied_out,
    multiply,
    take_logarithms,
)

GRID = 18
SMOOTHING = 0.5
LOOSEST = 4.0
TIGHTEST = 50.0
_PADDED_GRID = 24


@inlined
def _fill_margins(table: FloatArray, r: int, s: int, whole: bool, margins: FloatArray) -> tuple[float, int, int]:
    """Fill the margins of one stratum and their shares; return the numbers of complete rows, classes and values.

    Classes and values that do not occur have no share (see `inference.evidence.occurring`), unless `whole` is true.
    """
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    for j in range(s):
        by_value[j] = 0.0
    total, class_total, height, width = 0.0, 0.0, 0, 0
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
        class_total += classes[i]
    for i in range(r):
        classes[i] /= class_total
    for j in range(s):
        width += whole or by_value[j] > 0.0
    for j in range(s):
        values[j] = (by_value[j] + SMOOTHING) / (total + width * SMOOTHING) if whole or by_value[j] > 0.0 else 0.0
    return total, height, width


@inlined
def _add_term(product: FloatArray, lanes: FloatArray, part: float, n: float, sign: float) -> None:
    """Add or subtract log_rise(K part, n): to the product, which has this sign, or to the scores."""
    if is_multiplied_out(n, lanes[2, 0], part):
        multiply(product, lanes[2], lanes[1], part, n, sign)
    else:
        add_rise(lanes[1], lanes[0], part, n, sign)


@inlined
def _add_stratum(
    table: FloatArray,
    r: int,
    s: int,
    whole: bool,
    margins: FloatArray,
    lanes: FloatArray,
) -> None:
    """Add log B_K of one stratum to the scores and products; it is r x (s + 1), with missing values last."""
    strength, score, inverse, product, divisor = lanes[0], lanes[1], lanes[2], lanes[3], lanes[4]
    by_class, by_value, classes, values = margins[0], margins[1], margins[2], margins[3]
    total, height, width = _fill_margins(table, r, s, whole, margins)
    if total <= 0.0:
        return
    pairs = total * (total - 1.0)
    of_rows, of_columns = pairs, pairs
    for i in range(r):
        n = by_class[i]
        if n * (n - 1.0) == 0.0:  # log_rise is 0
            continue
        of_rows -= n * (n - 1.0) / classes[i]
        _add_term(divisor, lanes, classes[i], n, -1.0)
    for j in range(s):
        n = by_value[j]
        if n * (n - 1.0) == 0.0:  # log_rise is 0 for it and for its cells
            continue
        of_columns -= n * (n - 1.0) / values[j]
        _add_term(divisor, lanes, values[j], n, -1.0)
        for i in range(r):
            n = table[i * (s + 1) + j]
            if n * (n - 1.0) == 0.0:  # log_rise is 0
                continue
            _add_term(product, lanes, classes[i] * values[j], n, 1.0)
    _add_term(product, lanes, 1.0, total, 1.0)
    if not whole and pairs > 0.0:
        excess = of_rows * of_columns / (2.0 * pairs)
        if excess < 0.0 or is_thin(total, height, width):
            subtract_product(total, margins, r, s, strength, score)
        else:
            for point in range(inverse.size):
                divisor[point] *= 1.0 + excess * inverse[point]
    if divisor[0] > MAX_PRODUCT:
        take_logarithms(divisor, score, -1.0)


@compiled
def log_evidence(tables: FloatArray, strata: int, r: int, s: int, margins: FloatArray, scratch: FloatArray) -> float:
    """log of the mean of B_K over the grid, for `strata` tables one after the other.

    `margins` is (4, largest side), `scratch` 5 x 24; both are overwritten.
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
    lanes = scratch[: 5 * padded].reshape(5, padded)
    log_point = -np.log(np.float64(points))
    least, ratio = LOOSEST, grid_ratio(LOOSEST, TIGHTEST, total, tallest, widest, points)
    for zoom in range(MAX_ZOOMS + 1):
        fill_grid(lanes[0], least, ratio)
        for point in range(padded):
            lanes[1, point] = 0.0
            lanes[2, point] = 1.0 / lanes[0, point]
            lanes[3, point] = 1.0
            lanes[4, point] = 1.0
        for stratum in range(strata):
            _add_stratum(tables[stratum * size : (stratum + 1) * size], r, s, whole, margins, lanes)
        take_logarithms(lanes[3], lanes[1], 1.0)
        take_logarithms(lanes[4], lanes[1], -1.0)
        if zoom == MAX_ZOOMS or not is_peaked(lanes[1, :points], freedom, -log_point):
            break
        least, ratio, log_point = finer_grid(lanes[0], lanes[1], points, ratio, log_point)
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
    """Copy the strata of a joint table that have rows to `tables`, one after the other; return their number.

    `steps` are the strides of class, value and stratum in `cells`. If `has_missing`, the last value means missing.
    """
    filled_strata, s = 0, values - 1 if has_missing else values
    for stratum in range(strata):
        at, rows = filled_strata * r * (s + 1), 0.0
        for i in range(r):
            for j in range(s + 1):
                count = cells[i * steps[0] + j * steps[1] + stratum * steps[2]] if j < values else 0.0
                tables[at] = count
                rows += count
                at += 1
        if rows > 0.0:
            filled_strata += 1
    return filled_strata


@compiled
def evidence_of_pair(
    cells: FloatArray,
    r: int,
    column_layout: IntegerArray,
    other_layout: IntegerArray,
    scratch: FloatArray,
    log_factors: FloatArray,
) -> None:
    """log Bayes factors of a joint table (class, value, other value): first column given the other, and the reverse.

    `column_layout` and `other_layout` are lines of `layout` (see `evidence_of_blocks`): how many values each column
    has, missing included, and whether it has missing values.
    """
    values, other_values = column_layout[1], other_layout[1]
    size = r * (values + 1) * (other_values + 1)
    side = max(r, values, other_values)
    tables, margins = scratch[: 2 * size], scratch[2 * size : 2 * size + 4 * side].reshape(4, side)
    lanes = scratch[2 * size + 4 * side : 2 * size + 4 * side + 5 * _PADDED_GRID]
    step = values * other_values, other_values, 1
    strata = gather(cells, r, step, values, column_layout[2] > 0, other_values - other_layout[2], tables)
    log_factors[0] = log_evidence(tables, strata, r, values - column_layout[2], margins, lanes)
    step = values * other_values, 1, other_values
    strata = gather(cells, r, step, other_values, other_layout[2] > 0, values - column_layout[2], tables)
    log_factors[1] = log_evidence(tables, strata, r, other_values - other_layout[2], margins, lanes)


@inlined
def room_for(r: int, values: int) -> int:
    """The size of the scratch that `evidence_of_pair` needs for columns of up to `values` values."""
    return 2 * r * (values + 1) * (values + 1) + 4 * max(r, values + 1) + 5 * _PADDED_GRID


@compiled
def evidence_of_blocks(
    bits: NDArray[np.uint64],
    ends: IntegerArray,
    totals: IntegerArray,
    layout: IntegerArray,
    blocks: IntegerArray,
    block: int,
    other_block: int,
    log_factors: FloatArray,
) -> None:
    """Fill the log Bayes factors of all columns of one block given each of another block, and the reverse.

    A line of `layout` describes a column: the row of its first value in `totals`; its number of values, missing
    included; 1 if the last of them means missing; and the index of its first set in its block. A line of `blocks` has
    the first column, the one after the last, the first panel, and the number of sets. `log_factors` has the shape
    (2, columns, columns).
    """
    r, max_values = totals.shape[1], 2
    for column in range(layout.shape[0]):
        max_values = max(max_values, layout[column, 1])
    counts = np.empty(r * BLOCK * BLOCK, dtype=np.int64)
    cells, scratch, pair_factors = np.empty(r * max_values * max_values), np.empty(room_for(r, max_values)), np.empty(2)
    first_block, second_block = blocks[block], blocks[other_block]
    count_block(bits, ends, first_block[2], first_block[3], second_block[2], second_block[3], counts)
    for column in range(first_block[0], first_block[1]):
        column_layout = layout[column]
        for other in range(max(second_block[0], column + 1), second_block[1]):
            other_layout = layout[other]
            fill_cells(counts, totals, column_layout, other_layout, cells)
            evidence_of_pair(cells, r, column_layout, other_layout, scratch, pair_factors)
            log_factors[0, column - first_block[0], other - second_block[0]] = pair_factors[0]
            log_factors[1, column - first_block[0], other - second_block[0]] = pair_factors[1]


@compiled
def evidence_of_pairs(
    cells: FloatArray, starts: IntegerArray, r: int, layout: IntegerArray, pairs: IntegerArray, log_factors: FloatArray
) -> None:
    """The same for given pairs, whose joint tables follow each other in `cells`; `log_factors` is (pairs, 2)."""
    max_values = 2
    for column in range(layout.shape[0]):
        max_values = max(max_values, layout[column, 1])
    scratch = np.empty(room_for(r, max_values))
    for pair in range(pairs.shape[0]):
        column_layout, other_layout = layout[pairs[pair, 0]], layout[pairs[pair, 1]]
        evidence_of_pair(cells[starts[pair] :], r, column_layout, other_layout, scratch, log_factors[pair])
