"""`conditional_information`: computes the posterior of conditional mutual information from one table per stratum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.keywords import suggesting
from credimi.core.table import Table, stratified_blocks
from credimi.core.tables import Tables
from credimi.inference.belief import ADAPTIVE, Belief
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.evidence.fixed_priors import pseudo_count, require_proper
from credimi.inference.information import distribution_of_table
from credimi.inference.tables.stratified_tables import StratifiedTables, components

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike


@suggesting
def conditional_information(
    joint: ArrayLike | Sequence[Table],
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    *,
    prior: str | float = "adaptive",
) -> Distribution:
    """Posterior distribution of what the feature tells about the target once the stratum is known (nats).

    Strata are the values of another column Z, or of several: I(X;Y|Z) is the mutual information inside a stratum,
    averaged over the strata. Strata without rows, or with few, do no harm.

    Parameters
    ----------
    joint
        t x r x s counts with both seen: one table per stratum, one row per target class, one column per feature value.
        Or a list of `Table`, one per stratum, with their margins.
    target_only
        t x r counts of data rows whose feature is missing.
    feature_only
        t x s counts of data rows whose target is missing.
    prior
        As in `mutual_information`. "adaptive": the distance from independence is learned from all strata together, and
        independence in every stratum has a probability (`.p_zero` of the result). Fixed pseudo-counts are added to
        every cell of every stratum, and do not change the shares of the strata.

    Returns
    -------
    Distribution
        Mean and variance are near-exact, as in `mutual_information`; with one stratum the result is the same.

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
    posterior = components(candidate, Belief(prior=prior, threads=1))
    upper = float(np.log(min(rows, columns)))
    return distribution_of_table(posterior, 0, upper)
