"""Facts about columns in English: notes. `remark_sentences` does the same for remarks on a ranking.

Facts come in as plain data, with kinds by name, and no code reads a sentence back: the words may change, and the
decisions stay the same. Advice uses the reader's terms: arguments of Python, or options of the command line.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from credimi.core.command import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Facts = Mapping[str, Any]

PYTHON, COMMAND_LINE = "python", "command line"
NO_NAME = "(no name)"  # what is shown of a column whose name is empty

CAUTIONS_OF_INFORMATION = {
    "approximate": "P(independent) may be off by more than 0.02",
    "no_spread": "the variance of leading order is 0 here, which is no certainty: use matched or sampled instead",
    "spread_reduced": "no Beta has the variance of leading order, so it was reduced: use matched or sampled instead",
}
CUT_APART = "cut at different places in the two: compare their counts or data"  # of two rankings

_ONE_NUMBER = 3.0  # the upper quartile of the rows needed over the lower one, at most, for one number
_LARGE_FACTOR = 1_000  # larger factors are not shown exactly
_MAX_NAMES_SHOWN = 3  # in one line
_MANY_ROWS = 10  # sums of weights from here on are shown as whole rows
_CUT_BY = {
    "average": "all cuts",
    "mdl": "mdl",
    "quarters": "quarters, as no cut passes the MDL test",
    "quantile": "quantile",
    "given": "given cuts",
}
READABLE = {
    "leading_zeros": "leading zeros",
    "many_digits": "16 digits or more",
    "decimal_commas": "decimal commas",
    "dates": "dates",
    "numerals": "numerals",
}
NAMES_OF_DIGITS = {  # why digits are taken for names
    "leading_zeros": "leading zeros",
    "many_digits": "16 digits or more, which numbers do not hold exactly",
}
NOTATIONS = {  # notations that are not read: what the values are, how they are written, how they should be written
    "date_notation": ("dates", "written", "YYYY-MM-DD"),
    "percent_signs": ("numbers", "percent signs", "plain numbers, such as 12.5"),
    "currency_signs": ("numbers", "currency signs", "plain numbers, such as 12.5"),
    "thousands_separators": ("numbers", "thousands separators", "plain numbers, such as 1234.5"),
}


_READ_AS = {  # what text was read as
    "date": "dates",
    "time": "times in seconds",
    "money": "amounts of money",
    "percent": "percentages",
    "unit": "numbers with a unit",
    "separators": "numbers with separators",
}


def note(facts: Facts, reader: str = PYTHON) -> str:
    """What a column is, how its numbers were cut, and what its values may be instead."""
    if facts["kind"] in _ONE_SENTENCE:
        return _ONE_SENTENCE[facts["kind"]](facts, reader)
    start, cuts = "categories", facts["cuts"]
    if facts["kind"] == "ranges":
        start = f"{_cut_by(facts)}: {', '.join(cuts)}" if cuts else _cut_by(facts)
    end = "; missing is a value" if facts["missing_is_value"] else ""
    return start + "".join(_suspicion(each) for each in facts["suspicions"]) + end


def short_note(facts: Facts, values: int, reader: str = PYTHON) -> str:
    """The note with the number of values, and without the cuts."""
    if facts["kind"] == "ranges":
        return f"{values:,} ranges: {_cut_by(facts)}"
    return f"{values:,} {note(facts, reader)}" if facts["kind"] == "categories" else note(facts, reader)


def why_left_out(facts: Facts, reader: str = PYTHON) -> str:
    """Why a learner leaves a column out."""
    if facts["kind"] != "ranges":
        return note(facts, reader)
    advice = discretize(facts["feature"], "quantile", reader)
    return f"no cut passes the MDL test (`rank` alone takes its quarters then; {advice} uses it here)"


def whole_if_many(number: float) -> int | float:
    """A number of rows, which may be a sum of weights: whole from 10 up, otherwise with one digit."""
    return round(number) if number >= _MANY_ROWS or float(number).is_integer() else round(number, 1)


def counted(number: float, noun: str) -> str:
    """A number of things: 1 row, 2 rows, and 2.5 rows as sums of weights have them."""
    number = whole_if_many(number)
    return f"{number:,} {noun}{'s' * (number != 1)}"


def rows_needed(median: int, low: int, high: int) -> str:
    """The rows that would decide: one number only if its quartiles are near each other."""
    return f"{median:,}" if high <= _ONE_NUMBER * low else f"{low:,} to {high:,}"


def up_to(factor: float) -> str:
    """A tipping factor, rounded down."""
    if factor == math.inf:
        return "at any factor"
    if factor >= _LARGE_FACTOR:
        return f"beyond {_LARGE_FACTOR:,}x"
    digits = 2 if factor < 2.0 else 1 if factor < 10.0 else 0
    return f"up to {math.floor(factor * 10**digits) / 10**digits:.{digits}f}x"


def verdict_with_factor(row: Facts) -> str:
    """The verdict on a feature and, if it is known, up to which factor it stands."""
    tipping_factor, verdict = row.get("tipping_factor", math.nan), str(row["verdict"])
    return (
        verdict
        if verdict not in {"keep", "drop"} or math.isnan(tipping_factor)
        else f"{verdict}, {up_to(tipping_factor)}"
    )


def verdict_counts(verdicts: Sequence[str], order: Iterable[str], lines: int, to_see_all: str = "") -> str:
    """How many features have each verdict, and how many lines are shown, if not all; the last are words on the rest."""
    numbers = ", ".join(f"{verdicts.count(each):,} {each}" for each in order if each in verdicts)
    number = f" {lines:,}" if lines > 1 else ""
    fewer = f"; the first{number} shown{to_see_all}" if lines < len(verdicts) else ""
    return f"{counted(len(verdicts), 'feature')}: {numbers or 'none'}{fewer}"


def numeric_named(target: str, settings: Facts, ranges: int) -> str:
    """The target's name; where it is a number, it says how it is taken."""
    kinds = {"number": "numeric", "ranges": f"numeric, in {ranges} ranges"}
    kind = kinds.get(settings.get("target_as", ""))
    return target if kind is None else f"{target} ({kind})"


