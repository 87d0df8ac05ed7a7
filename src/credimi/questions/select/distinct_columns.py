"""rule="distinct" of `select`: informative columns, each of which tells what no single other tells.

In the order of I, a column is taken if it is more probably dependent on the target than not, and also given each single
column taken before: P(dependent | W) >= level, 1/2 by default. Nothing is fitted and nothing depends on the order of
the rows: what is asked of the rows are the tables of each column with the class, and in the strata of each taken
column, and these add up over parts.

**Alone** it is P(I > 0) from the prior share of dependent columns that is learned from all columns, at most one half
(see `inference.rules`): the first step is the rule informative, at `level` if that is above 1/2. And nothing is taken
unless one column is informative with a probability of .95: that there is anything to take is a claim.

**Given W** it is the evidence of dependence in the strata of W (see `inference.tables.stratified_tables`), from even
odds, and averaged with the evidence alone as far as X and W are unrelated (see `unrelated_columns`). A copy of W leaves
the strata nothing to tell: P(dependent | W) falls far below one half. Many rows tell a near copy apart from a copy.

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
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.ties import best_first, places_by_name
from credimi.counts.counter import ByValue
from credimi.inference.belief import Belief
from credimi.inference.evidence.adaptive_prior import with_odds
from credimi.inference.rules import EVEN, from_common_odds
from credimi.inference.tables.many_tables import summarize
from credimi.inference.tables.stratified_tables import StratifiedTables, independence_and_marks
from credimi.questions.select.rejections import CREDIBLE, nan_to_none
from credimi.questions.select.result import Rejection, Step
from credimi.questions.select.unrelated_columns import odds_factor

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.columns.feature import Feature
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray, Record
    from credimi.counts.counter import Counter
    from credimi.inference.tables.many_tables import Summary


@dataclass(slots=True)
class Distinct:
    """The columns in the order in which they were looked at, and what is known of them.

    `p_alone` is P(I > 0) of each column, `given` a row for each taken column: P(dependent | that column), NaN where it
    was not looked at. `odds` are the prior odds given another column. `approximate` marks the columns whose
    P(independent) may be off.
    """

    names: list[str]
    alone: Summary
    p_alone: FloatArray
    order: IntegerArray
    odds: FloatArray
    taken: list[int]
    given: list[FloatArray]
    approximate: BooleanArray
    complete: bool = True  # otherwise the user interrupted

    @property
    def p_given(self) -> FloatArray:
        """The smallest P(dependent | W) of each column over the taken ones, or P(I > 0) where that is smaller."""
        smallest: FloatArray = np.fmin.reduce([self.p_alone, *self.given])
        return smallest


def distinct(
    counter: Counter, options: Belief, most: int, progress: Callable[[float, str], None] | None = None
) -> Distinct:
    """Take the columns; an interrupt (Ctrl-C) leaves those that were taken so far."""
    report = progress or (lambda _share, _what: None)
    features, names = counter.book.features, list(counter.book.names)
    interval = Belief(epsilon=options.nats, level=CREDIBLE, threads=options.threads)
    report(0.0, f"looking at {len(names):,} columns one by one")
    alone = summarize(counter.by_target(), interval)
    p_alone = from_common_odds(1.0 - alone.p_independent, alone.p_independent)
    order = best_first(places_by_name(names), alone.mean)
    odds = odds_given(features, p_alone)
    found = Distinct(names, alone, p_alone, order, odds, [], [], alone.approximate.copy())
    candidates = p_alone >= max(options.level, EVEN)
    if not (p_alone >= max(options.level, CREDIBLE)).any():
        candidates[:] = False  # that anything is informative is a claim
    try:
        for place, column in enumerate(order.tolist()):
            if not candidates[column]:
                continue
            if len(found.taken) == most:
                break
            candidates[column] = False
            found.taken.append(column)
            report(place / len(names), f"what says the same as {names[column]}")
            found.given.append(_given(counter, column, np.flatnonzero(candidates), found, options.threads))
            candidates &= ~(found.given[-1] < options.level)
    except KeyboardInterrupt:
        if not found.taken:
            raise
        found.complete = False
        found.given += [np.full(len(names), np.nan)] * (len(found.taken) - len(found.given))
    return found


def _given(counter: Counter, taken: int, columns: IntegerArray, found: Distinct, threads: int | None) -> FloatArray:
    """P(dependent on the target | the taken column) of these columns, NaN for the others."""
    p_dependent = np.full(len(found.names), np.nan)
    if not columns.size:
        return p_dependent
    for counted in counter.by_stratum(ByValue(taken), columns):
        tables = replace(counted.tables, odds=found.odds[counted.columns])
        p_independent, marks = independence_and_marks(StratifiedTables.of(tables, counted.starts), threads)
        everyone, p_alone = np.ones(counted.columns.size, dtype=bool), found.alone.p_independent[counted.columns]
        factor = odds_factor(tables, counted.starts, everyone, (p_independent, p_alone), threads)
        p_dependent[counted.columns] = 1.0 - with_odds(p_independent, factor)
        found.approximate[counted.columns] |= marks
    return p_dependent


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
    figures = {"adds": found.alone.mean, "low": found.alone.low, "high": found.alone.high}
    return {name: float(values[column]) for name, values in figures.items()}


def _rejection(found: Distinct, column: int, p_given: float, level: float) -> Rejection:
    """Why a column was not taken: what it lacks first decides."""
    alone = found.alone
    like = None
    if found.p_alone[column] < max(level, EVEN) or (found.complete and not found.taken):
        reason = "tells nothing" if 1.0 - alone.p_above[column] >= CREDIBLE else "unsure"
    elif p_given < level:
        reason = "redundant"
        like = found.names[found.taken[int(np.nanargmin([given[column] for given in found.given]))]]
    else:
        reason = "not reached"
    return Rejection(
        found.names[column],
        reason,
        float(alone.mean[column]),
        **_alone(found, column),
        p_adds=p_given,
        like=like,
        p_redundant=_p_redundant(found, column) if reason in {"redundant", "not reached"} else (),
    )


def _p_redundant(found: Distinct, column: int) -> tuple[float | None, ...]:
    """P(independent of the target | each column taken before this one)."""
    before = found.taken.index(column) if column in found.taken else len(found.taken)
    return nan_to_none(1.0 - np.array([given[column] for given in found.given[:before]]))
