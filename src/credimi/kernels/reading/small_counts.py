"""Counts of columns of few small whole numbers with the classes, in one pass over the values; no codes are stored.

The code of a value is its distance from the column's base; NaN is 255. Codes are made for a few rows at a time, which
stay in the fastest cache, and are counted there:

* of a row-major table, row by row: all columns are compared with one code at once, and the ones are added to counters
  of bytes, one for each class, code and column. These are emptied before they can overflow.
* of a single column, by sets of bits (`pair_counts`), four codes at a time.

Doubles are added to a number so large (`LARGE`, less the base) that the last byte of the sum is the code, and what is
not whole is rounded; if taking it away again does not give the double, this was not whole. NaN becomes the lowest of
all doubles, whose last byte is 255. What does not fit is told, and means that the columns have to be counted in another
way.

Values are bytes, 64-bit integers or doubles in one piece. LLVM's vectors are written out; they compile on any
processor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import cgutils, compiled, inlined, intrinsic, ir, types
from credimi.kernels.pair_counts import FEW_VALUES, add_intersections
from credimi.kernels.words import WORD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.words import LLVM

    ByteArray = NDArray[Any]  # of bytes
    Values = NDArray[Any]  # bytes, 64-bit integers or doubles
    Bits = NDArray[np.uint64]

LANES, _HALF = 16, 8  # values that are narrowed at once
ACROSS = 64  # columns that are compared at once
MOST = 16  # codes, of other values than bytes
LARGE = 1.5 * 2.0**52  # its last byte is 0
_LOWEST = -1.7976931348623157e308
_MISSING = 255
_BLOCK = 8_192  # rows of a single column that are narrowed before they are counted
_ROUNDS = 3  # of 64 rows, before the counters of bytes are emptied
_BYTE, _SHORT, _INTEGER, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()
_tools: Any = cgutils  # which has no types


def _constant(kind: LLVM, number: float, lanes: int) -> LLVM:
    return ir.Constant(ir.VectorType(kind, lanes), [kind(number)] * lanes)


def _splat(builder: LLVM, scalar: LLVM, lanes: int) -> LLVM:
    """The scalar in all lanes."""
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _SHORT(0))
    return builder.shuffle_vector(first, undefined, _constant(_SHORT, 0, lanes))


def _at(context: LLVM, builder: LLVM, array: tuple[LLVM, LLVM], place: LLVM, lanes: int) -> LLVM:
    """The address of a vector in an array, given as its type and value."""
    kind, value = array
    data = builder.gep(context.make_array(kind)(context, builder, value).data, [place])
    return builder.bitcast(data, ir.VectorType(context.get_data_type(kind.dtype), lanes).as_pointer())


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
    number: LLVM,
    bases: LLVM,
    turn: LLVM,
    codes: LLVM,
    to: LLVM,
    most: LLVM,
    beyond: LLVM,
) -> LLVM:
    """The codes of so many vectors of values from `start` on, to `codes[to:]`.

    The i-th vector's bases are those from i * `turn` on. `most` becomes the largest code + 1 of each lane, where the
    code 255 counts as -1; `beyond` is `MOST` or more if a value does not fit. A byte below its base has a large code.
    """

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        _, start, number, _, turn, _, to, _, _ = arguments
        arrays = {
            name: (signature.args[at], arguments[at])
            for name, at in (("values", 0), ("bases", 3), ("codes", 5), ("most", 7), ("beyond", 8))
        }

        def at(name: str, place: LLVM) -> LLVM:
            return _at(context, builder, arrays[name], place, LANES)

        own = context.get_data_type(signature.args[0].dtype)
        wide, narrow = ir.VectorType(_INTEGER, LANES), ir.VectorType(_BYTE, LANES)
        large, lowest = _constant(_DOUBLE, LARGE, _HALF), _constant(_DOUBLE, _LOWEST, LANES)
        told = _at(context, builder, arrays["beyond"], _INTEGER(0), _HALF)
        largest = _tools.alloca_once_value(builder, _load(builder, at("most", _INTEGER(0))))
        more = _tools.alloca_once_value(builder, _load(builder, told))
        high, low = _tools.alloca_once_value(builder, large), _tools.alloca_once_value(builder, large)
        builder.store(large, high)
        builder.store(large, low)

        def both(value: LLVM) -> list[LLVM]:
            """The two halves: what is kept from one vector to the next should not need all registers."""
            lanes = [ir.Constant(ir.VectorType(_SHORT, _HALF), [*range(lane, lane + _HALF)]) for lane in (0, _HALF)]
            return [builder.shuffle_vector(value, value, part) for part in lanes]

        def add_bits(value: LLVM) -> None:
            builder.store(builder.or_(builder.load(more), builder.or_(*both(value))), more)

        def extreme(kept: LLVM, value: LLVM, sign: str) -> None:
            for part in both(value):
                before = builder.load(kept)
                builder.store(builder.select(builder.fcmp_ordered(sign, part, before), part, before), kept)

        with _tools.for_range_slice(builder, _INTEGER(0), number, _INTEGER(1)) as (index, _):
            place = builder.mul(index, _INTEGER(LANES))
            value = _load(builder, at("values", builder.add(start, place)))
            base = _load(builder, at("bases", builder.mul(index, turn)))
            if own == _BYTE:
                code = builder.sub(value, base)
            elif own == _INTEGER:
                far = builder.sub(value, base)
                add_bits(far)
                code = builder.trunc(far, narrow)
            else:
                moved = builder.fadd(value, base)
                seen = builder.select(builder.fcmp_ordered(">", moved, lowest), moved, lowest)  # NaN is the lowest
                apart = builder.fcmp_ordered("!=", builder.fsub(seen, base), value)
                add_bits(builder.sext(apart, wide))
                extreme(high, seen, ">")
                extreme(low, moved, "<")
                code = builder.trunc(builder.bitcast(seen, wide), narrow)
            raised, before = builder.add(code, _constant(_BYTE, 1, LANES)), builder.load(largest)
            builder.store(builder.select(builder.icmp_unsigned(">", raised, before), raised, before), largest)
            _store(builder, code, at("codes", builder.add(to, place)))
        if own == _DOUBLE:
            half = ir.VectorType(_INTEGER, _HALF)
            for kept in (high, low):
                far = builder.sub(builder.bitcast(builder.load(kept), half), builder.bitcast(large, half))
                builder.store(builder.or_(builder.load(more), far), more)
        _store(builder, builder.load(largest), at("most", _INTEGER(0)))
        _store(builder, builder.load(more), told)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(values, whole, whole, bases, whole, codes, whole, most, beyond), generate


@intrinsic
def _tally(
    _typing: LLVM,
    codes: LLVM,
    step: LLVM,
    rows: LLVM,
    number: LLVM,
    width: LLVM,
    counters: LLVM,
    to: LLVM,
) -> LLVM:
    """Add the `rows` of codes, a set of bits, to the counters from `to` on: `number` codes, each of `width` columns."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        codes, step, rows, number, width, counters, to = arguments
        none = _constant(_BYTE, 0, ACROSS)
        size = builder.ctpop(rows)
        sums = [_tools.alloca_once_value(builder, none) for _ in range(FEW_VALUES)]
        left = _tools.alloca_once_value(builder, rows)
        with _tools.for_range_slice(builder, _INTEGER(0), width, _INTEGER(ACROSS)) as (column, _):  # noqa: SIM117  (a loop in a loop)
            with _tools.for_range_slice(builder, _INTEGER(0), number, _INTEGER(FEW_VALUES)) as (least, _):
                for total in sums:
                    builder.store(none, total)
                builder.store(rows, left)
                below = _splat(builder, builder.trunc(least, _BYTE), ACROSS)
                with _tools.for_range_slice(builder, _INTEGER(0), size, _INTEGER(1)):
                    these = builder.load(left)
                    place = builder.mul(builder.cttz(these, ir.IntType(1)(1)), step)
                    builder.store(builder.and_(these, builder.sub(these, _INTEGER(1))), left)
                    row = _load(
                        builder, _at(context, builder, (signature.args[0], codes), builder.add(place, column), ACROSS)
                    )
                    far = builder.sub(row, below)
                    for value, total in enumerate(sums):
                        same = builder.icmp_unsigned("==", far, _constant(_BYTE, value, ACROSS))
                        builder.store(builder.sub(builder.load(total), builder.sext(same, row.type)), total)
                for value, total in enumerate(sums):
                    line = builder.mul(builder.add(least, _INTEGER(value)), width)
                    there = builder.add(to, builder.add(line, column))
                    place = _at(context, builder, (signature.args[5], counters), there, ACROSS)
                    _store(builder, builder.add(_load(builder, place), builder.load(total)), place)
        return context.get_dummy_value()

    whole = types.int64
    return types.void(codes, whole, types.uint64, whole, whole, counters, whole), generate


