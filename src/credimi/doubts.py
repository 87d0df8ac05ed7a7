"""What may not be what it is taken for: numbers and dates written in other ways.

Nothing is converted, as "1,200" may be a number, and "01.02.2024" one of two days; but it is said what was seen. Texts
have a notation if nearly all of them are written in it, and are many.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MANY = 20  # texts; fewer may be anything
_NEARLY_ALL = 0.9
_SOME = 0.05  # of numbers, that have to be long enough to show how thousands are parted
_BLANK = " \u00a0\u202f"
_APART = f"'\u2019{_BLANK}"
_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2\d{4}(,? \d\d?:\d\d(:\d\d)?)?|(\d\d)([./])(\d\d)\7\d\d|\d{4}/(\d{1,2})/(\d{1,2})"
)
_GROUPED = tuple(
    re.compile(rf"[+-]?\d{{1,3}}([{parts}]\d{{3}})*([{decimals}]\d+)?")
    for parts, decimals in ((",", "."), (".", ","), (_APART, ".,"))
)
_LONG = re.compile(rf"\d[.,{_APART}]\d{{3}}(?!\d)")
_AMOUNT = rf"[+-]?\d+([.,{_APART}]\d+)*"
_PERCENT = re.compile(rf"{_AMOUNT}[{_BLANK}]?%")
_SIGN = r"([$€£¥₹]|USD|EUR|GBP|CHF|JPY|kr|zł)"
_MONEY = re.compile(rf"[+-]?{_SIGN}[{_BLANK}]?{_AMOUNT}|{_AMOUNT}[{_BLANK}]?{_SIGN}")


class Notation(NamedTuple):
    """How texts are written: what they are not taken for, by what, an example, and how they could be."""

    meant: str
    sign: str
    example: str
    plain: str

    def __str__(self) -> str:
        return f"{self.sign} as in {self.example!r} (write {self.plain})"


def notation_of(texts: Sequence[str]) -> Notation | None:
    """The notation of numbers or dates that nearly all of these texts are written in; None if there is none."""
    if len(texts) <= _MANY:
        return None
    for test, meant, sign, plain in (
        (_is_date, "dates", "written", "YYYY-MM-DD"),
        (_PERCENT.fullmatch, "numbers", "percent signs", "plain numbers, such as 12.5"),
        (_MONEY.fullmatch, "numbers", "signs of currency", "plain numbers, such as 12.5"),
    ):
        if _nearly_all(texts, test):
            return Notation(meant, sign, _longest(texts, test), plain)
    for pattern in _GROUPED:
        if _nearly_all(texts, pattern.fullmatch):
            parted = [text for text in texts if _LONG.search(text)]
            if len(parted) >= _SOME * len(texts):
                example = _longest(parted, pattern.fullmatch)
                return Notation("numbers", "thousands separators", example, "plain numbers, such as 1234.5")
    return None


def _is_date(text: str) -> bool:
    """Day and month in either order; a year of two digits stands behind two of two."""
    match = _DATE.fullmatch(text)
    if match is None:
        return False
    one, other = (int(part) for part in match.group(1, 3, 6, 8, 9, 10) if part and part.isdigit())
    return 1 <= min(one, other) <= 12 and max(one, other) <= 31


def _nearly_all(texts: Sequence[str], test: Callable[[str], Any]) -> bool:
    misses = 0
    for text in texts:
        misses += not test(text.strip())
        if misses > (1.0 - _NEARLY_ALL) * len(texts):
            return False
    return True


def _longest(texts: Sequence[str], test: Callable[[str], Any]) -> str:
    """An example."""
    return max((text for text in map(str.strip, texts) if test(text)), key=len, default=texts[0])
