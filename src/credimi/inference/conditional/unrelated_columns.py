"""What a column tells alone, as evidence that it adds to another one.

B(XY|W), the Bayes factor of dependence of X and Y in the strata of W, forgets what X tells alone: where the strata have
few rows it is near 1, whatever X tells. But X adds to a column that it has nothing to do with what it tells alone. X
may be connected with Y, with W, with both or none. Relative to both, the data are as probable as follows:

    both    1
    X-Y     1/B(XW|Y)
    X-W     1/B(XY|W)
    none    1/(B(XY) B(XW|Y)) ,

and B(XW|Y) B(XY) = B(XY|W) B(XW), since both orders of adding the two lead to the same. With equal probabilities
beforehand, the odds of X-Y are

    B(XY|W) P(X-W) + B(XY) P(no X-W),    P(X-W) = B(XW)/(1 + B(XW)) ,

a mean of what X adds in the strata and what it tells alone. A copy of W is connected with it: then only the strata
count. The factor by which these odds exceed B(XY|W) is what `odds_factor` returns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference import adaptive_prior

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

_LEAST = 1e-300  # of a probability that something is divided by
_NEGLIGIBLE = 1e-6  # a P(no X-W): B(XY) and B(XW) have priors of their own, so their ratio says little if both are huge
_MOST = 1e250  # of a factor, which other odds may still multiply


def odds_factor(
    tables: Tables,
    starts: IntegerArray,
    which: NDArray[np.bool_],
    p_independent: tuple[FloatArray, FloatArray],
    threads: int | None = None,
) -> FloatArray:
    """Of some columns the factor of their odds of dependence given W.

    `tables` and `starts` are those of the strata of all columns (see `SettledCodes.stratified`); `p_independent` has of
    those asked for P(independent of the target), given W and without it.
    """
    if not which.any():
        return np.zeros(0)
    p_unrelated = adaptive_prior.independence(_with_strata(tables, starts[:-1][which], starts[1]), threads=threads)
    given, alone = ((1.0 - each) / np.maximum(each, _LEAST) for each in p_independent)
    p_unrelated = np.where(p_unrelated < _NEGLIGIBLE, 0.0, p_unrelated)
    factor: FloatArray = 1.0 - p_unrelated + p_unrelated * alone / np.maximum(given, _LEAST)
    return np.minimum(factor, _MOST)


def _with_strata(tables: Tables, starts: IntegerArray, count: int) -> Tables:
    """Of the columns whose strata start there their tables with the strata, all classes together."""
    height, values = int(tables.rows[0]) + 1, tables.columns[starts]
    found = Tables(np.zeros(int(((count + 1) * (values + 1)).sum())), np.full(values.size, count), values)
    first = tables.offsets[starts]
    for size in np.unique(values).tolist():
        own = values == size
        cells = first[own][:, np.newaxis] + np.arange(count * height * (size + 1))
        summed = tables.flat[cells].reshape(-1, count, height, size + 1).sum(axis=2)
        places = found.offsets[own][:, np.newaxis] + np.arange(count * (size + 1))
        found.flat[places] = summed.reshape(len(summed), -1)
    return found
