"""A column of any kind -> small-integer codes and the labels they stand for.

Codes are unsigned integers of the smallest type that fits, the type's largest value where the value is missing: null
or NaN. Labels come in the order of the codes. Nothing is remembered from one batch to the next.

* text of few distinct values is coded straight from Arrow's buffers (`kernels.encoding`); much of it, or little of it
  (no compiled code is loaded for that), by pyarrow's dictionaries; categoricals and dictionaries are codes already;
* integers of a narrow range are their own codes; other numbers are coded by pyarrow;
* Python's objects are coded by their addresses, as most columns hold few objects many times, then by their values.
"""

from __future__ import annotations

import ctypes
import datetime as dt
import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credimi import labels
from credimi.errors import CredimiError
from credimi.labels import BOOLEAN, NUMBER, RAW, TEXT, shown_number

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.typing import NDArray

    Codes = NDArray[np.unsignedinteger]

_FEW_TEXTS = 255
_NARROW = 65_534  # a range of integers that is its own code
_NOTHING = np.zeros(0, dtype=np.uint8)  # bits of validity where all is valid, bytes of no text
_EXACT = 2**53  # integers beyond are no doubles
_TIME = "time"  # of objects: they become numbers, as Arrow's dates and times do
_UNITS = {"s": (10**6, 1), "ms": (10**3, 1), "ns": (1, 10**3), "ms of a day": (1, 86_400_000)}  # us, or days
_ARROW_UNITS = {"Y": "D", "M": "D", "W": "D", "h": "s", "m": "s", "ps": "ns", "fs": "ns", "as": "ns"}


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """Codes of a column; `texts` or `numbers` are the labels, in the order of the codes."""

    codes: Codes
    kind: str
    texts: tuple[str, ...] = ()
    numbers: NDArray[np.float64] | None = None
    dropped_bits: int = 0

    @property
    def values(self) -> int:
        """How many labels there are; a larger code means that the value is missing."""
        return len(self.texts) if self.numbers is None else self.numbers.size


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column that comes with codes of its own, as pandas' categoricals do: -1 is missing."""

    codes: NDArray[np.signedinteger]
    values: Any

    def __len__(self) -> int:
        return self.codes.size

    def __getitem__(self, rows: slice) -> Coded:
        return Coded(self.codes[rows], self.values)


def encode(  # noqa: PLR0911
    values: Any,  # noqa: ANN401
    name: str,
    *,
    raw: Collection[str] | None = None,
    compiled: bool = False,
) -> Column:
    """Codes and labels of one Arrow or numpy array.

    Raw text may turn out to be numbers; `raw` is then what means missing in it. Few distinct texts stay raw, so that
    the whole column decides; many are read as numbers at once, if all of them are.

    `compiled` asks for the compiled kernels, which are worth loading where there is much to do.
    """
    if isinstance(values, Coded):
        unsigned = values.codes.view(f"u{values.codes.dtype.itemsize}")  # -1 becomes the largest code: missing
        return _translated(unsigned, encode(values.values, name))
    if isinstance(values, np.ndarray):
        return _encode_numpy(values, name, compiled=compiled)
    array = _one_chunk(values)
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _encode_dictionary(array, name, raw=raw, compiled=compiled)
    if pa.types.is_null(kind):
        return Column(np.full(len(array), 255, dtype=np.uint8), TEXT)
    if pa.types.is_boolean(kind):
        codes = _bits(array.buffers()[1], array)
        if array.null_count:
            codes = codes | (_valid(array).view(np.uint8) - np.uint8(1))  # 255 where it is not valid
        return Column(codes, BOOLEAN, ("false", "true"))
    if pa.types.is_integer(kind):
        return _encode_integers(array, compiled=compiled)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return _encode_numbers(array.cast(pa.float64()), compiled=compiled)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _encode_temporal(array)
    return _encode_texts(_as_text(array, name), raw, compiled=compiled)


def doubles(values: Any) -> NDArray[np.float64]:  # noqa: ANN401
    """An Arrow array of numbers or truth values as doubles, NaN where it is null."""
    array = _one_chunk(values)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    array = array.cast(pa.float64(), safe=False)
    return _plain(array.fill_null(math.nan) if array.null_count else array)


