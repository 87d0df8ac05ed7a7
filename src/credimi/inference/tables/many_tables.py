"""Mean, standard deviation, interval and P(I > epsilon) of many tables at once.

Every posterior here is a mixture. With fixed pseudo-counts a table has one component; with the adaptive prior it has
several components and an atom at 0. Moments come from one call of `moments`, tails and quantiles from
`mixture_tails`. Tables with a component for which these functions are not accurate, and draws, are computed one by one
by `Distribution`.

**Given dependence.** The atom pulls mean and interval towards 0. Without the atom, and with the weights of the
components scaled to sum to 1, the mixture says how large I is if target and feature are dependent. It is the same for
all prior odds of dependence.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.public import stored
from credimi.core.table import Table
from credimi.inference.belief import ADAPTIVE
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.distributions.interval import credible_interval
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.adaptive_prior import PosteriorComponents
from credimi.inference.evidence.fixed_priors import BY_SHAPE, pseudo_count
from credimi.inference.information import NO_SPREAD, distribution_of_table, with_odds
from credimi.inference.moments.moments import moments
from credimi.inference.mutual_information import mutual_information
from credimi.inference.tables.mixture_tails import Mixtures, above, mixtures_of, quantiles

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, Record
    from credimi.inference.belief import Belief
    from credimi.inference.moments.moments import Moments

_NEGLIGIBLE_ATOM = 1e-10  # a smaller weight of independence changes no quantile within its precision
_JEFFREYS = 0.5  # the pseudo-count of the plug-in estimate, if the prior has none


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """One entry per table; `at_mode` is the information of the most probable cell probabilities.

    The entries given dependence are NaN if the table has no component, or if they were not requested. `approximate`
    says of which tables P(independent), and with it all else, may be off (see `allocation_sum`).
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
    approximate: BooleanArray


def summarize(blocks: Tables, options: Belief, *, if_dependent: bool = True) -> Summary:
    """Summarize the posteriors of all tables. Tables with one class or one value are not accepted.

    The entries given dependence cost as much as the intervals: `if_dependent` says whether they are needed.
    """
    if options.approximation == "sampled":
        odds = np.ones(blocks.rows.size) if blocks.odds is None else blocks.odds
        tables = (Table.of_block(blocks.block(index)) for index in range(blocks.rows.size))
        distributions = [
            drawn_distribution(table, options, table_odds)
            for table, table_odds in zip(tables, odds.tolist(), strict=True)
        ]
        at_mode = moments(blocks, pseudo_counts_of(blocks, options.prior), matched=False, threads=options.threads).mean
        return _summary_of_draws(distributions, at_mode, options, if_dependent=if_dependent)
    components, at_mode = _posteriors(blocks, options, shaped=True)
    return summary_of(components, blocks.upper, at_mode, options, if_dependent=if_dependent)


def summary_of(
    components: PosteriorComponents,
    upper: FloatArray,
    at_mode: FloatArray,
    options: Belief,
    *,
    if_dependent: bool = True,
) -> Summary:
    """Summarize mixtures on [0, upper]."""
    epsilon, threads = options.nats, options.threads
    mean = summed(components, components.weight * components.mean)
    second_moment = components.variance + (components.mean - mean[components.table]) ** 2
    variance = summed(components, components.weight * second_moment) + components.p_zero * mean**2
    mixtures = mixtures_of(components, upper, gaussian=options.gaussian)
    low, high = _intervals(components, mixtures, options)
    p_above = above(mixtures, epsilon, threads)
    for index, distribution in _one_by_one(components, mixtures, mixtures.trusted):
        p_above[index] = distribution.sf(epsilon)
        variance[index] = distribution.var()  # the variance of leading order may be impossible on [0, upper]
    given_dependence = (
        _given_dependence(components, mixtures, (mean, low, high), options)
        if if_dependent
        else _not_computed(mean.size)
    )
    figures = mean, np.sqrt(variance), low, high, p_above, components.p_zero, at_mode
    mean_given, low_given, high_given = given_dependence
    return Summary(*figures, mean_given, low_given, high_given, components.marks)


