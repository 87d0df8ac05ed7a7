"""Counts of columns of few small whole numbers with the classes, in one pass over the values, without stored codes.

The code of a value is its distance from the column's base; the code of NaN is 255. Codes are made for a few rows at a
time, so that they stay in the fastest cache, and are counted there:

* A row-major table is counted row by row. All columns are compared with one code at once, and the results are added to
  counters of one byte, one for each class, code and column. The counters are emptied before they can overflow.
* A single column is counted by sets of bits (`pair_counts`), four codes at a time.

A double is added to a number so large (`LARGE`, less the base) that the last byte of the sum is the code, and fractions
are rounded. If subtracting the number does not give the double back, it was no whole number. NaN becomes the lowest of
all doubles, whose last byte is 255. A value that does not fit is reported: the columns must then be counted in another
way.

Values are contiguous bytes, 64-bit integers or doubles. LLVM's vectors are written out; they compile on any processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.columns.pair_counts import FEW_VALUES, add_intersections
from credimi.compile.jit import NDArray, cgutils, compiled, inlined, intrinsic, ir, types
from credimi.compile.words import WORD

if TYPE_CHECKING:
    from credimi.compile.words import LLVM

    ByteArray = NDArray[Any]  # of bytes
    Values = NDArray[Any]  # bytes, 64-bit integers or doubles
    Bits = NDArray[np.uint64]


LANES, _HALF = 16, 8  # values that are turned into codes at once
ACROSS = 64  # columns that are compared at once
MAX_CODES = 16  # of values that are not bytes
LARGE = 1.5 * 2.0**52  # its last byte is 0
_LOWEST = -1.7976931348623157e308
_MISSING = 255
_BATCH_ROWS = 8_192  # rows of a single column whose codes are made before they are counted
_MAX_ROUNDS = 3  # of 64 rows before the counters of one byte are emptied
_BYTE, _SHORT, _INTEGER, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_tools: Any = cgutils  # this module of Numba has no type hints


def _constant(element_type: LLVM, number: float, lanes: int) -> LLVM:
    return ir.Constant(ir.VectorType(element_type, lanes), [element_type(number)] * lanes)


def _splat(builder: LLVM, scalar: LLVM, lanes: int) -> LLVM:
    """The scalar in all lanes."""
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _SHORT(0))
    return builder.shuffle_vector(first, undefined, _constant(_SHORT, 0, lanes))


def _at(context: LLVM, builder: LLVM, array: tuple[LLVM, LLVM], index: LLVM, lanes: int) -> LLVM:
    """The address of a vector in an array, given as its type and value."""
    array_type, value = array
    data = builder.gep(context.make_array(array_type)(context, builder, value).data, [index])
    return builder.bitcast(data, ir.VectorType(context.get_data_type(array_type.dtype), lanes).as_pointer())


def _load(builder: LLVM, pointer: LLVM) -> LLVM:
    value = builder.load(pointer)
    value.align = 1
    return value


def _store(builder: LLVM, value: LLVM, pointer: LLVM) -> None:
    builder.store(value, pointer).align = 1


@intrinsic
def _narrow(
    _typing: LLVM,
    values: LLVM,
    start: LLVM,
    vectors: LLVM,
    bases: LLVM,
    base_step: LLVM,
    codes: LLVM,
    to: LLVM,
    largest_codes: LLVM,
    misfits: LLVM,
) -> LLVM:
    """Write the codes of `vectors` vectors of values from `start` on to `codes[to:]`.

    The bases of the i-th vector start at i * `base_step`. `largest_codes` becomes the largest code + 1 of each lane,
    where the code 255 counts as -1. `misfits` becomes `MAX_CODES` or more if a value does not fit. A byte below its
    base has a large code.
    """

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        _, start, vectors, _, base_step, _, to, _, _ = arguments
        arrays = {
            name: (signature.args[at], arguments[at])
            for name, at in (("values", 0), ("bases", 3), ("codes", 5), ("largest_codes", 7), ("misfits", 8))
        }

        def at(name: str, offset: LLVM) -> LLVM:
            return _at(context, builder, arrays[name], offset, LANES)

        element_type = context.get_data_type(signature.args[0].dtype)
        wide_type, byte_type = ir.VectorType(_INTEGER, LANES), ir.VectorType(_BYTE, LANES)
        large, lowest = _constant(_DOUBLE, LARGE, _HALF), _constant(_DOUBLE, _LOWEST, LANES)
        misfits_at = _at(context, builder, arrays["misfits"], _INTEGER(0), _HALF)
        largest_at = _tools.alloca_once_value(builder, _load(builder, at("largest_codes", _INTEGER(0))))
        misfit_bits = _tools.alloca_once_value(builder, _load(builder, misfits_at))
        high_at, low_at = _tools.alloca_once_value(builder, large), _tools.alloca_once_value(builder, large)
        builder.store(large, high_at)
        builder.store(large, low_at)

        def halves(value: LLVM) -> list[LLVM]:
            """The two halves of a vector: sums of half the size leave registers free."""
            lanes = [ir.Constant(ir.VectorType(_SHORT, _HALF), [*range(lane, lane + _HALF)]) for lane in (0, _HALF)]
            return [builder.shuffle_vector(value, value, part) for part in lanes]

        def add_bits(value: LLVM) -> None:
            builder.store(builder.or_(builder.load(misfit_bits), builder.or_(*halves(value))), misfit_bits)

        def update_extreme(stored: LLVM, value: LLVM, sign: str) -> None:
            for part in halves(value):
                before = builder.load(stored)
                builder.store(builder.select(builder.fcmp_ordered(sign, part, before), part, before), stored)

        with _tools.for_range_slice(builder, _INTEGER(0), vectors, _INTEGER(1)) as (index, _):
            offset = builder.mul(index, _INTEGER(LANES))
            value = _load(builder, at("values", builder.add(start, offset)))
            base = _load(builder, at("bases", builder.mul(index, base_step)))
            if element_type == _BYTE:
                code = builder.sub(value, base)
            elif element_type == _INTEGER:
                distance = builder.sub(value, base)
                add_bits(distance)
                code = builder.trunc(distance, byte_type)
            else:
                shifted = builder.fadd(value, base)
                # NaN becomes the lowest double.
                clamped = builder.select(builder.fcmp_ordered(">", shifted, lowest), shifted, lowest)
                differs = builder.fcmp_ordered("!=", builder.fsub(clamped, base), value)
                add_bits(builder.sext(differs, wide_type))
                update_extreme(high_at, clamped, ">")
                update_extreme(low_at, shifted, "<")
                code = builder.trunc(builder.bitcast(clamped, wide_type), byte_type)
            code_plus_one, before = builder.add(code, _constant(_BYTE, 1, LANES)), builder.load(largest_at)
            builder.store(
                builder.select(builder.icmp_unsigned(">", code_plus_one, before), code_plus_one, before), largest_at
            )
            _store(builder, code, at("codes", builder.add(to, offset)))
        if element_type == _DOUBLE:
            half_type = ir.VectorType(_INTEGER, _HALF)
            for stored in (high_at, low_at):
                distance = builder.sub(
                    builder.bitcast(builder.load(stored), half_type), builder.bitcast(large, half_type)
                )
                builder.store(builder.or_(builder.load(misfit_bits), distance), misfit_bits)
        _store(builder, builder.load(largest_at), at("largest_codes", _INTEGER(0)))
        _store(builder, builder.load(misfit_bits), misfits_at)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(values, integer, integer, bases, integer, codes, integer, largest_codes, misfits), generate


@intrinsic
def _tally(
    _typing: LLVM,
    codes: LLVM,
    step: LLVM,
    rows: LLVM,
    code_count: LLVM,
    column_count: LLVM,
    counters: LLVM,
    to: LLVM,
) -> LLVM:
    """Add the rows of codes that are in the set of bits `rows` to the counters from `to` on, codes x columns."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        codes, step, rows, code_count, column_count, counters, to = arguments
        zeros = _constant(_BYTE, 0, ACROSS)
        row_count = builder.ctpop(rows)
        sums = [_tools.alloca_once_value(builder, zeros) for _ in range(FEW_VALUES)]
        rows_left = _tools.alloca_once_value(builder, rows)
        with _tools.for_range_slice(builder, _INTEGER(0), column_count, _INTEGER(ACROSS)) as (column, _):  # noqa: SIM117  (a loop in a loop)
            with _tools.for_range_slice(builder, _INTEGER(0), code_count, _INTEGER(FEW_VALUES)) as (first_code, _):
                for total in sums:
                    builder.store(zeros, total)
                builder.store(rows, rows_left)
                first_codes = _splat(builder, builder.trunc(first_code, _BYTE), ACROSS)
                with _tools.for_range_slice(builder, _INTEGER(0), row_count, _INTEGER(1)):
                    current_rows = builder.load(rows_left)
                    position = builder.mul(builder.cttz(current_rows, ir.IntType(1)(1)), step)
                    builder.store(builder.and_(current_rows, builder.sub(current_rows, _INTEGER(1))), rows_left)
                    row = _load(
                        builder,
                        _at(context, builder, (signature.args[0], codes), builder.add(position, column), ACROSS),
                    )
                    distance = builder.sub(row, first_codes)
                    for value, total in enumerate(sums):
                        same = builder.icmp_unsigned("==", distance, _constant(_BYTE, value, ACROSS))
                        builder.store(builder.sub(builder.load(total), builder.sext(same, row.type)), total)
                for value, total in enumerate(sums):
                    line = builder.mul(builder.add(first_code, _INTEGER(value)), column_count)
                    counter = builder.add(to, builder.add(line, column))
                    position = _at(context, builder, (signature.args[5], counters), counter, ACROSS)
                    _store(builder, builder.add(_load(builder, position), builder.load(total)), position)
        return context.get_dummy_value()

    integer = types.int64
    return types.void(codes, integer, types.uint64, integer, integer, counters, integer), generate


