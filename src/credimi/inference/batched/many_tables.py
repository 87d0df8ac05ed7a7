"""Mean, standard deviation, interval and P(I > epsilon) of many tables at once.

Every posterior here is a mixture: one component per table with fixed pseudo-counts; several components and an atom at 0
with the adaptive prior. Moments come from one call of `inference.moments.moments`, tails and quantiles from
`mixture_tails`. Tables with a component outside the range of these functions, and draws, go through `Distribution` one
by one.

**Given dependence.** The atom pulls mean and interval towards 0. Without it, with the weights of the components scaled
to sum to 1, the mixture says how large I is if the feature tells anything. Other odds of dependence do not change it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.public import stored
from credimi.core.table import Table
from credimi.inference import adaptive_prior
from credimi.inference.adaptive_prior import PosteriorComponents
from credimi.inference.batched.mixture_tails import Laws, above, laws_of, quantiles
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.distributions.interval import credible_interval
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count
from credimi.inference.moments import moments
from credimi.inference.mutual_information import law_of, mutual_information, with_odds

if TYPE_CHECKING:
    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray
    from credimi.inference.moments import Moments
    from credimi.inference.options import PosteriorOptions

_NO_ATOM = 1e-10  # a weight of independence that changes no quantile within its precision
_JEFFREYS = 0.5  # the pseudo-count of the plug-in estimate, if the prior has none


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One entry per table; `at_mode` is the information of the most probable cell probabilities.

    The entries given dependence are NaN if no component is left, or if they were not asked for.
    """

    mean: FloatArray
    std: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    at_mode: FloatArray
    mean_if_dependent: FloatArray
    low_if_dependent: FloatArray
    high_if_dependent: FloatArray


def summarize(blocks: Tables, options: PosteriorOptions, *, if_dependent: bool = True) -> Summary:
    """The posteriors of all tables in numbers. Tables with one class or one value are not accepted.

    The entries given dependence cost as much as the intervals: `if_dependent` says whether they are needed.
    """
    if options.approximation == "sampled":
        odds = np.ones(blocks.rows.size) if blocks.odds is None else blocks.odds
        tables = (Table.of_block(blocks.block(index)) for index in range(blocks.rows.size))
        drawn = [drawn_law(table, options, own) for table, own in zip(tables, odds.tolist(), strict=True)]
        at_mode = moments(blocks, pseudo_counts_of(blocks, options.prior), matched=False, threads=options.threads).mean
        return _one_by_one(drawn, at_mode, options, if_dependent=if_dependent)
    found, at_mode = _posteriors(blocks, options)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    return summary_of(found, upper, at_mode, options, if_dependent=if_dependent)


def summary_of(
    found: PosteriorComponents,
    upper: FloatArray,
    at_mode: FloatArray,
    options: PosteriorOptions,
    *,
    if_dependent: bool = True,
) -> Summary:
    """Mixtures on [0, upper] in numbers."""
    epsilon, threads = options.epsilon, options.threads
    mean = summed(found, found.weight * found.mean)
    apart = found.variance + (found.mean - mean[found.table]) ** 2
    variance = summed(found, found.weight * apart) + found.p_zero * mean**2
    laws = laws_of(found, upper, gaussian=options.gaussian)
    low, high = _intervals(found, laws, options)
    p_above = above(laws, epsilon, threads)
    for index in np.unique(found.table[~laws.trusted]).tolist():
        law = law_of_table(found, index, float(upper[index]), gaussian=laws.gaussian)
        p_above[index] = law.sf(epsilon)
        variance[index] = law.var()  # the leading order may exceed what is possible on [0, upper]
    given = _given_dependence(found, laws, (mean, low, high), options) if if_dependent else _unknown(mean.size)
    return Summary(mean, np.sqrt(variance), low, high, p_above, found.p_zero, at_mode, *given)


def _unknown(count: int) -> FloatArray:
    return np.full((3, count), np.nan)


