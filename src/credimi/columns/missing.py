"""What means missing. Only this module decides it: for labels, single cells, Python objects and Arrow values."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns import labels, text_types
from credimi.columns.arrow_buffers import text_array
from credimi.columns.text_types import shown
from credimi.core.public import stored

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.column import Column
    from credimi.core.types import ArrowColumn, BooleanArray, FloatArray, Value


@stored
class MissingValues:
    """The values that mean missing, as text, as numbers and as dates: 999 also means "999", and "999" also means 999.

    A number never means a date or a duration, although these are counted as numbers, too. Blanks around a text do not
    matter, so blanks alone are an empty text. In `raw` text, as in CSV files, an empty field is missing as well.
    """

    def __init__(self, values: Sequence[str | float], *, raw: bool = False) -> None:
        values = (*values, "") if raw else values
        self.texts = {value if isinstance(value, str) else text_types.shown_number(value) for value in values}
        self.numbers = {number for number in map(_as_number, values) if number is not None and not math.isnan(number)}
        self.dates = {date for date in map(_as_date, self.texts) if date is not None}

    def among(self, column: Column) -> BooleanArray:
        """Which of the column's labels mean missing."""
        if column.numbers is not None:
            numbers_that_mean_missing = self.dates if column.instants else set() if column.spans else self.numbers
            if not numbers_that_mean_missing:
                return np.zeros(column.values, dtype=bool)
            return np.isin(column.numbers, list(numbers_that_mean_missing))
        return np.array([self._means_missing(text, column.kind) for text in column.texts], dtype=bool)

    def means(self, cell: Value) -> bool:
        """Whether a single value, as in a stream of rows, means missing."""
        if isinstance(cell, str):
            return self._names(cell)
        if is_missing(cell):
            return True
        if isinstance(cell, bytes | bool | np.bool_):
            return self._names(shown(cell))
        if is_number(cell) or isinstance(cell, Decimal):
            return cell in self.numbers or (abs(cell) > labels.EXACT and shown(cell) in self.texts)  # stored as text
        return bool(self.dates) and _as_date(cell) in self.dates

    def written_as(self, item: object) -> bool:
        """Whether a Python object, beside others of another type, is missing or is written like a missing value."""
        if isinstance(item, str | bytes | int | float | np.number) and self._names(shown(item)):
            return True
        return is_missing(item)

    def among_texts(self, texts: pa.Array) -> pa.BooleanArray:
        """Which of Arrow's texts mean missing."""
        import pyarrow.compute as pc  # noqa: PLC0415  (slow to load, and often not needed)

        return pc.is_in(
            pc.utf8_trim_whitespace(texts), options=pc.SetLookupOptions(text_array(sorted(self.texts), texts.type))
        )

    def among_numbers(self, numbers: FloatArray) -> BooleanArray:
        """Which of the numbers mean missing."""
        return np.asarray(np.isnan(numbers) | np.isin(numbers, list(self.numbers)))

    def among_bytes(self, values: ArrowColumn) -> pa.BooleanArray:
        """Which of Arrow's bytes mean missing."""
        import pyarrow.compute as pc  # noqa: PLC0415  (slow to load, and often not needed)

        texts_as_bytes = pa.array(
            [text.encode(errors="surrogatepass") for text in sorted(self.texts)], pa.large_binary()
        )
        return pc.is_in(values.cast(pa.large_binary()), texts_as_bytes)

    def _names(self, text: str) -> bool:
        """Whether a text is one of those that mean missing, with blanks around it or without."""
        return text in self.texts or ((text[:1].isspace() or text[-1:].isspace()) and text.strip() in self.texts)

    def _means_missing(self, text: str, kind: str) -> bool:
        if self._names(text) or kind != labels.RAW:
            return self._names(text)
        if text.strip().lstrip("+-").lower() == "nan":
            return True
        return (
            bool(self.numbers) and not re.match(text_types.NAMES_OF_DIGITS, text) and _as_number(text) in self.numbers
        )


def _as_number(value: str | float) -> float | None:
    """The value as a number; None for a text that is no number in tables, such as 1_0, which is 10 to Python only."""
    if isinstance(value, str):
        whole = re.fullmatch(r"\s*[+-]?\d+\s*", value)
        if not text_types.is_number(value, names_too=True) or (whole and Decimal(value).copy_abs() > labels.EXACT):
            return None
    return float(value)


def _as_date(value: object) -> float | None:
    """A date, as text or not, as days since 1970; None if it is no date."""
    try:
        return text_types.days_of(value)
    except (TypeError, ValueError):
        return None


NOTHING_MORE = MissingValues(())  # nothing besides null and NaN


@lru_cache(maxsize=64, typed=True)
def missing_of(values: tuple[str | float, ...], *, raw: bool = False) -> MissingValues:
    """The same object for the same values, so that results can be cached with it."""
    return MissingValues(values, raw=raw)


def is_number(cell: object) -> bool:
    """Whether a value is a number; not a boolean, which is one to Python, and not a duration, which is one to numpy."""
    return isinstance(cell, int | float | np.integer | np.floating) and not isinstance(cell, bool | np.timedelta64)


def is_missing(item: object) -> bool:
    """None, NaN, and the missing values of pandas (NA, NaT), recognised without pandas."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(item, np.datetime64 | np.timedelta64):
        return bool(np.isnat(item))
    if isinstance(item, Decimal):  # math.isnan raises for a signalling NaN
        return item.is_nan()
    return isinstance(item, float | np.floating) and math.isnan(item)
