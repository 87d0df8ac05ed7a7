"""The answer of `select`: which columns to take together, how many, and how sure.

**rule="distinct"**, the default: informative columns, each of which tells what no single other tells: see
`distinct_columns`.

**rule="relevant"**: all columns that matter, alone or with a partner: see `relevant_features`.

**The rules of rankings** judge each column alone: see `inference.rules`.

**Cautions** are the remarks that `rank` would make, as far as a user would act differently, with the probability
`CREDIBLE` for what they claim. What would be wrong with using a column (as good as the target, an identifier, dates, a
copy) is remarked of columns that were taken. What may hide information, or show too much (where values are missing, how
they are written), is remarked of all columns, since that may be why a column was not taken.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_whole
from credimi.core.defaults import FDR, LEVEL
from credimi.core.errors import CredimiError
from credimi.core.ties import best_first, places_by_name
from credimi.counts.weights import on_weights
from credimi.inference.belief import ADAPTIVE, Belief
from credimi.inference.rules import AS_IN_THE_PAPER, CREDIBLE, NEEDS_INDEPENDENCE, RULES, from_common_odds
from credimi.inference.tables.many_tables import summarize
from credimi.questions.rank.answer import ranked
from credimi.questions.rank.copies import copies_in_rows
from credimi.questions.rank.missingness import mi_with_target, missingness, target_missingness
from credimi.questions.rank.remarks import remarks_on
from credimi.questions.select.distinct_columns import distinct, steps_and_rejections
from credimi.questions.select.relevant_features import relevance, why_nothing
from credimi.questions.select.result import Rejection, Selection, Step
from credimi.results.remarks import RemarkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from credimi.columns.feature import Feature
    from credimi.core.types import Data, FloatArray, Record, Values
    from credimi.counts.codes import CodeArray, Codes
    from credimi.counts.counter import Counter
    from credimi.counts.reading import Reading
    from credimi.inference.tables.many_tables import Summary
    from credimi.questions.rank.result import Ranking
    from credimi.results.remarks import Remark

GOALS = ("distinct", "relevant")  # the rules that look at columns together
SELECTING = (*GOALS, *RULES)
USUAL = {
    "method": None,
    "prior": ADAPTIVE,
    "approximation": "matched",
    "missing_as": "ignore",
    "robust_factor": None,
}

_MAX_ROWS = 2_048  # in which columns are compared, as in `rank`


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a selection is asked for: the rule, and how many columns to take."""

    rule: str = "distinct"
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
        return replace(belief, level=LEVEL if self.level is None else self.level)


def selection_from(data: Data, target: Values, asked: Asked, reading: Reading, belief: Belief) -> Selection:
    """The answer to what `credimi.select` takes."""
    from credimi.counts.request import CountRequest  # noqa: PLC0415  (pyarrow takes a while to load)
    from credimi.sources.codes import counter_of  # noqa: PLC0415  (pyarrow takes a while to load)

    if asked.rule == "informative" and asked.level is not None:
        raise CredimiError("level is for the other rules: informative keeps what is more probable than not (--level)")
    if asked.rule == "informative" and belief.prior != ADAPTIVE:
        raise CredimiError(NEEDS_INDEPENDENCE)
    if belief.fdr != FDR and asked.rule != "fdr":
        raise CredimiError(f"fdr is for the rule fdr, not for {asked.rule}: leave it out (fdr, --fdr)")
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
    with counter_of(data, request, reading.scratch) as counter:
        return selected(counter, asked, belief, reading.progress)


