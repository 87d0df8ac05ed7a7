"""`select`: which columns to take together, how many, and how sure.

**goal="smallest"**: the smallest set that tells all there is to tell, forward, a column a step. The first column has to
tell more than epsilon with a probability of `_SURE` = 0.95, that anything tells anything is a claim. Then

1. a column is taken if it credibly adds to *each* column taken so far: the least over the taken W of I(X;Y|W), and of
   I(X;Y), exceeds epsilon with a probability of at least `level`; of those the one whose least has the largest mean;
2. where no such column is left, one that surely adds to *all* that were taken together: I(X;Y|taken) exceeds epsilon
   with a probability of `_SURE`, and no single W says what it says, that is, it tells something alone, and
   P(I(X;Y|W) <= epsilon) >= `_SURE`. This finds columns that tell something only in combination. The strata of all
   combinations get sparse; in the end nothing is sure in them, and the search stops by itself.

Each step looks at many columns, and the best of many looks well by chance. How many of them add nothing is learned from
all that are looked at, as the rule fdr does it (see `rules`), and P(I > epsilon) changes accordingly. Other ways to
say "given what was taken" were tried, among them what a naive Bayes of the taken columns says (studies/sets.py).

Rows that lack W are left out of I(X;Y|W). Of all taken columns together they are not: "missing" is a value there. What
the set tells so far is what a naive Bayes of it says, out of fold (see `naive_summary`).

**goal="relevant"**: all columns that matter, alone or with a partner: see `relevant_features`.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_whole
from credimi.core.errors import CredimiError
from credimi.inference.options import PosteriorOptions
from credimi.inference.stratified_tables import StratifiedTables, summarize
from credimi.selection.naive_summary import NaiveSummary
from credimi.selection.relevant_features import relevance
from credimi.selection.rows_to_decide import rounded_up
from credimi.selection.rules import from_common_odds
from credimi.selection.selection import Rejection, Selection, Step

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import Data, FloatArray, Option, Record, Values
    from credimi.counting.coded_table import CodedTable
    from credimi.counting.stratified_counts import SettledCodes
    from credimi.inference.many_tables import Summary

GOALS = ("smallest", "relevant")
LEVELS = {"smallest": 0.5, "relevant": 0.95}  # to predict best; to claim
_SURE = 0.95
_LEAST = 1e-300  # of a probability, so that its logarithm is finite
_MOST_GROWTH = 4096.0
_SHOWN_SUBSTITUTES = 5
_LEAST_CHANCE = 0.01  # of a column to have been the better one, to be named as a substitute


def select(
    data: Data,
    target: Values,
    *,
    goal: str = "smallest",
    epsilon: float = 0.003,
    level: float | None = None,
    max_features: int | None = None,
    threads: int | None = None,
    **counting: Option,
) -> Selection:
    """Select columns that tell about the target together: which, how many, and how sure.

    Parameters
    ----------
    data : what `credimi.count` takes, if it fits into memory
        Data frames, arrays, files.
    target : str or array
        The target's column, or its values beside the data.
    goal : "smallest" or "relevant"
        The smallest set that tells all there is to tell; or all columns that matter, alone or with a partner.
    epsilon : float
        The information, in nats, that a column has to add to be worth having.
    level : float, optional
        How probable that has to be. Unless said, 0.5 for "smallest", which predicts best, and 0.95 for "relevant".
        The first column of "smallest" always needs 0.95.
    max_features : int, optional
        The most columns to take.
    threads : int, optional
        All cores, unless said.
    **counting
        features, exclude, missing_values, discretize, max_levels, delimiter ...: as in `credimi.count`.

    Returns
    -------
    Selection
        The columns in the order taken, what each adds, and why the others were not taken.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "copy": list("ccdd") * 25, "noise": list("abab") * 25}
    >>> chosen = credimi.select(table | {"class": list("ppqq") * 25}, "class")
    >>> chosen.features
    ('tells',)
    >>> [(each.feature, each.reason, each.like) for each in chosen.rejected]
    [('copy', 'redundant', 'tells'), ('noise', 'tells nothing', None)]
    """
    checked_goal(goal)
    from credimi.counting.coded_table import CodedTable  # noqa: PLC0415  (pyarrow takes a while to load)
    from credimi.counting.request import CountRequest  # noqa: PLC0415  (pyarrow takes a while to load)

    table = CodedTable.of(data, CountRequest.of(target, threads=threads, **counting))
    return selected(table, goal, epsilon=epsilon, level=level, max_features=max_features, threads=threads)


def selected(
    table: CodedTable,
    goal: str,
    *,
    epsilon: float = 0.003,
    level: float | None = None,
    max_features: int | None = None,
    threads: int | None = None,
) -> Selection:
    """As `select`, of a table that was encoded before."""
    from credimi.counting.stratified_counts import SettledCodes  # noqa: PLC0415  (pyarrow takes a while to load)

    if max_features is not None:
        require_whole("max_features", max_features, 1)
    options = PosteriorOptions(epsilon=epsilon, level=LEVELS[goal] if level is None else level, threads=threads)
    codes = SettledCodes.of(table, threads)
    most = len(codes.features) if max_features is None else int(max_features)
    entropy = table.counts.settled_classes().entropy
    return _smallest(codes, options, most, entropy) if goal == "smallest" else _relevant(codes, options, most, entropy)


def checked_goal(goal: str) -> str:
    """The goal, if it is one."""
    if goal not in GOALS:
        raise CredimiError(f"unknown goal {goal!r}: choose one of {', '.join(GOALS)}")
    return goal


@dataclass(slots=True)
class Figures:
    """What is believed of I(X;Y|...) of all columns, one entry a column."""

    mean: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray

    @classmethod
    def of(cls, found: Summary, among: NDArray[np.intp], count: int) -> Figures:
        """NaN for the columns that were not looked at."""
        columns = []
        for figures in (found.mean, found.low, found.high, found.p_above, found.p_independent):
            columns.append(np.full(count, np.nan))
            columns[-1][among] = figures
        return cls(*columns)

    def replace(self, other: Figures, where: NDArray[np.bool_]) -> None:
        """Take the other's figures for some columns."""
        for name in ("mean", "low", "high", "p_above", "p_independent"):
            getattr(self, name)[where] = getattr(other, name)[where]


