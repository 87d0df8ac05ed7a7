"""The smallest set of columns that tells all there is to tell: forward, a column a step, until nothing credibly adds.

The first column has to tell more than epsilon with a probability of `_SURE` = 0.95: that anything tells anything is a
claim. What a further column X adds is looked at given each taken column W, I(X;Y|W), and given all of them together,
I(X;Y|Z), Z being which rows are alike in all taken columns (see `taken_together`):

1. X may be taken if it adds more than epsilon to *each* taken column with a probability of at least `level`, unless it
   surely adds nothing to all together, P(I(X;Y|Z) <= epsilon) >= `_SURE`. Of those columns the one is taken that adds
   most on average over the taken ones, which is JMI's order. What a column adds counts in rows that have it: it is
   multiplied by their share.
2. Where no such column is left, one that surely adds to all together: I(X;Y|Z) exceeds epsilon with a probability of
   `_SURER` = 0.99, and so does what it adds to what a naive Bayes of the taken columns says of a row (see
   `naive_summary`); and no single W surely says what X says, P(I(X;Y|W) <= epsilon) < `_SURE`. This finds columns that
   tell something only in combination. It looks at all columns that are left, whatever they tell alone, and it is the
   last word: hence more than `_SURE`.

A column that W has nothing to do with adds to W what it tells alone (see `inference.conditional.unrelated_columns`).

**Numbers** are cut where they tell most, and have lower odds for it (see `adaptive_prior`). Given W that would be too
low: the better the places of the cuts are known, the lower the odds, but the less was won by choosing them. At the best
place of a true cut the likelihood exceeds that at the true place by a factor of about e. So with the probability that
the column tells something alone, its odds given W are e^-1 for each cut, if that is more (`studies/conditional.py
--cuts`).

Each step looks at many columns, and the best of many looks well by chance. How many of them add nothing is learned from
all that are looked at, as the rule fdr does it (see `rules`), and P(I > epsilon) changes accordingly.

Rows that lack W are left out of I(X;Y|W); among the values of all taken columns "missing" is one. Other filters are
compared with this way in studies/sets.py.

**Cost.** A step reads all codes once, and a sample of rows again: of the best column, or of all at the end. A column
that is surely independent of the target given W gets no moments and no interval, only the evidence: in wide tables
nearly all columns are of that kind. Blocks of at most `_CELLS` counts are made at a time, so that memory stays bounded
whatever the number of columns.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.inference.adaptive_prior import with_odds
from credimi.inference.conditional.stratified_tables import StratifiedTables, independence, summarize
from credimi.inference.conditional.unrelated_columns import odds_factor
from credimi.inference.options import PosteriorOptions
from credimi.selection.rows_to_decide import growth_to_decide, rounded_up
from credimi.selection.rules import from_share, share_of_independent, unsure
from credimi.selection.sets.naive_summary import NaiveSummary
from credimi.selection.sets.selection import Rejection, Step
from credimi.selection.sets.taken_together import strata_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from credimi.columns.feature import Feature
    from credimi.core.tables import Tables
    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.stratified_counts import SettledCodes
    from credimi.inference.batched.many_tables import Summary

    Told = Callable[[float, str], None]
    BooleanArray = NDArray[np.bool_]

_SURE, _SURER = 0.95, 0.99
_WORTH = 0.05  # P(dependent) from which on more is computed: below it the 95 % interval is 0 alone
_CELLS = 8_000_000  # counts held at a time
_TINY = 1e-300
_SHOWN_SUBSTITUTES = 5
_LEAST_CHANCE = 0.01  # of a column to have been the better one, to be named as a substitute
_NAMED = 3  # columns in what is told while it works
_FIGURES = ("mean", "low", "high", "p_above")


@dataclass(slots=True)
class Figures:
    """What is believed of I(X;Y|...) of all columns, one entry a column; NaN of those that were not looked at.

    `p_above` is P(I > epsilon) from the odds that all columns suggest together; `p_independent` and `p_above_even` are
    from even odds.
    """

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    p_above_even: FloatArray

    @classmethod
    def unknown(cls, count: int) -> Figures:
        """Of columns that are still to be looked at."""
        return cls(*(np.full(count, np.nan) for _ in range(6)))

    def put(self, among: NDArray[np.intp], found: Summary) -> None:
        """What was found of some columns."""
        for name in (*_FIGURES, "p_independent"):
            getattr(self, name)[among] = getattr(found, name)

    def replace(self, other: Figures, where: BooleanArray) -> None:
        """Take the other's figures for some columns."""
        for name in _FIGURES:
            getattr(self, name)[where] = getattr(other, name)[where]

    def add(self, other: Figures, where: BooleanArray) -> None:
        """Add the other's figures for some columns."""
        for name in _FIGURES:
            getattr(self, name)[where] += getattr(other, name)[where]


