"""`information_bounds`: the least and the largest mutual information if values are missing not quite at random.

**The factor.** Within a class, let the odds of being missing differ between two values of the feature by a factor G at
most; if the target is missing, the same with the sides exchanged. G = 1 is missing at random, G = infinity is no
assumption at all. Each G allows for a set of mechanisms, each mechanism gives an I, and
`kernels.bounds.least_information` and `kernels.bounds.largest_information` find the ends of the range of these I. If
both sides have missing values, how often each is missing is compared with what "at random" says of them, and one G
bounds both. A row without class and value has no place in the tables, here as everywhere.

**The posterior of the bounds.** Data never tell which mechanism it was; they tell what can be observed, and the bounds
are functions of that. Their posteriors are those functions' (`observed_draws` has the draws, and how they are coupled
with the law of I that `mutual_information` gives). Each draw's range grows with G, so the least I falls with G, the
largest rises, and at G = 1 both are today's answer. P(least I > epsilon) is the probability that I exceeds epsilon
whatever the mechanism was, within the factor.

**Atoms.** The least I is 0 where the centre is independent, and wherever some mechanism makes target and feature
independent: P(least = 0) is at least P(I = 0), and may become 1. The largest I has no atom if anything is missing.

The draws scatter around what was observed. If independence lies at the edge of what a factor allows for, nearly all
draws miss it by a little, and their least I is positive, though hardly more than chance. So the lower end of a band is
0 unless it exceeds (r - 1)(s - 1)/2n, what independent columns show in n complete rows.

**The tipping factor** of a decision that has probability p >= level at G = 1 is the G at which its probability falls
to the level. Each draw falls at a G of its own, and those that stand at G = 1 weigh p together, so what is sought is
the G at which a mass of p - level has fallen. It is bisected; in each step only the draws are looked at that fall
between the ends, and only until it is clear whether they do.

A table of 2 x 5 takes some 10 us a draw, and there are 256 (512 with an atom).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_number
from credimi.core.errors import CredimiError
from credimi.core.table import Table
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.inference.bounds.observed_draws import Draws, Observed, observed
from credimi.inference.distributions.distribution import Distribution
from credimi.inference.fixed_priors import ADAPTIVE, pseudo_count
from credimi.inference.mutual_information import mutual_information
from credimi.inference.options import PosteriorOptions
from credimi.inference.posterior import require_proper
from credimi.kernels.bounds.largest_information import largest
from credimi.kernels.bounds.least_information import least

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

    Falls = Callable[[IntegerArray, float], BooleanArray]

_NOTHING = 1e-9  # nats that are 0 but for rounding
_STARTS = 20  # patterns to start the search for the largest I with, at the mean of the draws
_ROUNDING = 1e-12
_PRECISE = 1.004  # the ends of a tipping factor, one over the other
_MOST = 1e9  # beyond it a factor is as good as infinite


def information_bounds(
    joint: ArrayLike | Table,
    *,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    factor: float = 2.0,
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
    factor
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
    >>> least, largest = credimi.information_bounds([[90, 20], [30, 80]], target_only=[30, 25], factor=2)
    >>> round(least.mean(), 3), round(largest.mean(), 3)
    (0.12, 0.174)
    """
    factor = checked_factor(factor)
    table = Table.of(joint, target_only, feature_only)
    plain = mutual_information(table, prior=prior)
    if factor == 1.0 or min(table.shape) == 1 or not (table.misses_feature or table.misses_target):
        return plain, plain
    if prior != ADAPTIVE:
        require_proper(table, pseudo_count(prior, table.shape))
    drawn = observed(Tables.of([table.block()]), PosteriorOptions(prior=prior, threads=1))[0]
    return least_law(drawn, factor), largest_law(drawn, factor)


def checked_factor(factor: object, name: str = "factor") -> float:
    """The factor, if it can be one."""
    number = require_number(name, factor)
    if not number >= 1.0:
        raise CredimiError(
            f"{name} is {factor}: it must be 1 or more; 1 is missing at random, 2 lets the odds of being missing "
            "differ twofold, and infinity is anything"
        )
    return number


def least_law(drawn: Observed, factor: float) -> Distribution:
    """The posterior of the least I."""
    values, weight = least_values(drawn, factor)
    positive = values > 0.0
    mass = float(weight[positive].sum())
    if not positive.any():
        return Distribution.point(0.0)
    return Distribution.mixture([Distribution.empirical(values[positive], drawn.upper)], [mass], 1.0 - mass)


def largest_law(drawn: Observed, factor: float) -> Distribution:
    """The posterior of the largest I."""
    parts = [part for part in (drawn.dependent, drawn.independent) if part.mass > 0.0]
    total = math.fsum(part.mass for part in parts)
    laws = [Distribution.empirical(_largest(part, factor, drawn.upper), drawn.upper) for part in parts]
    return Distribution.mixture(laws, [part.mass / total for part in parts])