def selected(
    counter: Counter,
    asked: Asked,
    belief: Belief,
    progress: Callable[[float, str], None] | None = None,
) -> Selection:
    """The same as `select`, for rows that are encoded already."""
    goal, max_features, min_features = asked.rule, asked.max_features, asked.min_features
    book, classes = counter.book, counter.book.interpreted
    check_min_features(min_features, len(book.features) + len(book.left_out), max_features)
    max_taken = len(book.features) if max_features is None else int(max_features)
    options = asked.of(belief).settled(classes.entropy)
    report = progress or (lambda _share, _doing: None)
    report(0.0, f"looking at {len(book.features):,} columns one by one")
    alone = summarize(counter.by_target(), _as_in_rank(options))
    approximate, complete = alone.approximate, True
    if goal == "distinct":
        found = distinct(counter, alone, options, max_taken, report)
        steps, rejected = steps_and_rejections(found, options.level, min_features)
        approximate, complete = found.approximate, found.complete
    else:
        steps, rejected = _relevant(
            counter, alone, options, (min_features, max_taken), lambda share: report(share, "looking at pairs")
        )
    marked = {name for name, is_so in zip(book.names, approximate.tolist(), strict=True) if is_so}
    taken = {step.feature for step in steps}
    remarks = cautions(counter, (alone.mean, alone.low), taken, options, approximate=marked)
    if goal == "distinct" and complete and all(step.forced for step in steps):
        remarks = (*why_nothing(counter, alone.p_independent, found.odds, belief.threads), *remarks)
    rows = round(counter.rows, 1)
    return Selection(
        tuple(steps),
        tuple(rejected),
        book.target,
        round(rows) if rows == round(rows) else rows,
        book.classes,
        classes.entropy,
        {"goal": goal, **options.threshold, "level": options.level, "prior": options.prior}
        | book.settings.target_in_words,
        tuple(feature.facts for feature in book.left_out),
        complete=complete,
        remarks=(*remarks, *on_weights(counter)),
    )


def by_rule(ranking: Ranking, asked: Asked) -> Selection:
    """The columns that a rule of rankings keeps, each judged alone, best first.

    With a `robust_factor`, only those that stand at it: the others are not robust, and are not cautioned about as kept.
    Until there are `min_features`, the most probable others are taken. `p_adds` is P(I > epsilon).
    """
    rows, settings = {str(row["feature"]): row for row in ranking}, ranking.settings
    check_min_features(asked.min_features, len(rows), asked.max_features)
    kept = [str(name) for name in ranking.selected(asked.rule)]
    by_the_rule, factor = set(kept), settings.get("factor")
    if factor is not None:
        kept = [name for name in kept if rows[name]["verdict"] == "keep" and rows[name]["tipping_factor"] >= factor]
    standing, kept = set(kept), kept[: asked.max_features]
    unknown = [name for name, row in rows.items() if math.isnan(row["p_above"])]
    others = [name for name in rows if name not in kept and name not in unknown]
    by_probability = sorted(others, key=lambda name: (-rows[name]["p_above"], -rows[name]["mi"], name))
    forced = by_probability[: max(asked.min_features - len(kept), 0)]
    figures: dict[str, Record] = {
        name: {"mi": row["mi"], "low": row["low"], "high": row["high"], "p_adds": row["p_above"]}
        for name, row in rows.items()
    }
    reasons = {name: "tells nothing" if rows[name]["verdict"] == "drop" else "unsure" for name in others}
    reasons |= dict.fromkeys(standing.intersection(others), "not reached")
    surely = {name for name in by_the_rule - standing if rows[name]["verdict"] == "keep"}
    reasons |= dict.fromkeys(surely, "not robust")
    taken = {*kept, *forced}
    own = {"epsilon", "epsilon_share", "level", "prior", "factor", "method", "target_as", *({"fdr"} & {asked.rule})}
    return Selection(
        tuple(Step(name, **figures[name], forced=name in forced) for name in (*kept, *forced)),
        tuple(Rejection(name, reasons[name], **figures[name]) for name in others if name not in forced),
        ranking.target,
        ranking.rows,
        ranking.classes,
        ranking.entropy,
        {"goal": asked.rule} | {name: value for name, value in settings.items() if name in own},
        tuple(ranking.facts[name] for name in unknown),
        remarks=tuple(each for each in ranking.remarks if each.kind != RemarkKind.TIPS_EARLY or each.feature in taken),
    )


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
    counter: Counter,
    alone: Summary,
    options: Belief,
    limits: tuple[int, int],
    progress: Callable[[float], None],
) -> tuple[list[Step], list[Rejection]]:
    (min_taken, max_taken), names = limits, list(counter.book.names)
    places = places_by_name(names)
    relevances = relevance(counter, alone.p_independent, progress, places)
    p_relevant, partners = relevances.probability, relevances.partner.tolist()
    p_alone = from_common_odds(1.0 - alone.p_independent, alone.p_independent)
    steps: list[Step] = []
    rejected: list[Rejection] = []
    for column in best_first(places, p_relevant, relevances.evidence).tolist():
        matters_alone = partners[column] == column or p_alone[column] >= options.level
        figures: Record = {"mi": alone.mean, "low": alone.low, "high": alone.high, "p_adds": p_relevant}
        figures = {name: float(values[column]) for name, values in figures.items()}
        credible = bool(p_relevant[column] >= options.level)
        if (credible and len(steps) < max_taken) or len(steps) < min_taken:
            partner = None if matters_alone else names[partners[column]]
            steps.append(Step(names[column], **figures, partner=partner, forced=not credible))
        else:
            nothing_alone = 1.0 - alone.p_above[column] >= CREDIBLE  # as `rank` has it
            with_partners = "tells nothing" if p_relevant[column] <= 1.0 - CREDIBLE else "tells nothing alone"
            reason = with_partners if nothing_alone else "unsure"
            rejected.append(Rejection(names[column], reason, **figures))
    return steps, rejected