def _one_chunk(values: Any) -> Any:  # noqa: ANN401
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    if pa.types.is_dictionary(values.type):
        try:
            values = values.unify_dictionaries()
        except pa.ArrowInvalid:  # null among the categories, or too many for the type of the indices
            values = pa.chunked_array([chunk.dictionary_decode() for chunk in values.chunks])
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _as_text(array: Any, name: str) -> Any:  # noqa: ANN401
    """Text with plain offsets; bytes are text if they are UTF-8."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    if kind == pa.string_view():
        return array.cast(pa.large_string())
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind):
        try:
            return array.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid as error:
            raise CredimiError(
                f"column {name!r} holds bytes that are not UTF-8: decode them, or leave it out"
            ) from error
    raise CredimiError(
        f"column {name!r} holds values of type {kind}: only text, numbers, truth values and categories can be "
        "counted; convert it, or leave it out (features, --features)"
    )


def _encode_texts(array: Any, raw: Collection[str] | None = None, *, compiled: bool = False) -> Column:  # noqa: ANN401
    kind = TEXT if raw is None else RAW
    if compiled:
        column = _encode_few_texts(array, kind)
        if column is not None:
            return column
    coded = array.dictionary_encode()
    codes, texts = _codes_of(coded.indices, len(coded.dictionary)), coded.dictionary
    numbers = _numbers_in(texts, raw) if raw is not None and len(texts) > _FEW_TEXTS else None
    if numbers is None:
        return Column(codes, kind, tuple(texts.to_pylist()))
    return _without_nan(codes, numbers)


def _numbers_in(texts: Any, missing: Collection[str]) -> NDArray[np.float64] | None:  # noqa: ANN401
    """The texts as numbers, NaN where they mean missing; None if one of them is no number. As `labels.typed`."""
    gone = pc.is_in(texts, _text_array(sorted(missing), texts.type))
    kept = texts.filter(pc.invert(gone))
    if pc.any(pc.match_substring_regex(kept, labels.NAMES_OF_DIGITS)).as_py():
        return None
    try:
        found = _plain(kept.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    numbers = np.full(len(texts), np.nan)
    numbers[_plain(gone.cast(pa.uint8())) == 0] = found
    return numbers


def _text_array(texts: list[str], kind: Any) -> Any:  # noqa: ANN401
    """An Arrow array of these texts; `pa.array`, like all that takes Python's objects, would import pandas."""
    encoded = [text.encode("utf-8", errors="surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers).cast(kind)


def _encode_few_texts(array: Any, kind: str) -> Column | None:  # noqa: ANN401
    from credimi.kernels.encoding import MISSING, encode_texts  # noqa: PLC0415  (loads compiled code)

    _, offsets, data = array.buffers()
    wide = np.int64 if pa.types.is_large_string(array.type) else np.int32
    codes, examples = np.empty(len(array), dtype=np.uint8), np.zeros(MISSING, dtype=np.int64)
    seen = encode_texts(
        np.frombuffer(offsets, dtype=wide)[array.offset : array.offset + len(array) + 1],
        _NOTHING if data is None else np.frombuffer(data, dtype=np.uint8),
        *_validity(array),
        codes,
        examples,
    )
    return None if seen < 0 else Column(codes, kind, tuple(array[int(row)].as_py() for row in examples[:seen]))


def _encode_dictionary(array: Any, name: str, *, raw: Collection[str] | None, compiled: bool) -> Column:  # noqa: ANN401
    """The dictionary's values may be of any kind, null among them or twice there; its indices become codes."""
    codes = _codes_of(array.indices, len(array.dictionary), compiled=compiled)
    return _translated(codes, encode(array.dictionary, name, raw=raw))


def _translated(codes: Codes, values: Column) -> Column:
    """Codes of values that are coded themselves."""
    if np.array_equal(values.codes, np.arange(len(values.codes))):
        return Column(codes, values.kind, values.texts, values.numbers)
    wide = _width(values.values)
    missing = np.iinfo(wide).max
    moved = np.full(len(values.codes) + 1, missing, dtype=wide)
    moved[:-1][values.codes < values.values] = values.codes[values.codes < values.values]
    return Column(moved[np.minimum(codes, len(values.codes))], values.kind, values.texts, values.numbers)


def _codes_of(indices: Any, size: int, *, compiled: bool = False) -> Codes:  # noqa: ANN401
    """Arrow's indices into a dictionary as codes, null as missing."""
    return _distances(indices, 0, _width(size), compiled=compiled)


def _distances(array: Any, least: int, wide: type[np.unsignedinteger], *, compiled: bool) -> Codes:  # noqa: ANN401
    """How far Arrow's integers are from the least of them, as codes; null as missing."""
    if compiled and array.type in (pa.int32(), pa.int64()):  # as files have them; others are as narrow as can be
        from credimi.kernels.encoding import narrow  # noqa: PLC0415  (loads compiled code)

        codes: Codes = np.empty(len(array), dtype=wide)
        narrow(_plain(array), least, *_validity(array), codes)
        return codes
    codes = _narrow(_plain(array), least, wide)
    return np.where(_valid(array), codes, wide(np.iinfo(wide).max)) if array.null_count else codes


def _narrow(values: NDArray[Any], least: int, wide: type[np.unsignedinteger]) -> Codes:
    return (values.astype(np.int64) - least if least else values).astype(wide, copy=False)


def _plain(array: Any) -> NDArray[Any]:  # noqa: ANN401
    """An Arrow array of numbers as numpy's, whatever stands for null; `to_numpy` would import pandas."""
    kind = array.type.to_pandas_dtype()
    if len(array) == 0:
        return np.zeros(0, dtype=kind)
    return np.frombuffer(array.buffers()[1], dtype=kind)[array.offset : array.offset + len(array)]


def _valid(array: Any) -> NDArray[np.bool_]:  # noqa: ANN401
    """Which values are not null."""
    return _bits(array.buffers()[0], array).view(np.bool_)


def _bits(buffer: Any, array: Any) -> NDArray[np.uint8]:  # noqa: ANN401
    """One of an array's buffers of bits, its own bits of it, a byte each."""
    first, behind = array.offset // 8, (array.offset + len(array) + 7) // 8
    bits = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8)[first:behind], bitorder="little")
    return bits[array.offset - 8 * first :][: len(array)]