def _least(drawn: Draws, factor: float) -> FloatArray:
    """The least I of each draw, coupled."""
    found = np.empty(drawn.own.size)
    least(*drawn.probabilities, factor, np.full(found.size, np.nan), found)
    share_left = np.divide(found, drawn.own, out=np.ones_like(found), where=drawn.own > found)
    share_left[found <= _NOTHING] = 0.0
    return np.maximum(drawn.information, 0.0) * share_left


def _largest(drawn: Draws, factor: float, upper: float) -> FloatArray:
    """The largest I of each draw, coupled."""
    found = np.maximum(_uncoupled_largest(drawn, factor, _patterns(drawn, factor)), drawn.own)
    return np.clip(drawn.information + found - drawn.own, 0.0, upper)


def _patterns(drawn: Draws, factor: float) -> NDArray[np.uint8]:
    """Patterns with which the search for the largest I starts: the best for the mean of the draws, and its opposite."""
    seen, row_only, column_only, centre = (each.mean(axis=0, keepdims=True) for each in drawn.probabilities)
    r, s = drawn.seen.shape[1:]
    starts = np.random.default_rng(20).integers(0, 2, (_STARTS, 2 * r, s)).astype(np.uint8)
    best = np.zeros((1, 2 * r, s), dtype=np.uint8)
    largest(seen, row_only, column_only, centre, factor, np.full(1, np.nan), starts, np.empty(1), best)
    return np.concatenate([best, 1 - best])


def _uncoupled_largest(
    drawn: Draws, factor: float, starts: NDArray[np.uint8], limit: FloatArray | None = None
) -> FloatArray:
    """The largest I of each draw; with a limit only whether it is larger."""
    found = np.empty(drawn.own.size)
    best = np.empty((drawn.own.size, *starts.shape[1:]), dtype=np.uint8)
    limit = np.full(found.size, np.nan) if limit is None else limit
    largest(*drawn.probabilities, factor, limit, starts, found, best)
    return found


def least_values(drawn: Observed, factor: float) -> tuple[FloatArray, FloatArray]:
    """The least I of all draws, and their weights; the atom is a draw of its own."""
    values, mass = _least(drawn.dependent, factor), drawn.dependent.mass
    values = np.where(values > _NOTHING, values, 0.0)
    return np.append(values, 0.0), np.append(np.full(values.size, mass / max(values.size, 1)), 1.0 - mass)


def largest_values(drawn: Observed, factor: float) -> tuple[FloatArray, FloatArray]:
    """The largest I of all draws, and their weights."""
    parts = [part for part in (drawn.dependent, drawn.independent) if part.mass > 0.0]
    values = np.concatenate([_largest(part, factor, drawn.upper) for part in parts])
    return values, np.concatenate([np.full(part.own.size, part.mass / part.own.size) for part in parts])