def cautions(
    counter: Counter,
    alone: tuple[FloatArray, FloatArray],
    taken: Collection[str],
    options: Belief,
    *,
    approximate: Collection[str],
) -> tuple[Remark, ...]:
    """The cautions about a selection; `alone` has the mean of I and the lower end of its interval, for each feature.

    `approximate` are the features whose P(independent) may be off.
    """
    book, classes = counter.book, counter.book.interpreted
    features = [*book.features, *book.left_out]
    unknown = [np.nan if feature.kind.unknown else 0.0 for feature in book.left_out]
    mean, low = (np.append(figures, unknown) for figures in alone)
    order = best_first(places_by_name([feature.name for feature in features]), np.nan_to_num(mean)).tolist()
    features, options = [features[index] for index in order], _as_in_rank(options)
    summary = missingness(features, options) | target_missingness(features, options)
    columns: Record = {name: values.tolist() for name, values in summary.items()}
    columns |= {"mi": mean[order].tolist(), "low": low[order].tolist()}
    columns["values"] = [feature.block.shape[1] - 1 for feature in features]
    columns["complete"] = [feature.complete for feature in features]
    columns["keep_forward"] = [feature.name in taken for feature in features]
    columns["verdict"] = ["keep" if is_taken else "drop" for is_taken in columns["keep_forward"]]
    columns |= {f"rows_to_decide{end}": [None] * len(features) for end in ("", "_low", "_high")}
    columns["at_epsilon"] = [False] * len(features)
    depends = summary["target_missing_p_above"] >= options.level
    dependent = [feature for feature, is_dependent in zip(features, depends, strict=True) if is_dependent]
    remarks = remarks_on(
        features,
        columns,
        {"epsilon": options.nats, "level": options.level, "prior": options.prior, "missing": "ignore"},
        (book.target, len(classes.labels), classes.entropy, classes.suspicions),
        with_target=mi_with_target(dependent, options),
        copies=_copies(counter, features, columns),
        approximate=approximate,
    )
    return tuple(remark for remark in remarks if remark.caution)


def _as_in_rank(options: Belief) -> Belief:
    return Belief(epsilon=options.nats, level=CREDIBLE, threads=options.threads)


def _copies(counter: Counter, features: list[Feature], columns: Record) -> dict[str, str]:
    """The taken columns that say the same as another taken one, by some of the rows."""
    positions = {name: index for index, name in enumerate(counter.book.names)}

    @cache  # few selections have columns to compare
    def sample() -> Codes:
        return counter.sample(_MAX_ROWS)

    def codes_of(feature: Feature) -> CodeArray:
        return sample().columns[positions[feature.name]]

    return copies_in_rows(features, columns, codes_of)
