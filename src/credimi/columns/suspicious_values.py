"""Values that may mean something else: other notations of numbers and dates, codes for missing, two spellings of one.

Nothing is converted, as "1,200" may be a number, and "01.02.2024" may be either of two days. But the user is told what
was seen. Texts have a notation if there are many and nearly all of them are written in it. A number may mean missing if
surveys and programs use it for that, if it occurs several times, and if it is far from all others, or the only one
below 0.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from credimi.columns.feature import Suspicion, SuspicionKind
from credimi.columns.text_types import is_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.core.types import CountArray, FloatArray

_MOST_STRAYS = 3
_MOST_COMPARED = 10_000  # texts; it takes some milliseconds to compare so many
_MANY_NUMBERS = 20
_MISSING_CODES = frozenset(
    ("", "null", "n/a", "na", "n.a.", "none", "nan", "nil", "nat", "#n/a", "<na>", "missing", "-", "--", ".", "?")
)
_PLUS, _MINUS = frozenset(("+", "++")), frozenset(("-", "--"))

_MANY = 20  # texts; fewer may be anything
_NEARLY_ALL = 0.9
_SOME = 0.05  # of the numbers must be long enough to show a thousands separator
_SEVERAL = 3  # rows
_BESIDE = 10  # values on one side of 0, beside which a single value on the other side is suspicious
_BLANK = " \u00a0\u202f"
_APART = f"'\u2019{_BLANK}"
_CODE = re.compile(r"-?(7{2,}|8{2,}|9{2,}|9+[78])|-[789]")  # 77, 888, 9999, 97 and 98, 998, -9
_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2\d{4}(,? \d\d?:\d\d(:\d\d)?(?: ?[AaPp][Mm])?)?|"
    r"(\d\d)([./])(\d\d)\7\d\d|\d{4}/(\d{1,2})/(\d{1,2})"
)
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_IN_WORDS = re.compile(rf"\d{{1,2}}[ -]?{_MONTH}[ -]?\d\d(\d\d)?|{_MONTH} \d{{1,2}},? \d{{4}}", re.IGNORECASE)
_GROUPED = tuple(
    re.compile(rf"[+-]?\d{{1,3}}([{parts}]\d{{3}})*([{decimals}]\d+)?")
    for parts, decimals in ((",", "."), (".", ","), (_APART, ".,"))
)
_LONG = re.compile(rf"\d[.,{_APART}]\d{{3}}(?!\d)")
_AMOUNT = rf"[+-]?\d+([.,{_APART}]\d+)*"
_PERCENT = re.compile(rf"{_AMOUNT}[{_BLANK}]?%")
_SIGN = r"([$€£¥₹]|USD|EUR|GBP|CHF|JPY|kr|zł)"
_MONEY = re.compile(rf"[+-]?{_SIGN}[{_BLANK}]?{_AMOUNT}|{_AMOUNT}[{_BLANK}]?{_SIGN}")


def notation_of(texts: Sequence[str]) -> Suspicion | None:
    """The notation of numbers or dates in which nearly all of these texts are written; None if there is none."""
    if len(texts) <= _MANY:
        return None
    for test, kind in (
        (_is_date, SuspicionKind.DATE_NOTATION),
        (_PERCENT.fullmatch, SuspicionKind.PERCENT_SIGNS),
        (_MONEY.fullmatch, SuspicionKind.CURRENCY_SIGNS),
    ):
        if _nearly_all(texts, test):
            return Suspicion(kind, (_longest(texts, test),))
    for pattern in _GROUPED:
        if _nearly_all(texts, pattern.fullmatch):
            parted = [text for text in texts if _LONG.search(text)]
            if len(parted) >= _SOME * len(texts):
                return Suspicion(SuspicionKind.THOUSANDS_SEPARATORS, (_longest(parted, pattern.fullmatch),))
    return None


def _is_date(text: str) -> bool:
    """Day and month in either order; a year of two digits must follow two numbers of two digits, or a month's name."""
    match = _DATE.fullmatch(text)
    if match is None:
        return _IN_WORDS.fullmatch(text) is not None
    one, other = (int(part) for part in match.group(1, 3, 6, 8, 9, 10) if part and part.isdigit())
    return 1 <= min(one, other) <= 12 and max(one, other) <= 31