def _quantile(values: FloatArray, weight: FloatArray, below: float) -> float:
    """The least value with so much mass at it or below it, as a distribution has it."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order])
    place = int(np.searchsorted(mass, below * mass[-1] - _ROUNDING))
    return float(values[order[min(place, values.size - 1)]])


def keep_tips(drawn: Observed, p_above: float, epsilon: float, level: float) -> float:
    """The largest factor at which P(I > epsilon) >= level; `p_above` is P(I > epsilon) at 1."""
    return _tips(*_kept(drawn, epsilon), p_above, level)


def keep_stands(drawn: Observed, p_above: float, epsilon: float, level: float, factor: float) -> bool:
    """Whether P(I > epsilon) >= level at this factor."""
    weight, falls = _kept(drawn, epsilon)
    if not (p_above >= level and weight.size):
        return p_above >= level and factor == 1.0
    share_fallen = float(np.mean(falls(np.arange(weight.size), factor)))
    return (1.0 - share_fallen) * p_above >= level


def _kept(drawn: Observed, epsilon: float) -> tuple[FloatArray, Falls]:
    """The weights of the draws with I > epsilon, and what says which of them are no longer so at a factor."""
    standing = drawn.dependent.of(drawn.dependent.information > epsilon)
    limit = np.maximum(epsilon * standing.own / standing.information, _NOTHING)

    def falls(some: IntegerArray, factor: float) -> BooleanArray:
        found = np.empty(some.size)
        least(*standing.of(some).probabilities, factor, limit[some], found)
        return found <= limit[some]

    return np.ones(limit.size), falls


def drop_tips(drawn: Observed, p_above: float, epsilon: float, level: float) -> float:
    """The largest factor at which P(I <= epsilon) >= level."""
    parts = [part.of(part.information <= epsilon) for part in (drawn.dependent, drawn.independent)]
    parts = [part for part in parts if part.mass > 0.0]
    sizes = [part.own.size for part in parts]
    weight = np.concatenate([np.full(size, part.mass / size) for part, size in zip(parts, sizes, strict=True)])
    limit = np.concatenate([epsilon + part.own - part.information for part in parts])
    limit = np.maximum(limit, 0.0) + _NOTHING
    ends = np.cumsum([0, *sizes])

    @cache
    def patterns_near(doublings: float) -> list[NDArray[np.uint8]]:
        return [_patterns(part, 2.0**doublings) for part in parts]

    def falls(some: IntegerArray, factor: float) -> BooleanArray:
        found = np.empty(some.size)
        starts = patterns_near(math.ceil(math.log2(factor)) if factor < math.inf else math.inf)
        for part, patterns, first, last in zip(parts, starts, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            own = (some >= first) & (some < last)
            if own.any():
                found[own] = _uncoupled_largest(part.of(some[own] - first), factor, patterns, limit[some[own]])
        fallen: BooleanArray = found > limit[some]
        return fallen

    return _tips(weight, falls, 1.0 - p_above, level)


def _tips(weight: FloatArray, falls: Falls, p: float, level: float) -> float:
    """The factor at which `p` has fallen to `level`; `weight` is that of each draw that stands at factor 1."""
    if not p >= level:
        return 1.0
    everything = np.arange(weight.size)
    total = float(weight.sum())
    allowed = (p - level) / p * total  # of the weight

    if not weight.size:
        return 1.0
    candidates = everything[falls(everything, math.inf)]
    if weight[candidates].sum() <= allowed:
        return math.inf
    low, high, down = 1.0, 2.0, 0.0  # `down` has fallen at `low`
    while True:
        fallen = falls(candidates, high)
        up = down + float(weight[candidates[fallen]].sum())
        if up > allowed:
            break
        if high >= _MOST:
            return _MOST
        candidates = candidates[~fallen]
        low, high, down = high, min(high * high, _MOST), up
    candidates = candidates[fallen]
    while high > _PRECISE * low:
        middle = math.sqrt(low * high)
        fallen = falls(candidates, middle)
        mass = down + float(weight[candidates[fallen]].sum())
        if mass > allowed:
            high, candidates, up = middle, candidates[fallen], mass
        else:
            low, candidates, down = middle, candidates[~fallen], mass
    return low + (high - low) * (allowed - down) / (up - down)


@dataclass(frozen=True, slots=True, eq=False)
class Robust:
    """Bounds at a factor, one entry per table, and the tipping factor of the decision; 1 where there is none."""

    low: FloatArray
    high: FloatArray
    tipping: FloatArray


def robust(
    blocks: Tables, p_above: FloatArray, plain: tuple[FloatArray, FloatArray], factor: float, options: PosteriorOptions
) -> Robust:
    """Bounds and tipping factors of many tables; `plain` are the ends of the intervals if missing at random."""
    low, high = plain[0].copy(), plain[1].copy()
    keeps, drops = p_above >= options.level, 1.0 - p_above >= options.level
    tipping = np.where(keeps | drops, math.inf, 1.0)
    incomplete = misses(blocks)
    places = np.flatnonzero(incomplete)
    drawn = observed(blocks.chosen(incomplete), options)
    tail = 0.5 * (1.0 - options.level)

    def work(number: int) -> None:
        place, own = places[number], drawn[number]
        if factor > 1.0:
            least_end = _quantile(*least_values(own, factor), tail)
            low[place] = min(low[place], least_end if least_end > _by_chance(blocks.block(place)) else 0.0)
            high[place] = max(high[place], _quantile(*largest_values(own, factor), 1.0 - tail))
        arguments = float(p_above[place]), options.epsilon, options.level
        if keeps[place]:
            tipping[place] = keep_tips(own, *arguments)
        elif drops[place]:
            tipping[place] = drop_tips(own, *arguments)

    share(work, range(places.size), options.threads)
    return Robust(low, high, tipping)


def standing(blocks: Tables, p_above: FloatArray, factor: float, options: PosteriorOptions) -> BooleanArray:
    """Of which tables P(I > epsilon) >= level at the factor; `p_above` is P(I > epsilon) at 1."""
    stands = p_above >= options.level
    if factor == 1.0:
        return stands
    asked = stands & misses(blocks)
    places, drawn = np.flatnonzero(asked), observed(blocks.chosen(asked), options)

    def work(number: int) -> None:
        place = places[number]
        arguments = float(p_above[place]), options.epsilon, options.level
        stands[place] = keep_stands(drawn[number], *arguments, factor)

    share(work, range(places.size), options.threads)
    return stands


def _by_chance(block: NDArray[np.number]) -> float:
    """The information that independent columns show in so many rows, on average."""
    r, s = block.shape[0] - 1, block.shape[1] - 1
    return float((r - 1) * (s - 1) / (2.0 * max(block[:-1, :-1].sum(), 1.0)))


def misses(blocks: Tables) -> BooleanArray:
    """Which tables have rows without the feature, or without the target."""
    each = (blocks.block(index) for index in range(blocks.rows.size))
    return np.array([block[:-1, -1].any() or block[-1, :-1].any() for block in each], dtype=bool)
