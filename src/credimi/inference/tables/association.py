"""Information on a scale from 0 to 1: the association A of two columns.

Two normal variables with the correlation rho have I = -log(1 - rho^2)/2, so sqrt(1 - exp(-2 I)) is |rho|: the
informational correlation of Linfoot (1957), whose square is the share of explained variance. Classes cannot reach 1,
because I is at most their entropy H. Divided by the largest possible value,

    A = sqrt[(1 - exp(-2 I)) / (1 - exp(-2 H))],

it is 0 where the columns are independent, 1 where one determines the other, and |rho| for numbers (H infinite). H is
that of the target, or the smaller one of a pair, in the rows of the data. Small A are proportional to sqrt(I), as
correlations are.

A rises with I. So the interval of I, end by end, is the credible interval of A, with the same probability; the value
shown is A at the posterior mean of I. (Other measures have no such posterior: Cramer's V and rank correlations are no
functions of I. I/H is one, and is shown as a share; it is small for what people call a fair association: .1 at .33.)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray


def association(information: ArrayLike, entropy: ArrayLike) -> FloatArray:
    """A of these amounts of information, in nats; 0 where the entropy is 0 or unknown."""
    nats, largest = np.maximum(np.asarray(information, dtype=np.float64), 0.0), np.asarray(entropy, dtype=np.float64)
    limit = -np.expm1(-2.0 * np.where(largest > 0.0, largest, 1.0))
    share = np.where(largest > 0.0, -np.expm1(-2.0 * nats) / limit, np.where(np.isnan(nats), np.nan, 0.0))
    return np.asarray(np.sqrt(np.minimum(share, 1.0)))
