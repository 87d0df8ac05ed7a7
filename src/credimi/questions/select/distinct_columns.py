"""rule="distinct" of `select`: informative columns, but for those that surely add nothing to a single other one.

In the order of I, a column is taken unless it is more probably independent of the target than not, or surely adds
nothing to a column that was taken before: P(I(X;Y|W) <= epsilon) >= level for some taken W. It is what the rule
informative keeps, judged in the strata of each taken column by the rule backward (see `inference.rules`). With few rows
little is sure, and nearly all that is informative is taken: to predict, a column too many costs less than one too few.
With many rows copies and near copies go, and what tells hardly anything. A lower level asks for less: at 1/2, what
probably adds nothing goes, too.

Nothing is fitted, and nothing depends on the order of the rows: what is asked of the rows are the tables of each column
with the class, and in the strata of each taken column, and these add up over parts.

**Alone** it is P(I > 0), from the share of dependent columns that is learned from all columns, at most one half. And
nothing is taken unless one column is informative with a probability of .95: that there is anything to take is a claim.
For the same reason as given W, a column that surely tells at most epsilon alone is not taken.

**Given W** it is the posterior of I(X;Y|W) in the strata of W (see `inference.tables.stratified_tables`), from even
odds, and with the evidence averaged with that of X alone as far as X and W are unrelated (see `unrelated_columns`).
The strata of a copy of W have one value each: surely it adds nothing, in however few rows.

**Numbers** are cut where they tell most about the target, and have lower prior odds for that (see `adaptive_prior`).
Given W these odds would be too low: the better the cuts are known, the lower the odds, although less was gained by
choosing them. At the best position of a true cut, the likelihood exceeds that at the true position by a factor of about
e. So, with the probability that the column tells something alone, its odds given W are e^-1 for each cut, if that is
higher (`studies/conditional.py --cuts`).

**Cost.** Each taken column reads the codes of the columns that may still be taken once: at most all pairs of
informative columns, whatever the number of columns of noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.ties import best_first, places_by_name
from credimi.counts.counter import ByValue
from credimi.inference.evidence.adaptive_prior import with_odds
from credimi.inference.rules import CREDIBLE, backward, from_common_odds, informative
from credimi.inference.tables.stratified_tables import StratifiedTables, independence_and_marks, p_above
from credimi.questions.select.result import Rejection, Step
from credimi.questions.select.unrelated_columns import odds_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.columns.feature import Feature
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray, Record
    from credimi.counts.counter import Counter
    from credimi.inference.belief import Belief
    from credimi.inference.tables.many_tables import Summary


@dataclass(slots=True)
class Distinct:
    """What is known of the columns, and which were taken.

    `p_alone` is P(I > epsilon) of each column. `given` has a row for each taken one: P(I(X;Y|this one) > epsilon), or
    more where that is surely not so, and NaN where it was not looked at. `order` is the one in which they are looked
    at, `odds` are their prior odds given another column, and `eligible` says which may be taken. `approximate` marks
    those whose P(independent) may be off.
    """

    names: list[str]
    alone: Summary
    p_alone: FloatArray
    order: IntegerArray
    odds: FloatArray
    eligible: BooleanArray
    approximate: BooleanArray
    taken: list[int] = field(default_factory=list)
    given: list[FloatArray] = field(default_factory=list)
    complete: bool = True  # otherwise the user interrupted

    @property
    def p_given(self) -> FloatArray:
        """The smallest P(adds more than epsilon) of each column, alone and to each taken one."""
        smallest: FloatArray = np.fmin.reduce([self.p_alone, *self.given])
        return smallest


def distinct(
    counter: Counter,
    alone: Summary,
    options: Belief,
    most: int,
    progress: Callable[[float, str], None] | None = None,
) -> Distinct:
    """Take the columns, given what each tells alone; an interrupt (Ctrl-C) leaves those that were taken so far."""
    report = progress or (lambda _share, _what: None)
    features, names = counter.book.features, list(counter.book.names)
    p_informative = from_common_odds(1.0 - alone.p_independent, alone.p_independent)
    p_alone = from_common_odds(alone.p_above, alone.p_independent)
    order = best_first(places_by_name(names), alone.mean)
    odds = odds_given(features, p_informative)
    eligible = informative(alone.p_independent) & backward(p_alone, options.level)
    eligible &= (p_informative >= CREDIBLE).any()  # that anything is informative is a claim
    found = Distinct(names, alone, p_alone, order, odds, eligible, alone.approximate.copy())
    candidates = eligible.copy()
    try:
        for place, column in enumerate(order.tolist()):
            if not candidates[column]:
                continue
            if len(found.taken) == most:
                break
            candidates[column] = False
            found.taken.append(column)
            report(place / len(names), f"what says the same as {names[column]}")
            found.given.append(_given(counter, column, np.flatnonzero(candidates), found, options))
            candidates &= backward(found.given[-1], options.level)
    except KeyboardInterrupt:
        if not found.taken:
            raise
        found.complete = False
        found.given += [np.full(len(names), np.nan)] * (len(found.taken) - len(found.given))
    return found


def _given(counter: Counter, taken: int, columns: IntegerArray, found: Distinct, options: Belief) -> FloatArray:
    """P(I(X;Y|taken column) > epsilon) of these columns, NaN for the others."""
    p_adds = np.full(len(found.names), np.nan)
    if not columns.size:
        return p_adds
    for counted in counter.by_stratum(ByValue(taken), columns):
        tables = replace(counted.tables, odds=found.odds[counted.columns])
        strata = StratifiedTables.of(tables, counted.starts)
        p_independent, marks = independence_and_marks(strata, options.threads)
        everyone, p_alone = np.ones(counted.columns.size, dtype=bool), found.alone.p_independent[counted.columns]
        factor = odds_factor(tables, counted.starts, everyone, (p_independent, p_alone), options.threads)
        p_adds[counted.columns] = p_dependent = 1.0 - with_odds(p_independent, factor)
        in_doubt = backward(p_dependent, options.level)  # the others surely add nothing at all: they need no moments
        if in_doubt.any():
            p_adds[counted.columns[in_doubt]] = p_above(strata.with_odds(factor).chosen(in_doubt), options)
        found.approximate[counted.columns] |= marks
    return p_adds


def odds_given(features: tuple[Feature, ...], p_tells: FloatArray) -> FloatArray:
    """The prior odds of the columns given another column; see the docstring of the module."""
    odds = np.array([feature.odds for feature in features], dtype=np.float64)
    min_odds = np.array([math.exp(1 - len(feature.values)) for feature in features])
    changed: FloatArray = np.where((odds < 1.0) & (odds < min_odds), odds + p_tells * (min_odds - odds), odds)
    return changed


def steps_and_rejections(found: Distinct, level: float, least: int) -> tuple[list[Step], list[Rejection]]:
    """The columns taken, the most probable others until there are `least`, and why the rest was not taken."""
    p_given = found.p_given
    others = [column for column in found.order.tolist() if column not in set(found.taken)]
    by_probability = sorted(others, key=lambda column: -p_given[column])  # equal ones as they are, by their I
    forced = by_probability[: max(least - len(found.taken), 0)]
    steps = [_step(found, column, float(p_given[column]), forced=False) for column in found.taken]
    steps += [_step(found, column, float(p_given[column]), forced=True) for column in forced]
    rejected = [
        _rejection(found, column, float(p_given[column]), level) for column in others if column not in set(forced)
    ]
    return steps, rejected


def _step(found: Distinct, column: int, p_given: float, *, forced: bool) -> Step:
    return Step(
        found.names[column],
        **_alone(found, column),
        p_adds=p_given,
        p_redundant=_p_redundant(found, column),
        forced=forced,
    )


def _alone(found: Distinct, column: int) -> Record:
    figures = {"mi": found.alone.mean, "low": found.alone.low, "high": found.alone.high}
    return {name: float(values[column]) for name, values in figures.items()}


def _rejection(found: Distinct, column: int, p_given: float, level: float) -> Rejection:
    """Why a column was not taken: what it lacks first decides."""
    alone = found.alone
    like = None
    if not found.eligible[column]:
        reason = "tells nothing" if 1.0 - alone.p_above[column] >= CREDIBLE else "unsure"
    elif any(1.0 - given[column] >= level for given in found.given):
        reason = "redundant"
        like = found.names[found.taken[int(np.nanargmin([given[column] for given in found.given]))]]
    else:
        reason = "not reached"
    return Rejection(
        found.names[column],
        reason,
        **_alone(found, column),
        p_adds=p_given,
        like=like,
        p_redundant=_p_redundant(found, column) if reason in {"redundant", "not reached"} else (),
    )


def _p_redundant(found: Distinct, column: int) -> tuple[float | None, ...]:
    """P(independent of the target | each column taken before this one)."""
    before = found.taken.index(column) if column in found.taken else len(found.taken)
    p_redundant = [1.0 - float(given[column]) for given in found.given[:before]]
    return tuple(None if math.isnan(each) else each for each in p_redundant)
