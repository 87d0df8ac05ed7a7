"""A column before it is counted: codes and labels, or, if its values cannot be counted, which rows have a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from credimi.columns import labels
from credimi.columns.labels import MANY
from credimi.columns.python_objects import uncountable
from credimi.core.errors import UncountableError, cannot_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.missing import MissingValues
    from credimi.core.types import AnyArray, ArrowColumn, BooleanArray, FloatArray

    Codes = NDArray[np.unsignedinteger]
    ColumnValues: TypeAlias = (
        "AnyArray | ArrowColumn | PrecodedColumn | SparseColumn | UnreadableColumn"  # what `encode` takes
    )

_MAX_TYPE_CHARACTERS = 60  # of the name of a type in a message
_COARSE_UNITS = frozenset("YMWDhm")  # units whose range may exceed Arrow's
_MAX_DAYS = 2**31  # Arrow's dates have 32 bits
_ARROW_UNITS = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s", "ps": "ns", "fs": "ns", "as": "ns"}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Codes of a column; `texts` or `numbers` are the labels, in the order of the codes.

    A sparse column has the codes of the rows `at`, and one more code at the end, which all other rows share.
    """

    codes: Codes
    kind: str
    texts: tuple[str, ...] = ()
    numbers: FloatArray | None = None
    dropped_bits: int = 0
    instants: bool = False  # the numbers are days since 1970
    spans: bool = False  # the numbers are seconds: times of day, durations
    at: NDArray[np.integer] | None = None

    @property
    def values(self) -> int:
        """The number of labels; codes from there on mean that the value is missing."""
        return len(self.texts) if self.numbers is None else self.numbers.size

    def without_codes(self) -> ColumnLabels:
        """Its labels, as a key of caches."""
        numbers = None if self.numbers is None else self.numbers.tobytes()
        return ColumnLabels(self.kind, self.texts, numbers, self.dropped_bits, self.instants, self.spans)


class ColumnLabels(NamedTuple):
    """The labels of a column, equal if those of another column are the same; `numbers` are bytes of doubles."""

    kind: str
    texts: tuple[str, ...]
    numbers: bytes | None
    dropped_bits: int
    instants: bool
    spans: bool

    def column(self) -> Column:
        """A column of no rows with these labels."""
        numbers = None if self.numbers is None else np.frombuffer(self.numbers)
        return Column(np.zeros(0, dtype=np.uint8), *self._replace(numbers=numbers))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True, eq=False)
class PrecodedColumn:
    """A column that already has codes, such as a pandas categorical: -1 is missing."""

    codes: NDArray[np.signedinteger]
    values: ColumnValues

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, rows: slice) -> PrecodedColumn:
        return PrecodedColumn(self.codes[rows], self.values)


@dataclass(frozen=True, slots=True, eq=False)
class SparseColumn:
    """A column of a sparse matrix: the values of the rows `at`; all other rows have the value 0."""

    at: NDArray[np.integer]
    values: AnyArray
    rows: int

    def __len__(self) -> int:
        return self.rows

    def __getitem__(self, rows: slice) -> AnyArray:
        return self.dense()[rows]

    def dense(self) -> AnyArray:
        """The same with all its zeros."""
        array = np.zeros(self.rows, dtype=self.values.dtype)
        array[self.at] = self.values
        return array


@dataclass(frozen=True, slots=True, eq=False)
class UnreadableColumn:
    """A column of a type that Arrow does not support, as in polars: which rows have a value, and what is wrong."""

    seen: BooleanArray
    fault: UncountableError

    def __len__(self) -> int:
        return self.seen.size

    def __getitem__(self, rows: slice) -> UnreadableColumn:
        return UnreadableColumn(self.seen[rows], self.fault)


def seen_only(values: ColumnValues, fault: UncountableError, missing: MissingValues) -> Column:
    """A column that `encode` refuses, counted as present or missing only; its label, if any, says what it holds."""
    what = fault.what
    if isinstance(values, UnreadableColumn):
        seen = values.seen
    elif isinstance(values, PrecodedColumn):
        seen = values.codes >= 0
    elif isinstance(values, np.ndarray):
        if values.dtype.kind == "O":  # all values are looked at, so that the division into batches does not matter
            what = min(filter(None, map(uncountable, values)), default=what)
        seen = _seen_in_numpy(values, missing)
    else:
        seen = _seen_in_arrow(values, missing)
    codes = np.where(seen, np.uint8(0), np.uint8(255))
    return Column(codes, MANY, (what,)) if seen.any() else Column(codes, labels.TEXT)


def _seen_in_numpy(values: AnyArray, missing: MissingValues) -> BooleanArray:
    plain = np.asarray(values)
    if plain.dtype.kind == "O":
        seen = np.array([not missing.written_as(item) for item in plain], dtype=bool)
    elif plain.dtype.kind == "c":
        seen = ~np.isnan(plain)
    else:
        seen = ~np.isnat(plain) if plain.dtype.kind == "m" else np.ones(plain.shape, dtype=bool)
    return np.asarray(seen & ~np.ma.getmaskarray(values))


def _seen_in_arrow(values: ArrowColumn, missing: MissingValues) -> BooleanArray:
    import pyarrow.compute as pc  # noqa: PLC0415  (it takes long to load, and much needs nothing of it)

    seen = pc.is_valid(values)
    if is_bytes(values.type):
        seen = pc.and_(seen, pc.invert(missing.among_bytes(values)))
    result: BooleanArray = np.asarray(seen)
    return result


def is_bytes(kind: pa.DataType) -> bool:
    """Whether Arrow's type is bytes, which may be text."""
    tests = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


def refusal(kind: pa.DataType, name: str) -> UncountableError:
    """The error for a type; its short form leaves out the names of inner fields, which differ between libraries."""
    name_of_type = str(kind).partition("<")[0]  # such as large_list, fixed_size_list, sparse_union
    short = next((word for word in ("struct", "map", "union", "list") if word in name_of_type), str(kind))
    shown = str(kind)
    if len(shown) > _MAX_TYPE_CHARACTERS:
        shown = f"{shown[:_MAX_TYPE_CHARACTERS]}..."
    return cannot_count(f"column {name!r}", f"values of type {shown}", f"values of type {short}")


def in_arrow_unit(values: AnyArray, unit: str, name: str) -> AnyArray:
    """Dates, times or durations in a unit of Arrow; an error if they are out of range, which numpy does not report."""
    kind = values.dtype.kind
    converted = values.astype(f"{kind}8[{unit}]", copy=False)
    if unit == "D" and np.any(np.abs(converted.astype(np.int64)[~np.isnat(converted)]) >= _MAX_DAYS):
        converted = converted.astype("M8[s]")
    coarse = np.datetime_data(values.dtype)[0] in _COARSE_UNITS
    if coarse and not np.array_equal(converted.astype(values.dtype), values, equal_nan=True):
        raise UncountableError(
            f"column {name!r} holds dates or durations of {10**11:,} years and more: correct them, or leave it out "
            "(exclude, --exclude)",
            "dates or durations beyond all calendars",
        )
    return converted


def arrow_unit(kind: np.dtype[np.datetime64 | np.timedelta64]) -> str:
    """The unit of Arrow for dates, times and durations of this type; "" if there is none."""
    unit, _ = np.datetime_data(kind)
    if kind.kind == "M":
        return _ARROW_UNITS.get(unit, "s" if unit == "generic" else unit)  # without a unit, all of them are NaT
    if unit in {"Y", "M", "generic"}:  # months differ in length
        return ""
    return "s" if unit in {"W", "D"} else _ARROW_UNITS.get(unit, unit)
