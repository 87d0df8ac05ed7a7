"""`mutual_information`: one table in, the posterior of its mutual information out."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np

from credimi.chances import require_proper
from credimi.checks import make_generator, require_whole
from credimi.counts import Table
from credimi.distribution import Distribution
from credimi.errors import CredimiError
from credimi.information import Blocks, moments
from credimi.prior import pseudo_count
from credimi.sampling import draw_information

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

APPROXIMATIONS = ("matched", "leading", "leading-beta", "sampled")


def mutual_information(
    joint: ArrayLike | Table,
    *,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    prior: str | float = "jeffreys",
    approximation: str = "matched",
    draws: int = 10_000,
    random_state: int | np.random.Generator | None = None,
) -> Distribution:
    """Posterior distribution of the mutual information (nats) between target and feature.

    Parameters
    ----------
    joint
        r x s counts with both seen: a row a target class, a column a feature value. Real numbers (weights) are fine.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.
    prior
        "jeffreys" (1/2 pseudo-count a cell), "uniform" (1), "perks" (1/(rs)), "haldane" (0), or a number.
    approximation
        "matched": a Beta on [0, log min(r, s)] with near-exact mean and variance. "leading": the paper's Gaussian,
        which may put mass below 0. "leading-beta": the paper's moments, a Beta. "sampled": draws,
        independent where one side is complete, else Gibbs (`posterior(...).sample(...)` has its convergence figure).
    draws, random_state
        For "sampled": how many, and the seed or generator.
    """
    if approximation not in APPROXIMATIONS:
        near = difflib.get_close_matches(str(approximation), APPROXIMATIONS, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise CredimiError(f"unknown approximation {approximation!r}: {hint}choose one of {', '.join(APPROXIMATIONS)}")
    table = Table.of(joint, target_only, feature_only)
    pseudo = pseudo_count(prior, table.shape)
    require_proper(table, pseudo)
    if min(table.shape) == 1:
        return Distribution.point(0.0)
    upper = float(np.log(min(table.shape)))
    if approximation == "sampled":
        require_whole("draws", draws, 1)
        generator = make_generator(random_state)
        information = draw_information(table, pseudo, int(draws), generator, chains=256, burn_in=200, thin=5)
        return Distribution.empirical(information, upper)
    result = moments(Blocks.of([table.block()]), pseudo, matched=approximation == "matched", threads=1)
    # I <= upper, but for rounding.
    mean, std = min(float(result.mean[0]), upper), float(np.sqrt(result.variance[0]))
    if std == 0.0:
        return Distribution.point(mean)
    return Distribution.normal(mean, std) if approximation == "leading" else Distribution.beta(mean, std, upper)
