"""The smallest set of columns that tells all there is to tell: a forward search that ends when no column credibly adds.

The first column has to tell more than epsilon about the target with a probability of `CREDIBLE` = 0.95: that any
column tells anything is a claim. What a further column X adds is computed given each taken column W, I(X;Y|W), and
given all taken columns together, I(X;Y|Z). Z is a partition of the rows by all taken columns.

1. X may be taken if it adds more than epsilon to *each* taken column with a probability of at least `level`, unless it
   credibly adds nothing to all of them together, P(I(X;Y|Z) <= epsilon) >= `CREDIBLE`. Among these columns the one is
   taken that adds most on average over the taken ones; this is JMI's order. A column adds only in rows where it is not
   missing, so what it adds is multiplied by their share.
2. If there is no such column, one is taken that credibly adds to all of them together. I(X;Y|Z) has to exceed epsilon
   with a probability of `_HIGHLY_CREDIBLE` = 0.99, and so does the information that X adds to the prediction of a naive
   Bayes on the taken columns (see `naive_summary`). Besides, no single W may credibly make X redundant:
   P(I(X;Y|W) <= epsilon) < `CREDIBLE`. This finds columns that tell something only in combination. The step tests all
   remaining columns, whatever they tell alone, and no further test follows: hence the higher level.

A column that is unrelated to W adds to W what it tells alone (see `questions.select.unrelated_columns`).

**Numbers** have other prior odds given W than alone (see `distinct_columns`).

Each step tests many columns, and the best of many looks good by chance. The share of columns that add nothing is
learned from all tested columns, as in the rule fdr (see `rules`), and P(I > epsilon) is adjusted to it.

Rows in which W is missing are left out of I(X;Y|W); among the values of all taken columns, "missing" is a value.
studies/sets.py compares this search with other filters.

**Cost.** A step reads all codes once, and a sample of the rows again: for the best column, or for all columns at the
end. A column that is credibly independent of the target given W gets no moments and no interval, only the evidence: in
wide tables nearly all columns are of that kind. The counter
makes a part of the tables at a time, so that memory stays bounded whatever the number of columns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.ties import best_of, places_by_name
from credimi.counts.counter import BySplits, ByValue
from credimi.inference.belief import Belief
from credimi.inference.evidence.adaptive_prior import with_odds
from credimi.inference.rules import from_share, share_of_independent
from credimi.inference.tables.stratified_tables import StratifiedTables, independence_and_marks, summarize
from credimi.questions.select.distinct_columns import odds_given
from credimi.questions.select.naive_summary import NaiveSummary
from credimi.questions.select.rejections import CREDIBLE, nan_to_none, rejected
from credimi.questions.select.result import Step
from credimi.questions.select.unrelated_columns import odds_factor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.types import FloatArray
    from credimi.counts.counter import Counter, Rule, Strata
    from credimi.inference.tables.many_tables import Summary
    from credimi.questions.select.result import Rejection

    ReportProgress = Callable[[float, str], None]
    BooleanArray = NDArray[np.bool_]

_HIGHLY_CREDIBLE = 0.99
_SAMPLE = 65_536  # rows in which naive Bayes, and what is added to all taken columns together, are looked at
_MIN_P_DEPENDENT = 0.05  # below it the 95 % interval contains only 0, and no more is computed
_SMALLEST_POSITIVE = 1e-300
_MAX_SUBSTITUTES = 5
_MIN_P_BETTER = 0.01  # that a column adds more than the one taken: below it, it is no substitute
_MAX_NAMED_COLUMNS = 3  # in a progress message
_FIGURES = ("mean", "low", "high", "p_above")


@dataclass(slots=True)
class Figures:
    """Posterior figures of I(X;Y|...), one entry for each column X; NaN if nothing was computed for the column.

    `p_above` is P(I > epsilon), with prior odds learned from all columns together; `p_independent` and `p_above_even`
    are from even prior odds.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    p_above_even: FloatArray

    @classmethod
    def unknown(cls, count: int) -> Figures:
        """Figures of columns for which nothing is computed yet."""
        return cls(*(np.full(count, np.nan) for _ in range(6)))

    def fill(self, columns: NDArray[np.intp], summary: Summary) -> None:
        """Set the figures of some columns."""
        for name in (*_FIGURES, "p_independent"):
            getattr(self, name)[columns] = getattr(summary, name)

    def replace(self, other: Figures, where: BooleanArray) -> None:
        """Replace the figures of some columns by those of `other`."""
        for name in _FIGURES:
            getattr(self, name)[where] = getattr(other, name)[where]

    def add(self, other: Figures, where: BooleanArray) -> None:
        """Add the figures of `other` for some columns."""
        for name in _FIGURES:
            getattr(self, name)[where] += getattr(other, name)[where]


