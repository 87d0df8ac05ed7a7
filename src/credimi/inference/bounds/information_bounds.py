"""`information_bounds`: the least and the largest mutual information if values are missing not quite at random.

**The factor.** Within a class, the odds of being missing may differ between two values of the feature by at most a
factor G; if the target is missing, the same holds with the sides exchanged. G = 1 is missing at random, G = infinity is
no assumption at all. Each G allows a set of mechanisms, each mechanism gives an I, and
`least_information` and `largest_information` find the ends of the range of these I. If
both sides have missing values, one G bounds both, and "the odds that the value is missing" are those against all other
rows: with n rows of a cell complete, f without value, t without class and z without both, (f + z)/(n + t) within a
class and (t + z)/(n + f) within a value (`extremes`, `inference.bounds.both_missing`).

**Whose information.** If the number of rows that lack both is not known, z = 0, and the bounds are those of I among the
counted rows. If it is known, they are those of I among all rows. Then no factor, not even one close to 1, tells where
these rows belong, so the range does not shrink to the point at random as G falls to 1. At G = 1 itself, values are
missing at random, rows that lack both among them.

**The posterior of the bounds.** Data never tell which mechanism it was. They tell about what can be observed, and the
bounds are functions of that; their posteriors are computed from draws (`observed_draws` has the draws, and how they are
coupled with the posterior of I that `mutual_information` returns). The range of each draw grows with G: the least I
falls with G, the largest rises, and at G = 1 both have the posterior of `mutual_information`. P(least I > epsilon) is
the probability that I exceeds epsilon for every mechanism within the factor.

**Atoms.** The least I is 0 if the centre is independent, and if some mechanism makes target and feature independent:
P(least = 0) is at least P(I = 0), and may become 1. The largest I has no atom if anything is missing.

The draws scatter around what was observed. If independence is just at the edge of what a factor allows, nearly all
draws miss it by a little, and their least I is positive, though hardly more than chance. So the lower end of a band is
0 unless it exceeds (r - 1)(s - 1)/2n, the information that independent columns show in n complete rows on average.

**The tipping factor** of a decision that has probability p >= level at G = 1 is the G at which its probability falls
to the level. As G grows, each draw that supports the decision stops supporting it at some G: it falls. The draws that
support it at G = 1 have a total weight of p, so the tipping factor is the G at which a weight of p - level has fallen.
It is found by bisection. Each step only uses draws that fall between the ends, and computes only whether they fall.

A table of 2 x 5 takes about 10 us per draw, and there are 256 draws (512 with an atom).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_number
from credimi.core.errors import CredimiError
from credimi.core.keywords import suggesting
from credimi.core.table import LARGEST, SMALLEST, Table
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.inference.belief import ADAPTIVE, Belief
from credimi.inference.bounds.extremes import largest_of, least_of, starts_of
from credimi.inference.bounds.observed_draws import Observed, ObservedDraws, observed
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.evidence.fixed_priors import pseudo_count, require_proper
from credimi.inference.mutual_information import mutual_information

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

    HasFallen = Callable[[IntegerArray, float], BooleanArray]

_NEGLIGIBLE_INFORMATION = 1e-9  # nats; less than this is rounding
_ROUNDING = 1e-12
_TIPPING_PRECISION = 1.004  # bisection stops when the ratio of its ends is smaller
_MAX_TIPPING = 1e9  # larger factors are as good as infinite


@suggesting
def information_bounds(
    joint: ArrayLike | Table,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    *,
    neither: float | None = None,
    robust_factor: float = 2.0,
    prior: str | float = "adaptive",
) -> tuple[Distribution, Distribution]:
    """Posteriors of the least and of the largest mutual information (nats) if values are missing not quite at random.

    Parameters
    ----------
    joint
        r x s counts with both seen: one row per target class, one column per feature value. Weights are allowed.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.
    neither
        The number of data rows in which both are missing. Given, the bounds are those of I among all rows, these
        included; not given, of I among the rows that are counted. The two are the same if no row lacks both.
    robust_factor
        How much the odds of being missing may differ between the values of the feature within a class, and between the
        classes within a value: 1 is missing at random, `math.inf` is anything.
    prior
        As in `mutual_information`.

    Returns
    -------
    least, largest : Distribution
        Of the least I and the largest I over all ways in which values can be missing within the factor. With factor 1,
        or with nothing missing, both are what `mutual_information` returns.

    Examples
    --------
    >>> least, largest = credimi.information_bounds([[90, 20], [30, 80]], target_only=[30, 25], robust_factor=2)
    >>> round(least.mean(), 3), round(largest.mean(), 3)
    (0.12, 0.174)
    """
    factor = checked_factor(robust_factor)
    table = Table.of(joint, target_only, feature_only)
    block = table.block()
    block[-1, -1] = checked_neither(neither)
    at_random = mutual_information(table, prior=prior)
    if factor == 1.0 or min(table.shape) == 1 or not misses(Tables.of([block])).any():
        return at_random, at_random
    if prior != ADAPTIVE:
        require_proper(table, pseudo_count(prior, table.shape))
    drawn = observed(Tables.of([block]), Belief(prior=prior, threads=1))[0]
    return least_posterior(drawn, factor), largest_posterior(drawn, factor)


def checked_factor(factor: object) -> float:
    """Return the factor as a float; a factor below 1 is an error."""
    number = require_number("robust_factor", factor)
    if not number >= 1.0:
        raise CredimiError(
            f"robust_factor is {factor}: it must be 1 or more; 1 is missing at random, 2 lets the odds of being "
            "missing differ twofold, and infinity is anything"
        )
    return number


def checked_neither(neither: object) -> float:
    """Return the number of rows that lack both, 0 if it is not given; it is a count like others."""
    if neither is None:
        return 0.0
    number = require_number("neither", neither)
    if not (number == 0.0 or SMALLEST <= number <= LARGEST):
        raise CredimiError(
            f"neither is {neither}: it is the number of rows that lack both, from 0 up, at most {LARGEST:g}; "
            "leave it out if it is not known"
        )
    return number


def least_posterior(drawn: Observed, factor: float) -> Distribution:
    """The posterior of the least I."""
    values, weight = least_values(drawn, factor)
    positive = values > 0.0
    mass = float(weight[positive].sum())
    if not positive.any():
        return Distribution.point(0.0)
    return Distribution.mixture([Distribution.empirical(values[positive], drawn.upper)], [mass], 1.0 - mass)


def largest_posterior(drawn: Observed, factor: float) -> Distribution:
    """The posterior of the largest I."""
    parts = [part for part in (drawn.dependent, drawn.independent) if part.mass > 0.0]
    total = math.fsum(part.mass for part in parts)
    distributions = [Distribution.empirical(_largest(part, factor, drawn.upper), drawn.upper) for part in parts]
    return Distribution.mixture(distributions, [part.mass / total for part in parts])


def _least(drawn: ObservedDraws, factor: float) -> FloatArray:
    """The least I of each draw, coupled with the posterior of I."""
    if not drawn.size:
        return np.zeros(0)
    least_of_draw = least_of(drawn, factor, starts_of(drawn, factor, upward=False))
    share_left = np.divide(
        least_of_draw,
        drawn.centre_information,
        out=np.ones_like(least_of_draw),
        where=drawn.centre_information > least_of_draw,
    )
    share_left[least_of_draw <= _NEGLIGIBLE_INFORMATION] = 0.0
    return np.maximum(drawn.information, 0.0) * share_left


def _largest(drawn: ObservedDraws, factor: float, upper: float) -> FloatArray:
    """The largest I of each draw, coupled with the posterior of I."""
    starts = starts_of(drawn, factor, upward=True)
    largest_of_draw = np.maximum(largest_of(drawn, factor, starts), drawn.centre_information)
    return np.clip(drawn.information + largest_of_draw - drawn.centre_information, 0.0, upper)


def least_values(drawn: Observed, factor: float) -> tuple[FloatArray, FloatArray]:
    """The least I of all draws, and their weights; the atom is one more draw."""
    values, mass = _least(drawn.dependent, factor), drawn.dependent.mass
    values = np.where(values > _NEGLIGIBLE_INFORMATION, values, 0.0)
    return np.append(values, 0.0), np.append(np.full(values.size, mass / max(values.size, 1)), 1.0 - mass)


def largest_values(drawn: Observed, factor: float) -> tuple[FloatArray, FloatArray]:
    """The largest I of all draws, and their weights."""
    parts = [part for part in (drawn.dependent, drawn.independent) if part.mass > 0.0]
    values = np.concatenate([_largest(part, factor, drawn.upper) for part in parts])
    return values, np.concatenate([np.full(part.size, part.mass / part.size) for part in parts])


def _quantile(values: FloatArray, weight: FloatArray, probability: float) -> float:
    """The smallest value such that this probability is at or below it, as in `Distribution`."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order])
    index = int(np.searchsorted(mass, probability * mass[-1] - _ROUNDING))
    return float(values[order[min(index, values.size - 1)]])


