"""`conditional_information`: one table a stratum in, the posterior of conditional mutual information out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.table import Table, stratified_blocks
from credimi.core.tables import Tables
from credimi.inference.conditional.stratified_tables import StratifiedTables, components
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count
from credimi.inference.mutual_information import law_of
from credimi.inference.options import PosteriorOptions
from credimi.inference.posterior import require_proper

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def conditional_information(
    joint: ArrayLike,
    *,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    prior: str | float = "adaptive",
) -> Distribution:
    """Posterior distribution of what the feature tells about the target once the stratum is known (nats).

    Strata are the values of another column, or of several: I(X;Y|Z) is the average over them of the mutual
    information inside. Strata without rows, or with few, do no harm.

    Parameters
    ----------
    joint
        t x r x s counts with both seen: a table a stratum, a row a target class, a column a feature value.
    target_only
        t x r counts of data rows whose feature is missing.
    feature_only
        t x s counts of data rows whose target is missing.
    prior
        As in `mutual_information`. "adaptive": how far from independence is learned from all strata together, and
        independence in every stratum has a probability (`.p_zero` of the result). Fixed pseudo-counts are those of a
        cell inside its stratum; how the rows fall on the strata is taken as it was seen.

    Returns
    -------
    Distribution
        Mean and variance near-exact, as `mutual_information` has them; with one stratum the same.

    Examples
    --------
    The feature tells much about the target, and nothing once the stratum is known:

    >>> strata = [[[81, 9], [9, 1]], [[1, 9], [9, 81]]]
    >>> round(credimi.mutual_information([[82, 18], [18, 82]]).mean(), 2)
    0.21
    >>> given = credimi.conditional_information(strata)
    >>> round(given.mean(), 4), round(given.p_zero, 2)
    (0.0003, 0.63)
    """
    blocks = stratified_blocks(joint, target_only, feature_only)
    strata, rows, columns = blocks.shape[0], blocks.shape[1] - 1, blocks.shape[2] - 1
    if prior != ADAPTIVE:
        require_proper(Table.of_block(blocks.sum(axis=0)), pseudo_count(prior, (rows, columns)))
    if min(rows, columns) == 1:
        return Distribution.point(0.0)
    tables = Tables(blocks.ravel(), np.full(strata, rows), np.full(strata, columns))
    candidate = StratifiedTables.of(tables, np.array([0, strata]))
    found = components(candidate, PosteriorOptions(prior=prior, threads=1))
    upper = float(np.log(min(rows, columns)))
    parts = [
        law_of(mean, std, upper, gaussian=False)
        for mean, std in zip(found.mean.tolist(), np.sqrt(found.variance).tolist(), strict=True)
    ]
    return Distribution.mixture(parts, found.weight.tolist(), float(found.p_zero[0]))