class Search:
    """The state of the search: the taken columns, the remaining ones, and what these add to each taken one."""

    def __init__(self, counter: Counter, options: Belief, report_progress: ReportProgress | None = None) -> None:
        self.counter, self.options, features = counter, options, counter.book.features
        self.report_progress: ReportProgress = (
            report_progress if report_progress is not None else lambda _share, _what: None
        )
        self.count, self.names = len(features), list(counter.book.names)
        self.places = places_by_name(self.names)
        self.remaining = np.ones(self.count, dtype=bool)
        self.approximate = np.zeros(self.count, dtype=bool)  # P(independent) of the column may be off, in any step
        self.redundant_given_one = np.zeros(self.count, dtype=bool)  # with a single taken column
        self.redundant_given_all = self.redundant_given_one.copy()  # with all taken columns together
        self.share_present = np.array([_share_present(feature) for feature in features])
        self.share_of_noise = 0.5  # the estimated share of columns that add nothing
        self.taken: list[int] = []
        self.shares_of_noise: list[float] = []  # the same given each taken column
        self.progress_message = f"looking at {self.count:,} columns one by one"
        self.odds = np.array([feature.odds for feature in features], dtype=np.float64)
        self.alone = self.gains_given(counter, None)
        self.odds = odds_given(features, self.alone.p_above)
        self.smallest_gain, self.gain_sums = Figures.unknown(self.count), Figures(*np.zeros((6, self.count)))
        self.smallest_gain.replace(self.alone, self.remaining)
        self.redundancy = np.zeros((self.count, 0))  # P(I(X;Y|W) <= epsilon), a column for each taken W

    def gains_given(
        self,
        counter: Counter,
        rule: Rule | None,
        *,
        among: BooleanArray | None = None,
    ) -> Figures:
        """What each column that may still be taken, or each of `among`, adds given the stratum of a row.

        With `among` the share of noise is not learned.
        """
        columns = np.flatnonzero(self.remaining & ~self.redundant_given_one if among is None else among)
        gains = Figures.unknown(self.count)
        done = 0
        self.report_progress(0.0, self.progress_message)
        for counted in self.strata(counter, rule, columns):
            self._fill_gains(gains, counted, one_column=isinstance(rule, ByValue))
            done += counted.columns.size
            if done < columns.size:
                self.report_progress(done / columns.size, self.progress_message)
        gains.p_above_even = gains.p_above
        if among is None:
            self.share_of_noise = share_of_independent(gains.p_independent)
            gains.p_above = from_share(gains.p_above, gains.p_independent, self.share_of_noise)
        return gains

    def strata(self, counter: Counter, rule: Rule | None, columns: NDArray[np.intp]) -> Iterator[Strata]:
        """The tables of some columns in each stratum, with the odds that they have now."""
        for counted in counter.by_stratum(rule, columns):
            yield counted._replace(tables=replace(counted.tables, odds=self.odds[counted.columns]))

    def _fill_gains(self, gains: Figures, counted: Strata, *, one_column: bool) -> None:
        """Set the gains of some columns; nearly independent columns get P(independent) and a gain of 0 only.

        `one_column` says that the strata are the values of one column.
        """
        interval = Belief(epsilon=self.options.nats, level=CREDIBLE, threads=self.options.threads)
        columns, tables = counted.columns, StratifiedTables.of(counted.tables, counted.starts)
        if not self.taken:  # results show what each column tells alone: all figures are needed
            summary = summarize(tables, interval)
            gains.fill(columns, summary)
            self.approximate[columns] |= summary.approximate
            return
        p_independent, marked = independence_and_marks(tables, self.options.threads)
        self.approximate[columns] |= marked
        if one_column:
            factor = self.odds_factor(counted, p_independent)
            p_independent, tables = with_odds(p_independent, factor), tables.with_odds(factor)
        worth = self._worth_computing(p_independent)
        negligible = columns[~worth]
        gains.mean[negligible] = gains.low[negligible] = gains.high[negligible] = 0.0
        gains.p_independent[negligible], gains.p_above[negligible] = p_independent[~worth], 1.0 - p_independent[~worth]
        if worth.any():
            gains.fill(columns[worth], summarize(tables.chosen(worth), interval))

    def odds_factor(self, counted: Strata, p_independent: FloatArray) -> FloatArray:
        """The factor by which the odds of some columns, given another one, change because of what they tell alone."""
        p_independent_alone = self.alone.p_independent[counted.columns]
        # the odds become a mean of those given W and those alone: they stay small where both are small
        related = self._worth_computing(np.minimum(p_independent, p_independent_alone))
        factor = np.ones(counted.columns.size)
        both = p_independent[related], p_independent_alone[related]
        factor[related] = odds_factor(counted.tables, counted.starts, related, both, self.options.threads)
        return factor

    def _worth_computing(self, p_independent: FloatArray) -> BooleanArray:
        """Mask of the columns for which more than P(independent) is computed."""
        dependent = (1.0 - self.share_of_noise) * (1.0 - p_independent)
        result: BooleanArray = dependent >= _MIN_P_DEPENDENT * (self.share_of_noise * p_independent + dependent)
        return result

    def take(self, column: int) -> None:
        """Take a column, and compute what the others add to it."""
        self.remaining[column] = False
        self.taken.append(column)
        named = ", ".join(self.names[index] for index in self.taken[-_MAX_NAMED_COLUMNS:])
        more = "..., " if len(self.taken) > _MAX_NAMED_COLUMNS else ""
        self.progress_message = f"step {len(self.taken) + 1}: what adds to {more}{named}"
        if not self.remaining.any():
            self.redundancy = np.column_stack([self.redundancy, np.full(self.count, np.nan)])
            return
        gains = self.gains_given(self.counter, ByValue(column))
        self.shares_of_noise.append(self.share_of_noise)
        candidates = self.remaining & ~self.redundant_given_one
        first = len(self.taken) == 1
        p_above = gains.p_above if first else np.fmin(self.smallest_gain.p_above, gains.p_above)
        self.smallest_gain.replace(gains, candidates & (first | (gains.mean < self.smallest_gain.mean)))
        self.smallest_gain.p_above[candidates] = p_above[candidates]
        self.gain_sums.add(gains, candidates)
        self.redundancy = np.column_stack([self.redundancy, 1.0 - gains.p_above])
        self.redundant_given_one |= self.remaining & self.redundant(CREDIBLE)

    def redundant(self, level: float) -> BooleanArray:
        """Mask of the columns that tell something alone, and are redundant with one taken column at this level."""
        p_redundant = np.max(np.nan_to_num(self.redundancy), axis=1, initial=0.0)
        result: BooleanArray = (p_redundant >= level) & (self.alone.p_above >= 0.5)
        return result

    def average(self) -> Figures:
        """What each column adds to a taken one, averaged over the taken ones; what it tells alone if none is taken."""
        if not self.taken:
            return self.alone
        return Figures(*(getattr(self.gain_sums, name) / len(self.taken) for name in Figures.__dataclass_fields__))

    def pad_redundancy(self, steps: int) -> None:
        """After an interrupt: fill `redundancy` with NaN for taken columns for which it was not computed."""
        padding = np.full((self.count, steps - self.redundancy.shape[1]), np.nan)
        self.redundancy = np.column_stack([self.redundancy, padding])


