"""Values that may mean something else: other notations of numbers and dates, codes for missing, two spellings of one.

Where a whole column is written in one notation, it is read so (`columns.meaning`). Here are the columns in which only
nearly all texts are, or which fit two notations, as "01/02/2024" may be either of two days: they stay text, and the
user sees two of the values. Texts have a notation if there are many. A number may mean missing if three
conditions hold: surveys and programs use it for that, it occurs several times, and it is far from all others or the
only one below 0.
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

_MAX_STRAYS = 3
_MAX_COMPARED_TEXTS = 10_000  # it takes some milliseconds to compare so many
_MIN_NUMBERS = 20
_MISSING_CODES = frozenset(
    ("", "null", "n/a", "na", "n.a.", "none", "nan", "nil", "nat", "#n/a", "<na>", "missing", "-", "--", ".", "?")
)
_PLUS, _MINUS = frozenset(("+", "++")), frozenset(("-", "--"))

_MIN_TEXTS = 20  # with so many texts or fewer, no notation is recognised
_MIN_SHARE_IN_NOTATION = 0.9
_MIN_SHARE_WITH_SEPARATOR = 0.05  # of the texts
_MIN_ROWS_WITH_CODE = 3  # rows with each code
_MIN_VALUES_BESIDE_CODE = 10  # so many values on one side of 0 make a single value on the other side suspicious
_BLANK = " \u00a0\u202f"
_SEPARATORS = f"'\u2019{_BLANK}"
_NUMERIC_CODE = re.compile(r"-?(7{2,}|8{2,}|9{2,}|9+[78])|-[789]")  # 77, 888, 9999, 97 and 98, 998, -9
_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2\d{4}(,? \d\d?:\d\d(:\d\d)?(?: ?[AaPp][Mm])?)?|"
    r"(\d\d)([./])(\d\d)\7\d\d|\d{4}/(\d{1,2})/(\d{1,2})"
)
_MONTH = "(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}"
_DATE_IN_WORDS = re.compile(rf"\d{{1,2}}[ -]?{_MONTH}[ -]?\d\d(\d\d)?|{_MONTH} \d{{1,2}},? \d{{4}}", re.IGNORECASE)
_WITH_SEPARATORS = tuple(
    re.compile(rf"[+-]?\d{{1,3}}([{parts}]\d{{3}})*([{decimals}]\d+)?")
    for parts, decimals in ((",", "."), (".", ","), (_SEPARATORS, ".,"))
)
_SEPARATOR = re.compile(rf"\d[.,{_SEPARATORS}]\d{{3}}(?!\d)")
_AMOUNT = rf"[+-]?\d+([.,{_SEPARATORS}]\d+)*"
_PERCENT = re.compile(rf"{_AMOUNT}[{_BLANK}]?%")
_CURRENCY = r"([$€£¥₹]|USD|EUR|GBP|CHF|JPY|kr|zł)"
_MONEY = re.compile(rf"[+-]?{_CURRENCY}[{_BLANK}]?{_AMOUNT}|{_AMOUNT}[{_BLANK}]?{_CURRENCY}")


def notation_of(texts: Sequence[str]) -> Suspicion | None:
    """The notation of numbers or dates in which nearly all of these texts are written; None if there is none."""
    if len(texts) <= _MIN_TEXTS:
        return None
    for test, kind in (
        (_is_date, SuspicionKind.DATE_NOTATION),
        (_PERCENT.fullmatch, SuspicionKind.PERCENT_SIGNS),
        (_MONEY.fullmatch, SuspicionKind.CURRENCY_SIGNS),
    ):
        if _nearly_all(texts, test):
            return Suspicion(kind, _two(texts, test))
    for pattern in _WITH_SEPARATORS:
        if _nearly_all(texts, pattern.fullmatch):
            with_separator = [text for text in texts if _SEPARATOR.search(text)]
            if len(with_separator) >= _MIN_SHARE_WITH_SEPARATOR * len(texts):
                example = _longest(with_separator, pattern.fullmatch)
                other = next((text for text in texts if not pattern.fullmatch(text.strip())), None)
                return Suspicion(SuspicionKind.THOUSANDS_SEPARATORS, (example, *([other] if other else [])))
    return None


def _is_date(text: str) -> bool:
    """Day and month in either order; a year of two digits must follow two numbers of two digits, or a month's name."""
    match = _DATE.fullmatch(text)
    if match is None:
        return _DATE_IN_WORDS.fullmatch(text) is not None
    one, other = (int(part) for part in match.group(1, 3, 6, 8, 9, 10) if part and part.isdigit())
    return 1 <= min(one, other) <= 12 and max(one, other) <= 31