def _nearly_all(texts: Sequence[str], test: Callable[[str], object]) -> bool:
    misses = 0
    for text in texts:
        misses += not test(text.strip())
        if misses > (1.0 - _NEARLY_ALL) * len(texts):
            return False
    return True


def _longest(texts: Sequence[str], test: Callable[[str], object]) -> str:
    """An example."""
    return max((text for text in map(str.strip, texts) if test(text)), key=len, default=texts[0])


def infinite(numbers: FloatArray) -> list[str]:
    """Which of the sorted numbers are infinite, as text: results of a division by 0, or of a logarithm of it."""
    ends = sorted({*numbers[:1].tolist(), *numbers[-1:].tolist()})
    return [str(number) for number in ends if math.isinf(number)]


def sentinels(numbers: FloatArray, totals: CountArray) -> list[str]:
    """Which of the sorted numbers may mean missing, as text; `totals` is how many rows have each."""
    found = _at_the_end(numbers, totals)
    return found or _at_the_end(-numbers[::-1], totals[::-1], sign=-1.0)


def _at_the_end(numbers: FloatArray, totals: CountArray, sign: float = 1.0) -> list[str]:
    """The same for the largest numbers; the longest run of codes that stands apart is tried first."""
    codes = 0
    while codes < numbers.size and is_code(sign * numbers[-1 - codes]):
        codes += 1
    for size in range(codes, 0, -1):
        if _stands_apart(numbers[-size], numbers[:-size]) and totals[-size:].min() >= _SEVERAL:
            return [str(int(sign * number)) for number in numbers[-size:]]
    return []


def _stands_apart(code: float, rest: FloatArray) -> bool:
    """Whether a code is further from the rest than the rest from each other, and across 0 or twice as far from 0.

    Of the grades 60, 70 and 99, the last is an ordinary value. If many values are on one side of 0, one on the other
    side may be near.
    """
    if rest.size >= _BESIDE and code > 0.0 >= rest[-1]:
        return True
    if rest.size < 2 or not code - rest[-1] > rest[-1] - rest[0]:
        return False
    return bool(rest[-1] <= 0.0 or code > 2.0 * max(abs(rest[0]), abs(rest[-1])))


def is_code(number: float) -> bool:
    """Whether surveys and programs use this number for "missing"."""
    return bool(abs(number) < 1e7 and number % 1.0 == 0.0 and _CODE.fullmatch(str(int(number))))


def are_numerals(texts: Sequence[str]) -> bool:
    """Whether texts are many numbers, some with a fraction: a column that holds them as text by mistake.

    Whole numbers may be text on purpose, as names or categories.
    """
    return len(texts) > _MANY_NUMBERS and any("." in text for text in texts) and all(map(is_number, texts))


def strays(texts: Sequence[str]) -> list[str]:
    """The few texts that keep a column of numbers from being numeric; none if the column is something else."""
    found: list[str] = []
    for text in texts:
        if not is_number(text):
            found.append(text)
            if len(found) > _MOST_STRAYS:
                return []
    return found if len(texts) - len(found) > _MANY_NUMBERS else []


def missing_codes(texts: Sequence[str]) -> list[str]:
    """Which of the texts many programs and people use for "no value"; a - beside a + is an ordinary value."""
    words = {text.strip() for text in texts}
    meant = {"none", *(_MINUS if words & _PLUS else ())}  # as in none, mild, severe; Python writes None
    return [text for text in texts if (word := text.strip()).lower() in _MISSING_CODES and word not in meant]


def spelled_alike(texts: Sequence[str]) -> list[str]:
    """The first texts that differ only in case, or in blanks at the ends: they may be one value."""
    if len(texts) > _MOST_COMPARED:
        return []
    spellings: dict[str, str] = {}
    for text in texts:
        word = text.strip().casefold()
        if word and spellings.setdefault(word, text) is not text:
            return [each for each in texts if each.strip().casefold() == word]
    return []
