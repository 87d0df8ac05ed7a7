"""Remarks on a ranking or a selection in English: one sentence for all remarks of a kind.

Remarks are plain data, like the facts in `sentences`, and no code reads a sentence back.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

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
    codes,
    counted,
    discretize,
    exclude,
    first_few,
    may_mean_missing,
    missing,
    name,
    names,
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
    return (_OF_SELECTION.get(kind, _REMARKS[kind]) if of == SELECTION else _REMARKS[kind])(remarks, reader)


def _target_measured(remarks: Sequence[Facts], reader: str) -> str:
    target, classes = remarks[0]["target"], remarks[0]["values"]
    return (
        f"the target {target!r} has {classes:,} classes, all of them numbers, and looks like a measurement: cut it "
        f"into a few ranges ({asked('target_cuts', 'quantile:4', reader)}, say)"
    )


def _target_identifier(remarks: Sequence[Facts], _reader: str) -> str:
    target, classes = remarks[0]["target"], remarks[0]["values"]
    return (
        f"the target {target!r} has {classes:,} classes, with fewer than two rows each on average, and looks like an "
        "identifier: nothing can be learned about classes of one row; choose another target"
    )


def _epsilon_above_entropy(remarks: Sequence[Facts], reader: str) -> str:
    units = unit(remarks[0])
    entropy, in_nats = f"{remarks[0][units]:.4g} {units}", ", in nats," if units != "nats" else ""
    epsilon_name = f"{'--epsilon' if reader == COMMAND_LINE else 'epsilon'}{in_nats}"
    return (
        f"no column can tell more than the entropy of the target {remarks[0]['target']!r}, {entropy}, "
        f"and {epsilon_name} is not below it: everything is dropped"
    )


def _target_missing_codes(remarks: Sequence[Facts], reader: str) -> str:
    target, plural = remarks[0]["target"], "es" * (len(remarks[0]["codes"]) > 1)
    return (
        f"the target {target!r} has the class{plural} {codes(remarks[0])}, which may mean missing "
        f"({missing(remarks[0], reader)}: then in all columns)"
    )


def _target_spelled_alike(remarks: Sequence[Facts], _reader: str) -> str:
    spellings = spelled_alike(remarks[0]["codes"])
    return f"classes of the target {remarks[0]['target']!r} that may be one: {spellings}; write them in the same way"


def _nearly_target(remarks: Sequence[Facts], reader: str) -> str:
    fact = f"{names(remarks)}: as good as the target itself; make sure that it is known before the target is"
    return f"{fact} ({exclude(remarks, reader)})"


def _only_together(remarks: Sequence[Facts], reader: str) -> str:
    shown = first_few([f"{name(each)} (with {each['other'] or NO_NAME})" for each in remarks])
    return (
        f"no column is informative enough alone, but in combination: {shown}; {_relevant(reader)} takes such columns, "
        f"and {_interactions(reader)} lists the pairs"
    )


def _nothing_together(remarks: Sequence[Facts], reader: str) -> str:
    fact = remarks[0]
    if "rows" not in fact:
        return (
            f"no column is informative enough alone; {fact['values']:,} columns are too many to look at all pairs "
            f"here: {_relevant(reader)} looks at them, and {_interactions(reader)} lists pairs"
        )
    return (
        f"no column is informative enough alone, and no two columns are credibly so in combination (all pairs, in "
        f"{counted(fact['rows'], 'row')})"
    )


def _relevant(reader: str) -> str:
    return asked("rule", "relevant", reader)


def _interactions(reader: str) -> str:
    return "`credimi interactions`" if reader == COMMAND_LINE else "credimi.interactions"


def _maybe_noise(remarks: Sequence[Facts], reader: str) -> str:
    advice = asked("prior", "adaptive", reader)
    return f"kept, but with so few rows this prior cannot tell them from noise: {names(remarks)} ({advice} can)"


def _possible_identifier(remarks: Sequence[Facts], reader: str) -> str:
    shown = first_few(
        [f"{name(each)} ({each['values']:,} values, {each['rows_each']:.2g} rows each)" for each in remarks], "; "
    )
    return (
        f"possible identifiers (many values, few rows each): {shown}; new values will tell nothing "
        f"({exclude(remarks, reader)})"
    )


def _missing_tells(remarks: Sequence[Facts], reader: str) -> str:
    return f"{_where_missing(remarks)} ({asked('missing_as', 'category', reader)} takes them as a value)"


def _missing_tells_of_selection(remarks: Sequence[Facts], _reader: str) -> str:
    return f"{_where_missing(remarks)} (add a column that says where it is missing, and this can be taken, too)"


def _where_missing(remarks: Sequence[Facts]) -> str:
    shown = first_few([f"{name(each)} ({amount(each)})" for each in remarks])
    return f"where it is missing tells about the target: {shown}; missing values are taken as not known"


def _target_missing_depends(remarks: Sequence[Facts], _reader: str, of: str = RANKING) -> str:
    shown = first_few(
        [
            f"{name(each)} ({each['mi']:.4f} {unit(each)} by all rows, {each['mi_with_target']:.4f} by rows with the "
            "target)"
            for each in remarks
        ]
    )
    return (
        f"the target is missing more often at some values of {shown}; ask why it is missing: where the two figures "
        f"differ, the {of} is right only if the target is missing at random"
    )


def _tips_early(remarks: Sequence[Facts], _reader: str) -> str:
    shown = first_few([f"{name(each)} ({up_to(each['factor'])})" for each in remarks])
    return (
        f"kept, but only if values are missing nearly at random: {shown}; ask why they are missing before you rely on "
        "this"
    )


def _approximate(remarks: Sequence[Facts], _reader: str) -> str:
    shown = first_few(
        [f"{name(each)} and {each['other'] or NO_NAME}" if "other" in each else name(each) for each in remarks]
    )
    return (
        f"{shown}: {CAUTIONS_OF_INFORMATION['approximate']}, and all that follows from it, because two columns are "
        "both missing often where few rows have both"
    )


def _copy(remarks: Sequence[Facts], reader: str) -> str:
    if len(remarks) == 1:
        fact = f"{name(remarks[0])} says the same as {remarks[0]['other'] or NO_NAME}"
    else:
        shown = first_few([f"{name(each)} (as {each['other'] or NO_NAME})" for each in remarks])
        fact = f"say the same as another column: {shown}"
    return f"{fact}; one of them is enough ({exclude(remarks, reader)})"


def _time(remarks: Sequence[Facts], reader: str) -> str:
    fact = f"{names(remarks)}: dates or times; what is true of a range of time does not carry over to later rows"
    return f"{fact} ({exclude(remarks, reader)})"


def _many_cuts(remarks: Sequence[Facts], reader: str) -> str:
    shown = first_few([f"{name(each)} ({each['values']:,} cuts)" for each in remarks])
    first = discretize(remarks[0]["feature"], "quantile", reader)
    return (
        f"cut into very many ranges: {shown}; so many may follow a key or a time rather than a measurement "
        f"({first} makes ten)"
    )


def _codes_of_missing(remarks: Sequence[Facts], reader: str) -> str:
    shown = first_few([f"{name(each)}: {may_mean_missing(each)}" for each in remarks], "; ")
    advice = "--missing VALUE" if reader == COMMAND_LINE else "add them to missing_values"
    return f"{shown} (if so: {missing(remarks[0], reader) if len(remarks) == 1 else advice}, for all columns)"


def _spelled_alike(remarks: Sequence[Facts], _reader: str) -> str:
    shown = first_few([f"{name(each)}: {spelled_alike(each['codes'])}" for each in remarks], "; ")
    return f"values that may be one: {shown} (write them in the same way)"


def _readable_text(remarks: Sequence[Facts], reader: str) -> str:
    first = remarks[0]
    advice = discretize(first["feature"], "mdl", reader)
    if first["notation"] in NAMES_OF_DIGITS:
        why = NAMES_OF_DIGITS[first["notation"]]
        return f"{names(remarks)}: taken for text because of {why}; to cut them, if they are numbers: {advice}"
    return f"{names(remarks)}: {READABLE[first['notation']]} are taken for text; to cut them as numbers: {advice}"


def _other_notation(remarks: Sequence[Facts], _reader: str) -> str:
    shown = first_few([f"{name(each)} ({each['codes'][0]!r})" for each in remarks])
    return f"{shown}: taken for text; write {NOTATIONS[remarks[0]['notation']][2]}"


def _rows_to_decide(remarks: Sequence[Facts], _reader: str) -> str:
    shown = first_few([f"{name(each)} {each['rows']:,}" for each in remarks])
    return f"rows needed to decide, roughly: {shown}"


def _at_epsilon(remarks: Sequence[Facts], _reader: str) -> str:
    return f"more rows would hardly help, since I lies at epsilon: {names(remarks)}"


def _cut_into_ranges(_remarks: Sequence[Facts], reader: str) -> str:
    advice = "--discretize" if reader == COMMAND_LINE else "discretize"
    return f"numbers were cut into ranges (see {advice}); whole numbers of at most 20 values are categories"


def _weights_scaled(remarks: Sequence[Facts], _reader: str) -> str:
    return (
        "the weights are survey weights, no numbers of rows: they were scaled to what they are worth, "
        f"{counted(remarks[0]['rows'], 'row')} (the effective sample size){_worth_each(remarks[0])}"
    )


def _worth_each(remark: Facts) -> str:
    """How many rows single tables are worth, as part of a sentence."""
    least, most = remark.get("least_rows"), remark.get("most_rows")
    if least is None or most is None:
        return ""
    rows = counted(least, "row") if least == most else f"from {least:,} to {counted(most, 'row')}"
    return f"; the tables of single columns are worth {rows}"


def _weights_large(remarks: Sequence[Facts], reader: str) -> str:
    advice, rows = (asked("weights_are", each, reader) for each in ("survey", "rows"))
    return (
        f"the weights are whole, and were taken for numbers of rows, {remarks[0]['rows']:,} in all, though they look "
        f"like survey weights: if each says how many people a row stands for, the results are far too certain; say "
        f"{advice} then, and otherwise {rows}"
    )


def _weights_too_large(remarks: Sequence[Facts], _reader: str) -> str:
    return (
        "the weights are whole but too large to add exactly (their sum is above 2^53): they were scaled to "
        f"{counted(remarks[0]['rows'], 'row')} (the effective sample size){_worth_each(remarks[0])}; if they are "
        "numbers of rows, divide all of them by the same number"
    )


_REMARKS: dict[str, Callable[[Sequence[Facts], str], str]] = {
    "target_measured": _target_measured,
    "target_identifier": _target_identifier,
    "target_missing_codes": _target_missing_codes,
    "target_spelled_alike": _target_spelled_alike,
    "epsilon_above_entropy": _epsilon_above_entropy,
    "nearly_target": _nearly_target,
    "only_together": _only_together,
    "nothing_together": _nothing_together,
    "maybe_noise": _maybe_noise,
    "possible_identifier": _possible_identifier,
    "missing_tells": _missing_tells,
    "target_missing_depends": _target_missing_depends,
    "tips_early": _tips_early,
    "approximate": _approximate,
    "copy": _copy,
    "time": _time,
    "many_cuts": _many_cuts,
    "may_mean_missing": _codes_of_missing,
    "spelled_alike": _spelled_alike,
    "readable_text": _readable_text,
    "other_notation": _other_notation,
    "rows_to_decide": _rows_to_decide,
    "at_epsilon": _at_epsilon,
    "cut_into_ranges": _cut_into_ranges,
    "weights_large": _weights_large,
    "weights_too_large": _weights_too_large,
    "weights_scaled": _weights_scaled,
}
_OF_SELECTION: dict[str, Callable[[Sequence[Facts], str], str]] = {  # `select` has other options than `rank`
    "missing_tells": _missing_tells_of_selection,
    "target_missing_depends": partial(_target_missing_depends, of=SELECTION),
}