@inlined
def _narrow_all(
    values: Values,
    start: int,
    size: int,
    bases: Values,
    base_step: int,
    codes: ByteArray,
    to: int,
    largest_codes: ByteArray,
    misfits: Bits,
) -> None:
    """Write the codes of `size` values; the incomplete last vector is filled up in a copy."""
    vectors = size // LANES
    _narrow(values, start, vectors, bases, base_step, codes, to, largest_codes, misfits)
    done = vectors * LANES
    if done < size:
        last_values, last_bases = np.empty(LANES, dtype=values.dtype), np.empty(LANES, dtype=bases.dtype)
        for lane in range(LANES):
            index = min(done + lane, size - 1)
            last_values[lane] = values[start + index]
            last_bases[lane] = bases[index if base_step > 0 else lane]
        _narrow(last_values, 0, 1, last_bases, 0, codes, to + done, largest_codes, misfits)


@compiled
def count_rows(
    values: Values,
    step: int,
    bases: Values,
    groups: ByteArray,
    bits: Bits,
    counts: NDArray[np.int64],
    largest_codes: ByteArray,
    misfits: Bits,
) -> None:
    """Add the rows, which start every `step` values, to `counts[class, code, column]`.

    The number of codes is a multiple of 4, that of columns one of 64. The bases are those of 16 rows, or 16 that are
    the same for all columns. `bits` are those of the classes (`pair_counts.group_bits`). `largest_codes` and `misfits`
    have 16 elements: see `_narrow`. If they say that a value did not fit, or that a code was too large, the counts are
    not valid. The code 255 is not counted, and makes no difference to them.
    """
    height, code_count, width = counts.shape
    flat = counts.reshape(counts.size)
    codes = np.zeros(WORD * step + LANES + width, dtype=np.uint8)
    counters = np.zeros(counts.size, dtype=np.uint8)
    rows, rounds, base_step = groups.size, 0, LANES if bases.size > LANES else 0
    for first in range(0, rows, WORD):
        batch_rows = min(WORD, rows - first)
        for row in range(0, batch_rows, LANES):
            start = (first + row) * step
            size = min(min(LANES, batch_rows - row) * step, values.size - start)
            _narrow_all(values, start, size, bases, base_step, codes, row * step, largest_codes, misfits)
        for group in range(height):
            class_rows = bits[first // WORD, group] if batch_rows == WORD else _rows_of_class(groups, first, group)
            _tally(codes, step, class_rows, code_count, width, counters, group * code_count * width)
        rounds += 1
        if rounds == _MAX_ROUNDS or first + WORD >= rows:
            for cell in range(counters.size):
                flat[cell] += np.int64(counters[cell])
                counters[cell] = 0
            rounds = 0
            if not _all_fit(largest_codes, misfits, code_count):
                return


@inlined
def _rows_of_class(groups: ByteArray, first: int, group: int) -> np.uint64:
    """The rows of one class from `first` to the end, as bits."""
    rows = np.uint64(0)
    for row in range(groups.size - first):
        if groups[first + row] == group:
            rows |= np.uint64(1) << np.uint64(row)
    return rows


@inlined
def _all_fit(largest_codes: ByteArray, misfits: Bits, code_count: int) -> np.bool_ | bool:
    """Whether all codes so far are below the number of codes, or 255."""
    largest, bits = np.uint8(0), np.uint64(0)
    for lane in range(LANES):
        largest, bits = max(largest, largest_codes[lane]), bits | misfits[lane]
    return bits < np.uint64(MAX_CODES) and largest <= code_count


@compiled
def count_column(
    values: Values,
    bases: Values,
    groups: ByteArray,
    bits: Bits,
    counts: NDArray[np.uint64],
    largest_codes: ByteArray,
    misfits: Bits,
    lanes: tuple[int, ...],
) -> None:
    """Add one column to `counts[code, class]`; the number of codes is a multiple of 4, that of classes is `lanes`.

    `bits` are those of the classes (`pair_counts.group_bits`); the 16 bases are equal.
    """
    codes = np.empty(_BATCH_ROWS + LANES, dtype=np.uint8)
    rows, code_count = groups.size, counts.shape[0]
    for first in range(0, rows, _BATCH_ROWS):
        batch_rows = min(_BATCH_ROWS, rows - first)
        _narrow_all(values, first, batch_rows, bases, 0, codes, 0, largest_codes, misfits)
        if not _all_fit(largest_codes, misfits, code_count):
            return
        words = batch_rows // WORD
        for row in range(words * WORD, batch_rows):
            if codes[row] < code_count:
                counts[codes[row], groups[first + row]] += np.uint64(1)
        for value in range(0, code_count, FEW_VALUES):
            four = counts[value : value + FEW_VALUES]
            add_intersections(codes, bits[first // WORD :], words, four, lanes)
            if value + FEW_VALUES < code_count:
                for row in range(words * WORD):
                    codes[row] -= np.uint8(FEW_VALUES)
