"""Facts about columns and rankings in English: the only place where notes and remarks are worded.

Facts come in as plain data, with kinds by name, and no code reads a sentence back: the words may change, and the
decisions stay the same. Advice uses the reader's terms: arguments of Python, or options of the command line.
"""

from __future__ import annotations

import math
from itertools import groupby
from typing import TYPE_CHECKING, Any

from credimi.core.shell_options import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Facts = Mapping[str, Any]

PYTHON, COMMAND_LINE = "python", "command line"
NO_NAME = "(no name)"  # what is shown of a column whose name is empty

CUT_APART = "cut at different places in the two: compare their counts or data"  # of two rankings

_LARGE_FACTOR = 1_000  # nobody needs to know more exactly
_SHOWN = 3  # features of one line
_APART = {"readable_text", "other_notation"}  # have a line for each notation
_CUT_BY = {
    "mdl": "mdl",
    "quarters": "quarters, as no cut passes the MDL test",
    "quantile": "quantile",
    "given": "given cuts",
}
_READABLE = {
    "leading_zeros": "leading zeros",
    "decimal_commas": "decimal commas",
    "dates": "dates",
    "numerals": "numerals",
}
_NOTATIONS = {  # what is not read, how it is written, and how it should be written
    "date_notation": ("dates", "written", "YYYY-MM-DD"),
    "percent_signs": ("numbers", "percent signs", "plain numbers, such as 12.5"),
    "currency_signs": ("numbers", "currency signs", "plain numbers, such as 12.5"),
    "thousands_separators": ("numbers", "thousands separators", "plain numbers, such as 1234.5"),
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
    """The same beside the number of values, without the cuts."""
    if facts["kind"] == "ranges":
        return f"{values:,} ranges: {_cut_by(facts)}"
    return f"{values:,} {note(facts, reader)}" if facts["kind"] == "categories" else note(facts, reader)


def why_left_out(facts: Facts, reader: str = PYTHON) -> str:
    """Why a learner leaves a column out."""
    if facts["kind"] != "ranges":
        return note(facts, reader)
    keeps = _discretize(facts["feature"], "quantile", reader)
    return f"no cut passes the MDL test (`rank` alone takes its quarters then; {keeps} uses it here)"


def counted(number: float, noun: str) -> str:
    """A number of things: 1 row, 2 rows, and 2.5 rows as sums of weights have them."""
    return f"{round(number, 3):,} {noun}{'s' * (number != 1)}"


def up_to(factor: float) -> str:
    """A tipping factor, rounded down."""
    if factor == math.inf:
        return "at any factor"
    if factor >= _LARGE_FACTOR:
        return f"beyond {_LARGE_FACTOR:,}x"
    digits = 2 if factor < 2.0 else 1 if factor < 10.0 else 0
    return f"up to {math.floor(factor * 10**digits) / 10**digits:.{digits}f}x"


def standing(row: Facts) -> str:
    """The verdict on a feature and, if it is known, up to which factor it stands."""
    tips, verdict = row.get("tipping_factor", math.nan), str(row["verdict"])
    return verdict if verdict not in {"keep", "drop"} or math.isnan(tips) else f"{verdict}, {up_to(tips)}"


def rows_told(rows: float, with_target: float | None) -> str:
    """How many rows there are, and how many of them have the target, if not all have."""
    if with_target is None or with_target == rows:
        return counted(rows, "row")
    return f"{with_target:,} of {counted(rows, 'row')} {'has' if with_target == 1 else 'have'} the target"


def line_of(kind: str, notation: str | None) -> tuple[str, str | None]:
    """The key of remarks that share one line."""
    return kind, notation if kind in _APART else None


def line_of_facts(facts: Facts) -> tuple[str, str | None]:
    """The same for a remark as plain data."""
    return line_of(facts["kind"], facts.get("notation"))


def lines(remarks: Iterable[Facts], reader: str = PYTHON) -> list[str]:
    """One line for each group of consecutive remarks of one kind; cautions are marked."""
    found = []
    for _, group in groupby(remarks, line_of_facts):
        same = list(group)
        found.append("caution: " * same[0]["caution"] + remark(same, reader))
    return found


def unranked_lines(columns: Iterable[Facts], reader: str = PYTHON) -> list[str]:
    """Why columns are not ranked, or tell nothing: a line for each, and one for many of a kind, with some names."""
    found = []
    for kind, group in groupby(
        sorted(columns, key=lambda each: _UNRANKED.index(each["kind"])), lambda each: each["kind"]
    ):
        same = list(group)
        if len(same) <= _SHOWN:
            found += [f"{_name(each)}: {note(each, reader)}" for each in same]
        elif kind == "identifier":
            shown = _some([f"{_name(each)} ({_distinct(each)})" for each in same])
            asked = "--discretize COLUMN=categories" if reader == COMMAND_LINE else "discretize={...: 'categories'}"
            found.append(f"identifiers, not ranked: {shown}; {asked} ranks one")
        else:
            shown = _some([f"{_name(each)}{_of_its_kind(each)}" for each in same])
            found.append(f"{_UNRANKED_TOGETHER[kind]}: {shown}")
    return found


def _of_its_kind(facts: Facts) -> str:
    told = {"constant": facts["value"], "uncountable": facts["fault"]}.get(facts["kind"])
    return "" if told is None else f" ({told})"


def remark(same: Sequence[Facts], reader: str = PYTHON) -> str:
    """One sentence for remarks of one kind."""
    return _REMARKS[same[0]["kind"]](same, reader)


def _target_measured(same: Sequence[Facts], reader: str) -> str:
    asked = "--target-cuts quantile:4, say" if reader == COMMAND_LINE else "target_cuts='quantile:4', say"
    target, classes = same[0]["target"], same[0]["values"]
    return (
        f"the target {target!r} has {classes:,} classes, all of them numbers, and looks like a measurement: cut it "
        f"into a few ranges ({asked})"
    )


def _epsilon_above_entropy(same: Sequence[Facts], reader: str) -> str:
    entropy = f"{same[0]['nats']:.4g} nats" if "nats" in same[0] else f"{same[0]['bits']:.4g} bits"
    name = "--epsilon" if reader == COMMAND_LINE else "epsilon"
    return (
        f"no column can tell more than the entropy of the target {same[0]['target']!r}, {entropy}, and {name} is not "
        "below it: everything is dropped"
    )


def _target_missing_codes(same: Sequence[Facts], reader: str) -> str:
    target, several = same[0]["target"], "es" * (len(same[0]["codes"]) > 1)
    return (
        f"the target {target!r} has the class{several} {_codes(same[0])}, which may mean missing "
        f"({_missing(same[0], reader)}: then in all columns)"
    )


def _nearly_target(same: Sequence[Facts], reader: str) -> str:
    known = f"{_names(same)}: as good as the target itself; make sure that it is known before the target is"
    return f"{known} ({_exclude(same, reader)})"


def _maybe_noise(same: Sequence[Facts], reader: str) -> str:
    asked = "--prior adaptive" if reader == COMMAND_LINE else "prior='adaptive'"
    return f"kept, but with so few rows this prior cannot tell them from noise: {_names(same)} ({asked} can)"


def _possible_identifier(same: Sequence[Facts], reader: str) -> str:
    shown = _some(
        [f"{_name(each)} ({each['values']:,} values, {each['rows_each']:.2g} rows each)" for each in same], "; "
    )
    return (
        f"possible identifiers (many values, few rows each): {shown}; new values will tell nothing "
        f"({_exclude(same, reader)})"
    )


def _missing_tells(same: Sequence[Facts], reader: str) -> str:
    shown = _some([f"{_name(each)} ({_amount(each)})" for each in same])
    asked = "--missing-as category" if reader == COMMAND_LINE else "missing='category'"
    return (
        f"where it is missing tells about the target: {shown}; missing values are taken as not known ({asked} takes "
        "them as a value)"
    )


def _target_missing_depends(same: Sequence[Facts], _reader: str) -> str:
    shown = _some(
        [
            f"{_name(each)} ({_amount(each)}; it tells {each['mi']:.4f} by all rows, {each['mi_with_target']:.4f} by "
            "those with the target)"
            for each in same
        ]
    )
    return (
        f"whether the target is missing depends on {shown}; the ranking is by all rows, which is right if the target "
        "is missing at random"
    )


def _tips_early(same: Sequence[Facts], _reader: str) -> str:
    shown = _some([f"{_name(each)} ({up_to(each['factor'])})" for each in same])
    return (
        f"kept, but only if values are missing nearly at random: {shown}; ask why they are missing before you rely on "
        "this"
    )


def _copy(same: Sequence[Facts], reader: str) -> str:
    if len(same) == 1:
        told = f"{_name(same[0])} says the same as {same[0]['other'] or NO_NAME}"
    else:
        shown = _some([f"{_name(each)} (as {each['other'] or NO_NAME})" for each in same])
        told = f"say the same as another column: {shown}"
    return f"{told}; one of them is enough ({_exclude(same, reader)})"


def _time(same: Sequence[Facts], reader: str) -> str:
    known = f"{_names(same)}: dates or times; what is true of a range of time does not carry over to later rows"
    return f"{known} ({_exclude(same, reader)})"


def _many_cuts(same: Sequence[Facts], reader: str) -> str:
    shown = _some([f"{_name(each)} ({each['values']:,} cuts)" for each in same])
    first = _discretize(same[0]["feature"], "quantile", reader)
    return (
        f"cut into very many ranges: {shown}; so many may follow a key or a time rather than a measurement "
        f"({first} makes ten)"
    )


def _codes_of_missing(same: Sequence[Facts], reader: str) -> str:
    shown = _some([f"{_name(each)}: {_may_mean_missing(each)}" for each in same], "; ")
    asked = "--missing VALUE" if reader == COMMAND_LINE else "add them to missing_values"
    return f"{shown} (if so: {_missing(same[0], reader) if len(same) == 1 else asked}, for all columns)"


def _readable_text(same: Sequence[Facts], reader: str) -> str:
    first = same[0]
    asked = _discretize(first["feature"], "mdl", reader)
    return f"{_names(same)}: {_READABLE[first['notation']]} are taken for text; to cut them as numbers: {asked}"


def _other_notation(same: Sequence[Facts], _reader: str) -> str:
    shown = _some([f"{_name(each)} ({each['codes'][0]!r})" for each in same])
    return f"{shown}: taken for text; write {_NOTATIONS[same[0]['notation']][2]}"


def _rows_to_decide(same: Sequence[Facts], _reader: str) -> str:
    shown = _some([f"{_name(each)} {each['rows']:,}" for each in same])
    return f"rows needed to decide, roughly: {shown}"


def _at_epsilon(same: Sequence[Facts], _reader: str) -> str:
    return f"no sample of a usual size would decide, since I lies at epsilon: {_names(same)}"


def _cut_into_ranges(_same: Sequence[Facts], reader: str) -> str:
    asked = "--discretize" if reader == COMMAND_LINE else "discretize"
    return f"numbers were cut into ranges (see {asked}); whole numbers of at most 20 values are categories"


def _weights_scaled(same: Sequence[Facts], reader: str) -> str:  # noqa: ARG001  (all sentences are made by the same call)
    return (
        "the weights are not whole, so they are no numbers of rows: they were scaled to what they are worth, "
        f"{counted(same[0]['rows'], 'row')} (the effective sample size)"
    )


_REMARKS: dict[str, Callable[[Sequence[Facts], str], str]] = {
    "target_measured": _target_measured,
    "target_missing_codes": _target_missing_codes,
    "epsilon_above_entropy": _epsilon_above_entropy,
    "nearly_target": _nearly_target,
    "maybe_noise": _maybe_noise,
    "possible_identifier": _possible_identifier,
    "missing_tells": _missing_tells,
    "target_missing_depends": _target_missing_depends,
    "tips_early": _tips_early,
    "copy": _copy,
    "time": _time,
    "many_cuts": _many_cuts,
    "may_mean_missing": _codes_of_missing,
    "readable_text": _readable_text,
    "other_notation": _other_notation,
    "rows_to_decide": _rows_to_decide,
    "at_epsilon": _at_epsilon,
    "cut_into_ranges": _cut_into_ranges,
    "weights_scaled": _weights_scaled,
}


def _cut_by(facts: Facts) -> str:
    count = len(facts["cuts"])
    return f"{_CUT_BY[facts['cut_by']]}, {count or 'no'} cut{'s' * (count > 1)}"


def _identifier(facts: Facts, reader: str) -> str:
    if facts["distinct"] is None:
        return f"identifier: {_distinct(facts)}"
    suspicions = facts["suspicions"]
    cuttable = facts["numbers"] or any(each["kind"] in _READABLE for each in suspicions)
    method = facts.get("method_without_target")  # of results that are no rankings
    asked = _discretize(facts["feature"], (method or "mdl") if cuttable else "categories", reader)
    found = f"identifier: {_distinct(facts)} ({asked} {'compares' if method else 'ranks'} it)"
    for each in suspicions:
        if each["kind"] == "strays":
            first = {"codes": each["values"][:1], "notation": "strays"}
            found += f"; numbers but for {_quoted(each['values'])} ({_missing(first, reader)})"
        elif each["kind"] in _NOTATIONS:
            found += f"; not {_notation(each)}"
    return found


def _distinct(facts: Facts) -> str:
    if facts["distinct"] is None:
        return "more different values, or longer ones, than are kept"
    least = "at least " if facts["at_least"] else ""
    return f"{least}{facts['distinct']:,} different values in {counted(round(facts['rows']), 'row')}"


def _uncountable(facts: Facts, reader: str) -> str:
    return (
        f"cannot be counted: {facts['fault']} (convert them to text, numbers or booleans, or leave the column out: "
        f"{_exclude([facts], reader)})"
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
_UNRANKED = (*_UNRANKED_TOGETHER, "identifier")


def _suspicion(facts: Facts) -> str:
    """One suspicion, as the end of a note."""
    kind = facts["kind"]
    if kind in _READABLE:
        return f", not numbers: {_READABLE[kind]}"
    if kind in _NOTATIONS:
        return f", not {_notation(facts)}"
    return f"; {_may_mean_missing({'notation': kind, 'codes': facts['values']})}"


def _notation(facts: Facts) -> str:
    meant, sign, plain = _NOTATIONS[facts["kind"]]
    return f"{meant}: {sign} as in {facts['values'][0]!r} (write {plain})"


def _may_mean_missing(facts: Facts) -> str:
    if facts["notation"] == "strays":
        return f"numbers but for {_codes(facts)}, which may mean missing"
    return f"{_codes(facts)} may mean missing"


def _codes(facts: Facts) -> str:
    return ", ".join(facts["codes"]) if facts["notation"] == "missing_numbers" else _quoted(facts["codes"])


def _missing(facts: Facts, reader: str) -> str:
    if reader == COMMAND_LINE:
        return " ".join(option("--missing", code) for code in facts["codes"])
    return f"add {_codes(facts)} to missing_values"


def _discretize(name: str, method: str, reader: str) -> str:
    if reader == COMMAND_LINE:
        return option("--discretize", f"{name}={method}")
    return f"discretize={{{name!r}: {method!r}}}"


def _exclude(same: Sequence[Facts], reader: str) -> str:
    if len(same) > 1:
        return "--exclude COLUMN" if reader == COMMAND_LINE else "exclude=[...]"
    name = _name(same[0])
    return option("--exclude", name) if reader == COMMAND_LINE else f"exclude=[{name!r}]"


def _names(same: Sequence[Facts]) -> str:
    return _some([_name(each) for each in same])


def _name(facts: Facts) -> str:
    return str(facts["feature"]) or NO_NAME


def _amount(facts: Facts) -> str:
    """An information, in the units that the facts have it in."""
    return next(f"{facts[units]:.4f} {units}" for units in ("nats", "bits") if units in facts)


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(map(repr, texts))


def _some(texts: Sequence[str], between: str = ", ") -> str:
    """The first of them, and how many others there are."""
    others = len(texts) - _SHOWN
    if others <= 1:
        return between.join(texts)
    return f"{between.join(texts[:_SHOWN])} and {counted(others, 'other')}"
