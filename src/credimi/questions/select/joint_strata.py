"""Strata of rows that are alike in all taken columns, to test what a further column adds to all of them together.

All columns together soon have too many combinations of values. So the columns split the rows one after the other, and a
column splits only strata that have several classes, and `_ROWS_PER_CELL` rows for each class and each value that
occurs. In other strata nothing is left to tell, or nothing could be seen: evidence from strata with fewer rows than
cells is not reliable (see `questions.network.edge_evidence`). "Missing" is a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.counts.rows.stratified_counts import InterpretedCodes

_ROWS_PER_CELL = 4


def strata_of(codes: InterpretedCodes, columns: list[int]) -> tuple[NDArray[np.int64], int]:
    """The stratum of each row, and the number of strata."""
    classes, has_class = len(codes.classes), codes.groups < len(codes.classes)
    strata, count = np.zeros(codes.groups.size, dtype=np.int64), 1
    for column in columns:
        values = len(codes.features[column].values) + 1
        class_counts = np.bincount(strata[has_class] * classes + codes.groups[has_class], minlength=count * classes)
        counts_by_stratum = class_counts.reshape(count, classes)
        split_strata = strata * values + codes.codes[column]
        occurring = (np.bincount(split_strata, minlength=count * values).reshape(count, values) > 0).sum(axis=1)
        enough_rows = counts_by_stratum.sum(axis=1) >= _ROWS_PER_CELL * classes * occurring
        split = enough_rows & ((counts_by_stratum > 0).sum(axis=1) > 1)
        split_strata = np.where(split[strata], split_strata, strata * values)
        used = np.bincount(split_strata, minlength=count * values) > 0
        strata, count = (np.cumsum(used) - 1)[split_strata], int(used.sum())
    return strata, count
