"""`mutual_information`: computes the posterior of the mutual information of one table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_whole
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference.belief import ADAPTIVE, checked_approximation
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.fixed_priors import pseudo_count
from credimi.inference.moments.moments import moments
from credimi.inference.posterior import require_proper
from credimi.inference.sampling import BURN_IN, CHAINS, THIN, draw_information

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray
    from credimi.inference.evidence.adaptive_prior import PosteriorComponents

_MAX_R_HAT = 1.05  # above this, chains still depend on their starting points
_MAX_DOUBLINGS = 3  # of the length of the chains: all runs together are at most 15 times as long as the first


def mutual_information(
    joint: ArrayLike | Table,
    *,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    prior: str | float = "adaptive",
    approximation: str = "matched",
    draws: int = 10_000,
    random_state: int | np.random.Generator | None = None,
) -> Distribution:
    """Posterior distribution of the mutual information (nats) between target and feature.

    Parameters
    ----------
    joint
        r x s counts with both seen: one row per target class, one column per feature value. Weights are allowed.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.
    prior
        "adaptive": the distance from independence is learned from the table, and independence itself has a probability
        (`.p_zero` of the result); see `adaptive_prior`. Or a fixed pseudo-count per cell: "jeffreys"
        (1/2), "uniform" (1), "perks" (1/(rs)), "haldane" (0), or a number.
    approximation
        "matched": a Beta on [0, log min(r, s)] with near-exact mean and variance. "leading": the paper's Gaussian,
        which may put mass below 0. "leading-beta": the paper's moments, a Beta. "sampled": draws. They are independent
        if one side is complete. Otherwise they are Gibbs draws; these are continued if they have not converged, with a
        warning if that does not help (`posterior(...).sample(...)` has their convergence figure).
    draws, random_state
        For "sampled": the number of draws, and the seed or generator.

    Returns
    -------
    Distribution
        Frozen, with the method names of scipy.

    Examples
    --------
    >>> information = credimi.mutual_information([[10, 2], [3, 15]], target_only=[4, 1], feature_only=[0, 2])
    >>> round(information.mean(), 3)
    0.147
    >>> round(information.sf(0.003), 2)
    0.95
    """
    checked_approximation(approximation)
    table = Table.of(joint, target_only, feature_only)
    if prior == ADAPTIVE:
        require_whole("draws", draws, 1)
        return _adaptive(table, approximation, int(draws), make_generator(random_state))
    pseudo = pseudo_count(prior, table.shape)
    require_proper(table, pseudo)
    if min(table.shape) == 1:
        return Distribution.point(0.0)
    upper = float(np.log(min(table.shape)))
    if approximation == "sampled":
        require_whole("draws", draws, 1)
        generator = make_generator(random_state)
        return Distribution.empirical(_converged_draws(table, pseudo, int(draws), generator), upper)
    matched = approximation == "matched"
    table_moments = moments(Tables.of([table.block()]), pseudo, matched=matched, threads=1, shaped=True)
    _, weights, means, variances = table_moments.components()
    components = [
        distribution_of(
            min(mean, upper), std, upper, gaussian=approximation == "leading"
        )  # I <= upper, except for rounding
        for mean, std in zip(means.tolist(), np.sqrt(variances).tolist(), strict=True)
    ]
    return components[0] if len(components) == 1 else Distribution.mixture(components, weights.tolist())


def _converged_draws(table: Table, pseudo: float, size: int, generator: np.random.Generator) -> FloatArray:
    """Draws of mutual information. Chains become longer until they converge; if they never do, there is a warning."""
    for doubling in range(_MAX_DOUBLINGS + 1):
        burn_in, thin = BURN_IN << doubling, THIN << doubling
        draws = draw_information(table, pseudo, size, generator, chains=CHAINS, burn_in=burn_in, thin=thin)
        if draws.converged(_MAX_R_HAT):
            return draws.information
    warnings.warn(
        f"the draws have not converged: r_hat is {draws.r_hat:.2f}, above {_MAX_R_HAT}, with a burn-in of {burn_in} "
        f"steps and {thin} steps per draw; draw for longer with posterior(...).sample(..., burn_in=..., thin=...), or "
        "use approximation='matched'",
        stacklevel=3,  # the caller of `mutual_information`
    )
    return draws.information


def _adaptive(table: Table, approximation: str, draws: int, generator: np.random.Generator) -> Distribution:
    """The posterior with the adaptive prior."""
    if min(table.shape) == 1:
        return Distribution.point(0.0)
    blocks, upper = Tables.of([table.block()]), float(np.log(min(table.shape)))
    if approximation == "sampled":
        mixture = adaptive_prior.mixtures(blocks)
        drawn_parts = [np.zeros(0)]
        component_shares = mixture.weight / mixture.weight.sum()
        sizes = generator.multinomial(draws, component_shares).tolist() if component_shares.size else []
        for component, size in enumerate(sizes):
            if size:
                component_table = Table.of_block(mixture.blocks.block(component))
                drawn_parts.append(_converged_draws(component_table, 0.0, size, generator))
        dependent = np.concatenate(drawn_parts)
        if not dependent.size:
            return Distribution.point(0.0)
        p_zero, approximate = float(mixture.p_zero[0]), bool(mixture.approximate[0])
        drawn = Distribution.empirical(dependent, upper)
        return Distribution.mixture([drawn], [1.0 - p_zero], p_zero, approximate=approximate)
    posterior = adaptive_prior.components(blocks, matched=approximation == "matched", threads=1)
    return distribution_of_table(posterior, 0, upper, gaussian=approximation == "leading")


def with_odds(distribution: Distribution, odds: float) -> Distribution:
    """Convert a posterior from even prior odds of dependence to the given odds."""
    if odds == 1.0 or not 0.0 < distribution.p_zero < 1.0:
        return distribution
    p_zero = float(adaptive_prior.with_odds(np.asarray(distribution.p_zero), odds))
    scale = (1.0 - p_zero) / (1.0 - distribution.p_zero)
    weights = [scale * weight for weight in distribution.weights]
    return Distribution.mixture(distribution.components, weights, p_zero, approximate=distribution.approximate)


def distribution_of_table(components: PosteriorComponents, index: int, upper: float, *, gaussian: bool) -> Distribution:
    """The posterior of one of many tables."""
    of_table = components.table == index
    distributions = [
        distribution_of(mean, std, upper, gaussian=gaussian)
        for mean, std in zip(
            components.mean[of_table].tolist(), np.sqrt(components.variance[of_table]).tolist(), strict=True
        )
    ]
    weights, p_zero = components.weight[of_table].tolist(), float(components.p_zero[index])
    return Distribution.mixture(distributions, weights, p_zero, approximate=bool(components.marks[index]))


def distribution_of(mean: float, std: float, upper: float, *, gaussian: bool) -> Distribution:
    """The normal distribution, or the Beta on [0, upper], with these moments; a point if the deviation is 0."""
    if std == 0.0:
        return Distribution.point(mean)
    return Distribution.normal(mean, std) if gaussian else Distribution.beta(mean, std, upper)