def _nearly_all(texts: Sequence[str], test: Callable[[str], object]) -> bool:
    misses = 0
    for text in texts:
        misses += not test(text.strip())
        if misses > (1.0 - _MIN_SHARE_IN_NOTATION) * len(texts):
            return False
    return True


def _longest(texts: Sequence[str], test: Callable[[str], object]) -> str:
    """The longest of the texts that pass the test, as an example."""
    return max((text for text in map(str.strip, texts) if test(text)), key=len, default=texts[0])


def _two(texts: Sequence[str], test: Callable[[str], object]) -> tuple[str, ...]:
    """An example of a text that passes the test, and a text that does not; if all do, another that does."""
    example = _longest(texts, test)
    others = [text for text in texts if text.strip() != example]
    return example, next((text for text in others if not test(text.strip())), others[0])


def infinite(numbers: FloatArray) -> list[str]:
    """Which of the sorted numbers are infinite, as text: results of a division by 0, or of a logarithm of it."""
    ends = sorted({*numbers[:1].tolist(), *numbers[-1:].tolist()})
    return [str(number) for number in ends if math.isinf(number)]


def sentinels(numbers: FloatArray, totals: CountArray) -> list[str]:
    """Which of the sorted numbers may mean missing, as text; `totals` is how many rows have each."""
    codes = _largest_codes(numbers, totals)
    return codes or _largest_codes(-numbers[::-1], totals[::-1], sign=-1.0)


def _largest_codes(numbers: FloatArray, totals: CountArray, sign: float = 1.0) -> list[str]:
    """Which of the largest numbers may mean missing; the longest run of codes that stands apart is tried first."""
    codes = 0
    while codes < numbers.size and is_code(sign * numbers[-1 - codes]):
        codes += 1
    for size in range(codes, 0, -1):
        if _stands_apart(numbers[-size], numbers[:-size]) and totals[-size:].min() >= _MIN_ROWS_WITH_CODE:
            return [str(int(sign * number)) for number in numbers[-size:]]
    return []


def _stands_apart(code: float, rest: FloatArray) -> bool:
    """Whether a code is far from the other numbers.

    It must be further from them than they are from each other, and either on the other side of 0 or twice as far from
    0. So 99 is an ordinary value among the grades 60, 70 and 99. If many values are on one side of 0, a code on the
    other side may be near.
    """
    if rest.size >= _MIN_VALUES_BESIDE_CODE and code > 0.0 >= rest[-1]:
        return True
    if rest.size < 2 or not code - rest[-1] > rest[-1] - rest[0]:
        return False
    return bool(rest[-1] <= 0.0 or code > 2.0 * max(abs(rest[0]), abs(rest[-1])))


def is_code(number: float) -> bool:
    """Whether surveys and programs use this number for "missing"."""
    return bool(abs(number) < 1e7 and number % 1.0 == 0.0 and _NUMERIC_CODE.fullmatch(str(int(number))))


def are_numerals(texts: Sequence[str]) -> bool:
    """Whether the texts are many numbers, some with a fraction: they are probably text by mistake.

    Whole numbers may be text on purpose, as names or categories.
    """
    return len(texts) > _MIN_NUMBERS and any("." in text for text in texts) and all(map(is_number, texts))


def strays(texts: Sequence[str]) -> list[str]:
    """The few texts because of which a column of numbers is not numeric; none if the column is something else."""
    texts_among_numbers: list[str] = []
    for text in texts:
        if not is_number(text):
            texts_among_numbers.append(text)
            if len(texts_among_numbers) > _MAX_STRAYS:
                return []
    return texts_among_numbers if len(texts) - len(texts_among_numbers) > _MIN_NUMBERS else []


def missing_codes(texts: Sequence[str]) -> list[str]:
    """Which of the texts are commonly used for "no value"; if there is a +, a - is an ordinary value."""
    words = {text.strip() for text in texts}
    ordinary = {"none", *(_MINUS if words & _PLUS else ())}  # as in none, mild, severe; Python writes None
    return [text for text in texts if (word := text.strip()).lower() in _MISSING_CODES and word not in ordinary]


def spelled_alike(texts: Sequence[str]) -> list[str]:
    """The first texts that differ only in case, or in blanks at the ends: they may be one value."""
    if len(texts) > _MAX_COMPARED_TEXTS:
        return []
    spellings: dict[str, str] = {}
    for text in texts:
        word = text.strip().casefold()
        if word and spellings.setdefault(word, text) is not text:
            return [spelling for spelling in texts if spelling.strip().casefold() == word]
    return []
