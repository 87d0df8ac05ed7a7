"""Encodes a column of any kind as small integer codes and the labels they stand for.

Codes are unsigned integers of the smallest type that fits; the type's largest value means missing: null or NaN. Labels
come in the order of the codes. Each batch is encoded independently of the others.

* Arrow's arrays go to `encode_arrow`; categoricals have codes already;
* numpy's integers of a narrow range are their own codes; numpy's other arrays are turned into Arrow's;
* Python objects are encoded by their addresses first, as most columns hold few objects many times, then by their
  values.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns import labels, text_types
from credimi.columns.arrow_buffers import code_type, narrowed, one_chunk
from credimi.columns.column import (
    Column,
    PrecodedColumn,
    SparseColumn,
    UnreadableColumn,
    arrow_unit,
    in_arrow_unit,
    refusal,
)
from credimi.columns.encode_arrow import MAX_RANGE_AS_CODES, column_of_range, encode_arrow, encode_numbers, recoded
from credimi.columns.labels import NUMBER, TEXT
from credimi.columns.missing import NOTHING_MORE, is_missing
from credimi.columns.python_objects import (
    TIME,
    as_instant,
    distinct_objects,
    is_no_double,
    kind_of,
    no_value,
    two_kinds,
    type_of_instant,
    uncountable,
)
from credimi.core.errors import UncountableError, cannot_count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.columns.column import ColumnValues
    from credimi.columns.missing import MissingValues
    from credimi.core.types import AnyArray, Value


def encode(
    values: ColumnValues,
    name: str,
    *,
    missing: MissingValues = NOTHING_MORE,
    raw: bool = False,
    compiled: bool = False,
) -> Column:
    """Codes and labels of one Arrow or numpy array; a column that has them already stays as it is.

    `raw` text may turn out to be numbers. A few distinct texts, besides those that mean missing, stay raw, so that the
    whole column decides; many are read as numbers at once, if all of them are numbers. Among Python objects of another
    type, a value that means missing is missing, and does not count as a second type.

    `compiled` asks for the compiled kernels, which are worth loading if there is much to do.
    """
    if isinstance(values, Column):
        return values
    if isinstance(values, UnreadableColumn):
        raise values.fault
    if isinstance(values, SparseColumn):
        return encode(values.dense(), name, missing=missing, compiled=compiled)
    if isinstance(values, PrecodedColumn):
        unsigned = values.codes.view(f"u{values.codes.dtype.itemsize}")  # -1 becomes the largest code: missing
        return recoded(unsigned, encode(values.values, name, missing=missing))
    if isinstance(values, np.ndarray):
        return _encode_numpy(values, name, missing=missing, compiled=compiled)
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_nested(kind):  # before its chunks are copied, which may be large
        raise refusal(kind, name)
    return encode_arrow(one_chunk(values), name, raw=missing if raw else None, compiled=compiled)


def _encode_numpy(values: AnyArray, name: str, *, missing: MissingValues, compiled: bool) -> Column:
    values = _in_arrow_type(values, name)
    kind = values.dtype.kind
    if kind in "iu" and values.size:
        smallest, largest = int(values.min()), int(values.max())
        if largest - smallest <= MAX_RANGE_AS_CODES and max(abs(smallest), abs(largest)) <= labels.EXACT:
            return column_of_range(narrowed(values, smallest, code_type(largest - smallest + 1)), smallest, largest)
    if kind in "biufM" or (kind == "m" and arrow_unit(values.dtype)):
        return encode(pa.array(np.ascontiguousarray(values)), name, compiled=compiled)
    if kind in "UTO":
        return _encode_numpy_texts(values, name, missing=missing, compiled=compiled)
    if kind == "S":
        return encode(pa.array(values.astype(object), pa.large_binary()), name)
    held = f"values of type {values.dtype}"
    raise cannot_count(f"column {name!r}", held, held)


def _encode_numpy_texts(values: AnyArray, name: str, *, missing: MissingValues, compiled: bool) -> Column:
    if values.dtype.kind != "O":
        values = values.astype(object)
        try:
            return encode(pa.array(values, pa.large_string()), name, compiled=compiled)
        except UnicodeEncodeError:  # halves of characters, which Python allows and Arrow does not
            pass
    return _encode_objects(values, name, missing=missing, compiled=compiled)


def _in_arrow_type(values: AnyArray, name: str) -> AnyArray:
    """The same values in a type that Arrow accepts: no mask, native byte order, doubles at most, common units."""
    if isinstance(values, np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(values)
        values = np.asarray(values.data).astype(object)
        values[hidden] = None
    if not values.dtype.isnative:
        values = values.astype(values.dtype.newbyteorder("="))
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        return values.astype(np.float64)
    if values.dtype.kind in "mM" and (unit := arrow_unit(values.dtype)):
        return in_arrow_unit(values, unit, name)
    return values


def _encode_objects(values: AnyArray, name: str, *, missing: MissingValues, compiled: bool) -> Column:
    codes, distinct, rows = distinct_objects(np.ascontiguousarray(values), name, compiled=compiled)
    if distinct is None:
        return encode(codes, name, compiled=compiled)
    present = [(position, item) for position, item in enumerate(distinct) if not is_missing(item)]
    for position, item in present:
        if type(item).__hash__ is None or (isinstance(item, bytes) and uncountable(item)):
            raise no_value(name, int(rows[position]), item)
    kinds = {kind_of(item) for _, item in present}
    if len(kinds) > 1:
        present = [(position, item) for position, item in present if not missing.written_as(item)]
        kinds = {kind_of(item) for _, item in present}
    if len(kinds) > 1:
        (row, item), (other_row, other) = two_kinds(present, rows)
        raise UncountableError(
            f"column {name!r} mixes types: row {row} holds {item!r}, row {other_row} {other!r}; "
            "convert it to one type, for example all to text, or say which of them mean missing (missing_values)",
            "values of several types",
        )
    kind = kinds.pop() if kinds else TEXT
    labels = _labels_of([item for _, item in present], kind, name)
    label_codes = np.full(len(distinct) + 1, np.iinfo(np.uint32).max, dtype=np.uint32)
    label_codes[[position for position, _ in present]] = labels.codes
    dtype = code_type(labels.values)
    codes = np.minimum(label_codes, np.iinfo(dtype).max).astype(dtype)[codes]
    return replace(labels, codes=codes)


def _labels_of(items: Sequence[Value], kind: str, name: str) -> Column:
    """The labels of distinct objects of one kind."""
    codes = np.arange(len(items), dtype=np.uint32)
    if kind == TIME:
        try:
            return _labels_of_times(items, name)
        except (pa.ArrowInvalid, TypeError, pa.ArrowNotImplementedError):  # for example dates among times of day
            kind = TEXT
    if kind == NUMBER and any(map(is_no_double, items)):
        kind = TEXT
    if kind == NUMBER:
        return Column(codes, NUMBER, numbers=np.array([float(item) for item in items], dtype=np.float64))
    return Column(codes, kind, tuple(text_types.shown(item) for item in items))


def _labels_of_times(items: Sequence[Value], name: str) -> Column:
    """Dates and datetimes, coded type by type, as Arrow would turn a mixture of the two into dates."""
    positions_of_type: dict[object, list[int]] = {}
    for position, item in enumerate(items):
        positions_of_type.setdefault(type_of_instant(item), []).append(position)
    if None in positions_of_type:
        return encode(pa.array(items, from_pandas=True), name)
    numbers = np.zeros(len(items))
    for kind, positions in positions_of_type.items():
        instants = [as_instant(items[position]) for position in positions]
        column = encode(np.array(instants) if isinstance(kind, np.dtype) else pa.array(instants), name)
        if column.numbers is not None:
            numbers[positions] = column.numbers[column.codes]
    return replace(encode_numbers(pa.array(numbers)), instants=True)