def _validity(array: Any) -> tuple[NDArray[np.uint8], int]:  # noqa: ANN401
    """The bits that say which values are not null, as kernels want them: none where all are; and where they begin."""
    bits = array.buffers()[0] if array.null_count else None
    return (_NOTHING, 0) if bits is None else (np.frombuffer(bits, dtype=np.uint8), array.offset)


def _width(size: int) -> type[np.unsignedinteger]:
    """The smallest type that has a code for each of so many values, and one to spare."""
    return np.uint8 if size < 256 else np.uint16 if size < 65_536 else np.uint32


def _encode_integers(array: Any, *, compiled: bool = False) -> Column:  # noqa: ANN401
    if compiled and array.type == pa.int64():
        values = _plain(array)
        few = _few_distinct(values, array)
        distinct = values[few[1]] if few is not None else values[:0]
        if few is not None and np.all((distinct >= -_EXACT) & (distinct <= _EXACT)):
            return Column(few[0], NUMBER, numbers=distinct.astype(np.float64))
    least, most = (scalar.as_py() for scalar in pc.min_max(array).values())
    if least is None:
        return Column(np.full(len(array), 255, dtype=np.uint8), NUMBER, numbers=np.zeros(0))
    if max(abs(least), abs(most)) > _EXACT:
        return _encode_texts(array.cast(pa.large_string()))
    if most - least > _NARROW:
        return _encode_numbers(array.cast(pa.float64()), compiled=compiled)
    codes = _distances(array, int(least), _width(most - least + 1), compiled=compiled)
    return _ranging(codes, least, most)


def _ranging(codes: Codes, least: int, most: int) -> Column:
    """Integers of a narrow range: their distance from the least is their code."""
    return Column(np.ascontiguousarray(codes), NUMBER, numbers=np.arange(least, most + 1, dtype=np.float64))


def _encode_numbers(array: Any, *, compiled: bool = False) -> Column:  # noqa: ANN401
    """Doubles; NaN is missing."""
    if compiled:
        values = _plain(array)
        few = _few_distinct(values.view(np.int64), array)
        if few is not None:
            return _without_nan(few[0], values[few[1]])
    coded = array.dictionary_encode()
    numbers = _plain(coded.dictionary)
    return _without_nan(_codes_of(coded.indices, numbers.size), numbers)


def _few_distinct(bits: NDArray[np.int64], array: Any) -> tuple[Codes, NDArray[np.int64]] | None:  # noqa: ANN401
    """Codes in the order of first appearance, and a row of each; None where they are too many."""
    from credimi.kernels.encoding import MISSING, encode_integers  # noqa: PLC0415  (loads compiled code)

    codes, rows = np.empty(bits.size, dtype=np.uint8), np.zeros(MISSING, dtype=np.int64)
    seen = encode_integers(bits, *_validity(array), codes, rows)
    return None if seen < 0 else (codes, rows[:seen])


