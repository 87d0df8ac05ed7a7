"""The posterior of the mutual information of one table with fixed pseudo-counts, and how mixtures are made."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_whole
from credimi.core.tables import Tables
from credimi.inference.belief import checked_approximation
from credimi.inference.distributions.components import Point
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.fixed_priors import added, require_proper
from credimi.inference.moments.moments import moments
from credimi.inference.sampling import BURN_IN, CHAINS, THIN, draw_information

if TYPE_CHECKING:
    from credimi.core.table import Table
    from credimi.core.types import FloatArray
    from credimi.inference.evidence.adaptive_prior import PosteriorComponents

_MAX_R_HAT = 1.05  # above this, chains still depend on their starting points
_MAX_DOUBLINGS = 3  # of the length of the chains: all runs together are at most 15 times as long as the first
_ROUNDING = 1e-9  # of a standard deviation that a Beta was given
NO_SPREAD = 1e-12  # of the range: a standard deviation of leading order below it is 0 but for rounding


def information_of(
    table: Table,
    pseudo: float | FloatArray,
    approximation: str,
    draws: int,
    random_state: int | np.random.Generator | None,
) -> Distribution:
    """The posterior with these pseudo-counts."""
    approximation = checked_approximation(approximation)
    require_proper(table, pseudo)
    if min(table.shape) == 1:
        return Distribution.point(0.0)
    upper = float(np.log(min(table.shape)))
    counts, common = added(table, pseudo)
    cells = counts.joint + common
    is_alone = min(np.count_nonzero(cells.any(axis=axis)) for axis in (0, 1)) == 1  # only one class, or one value
    if is_alone and not (counts.misses_feature and counts.misses_target):  # else the margins may say that I is not 0
        return Distribution.point()
    if approximation == "sampled":
        require_whole("draws", draws, 1)
        return Distribution.empirical(converged_draws(counts, common, int(draws), make_generator(random_state)), upper)
    matched = approximation == "matched"
    table_moments = moments(Tables.of([counts.block()]), common, matched=matched, threads=1, shaped=True)
    _, weights, means, variances = table_moments.components()
    means = np.minimum(means, upper)  # but for rounding it is
    return mixed((means, variances), weights, upper, gaussian=approximation == "leading", leading=not matched)


def mixed(
    moments_of_parts: tuple[FloatArray, FloatArray],
    weights: FloatArray,
    upper: float,
    p_zero: float = 0.0,
    *,
    gaussian: bool,
    leading: bool,
) -> Distribution:
    """A mixture of parts with these means and variances; it says where they are not what the approximation gives.

    In leading order the variance is 0 at I = 0, and at the largest I. This is no certainty, so it is no atom.
    """
    parts, cautions = [], set()
    means, variances = moments_of_parts
    for mean, std in zip(means.tolist(), np.sqrt(variances).tolist(), strict=True):
        part = distribution_of(mean, std, upper, gaussian=gaussian)
        if std <= NO_SPREAD * upper and leading:
            part = Distribution((Point(mean if mean > NO_SPREAD * upper else 0.0),), (1.0,))
            cautions.add("no_spread")
        elif abs(part.std() - std) > _ROUNDING * std and leading:
            cautions.add("spread_reduced")
        parts.append(part)
    law = parts[0] if len(parts) == 1 and p_zero == 0.0 else Distribution.mixture(parts, weights.tolist(), p_zero)
    return replace(law, cautions=tuple(sorted(cautions)))


def converged_draws(table: Table, pseudo: float, size: int, generator: np.random.Generator) -> FloatArray:
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
        stacklevel=5,  # the caller of `mutual_information`
    )
    return draws.information


def with_odds(distribution: Distribution, odds: float) -> Distribution:
    """Convert a posterior from even prior odds of dependence to the given odds."""
    if odds == 1.0 or not 0.0 < distribution.p_zero < 1.0:
        return distribution
    p_zero = float(adaptive_prior.with_odds(np.asarray(distribution.p_zero), odds))
    scale = (1.0 - p_zero) / (1.0 - distribution.p_zero)
    weights = [scale * weight for weight in distribution.weights]
    return Distribution.mixture(distribution.components, weights, p_zero, cautions=distribution.cautions)


def distribution_of_table(
    components: PosteriorComponents, index: int, upper: float, *, gaussian: bool = False, leading: bool = False
) -> Distribution:
    """The posterior of one of many tables; `leading` says that the moments are of leading order."""
    of_table = components.table == index
    law = mixed(
        (components.mean[of_table], components.variance[of_table]),
        components.weight[of_table],
        upper,
        float(components.p_zero[index]),
        gaussian=gaussian,
        leading=leading or gaussian,
    )
    cautions = tuple(sorted({*law.cautions, *("approximate",) * bool(components.marks[index])}))
    return replace(law, cautions=cautions)


def distribution_of(mean: float, std: float, upper: float, *, gaussian: bool) -> Distribution:
    """The normal distribution, or the Beta on [0, upper], with these moments; a point if the deviation is 0."""
    if std == 0.0:
        return Distribution.point(mean)
    return Distribution.normal(mean, std) if gaussian else Distribution.beta(mean, std, upper)