def smallest(
    search: Search, max_features: int, entropy: float, min_features: int = 0
) -> tuple[list[Step], list[Rejection], bool]:
    """The steps, the columns that were not taken, and whether the search came to its end.

    If no further column is credible, the most probable ones are taken until there are `min_features`.
    """
    steps: list[Step] = []
    summary = NaiveSummary(search.counter.sample(_SAMPLE), search.options.threads)
    try:
        while search.remaining.any() and len(steps) < max_features:
            forced = bool(steps) and steps[-1].forced  # then the columns that follow are no claim either
            if not forced:
                ranking, gains, eligible = _candidates(search, summary)
                forced = not eligible.any()
            if forced and len(steps) >= min_features:
                break
            if forced:
                ranking = gains = search.smallest_gain
                eligible = _most_probable(search)
            best = best_of(ranking.mean * search.share_present, eligible, search.places)
            p_better = _p_better_than_taken(ranking, eligible, best)
            summary.add(best)
            tells = min(summary.tells(), entropy)
            step = Step(
                feature=search.names[best],
                adds=float(gains.mean[best]),
                low=float(gains.low[best]),
                high=float(gains.high[best]),
                p_adds=float(gains.p_above[best]),
                tells=tells,
                share=tells / entropy if entropy > 0.0 else 0.0,
                p_redundant=nan_to_none(search.redundancy[best]),
                forced=forced,
            )
            steps.append(step)
            search.take(best)
            steps[-1] = replace(step, substitutes=_substitutes(search, p_better))
    except KeyboardInterrupt:
        del steps[len(search.taken) :]
        if not steps:
            raise
        search.pad_redundancy(len(steps))
        return steps, rejected(search, complete=False), False
    return steps, rejected(search, complete=len(steps) < max_features), True


