"""How far the values of one column of a pair tell whether the other is missing, from the pair's table alone.

The last row of a table has the rows in which the first column is missing, by the values of the second; the sums of the
others have those in which it is seen. So each table of a pair holds two tables of "missing or not" by the values of the
other column, and no row has to be read for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.kernels.jit import compiled

if TYPE_CHECKING:
    from credimi.kernels.jit import FloatArray, IntegerArray


@compiled
def score(
    flat: FloatArray, offsets: IntegerArray, rows: IntegerArray, columns: IntegerArray, scores: FloatArray
) -> None:
    """Fill of each table how well the second tells that the first is missing, and the other way round.

    Scores are about the normal quantile of the likelihood ratio test, so that columns of few and of many values can be
    compared: with G twice the log likelihood ratio, of d degrees of freedom, the cube root of G/d is nearly normal with
    mean 1 - 2/(9d) and variance 2/(9d) (Wilson and Hilferty). 0 where nothing is missing, or chance does as much.
    """
    for table in range(rows.size):
        start, height, width = offsets[table], rows[table], columns[table]
        for side in range(2):
            many, others = (width, height) if side == 0 else (height, width)
            near, far = (1, width + 1) if side == 0 else (width + 1, 1)
            seen, lost, ratio = 0.0, 0.0, 0.0
            for value in range(many):
                here, gone = 0.0, flat[start + value * near + others * far]
                for other in range(others):
                    here += flat[start + value * near + other * far]
                seen += here
                lost += gone
                if here > 0.0:
                    ratio += here * np.log(here / (here + gone))
                if gone > 0.0:
                    ratio += gone * np.log(gone / (here + gone))
            scores[table, side] = 0.0
            if seen > 0.0 and lost > 0.0 and many > 1:
                total = seen + lost
                ratio -= seen * np.log(seen / total) + lost * np.log(lost / total)
                spread = 2.0 / (9.0 * (many - 1))
                root = (max(2.0 * ratio, 0.0) / (many - 1)) ** (1.0 / 3.0)
                scores[table, side] = max((root - 1.0 + spread) / np.sqrt(spread), 0.0)