def keep_tipping_factor(drawn: Observed, p_above: float, epsilon: float, level: float) -> float:
    """The largest factor at which P(I > epsilon) >= level; `p_above` is P(I > epsilon) at factor 1."""
    return _tipping_factor(*_draws_above(drawn, epsilon), p_above, level)


def keep_stands(drawn: Observed, p_above: float, epsilon: float, level: float, factor: float) -> bool:
    """Whether P(I > epsilon) >= level at this factor."""
    weight, has_fallen = _draws_above(drawn, epsilon)
    if not (p_above >= level and weight.size):
        return p_above >= level and factor == 1.0
    share_fallen = float(np.mean(has_fallen(np.arange(weight.size), factor)))
    return (1.0 - share_fallen) * p_above >= level


def _draws_above(drawn: Observed, epsilon: float) -> tuple[FloatArray, HasFallen]:
    """The weights of the draws with I > epsilon, and a function that tells which of them have fallen at a factor."""
    above = drawn.dependent.of(drawn.dependent.information > epsilon)
    limit = np.maximum(epsilon * above.centre_information / above.information, _NEGLIGIBLE_INFORMATION)

    @cache
    def starts_near(doublings: float) -> NDArray[np.generic]:
        return starts_of(above, 2.0**doublings, upward=False)

    def has_fallen(chosen: IntegerArray, factor: float) -> BooleanArray:
        starts = starts_near(_doublings(factor))
        fallen: BooleanArray = least_of(above.of(chosen), factor, starts, limit[chosen]) <= limit[chosen]
        return fallen

    return np.ones(limit.size), has_fallen


