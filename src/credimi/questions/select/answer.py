"""The answer of `select`: which columns to take together, how many, and how sure.

**rule="smallest"**: the smallest set that tells all there is to tell: see `smallest_set`.

**rule="relevant"**: all columns that matter, alone or with a partner: see `relevant_features`.

**The rules of rankings** judge each column alone: see `inference.rules`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.arguments import require_whole
from credimi.core.defaults import FDR, LEVEL, PREDICTION_LEVEL
from credimi.core.errors import CredimiError
from credimi.core.ties import best_first
from credimi.counts.weights_remarks import on_weights
from credimi.inference.belief import ADAPTIVE
from credimi.inference.rules import AS_IN_THE_PAPER, RULES, from_common_odds
from credimi.questions.rank.answer import ranked
from credimi.questions.select.cautions import cautions
from credimi.questions.select.only_together import why_nothing
from credimi.questions.select.relevant_features import relevance
from credimi.questions.select.result import Rejection, Selection, Step
from credimi.questions.select.smallest_set import Search, smallest

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import Data, Record, Values
    from credimi.counts.codes import Codes
    from credimi.counts.local_counter import LocalCounter
    from credimi.counts.reading import Reading
    from credimi.inference.belief import Belief
    from credimi.questions.rank.result import Ranking

GOALS = ("smallest", "relevant")  # the rules that look at columns together
SELECTING = (*GOALS, *RULES)
LEVELS = {"smallest": PREDICTION_LEVEL}  # which predicts best; the other rules make a claim about each column
USUAL = {
    "method": None,
    "prior": ADAPTIVE,
    "approximation": "matched",
    "missing_as": "ignore",
    "fdr": FDR,
    "robust_factor": None,
}
_CREDIBLE = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a selection is asked for: the rule, and how many columns to take."""

    rule: str = "smallest"
    level: float | None = None
    max_features: int | None = None
    min_features: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", AS_IN_THE_PAPER.get(self.rule, self.rule))
        if self.rule not in SELECTING:
            raise CredimiError(f"unknown rule {self.rule!r}: choose one of {', '.join(SELECTING)}")
        if self.max_features is not None:
            require_whole("max_features", self.max_features, 1)

    def of(self, belief: Belief) -> Belief:
        """The belief with the level of the rule, unless the caller names one."""
        return replace(belief, level=LEVELS.get(self.rule, LEVEL) if self.level is None else self.level)


def selection_from(data: Data, target: Values, asked: Asked, reading: Reading, belief: Belief) -> Selection:
    """The answer to what `credimi.select` takes."""
    from credimi.counts.request import CountRequest  # noqa: PLC0415  (pyarrow takes a while to load)
    from credimi.sources.codes import codes_of  # noqa: PLC0415  (pyarrow takes a while to load)

    if belief.method is not None and asked.rule == Asked().rule:  # none was named: the paper's is FF
        asked = replace(asked, rule="forward")
    if asked.rule in RULES:
        if reading.scratch is not None:
            raise CredimiError(f"the rule {asked.rule} keeps no codes of rows: leave scratch out (scratch, --scratch)")
        return by_rule(ranked(data, target, reading, asked.of(belief)), asked)
    for name, value in USUAL.items():
        if getattr(reading if name == "missing_as" else belief, name) != value:
            option = f"{name}, --{name.replace('_', '-')}"
            raise CredimiError(
                f"{name} is for the rules {', '.join(RULES)}, not for {asked.rule}: leave it out ({option})"
            )
    request = CountRequest.of(target, reading, progress=reading.step("reading"))
    return selected(codes_of(data, request, reading.scratch), asked, belief, reading.progress)


def selected(
    codes: Codes,
    asked: Asked,
    belief: Belief,
    progress: Callable[[float, str], None] | None = None,
) -> Selection:
    """The same as `select`, for rows that are encoded already."""
    from credimi.counts.local_counter import LocalCounter  # noqa: PLC0415  (pyarrow takes a while to load)

    options, threads = asked.of(belief), belief.threads
    goal, max_features, min_features = asked.rule, asked.max_features, asked.min_features
    check_min_features(min_features, len(codes.features) + len(codes.left_out), max_features)
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


def by_rule(ranking: Ranking, asked: Asked) -> Selection:
    """The columns that a rule of rankings keeps, each judged alone, best first.

    With a `robust_factor`, only those that stand at it. Until there are `min_features`, the most probable others are
    taken. `adds` is what the column tells alone, and `p_adds` is P(I > epsilon).
    """
    names = [str(row["feature"]) for row in ranking]
    check_min_features(asked.min_features, len(names), asked.max_features)
    settings, rows = ranking.settings, {str(row["feature"]): row for row in ranking}
    kept = [str(name) for name in ranking.selected(asked.rule)]
    if "factor" in settings:
        stands = {
            name
            for name, row in rows.items()
            if row["verdict"] == "keep" and row["tipping_factor"] >= settings["factor"]
        }
        kept = [name for name in kept if name in stands]
    kept = kept[: asked.max_features]
    others = [name for name in names if name not in kept and not math.isnan(rows[name]["p_above"])]
    others.sort(key=lambda name: (-rows[name]["p_above"], -rows[name]["mi"], name))
    forced = others[: max(asked.min_features - len(kept), 0)]
    steps, rejected = [], []
    for name in [*kept, *forced]:
        row = rows[name]
        steps.append(Step(name, row["mi"], row["low"], row["high"], row["p_above"], forced=name in forced))
    for name in names:
        if name not in kept and name not in forced and not math.isnan(rows[name]["p_above"]):
            row = rows[name]
            reason = "tells nothing" if row["verdict"] == "drop" else "unsure"
            figures = row["mi"], row["mi"], row["low"], row["high"], row["p_above"]
            rejected.append(Rejection(name, reason, *figures))
    chosen = {name: settings[name] for name in ("epsilon", "level", "prior")}
    chosen |= {name: settings[name] for name in ("fdr",) if asked.rule == name}
    chosen |= {name: settings[name] for name in ("factor", "method") if name in settings}
    left_out = tuple(ranking.facts[name] for name in names if math.isnan(rows[name]["p_above"]))
    selection = Selection(
        tuple(steps),
        tuple(rejected),
        ranking.target,
        ranking.rows,
        ranking.classes,
        ranking.entropy,
        {"goal": asked.rule} | chosen,
        left_out,
    )
    return replace(selection, remarks=tuple(ranking.remarks))


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


def _relevant(
    counter: LocalCounter, search: Search, limits: tuple[int, int], progress: Callable[[float], None] | None
) -> tuple[list[Step], list[Rejection]]:
    (min_taken, max_taken), options = limits, search.options
    relevances = relevance(counter, search.alone.p_independent, progress, search.places)
    p_relevant, partners = relevances.probability, relevances.partner.tolist()
    p_alone = from_common_odds(1.0 - search.alone.p_independent, search.alone.p_independent)
    steps: list[Step] = []
    rejected: list[Rejection] = []
    for column in best_first(search.places, p_relevant, relevances.evidence).tolist():
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