def _not_computed(count: int) -> FloatArray:
    return np.full((3, count), np.nan)


def _given_dependence(
    components: PosteriorComponents,
    mixtures: Mixtures,
    with_atoms: tuple[FloatArray, FloatArray, FloatArray],
    options: Belief,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Mean and interval without the atoms at 0; the same as `with_atoms` if there is no atom."""
    mean, low, high = (each.copy() for each in with_atoms)
    has_atom = components.p_zero > _NEGLIGIBLE_ATOM
    without_atoms = _without_atoms(components, has_atom)
    mean[has_atom] = summed(without_atoms, without_atoms.weight * without_atoms.mean)
    low[has_atom], high[has_atom] = _intervals(
        without_atoms, mixtures_of(without_atoms, mixtures.upper[has_atom], gaussian=mixtures.gaussian), options
    )
    for each in (mean, low, high):
        each[np.bincount(components.table, minlength=mean.size) == 0] = np.nan
    return mean, low, high


def _intervals(components: PosteriorComponents, mixtures: Mixtures, options: Belief) -> tuple[FloatArray, FloatArray]:
    """The ends of the credible interval of every table."""
    level, threads = options.level, options.threads
    low, high = credible_interval(
        level,
        components.p_zero,
        with_below=lambda tail: quantiles(mixtures, 1.0 - tail, threads),
        with_above=lambda tail: quantiles(mixtures, tail, threads),
        below_zero=lambda: 1.0 - above(mixtures, 0.0, threads) - components.p_zero,
    )
    for index, distribution in _one_by_one(components, mixtures, mixtures.trusted):
        low[index], high[index] = distribution.interval(level)
    return low, high


def _one_by_one(
    components: PosteriorComponents, mixtures: Mixtures, trusted: BooleanArray
) -> Iterator[tuple[int, Distribution]]:
    """The tables that have a component for which the kernels are not accurate, and their distributions."""
    for index in np.unique(components.table[~trusted]).tolist():
        upper = float(mixtures.upper[index])
        yield index, distribution_of_table(components, index, upper, gaussian=mixtures.gaussian)


def _without_atoms(components: PosteriorComponents, chosen: BooleanArray) -> PosteriorComponents:
    """The mixtures of the chosen tables, given dependence."""
    of_chosen = chosen[components.table]
    table, weight = components.table[of_chosen], components.weight[of_chosen]
    weight = weight / summed(components, components.weight)[table]
    new_index = np.cumsum(chosen) - 1
    return PosteriorComponents(
        np.zeros(int(chosen.sum())),
        new_index[table],
        weight,
        components.mean[of_chosen],
        components.variance[of_chosen],
    )


@stored
@dataclass(frozen=True, slots=True, eq=False)
class Beliefs:
    """What the rules need to know about each table, one entry per table; `approximate` as in `Summary`."""

    mean: FloatArray
    at_mode: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    approximate: BooleanArray | None = None

    def of(self, candidates: BooleanArray) -> Beliefs:
        """The same for the candidates; for all other tables the entries are NaN, and no rule keeps them."""
        figures = (self.mean, self.at_mode, self.p_above, self.p_independent)
        return Beliefs(*(np.where(candidates, each, np.nan) for each in figures))


def beliefs(blocks: Tables, options: Belief, *, shaped: bool = True) -> Beliefs:
    """`mean`, `at_mode`, `p_above` and `p_independent` of `summarize`, without the cost of intervals.

    Callers who decide after every row leave out the shape of thin tables with a fixed pseudo-count (see `posteriors`).
    Tables without a complete row are accepted, too: if the prior adds nothing, their I counts as 0.
    """
    if options.approximation == "sampled":
        summary = summarize(blocks, options)
        return Beliefs(summary.mean, summary.at_mode, summary.p_above, summary.p_independent)
    epsilon = options.nats
    components, at_mode = _posteriors(blocks, options, shaped=shaped)
    with np.errstate(invalid="ignore"):  # a table of one value, whose upper bound is 0
        mixtures = mixtures_of(components, blocks.upper, gaussian=options.gaussian)
    p_above, trusted = above(mixtures, epsilon, options.threads), mixtures.trusted
    if options.prior != ADAPTIVE:  # a certain component is a point, and the only one of its table
        certain = components.variance == 0.0
        p_above[components.table[certain]] = components.mean[certain] > epsilon
        trusted = trusted | certain
    for index, distribution in _one_by_one(components, mixtures, trusted):
        p_above[index] = distribution.sf(epsilon)
    return Beliefs(summed(components, components.weight * components.mean), at_mode, p_above, components.p_zero)


def quick_beliefs(blocks: Tables, options: Belief) -> Beliefs:
    """`beliefs` with the adaptive prior for very many small tables: no `at_mode`, and each component by two moments.

    Components with thin classes are not split into parts, see `posteriors`.
    """
    whole = np.ones(blocks.rows.size, dtype=np.bool_)
    components = adaptive_prior.components(blocks, threads=options.threads, whole=whole)
    p_above = exceeding(components, np.log(np.minimum(blocks.rows, blocks.columns)), options)
    mean = summed(components, components.weight * components.mean)
    return Beliefs(mean, np.full(mean.size, np.nan), p_above, components.p_zero, components.approximate)


def exceeding(components: PosteriorComponents, upper: FloatArray, options: Belief) -> FloatArray:
    """P(I > epsilon) of mixtures of Betas on [0, upper]."""
    mixtures = mixtures_of(components, upper, gaussian=False)
    p_above = above(mixtures, options.nats, options.threads)
    for index, distribution in _one_by_one(components, mixtures, mixtures.trusted):
        p_above[index] = distribution.sf(options.nats)
    return p_above


def drawn_distribution(table: Table, options: Belief, odds: float) -> Distribution:
    """The posterior as draws; for `odds` see `Tables`."""
    distribution = mutual_information(
        table, prior=options.prior, approximation="sampled", random_state=options.random_state
    )
    return with_odds(distribution, odds)


def _posteriors(blocks: Tables, options: Belief, *, shaped: bool) -> tuple[PosteriorComponents, FloatArray]:
    """The mixtures, and the information at the mode."""
    leading = moments(blocks, pseudo_counts_of(blocks, options.prior), matched=False, threads=options.threads)
    if options.prior != ADAPTIVE and not options.matched:
        return _without_rounding(blocks, _single(blocks, leading)), leading.mean
    return posteriors(blocks, options, shaped=shaped), leading.mean


def posteriors(blocks: Tables, options: Belief, *, whole: bool = False, shaped: bool = False) -> PosteriorComponents:
    """The mixtures from which `summarize` takes its numbers; with fixed pseudo-counts they have one component.

    If draws are requested, these are the mixtures, with their moments, from which they are drawn. If `whole`, tables
    with thin classes are not drawn (see `tables_without_closed_form`), which takes a thousand times as long as all
    else. If `shaped`, a fixed pseudo-count has more than one component wherever one would not do (see `shapes`).
    """
    keep_whole = np.ones(blocks.rows.size, dtype=np.bool_) if whole else None
    matched, threads = options.matched, options.threads
    if options.prior == ADAPTIVE:
        if options.averages_cuts and blocks.averaged is not None and any(each is not None for each in blocks.averaged):
            return _with_averaged(blocks, whole=keep_whole, threads=threads)
        found = adaptive_prior.components(blocks, matched=matched, threads=threads, whole=keep_whole)
        return found if matched else _without_rounding(blocks, found)
    pseudo = pseudo_counts_of(blocks, options.prior)
    options_of_moments: Record = {"matched": matched, "threads": threads, "whole": keep_whole, "shaped": shaped}
    return _single(blocks, moments(blocks, pseudo, **options_of_moments))


def _with_averaged(blocks: Tables, *, whole: BooleanArray | None, threads: int | None) -> PosteriorComponents:
    """The adaptive prior's mixtures of ordinary tables, and those of numbers that were averaged over all cuts."""
    averaged = blocks.averaged or ()
    ordinary = np.array([each is None for each in averaged], dtype=np.bool_)
    keep_whole = None if whole is None else whole[ordinary]
    found = adaptive_prior.components(blocks.chosen(ordinary), threads=threads, whole=keep_whole)
    of_numbers = [(table, each) for table, each in enumerate(averaged) if each is not None]
    of_averages = [adaptive_prior.components_of_averages(*each, blocks.upper[each[0]]) for each in of_numbers]
    p_zero, approximate = np.empty(ordinary.size), np.zeros(ordinary.size, dtype=np.bool_)
    p_zero[ordinary], approximate[ordinary] = found.p_zero, found.marks
    p_zero[~ordinary] = [each.p_zero[0] for each in of_averages]
    table = np.concatenate([np.flatnonzero(ordinary)[found.table], *(each.table for each in of_averages)])
    order = np.argsort(table, kind="stable")
    parts = (found, *of_averages)
    weight, mean, variance = (
        np.concatenate([getattr(part, name) for part in parts])[order] for name in ("weight", "mean", "variance")
    )
    return PosteriorComponents(p_zero, table[order], weight, mean, variance, approximate)


def _without_rounding(blocks: Tables, found: PosteriorComponents) -> PosteriorComponents:
    """Components of leading order; a deviation that is 0 but for rounding is 0, as for one table (`information`)."""
    least = NO_SPREAD * np.log(np.minimum(blocks.rows, blocks.columns))[found.table]
    certain = found.variance <= least * least
    if not certain.any():
        return found
    mean = np.where(certain & (found.mean <= least), 0.0, found.mean)
    return replace(found, mean=mean, variance=np.where(certain, 0.0, found.variance))


def _single(blocks: Tables, table_moments: Moments) -> PosteriorComponents:
    """No weight on independence, and one component per table, or a few if the table is split."""
    table, weight, mean, variance = table_moments.components()
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    return PosteriorComponents(np.zeros(upper.size), table, weight, np.minimum(mean, upper[table]), variance)


def pseudo_counts_of(blocks: Tables, prior: str | float) -> FloatArray:
    """The fixed pseudo-count of each table; with the adaptive prior, the one of the plug-in estimate."""
    if prior not in BY_SHAPE:
        return np.full(blocks.rows.size, _JEFFREYS if prior == ADAPTIVE else pseudo_count(prior, (2, 2)))
    shapes, place = np.unique(np.stack([blocks.rows, blocks.columns]), axis=1, return_inverse=True)
    return np.array([pseudo_count(prior, shape) for shape in zip(*shapes.tolist(), strict=True)])[place.ravel()]


def summed(components: PosteriorComponents, values: FloatArray) -> FloatArray:
    """Sum `values` over the components of each table."""
    return np.bincount(components.table, values, components.p_zero.size).astype(np.float64)


def _summary_of_draws(
    distributions: list[Distribution], at_mode: FloatArray, options: Belief, *, if_dependent: bool
) -> Summary:
    level = options.level
    intervals = np.array([distribution.interval(level) for distribution in distributions]).reshape(-1, 2)
    given_dependence = _not_computed(len(distributions))
    if if_dependent:
        given_dependence = (
            np.array([_drawn_given_dependence(distribution, level) for distribution in distributions]).reshape(-1, 3).T
        )
    return Summary(
        np.array([distribution.mean() for distribution in distributions]),
        np.array([distribution.std() for distribution in distributions]),
        intervals[:, 0],
        intervals[:, 1],
        np.array([distribution.sf(options.nats) for distribution in distributions]),
        np.array([distribution.p_zero for distribution in distributions]),
        at_mode,
        given_dependence[0],
        given_dependence[1],
        given_dependence[2],
        np.array([distribution.approximate for distribution in distributions], dtype=np.bool_),
    )


def _drawn_given_dependence(distribution: Distribution, level: float) -> tuple[float, float, float]:
    """Mean and interval without the atom at 0."""
    total = math.fsum(distribution.weights)
    if total == 0.0:
        return math.nan, math.nan, math.nan
    without_atom = Distribution.mixture(distribution.components, [weight / total for weight in distribution.weights])
    return without_atom.mean(), *without_atom.interval(level)