def drop_tipping_factor(drawn: Observed, p_above: float, epsilon: float, level: float) -> float:
    """The largest factor at which P(I <= epsilon) >= level."""
    parts = [part.of(part.information <= epsilon) for part in (drawn.dependent, drawn.independent)]
    parts = [part for part in parts if part.mass > 0.0]
    sizes = [part.size for part in parts]
    weight = np.concatenate([np.full(size, part.mass / size) for part, size in zip(parts, sizes, strict=True)])
    limit = np.concatenate([epsilon + part.centre_information - part.information for part in parts])
    limit = np.maximum(limit, 0.0) + _NEGLIGIBLE_INFORMATION
    ends = np.cumsum([0, *sizes])

    @cache
    def starts_near(doublings: float) -> list[NDArray[np.generic]]:
        return [starts_of(part, 2.0**doublings, upward=True) for part in parts]

    def has_fallen(chosen: IntegerArray, factor: float) -> BooleanArray:
        largest_of_draw = np.empty(chosen.size)
        all_starts = starts_near(_doublings(factor))
        for part, starts, first, last in zip(parts, all_starts, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            in_part = (chosen >= first) & (chosen < last)
            if in_part.any():
                largest_of_draw[in_part] = largest_of(
                    part.of(chosen[in_part] - first), factor, starts, limit[chosen[in_part]]
                )
        fallen: BooleanArray = largest_of_draw > limit[chosen]
        return fallen

    return _tipping_factor(weight, has_fallen, 1.0 - p_above, level)


def _doublings(factor: float) -> float:
    """The next power of 2, for which the search finds its starts."""
    return math.ceil(math.log2(factor)) if factor < _MAX_TIPPING else math.inf


def _tipping_factor(weight: FloatArray, has_fallen: HasFallen, p: float, level: float) -> float:
    """The factor at which the probability `p` has fallen to `level`.

    `weight` has an entry for each draw that supports the decision at factor 1.
    """
    if not p >= level:
        return 1.0
    all_draws = np.arange(weight.size)
    total = float(weight.sum())
    allowed_weight = (p - level) / p * total

    if not weight.size:
        return 1.0
    candidates = all_draws[has_fallen(all_draws, math.inf)]
    if weight[candidates].sum() <= allowed_weight:
        return math.inf
    low, high, fallen_low = 1.0, 2.0, 0.0  # `fallen_low` is the weight that has fallen at `low`
    while True:
        fallen = has_fallen(candidates, high)
        fallen_high = fallen_low + float(weight[candidates[fallen]].sum())
        if fallen_high > allowed_weight:
            break
        if high >= _MAX_TIPPING:
            return _MAX_TIPPING
        candidates = candidates[~fallen]
        low, high, fallen_low = high, min(high * high, _MAX_TIPPING), fallen_high
    candidates = candidates[fallen]
    while high > _TIPPING_PRECISION * low:
        middle = math.sqrt(low * high)
        fallen = has_fallen(candidates, middle)
        fallen_middle = fallen_low + float(weight[candidates[fallen]].sum())
        if fallen_middle > allowed_weight:
            high, candidates, fallen_high = middle, candidates[fallen], fallen_middle
        else:
            low, candidates, fallen_low = middle, candidates[~fallen], fallen_middle
    return low + (high - low) * (allowed_weight - fallen_low) / (fallen_high - fallen_low)


@dataclass(frozen=True, slots=True, eq=False)
class Robust:
    """Bounds at a factor and the tipping factor of the decision, one entry per table; 1 if there is no decision."""

    low: FloatArray
    high: FloatArray
    tipping: FloatArray


def robust(
    blocks: Tables,
    p_above: FloatArray,
    at_random: tuple[FloatArray, FloatArray],
    factor: float,
    options: Belief,
) -> Robust:
    """Bounds and tipping factors of many tables; `at_random` are the ends of the intervals if missing at random."""
    low, high = at_random[0].copy(), at_random[1].copy()
    keeps, drops = p_above >= options.level, 1.0 - p_above >= options.level
    tipping = np.where(keeps | drops, math.inf, 1.0)
    incomplete = misses(blocks)
    table_indices = np.flatnonzero(incomplete)
    drawn = observed(blocks.chosen(incomplete), options)
    tail = 0.5 * (1.0 - options.level)

    def work(number: int) -> None:
        table, table_draws = table_indices[number], drawn[number]
        if factor > 1.0:
            least_end = _quantile(*least_values(table_draws, factor), tail)
            low[table] = min(low[table], least_end if least_end > _information_by_chance(blocks.block(table)) else 0.0)
            high[table] = max(high[table], _quantile(*largest_values(table_draws, factor), 1.0 - tail))
        arguments = float(p_above[table]), options.nats, options.level
        if keeps[table]:
            tipping[table] = keep_tipping_factor(table_draws, *arguments)
        elif drops[table]:
            tipping[table] = drop_tipping_factor(table_draws, *arguments)

    share(work, range(table_indices.size), options.threads)
    return Robust(low, high, tipping)


def standing(blocks: Tables, p_above: FloatArray, factor: float, options: Belief) -> BooleanArray:
    """For which tables P(I > epsilon) >= level at the factor; `p_above` is P(I > epsilon) at factor 1."""
    stands = p_above >= options.level
    if factor == 1.0:
        return stands
    undecided = stands & misses(blocks)
    table_indices, drawn = np.flatnonzero(undecided), observed(blocks.chosen(undecided), options)

    def work(number: int) -> None:
        table = table_indices[number]
        arguments = float(p_above[table]), options.nats, options.level
        stands[table] = keep_stands(drawn[number], *arguments, factor)

    share(work, range(table_indices.size), options.threads)
    return stands


def _information_by_chance(block: NDArray[np.number]) -> float:
    """The information that independent columns show on average in as many complete rows."""
    r, s = block.shape[0] - 1, block.shape[1] - 1
    return float((r - 1) * (s - 1) / (2.0 * max(block[:-1, :-1].sum(), 1.0)))


def misses(blocks: Tables) -> BooleanArray:
    """Which tables have rows in which the feature, or the target, is missing."""
    all_blocks = (blocks.block(index) for index in range(blocks.rows.size))
    return np.array([block[:, -1].any() or block[-1].any() for block in all_blocks], dtype=bool)
