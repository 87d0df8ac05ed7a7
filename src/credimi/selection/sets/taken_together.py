"""Which rows are alike in all columns that were taken: strata for what a further column adds to them together.

The values of all columns together have too many combinations soon. So the columns split the rows one after the other,
and only those parts that have several classes, and `_ROWS` rows for each class and each value that occurs. In other
parts there is nothing left to tell, or nothing that could be seen: the evidence of strata with fewer rows than cells is
not to be trusted (see `inference.conditional.edge_evidence`). "Missing" is a value.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.counting.rows.stratified_counts import SettledCodes

_ROWS = 4


def strata_of(codes: SettledCodes, columns: list[int]) -> tuple[NDArray[np.int64], int]:
    """Of each row its stratum, and how many there are."""
    classes, known = len(codes.classes), codes.groups < len(codes.classes)
    found, count = np.zeros(codes.groups.size, dtype=np.int64), 1
    for column in columns:
        values = len(codes.features[column].values) + 1
        seen = np.bincount(found[known] * classes + codes.groups[known], minlength=count * classes)
        of_classes = seen.reshape(count, classes)
        joint = found * values + codes.codes[column]
        occurring = (np.bincount(joint, minlength=count * values).reshape(count, values) > 0).sum(axis=1)
        enough = of_classes.sum(axis=1) >= _ROWS * classes * occurring
        split = enough & ((of_classes > 0).sum(axis=1) > 1)
        joint = np.where(split[found], joint, found * values)
        used = np.bincount(joint, minlength=count * values) > 0
        found, count = (np.cumsum(used) - 1)[joint], int(used.sum())
    return found, count
