"""Dates and times of day as people write them; the whole column decides which number is the day, and which the month.

A date is read if all texts are dates in one order. If two orders fit all of them, as in 03/04/2024, the column is not
read: it stays text. Only with points between its parts is the day taken to come first, as nobody writes months so.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY, _SECOND = timedelta(days=1), 1_000_000
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = rf"(?P<name>{'|'.join(_MONTHS)})[a-z]{{0,6}}\.?"
_SECONDS = r"(?::(?P<second>[0-5]\d)(?P<part>\.\d+)?)?(?: ?(?P<half>[AaPp])\.?[Mm]\.?)?"
_TIME = rf"(?:(?:,? |T)(?P<hour>\d\d?):(?P<minute>[0-5]\d){_SECONDS})?"
_CLOCK = re.compile(rf"(?P<sign>-?)(?P<hour>\d+):(?P<minute>[0-5]\d){_SECONDS}")
_YEAR, _YEARS = r"(?P<year>\d{4})", r"(?P<year>\d{4}|\d\d)"
ORDERS = {
    "YYYY-MM-DD": re.compile(rf"{_YEAR}(?P<mark>[-/.])(?P<month>\d\d?)(?P=mark)(?P<day>\d\d?){_TIME}(?:Z|\+00:?00)?"),
    "DD.MM.YYYY": re.compile(rf"(?P<day>\d\d?)(?P<mark>[./-])(?P<month>\d\d?)(?P=mark){_YEARS}{_TIME}"),
    "MM/DD/YYYY": re.compile(rf"(?P<month>\d\d?)(?P<mark>[/-])(?P<day>\d\d?)(?P=mark){_YEARS}{_TIME}"),
    "DD Mon YYYY": re.compile(rf"(?P<day>\d\d?)[ -]?{_NAME}[ -]?,? ?{_YEARS}{_TIME}", re.IGNORECASE),
    "Mon DD, YYYY": re.compile(rf"{_NAME} (?P<day>\d\d?),? {_YEAR}{_TIME}", re.IGNORECASE),
}
_SHORT_YEAR = 69  # two digits from here on are of the last century, as in strptime
_DURATION = re.compile(
    r"(?:(\d+) ?d(?:ays?)?)?[ ,]*(?:(\d+) ?h(?:ours?|rs?)?)?[ ,]*"
    r"(?:(\d+) ?m(?:in(?:utes?|s)?)?)?[ ,]*(?:(\d+) ?s(?:ec(?:onds?|s)?)?)?",
    re.IGNORECASE,
)
_UNITS = re.compile(r"[A-Za-z]+")


def order_of(texts: Sequence[str]) -> str | None:
    """The order in which all of these texts are dates; None if there is none, or more than one."""
    fitting = [order for order in ORDERS if all(day_of(text, order) is not None for text in texts)]
    if len(fitting) == 2 and all("." in text for text in texts):  # the day comes first
        return "DD.MM.YYYY"
    return fitting[0] if len(fitting) == 1 else None


def day_of(text: str, order: str) -> float | None:
    """A date in this order, in days since 1970; None if it is none."""
    match = ORDERS[order].fullmatch(text)
    if match is None:
        return None
    found = match.groupdict()
    year = int(found["year"])
    year += 0 if len(found["year"]) == 4 else 1900 if year >= _SHORT_YEAR else 2000
    month = _MONTHS.index(found["name"].lower()) + 1 if "name" in found else int(found["month"])
    microseconds = _microseconds(found)
    try:
        days = (datetime(year, month, int(found["day"]), tzinfo=UTC) - _EPOCH) // _DAY
    except ValueError:  # the 30th of February
        return None
    if microseconds is None or microseconds >= 86_400 * _SECOND:
        return None
    return (days * 86_400 * _SECOND + microseconds) / (86_400 * _SECOND)


def are_times(texts: Sequence[str]) -> bool:
    """Whether all texts are times or durations; with one unit in all of them, they are numbers of this unit."""
    if not all(seconds_of(text) is not None for text in texts):
        return False
    return any(":" in text or len(_UNITS.findall(text)) > 1 for text in texts)


def seconds_of(text: str) -> float | None:
    """A time of day (14:30, 2:30 PM) or a duration (1:30:00, 1h 30m) in seconds; None if it is none."""
    match = _CLOCK.fullmatch(text)
    if match is not None:
        microseconds = _microseconds(match.groupdict())
        return None if microseconds is None else (-1.0 if match["sign"] else 1.0) * microseconds / _SECOND
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in match.groups())
    return float(((days * 24 + hours) * 60 + minutes) * 60 + seconds)


def _microseconds(found: dict[str, str | None]) -> int | None:
    """The time of day in microseconds; None if there is no such time."""
    hour, half = int(found["hour"] or 0), (found["half"] or "").lower()
    if half and not 1 <= hour <= 12:
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    seconds = (hour * 60 + int(found["minute"] or 0)) * 60 + int(found["second"] or 0)
    return round(seconds * _SECOND + float(found["part"] or 0.0) * _SECOND)
