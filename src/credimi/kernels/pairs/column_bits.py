"""The sets of bits of many columns, all in one call (see `pair_bits`, which counts them).

Rows of one class lie together, each class from a new word on. Where a row lies follows from how many of its class came
before it: this is counted for `_ROWS` rows at a time, for all columns, so that no array of all rows is needed for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled
from credimi.kernels.pairs.pair_bits import PANEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import IntegerArray

_WORD = 64
_ROWS = 4096


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
    """Set the bits of some columns, each a row of `codes`.

    Class y starts with bit `starts[y]`. Column k has `values[k]` values, and its sets start with number `firsts[k]`.
    `bits` is (panels, words, PANEL).
    """
    places, after = np.empty(_ROWS, dtype=np.int64), starts.copy()
    for begin in range(0, groups.size, _ROWS):
        size = min(_ROWS, groups.size - begin)
        for row in range(size):
            group = groups[begin + row]
            places[row] = after[group]
            after[group] += 1
        for each in range(chosen.size):
            column = chosen[each]
            own = codes[column, begin : begin + size]
            last, first = values[column] - 1, firsts[column]
            for row in range(size):
                if own[row] < last:
                    number, place = first + own[row], places[row]
                    bits[number // PANEL, place // _WORD, number % PANEL] |= np.uint64(1) << np.uint64(place % _WORD)
