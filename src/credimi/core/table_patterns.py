"""Which sides of a table have missing values: what decides the formula that it needs.

A table is a block (r + 1) x (s + 1) with missing counts last; see `inference.moments.many_tables`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, NumberArray, compiled, inlined

if TYPE_CHECKING:
    import numpy as np


CONSTANT, COMPLETE, TARGET_ONLY, FEATURE_ONLY, BOTH = range(5)


@inlined
def pattern_of(flat: NumberArray, start: int, r: int, s: int) -> int:
    """Which side of a table has missing values; CONSTANT if one side has a single value, so that I = 0."""
    if r < 2 or s < 2:
        return CONSTANT
    target_only, feature_only = False, False
    for i in range(r):
        target_only = target_only or flat[start + i * (s + 1) + s] != 0
    for j in range(s):
        feature_only = feature_only or flat[start + r * (s + 1) + j] != 0
    if feature_only:
        return BOTH if target_only else FEATURE_ONLY
    return TARGET_ONLY if target_only else COMPLETE


@compiled
def classify(
    flat: NumberArray,
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pattern: NDArray[np.int8],
    complete: FloatArray,
) -> None:
    """Fill which side of each table has missing values, and the sum of its complete counts."""
    for table in range(offsets.size):
        r, s, start = rows[table], columns[table], offsets[table]
        pattern[table] = pattern_of(flat, start, r, s)
        total = 0.0
        for i in range(r):
            row = flat[start + i * (s + 1) : start + (i + 1) * (s + 1)]
            for j in range(s):
                total += row[j]
        complete[table] = total
