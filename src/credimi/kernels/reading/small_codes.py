"""Codes of tables of small whole numbers, in one pass over them: narrowed to bytes, and turned from rows to columns.

The code of a value is its distance from the column's base, if that is a whole number from 0 to 254; NaN is 255. What
does not fit is told for each column, and means that this column has to be coded in another way. So a table is read
once, without a look at its least and largest values before.

Squares of 16 x 16 cells are turned at once: each row is narrowed to a vector of 16 bytes, and these are interleaved in
four rounds, in each of which the vectors i and i + 8 become 2 i and 2 i + 1. LLVM's vectors are written out; they
compile on any processor.

Values are bytes, 64-bit integers or doubles in one piece; a row starts every `step` elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import compiled, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.words import LLVM

    ByteArray = NDArray[Any]  # of bytes
    Values = NDArray[Any]  # bytes, 64-bit integers or doubles
    Bits = NDArray[np.uint64]

SIDE = 16  # rows and columns that are turned at once
FITS = 255  # the largest of what is `beyond`, where all values of a column fit
_MISSING = 255
_LARGE = 1.5 * 2.0**52
_LINE, _AHEAD = 64, 20_480  # bytes that come together from memory, and that are asked for before they are read
_BYTE, _SHORT, _INTEGER, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _like(value: LLVM, kind: LLVM, number: float) -> LLVM:
    """A constant, in all lanes if the value is a vector."""
    if isinstance(value.type, ir.VectorType):
        return ir.Constant(ir.VectorType(kind, value.type.count), [kind(number)] * value.type.count)
    return kind(number)


def _distances(builder: LLVM, value: LLVM, base: LLVM) -> LLVM:
    """The code of a value or of each in a vector, above 255 where it does not fit: 64 bits. Bytes are themselves."""
    own = getattr(value.type, "element", value.type)
    wide = _like(value, _INTEGER, 0).type
    if own == _BYTE:
        return builder.zext(value, wide)
    if own == _INTEGER:
        return builder.sub(value, base)
    # Added to a number so large, a whole number below 2^51 stands in the last bits of the sum; others are rounded.
    far, large = builder.fsub(value, base), _like(value, _DOUBLE, _LARGE)
    moved = builder.fadd(far, large)
    whole = builder.sub(builder.bitcast(moved, wide), builder.bitcast(large, wide))
    same = builder.fcmp_ordered("==", builder.fadd(builder.fsub(moved, large), base), value)
    fits = builder.and_(same, builder.fcmp_ordered("<", far, _like(value, _DOUBLE, _MISSING)))
    nan = builder.fcmp_unordered("uno", value, value)
    other = builder.select(nan, _like(value, _INTEGER, _MISSING), _like(value, _INTEGER, _MISSING + 1))
    return builder.select(fits, whole, other)


@intrinsic
def _distance(_typing: LLVM, value: LLVM, base: LLVM) -> LLVM:
    """The code of one value."""

    def generate(_context: LLVM, builder: LLVM, _signature: LLVM, arguments: LLVM) -> LLVM:
        return _distances(builder, *arguments)

    return types.uint64(value, base), generate


@intrinsic
def _prefetch(_typing: LLVM, values: LLVM, at: LLVM) -> LLVM:
    """Ask for an element that will be read."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        pointer = _BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _SHORT, _SHORT, _SHORT])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        there = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        builder.call(prefetch, [there, _SHORT(0), _SHORT(2), _SHORT(1)])  # to read, into the second cache, data
        return context.get_dummy_value()

    return types.void(values, types.int64), generate


