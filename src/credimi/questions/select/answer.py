"""`select`: which columns to take together, how many, and how sure.

**goal="smallest"**: the smallest set that tells all there is to tell: see `smallest_set`.

**goal="relevant"**: all columns that matter, alone or with a partner: see `relevant_features`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import check_keywords, require_whole
from credimi.core.errors import CredimiError
from credimi.counts.weights_remarks import on_weights
from credimi.inference.belief import Belief
from credimi.inference.rules import from_common_odds
from credimi.questions.select.cautions import cautions
from credimi.questions.select.only_together import why_nothing
from credimi.questions.select.relevant_features import relevance
from credimi.questions.select.result import Rejection, Selection, Step
from credimi.questions.select.smallest_set import Search, smallest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from credimi.core.types import Data, Option, Record, Values
    from credimi.counts.codes import Codes
    from credimi.counts.local_counter import LocalCounter

GOALS = ("smallest", "relevant")
LEVELS = {"smallest": 0.5, "relevant": 0.95}  # the first predicts best; the second makes a claim about each column
_CREDIBLE = 0.95


def select(
    data: Data,
    target: Values,
    *,
    goal: str = "smallest",
    epsilon: float = 0.003,
    level: float | None = None,
    max_features: int | None = None,
    min_features: int = 0,
    threads: int | None = None,
    progress: Callable[[float, str], None] | None = None,
    scratch: str | Path | None = None,
    **counting: Option,
) -> Selection:
    """Select columns that tell about the target together: which, how many, and how sure.

    Parameters
    ----------
    data : what `credimi.count` takes
        Data frames, arrays, files. Data frames of Spark and Dask are read twice: their partitions become codes where
        they are, and these come here, one byte a cell.
    target : str or array
        The target's column, or its values beside the data.
    goal : "smallest" or "relevant"
        The smallest set that tells all there is to tell; or all columns that matter, alone or with a partner.
    epsilon : float
        The information, in nats, that a column has to add to be worth having.
    level : float, optional
        How probable that has to be. Default: 0.5 for "smallest", which predicts best, and 0.95 for "relevant".
        The first column of "smallest" always needs 0.95.
    max_features : int, optional
        The maximum number of columns to take.
    min_features : int
        The minimum number of columns to take. If fewer are credible, the most probable others are taken, for pipelines
        that need columns. They are no claim, and their steps are marked as `forced`. Columns that cannot tell anything
        are not added.
    threads : int, optional
        Default: all cores.
    progress : callable, optional
        Called with the share of the current step that is done, and the name of the step: "reading", then each step.
    scratch : path, optional
        A folder for data larger than memory: they are read twice, and a file there keeps one byte a cell meanwhile (two
        of columns of more than 255 values).
    **counting
        features, exclude, missing_values, discretize, max_levels, delimiter ...: as in `credimi.count`.

    Returns
    -------
    Selection
        The columns in the order taken, what each adds, and why the others were not taken. Ctrl-C ends the search
        "smallest" with the steps so far, once there are any.

    Examples
    --------
    >>> table = {"tells": list("aabb") * 25, "the same": list("ccdd") * 25, "noise": list("abab") * 25}
    >>> chosen = credimi.select(table | {"class": list("ppqq") * 25}, "class")
    >>> chosen.features
    ('tells',)
    >>> [(each.feature, each.reason, each.like) for each in chosen.rejected]
    [('the same', 'redundant', 'tells'), ('noise', 'adds nothing', 'tells')]
    """
    checked_goal(goal)
    check_keywords("select", counting)
    from credimi.counts.request import CountRequest  # noqa: PLC0415  (pyarrow takes a while to load)
    from credimi.sources.codes import codes_of  # noqa: PLC0415  (pyarrow takes a while to load)

    reading = None if progress is None else lambda share: progress(share, "reading")
    request = CountRequest.of(target, threads=threads, progress=reading, **counting)
    options: Record = {"epsilon": epsilon, "level": level, "max_features": max_features, "min_features": min_features}
    options |= {"threads": threads, "progress": progress}
    return selected(codes_of(data, request, scratch), goal, **options)


def selected(
    codes: Codes,
    goal: str,
    *,
    epsilon: float = 0.003,
    level: float | None = None,
    max_features: int | None = None,
    min_features: int = 0,
    threads: int | None = None,
    progress: Callable[[float, str], None] | None = None,
) -> Selection:
    """The same as `select`, for rows that are encoded already."""
    from credimi.counts.local_counter import LocalCounter  # noqa: PLC0415  (pyarrow takes a while to load)

    if max_features is not None:
        require_whole("max_features", max_features, 1)
    check_min_features(min_features, len(codes.features) + len(codes.left_out), max_features)
    options = Belief(epsilon=epsilon, level=LEVELS[goal] if level is None else level, threads=threads)
    max_taken = len(codes.features) if max_features is None else int(max_features)
    counter, classes = LocalCounter(codes, threads), codes.book.interpreted
    search, complete = Search(counter, options, progress if goal == "smallest" else None), True
    if goal == "relevant":
        pairs = None if progress is None else lambda share: progress(share, "looking at pairs")
        steps, rejected = _relevant(counter, search, (min_features, max_taken), pairs)
    else:
        steps, rejected, complete = smallest(search, max_taken, classes.entropy, min_features)
    approximate = {name for name, is_so in zip(search.names, search.approximate.tolist(), strict=True) if is_so}
    alone, taken = (search.alone.mean, search.alone.low), {step.feature for step in steps}
    remarks = cautions(counter, alone, taken, options, approximate=approximate)
    if goal == "smallest" and complete and all(step.forced for step in steps):
        remarks = (*why_nothing(search), *remarks)
    selection = _selection(goal, search, classes.entropy, steps, rejected)
    remarks = (*remarks, *on_weights(codes))
    return replace(selection, complete=complete, remarks=remarks)


def check_min_features(
    min_features: int, features: int, max_features: int | None = None, max_name: str = "max_features"
) -> None:
    """Refuse what cannot be the minimum number of features; `max_name` is what the caller calls `max_features`."""
    require_whole("min_features", min_features, 0)
    if min_features > features:
        raise CredimiError(f"min_features is {min_features}, but there are {features} features: ask for fewer")
    if max_features is not None and min_features > max_features:
        raise CredimiError(
            f"min_features is {min_features}, more than {max_name}, {max_features}: lower one, or raise the other"
        )


def checked_goal(goal: str) -> str:
    """The goal, if it is known."""
    if goal not in GOALS:
        raise CredimiError(f"unknown goal {goal!r}: choose one of {', '.join(GOALS)}")
    return goal


def _relevant(
    counter: LocalCounter, search: Search, limits: tuple[int, int], progress: Callable[[float], None] | None
) -> tuple[list[Step], list[Rejection]]:
    (min_taken, max_taken), options = limits, search.options
    relevances = relevance(counter, search.alone.p_independent, progress, search.places)
    p_relevant, partners = relevances.probability, relevances.partner.tolist()
    p_alone = from_common_odds(1.0 - search.alone.p_independent, search.alone.p_independent)
    steps: list[Step] = []
    rejected: list[Rejection] = []
    # the last digits of sums depend on the order of the columns: they must not decide
    for column in np.lexsort((search.places, -np.round(relevances.evidence, 9), -np.round(p_relevant, 12))).tolist():
        matters_alone = partners[column] == column or p_alone[column] >= options.level
        partner = None if matters_alone else search.names[partners[column]]
        alone = {name: float(getattr(search.alone, name)[column]) for name in ("mean", "low", "high")}
        figures: Record = {"low": alone["low"], "high": alone["high"], "p_adds": float(p_relevant[column])}
        credible = bool(p_relevant[column] >= options.level)
        if (credible and len(steps) < max_taken) or len(steps) < min_taken:
            figures |= {"adds": alone["mean"], "partner": partner, "forced": not credible}
            steps.append(Step(search.names[column], **figures))
        else:
            nothing_alone = 1.0 - search.alone.p_above_even[column] >= _CREDIBLE  # as `rank` has it
            with_partners = "tells nothing" if p_relevant[column] <= 1.0 - _CREDIBLE else "tells nothing alone"
            reason = with_partners if nothing_alone else "unsure"
            name = search.names[column]
            rejected.append(Rejection(name, reason, tells=alone["mean"], adds=alone["mean"], **figures))
    return steps, rejected


def _selection(goal: str, search: Search, entropy: float, steps: list[Step], rejected: list[Rejection]) -> Selection:
    book, options = search.counter.book, search.options
    rows = round(search.counter.rows, 1)
    rows = round(rows) if rows == round(rows) else rows
    settings = {"goal": goal, "epsilon": options.epsilon, "level": options.level, "prior": options.prior}
    left_out = tuple(feature.facts for feature in book.left_out)
    return Selection(tuple(steps), tuple(rejected), book.target, rows, book.classes, entropy, settings, left_out)
