"""Codes of tables of small whole numbers, in one pass: narrowed to bytes, and transposed from rows to columns.

The code of a value is its distance from the column's base, if that is a whole number from 0 to 254; the code of NaN is
255. A value that does not fit is reported for each column, which must then be coded in another way. So a table is read
only once; its smallest and largest values need not be known before.

Squares of 16 x 16 cells are transposed at once: each row is narrowed to a vector of 16 bytes, and these are interleaved
in four rounds, in each of which the vectors i and i + 8 become 2 i and 2 i + 1. LLVM's vectors are written out; they
compile on any processor.

Values are contiguous bytes, 64-bit integers or doubles; a row starts every `step` elements.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import NDArray, compiled, inlined, intrinsic, ir, types

if TYPE_CHECKING:
    from credimi.compile.words import LLVM

    ByteArray = NDArray[Any]  # of bytes
    Values = NDArray[Any]  # bytes, 64-bit integers or doubles
    Bits = NDArray[np.uint64]


SIDE = 16  # rows and columns that are transposed at once
FITS = 255  # the maximum of `misfits` if all values of a column fit
_MISSING = 255
_LARGE = 1.5 * 2.0**52
_CACHE_LINE, _PREFETCH_AHEAD = 64, 20_480  # bytes
_BYTE, _SHORT, _INTEGER, _DOUBLE = ir.IntType(8), ir.IntType(32), ir.IntType(64), ir.DoubleType()


def _like(value: LLVM, element_type: LLVM, number: float) -> LLVM:
    """A constant; in all lanes if the value is a vector."""
    if isinstance(value.type, ir.VectorType):
        return ir.Constant(ir.VectorType(element_type, value.type.count), [element_type(number)] * value.type.count)
    return element_type(number)


def _distances(builder: LLVM, value: LLVM, base: LLVM) -> LLVM:
    """The code of a value, or of each in a vector, in 64 bits; above 255 if it does not fit. A byte is its own code."""
    element_type = getattr(value.type, "element", value.type)
    wide_type = _like(value, _INTEGER, 0).type
    if element_type == _BYTE:
        return builder.zext(value, wide_type)
    if element_type == _INTEGER:
        return builder.sub(value, base)
    # The last bits of the sum with so large a number are the whole number, if it is below 2^51; others are rounded.
    distance, large = builder.fsub(value, base), _like(value, _DOUBLE, _LARGE)
    shifted = builder.fadd(distance, large)
    code = builder.sub(builder.bitcast(shifted, wide_type), builder.bitcast(large, wide_type))
    is_whole = builder.fcmp_ordered("==", builder.fadd(builder.fsub(shifted, large), base), value)
    fits = builder.and_(is_whole, builder.fcmp_ordered("<", distance, _like(value, _DOUBLE, _MISSING)))
    is_nan = builder.fcmp_unordered("uno", value, value)
    misfit_code = builder.select(is_nan, _like(value, _INTEGER, _MISSING), _like(value, _INTEGER, _MISSING + 1))
    return builder.select(fits, code, misfit_code)


@intrinsic
def _distance(_typing: LLVM, value: LLVM, base: LLVM) -> LLVM:
    """The code of one value."""

    def generate(_context: LLVM, builder: LLVM, _signature: LLVM, arguments: LLVM) -> LLVM:
        return _distances(builder, *arguments)

    return types.uint64(value, base), generate


@intrinsic
def _prefetch(_typing: LLVM, values: LLVM, at: LLVM) -> LLVM:
    """Start to load an element that will be read."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        pointer = _BYTE.as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [pointer, _SHORT, _SHORT, _SHORT])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], function_type)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        address = builder.bitcast(builder.gep(data, [arguments[1]]), pointer)
        builder.call(prefetch, [address, _SHORT(0), _SHORT(2), _SHORT(1)])  # to read, into the second cache, data
        return context.get_dummy_value()

    return types.void(values, types.int64), generate


