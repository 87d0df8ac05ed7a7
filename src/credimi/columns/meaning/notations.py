"""Text that is numbers in another notation: money, percent, units, separators, times, dates.

The distinct labels of a column decide, once, when everything is counted: all of them must be written in one notation.
Then their numbers are those of the column, and a remark says so. `Notation` is kept with the labels, so that new rows
are read in the same way.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.meaning.amounts import AMOUNT, BLANKS, PLAIN, amounts, style_of
from credimi.columns.meaning.dates import ORDERS, are_times, day_of, order_of, seconds_of
from credimi.columns.text_types import DATES, NAMES_OF_DIGITS, is_number, readable
from credimi.core.public import stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

DATE, TIME, MONEY, PERCENT, UNIT, SEPARATORS = "date", "time", "money", "percent", "unit", "separators"
_CURRENCY = (
    r"[$€£¥₹₽₩₪฿₺]|[A-Z]{0,3}\$|USD|EUR|GBP|CHF|JPY|CNY|INR|AUD|CAD|SEK|NOK|DKK|PLN|CZK|HUF|Fr\.?|kr\.?|zł|Kč|Ft|Rs\.?"
)
_MONEY = re.compile(rf"([+-]?)(?:({_CURRENCY})[{BLANKS}]?({AMOUNT})|({AMOUNT})[{BLANKS}]?({_CURRENCY}))")
_BRACKETED = re.compile(r"\((.*)\)")
_WITH_UNIT = re.compile(rf"({AMOUNT})[{BLANKS}]?(%|‰|[^\W\d_][^\d{BLANKS}]*[²³]?|°[A-Za-z]?|[\"'])")
_DIGIT = re.compile(r"\d")
_PLURAL_FROM = 4  # letters of a unit in the plural: days, years


@stored
@dataclass(frozen=True, slots=True)
class Notation:
    """How the numbers of a column are written: what they are, in which style, and with what beside them."""

    kind: str
    style: str = PLAIN
    mark: str = ""

    @property
    def instants(self) -> bool:
        """Whether the numbers are days since 1970."""
        return self.kind == DATE

    def numbers(self, texts: Sequence[str]) -> FloatArray:
        """The numbers that these texts are; NaN for a text that is not in this notation."""
        stripped = [text.strip() for text in texts]
        if self.kind == DATE and not self.style:
            return np.array([_iso_day(text) for text in stripped], dtype=np.float64)
        if self.kind in (DATE, TIME):
            found = [seconds_of(text) if self.kind == TIME else day_of(text, self.style) for text in stripped]
            return np.array([np.nan if number is None else number for number in found], dtype=np.float64)
        if self.kind == SEPARATORS:
            return amounts(stripped, self.style)
        parts = [(_money if self.kind == MONEY else _unit)(text) for text in stripped]
        return amounts([part[0] if part and part[1] == self.mark else "" for part in parts], self.style)


def notation_of(texts: Sequence[str]) -> Notation | None:  # noqa: PLR0911  (one way for each kind)
    """The notation in which all of these texts are written, which are not all plain numbers; None if there is none."""
    stripped = [text.strip() for text in texts]
    if not stripped or not all(map(_DIGIT.search, (stripped[0], stripped[-1], stripped[len(stripped) // 2]))):
        return None  # as nearly all texts: what costs more is for those that have digits
    if are_times(stripped):
        return Notation(TIME)
    found = readable(stripped)
    if found is not None and found[1] == DATES:
        return Notation(DATE, "")
    order = order_of(stripped)
    if order is not None:
        return Notation(DATE, order)
    for kind, parts_of in ((MONEY, _money), (UNIT, _unit)):
        parts = parts_of(stripped[0])
        mark = parts and parts[1]
        split = [parts_of(text) for text in stripped] if mark else []
        if mark and all(part is not None and part[1] == mark for part in split):
            style = style_of([part[0] for part in split if part])
            if style is not None:
                return Notation(PERCENT if mark == "%" else kind, style, mark)
    if any(re.match(NAMES_OF_DIGITS, text) for text in stripped):  # 007 is a name
        return None
    style = style_of(stripped, more_than_plain=True)
    return None if style in (None, PLAIN) else Notation(SEPARATORS, str(style))


def may_be_one(text: str) -> bool:
    """Whether a text may be a number in some notation, beside others that are."""
    if is_number(text) or style_of([text]) is not None or seconds_of(text) is not None:
        return True
    return bool(_money(text) or _unit(text) or readable([text])) or any(
        day_of(text, order) is not None for order in ORDERS
    )


def _iso_day(text: str) -> float:
    found = readable([text])
    return float(found[0][0]) if found is not None and found[1] == DATES else np.nan


def _money(text: str) -> tuple[str, str] | None:
    """The amount and the currency of a text."""
    bracketed = _BRACKETED.fullmatch(text)
    match = _MONEY.fullmatch(bracketed[1] if bracketed else text)
    if match is None:
        return None
    sign, before, amount, other_amount, after = match.groups()
    shown = f"{sign}{amount or other_amount}"
    return (f"({shown})" if bracketed else shown), before or after


def _unit(text: str) -> tuple[str, str] | None:
    """The amount and the unit of a text."""
    match = _WITH_UNIT.fullmatch(text)
    if match is None:
        return None
    unit = match[2]
    if len(unit) >= _PLURAL_FROM and unit.endswith("s") and unit.isalpha():
        unit = unit[:-1]
    return match[1], unit
