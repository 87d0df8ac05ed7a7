"""What means missing."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns import labels, text_types
from credimi.core.public import stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column

MISSING_VALUES = ("", "?", "NA", "NaN", "null")


@stored
class MissingValues:
    """The values that mean missing, as text, as numbers and as dates: 999 means "999", and "999" means 999.

    A number means numbers only, and no dates or durations, though these are counted as numbers, too.
    """

    def __init__(self, values: Sequence[str | float]) -> None:
        self.texts = {value if isinstance(value, str) else text_types.shown_number(value) for value in values}
        self.numbers = {number for number in map(_as_number, values) if number is not None and not math.isnan(number)}
        self.dates = {date for date in map(_as_date, self.texts) if date is not None}

    def among(self, column: Column) -> NDArray[np.bool_]:
        """Which of the column's labels mean missing."""
        if column.numbers is not None:
            meant = self.dates if column.instants else set() if column.spans else self.numbers
            if not meant:
                return np.zeros(column.values, dtype=bool)
            return np.isin(column.numbers, list(meant))
        if self._means_none(column.texts, column.kind):
            return np.zeros(column.values, dtype=bool)
        return np.array([self._means_missing(text, column.kind) for text in column.texts], dtype=bool)

    def _means_none(self, texts: tuple[str, ...], kind: str) -> bool:
        """Whether it is plain, without a look at each text, that none of them means missing: so it mostly is."""
        if not self.texts.isdisjoint(texts):
            return False
        return kind != labels.RAW or not (self.numbers or "nan" in "\n".join(texts).lower())

    def _means_missing(self, text: str, kind: str) -> bool:
        if text in self.texts or kind != labels.RAW:
            return text in self.texts
        if text.strip().lstrip("+-").lower() == "nan":
            return True
        return (
            bool(self.numbers) and not re.match(text_types.NAMES_OF_DIGITS, text) and _as_number(text) in self.numbers
        )


def _as_number(value: str | float) -> float | None:
    """The number that a value is; of a text only where a table could hold it so: 1_0 is 10 to Python alone."""
    if isinstance(value, str):
        whole = re.fullmatch(r"\s*[+-]?\d+\s*", value)
        if not text_types.is_number(value, names_too=True) or (whole and Decimal(value).copy_abs() > labels.EXACT):
            return None
    return float(value)


def _as_date(text: str) -> float | None:
    try:
        return text_types.days_of(text)
    except ValueError:
        return None


@lru_cache(maxsize=64, typed=True)
def missing_of(values: tuple[str | float, ...]) -> MissingValues:
    """The same for the same values, so that what was found out with it can be kept (`_order`)."""
    return MissingValues(values)


def is_missing(item: object) -> bool:
    """None, NaN, and what pandas writes for nothing (NA, NaT), recognised without pandas."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(item, np.datetime64 | np.timedelta64):
        return bool(np.isnat(item))
    if isinstance(item, Decimal):  # math.isnan raises at a NaN that signals
        return item.is_nan()
    return isinstance(item, float | np.floating) and math.isnan(item)