class Search:
    """The columns that are left, and what they add to each taken one."""

    def __init__(self, codes: SettledCodes, options: PosteriorOptions, told: Told | None = None) -> None:
        self.codes, self.options = codes, options
        self.told: Told = told if told is not None else lambda _share, _what: None
        self.count, self.names = len(codes.features), [feature.name for feature in codes.features]
        self.left = np.ones(self.count, dtype=bool)
        self.closed = np.zeros(self.count, dtype=bool)  # a taken column surely says what they say
        self.covered = self.closed.copy()  # the taken columns together do
        self.known = np.array([_share_known(feature) for feature in codes.features])
        self.noise = 0.5  # the share of columns that add nothing, as far as is known
        self.taken: list[int] = []
        self.noise_given: list[float] = []  # the share of columns that add nothing to each taken one
        self.doing = f"looking at {self.count:,} columns one by one"
        self.alone = self.given(codes, np.zeros(codes.groups.size, dtype=np.uint8), 1)
        self.codes = replace(codes, features=_with_odds_given(codes.features, self.alone.p_above))
        self.least, self.sums = Figures.unknown(self.count), Figures(*np.zeros((6, self.count)))
        self.least.replace(self.alone, self.left)
        self.redundancy = np.zeros((self.count, 0))  # P(I(X;Y|W) <= epsilon), a column for each taken W

    def given(
        self,
        codes: SettledCodes,
        strata: NDArray[np.integer],
        count: int,
        *,
        among: BooleanArray | None = None,
        one_column: bool = False,
    ) -> Figures:
        """What every column that may still be taken, or some, adds once the stratum is known.

        With `among` the share that adds nothing is not learned; with `one_column` the strata are the values of one.
        """
        asked = np.flatnonzero(self.left & ~self.closed if among is None else among)
        found = Figures.unknown(self.count)
        done = 0
        for some in self._chunks(asked, count):
            self.told(done / asked.size, self.doing)
            tables, starts = codes.stratified(strata, count, features=some.tolist(), threads=self.options.threads)
            self._put(found, some, (tables, starts), one_column=one_column)
            done += some.size
        found.p_above_even = found.p_above
        if among is None:
            self.noise = share_of_independent(found.p_independent)
            found.p_above = from_share(found.p_above, found.p_independent, self.noise)
        return found

    def given_column(self, column: int) -> Figures:
        """What every column that may still be taken adds to another."""
        codes = self.codes
        return self.given(codes, codes.codes[column], len(codes.features[column].values), one_column=True)

    def _chunks(self, among: NDArray[np.intp], strata: int) -> Iterator[NDArray[np.intp]]:
        """Columns whose counts are made at once."""
        sizes = self.codes.values[among] + 1
        place = np.cumsum(sizes * (strata * (len(self.codes.classes) + 1))) // _CELLS
        for number in np.unique(place).tolist():
            yield among[place == number]

    def _put(
        self, found: Figures, among: NDArray[np.intp], counted: tuple[Tables, IntegerArray], *, one_column: bool
    ) -> None:
        """The figures of some columns; those that are surely independent have none but that."""
        interval = PosteriorOptions(epsilon=self.options.epsilon, level=_SURE, threads=self.options.threads)
        tables = StratifiedTables.of(*counted)
        if not self.taken:  # what a column tells alone is shown
            found.put(among, summarize(tables, interval))
            return
        unknown = independence(tables, self.options.threads)
        if one_column:
            factor = self.odds_factor(among, counted, unknown)
            unknown, tables = with_odds(unknown, factor), tables.with_odds(factor)
        worth = self._worth(unknown)
        rest = among[~worth]
        found.mean[rest] = found.low[rest] = found.high[rest] = 0.0
        found.p_independent[rest], found.p_above[rest] = unknown[~worth], 1.0 - unknown[~worth]
        if worth.any():
            found.put(among[worth], summarize(tables.chosen(worth), interval))

    def odds_factor(
        self, among: NDArray[np.intp], counted: tuple[Tables, IntegerArray], p_independent: FloatArray
    ) -> FloatArray:
        """By what the odds of some columns given another change, because of what they tell alone."""
        alone = self.alone.p_independent[among]
        asked = self._worth(np.minimum(p_independent, alone))  # a mean of two small odds is small
        factor = np.ones(among.size)
        factor[asked] = odds_factor(*counted, asked, (p_independent[asked], alone[asked]), self.options.threads)
        return factor

    def _worth(self, p_independent: FloatArray) -> BooleanArray:
        """Of which columns more is computed than that."""
        dependent = (1.0 - self.noise) * (1.0 - p_independent)
        found: BooleanArray = dependent >= _WORTH * (self.noise * p_independent + dependent)
        return found

    def take(self, column: int) -> None:
        """Take a column, and look at what the others add to it."""
        self.left[column] = False
        self.taken.append(column)
        named = ", ".join(self.names[each] for each in self.taken[-_NAMED:])
        more = "..., " if len(self.taken) > _NAMED else ""
        self.doing = f"step {len(self.taken) + 1}: what adds to {more}{named}"
        if not self.left.any():
            self.redundancy = np.column_stack([self.redundancy, np.full(self.count, np.nan)])
            return
        found = self.given_column(column)
        self.noise_given.append(self.noise)
        open_ = self.left & ~self.closed
        first = len(self.taken) == 1
        chance = found.p_above if first else np.fmin(self.least.p_above, found.p_above)
        self.least.replace(found, open_ & (first | (found.mean < self.least.mean)))
        self.least.p_above[open_] = chance[open_]
        self.sums.add(found, open_)
        self.redundancy = np.column_stack([self.redundancy, 1.0 - found.p_above])
        self.closed |= self.left & self.redundant(_SURE)

    def redundant(self, level: float) -> BooleanArray:
        """Which columns tell something alone, and say what a taken one says."""
        most = np.max(np.nan_to_num(self.redundancy), axis=1, initial=0.0)
        found: BooleanArray = (most >= level) & (self.alone.p_above >= 0.5)
        return found

    def average(self) -> Figures:
        """What the columns add to the taken ones, one by one, on average; alone if none is taken."""
        if not self.taken:
            return self.alone
        return Figures(*(getattr(self.sums, name) / len(self.taken) for name in Figures.__dataclass_fields__))

    def settle(self, steps: int) -> None:
        """After an interrupt: what the others add to the last column may not be known."""
        unknown = np.full((self.count, steps - self.redundancy.shape[1]), np.nan)
        self.redundancy = np.column_stack([self.redundancy, unknown])