@inlined
def _narrow_all(
    values: Values,
    start: int,
    size: int,
    bases: Values,
    turn: int,
    codes: ByteArray,
    to: int,
    most: ByteArray,
    beyond: Bits,
) -> None:
    """The codes of so many values; what is left of the last vector is narrowed in a copy."""
    vectors = size // LANES
    _narrow(values, start, vectors, bases, turn, codes, to, most, beyond)
    done = vectors * LANES
    if done < size:
        last, own = np.empty(LANES, dtype=values.dtype), np.empty(LANES, dtype=bases.dtype)
        for lane in range(LANES):
            place = min(done + lane, size - 1)
            last[lane] = values[start + place]
            own[lane] = bases[place if turn > 0 else lane]
        _narrow(last, 0, 1, own, 0, codes, to + done, most, beyond)


@compiled
def count_rows(
    values: Values,
    step: int,
    bases: Values,
    groups: ByteArray,
    bits: Bits,
    counts: NDArray[np.int64],
    most: ByteArray,
    beyond: Bits,
) -> None:
    """Add the rows, one every `step` values, to `counts[class, code, column]`.

    There are as many codes as a multiple of 4, and columns of 64. The bases are those of 16 rows, or 16 that are the
    same for all columns. `bits` are those of the classes (`pair_counts.group_bits`). `most` and `beyond` have 16
    elements: see `_narrow`. Counts are of no use where they say that a value did not fit, or that a code was not below
    the number of codes; neither says so of the code 255, which is not counted.
    """
    height, number, width = counts.shape
    flat = counts.reshape(counts.size)
    codes = np.zeros(WORD * step + LANES + width, dtype=np.uint8)
    counters = np.zeros(counts.size, dtype=np.uint8)
    rows, waiting, turn = groups.size, 0, LANES if bases.size > LANES else 0
    for first in range(0, rows, WORD):
        here = min(WORD, rows - first)
        for row in range(0, here, LANES):
            start = (first + row) * step
            size = min(min(LANES, here - row) * step, values.size - start)
            _narrow_all(values, start, size, bases, turn, codes, row * step, most, beyond)
        for group in range(height):
            own = bits[first // WORD, group] if here == WORD else _own_rows(groups, first, group)
            _tally(codes, step, own, number, width, counters, group * number * width)
        waiting += 1
        if waiting == _ROUNDS or first + WORD >= rows:
            for cell in range(counters.size):
                flat[cell] += np.int64(counters[cell])
                counters[cell] = 0
            waiting = 0
            if not _fit(most, beyond, number):
                return


@inlined
def _own_rows(groups: ByteArray, first: int, group: int) -> np.uint64:
    """The rows of one class among the last ones, as bits."""
    rows = np.uint64(0)
    for row in range(groups.size - first):
        if groups[first + row] == group:
            rows |= np.uint64(1) << np.uint64(row)
    return rows


@inlined
def _fit(most: ByteArray, beyond: Bits, number: int) -> np.bool_ | bool:
    """Whether all codes so far are below the number of them, or 255."""
    largest, bits = np.uint8(0), np.uint64(0)
    for lane in range(LANES):
        largest, bits = max(largest, most[lane]), bits | beyond[lane]
    return bits < np.uint64(MOST) and largest <= number


@compiled
def count_column(
    values: Values,
    bases: Values,
    groups: ByteArray,
    bits: Bits,
    counts: NDArray[np.uint64],
    most: ByteArray,
    beyond: Bits,
    lanes: tuple[int, ...],
) -> None:
    """Add one column to `counts[code, class]`, of which there are as many as `lanes` and as a multiple of 4.

    `bits` are those of the classes (`pair_counts.group_bits`); the 16 bases are the same.
    """
    codes = np.empty(_BLOCK + LANES, dtype=np.uint8)
    rows, number = groups.size, counts.shape[0]
    for first in range(0, rows, _BLOCK):
        here = min(_BLOCK, rows - first)
        _narrow_all(values, first, here, bases, 0, codes, 0, most, beyond)
        if not _fit(most, beyond, number):
            return
        words = here // WORD
        for row in range(words * WORD, here):
            if codes[row] < number:
                counts[codes[row], groups[first + row]] += np.uint64(1)
        for value in range(0, number, FEW_VALUES):
            four = counts[value : value + FEW_VALUES]
            add_intersections(codes, bits[first // WORD :], words, four, lanes)
            if value + FEW_VALUES < number:
                for row in range(words * WORD):
                    codes[row] -= np.uint8(FEW_VALUES)