def rows_in_words(rows: float, with_target: float | None) -> str:
    """How many rows there are, and how many of them have the target, if not all have."""
    if with_target is None or with_target == rows:
        return counted(rows, "row")
    return f"{with_target:,} of {counted(rows, 'row')} {'has' if with_target == 1 else 'have'} the target"


def unranked_lines(columns: Iterable[Facts], reader: str = PYTHON) -> list[str]:
    """Why columns are not ranked, or tell nothing: a line for each column, or one line for many of a kind."""
    lines = []
    for kind, group in groupby(sorted(columns, key=lambda each: _UNRANKED.index(_group(each))), _group):
        group_columns = list(group)
        if len(group_columns) <= _MAX_NAMES_SHOWN:
            lines += [f"{name(each)}: {note(each, reader)}" for each in group_columns]
        elif kind == "identifier":
            shown = first_few([f"{name(each)} ({_distinct(each)})" for each in group_columns])
            advice = "--discretize COLUMN=categories" if reader == COMMAND_LINE else "discretize={...: 'categories'}"
            lines.append(f"identifiers, not ranked: {shown}; {advice} ranks one")
        elif kind in _MEANT_TOGETHER:
            advice = _made_readable(kind, group_columns[0], reader)
            lines.append(f"{_MEANT_TOGETHER[kind]}, not ranked: {names(group_columns)} ({advice})")
        else:
            shown = first_few([f"{name(each)}{_of_its_kind(each)}" for each in group_columns])
            lines.append(f"{_UNRANKED_TOGETHER[kind]}: {shown}")
    return lines


def _group(facts: Facts) -> str:
    """The kind of a column that is not ranked; if its values only look like an identifier, what they are instead."""
    meant = _meant(facts) if facts["kind"] == "identifier" else None
    return str(facts["kind"] if meant is None else meant["kind"])


