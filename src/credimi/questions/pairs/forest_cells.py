"""Missing values drawn from a forest of columns, all of a row at once, given the observed values of the row.

Each column depends on its parent in the forest, or on nothing if it is a root. From the leaves to the roots, each
missing column collects the probability of the observed values below it, for each of its own values. From the roots to
the leaves, each missing value is drawn given its parent's value and these probabilities ("forward filtering, backward
sampling"). So the draws are exact, and do not depend on earlier draws for the same cells.

The product of the probabilities of the observed values is the likelihood of the forest. The cost is O(1) for an
observed cell, O(s^2) for a missing one whose parent is missing, too, and O(s) for any other missing one.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, compiled
from credimi.inference.random_numbers import uniform

_RESCALE_BELOW = 1e-150  # before products underflow


@compiled
def complete_rows(
    codes: NDArray[np.uint16],
    values: IntegerArray,
    order: IntegerArray,
    parents: IntegerArray,
    starts: IntegerArray,
    probabilities: FloatArray,
    state: NDArray[np.uint64],
    log_likelihood: FloatArray,
) -> None:
    """Draw the missing values of `codes`, (rows, columns); fill the log likelihood of each row's observed values.

    The code of a missing value is the number of values of its column. `order` has all columns, parents before
    children; `parents` is -1 for roots. The table of a column in `probabilities` starts at `starts[column]`: one row of
    probabilities of its values for each value of its parent.
    """
    columns = values.size
    offsets = np.empty(columns, dtype=np.int64)
    size = 0
    for column in range(columns):
        offsets[column] = size
        size += values[column]
    likelihood_below, missing = np.empty(size), np.empty(columns, dtype=np.bool_)
    for row in range(codes.shape[0]):
        row_codes = codes[row]
        for column in range(columns):
            missing[column] = row_codes[column] >= values[column]
            if missing[column]:
                for value in range(values[column]):
                    likelihood_below[offsets[column] + value] = 1.0
        logarithm, product = 0.0, 1.0
        for step in range(columns - 1, -1, -1):
            column = order[step]
            parent, width, table_start, offset = parents[column], values[column], starts[column], offsets[column]
            if parent >= 0 and missing[parent]:
                largest = 0.0
                for parent_value in range(values[parent]):
                    probability = 0.0
                    if missing[column]:
                        for value in range(width):
                            probability += (
                                probabilities[table_start + parent_value * width + value]
                                * likelihood_below[offset + value]
                            )
                    else:
                        probability = probabilities[table_start + parent_value * width + np.int64(row_codes[column])]
                    probability *= likelihood_below[offsets[parent] + parent_value]
                    likelihood_below[offsets[parent] + parent_value] = probability
                    largest = max(largest, probability)
                if 0.0 < largest < _RESCALE_BELOW:
                    for parent_value in range(values[parent]):
                        likelihood_below[offsets[parent] + parent_value] /= largest
                    logarithm += np.log(largest)
                continue
            table_row = table_start + np.int64(row_codes[parent]) * width if parent >= 0 else table_start
            probability = 0.0
            if missing[column]:
                for value in range(width):
                    probability += probabilities[table_row + value] * likelihood_below[offset + value]
            else:
                probability = probabilities[table_row + np.int64(row_codes[column])]
            product *= probability
            if product < _RESCALE_BELOW:
                logarithm += np.log(product)
                product = 1.0
        log_likelihood[row] = logarithm + np.log(product)
        for step in range(columns):
            column = order[step]
            if not missing[column]:
                continue
            parent, width, offset = parents[column], values[column], offsets[column]
            table_row = starts[column] + np.int64(row_codes[parent]) * width if parent >= 0 else starts[column]
            total = 0.0
            for value in range(width):
                total += probabilities[table_row + value] * likelihood_below[offset + value]
            threshold, cumulative, drawn = uniform(state) * total, 0.0, width - 1
            for value in range(width):
                cumulative += probabilities[table_row + value] * likelihood_below[offset + value]
                if threshold < cumulative:
                    drawn = value
                    break
            row_codes[column] = drawn