def _candidates(search: Search, summary: NaiveSummary) -> tuple[Figures, Figures, BooleanArray]:
    """The figures by which the columns are ranked, what the columns add, and a mask of those that may be taken."""
    level = search.options.level
    eligible = (
        search.remaining
        & ~search.redundant_given_one
        & (search.smallest_gain.p_above >= (level if search.taken else max(level, CREDIBLE)))
    )
    if not search.taken:
        return search.alone, search.alone, eligible
    counter, taken = summary.counter, BySplits(tuple(search.taken))
    average = search.average()
    search.redundant_given_all[:] = False
    while eligible.any():  # test only the best: there may be thousands of strata
        best = best_of(average.mean * search.share_present, eligible, search.places)
        only = np.arange(search.count) == best
        if search.gains_given(counter, taken, among=only).p_above_even[best] > 1.0 - CREDIBLE:
            return average, search.smallest_gain, eligible
        search.redundant_given_all[best], eligible[best] = True, False
    gains, naive_gains = search.gains_given(counter, taken), search.gains_given(counter, summary)
    gains.replace(naive_gains, naive_gains.p_above < gains.p_above)
    return (
        gains,
        gains,
        search.remaining & ~search.redundant_given_one & (gains.p_above >= max(level, _HIGHLY_CREDIBLE)),
    )


def _most_probable(search: Search) -> BooleanArray:
    """Mask of the remaining column that most probably adds something; of several columns if they are equal."""
    p_above = np.where(search.remaining, np.nan_to_num(search.smallest_gain.p_above), -1.0)
    result: BooleanArray = p_above == p_above.max()
    return result


def _share_present(feature: Feature) -> float:
    """The share of rows in which a column is not missing."""
    return float(feature.block[:, :-1].sum() / max(feature.block.sum(), _SMALLEST_POSITIVE))


def _p_better_than_taken(figures: Figures, eligible: BooleanArray, best: int) -> FloatArray:
    """For each column that might have been taken instead of `best`: P(it adds more); NaN for the others.

    The two posteriors are treated as independent and normal.
    """
    spread = (figures.high - figures.low) ** 2
    distance = (
        (figures.mean - figures.mean[best])
        / np.sqrt(np.maximum(spread + spread[best], _SMALLEST_POSITIVE))
        * (2.0 * 1.96)
    )
    exponent = np.clip(-1.702 * distance, -700.0, 700.0)  # so that `exp` does not overflow
    # logistic approximation of the normal distribution, within 0.01
    p_better = np.where(eligible, 1.0 / (1.0 + np.exp(exponent)), np.nan)
    p_better[best] = np.nan
    return p_better


def _substitutes(search: Search, p_better: FloatArray) -> tuple[tuple[str, float], ...]:
    """The columns that might have been better than the last taken one, but probably add nothing to it."""
    if not search.remaining.any():
        return ()
    replaced = (np.nan_to_num(p_better) >= _MIN_P_BETTER) & (search.redundancy[:, -1] >= 0.5)
    order = sorted(np.flatnonzero(replaced).tolist(), key=lambda column: (-p_better[column], search.names[column]))
    return tuple((search.names[column], float(p_better[column])) for column in order[:_MAX_SUBSTITUTES])