def smallest(search: Search, most: int, entropy: float) -> tuple[list[Step], list[Rejection], bool]:
    """The steps, the columns that were not taken, and whether the search came to its end."""
    steps: list[Step] = []
    summary = NaiveSummary(search.codes.sampled())
    try:
        while search.left.any() and len(steps) < most:
            order, figures, good = _candidates(search, summary)
            if not good.any():
                break
            best = int(np.argmax(np.where(good, order.mean * search.known, -1.0)))
            rivals = _rivals(order, good, best)
            summary.add(best)
            tells = min(summary.tells(), entropy)
            step = Step(
                feature=search.names[best],
                adds=float(figures.mean[best]),
                low=float(figures.low[best]),
                high=float(figures.high[best]),
                p_adds=float(figures.p_above[best]),
                tells=tells,
                share=tells / entropy if entropy > 0.0 else 0.0,
                p_redundant=tuple(search.redundancy[best].tolist()),
            )
            steps.append(step)
            search.take(best)
            steps[-1] = replace(step, substitutes=_substitutes(search, rivals))
    except KeyboardInterrupt:
        del steps[len(search.taken) :]
        if not steps:
            raise
        search.settle(len(steps))
        return steps, _rejected(search, complete=False), False
    return steps, _rejected(search, complete=len(steps) < most), True


