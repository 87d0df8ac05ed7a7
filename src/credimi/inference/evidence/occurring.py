"""Strata without the classes and values that do not occur in them.

A stratum of few rows has few of the values. The adaptive prior adds half a row to each value of a table; in a stratum
these halves could soon outnumber the rows. And if a stratum has only one value, as every stratum of a copy of the
conditioning column, there can be no dependence: such a stratum must not contribute evidence.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import BooleanArray, FloatArray, IntegerArray, NumberArray, compiled


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
    """Copy all blocks without rows and columns that have no count at all; return how many cells were written.

    Blocks that are `whole` are copied unchanged. Others keep their last class if no class occurs, and their first
    value if no value occurs.
    """
    side, written = 1, 0
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
            occurs_in_row = whole[table] or i == r or (i == r - 1 and height == 0)
            for j in range(s + 1):
                occurs_in_row = occurs_in_row or row[j] > 0.0
            if not occurs_in_row:
                continue
            height += 1
            for j in range(s + 1):
                if occurs[j]:
                    packed[written] = row[j]
                    written += 1
        packed_rows[table], packed_columns[table] = height - 1, width
    return written
