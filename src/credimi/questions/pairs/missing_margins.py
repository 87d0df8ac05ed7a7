"""How well the values of one column of a pair predict whether the other is missing, from the pair's table alone.

The last row of a table counts the rows in which the first column is missing, by the values of the second. The sums of
the other rows count those in which it is present. So the table of a pair contains two tables of "missing or not" by the
values of the other column, and the data need not be read again.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled


@compiled
def score(
    flat: FloatArray, offsets: IntegerArray, rows: IntegerArray, columns: IntegerArray, scores: FloatArray
) -> None:
    """Fill two scores for each table: how well the second column predicts that the first is missing, and the reverse.

    A score is about the normal quantile of the likelihood ratio test, so that columns of few and of many values can be
    compared: with G twice the log likelihood ratio, of d degrees of freedom, the cube root of G/d is nearly normal with
    mean 1 - 2/(9d) and variance 2/(9d) (Wilson and Hilferty). The score is 0 if nothing is missing, or if G is no
    larger than expected by chance.
    """
    for table in range(rows.size):
        start, height, width = offsets[table], rows[table], columns[table]
        for side in range(2):
            values, other_values = (width, height) if side == 0 else (height, width)
            value_stride, other_stride = (1, width + 1) if side == 0 else (width + 1, 1)
            total_present, total_missing, log_ratio = 0.0, 0.0, 0.0
            for value in range(values):
                present, missing = 0.0, flat[start + value * value_stride + other_values * other_stride]
                for other in range(other_values):
                    present += flat[start + value * value_stride + other * other_stride]
                total_present += present
                total_missing += missing
                if present > 0.0:
                    log_ratio += present * np.log(present / (present + missing))
                if missing > 0.0:
                    log_ratio += missing * np.log(missing / (present + missing))
            scores[table, side] = 0.0
            if total_present > 0.0 and total_missing > 0.0 and values > 1:
                total = total_present + total_missing
                log_ratio -= total_present * np.log(total_present / total) + total_missing * np.log(
                    total_missing / total
                )
                spread = 2.0 / (9.0 * (values - 1))
                root = (max(2.0 * log_ratio, 0.0) / (values - 1)) ** (1.0 / 3.0)
                scores[table, side] = max((root - 1.0 + spread) / np.sqrt(spread), 0.0)
