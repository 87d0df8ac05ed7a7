"""The sets of bits of many columns, all in one call (see `pair_bits`, which counts them).

The bits are sorted by class, and each class starts a new word. The bit of a row follows from how many rows of its class
came before it. These are counted for `_BATCH_ROWS` rows at a time, for all columns, so that no array over all rows is
needed.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import IntegerArray, NDArray, compiled
from credimi.counts.rows.pair_bits import PANEL

_WORD = 64
_BATCH_ROWS = 4096


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
