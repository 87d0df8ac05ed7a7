"""`mutual_information`: computes the posterior of the mutual information of one table."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_whole
from credimi.core.keywords import suggesting
from credimi.core.table import Table
from credimi.core.table_layouts import are_columns
from credimi.core.tables import Tables
from credimi.inference.belief import ADAPTIVE, USUAL_APPROXIMATION, USUAL_PRIOR, by_method
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.fixed_priors import CELLS
from credimi.inference.information import converged_draws, distribution_of_table, information_of
from credimi.inference.posterior import posterior

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.inference.evidence.fixed_priors import Prior


@suggesting
def mutual_information(
    joint: ArrayLike | Table,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    *,
    prior: Prior = USUAL_PRIOR,
    approximation: str = USUAL_APPROXIMATION,
    method: str | None = None,
    draws: int = 10_000,
    random_state: int | np.random.Generator | None = None,
) -> Distribution:
    """Posterior distribution of the mutual information (nats) between target and feature.

    Parameters
    ----------
    joint
        r x s counts with both seen: one row per target class, one column per feature value. Weights are allowed.
        Also a `Table`, one of the layouts that `Table` takes, or a column of the data, and as the second argument
        another: categories, or numbers, with missing values or without. Numbers are
        not cut: all cuts are averaged, and independence has a probability. Whole numbers with at most 20 different
        values are categories.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.
    prior
        "adaptive": the distance from independence is learned from the table, and independence itself has a probability
        (`.p_zero` of the result); see `adaptive_prior`. Or a fixed pseudo-count per cell: "jeffreys"
        (1/2), "uniform" (1), "perks" (1/(rs)), "raw-counts" or "haldane" (0), a number, or an r x s array with one for
        each cell.
    approximation
        "matched": a Beta on [0, log min(r, s)] with near-exact mean and variance. "leading" or "gaussian": the paper's
        Gaussian, which may put mass below 0. "leading-beta" or "beta": the paper's moments, a Beta. "sampled": draws.
        They are independent if one side is complete. Otherwise they are Gibbs draws; these are continued if they have
        not converged, with a warning if that does not help (`posterior(...).sample(...)` has their convergence figure).
    method
        "paper": the method of Hutter and Zaffalon (2003), which is prior="raw-counts" and approximation="leading".
        "paper-beta": the same with a Beta, which a footnote of theirs prefers.
    draws, random_state
        For "sampled": the number of draws, and the seed or generator.

    Returns
    -------
    Distribution
        Frozen, with the method names of scipy. `posterior()` has the cell probabilities of the same counts (with
        Jeffreys' prior if this is the adaptive one).

    Examples
    --------
    >>> information = credimi.mutual_information([[10, 2], [3, 15]], target_only=[4, 1], feature_only=[0, 2])
    >>> round(information.mean(), 3)
    0.147
    >>> round(information.sf(0.003), 2)
    0.95

    Two columns of numbers:

    >>> age, income = [20 + row % 60 for row in range(600)], [(row % 60) ** 2 + 97 * (row % 7) for row in range(600)]
    >>> credimi.mutual_information(age, income).sf(0.5) > 0.99
    True
    """
    prior, approximation = by_method(method, prior, approximation)
    if are_columns(joint, target_only) and feature_only is None:
        from credimi.inference.numbers.two_columns import of_columns, refuse_fixed  # noqa: PLC0415  (it needs this module)

        of_numbers = of_columns(joint, target_only)
        if of_numbers is not None:
            refuse_fixed(prior, approximation)
            return of_numbers
    table = Table.of(joint, target_only, feature_only)
    is_adaptive = isinstance(prior, str) and prior == ADAPTIVE
    cells = posterior(table, prior=CELLS if is_adaptive else prior, method=method)
    if is_adaptive:
        require_whole("draws", draws, 1)
        law = _adaptive(table, approximation, int(draws), make_generator(random_state))
    else:
        law = information_of(table, cells.pseudo_count, approximation, draws, random_state)
    return replace(law, cells=cells, method=method)


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
                drawn_parts.append(converged_draws(component_table, 0.0, size, generator))
        dependent = np.concatenate(drawn_parts)
        if not dependent.size:
            return Distribution.point(0.0)
        p_zero, cautions = float(mixture.p_zero[0]), ("approximate",) * bool(mixture.approximate[0])
        drawn = Distribution.empirical(dependent, upper)
        return Distribution.mixture([drawn], [1.0 - p_zero], p_zero, cautions=cautions)
    is_leading = approximation != "matched"
    found = adaptive_prior.components(blocks, matched=not is_leading, threads=1)
    return distribution_of_table(found, 0, upper, gaussian=approximation == "leading", leading=is_leading)
