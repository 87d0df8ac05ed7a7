"""Missing values drawn from a forest of columns, all of a row at once, given all that is seen in the row.

Each column depends on its parent in the forest, or on nothing if it is a root. Going from the leaves up, a missing
column collects how probable what is seen below it is for each of its values; going down from the roots, each missing
value is drawn given its parent's value and what was collected ("forward filtering, backward sampling"). So the draws
are exact, and their probabilities do not depend on what was drawn before.

The product of what is seen is the likelihood of the forest. O(1) a seen cell, O(s^2) a missing one whose parent is
missing, too, and O(s) another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled
from credimi.kernels.networks.order_samples import uniform

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

_SMALL = 1e-150


@compiled
def complete_rows(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    order: IntegerArray,
    parents: IntegerArray,
    starts: IntegerArray,
    chances: FloatArray,
    state: NDArray[np.uint64],
    log_likelihood: FloatArray,
) -> None:
    """Draw the missing values of `codes`, (rows, columns), and add up the log likelihood of each row as it was.

    A missing value's code is the number of values of its column. `order` has all columns, parents before children;
    `parents` is -1 for roots. The table of a column in `chances` starts at `starts[column]`: a row of its values for
    each value of its parent.
    """
    columns = values.size
    places = np.empty(columns, dtype=np.int64)
    size = 0
    for column in range(columns):
        places[column] = size
        size += values[column]
    below, missing = np.empty(size), np.empty(columns, dtype=np.bool_)
    for row in range(codes.shape[0]):
        own = codes[row]
        for column in range(columns):
            missing[column] = own[column] >= values[column]
            if missing[column]:
                for value in range(values[column]):
                    below[places[column] + value] = 1.0
        logarithm, product = 0.0, 1.0
        for step in range(columns - 1, -1, -1):
            column = order[step]
            parent, width, table, place = parents[column], values[column], starts[column], places[column]
            if parent >= 0 and missing[parent]:
                top = 0.0
                for above in range(values[parent]):
                    likely = 0.0
                    if missing[column]:
                        for value in range(width):
                            likely += chances[table + above * width + value] * below[place + value]
                    else:
                        likely = chances[table + above * width + np.int64(own[column])]
                    likely *= below[places[parent] + above]
                    below[places[parent] + above] = likely
                    top = max(top, likely)
                if 0.0 < top < _SMALL:
                    for above in range(values[parent]):
                        below[places[parent] + above] /= top
                    logarithm += np.log(top)
                continue
            at = table + np.int64(own[parent]) * width if parent >= 0 else table
            likely = 0.0
            if missing[column]:
                for value in range(width):
                    likely += chances[at + value] * below[place + value]
            else:
                likely = chances[at + np.int64(own[column])]
            product *= likely
            if product < _SMALL:
                logarithm += np.log(product)
                product = 1.0
        log_likelihood[row] = logarithm + np.log(product)
        for step in range(columns):
            column = order[step]
            if not missing[column]:
                continue
            parent, width, place = parents[column], values[column], places[column]
            at = starts[column] + np.int64(own[parent]) * width if parent >= 0 else starts[column]
            total = 0.0
            for value in range(width):
                total += chances[at + value] * below[place + value]
            level, reached, found = uniform(state) * total, 0.0, width - 1
            for value in range(width):
                reached += chances[at + value] * below[place + value]
                if level < reached:
                    found = value
                    break
            own[column] = found