def _candidates(search: Search, summary: NaiveSummary) -> tuple[Figures, Figures, BooleanArray]:
    """By what the columns are put into order, what they add, and which of them may be taken."""
    level = search.options.level
    good = search.left & ~search.closed & (search.least.p_above >= (level if search.taken else max(level, _SURE)))
    if not search.taken:
        return search.alone, search.alone, good
    codes, together = summary.codes, strata_of(summary.codes, search.taken)
    order = search.average()
    search.covered[:] = False
    while good.any():  # only the best is looked at: there may be thousands of strata
        best = int(np.argmax(np.where(good, order.mean * search.known, -1.0)))
        only = np.arange(search.count) == best
        if search.given(codes, *together, among=only).p_above_even[best] > 1.0 - _SURE:
            return order, search.least, good
        search.covered[best], good[best] = True, False
    figures, naive = search.given(codes, *together), search.given(codes, *summary.strata())
    figures.replace(naive, naive.p_above < figures.p_above)
    return figures, figures, search.left & ~search.closed & (figures.p_above >= max(level, _SURER))


def _share_known(feature: Feature) -> float:
    """The share of the rows that have a column."""
    return float(feature.block[:, :-1].sum() / max(feature.block.sum(), _TINY))


def _with_odds_given(features: tuple[Feature, ...], p_tells: FloatArray) -> tuple[Feature, ...]:
    """The columns with the odds that they have given another one; see the module's docstring."""
    found = []
    for feature, chance in zip(features, p_tells.tolist(), strict=True):
        least = math.exp(1 - len(feature.values))
        changed = 1.0 > feature.odds < least
        found.append(replace(feature, odds=feature.odds + chance * (least - feature.odds)) if changed else feature)
    return tuple(found)


def _rivals(figures: Figures, good: BooleanArray, best: int) -> FloatArray:
    """Of each column that might have been taken instead: P(it adds more than the one that was); NaN of the others.

    The two posteriors are taken for independent and normal.
    """
    spread = (figures.high - figures.low) ** 2
    distance = (figures.mean - figures.mean[best]) / np.sqrt(np.maximum(spread + spread[best], _TINY)) * (2.0 * 1.96)
    far = np.clip(-1.702 * distance, -700.0, 700.0)  # beyond it `exp` is no double
    found = np.where(good, 1.0 / (1.0 + np.exp(far)), np.nan)  # the normal distribution, within 0.01
    found[best] = np.nan
    return found


def _substitutes(search: Search, rivals: FloatArray) -> tuple[tuple[str, float], ...]:
    """Of the rivals those that add nothing any more, once the other was taken."""
    if not search.left.any():
        return ()
    replaced = (np.nan_to_num(rivals) >= _LEAST_CHANCE) & (search.redundancy[:, -1] >= 0.5)
    order = sorted(np.flatnonzero(replaced).tolist(), key=lambda column: -rivals[column])
    return tuple((search.names[column], float(rivals[column])) for column in order[:_SHOWN_SUBSTITUTES])