def _without_nan(codes: Codes, numbers: NDArray[np.float64]) -> Column:
    nan = np.isnan(numbers)
    if nan.any():
        moved = np.full(numbers.size + 1, np.iinfo(codes.dtype).max, dtype=codes.dtype)
        moved[:-1][~nan] = np.arange(np.count_nonzero(~nan))
        codes, numbers = moved[np.minimum(codes, numbers.size)], numbers[~nan]
    return Column(codes, NUMBER, numbers=numbers)


def _encode_temporal(array: Any) -> Column:  # noqa: ANN401
    """Dates are numbers of days, times and spans of microseconds, so that what has another unit elsewhere is equal."""
    kind = array.type
    counts = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    missing = counts.is_null().to_numpy(zero_copy_only=False)
    units = counts.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    many, few = _UNITS.get("ms of a day" if pa.types.is_date64(kind) else getattr(kind, "unit", ""), (1, 1))
    whole, rest = np.divmod(units, few)  # nanoseconds are no doubles, and rounding them would part them from others
    return _encode_numbers(pa.array(whole * float(many) + rest / few, mask=missing))


def _encode_numpy(values: NDArray[Any], name: str, *, compiled: bool) -> Column:
    values = _as_arrow_has_it(values)
    kind = values.dtype.kind
    if kind in "iu" and values.size:
        least, most = int(values.min()), int(values.max())
        if most - least <= _NARROW and max(abs(least), abs(most)) <= _EXACT:
            return _ranging(_narrow(values, least, _width(most - least + 1)), least, most)
    if kind in "biufM" or (kind == "m" and _arrow_unit(values.dtype)):
        return encode(pa.array(np.ascontiguousarray(values)), name)
    if kind in "UTO":
        return _encode_numpy_texts(values, name, compiled=compiled)
    if kind == "S":
        return encode(pa.array(values.astype(object), pa.large_binary()), name)
    raise CredimiError(
        f"column {name!r} holds values of type {values.dtype}: only text, numbers and truth values can be counted"
    )


def _encode_numpy_texts(values: NDArray[Any], name: str, *, compiled: bool) -> Column:
    if values.dtype.kind != "O":
        values = values.astype(object)
        try:
            return encode(pa.array(values, pa.large_string()), name, compiled=compiled)
        except UnicodeEncodeError:  # halves of characters: Python has them, Arrow has not
            pass
    return _encode_objects(values, name, compiled=compiled)


def _as_arrow_has_it(values: NDArray[Any]) -> NDArray[Any]:
    """The same in a type that Arrow takes: no mask, this machine's order of bytes, doubles at most, common units."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(values)
        values = np.asarray(values.data).astype(object)
        values[hidden] = None
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if values.dtype.kind in "mM" and (unit := _arrow_unit(values.dtype)):
        return values.astype(f"{values.dtype.kind}8[{unit}]", copy=False)
    return values


def _arrow_unit(kind: np.dtype[Any]) -> str:
    """The unit of Arrow's that dates, times and spans of this type are kept in; "" if there is none."""
    unit, _ = np.datetime_data(kind)
    if kind.kind == "M":
        return _ARROW_UNITS.get(unit, "" if unit == "generic" else unit)
    if unit in {"Y", "M", "generic"}:  # months differ in length
        return ""
    return "s" if unit in {"W", "D"} else _ARROW_UNITS.get(unit, unit)


def _encode_objects(values: NDArray[Any], name: str, *, compiled: bool) -> Column:
    codes, distinct, rows = _distinct_objects(np.ascontiguousarray(values), name, compiled=compiled)
    if distinct is None:
        return encode(codes, name, compiled=compiled)
    present = [(position, item) for position, item in enumerate(distinct) if not is_missing(item)]
    for position, item in present:
        if type(item).__hash__ is None:
            raise CredimiError(_no_value(name, int(rows[position]), item))
    kinds = {_kind_of(item) for _, item in present}
    if len(kinds) > 1:
        (row, item), (other_row, other) = _two_kinds(present, rows)
        raise CredimiError(
            f"column {name!r} mixes types: row {row} holds {item!r}, row {other_row} {other!r}; "
            "convert it to one type, for example all to text"
        )
    kind = kinds.pop() if kinds else TEXT
    labels = _labels_of([item for _, item in present], kind, name)
    moved = np.full(len(distinct) + 1, np.iinfo(np.uint32).max, dtype=np.uint32)
    moved[[position for position, _ in present]] = labels.codes
    wide = _width(labels.values)
    codes = np.minimum(moved, np.iinfo(wide).max).astype(wide)[codes]
    return Column(codes, labels.kind, labels.texts, labels.numbers)


