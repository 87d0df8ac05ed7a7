"""Python objects: which of them are distinct, and what kind each is."""

from __future__ import annotations

import ctypes
import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns.arrow_buffers import few_distinct
from credimi.columns.labels import BOOLEAN, EXACT, NUMBER, TEXT
from credimi.columns.missing import is_missing
from credimi.core.errors import UncountableError, cannot_count

if TYPE_CHECKING:
    from credimi.core.types import AnyArray, IntegerArray, Value

NO_TEXT = "bytes that are not UTF-8"
TIME = "time"  # objects that become numbers, as Arrow's dates and times do


def distinct_objects(
    values: AnyArray, name: str, *, compiled: bool
) -> tuple[AnyArray | pa.Array, list[Value] | None, IntegerArray]:
    """Codes, the distinct objects, and one row of each; or an Arrow array, if they are many and all of one type."""
    if compiled:
        addresses = np.ctypeslib.as_array((ctypes.c_int64 * values.size).from_address(values.ctypes.data))
        few = few_distinct(addresses)
        if few is not None:
            return few[0], [values[row] for row in few[1]], few[1]
        try:
            array = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError):
            pass
        else:
            if any(test(array.type) for test in _SAME_IN_ARROW):
                return array, None, np.zeros(0, dtype=np.int64)
    code_of: dict[object, int] = {}
    first_rows: list[int] = []
    codes = np.empty(values.size, dtype=np.uint32)
    for row, item in enumerate(values):
        key = (type(item), item) if not is_missing(item) else None  # 1, 1.0 and True are equal, but not the same
        try:
            code = code_of.setdefault(key, len(code_of))
        except TypeError:
            raise no_value(name, row, item) from None
        if code == len(first_rows):
            first_rows.append(row)
        codes[row] = code
    return codes, [values[row] for row in first_rows], np.array(first_rows, dtype=np.int64)


_SAME_IN_ARROW = (  # the types for which Arrow gives the same labels as the objects themselves
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_string,
    pa.types.is_large_string,
)


def no_value(name: str, row: int, item: object) -> UncountableError:
    """The error for an object that cannot be counted."""
    what = uncountable(item) or f"values of type {type(item).__name__}"  # a tuple of lists, say
    if isinstance(item, bytes):
        return UncountableError(f"column {name!r}, row {row} holds {what}: decode them, or leave it out", what)
    return cannot_count(f"column {name!r}, row {row}", f"a {type(item).__name__}", what)


def uncountable(item: object) -> str:
    """What an object is, if it cannot be counted; otherwise ""."""
    if isinstance(item, bytes):
        try:
            item.decode()
        except UnicodeDecodeError:
            return NO_TEXT
        return ""
    try:
        hash(item)
    except TypeError:
        return f"values of type {type(item).__name__}"
    return ""


def kind_of(item: object) -> str:
    """The kind that an object is read as."""
    if isinstance(item, bool | np.bool_):
        return BOOLEAN
    if isinstance(item, np.datetime64 | np.timedelta64 | dt.date | dt.time | dt.timedelta):  # timedelta64 is a number
        return TIME
    if isinstance(item, int | float | Decimal | np.integer | np.floating):
        return NUMBER
    return TEXT


def is_no_double(item: object) -> bool:
    """Whether a whole number is so large that its neighbours would be the same double."""
    if isinstance(item, Decimal):
        return item.is_finite() and abs(item) > EXACT and item == item.to_integral_value()
    return isinstance(item, int | np.integer) and abs(int(item)) > EXACT


def as_instant(item: Value) -> Value:
    """A date or datetime in a form that Arrow or numpy keeps whole; Arrow would drop the nanoseconds of pandas."""
    return item.to_datetime64() if hasattr(item, "to_datetime64") else item


def type_of_instant(item: object) -> np.dtype[np.datetime64] | type[dt.date] | None:
    """The common type of dates and datetimes that can be converted together; None if the item is neither."""
    item = as_instant(item)
    if isinstance(item, np.datetime64):
        return item.dtype
    return next((kind for kind in (dt.datetime, dt.date) if isinstance(item, kind)), None)


def two_kinds(present: list[tuple[int, Value]], rows: IntegerArray) -> list[tuple[int, Value]]:
    """The first item, and the first item of another kind."""
    position, item = present[0]
    other = next(pair for pair in present if kind_of(pair[1]) != kind_of(item))
    return [(int(rows[position]), item), (int(rows[other[0]]), other[1])]


def object_array(values: list[Value]) -> AnyArray:
    """These objects as an array, one a row, even if they are lists."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def shown_name(name: object) -> str:
    """A column's name as text; pandas turns None into NaN if the other names are text."""
    return "None" if is_missing(name) else str(name)
