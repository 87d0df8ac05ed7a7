"""Counts of all pairs of columns in every class, from sets of bits.

Rows are sorted by class, and each class starts a new word of 64 rows. A column of V values has V - 1 sets of bits: the
counts of the last value follow from the margins. A missing value is one more value, the last. `PANEL` sets are stored
side by side, `bits[panel, word, set]`, so that one vector has the same 64 rows of eight sets. Four sets of one panel
are intersected with all of another at once, and the sizes of the intersections stay in registers until a class ends.
If the processor counts bits in vectors, this takes about a quarter of a clock cycle for two values and 64 rows.

`fill_columns` sets the bits of many columns in one call. The bit of a row follows from how many rows of its class came
before it. These are counted for `_BATCH_ROWS` rows at a time, for all columns: no array over all rows is needed.

Columns form blocks of at most `BLOCK` sets. `count_block` counts all columns of one block with those of another:
`counts[class, set, other set]`, as one flat array with room for `BLOCK` sets on both axes.
"""

from __future__ import annotations

import typing
from typing import TYPE_CHECKING

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, cgutils, compiled, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    Bits = NDArray[np.uint64]


PANEL = 16
PANELS = 4
BLOCK = PANEL * PANELS
MAX_VALUES = 32  # the maximum number of values of a column; missing is one of them
_WORD = 64
_BATCH_ROWS = 4096
_SETS_AT_ONCE = 4  # sets of a panel that are intersected with another panel
_LANES = 8
_INTEGER = ir.IntType(64)
_VECTOR = ir.VectorType(_INTEGER, _LANES)
Untyped: typing.TypeAlias = typing.Any  # LLVM's types, values and builders
_tools: Untyped = cgutils


@intrinsic
def _intersect(
    _typing: Untyped,
    bits: Untyped,
    _one: Untyped,
    _other: Untyped,
    _words: Untyped,
    counts: Untyped,
    _at: Untyped,
) -> Untyped:
    """Write the sizes of the intersections of four sets from `one` on with the panel from `other` on to `counts[at:]`.

    The counts of two successive sets are `BLOCK` apart.
    """

    def generate(context: Untyped, builder: Untyped, signature: Untyped, arguments: Untyped) -> Untyped:
        bits, one, other, words, counts, at = arguments
        start = context.make_array(signature.args[0])(context, builder, bits).data
        counts_data = context.make_array(signature.args[4])(context, builder, counts).data
        function_type = ir.FunctionType(_VECTOR, [_VECTOR])
        popcount = _tools.get_or_insert_function(builder.module, function_type, f"llvm.ctpop.v{_LANES}i64")
        zero = ir.Constant(_VECTOR, [0] * _LANES)
        halves = PANEL // _LANES
        sums = [_tools.alloca_once_value(builder, zero) for _ in range(_SETS_AT_ONCE * halves)]
        with _tools.for_range_slice(builder, _INTEGER(0), words, _INTEGER(1)) as (word, _):
            along = builder.mul(word, _INTEGER(PANEL))
            one_word, other_word = builder.add(one, along), builder.add(other, along)
            panel_words = []
            for half in range(halves):
                source = builder.gep(start, [builder.add(other_word, _INTEGER(half * _LANES))])
                loaded = builder.load(builder.bitcast(source, _VECTOR.as_pointer()))
                loaded.align = 8
                panel_words.append(loaded)
            for number_of_set in range(_SETS_AT_ONCE):
                scalar = builder.load(builder.gep(start, [builder.add(one_word, _INTEGER(number_of_set))]))
                single = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), scalar, ir.IntType(32)(0))
                mask = ir.Constant(ir.VectorType(ir.IntType(32), _LANES), [0] * _LANES)
                splat = builder.shuffle_vector(single, ir.Constant(_VECTOR, ir.Undefined), mask)
                for half in range(halves):
                    total = sums[number_of_set * halves + half]
                    common = builder.call(popcount, [builder.and_(splat, panel_words[half])])
                    builder.store(builder.add(builder.load(total), common), total)
        for number, total in enumerate(sums):
            along = number // halves * BLOCK + number % halves * _LANES
            target = builder.gep(counts_data, [builder.add(at, _INTEGER(along))])
            builder.store(builder.load(total), builder.bitcast(target, _VECTOR.as_pointer())).align = 8
        return context.get_dummy_value()

    return types.void(bits, types.int64, types.int64, types.int64, counts, types.int64), generate