def _labels_of(items: list[Any], kind: str, name: str) -> Column:
    """The labels of distinct objects of one kind."""
    codes = np.arange(len(items), dtype=np.uint32)
    if kind == _TIME:
        try:
            return encode(pa.array(items, from_pandas=True), name)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):  # dates among times, say
            kind = TEXT
    if kind == NUMBER and any(abs(int(item)) > _EXACT for item in items if isinstance(item, int | np.integer)):
        kind = TEXT
    if kind == NUMBER:
        return Column(codes, NUMBER, numbers=np.array([float(item) for item in items], dtype=np.float64))
    return Column(codes, kind, tuple(_shown(item) for item in items))


def _distinct_objects(
    values: NDArray[Any], name: str, *, compiled: bool
) -> tuple[Any, list[Any] | None, NDArray[np.int64]]:
    """Codes, the distinct objects and a row of each; or an Arrow array, where they are many and of one type."""
    if compiled:
        from credimi.kernels.encoding import encode_integers  # noqa: PLC0415  (loads compiled code)

        codes, rows = np.empty(values.size, dtype=np.uint8), np.zeros(255, dtype=np.int64)
        addresses = np.ctypeslib.as_array((ctypes.c_int64 * values.size).from_address(values.ctypes.data))
        seen = encode_integers(addresses, _NOTHING, 0, codes, rows)
        if seen >= 0:
            return codes, [values[row] for row in rows[:seen]], rows[:seen]
        try:
            array = pa.array(values, from_pandas=True)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError, UnicodeEncodeError):
            pass
        else:
            if any(test(array.type) for test in _SAME_IN_ARROW):
                return array, None, rows
    where: dict[Any, int] = {}
    first: list[int] = []
    codes = np.empty(values.size, dtype=np.uint32)
    for row, item in enumerate(values):
        key = (type(item), item) if not is_missing(item) else None  # 1, 1.0 and True are equal, and not the same
        try:
            code = where.setdefault(key, len(where))
        except TypeError:
            raise CredimiError(_no_value(name, row, item)) from None
        if code == len(first):
            first.append(row)
        codes[row] = code
    return codes, [values[row] for row in first], np.array(first, dtype=np.int64)


_SAME_IN_ARROW = (  # the types of which Arrow makes the same labels as are made of the objects
    pa.types.is_null,
    pa.types.is_boolean,
    pa.types.is_integer,
    pa.types.is_floating,
    pa.types.is_string,
    pa.types.is_large_string,
)


def _no_value(name: str, row: int, item: object) -> str:
    return (
        f"column {name!r}, row {row} holds a {type(item).__name__}: only text, numbers, truth values and "
        "categories can be counted; convert it, or leave it out (features, --features)"
    )


def is_missing(item: object) -> bool:
    """None, NaN, and what pandas writes for nothing (NA, NaT), recognised without pandas."""
    if item is None or type(item).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(item, np.datetime64 | np.timedelta64):
        return bool(np.isnat(item))
    return isinstance(item, float | np.floating | Decimal) and math.isnan(item)


def _kind_of(item: object) -> str:
    if isinstance(item, bool | np.bool_):
        return BOOLEAN
    if isinstance(item, np.datetime64 | np.timedelta64 | dt.date | dt.time | dt.timedelta):  # timedelta64 is a number
        return _TIME
    if isinstance(item, int | float | Decimal | np.integer | np.floating):
        return NUMBER
    return TEXT


def _two_kinds(present: list[tuple[int, Any]], rows: NDArray[np.int64]) -> list[tuple[int, Any]]:
    """The first item, and the first that is of another kind than it."""
    position, item = present[0]
    other = next(pair for pair in present if _kind_of(pair[1]) != _kind_of(item))
    return [(int(rows[position]), item), (int(rows[other[0]]), other[1])]


def _shown(item: object) -> str:
    if isinstance(item, bool | np.bool_):
        return "true" if item else "false"
    if isinstance(item, bytes):
        return item.decode("utf-8", errors="backslashreplace")
    if isinstance(item, float | np.floating):
        return shown_number(float(item))
    return str(item).encode("utf-8", errors="backslashreplace").decode()
