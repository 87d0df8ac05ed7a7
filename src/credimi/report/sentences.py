"""Facts about columns and rankings in English: the only place where notes and remarks are worded.

Facts come in as plain data, with kinds by name, and no code reads a sentence back: the words may change, and the
decisions stay the same. Advice uses the reader's terms: arguments of Python, or options of the command line.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from credimi.core.shell_options import option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Facts = Mapping[str, Any]

PYTHON, COMMAND_LINE = "python", "command line"

CUT_APART = "cut at different places in the two: compare their counts or data"  # of two rankings

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
    return "no cut passes the MDL test" if facts["kind"] == "ranges" else note(facts, reader)


def lines(remarks: Iterable[Facts], reader: str = PYTHON) -> list[str]:
    """One line for each group of consecutive remarks of one kind; cautions are marked."""
    found = []
    for _, group in groupby(remarks, key=lambda each: (each["kind"], each["kind"] in _APART and each["notation"])):
        same = list(group)
        found.append("caution: " * same[0]["caution"] + remark(same, reader))
    return found


def remark(same: Sequence[Facts], reader: str = PYTHON) -> str:
    """One sentence for remarks of one kind."""
    return _REMARKS[same[0]["kind"]](same, reader)


def _target_measured(same: Sequence[Facts], _reader: str) -> str:
    target, classes = same[0]["target"], same[0]["values"]
    return (
        f"the target {target!r} has {classes:,} classes, all of them numbers, and looks like a measurement: cut it "
        "into a few ranges first"
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
        [f"{each['feature']} ({each['values']:,} values, {each['rows_each']:.2g} rows each)" for each in same], "; "
    )
    return (
        f"possible identifiers (many values, few rows each): {shown}; new values will tell nothing "
        f"({_exclude(same, reader)})"
    )


def _missing_tells(same: Sequence[Facts], reader: str) -> str:
    shown = _some([f"{each['feature']} ({each['nats']:.4f} nats)" for each in same])
    asked = "--missing-as category" if reader == COMMAND_LINE else "missing='category'"
    return (
        f"where it is missing tells about the target: {shown}; missing values are taken as not known ({asked} takes "
        "them as a value)"
    )


def _codes_of_missing(same: Sequence[Facts], reader: str) -> str:
    shown = _some([f"{each['feature']}: {_may_mean_missing(each)}" for each in same], "; ")
    asked = "--missing VALUE" if reader == COMMAND_LINE else "add them to missing_values"
    return f"{shown} (if so: {_missing(same[0], reader) if len(same) == 1 else asked}, for all columns)"


def _readable_text(same: Sequence[Facts], reader: str) -> str:
    first = same[0]
    asked = _discretize(first["feature"], "mdl", reader)
    return f"{_names(same)}: {_READABLE[first['notation']]} are taken for text; to cut them as numbers: {asked}"


def _other_notation(same: Sequence[Facts], _reader: str) -> str:
    shown = _some([f"{each['feature']} ({each['codes'][0]!r})" for each in same])
    return f"{shown}: taken for text; write {_NOTATIONS[same[0]['notation']][2]}"


def _rows_to_decide(same: Sequence[Facts], _reader: str) -> str:
    shown = _some([f"{each['feature']} {each['rows']:,}" for each in same])
    return f"rows needed to decide, roughly: {shown}"


def _at_epsilon(same: Sequence[Facts], _reader: str) -> str:
    return f"no sample would decide, since I lies at epsilon: {_names(same)}"


def _cut_into_ranges(_same: Sequence[Facts], reader: str) -> str:
    asked = "--discretize" if reader == COMMAND_LINE else "discretize"
    return f"numbers were cut into ranges (see {asked}); whole numbers of at most 20 values are categories"


_REMARKS: dict[str, Callable[[Sequence[Facts], str], str]] = {
    "target_measured": _target_measured,
    "target_missing_codes": _target_missing_codes,
    "nearly_target": _nearly_target,
    "maybe_noise": _maybe_noise,
    "possible_identifier": _possible_identifier,
    "missing_tells": _missing_tells,
    "may_mean_missing": _codes_of_missing,
    "readable_text": _readable_text,
    "other_notation": _other_notation,
    "rows_to_decide": _rows_to_decide,
    "at_epsilon": _at_epsilon,
    "cut_into_ranges": _cut_into_ranges,
}


def _cut_by(facts: Facts) -> str:
    count = len(facts["cuts"])
    return f"{_CUT_BY[facts['cut_by']]}, {count or 'no'} cut{'s' * (count > 1)}"


def _identifier(facts: Facts, reader: str) -> str:
    if facts["distinct"] is None:
        return "identifier: more different values, or longer ones, than are kept"
    least = "at least " if facts["at_least"] else ""
    suspicions = facts["suspicions"]
    cuttable = facts["numbers"] or any(each["kind"] in _READABLE for each in suspicions)
    asked = _discretize(facts["feature"], "mdl" if cuttable else "categories", reader)
    found = f"identifier: {least}{facts['distinct']:,} different values in {facts['rows']:,} rows ({asked} ranks it)"
    for each in suspicions:
        if each["kind"] == "strays":
            first = {"codes": each["values"][:1], "notation": "strays"}
            found += f"; numbers but for {_quoted(each['values'])} ({_missing(first, reader)})"
        elif each["kind"] in _NOTATIONS:
            found += f"; not {_notation(each)}"
    return found


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
    name = same[0]["feature"]
    return option("--exclude", name) if reader == COMMAND_LINE else f"exclude=[{name!r}]"


def _names(same: Sequence[Facts]) -> str:
    return _some([each["feature"] for each in same])


def _quoted(texts: Iterable[str]) -> str:
    return ", ".join(map(repr, texts))


def _some(texts: Sequence[str], between: str = ", ") -> str:
    """The first of them."""
    return between.join([*texts[:_SHOWN]] + ["..."] * (len(texts) > _SHOWN))
