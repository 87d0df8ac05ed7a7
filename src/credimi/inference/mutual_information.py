"""`mutual_information`: computes the posterior of the mutual information of one table."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_whole
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.inference import adaptive_prior
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count
from credimi.inference.moments import moments
from credimi.inference.options import checked_approximation
from credimi.inference.posterior import require_proper
from credimi.inference.sampling import BURN_IN, CHAINS, THIN, draw_information

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray

_CONVERGED = 1.05  # with a larger r_hat, chains still depend on where they started
_DOUBLINGS = 3  # of the chains' length, which makes the worst case 15 times as long


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
        (`.p_zero` of the result); see `credimi.inference.adaptive_prior`. Or a fixed pseudo-count per cell: "jeffreys"
        (1/2), "uniform" (1), "perks" (1/(rs)), "haldane" (0), or a number.
    approximation
        "matched": a Beta on [0, log min(r, s)] with near-exact mean and variance. "leading": the paper's Gaussian,
        which may put mass below 0. "leading-beta": the paper's moments, a Beta. "sampled": draws. They are independent
        if one side is complete. Otherwise they are Gibbs draws; these are continued if they have not converged, with a
        warning if that does not help (`posterior(...).sample(...)` has their convergence figure).
    draws, random_state
        For "sampled": how many, and the seed or generator.

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
    result = moments(Tables.of([table.block()]), pseudo, matched=approximation == "matched", threads=1)
    _, weights, means, variances = result.components()
    parts = [
        law_of(min(mean, upper), std, upper, gaussian=approximation == "leading")  # I <= upper, except for rounding
        for mean, std in zip(means.tolist(), np.sqrt(variances).tolist(), strict=True)
    ]
    return parts[0] if len(parts) == 1 else Distribution.mixture(parts, weights.tolist())


def _converged_draws(table: Table, pseudo: float, size: int, generator: np.random.Generator) -> FloatArray:
    """Draws of mutual information, from chains as long as needed; a warning if that would be too long."""
    for doubling in range(_DOUBLINGS + 1):
        burn_in, thin = BURN_IN << doubling, THIN << doubling
        drawn = draw_information(table, pseudo, size, generator, chains=CHAINS, burn_in=burn_in, thin=thin)
        if drawn.converged(_CONVERGED):
            return drawn.information
    warnings.warn(
        f"the draws have not converged: r_hat is {drawn.r_hat:.2f}, above {_CONVERGED}, with a burn-in of {burn_in} "
        f"steps and {thin} steps per draw; draw for longer with posterior(...).sample(..., burn_in=..., thin=...), or "
        "use approximation='matched'",
        stacklevel=3,  # the caller of `mutual_information`
    )
    return drawn.information


def _adaptive(table: Table, approximation: str, draws: int, generator: np.random.Generator) -> Distribution:
    """The mixture of the adaptive prior as a distribution."""
    if min(table.shape) == 1:
        return Distribution.point(0.0)
    blocks, upper = Tables.of([table.block()]), float(np.log(min(table.shape)))
    if approximation == "sampled":
        mixed = adaptive_prior.mixtures(blocks)
        drawn = [np.zeros(0)]
        shares = mixed.weight / mixed.weight.sum()
        sizes = generator.multinomial(draws, shares).tolist() if shares.size else []
        for component, size in enumerate(sizes):
            if size:
                own = Table.of_block(mixed.blocks.block(component))
                drawn.append(_converged_draws(own, 0.0, size, generator))
        dependent = np.concatenate(drawn)
        if not dependent.size:
            return Distribution.point(0.0)
        p_zero = float(mixed.p_zero[0])
        return Distribution.mixture([Distribution.empirical(dependent, upper)], [1.0 - p_zero], p_zero)
    found = adaptive_prior.components(blocks, matched=approximation == "matched", threads=1)
    parts = [
        law_of(mean, std, upper, gaussian=approximation == "leading")
        for mean, std in zip(found.mean.tolist(), np.sqrt(found.variance).tolist(), strict=True)
    ]
    return Distribution.mixture(parts, found.weight.tolist(), float(found.p_zero[0]))


def with_odds(law: Distribution, odds: float) -> Distribution:
    """The same posterior with the given prior odds of dependence instead of even odds."""
    if odds == 1.0 or not 0.0 < law.p_zero < 1.0:
        return law
    p_zero = float(adaptive_prior.with_odds(np.asarray(law.p_zero), odds))
    scale = (1.0 - p_zero) / (1.0 - law.p_zero)
    return Distribution.mixture(law.components, [scale * weight for weight in law.weights], p_zero)


def law_of(mean: float, std: float, upper: float, *, gaussian: bool) -> Distribution:
    """The distribution with these moments."""
    if std == 0.0:
        return Distribution.point(mean)
    return Distribution.normal(mean, std) if gaussian else Distribution.beta(mean, std, upper)