def _given_dependence(
    found: PosteriorComponents,
    laws: Laws,
    with_atoms: tuple[FloatArray, FloatArray, FloatArray],
    options: PosteriorOptions,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean and interval without the atoms at 0; the same as `with_atoms` if there is no atom."""
    mean, low, high = (each.copy() for each in with_atoms)
    mixed = found.p_zero > _NO_ATOM
    rest = _without_atoms(found, mixed)
    mean[mixed] = summed(rest, rest.weight * rest.mean)
    low[mixed], high[mixed] = _intervals(rest, laws_of(rest, laws.upper[mixed], gaussian=laws.gaussian), options)
    for each in (mean, low, high):
        each[np.bincount(found.table, minlength=mean.size) == 0] = np.nan
    return mean, low, high


def _intervals(found: PosteriorComponents, laws: Laws, options: PosteriorOptions) -> tuple[FloatArray, FloatArray]:
    """The ends of the credible interval of every table."""
    level, threads = options.level, options.threads
    low, high = credible_interval(
        level,
        found.p_zero,
        with_below=lambda tail: quantiles(laws, 1.0 - tail, threads),
        with_above=lambda tail: quantiles(laws, tail, threads),
        below_zero=lambda: 1.0 - above(laws, 0.0, threads) - found.p_zero,
    )
    for index in np.unique(found.table[~laws.trusted]).tolist():
        low[index], high[index] = law_of_table(found, index, float(laws.upper[index]), gaussian=laws.gaussian).interval(
            level
        )
    return low, high


def _without_atoms(found: PosteriorComponents, chosen: BooleanArray) -> PosteriorComponents:
    """The mixtures of the chosen tables, given dependence."""
    own = chosen[found.table]
    table, weight = found.table[own], found.weight[own]
    weight = weight / summed(found, found.weight)[table]
    place = np.cumsum(chosen) - 1
    return PosteriorComponents(np.zeros(int(chosen.sum())), place[table], weight, found.mean[own], found.variance[own])


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """All that the rules need, one entry per table."""

    mean: FloatArray
    at_mode: FloatArray
    p_above: FloatArray
    p_independent: FloatArray

    def of(self, candidates: BooleanArray) -> Beliefs:
        """The same for the candidates; the others are unknown (NaN), and no rule keeps them."""
        figures = (self.mean, self.at_mode, self.p_above, self.p_independent)
        return Beliefs(*(np.where(candidates, each, np.nan) for each in figures))


def beliefs(blocks: Tables, options: PosteriorOptions) -> Beliefs:
    """`mean`, `at_mode`, `p_above` and `p_independent` of `summarize`, without the cost of intervals.

    Tables without a complete row are accepted, too: if the prior adds nothing, nothing suggests that I is not 0.
    """
    if options.approximation == "sampled":
        drawn = summarize(blocks, options)
        return Beliefs(drawn.mean, drawn.at_mode, drawn.p_above, drawn.p_independent)
    epsilon = options.epsilon
    found, at_mode = _posteriors(blocks, options)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    with np.errstate(invalid="ignore"):  # a table of one value, whose upper bound is 0
        laws = laws_of(found, upper, gaussian=options.gaussian)
    p_above, trusted = above(laws, epsilon, options.threads), laws.trusted
    if options.prior != ADAPTIVE:  # a certain component has a step instead of a tail, and is alone in its table
        certain = found.variance == 0.0
        p_above[found.table[certain]] = found.mean[certain] > epsilon
        trusted = trusted | certain
    for index in np.unique(found.table[~trusted]).tolist():
        p_above[index] = law_of_table(found, index, float(upper[index]), gaussian=laws.gaussian).sf(epsilon)
    return Beliefs(summed(found, found.weight * found.mean), at_mode, p_above, found.p_zero)


def quick_beliefs(blocks: Tables, options: PosteriorOptions) -> Beliefs:
    """`beliefs` with the adaptive prior for very many small tables: no `at_mode`, and each component by two moments.

    No component is divided for classes that are thin (see `hard_tables`), which takes longer than all the rest.
    """
    whole = np.ones(blocks.rows.size, dtype=np.bool_)
    found = adaptive_prior.components(blocks, threads=options.threads, whole=whole)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    laws = laws_of(found, upper, gaussian=False)
    p_above = above(laws, options.epsilon, options.threads)
    for index in np.unique(found.table[~laws.trusted]).tolist():
        p_above[index] = law_of_table(found, index, float(upper[index]), gaussian=False).sf(options.epsilon)
    mean = summed(found, found.weight * found.mean)
    return Beliefs(mean, np.full(mean.size, np.nan), p_above, found.p_zero)


def drawn_law(table: Table, options: PosteriorOptions, odds: float) -> Distribution:
    """The posterior by draws; `odds` as in `Tables`."""
    law = mutual_information(table, prior=options.prior, approximation="sampled", random_state=options.random_state)
    return with_odds(law, odds)


def _posteriors(blocks: Tables, options: PosteriorOptions) -> tuple[PosteriorComponents, FloatArray]:
    """The mixtures, and the information at the mode."""
    leading = moments(blocks, pseudo_counts_of(blocks, options.prior), matched=False, threads=options.threads)
    if options.prior != ADAPTIVE and not options.matched:
        return _single(blocks, leading), leading.mean
    return posteriors(blocks, options), leading.mean


def posteriors(blocks: Tables, options: PosteriorOptions) -> PosteriorComponents:
    """The mixtures from which `summarize` takes its numbers; with fixed pseudo-counts they have one component.

    With draws, the mixtures from which they are drawn, by their moments.
    """
    matched, threads = options.matched, options.threads
    if options.prior == ADAPTIVE:
        return adaptive_prior.components(blocks, matched=matched, threads=threads)
    return _single(blocks, moments(blocks, pseudo_counts_of(blocks, options.prior), matched=matched, threads=threads))


def _single(blocks: Tables, found: Moments) -> PosteriorComponents:
    """One component per table, seldom more, and no weight on independence."""
    table, weight, mean, variance = found.components()
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    return PosteriorComponents(np.zeros(upper.size), table, weight, np.minimum(mean, upper[table]), variance)


def pseudo_counts_of(blocks: Tables, prior: str | float) -> FloatArray:
    """The fixed pseudo-count of each table; with the adaptive prior that of the plug-in estimate."""
    if prior == ADAPTIVE or prior != "perks":  # all other priors add the same for every shape
        return np.full(blocks.rows.size, _JEFFREYS if prior == ADAPTIVE else pseudo_count(prior, (2, 2)))
    return 1.0 / (blocks.rows * blocks.columns)


def summed(found: PosteriorComponents, values: FloatArray) -> FloatArray:
    """The sum over the components of each table."""
    return np.bincount(found.table, values, found.p_zero.size).astype(np.float64)


def _one_by_one(
    laws: list[Distribution], at_mode: FloatArray, options: PosteriorOptions, *, if_dependent: bool
) -> Summary:
    level = options.level
    intervals = np.array([law.interval(level) for law in laws]).reshape(-1, 2)
    given = _unknown(len(laws))
    if if_dependent:
        given = np.array([_law_given_dependence(law, level) for law in laws]).reshape(-1, 3).T
    return Summary(
        np.array([law.mean() for law in laws]),
        np.array([law.std() for law in laws]),
        intervals[:, 0],
        intervals[:, 1],
        np.array([law.sf(options.epsilon) for law in laws]),
        np.array([law.p_zero for law in laws]),
        at_mode,
        *given,
    )


def _law_given_dependence(law: Distribution, level: float) -> tuple[float, float, float]:
    """Mean and interval without the atom at 0."""
    total = math.fsum(law.weights)
    if total == 0.0:
        return math.nan, math.nan, math.nan
    rest = Distribution.mixture(law.components, [weight / total for weight in law.weights])
    return rest.mean(), *rest.interval(level)


def law_of_table(found: PosteriorComponents, index: int, upper: float, *, gaussian: bool) -> Distribution:
    """The mixture of one table."""
    own = found.table == index
    parts = [
        law_of(mean, std, upper, gaussian=gaussian)
        for mean, std in zip(found.mean[own].tolist(), np.sqrt(found.variance[own]).tolist(), strict=True)
    ]
    return Distribution.mixture(parts, found.weight[own].tolist(), float(found.p_zero[index]))
