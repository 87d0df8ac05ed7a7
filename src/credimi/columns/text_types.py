"""Text that is a number or a date, and numbers, dates and other objects as text."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray

NAMES_OF_DIGITS = r"^\s*[+-]?(0\d|\d{16,}\s*$)"  # 007 and keys of twenty digits are names, not doubles
_ANY_NUMBER = r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?(inf|infinity)\s*"
_NUMBER_OR_NAME = re.compile(_ANY_NUMBER, re.IGNORECASE)
_PLAIN_NUMBER = (
    r"-?(?:0|[1-9][0-9]{0,14})(?:\.[0-9]*)?"  # the usual form of numbers: tried first, as it takes half the time
)
NUMBER_TEXT = re.compile(rf"{_PLAIN_NUMBER}|(?!{NAMES_OF_DIGITS})(?:{_ANY_NUMBER})", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+(,\d+)?\s*")
_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(,\d{3})?\s*")  # as 950 and 1,200 are written elsewhere
_DATE = re.compile(r"\s*\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?\s*")
DAY, SECOND = 86_400_000_000, 1_000_000  # microseconds
_MAX_DAYS_IN_MICROSECONDS = 2**63 // DAY  # the range of numpy's 64 bits: up to the year 294246
# why text is not read as numbers
DATES, LEADING_ZEROS, MANY_DIGITS, DECIMAL_COMMAS = "dates", "leading_zeros", "many_digits", "decimal_commas"
_LEADING_ZERO, _MANY_DIGITS = re.compile(r"\s*[+-]?0\d"), re.compile(r"\s*[+-]?\d{16,}\s*")


def shown_number(number: float) -> str:
    """The shortest text for this number; without a point if there is no fraction."""
    text = repr(float(number))
    return text.removesuffix(".0")


def is_number(text: str, *, names_too: bool = False) -> bool:
    """Whether a raw text is a number. Digits with leading zeros, or very many digits, are names, unless `names_too`."""
    return bool((_NUMBER_OR_NAME if names_too else NUMBER_TEXT).fullmatch(text))


def numbers_among(texts: Sequence[str]) -> FloatArray:
    """Texts as numbers; NaN for a text that is no number."""
    numbers = np.full(len(texts), np.nan)
    for row, text in enumerate(texts):
        if is_number(text, names_too=True):
            numbers[row] = float(text)
    return numbers


def readable(texts: Sequence[str]) -> tuple[FloatArray, str] | None:
    """Texts as numbers, for a user who asks for it, and the reason why they are not read as numbers by default.

    Dates are days since 1970, as in Arrow. A comma may be decimal, or part of a list of choices such as "1,3".
    """
    if not texts:
        return None
    if all(is_number(text, names_too=True) for text in texts):
        many_digits = any(map(_MANY_DIGITS.fullmatch, texts)) and not any(map(_LEADING_ZERO.match, texts))
        return np.array([float(text) for text in texts]), MANY_DIGITS if many_digits else LEADING_ZEROS
    if all(_DECIMAL_COMMA.fullmatch(text) for text in texts) and not all(map(_THOUSANDS.fullmatch, texts)):
        return np.array([float(text.replace(",", ".")) for text in texts]), DECIMAL_COMMAS
    if all(_DATE.fullmatch(text) for text in texts):
        try:
            return np.array([_microseconds(text) for text in texts], dtype=np.int64) / DAY, DATES
        except ValueError:  # the 30th of February
            return None
    return None


def _microseconds(text: str) -> int:
    """Microseconds since 1970; a time with a zone is converted to UTC, another is taken as it stands."""
    time = datetime.fromisoformat(text.strip())
    return (time.replace(tzinfo=time.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def days_of(moment: object) -> float:
    """A date, a datetime, or either as text, in days since 1970; ValueError for anything else."""
    text = moment.isoformat() if isinstance(moment, date) else str(moment)
    if not _DATE.fullmatch(text):
        raise ValueError(text)
    return _microseconds(text) / DAY


def shown_date(days: float) -> str:
    """Days since 1970 as a date, with the time of day if there is one."""
    if abs(days) < _MAX_DAYS_IN_MICROSECONDS:
        return str(np.datetime64(round(days * DAY), "us")).removesuffix(".000000").removesuffix("T00:00:00")
    return str(np.datetime64(math.floor(days), "D")) if abs(days) < 2.0**62 else f"{shown_number(days)} days since 1970"


def spelled(text: str) -> str:
    """A raw text; a number gets its standard spelling."""
    return shown_number(float(text) + 0.0) if is_number(text) else text  # -0 is 0, as among numbers


def shown(item: object) -> str:
    """The label of an object."""
    if isinstance(item, bool | np.bool_):
        return "true" if item else "false"
    if isinstance(item, bytes):
        return item.decode("utf-8", errors="backslashreplace")
    if isinstance(item, float | np.floating):
        return shown_number(float(item))
    try:
        text = str(item)
    except ValueError:  # whole numbers of thousands of digits, which Python refuses to write in decimal
        text = hex(item) if isinstance(item, int) else repr(type(item))
    return text.encode("utf-8", errors="backslashreplace").decode()
