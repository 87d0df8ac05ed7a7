"""What a column X tells about the target Y alone, as evidence that X adds to another column W.

B(XY|W), the Bayes factor of dependence of X and Y in the strata of W, ignores what X tells alone: if the strata have
few rows it is near 1, whatever X tells. But if X and W are unrelated, X adds to W all that it tells alone. X may be
connected with Y, with W, with both, or with none. Relative to "both", the probability of the data is:

    both    1
    X-Y     1/B(XW|Y)
    X-W     1/B(XY|W)
    none    1/(B(XY) B(XW|Y)) ,

and B(XW|Y) B(XY) = B(XY|W) B(XW), since both orders of adding the two connections lead to the same. With equal prior
probabilities, the odds of X-Y are

    B(XY|W) P(X-W) + B(XY) P(no X-W),    P(X-W) = B(XW)/(1 + B(XW)) ,

a mean of what X adds in the strata and what it tells alone. If X is a copy of W, the two are connected, and only the
strata count. `odds_factor` returns the factor by which these odds exceed B(XY|W).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.evidence import adaptive_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

_MIN_DIVISOR = 1e-300  # probabilities and odds that divide something are at least this
# A smaller P(no X-W) counts as 0: B(XY) and B(XW) have different priors, so if both are huge, their ratio says little.
_NEGLIGIBLE = 1e-6
_MAX_FACTOR = 1e250  # leaves room for other odds that multiply the factor


def odds_factor(
    tables: Tables,
    starts: IntegerArray,
    columns: NDArray[np.bool_],
    p_independent: tuple[FloatArray, FloatArray],
    threads: int | None = None,
) -> FloatArray:
    """The factor of the odds of dependence given W, for each chosen column.

    `tables` and `starts` are those of the strata of all columns (see `counts.counter.Strata`); `columns` is a
    mask of the chosen ones. `p_independent` has their P(independent of the target), given W and without W.
    """
    if not columns.any():
        return np.zeros(0)
    p_unrelated = adaptive_prior.independence(_with_strata(tables, starts[:-1][columns], starts[1]), threads=threads)
    odds_given, odds_alone = ((1.0 - p) / np.maximum(p, _MIN_DIVISOR) for p in p_independent)
    p_unrelated = np.where(p_unrelated < _NEGLIGIBLE, 0.0, p_unrelated)
    factor: FloatArray = 1.0 - p_unrelated + p_unrelated * odds_alone / np.maximum(odds_given, _MIN_DIVISOR)
    return np.minimum(factor, _MAX_FACTOR)


def _with_strata(tables: Tables, starts: IntegerArray, count: int) -> Tables:
    """The table of each column against the strata, all classes together; `starts` has each column's first table."""
    height, values = int(tables.rows[0]) + 1, tables.columns[starts]
    result = Tables(np.zeros(int(((count + 1) * (values + 1)).sum())), np.full(values.size, count), values)
    first_cells = tables.offsets[starts]
    for size in np.unique(values).tolist():
        has_size = values == size
        cells = first_cells[has_size][:, np.newaxis] + np.arange(count * height * (size + 1))
        summed = tables.flat[cells].reshape(-1, count, height, size + 1).sum(axis=2)
        result_cells = result.offsets[has_size][:, np.newaxis] + np.arange(count * (size + 1))
        result.flat[result_cells] = summed.reshape(len(summed), -1)
    return result