@intrinsic
def _square(
    _typing: LLVM,
    values: LLVM,
    start: LLVM,
    step: LLVM,
    bases: LLVM,
    column: LLVM,
    missing: LLVM,
    codes: LLVM,
    to: LLVM,
    jump: LLVM,
    low: LLVM,
    high: LLVM,
    beyond: LLVM,
) -> LLVM:
    """Narrow and turn 16 cells of each of 16 rows, from `start` on; the columns are `jump` apart, from `to` on."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        values, start, step, bases, column, missing, codes, to, jump, low, high, beyond = arguments
        kinds = dict(zip(("values", "bases", "codes", "low", "high", "beyond"), (0, 3, 6, 9, 10, 11), strict=True))

        def place(name: str, array: LLVM, at: LLVM) -> LLVM:
            kind = signature.args[kinds[name]]
            data = builder.gep(context.make_array(kind)(context, builder, array).data, [at])
            vector = ir.VectorType(context.get_data_type(kind.dtype), SIDE)
            return builder.bitcast(data, vector.as_pointer())

        def loaded(name: str, array: LLVM, at: LLVM) -> LLVM:
            value = builder.load(place(name, array, at))
            value.align = 1
            return value

        def apart(first: LLVM, distance: LLVM, index: int) -> LLVM:
            return builder.add(first, builder.mul(distance, _INTEGER(index)))

        base, more = loaded("bases", bases, column), loaded("beyond", beyond, column)
        least, most = loaded("low", low, column), loaded("high", high, column)
        lone = builder.insert_element(ir.Constant(least.type, ir.Undefined), missing, _SHORT(0))
        zeros = ir.Constant(ir.VectorType(_SHORT, SIDE), [0] * SIDE)
        one = builder.shuffle_vector(lone, lone, zeros)
        rows = []
        for index in range(SIDE):
            value = loaded("values", values, apart(start, step, index))
            distances = _distances(builder, value, base)
            if value.type.element != _BYTE:
                more = builder.or_(more, distances)
            row = value if value.type.element == _BYTE else builder.trunc(distances, least.type)
            raised = builder.add(row, one)
            least = builder.select(builder.icmp_unsigned("<", row, least), row, least)
            most = builder.select(builder.icmp_unsigned(">", raised, most), raised, most)
            rows.append(row)
        for name, array, value in (("low", low, least), ("high", high, most), ("beyond", beyond, more)):
            builder.store(value, place(name, array, column)).align = 1
        half = SIDE // 2
        pairs = [lane for each in range(half) for lane in (each, SIDE + each)]
        orders = [ir.Constant(ir.VectorType(_SHORT, SIDE), [lane + up for lane in pairs]) for up in (0, half)]
        for _ in range(4):
            both = [(rows[index], rows[index + half]) for index in range(half)]
            rows = [builder.shuffle_vector(*pair, order) for pair in both for order in orders]
        for index in range(SIDE):
            builder.store(rows[index], place("codes", codes, apart(to, jump, index))).align = 1
        return context.get_dummy_value()

    whole, bits = types.int64, types.uint8
    arguments = (values, whole, whole, bases, whole, bits, codes, whole, whole, low, high, beyond)
    return types.void(*arguments), generate


@inlined
def _one_column(
    values: Values, bases: Values, missing: np.uint8, codes: ByteArray, low: ByteArray, high: ByteArray, beyond: Bits
) -> None:
    """The codes of cells that stand together; bases and bounds are those of as many cells as are done at once."""
    for start in range(0, values.size, bases.size):
        cells = values[start : start + bases.size]
        part = codes[start : start + cells.size]
        for cell in range(cells.size):
            distance = _distance(cells[cell], bases[cell])
            part[cell] = np.uint8(distance)
            beyond[cell] |= distance
        for cell in range(cells.size):
            low[cell] = min(low[cell], part[cell])
            high[cell] = max(high[cell], np.uint8(part[cell] + missing))


@compiled
def gather(
    values: Values,
    step: int,
    columns: int,
    bases: Values,
    missing: int,
    codes: ByteArray,
    first: int,
    low: ByteArray,
    high: ByteArray,
    beyond: Bits,
) -> None:
    """Fill `codes[column, first:]` from as many columns at the start of each `step` of the values.

    `low` becomes the least code of each column, `high` the largest, or one more than the largest below 255, if
    `missing` is 1; `beyond` is at most FITS where all fits. These, the bases and the codes have room for 16 columns at
    least. Of values that are one column (`step` is 1) they are bounds of the cells in each place of a part, as many as
    there are bases.
    """
    one = np.uint8(missing)
    if step == 1:
        _one_column(values, bases, one, codes[0, first : first + values.size], low, high, beyond)
        return
    rows, length = (values.size + step - columns) // step, codes.shape[1]
    flat = codes.reshape(codes.size)
    width = max(columns, SIDE)
    inside = (values.size + step - width) // step  # rows from which 16 cells can be read
    done = max(min(rows, inside) // SIDE * SIDE, 0)
    line, ahead = _LINE // values.itemsize, _AHEAD // values.itemsize
    asked = 0
    for row in range(0, done, SIDE):  # squares are not read in the order of memory, which no processor foresees
        stop = min((row + SIDE) * step + ahead, values.size)
        while asked < stop:
            _prefetch(values, asked)
            asked += line
        for group in range(0, columns, SIDE):
            column = min(group, width - SIDE)  # the last square has some that were turned before
            start, to = row * step + column, column * length + first + row
            _square(values, start, step, bases, column, one, flat, to, length, low, high, beyond)
    for row in range(done, rows):
        for column in range(columns):
            distance = _distance(values[row * step + column], bases[column])
            code = np.uint8(distance)
            flat[column * length + first + row] = code
            low[column] = min(low[column], code)
            high[column] = max(high[column], np.uint8(code + one))
            beyond[column] |= distance