@inlined
def index_in_block(group: int, one: int, other: int) -> int:
    """The index in `counts` of the intersection of two sets in a class."""
    return (group * BLOCK + one) * BLOCK + other


@inlined
def count_block(
    bits: Bits,
    ends: IntegerArray,
    first_panel: int,
    sets: int,
    other_first_panel: int,
    other_sets: int,
    counts: IntegerArray,
) -> None:
    """Count the intersections of the sets of two blocks, each from its first panel on.

    Class y ends before word `ends[y]`.
    """
    flat, words = bits.ravel(), bits.shape[1]
    for panel in range((sets + PANEL - 1) // PANEL):
        for other_panel in range((other_sets + PANEL - 1) // PANEL):
            for first_set in range(0, min(sets - panel * PANEL, PANEL), _SETS_AT_ONCE):
                word = 0
                for group in range(ends.size):
                    one = ((first_panel + panel) * words + word) * PANEL + first_set
                    two = ((other_first_panel + other_panel) * words + word) * PANEL
                    at = index_in_block(group, panel * PANEL + first_set, other_panel * PANEL)
                    _intersect(flat, one, two, ends[group] - word, counts, at)
                    word = ends[group]


@inlined
def fill_cells(
    counts: IntegerArray,
    totals: IntegerArray,
    column_layout: IntegerArray,
    other_layout: IntegerArray,
    cells: FloatArray,
) -> None:
    """Fill the joint table of two columns, `cells[class, value, other value]`, from the counts of their blocks.

    `totals[number, class]` are the counts of all values of all columns. `column_layout` and `other_layout` describe the
    two columns, as `pair_evidence.evidence_of_blocks` explains.
    """
    first, values, lane = column_layout[0], column_layout[1], column_layout[3]
    other_first, other_values, other_lane = other_layout[0], other_layout[1], other_layout[3]
    size = values * other_values
    for group in range(totals.shape[1]):
        table = cells[group * size : (group + 1) * size]
        for other_value in range(other_values):
            table[size - other_values + other_value] = totals[other_first + other_value, group]
        for value in range(values - 1):
            rest = totals[first + value, group]
            row = table[value * other_values : (value + 1) * other_values]
            for other in range(other_values - 1):
                count = counts[index_in_block(group, lane + value, other_lane + other)]
                row[other] = count
                table[size - other_values + other] -= count
                rest -= count
            row[other_values - 1] = rest
            table[size - 1] -= rest


@compiled
def count_pair(
    one: NDArray[np.uint8], other: NDArray[np.uint8], groups: NDArray[np.uint16], weights: FloatArray, cells: FloatArray
) -> None:
    """Count one pair row by row into `cells` (class, value, other value); `weights` may be empty."""
    flat, values, other_values = cells.ravel(), cells.shape[1], cells.shape[2]
    weighted = weights.size > 0
    for row in range(one.size):
        cell = (np.int64(groups[row]) * values + np.int64(one[row])) * other_values + np.int64(other[row])
        flat[cell] += weights[row] if weighted else 1.0


@compiled
def fill_columns(
    codes: NDArray[np.uint8],
    groups: NDArray[np.uint16],
    starts: IntegerArray,
    chosen: IntegerArray,
    firsts: IntegerArray,
    values: IntegerArray,
    bits: NDArray[np.uint64],
) -> None:
    """Set the bits of the columns `chosen`; a column is a row of `codes`.

    Class y starts at bit `starts[y]`. Column k has `values[k]` values, and its first set has the number `firsts[k]`.
    `bits` is (panels, words, PANEL).
    """
    bit_numbers, next_bit = np.empty(_BATCH_ROWS, dtype=np.int64), starts.copy()
    for begin in range(0, groups.size, _BATCH_ROWS):
        size = min(_BATCH_ROWS, groups.size - begin)
        for row in range(size):
            group = groups[begin + row]
            bit_numbers[row] = next_bit[group]
            next_bit[group] += 1
        for index in range(chosen.size):
            column = chosen[index]
            column_codes = codes[column, begin : begin + size]
            last, first = values[column] - 1, firsts[column]
            for row in range(size):
                if column_codes[row] < last:
                    number, bit = first + column_codes[row], bit_numbers[row]
                    bits[number // PANEL, bit // _WORD, number % PANEL] |= np.uint64(1) << np.uint64(bit % _WORD)