def _made_readable(kind: str, first: Facts, reader: str) -> str:
    """How columns of this kind become numbers or dates. If each needs an option of its own, that of the first one."""
    if kind in NOTATIONS:
        return f"write {NOTATIONS[kind][2]}"
    if kind == "strays":
        return "--missing VALUE" if reader == COMMAND_LINE else "add them to missing_values"
    method = first.get("method_without_target")
    return f"{discretize(first['feature'], method or 'mdl', reader)} {'compares' if method else 'ranks'} it"


def _of_its_kind(facts: Facts) -> str:
    detail = {"constant": facts["value"], "uncountable": facts["fault"]}.get(facts["kind"])
    return "" if detail is None else f" ({detail})"


def _cut_by(facts: Facts) -> str:
    count = len(facts["cuts"])
    return f"{_CUT_BY[facts['cut_by']]}, {count or 'no'} cut{'s' * (count > 1)}"


def _identifier(facts: Facts, reader: str) -> str:
    if facts["distinct"] is None:
        return f"identifier: {_distinct(facts)}"
    method = facts.get("method_without_target")  # of results that are no rankings
    cut, verb = discretize(facts["feature"], method or "mdl", reader), "compares" if method else "ranks"
    meant = _meant(facts)
    if meant is None:
        categories = discretize(facts["feature"], "categories", reader)
        reasons = [NAMES_OF_DIGITS[each["kind"]] for each in facts["suspicions"] if each["kind"] in NAMES_OF_DIGITS]
        why = "".join(f", text because of {reason}" for reason in reasons)
        return f"identifier: {_distinct(facts)}{why} ({cut if reasons or facts['numbers'] else categories} {verb} it)"
    if meant["kind"] == "strays":
        strays = {"codes": meant["values"], "notation": "strays"}
        start = f"numbers but for {_quoted(meant['values'])} ({missing(strays, reader)})"
    elif meant["kind"] in NOTATIONS:
        start = _notation(meant)
    else:
        start = f"{_MEANT_TOGETHER[meant['kind']]} ({cut} {verb} them)"
    return f"{start}; as text, an identifier: {_distinct(facts)}"


def _meant(facts: Facts) -> Facts | None:
    """The suspicion that says what the values of an identifier may be instead of names of rows, if there is one."""
    return next((each for each in facts["suspicions"] if each["kind"] in _MEANT_TOGETHER), None)


def _distinct(facts: Facts) -> str:
    if facts["distinct"] is None:
        return "more different values, or longer ones, than are kept"
    at_least = "at least " if facts["at_least"] else ""
    return f"{at_least}{facts['distinct']:,} different values in {counted(round(facts['rows']), 'row')}"


def _uncountable(facts: Facts, reader: str) -> str:
    return (
        f"cannot be counted: {facts['fault']} (convert them to text, numbers or booleans, or leave the column out: "
        f"{exclude([facts], reader)})"
    )


_ONE_SENTENCE: dict[str, Callable[[Facts, str], str]] = {
    "empty": lambda *_: "all values are missing",
    "constant": lambda facts, _: f"one value only: {facts['value']}",
    "one_range": lambda *_: "all values lie between two cuts",
    "uncountable": _uncountable,
    "identifier": _identifier,
}
_UNRANKED_TOGETHER = {
    "constant": "one value only",
    "empty": "all values are missing",
    "one_range": "all values lie between two cuts",
    "uncountable": "cannot be counted",
}
_MEANT_TOGETHER = {  # what the values of an identifier may be instead of names of rows
    "decimal_commas": "numbers with decimal commas, read as text",
    "dates": "dates, read as text",
    "numerals": "numbers, held as text",
    "strays": "numbers but for a few texts",
} | {kind: f"{meant} in another notation" for kind, (meant, *_) in NOTATIONS.items()}
_UNRANKED = (*_UNRANKED_TOGETHER, *_MEANT_TOGETHER, "identifier")