class Search:
    """The columns that are left, and what they add to each taken one, and to all together."""

    def __init__(self, codes: SettledCodes, options: PosteriorOptions) -> None:
        self.codes, self.options = codes, options
        self.count, self.names = len(codes.features), [feature.name for feature in codes.features]
        self.left = np.ones(self.count, dtype=bool)
        self.taken: list[int] = []
        self.together = np.zeros(codes.groups.size, dtype=np.int64)  # which combination of taken values a row has
        self.alone = self.given(self.together, 1)
        self.least = deepcopy(self.alone)
        self.redundancy = np.zeros((self.count, 0))  # P(I(X;Y|W) <= epsilon), a column for each taken W

    def given(self, strata: NDArray[np.integer], count: int) -> Figures:
        """What every column that is left adds once the stratum is known."""
        among = np.flatnonzero(self.left)
        tables, starts = self.codes.stratified(strata, count, features=among.tolist(), threads=self.options.threads)
        interval = PosteriorOptions(epsilon=self.options.epsilon, level=_SURE, threads=self.options.threads)
        return Figures.of(summarize(StratifiedTables.of(tables, starts), interval), among, self.count)

    def given_all(self) -> Figures:
        """What every column that is left adds to all that were taken."""
        return self.given(self.together, int(self.together.max(initial=0)) + 1)

    def take(self, column: int) -> None:
        """Take a column, and look at what the others add to it."""
        self.taken.append(column)
        self.left[column] = False
        values = len(self.codes.features[column].values) + 1
        own = self.codes.codes[column].astype(np.int64)
        self.together = np.unique(self.together * values + own, return_inverse=True)[1].astype(np.int64)
        if not self.left.any():
            return
        found = self.given(self.codes.codes[column].astype(np.int64), values - 1)
        self.least.replace(found, self.left & (found.mean < self.least.mean))
        self.redundancy = np.column_stack([self.redundancy, 1.0 - found.p_above])

    def credible(self, figures: Figures) -> FloatArray:
        """P(adds more than epsilon) of the columns that are left, from the odds that they have in common."""
        unknown = np.where(self.left, figures.p_independent, np.nan)
        return np.where(self.left, from_common_odds(figures.p_above, unknown), -1.0)


def _smallest(codes: SettledCodes, options: PosteriorOptions, most: int, entropy: float) -> Selection:
    search = Search(codes, options)
    steps: list[Step] = []
    summary = NaiveSummary(codes)
    while search.left.any() and len(steps) < most:
        figures, believed = search.least, search.credible(search.least)
        good = believed >= (options.level if steps else max(options.level, _SURE))
        if steps and not good.any():
            figures = search.given_all()
            believed = search.credible(figures)
            redundant = (search.redundancy.max(axis=1) >= _SURE) & (search.alone.p_above >= 0.5)
            good = (believed >= max(options.level, _SURE)) & ~redundant
        if not good.any():
            break
        best = int(np.argmax(np.where(good, figures.mean, -1.0)))
        rivals = _rivals(figures, good, best)
        summary.add(best)
        tells = min(summary.tells(), entropy)
        adds = {name: float(getattr(figures, name)[best]) for name in ("mean", "low", "high")}
        search.take(best)
        steps.append(
            Step(
                feature=search.names[best],
                adds=adds["mean"],
                low=adds["low"],
                high=adds["high"],
                p_adds=float(believed[best]),
                tells=tells,
                share=tells / entropy if entropy > 0.0 else 0.0,
                substitutes=_substitutes(search, rivals),
            )
        )
    rejected = _rejected(search, options)
    return _selection("smallest", search, entropy, steps, rejected)