def _rejected(search: Search, *, complete: bool) -> list[Rejection]:
    """Why the others were not taken, those first that tell most alone."""
    alone, least = search.alone, search.least
    known = np.nan_to_num(search.redundancy)
    most = np.max(known, axis=1, initial=0.0)
    like = known.argmax(axis=1) if search.taken else np.zeros(search.count, dtype=np.intp)
    nothing = 1.0 - alone.p_above_even >= _SURE  # as `rank` has it, whatever the other columns are like
    redundant = ~nothing & ((most >= _SURE) | search.covered)
    next_ = ~nothing & ~redundant & ~np.bool_(complete) & (least.p_above >= search.options.level)
    undecided = search.left & ~nothing & ~redundant & ~next_
    rows = _rows_to_decide(search, np.flatnonzero(undecided), like) if complete else {}
    says_the_same = alone.p_above >= 0.5  # and what tells nothing, as it seems, adds nothing
    found = []
    for column in sorted(np.flatnonzero(search.left).tolist(), key=lambda column: -float(alone.mean[column])):
        adds_nothing = "redundant" if says_the_same[column] else "adds nothing"
        reason = "tells nothing" if nothing[column] else adds_nothing if redundant[column] else "unsure"
        found.append(
            Rejection(
                feature=search.names[column],
                reason="not reached" if next_[column] else reason,
                tells=float(alone.mean[column]),
                adds=float(least.mean[column]),
                low=float(least.low[column]),
                high=float(least.high[column]),
                p_adds=float(least.p_above[column]),
                like=search.names[search.taken[like[column]]] if redundant[column] and most[column] >= _SURE else None,
                rows_to_decide=rows.get(column),
                p_redundant=() if nothing[column] else _plain(search.redundancy[column]),
            )
        )
    return found


def _plain(figures: FloatArray) -> tuple[float | None, ...]:
    return tuple(None if math.isnan(each) else each for each in figures.tolist())


def _rows_to_decide(search: Search, columns: NDArray[np.intp], like: NDArray[np.intp]) -> dict[int, int]:
    """The rows at which about half of all samples would decide, given the taken column that leaves a column least."""
    found: dict[int, int] = {}
    codes, options = search.codes, replace(search.options, level=_SURE)
    all_rows = float(codes.groups.size if codes.weights is None else codes.weights.sum())
    for given in np.unique(like[columns]).tolist():
        own = columns[like[columns] == given]
        strata, count, noise = np.zeros(codes.groups.size, dtype=np.uint8), 1, search.noise
        if search.taken:
            strata, count = codes.codes[search.taken[given]], len(codes.features[search.taken[given]].values)
            noise = search.noise_given[given] if given < len(search.noise_given) else noise
        for some in search._chunks(own, count):  # noqa: SLF001  (of the same module)
            counted = codes.stratified(strata, count, features=some.tolist(), threads=options.threads)
            tables = StratifiedTables.of(*counted)
            if search.taken:
                tables = tables.with_odds(search.odds_factor(some, counted, independence(tables, options.threads)))
            now = summarize(tables, options)
            open_ = unsure(now.p_above, _SURE)  # what is sure by itself is unsure because of the other columns
            learned = from_share(now.p_above, now.p_independent, noise)
            asked = open_ | unsure(learned, _SURE)
            tables = tables.with_odds(np.where(open_, 1.0, (1.0 - noise) / noise)).chosen(asked)
            growth, _ = growth_to_decide(tables.tables, options, tables.starts)
            rows = (rounded_up(each * all_rows) for each in growth.tolist())
            found |= {column: each for column, each in zip(some[asked].tolist(), rows, strict=True) if each is not None}
    return found