def _suspicion(facts: Facts) -> str:  # noqa: PLR0911  (one way for each kind)
    """One suspicion, as the end of a note."""
    kind = facts["kind"]
    if kind in READABLE:
        return f", not numbers: {READABLE[kind]}"
    if kind in NOTATIONS:
        return f", not {_notation(facts)}"
    if kind == "spelled_alike":
        return f"; {spelled_alike(facts['values'])}"
    if kind == "codes":
        return "; may be codes, which have no order"
    if kind == "read_as":
        return f"; {read_as(facts['values'])}"
    if kind == "taken_as_missing":
        return f"; taken as missing: {', '.join(map(repr, facts['values']))}"
    return f"; {may_mean_missing({'notation': kind, 'codes': facts['values']})}"


def _notation(facts: Facts) -> str:
    meant, written_with, correct = NOTATIONS[facts["kind"]]
    others = "".join(f" and {text!r}" for text in facts["values"][1:])
    return f"{meant}: {written_with} as in {facts['values'][0]!r}{others} (write {correct})"


def read_as(values: Sequence[str]) -> str:
    """How text was read as numbers: what it is, and an example."""
    kind, example, number = values
    if kind == "text":
        return f"numbers held as text, such as {example!r}"
    return f"{_READ_AS[kind]}, {example!r} as {number}"


def may_mean_missing(facts: Facts) -> str:
    """Which values of a column may mean missing."""
    if facts["notation"] == "strays":
        return f"numbers but for {codes(facts)}, which may mean missing"
    return f"{codes(facts)} may mean missing"


def spelled_alike(texts: Sequence[str]) -> str:
    """Which values may be one."""
    return f"{_quoted(texts)} differ only in case, or in blanks at the ends"


def codes(facts: Facts) -> str:
    """The values that may mean missing: numbers as they are, texts quoted."""
    return ", ".join(facts["codes"]) if facts["notation"] == "missing_numbers" else _quoted(facts["codes"])


def missing(facts: Facts, reader: str) -> str:
    """How to say that values mean missing."""
    if reader == COMMAND_LINE:
        return " ".join(option("--missing", code) for code in facts["codes"])
    return f"add {codes(facts)} to missing_values"


def discretize(column: str, method: str, reader: str) -> str:
    """How to say how a column is cut."""
    if reader == COMMAND_LINE:
        return option("--discretize", f"{column}={method}")
    return f"discretize={{{column!r}: {method!r}}}"


def asked(keyword: str, value: object, reader: str) -> str:
    """A keyword with its value, as this reader types it."""
    if reader == COMMAND_LINE:
        return option(f"--{keyword.replace('_', '-')}", str(value))
    return f"{keyword}={value!r}"


def by_halves(column: str, reader: str) -> str:
    """How to ask whether something holds in both halves of a range of time, or of other numbers."""
    options = asked("by", column, reader), asked("by_cuts", "quantile:2", reader)
    return " ".join(options) if reader == COMMAND_LINE else f"rank_by with {', '.join(options)}"


def exclude(columns: Sequence[Facts], reader: str) -> str:
    """How to leave columns out."""
    if len(columns) > 1:
        return "--exclude COLUMN" if reader == COMMAND_LINE else "exclude=[...]"
    column = name(columns[0])
    return asked("exclude", column if reader == COMMAND_LINE else [column], reader)


def names(columns: Sequence[Facts]) -> str:
    """The names of columns, the first few if there are many."""
    return first_few([name(each) for each in columns])


def name(facts: Facts) -> str:
    """The name of a column, as it is shown."""
    return str(facts["feature"]) or NO_NAME


def amount(facts: Facts) -> str:
    """An amount of information, in the units of the facts."""
    return f"{facts[unit(facts)]:.4f} {unit(facts)}"


def unit(facts: Facts) -> str:
    """The units of information in the facts."""
    return "nats" if "nats" in facts else "bits"


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(map(repr, texts))


def first_few(texts: Sequence[str], between: str = ", ") -> str:
    """The first few texts, and how many others there are."""
    others = len(texts) - _MAX_NAMES_SHOWN
    if others <= 1:
        return between.join(texts)
    return f"{between.join(texts[:_MAX_NAMES_SHOWN])} and {counted(others, 'other')}"
