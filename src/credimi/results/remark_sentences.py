"""Remarks on a ranking or a selection in English: one sentence for all remarks of a kind.

Remarks are plain data, like the facts in `sentences`, and no code reads a sentence back. A sentence is a template: it
names fields of the first remark, `{all}`, which lists the columns that the remarks are about, and words of `_WORDS`. So
does the template of one column in that list. Where the sentence depends on the remarks, a function chooses it.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from credimi.results.sentences import (
    CAUTIONS_OF_INFORMATION,
    COMMAND_LINE,
    NAMES_OF_DIGITS,
    NO_NAME,
    NOTATIONS,
    PYTHON,
    READABLE,
    amount,
    asked,
    by_halves,
    codes,
    counted,
    discretize,
    exclude,
    first_few,
    may_mean_missing,
    missing,
    name,
    read_as,
    rows_needed,
    spelled_alike,
    unit,
    up_to,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from credimi.results.sentences import Facts

RANKING, SELECTION = "ranking", "selection"  # what is remarked on
_ONE_LINE_PER_NOTATION = {"readable_text", "other_notation"}  # kinds of remarks


def line_of(kind: str, notation: str | None) -> tuple[str, str | None]:
    """The key of remarks that share one line."""
    return kind, notation if kind in _ONE_LINE_PER_NOTATION else None


def line_of_facts(facts: Facts) -> tuple[str, str | None]:
    """The key of a remark that is plain data: see `line_of`."""
    return line_of(facts["kind"], facts.get("notation"))


def lines(remarks: Iterable[Facts], reader: str = PYTHON, of: str = RANKING) -> list[str]:
    """One line for each group of consecutive remarks of one kind; cautions are marked."""
    sentences = []
    for _, group in groupby(remarks, line_of_facts):
        alike = list(group)
        sentences.append("caution: " * alike[0]["caution"] + remark(alike, reader, of))
    return sentences


def remark(remarks: Sequence[Facts], reader: str = PYTHON, of: str = RANKING) -> str:
    """One sentence for remarks of one kind; `of` is what they are about."""
    kind = remarks[0]["kind"]
    template = (_OF_SELECTION if of == SELECTION else {}).get(kind, _SENTENCES[kind])
    return (template if isinstance(template, str) else template(remarks)).format_map(_Words(remarks, reader, of))


class _Words(dict[str, Any]):
    """What a template may name: fields of the first remark, and words that are made of all remarks when needed."""

    def __init__(self, remarks: Sequence[Facts], reader: str, of: str) -> None:
        super().__init__(remarks[0], of=of)
        self.remarks, self.reader, self.of = remarks, reader, of

    def __missing__(self, word: str) -> str:
        if word != "all":
            return _WORDS[word](self.remarks, self.reader)
        one, between = _ONE.get(self["kind"], "{name}"), "; " if self["kind"] in _LONG else ", "
        return first_few([one.format_map(_Words([each], self.reader, self.of)) for each in self.remarks], between)


_WORDS: dict[str, Callable[[Sequence[Facts], str], str]] = {
    "name": lambda remarks, _: name(remarks[0]),
    "partner": lambda remarks, _: remarks[0]["other"] or NO_NAME,
    "amount": lambda remarks, _: amount(remarks[0]),
    "unit": lambda remarks, _: unit(remarks[0]),
    "up_to": lambda remarks, _: up_to(remarks[0]["factor"]),
    "pair": lambda remarks, _: (
        f"{name(remarks[0])} and {remarks[0]['other'] or NO_NAME}" if "other" in remarks[0] else name(remarks[0])
    ),
    "classes": lambda remarks, _: f"class{'es' * (len(remarks[0]['codes']) > 1)} {codes(remarks[0])}",
    "entropy": lambda remarks, _: f"{remarks[0][unit(remarks[0])]:.4g} {unit(remarks[0])}",
    "may_be": lambda remarks, _: may_mean_missing(remarks[0]),
    "taken": lambda remarks, _: ", ".join(map(repr, remarks[0]["codes"])),
    "read_as": lambda remarks, _: read_as(remarks[0]["codes"]),
    "both_notations": lambda remarks, _: ", but also ".join(map(repr, remarks[0]["codes"])),
    "as_written": lambda remarks, reader: discretize(remarks[0]["feature"], "categories", reader),
    "alike": lambda remarks, _: spelled_alike(remarks[0]["codes"]),
    "counted_rows": lambda remarks, _: counted(remarks[0]["rows"], "row"),
    "needed": lambda remarks, _: rows_needed(*(remarks[0][of] for of in ("rows", "least_rows", "most_rows"))),
    "worth_each": lambda remarks, _: _worth_each(remarks[0]),
    "digits": lambda remarks, _: NAMES_OF_DIGITS[remarks[0]["notation"]],
    "readable": lambda remarks, _: READABLE[remarks[0]["notation"]],
    "correct": lambda remarks, _: NOTATIONS[remarks[0]["notation"]][2],
    "missing": lambda remarks, reader: missing(remarks[0], reader),
    "all_missing": lambda _, reader: "--missing VALUE" if reader == COMMAND_LINE else "add them to missing_values",
    "exclude": exclude,
    "by_quantiles": lambda remarks, reader: discretize(remarks[0]["feature"], "quantile", reader),
    "by_mdl": lambda remarks, reader: discretize(remarks[0]["feature"], "mdl", reader),
    "discretize": lambda _, reader: "--discretize" if reader == COMMAND_LINE else "discretize",
    "epsilon": lambda remarks, reader: (
        f"{'--epsilon' if reader == COMMAND_LINE else 'epsilon'}{', in nats,' * (unit(remarks[0]) != 'nats')}"
    ),
    "by_halves": lambda remarks, reader: by_halves(remarks[0]["feature"], reader),
    "percent": lambda remarks, _: f"{100.0 * remarks[0]['share']:.0f} %",
    "cut_target": lambda _, reader: asked("target_cuts", "quantile:4", reader),
    "relevant": lambda _, reader: asked("rule", "relevant", reader),
    "interactions": lambda _, reader: "`credimi interactions`" if reader == COMMAND_LINE else "credimi.interactions",
    "adaptive": lambda _, reader: asked("prior", "adaptive", reader),
    "matched": lambda _, reader: asked("approximation", "matched", reader),
    "as_category": lambda _, reader: asked("missing_as", "category", reader),
    "are_survey": lambda _, reader: asked("weights_are", "survey", reader),
    "are_rows": lambda _, reader: asked("weights_are", "rows", reader),
}
_ONE = {  # of the columns that a sentence lists, if that is more than the name
    "only_together": "{name} (with {partner})",
    "possible_identifier": "{name} ({values:,} values, {rows_each:.2g} rows each)",
    "missing_tells": "{name} ({amount})",
    "target_missing_depends": "{name} ({mi:.4f} {unit} using all rows, {mi_with_target:.4f} using labelled rows)",
    "much_of_target": "{name} ({percent})",
    "tips_early": "{name} ({up_to})",
    "approximate": "{pair}",
    "copy": "{name} (of {partner})",
    "many_cuts": "{name} ({values:,} cuts)",
    "may_mean_missing": "{name}: {may_be}",
    "spelled_alike": "{name}: {alike}",
    "other_notation": "{name} ({both_notations})",
    "read_as": "{name} ({read_as})",
    "taken_as_missing": "{name}: {taken}",
    "may_be_codes": "{name} ({values:,} values)",
    "rows_to_decide": "{name} {needed}",
}
_LONG = {
    "possible_identifier",
    "may_mean_missing",
    "spelled_alike",
    "taken_as_missing",
    "read_as",
}  # whose columns are separated by semicolons


def _worth_each(remark: Facts) -> str:
    """How many rows single tables are worth, as part of a sentence."""
    least, most = remark.get("least_rows"), remark.get("most_rows")
    if least is None or most is None:
        return ""
    rows = counted(least, "row") if least == most else f"from {least:,} to {counted(most, 'row')}"
    return f"; the tables of single columns are worth {rows}"


_SENTENCES: dict[str, str | Callable[[Sequence[Facts]], str]] = {
    "target_measured": (
        "the target {target!r} has {values:,} classes, all of them numbers, and looks like a measurement: cut it into "
        "a few ranges ({cut_target}, say)"
    ),
    "target_identifier": (
        "the target {target!r} has {values:,} classes, with fewer than two rows each on average, and looks like an "
        "identifier: nothing can be learned about classes of one row; choose another target"
    ),
    "target_missing_codes": (
        "the target {target!r} has the {classes}, which may mean missing ({missing}: then in all columns)"
    ),
    "target_spelled_alike": (
        "classes of the target {target!r} that are probably the same: {alike}; unify the spelling"
    ),
    "epsilon_above_entropy": (
        "no column can have more information than the entropy of the target {target!r}, {entropy}, and {epsilon} is "
        "not below it: everything is dropped"
    ),
    "nearly_target": (
        "{all}: predicts the target almost perfectly: check for leakage (is it known before the target? {exclude} "
        "leaves it out)"
    ),
    "parts_of_target": (
        "together they give the target almost exactly: {all}: check for leakage (is the target made of them, or are "
        "they made from it? {exclude} leaves out)"
    ),
    "much_of_target": (
        "more than half of the target's entropy: {all}: check for leakage (is it known before the target, and not made "
        "from it? {exclude} leaves it out)"
    ),
    "only_together": (
        "no column is informative enough alone, but in combination: {all}; {relevant} takes such columns, and "
        "{interactions} lists the pairs"
    ),
    "nothing_together": lambda remarks: (
        "no column is informative enough alone, and no two columns are credibly so in combination (all pairs, in "
        "{counted_rows})"
        if "rows" in remarks[0]
        else "no column is informative enough alone; {values:,} columns are too many to look at all pairs here: "
        "{relevant} looks at them, and {interactions} lists pairs"
    ),
    "maybe_noise": "kept, but with so few rows this prior cannot tell them from noise: {all} ({adaptive} can)",
    "no_spread": (
        "the variance of leading order is 0, which is no certainty: {all}; verdict, interval and probabilities say no "
        "more than the estimate alone ({matched} without a method gives a spread)"
    ),
    "possible_identifier": (
        "possible identifiers (many values, few rows each): {all}; values not seen before carry no information "
        "({exclude})"
    ),
    "missing_tells": (
        "whether the column is missing is itself informative about the target: {all}; missing values are treated as "
        "unknown ({as_category} makes them a category)"
    ),
    "target_missing_depends": (
        "the target is missing more often at some values of {all}; find out why: where the two figures differ, the "
        "{of} is right only if the target is missing at random"
    ),
    "tips_early": "kept only if values are missing (almost) at random: {all}; find out why they are missing",
    "approximate": (
        f"{{all}}: {CAUTIONS_OF_INFORMATION['approximate']}, and all that follows from it, because two columns are "
        "both missing often where few rows have both"
    ),
    "copy": lambda remarks: (
        ("duplicate of another column: {all}" if len(remarks) == 1 else "duplicates of other columns: {all}")
        + "; one of them is enough ({exclude})"
    ),
    "time": (
        "{all}: dates or times: what held in the past may not hold for new rows, and random folds mislead: test on the "
        "latest rows ({by_halves} compares the halves; {exclude})"
    ),
    "many_cuts": (
        "cut into very many ranges: {all}; so many may follow a key or a time rather than a measurement "
        "({by_quantiles} makes ten)"
    ),
    "may_mean_missing": lambda remarks: (
        f"{{all}} (if so: {'{missing}' if len(remarks) == 1 else '{all_missing}'}, for all columns)"
    ),
    "may_be_codes": (
        "numbers that may be codes, whose order means nothing, were binned: {all} ({as_written} makes each a category)"
    ),
    "taken_as_missing": "taken as missing: {all} ({as_written} takes the values as they are)",
    "read_as": "text that was read as numbers or dates: {all} ({as_written} takes it as text)",
    "spelled_alike": "probably the same value: {all} (unify the spelling)",
    "readable_text": lambda remarks: (
        "{all}: read as text because of {digits}; to bin them, if they are numbers: {by_mdl}"
        if remarks[0]["notation"] in NAMES_OF_DIGITS
        else "{all}: {readable} are read as text; to bin them as numbers: {by_mdl}"
    ),
    "other_notation": "{all}: read as text; write {correct}",
    "rows_to_decide": "rows needed for a clear verdict (rough estimate): {all}",
    "at_epsilon": "the score is too close to epsilon for more rows to decide: {all}",
    "averaged_over_cuts": (
        "numbers were averaged over all ways to bin them (see {discretize}); integers with up to 20 distinct values "
        "are treated as categories"
    ),
    "cut_into_ranges": (
        "numbers were binned (see {discretize}); integers with up to 20 distinct values are treated as categories"
    ),
    "weights_large": (
        "the weights are whole, and were taken for numbers of rows, {rows:,} in all, though they look like survey "
        "weights: if each says how many people a row stands for, the results are far too certain; say {are_survey} "
        "then, and otherwise {are_rows}"
    ),
    "weights_too_large": (
        "the weights are whole but too large to add exactly (their sum is above 2^53): they were scaled to "
        "{counted_rows} (the effective sample size){worth_each}; if they are numbers of rows, divide all of them by "
        "the same number"
    ),
    "weights_scaled": (
        "the weights are survey weights, no numbers of rows: they were scaled to {counted_rows} (the effective sample "
        "size){worth_each}"
    ),
}
_OF_SELECTION = {  # `select` has other options than `rank`
    "missing_tells": (
        "whether the column is missing is itself informative about the target: {all}; missing values are treated as "
        "unknown (add a column that says where it is missing, and this can be taken, too)"
    )
}
