"""Encodes an Arrow array as codes and labels; `encode` does the same for columns of any kind, and says what codes are.

* text with few distinct values is encoded straight from Arrow's buffers (`columns.text_codes`); other text, and
  small columns, by pyarrow, without loading compiled code; dictionaries have codes already;
* integers of a narrow range are their own codes; other numbers are encoded by pyarrow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns import labels, text_types
from credimi.columns.arrow_buffers import (
    NOTHING,
    bits_of,
    code_type,
    distances,
    few_distinct,
    one_chunk,
    plain,
    to_doubles,
    valid,
    validity,
)
from credimi.columns.column import Column, is_bytes, refusal
from credimi.columns.labels import BOOLEAN, NUMBER, RAW, TEXT
from credimi.columns.python_objects import NO_TEXT
from credimi.core.errors import UncountableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.columns.missing import MissingValues
    from credimi.core.types import FloatArray

    Codes = NDArray[np.unsignedinteger]

# Arrow prepares its functions in the first call. Here that happens while this module is loaded, and no fork falls into
# this time (`core.forks`): a child could wait for ever for a thread of its parent.
pa.nulls(1, pa.string()).dictionary_encode()  # `pa.array` would load pandas

MAX_RANGE_AS_CODES = 65_534  # integers of at most this range are their own codes
_NO_NUMBERS = rf"{text_types.NAMES_OF_DIGITS}|\("  # nan(1) is a number to Arrow
_UNITS = {"s": (10**6, 1), "ms": (10**3, 1), "ns": (1, 10**3)}  # factor and divisor that give microseconds


def encode_arrow(array: pa.Array, name: str, *, raw: MissingValues | None, compiled: bool) -> Column:  # noqa: PLR0911  (one way for each of Arrow's types)
    """Codes and labels of an Arrow array. Texts may turn out to be numbers if `raw` is given: what means missing."""
    kind = array.type
    if pa.types.is_dictionary(kind):
        return _encode_dictionary(array, name, raw)
    if pa.types.is_null(kind):
        return Column(np.full(len(array), 255, dtype=np.uint8), TEXT)
    if pa.types.is_boolean(kind):
        codes = bits_of(array.buffers()[1], array)
        if array.null_count:
            codes = codes | (valid(array).view(np.uint8) - np.uint8(1))  # 255 where it is not valid
        return Column(codes, BOOLEAN, ("false", "true"))
    if pa.types.is_integer(kind):
        return _encode_integers(array, compiled=compiled)
    if pa.types.is_decimal(kind) and kind.scale == 0:
        return _encode_whole_decimals(array, compiled=compiled)
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return encode_numbers(to_doubles(array), compiled=compiled)
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return _encode_temporal(array)
    return _encode_texts(_as_text(array, name), raw, compiled=compiled)


def load_kernels() -> None:
    """Load the compiled code now, not with the first text: this takes a third of a second, while files are read."""
    nothing = pa.py_buffer(bytes(8))  # two offsets, both 0
    _encode_few_texts(pa.Array.from_buffers(pa.string(), 1, [None, nothing, nothing]), RAW)


def _as_text(array: pa.Array, name: str) -> pa.Array:
    """Text with plain offsets; bytes are text if they are UTF-8."""
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return array
    if kind == pa.string_view():
        return array.cast(pa.large_string())
    if is_bytes(kind):
        try:
            return array.cast(pa.large_binary()).cast(pa.large_string())
        except pa.ArrowInvalid as error:
            raise no_text(name) from error
    raise refusal(kind, name)


def no_text(name: str) -> UncountableError:
    """The error for a column of bytes that are no text."""
    return UncountableError(f"column {name!r} holds {NO_TEXT}: decode them, or leave it out", NO_TEXT)


def _encode_texts(array: pa.Array, raw: MissingValues | None = None, *, compiled: bool = False) -> Column:
    kind = TEXT if raw is None else RAW
    if compiled:
        column = _encode_few_texts(array, kind)
        if column is not None:
            return column
    coded = array.dictionary_encode()
    texts = coded.dictionary
    codes = distances(coded.indices, 0, code_type(len(texts)))
    numbers = _texts_as_numbers(texts, raw) if raw is not None and len(texts) > labels.FEW_TEXTS else None
    if numbers is None:
        return Column(codes, kind, tuple(texts.to_pylist()))
    return _without_nan(codes, numbers)


def _texts_as_numbers(texts: pa.Array, missing: MissingValues) -> FloatArray | None:
    """The texts as numbers, NaN where they mean missing; None if one is no number, or if the numbers are few.

    The rules are those of `labels.typed`. Texts that mean missing are no labels, so they are not counted here.
    """
    import pyarrow.compute as pc  # noqa: PLC0415  (it takes long to load, and much needs nothing of it)

    means_missing = missing.among_texts(texts)
    present = texts.filter(pc.invert(means_missing))
    if pc.any(pc.match_substring_regex(present, _NO_NUMBERS)).as_py():
        return None
    try:
        present_numbers = plain(present.cast(pa.float64()))
    except pa.ArrowInvalid:
        return None
    if np.count_nonzero(~missing.among_numbers(present_numbers)) <= labels.FEW_TEXTS:
        return None
    numbers = np.full(len(texts), np.nan)
    numbers[plain(means_missing.cast(pa.uint8())) == 0] = present_numbers
    return numbers


def _encode_few_texts(array: pa.Array, kind: str) -> Column | None:
    from credimi.columns.text_codes import MISSING, encode_texts  # noqa: PLC0415  (loads compiled code)

    _, offsets, data = array.buffers()
    offset_type = np.int64 if pa.types.is_large_string(array.type) else np.int32
    ends = np.frombuffer(offsets, dtype=offset_type)[array.offset : array.offset + len(array) + 1]
    codes, examples = np.empty(len(array), dtype=np.uint8), np.zeros(MISSING, dtype=np.int64)
    content = NOTHING if data is None else np.frombuffer(data, dtype=np.uint8)
    label_count = encode_texts(ends, content, *validity(array), codes, examples)
    if label_count < 0:
        return None
    # Arrow's own way, a scalar for each text, takes ten times as long.
    rows, letters = examples[:label_count], content.data
    bounds = zip(ends[rows].tolist(), ends[rows + 1].tolist(), strict=True)
    return Column(codes, kind, tuple(str(letters[start:end], "utf-8") for start, end in bounds))


def _encode_dictionary(array: pa.Array, name: str, raw: MissingValues | None) -> Column:
    """Encode a dictionary array; its values may be of any kind, null or repeated, and its indices become codes."""
    codes = distances(array.indices, 0, code_type(len(array.dictionary)))
    return recoded(codes, encode_arrow(one_chunk(array.dictionary), name, raw=raw, compiled=False))


def recoded(codes: Codes, values: Column) -> Column:
    """The column of these codes, which are positions in `values`; the values are encoded, too."""
    if np.array_equal(values.codes, np.arange(len(values.codes))):
        return replace(values, codes=codes)
    dtype = code_type(values.values)
    missing = np.iinfo(dtype).max
    new_codes = np.full(len(values.codes) + 1, missing, dtype=dtype)
    new_codes[:-1][values.codes < values.values] = values.codes[values.codes < values.values]
    return replace(values, codes=new_codes[np.minimum(codes, len(values.codes))])


def _encode_integers(array: pa.Array, *, compiled: bool = False) -> Column:
    import pyarrow.compute as pc  # noqa: PLC0415  (it takes long to load, and much needs nothing of it)

    smallest, largest = (scalar.as_py() for scalar in pc.min_max(array).values())
    if smallest is None:
        return Column(np.full(len(array), 255, dtype=np.uint8), NUMBER, numbers=np.zeros(0))
    if max(abs(smallest), abs(largest)) > labels.EXACT:
        return _encode_texts(array.cast(pa.large_string()))
    if largest - smallest > MAX_RANGE_AS_CODES:
        return encode_numbers(array.cast(pa.float64()), compiled=compiled)
    codes = distances(array, int(smallest), code_type(largest - smallest + 1))
    return column_of_range(codes, smallest, largest)


def _encode_whole_decimals(array: pa.Array, *, compiled: bool) -> Column:
    """Encode like integers; if doubles cannot represent all of them, encode as text, to keep neighbours apart."""
    numbers = to_doubles(array)
    if np.any(np.abs(plain(numbers.fill_null(0.0))) >= labels.EXACT):
        return _encode_texts(array.cast(pa.large_string()))
    return encode_numbers(numbers, compiled=compiled)


def column_of_range(codes: Codes, smallest: int, largest: int) -> Column:
    """The column of integers of a narrow range: the distance from the smallest is the code."""
    return Column(np.ascontiguousarray(codes), NUMBER, numbers=np.arange(smallest, largest + 1, dtype=np.float64))


def encode_numbers(array: pa.Array, *, compiled: bool = False) -> Column:
    """Encode doubles; NaN is missing."""
    if compiled:
        values = plain(array)
        few = few_distinct(values.view(np.int64), validity(array))
        if few is not None:
            return _without_nan(few[0], values[few[1]])
    coded = array.dictionary_encode()
    numbers = plain(coded.dictionary)
    return _without_nan(distances(coded.indices, 0, code_type(numbers.size)), numbers)


def _without_nan(codes: Codes, numbers: FloatArray) -> Column:
    nan = np.isnan(numbers)
    if nan.any():
        new_codes = np.full(numbers.size + 1, np.iinfo(codes.dtype).max, dtype=codes.dtype)
        new_codes[:-1][~nan] = np.arange(np.count_nonzero(~nan))
        codes, numbers = new_codes[np.minimum(codes, numbers.size)], numbers[~nan]
    return Column(codes, NUMBER, numbers=numbers)


def _encode_temporal(array: pa.Array) -> Column:
    """Dates and timestamps as days since 1970, times of day and durations as seconds, whatever their unit.

    Timestamps are days as well, since a column may hold dates in one file and timestamps in the next. All are converted
    to microseconds first and divided once, as in `columns.text_types.readable`, so that an instant is always the same
    double.
    """
    kind = array.type
    counts = array.view(pa.int32() if kind.bit_width == 32 else pa.int64())
    if pa.types.is_date32(kind):
        return replace(encode_numbers(counts.cast(pa.float64())), instants=True)
    missing = counts.is_null().to_numpy(zero_copy_only=False)
    units = counts.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    factor, divisor = _UNITS.get("ms" if pa.types.is_date64(kind) else kind.unit, (1, 1))
    # Nanoseconds are no doubles, and rounding would make equal instants differ.
    quotient, remainder = np.divmod(units, divisor)
    numbers = quotient * float(factor) + remainder / divisor
    instants = bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind))
    numbers /= text_types.DAY if instants else text_types.SECOND
    return replace(encode_numbers(pa.array(numbers, mask=missing)), instants=instants, spans=not instants)
