"""Arrow's arrays as numpy arrays, straight from their buffers, and codes of their values.

pyarrow's `to_numpy` would import pandas, and copies if there are nulls. This module leaves nulls where they are: in a
buffer of bits that says which values are valid. A code is the distance from the smallest value, or the position among
few distinct values (`columns.text_codes`); all its bits are set if the value is missing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, ArrowColumn, BooleanArray, FloatArray, IntegerArray

    Codes = NDArray[np.unsignedinteger]

_MAX_BYTES = 2**31 - 1  # of texts with offsets of 32 bits
_WITH_LONG_OFFSETS = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
_UNIFIABLE_TYPES = {  # pyarrow fails to join dictionaries of views with nulls, and gets half floats wrong
    pa.string_view(): pa.large_string(),
    pa.binary_view(): pa.large_binary(),
    pa.float16(): pa.float32(),
}
NOTHING = np.zeros(0, dtype=np.uint8)  # bits of validity if all values are valid; bytes of an empty text


def doubles(values: ArrowColumn) -> FloatArray:
    """An Arrow array of numbers or booleans as doubles, NaN where it is null."""
    array = one_chunk(values)
    if pa.types.is_boolean(array.type):
        array = array.cast(pa.uint8())
    array = to_doubles(array, safe=False)
    return plain(array.fill_null(math.nan) if array.null_count else array)


def to_doubles(array: pa.Array, *, safe: bool = True) -> pa.Array:
    """An Arrow array of numbers as one of doubles, each the nearest double, which Arrow's own cast of decimals is not.

    It is the double that a CSV file with the same number gives.
    """
    exact = array.cast(pa.large_string()) if pa.types.is_decimal(array.type) else array
    return exact.cast(pa.float64(), safe=safe)


def one_chunk(values: ArrowColumn) -> pa.Array:
    """An array of one piece; dictionaries of several pieces are joined."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    if pa.types.is_dictionary(values.type):
        values = _one_dictionary(values)
    long_offsets = _WITH_LONG_OFFSETS.get(values.type)
    if long_offsets is not None and values.nbytes > _MAX_BYTES:  # too much for offsets of 32 bits
        values = values.cast(long_offsets)
    return values.combine_chunks() if values.num_chunks else pa.array([], values.type)


def _one_dictionary(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same array with one dictionary for all pieces, or without any."""
    unifiable = _UNIFIABLE_TYPES.get(values.type.value_type)
    chunks = [
        chunk if unifiable is None else pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(unifiable))
        for chunk in values.chunks
    ]
    kind = chunks[0].type if chunks else values.type
    try:
        return pa.chunked_array(chunks, kind).unify_dictionaries()
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # null among the categories, or too many for the indices
        return pa.chunked_array([chunk.dictionary_decode() for chunk in chunks])


def text_array(texts: list[str], kind: pa.DataType) -> pa.Array:
    """An Arrow array of these texts; `pa.array`, which takes Python objects, would import pandas."""
    encoded = [text.encode("utf-8", errors="surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.string(), len(texts), buffers).cast(kind)


def distances(array: pa.Array, smallest: int, dtype: type[np.unsignedinteger]) -> Codes:
    """The distances of Arrow's integers from the smallest of them, as codes; null is missing."""
    codes = narrowed(plain(array), smallest, dtype)
    return np.where(valid(array), codes, dtype(np.iinfo(dtype).max)) if array.null_count else codes


def narrowed(values: AnyArray, smallest: int, dtype: type[np.unsignedinteger]) -> Codes:
    """The same for numpy's integers, none of which is missing."""
    return (values.astype(np.int64) - smallest if smallest else values).astype(dtype, copy=False)


def plain(array: pa.Array) -> AnyArray:
    """An Arrow array of numbers as a numpy array, with any value for null; pyarrow's own ways may import pandas."""
    arrow_type = array.type
    letter = "f" if pa.types.is_floating(arrow_type) else "u" if pa.types.is_unsigned_integer(arrow_type) else "i"
    kind = np.dtype(f"{letter}{arrow_type.bit_width // 8}")
    if len(array) == 0:
        return np.zeros(0, dtype=kind)
    return np.frombuffer(array.buffers()[1], dtype=kind)[array.offset : array.offset + len(array)]


def valid(array: pa.Array) -> BooleanArray:
    """Which values are not null."""
    return bits_of(array.buffers()[0], array).view(np.bool_)


def bits_of(buffer: pa.Buffer, array: pa.Array) -> NDArray[np.uint8]:
    """One of an array's bit buffers: the bits of this array, one byte each."""
    first, stop = array.offset // 8, (array.offset + len(array) + 7) // 8
    bits = np.unpackbits(np.frombuffer(buffer, dtype=np.uint8)[first:stop], bitorder="little")
    return bits[array.offset - 8 * first :][: len(array)]


def validity(array: pa.Array) -> tuple[NDArray[np.uint8], int]:
    """The bits that say which values are not null, and where they begin, for kernels; empty if all values are valid."""
    bits = array.buffers()[0] if array.null_count else None
    return (NOTHING, 0) if bits is None else (np.frombuffer(bits, dtype=np.uint8), array.offset)


def code_type(size: int) -> type[np.unsignedinteger]:
    """The smallest type that has a code for each of `size` values, and one for missing."""
    return np.uint8 if size < 256 else np.uint16 if size < 65_536 else np.uint32


def few_distinct(
    bits: IntegerArray, present: tuple[NDArray[np.uint8], int] = (NOTHING, 0)
) -> tuple[Codes, IntegerArray] | None:
    """Codes in the order of first appearance, and one row of each distinct value; None if these are too many.

    `present` is the `validity` of the values.
    """
    from credimi.columns.text_codes import MISSING, encode_integers  # noqa: PLC0415  (loads compiled code)

    codes, rows = np.empty(bits.size, dtype=np.uint8), np.zeros(MISSING, dtype=np.int64)
    seen = encode_integers(bits, *present, codes, rows)
    return None if seen < 0 else (codes, rows[:seen])