def _rivals(figures: Figures, good: NDArray[np.bool_], best: int) -> FloatArray:
    """Of each column that might have been taken instead: P(it adds more than the one that was); NaN of the others.

    The two posteriors are taken for independent and normal.
    """
    spread = (figures.high - figures.low) ** 2
    distance = (figures.mean - figures.mean[best]) / np.sqrt(np.maximum(spread + spread[best], _LEAST)) * (2.0 * 1.96)
    found = np.where(good, 1.0 / (1.0 + np.exp(-1.702 * distance)), np.nan)  # the normal distribution, within 0.01
    found[best] = np.nan
    return found


def _substitutes(search: Search, rivals: FloatArray) -> tuple[tuple[str, float], ...]:
    """Of the rivals those that add nothing any more, once the other was taken."""
    if not search.left.any():
        return ()
    replaced = (np.nan_to_num(rivals) >= _LEAST_CHANCE) & (search.redundancy[:, -1] >= 0.5)
    order = sorted(np.flatnonzero(replaced).tolist(), key=lambda column: -rivals[column])
    return tuple((search.names[column], float(rivals[column])) for column in order[:_SHOWN_SUBSTITUTES])


def _rejected(search: Search, options: PosteriorOptions) -> list[Rejection]:
    """Why the others were not taken, those first that tell most alone."""
    found = []
    least, believed = search.least, search.credible(search.least)
    order = sorted(np.flatnonzero(search.left).tolist(), key=lambda column: -float(search.alone.mean[column]))
    for column in order:
        redundancy = search.redundancy[column]
        like, reason, rows = None, "unsure", None
        if 1.0 - search.alone.p_above[column] >= _SURE:
            reason = "tells nothing"
        elif redundancy.size and redundancy.max() >= _SURE:
            says_the_same = search.alone.p_above[column] >= 0.5
            reason = "redundant" if says_the_same else "tells nothing"
            like = search.names[search.taken[int(redundancy.argmax())]] if says_the_same else None
        else:
            rows = _rows_to_decide(search, column, options)
        found.append(
            Rejection(
                feature=search.names[column],
                reason=reason,
                tells=float(search.alone.mean[column]),
                adds=float(least.mean[column]),
                low=float(least.low[column]),
                high=float(least.high[column]),
                p_adds=max(float(believed[column]), 0.0),
                like=like,
                rows_to_decide=rows,
            )
        )
    return found


def _rows_to_decide(search: Search, column: int, options: PosteriorOptions) -> int | None:
    """The rows at which about half of all samples would decide, given the taken column that leaves it least."""
    given = search.taken[int(search.redundancy[column].argmax())] if search.taken else None
    strata = search.together * 0 if given is None else search.codes.codes[given].astype(np.int64)
    count = 1 if given is None else len(search.codes.features[given].values)
    tables, starts = search.codes.stratified(strata, count, features=[column], threads=1)
    growth = 1.0
    while growth < _MOST_GROWTH:
        growth *= 2.0
        larger = type(tables)(tables.flat * growth, tables.rows, tables.columns, tables.odds)
        p_above = summarize(StratifiedTables.of(larger, starts), options).p_above[0]
        if not 1.0 - _SURE < p_above < _SURE:
            return rounded_up(growth * float(tables.flat.sum()))
    return None


def _relevant(codes: SettledCodes, options: PosteriorOptions, most: int, entropy: float) -> Selection:
    search = Search(codes, options)
    found = relevance(codes, search.alone.p_independent, options.threads)
    p_relevant, partners = found.probability, found.partner.tolist()
    steps: list[Step] = []
    rejected: list[Rejection] = []
    for column in sorted(range(search.count), key=lambda column: (-p_relevant[column], -found.evidence[column])):
        like = None if partners[column] == column else search.names[partners[column]]
        alone = {name: float(getattr(search.alone, name)[column]) for name in ("mean", "low", "high")}
        figures: Record = {"low": alone["low"], "high": alone["high"], "p_adds": float(p_relevant[column])}
        if p_relevant[column] >= options.level and len(steps) < most:
            steps.append(Step(search.names[column], adds=alone["mean"], **figures, partner=like))
        else:
            reason = "tells nothing" if p_relevant[column] <= 1.0 - _SURE else "unsure"
            name = search.names[column]
            rejected.append(Rejection(name, reason, tells=alone["mean"], adds=alone["mean"], **figures))
    return _selection("relevant", search, entropy, steps, rejected)


def _selection(goal: str, search: Search, entropy: float, steps: list[Step], rejected: list[Rejection]) -> Selection:
    codes, options = search.codes, search.options
    rows = codes.groups.size if codes.weights is None else float(codes.weights.sum())
    settings = {"goal": goal, "epsilon": options.epsilon, "level": options.level, "prior": options.prior}
    return Selection(tuple(steps), tuple(rejected), codes.target, rows, codes.classes, entropy, settings)