@intrinsic
def _transpose_square(
    _typing: LLVM,
    values: LLVM,
    start: LLVM,
    step: LLVM,
    bases: LLVM,
    column: LLVM,
    missing: LLVM,
    codes: LLVM,
    to: LLVM,
    column_step: LLVM,
    low: LLVM,
    high: LLVM,
    misfits: LLVM,
) -> LLVM:
    """Narrow and transpose 16 cells of each of 16 rows; write the columns from `to` on, `column_step` apart."""

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        values, start, step, bases, column, missing, codes, to, column_step, low, high, misfits = arguments
        kinds = dict(zip(("values", "bases", "codes", "low", "high", "misfits"), (0, 3, 6, 9, 10, 11), strict=True))

        def pointer_to(name: str, array: LLVM, at: LLVM) -> LLVM:
            array_type = signature.args[kinds[name]]
            data = builder.gep(context.make_array(array_type)(context, builder, array).data, [at])
            vector = ir.VectorType(context.get_data_type(array_type.dtype), SIDE)
            return builder.bitcast(data, vector.as_pointer())

        def loaded(name: str, array: LLVM, at: LLVM) -> LLVM:
            value = builder.load(pointer_to(name, array, at))
            value.align = 1
            return value

        def at_step(first: LLVM, distance: LLVM, index: int) -> LLVM:
            return builder.add(first, builder.mul(distance, _INTEGER(index)))

        base, misfit_bits = loaded("bases", bases, column), loaded("misfits", misfits, column)
        lowest, highest = loaded("low", low, column), loaded("high", high, column)
        single = builder.insert_element(ir.Constant(lowest.type, ir.Undefined), missing, _SHORT(0))
        zeros = ir.Constant(ir.VectorType(_SHORT, SIDE), [0] * SIDE)
        missing_lanes = builder.shuffle_vector(single, single, zeros)
        rows = []
        for index in range(SIDE):
            value = loaded("values", values, at_step(start, step, index))
            distances = _distances(builder, value, base)
            if value.type.element != _BYTE:
                misfit_bits = builder.or_(misfit_bits, distances)
            row = value if value.type.element == _BYTE else builder.trunc(distances, lowest.type)
            raised = builder.add(row, missing_lanes)
            lowest = builder.select(builder.icmp_unsigned("<", row, lowest), row, lowest)
            highest = builder.select(builder.icmp_unsigned(">", raised, highest), raised, highest)
            rows.append(row)
        for name, array, value in (("low", low, lowest), ("high", high, highest), ("misfits", misfits, misfit_bits)):
            builder.store(value, pointer_to(name, array, column)).align = 1
        half = SIDE // 2
        pairs = [lane for each in range(half) for lane in (each, SIDE + each)]
        orders = [ir.Constant(ir.VectorType(_SHORT, SIDE), [lane + up for lane in pairs]) for up in (0, half)]
        for _ in range(4):
            row_pairs = [(rows[index], rows[index + half]) for index in range(half)]
            rows = [builder.shuffle_vector(*pair, order) for pair in row_pairs for order in orders]
        for index in range(SIDE):
            builder.store(rows[index], pointer_to("codes", codes, at_step(to, column_step, index))).align = 1
        return context.get_dummy_value()

    integer, byte = types.int64, types.uint8
    arguments = (values, integer, integer, bases, integer, byte, codes, integer, integer, low, high, misfits)
    return types.void(*arguments), generate


@inlined
def _one_column(
    values: Values, bases: Values, missing: np.uint8, codes: ByteArray, low: ByteArray, high: ByteArray, misfits: Bits
) -> None:
    """Fill the codes of contiguous cells; bases and bounds are those of the cells of one block."""
    for start in range(0, values.size, bases.size):
        cells = values[start : start + bases.size]
        block_codes = codes[start : start + cells.size]
        for cell in range(cells.size):
            distance = _distance(cells[cell], bases[cell])
            block_codes[cell] = np.uint8(distance)
            misfits[cell] |= distance
        for cell in range(cells.size):
            low[cell] = min(low[cell], block_codes[cell])
            high[cell] = max(high[cell], np.uint8(block_codes[cell] + missing))


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
    misfits: Bits,
) -> None:
    """Fill `codes[column, first:]` from rows of `columns` values, which start every `step` values.

    `low` becomes the smallest code of each column, `high` the largest; if `missing` is 1, `high` is one more than the
    largest below 255. `misfits` is at most FITS if all values fit. These, the bases and the codes have room for at
    least 16 columns. A single column (`step` is 1) is read in blocks of as many cells as there are bases, and the
    bounds are those of each position in a block.
    """
    missing_byte = np.uint8(missing)
    if step == 1:
        _one_column(values, bases, missing_byte, codes[0, first : first + values.size], low, high, misfits)
        return
    rows, length = (values.size + step - columns) // step, codes.shape[1]
    flat = codes.reshape(codes.size)
    width = max(columns, SIDE)
    readable_rows = (values.size + step - width) // step  # rows of which 16 cells can be read
    squared_rows = max(min(rows, readable_rows) // SIDE * SIDE, 0)
    line, ahead = _CACHE_LINE // values.itemsize, _PREFETCH_AHEAD // values.itemsize
    prefetched = 0
    for row in range(0, squared_rows, SIDE):  # the processor cannot predict the order in which squares are read
        stop = min((row + SIDE) * step + ahead, values.size)
        while prefetched < stop:
            _prefetch(values, prefetched)
            prefetched += line
        for group in range(0, columns, SIDE):
            column = min(group, width - SIDE)  # the last square may overlap the one before
            start, to = row * step + column, column * length + first + row
            _transpose_square(values, start, step, bases, column, missing_byte, flat, to, length, low, high, misfits)
    for row in range(squared_rows, rows):
        for column in range(columns):
            distance = _distance(values[row * step + column], bases[column])
            code = np.uint8(distance)
            flat[column * length + first + row] = code
            low[column] = min(low[column], code)
            high[column] = max(high[column], np.uint8(code + missing_byte))
            misfits[column] |= distance
