"""Strata without the classes and values that none of their rows has.

A stratum of few rows has few of all values. The adaptive prior gives each value of a table half a row of its own; in a
stratum these halves would soon outnumber the rows. And where a value is the only one in its stratum, as in every
stratum of a copy of the column that makes the strata, nothing can depend: such a stratum has to tell nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray, NumberArray

    BooleanArray = NDArray[np.bool_]


@compiled
def pack_occurring(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    whole: BooleanArray,
    packed: FloatArray,
    packed_rows: IntegerArray,
    packed_columns: IntegerArray,
) -> int:
    """Copy all blocks without lines that have no count, complete or not; return how many cells were written.

    Blocks that are `whole` are copied as they are. Others keep their last class, or first value, if they have none.
    """
    side, place = 1, 0
    for table in range(offsets.size):
        side = max(side, columns[table] + 1)
    occurs = np.empty(side, dtype=np.int64)
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        width = 0
        for j in range(s):
            occurs[j] = whole[table]
            for i in range(r + 1):
                occurs[j] |= flat[start + i * (s + 1) + j] > 0.0
            width += occurs[j]
        if width == 0:
            occurs[0], width = 1, 1
        occurs[s] = 1
        height = 0
        for i in range(r + 1):
            row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
            some = whole[table] or i == r or (i == r - 1 and height == 0)
            for j in range(s + 1):
                some = some or row[j] > 0.0
            if not some:
                continue
            height += 1
            for j in range(s + 1):
                if occurs[j]:
                    packed[place] = row[j]
                    place += 1
        packed_rows[table], packed_columns[table] = height - 1, width
    return place
