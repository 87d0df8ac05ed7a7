"""Cross counts of a coded target with coded features, at about the speed at which memory is read.

`codes` are the values 0 .. s-1 of one feature as unsigned integers, the type's largest value where it is missing;
`groups` are the classes 0 .. R-1 of the target as bytes, a last group for the missing ones if there are any. All
kernels add to `out[group, value]`, R x (s + 1), missing last.

* `count_bits`: for each group a set of bits, one a row. 64 codes are compared with one value at once, which gives
  another set; the counts are the sizes of their intersections. A row costs little more than being read if there are
  few groups and values.
* `count_joint`: one increment in the joint table of the target and up to four features, whose margins are taken
  afterwards. The cost of an increment is shared by the features, as long as the table stays in the fastest cache.
* `count_cells`: one increment a row. For any cardinality.

LLVM's vectors are written out where its optimiser would not find them; they compile on any processor, into what
instructions it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types

from credimi.kernels.compiled import compiled, inlined, intrinsic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    ByteArray = NDArray[Any]  # of bytes

WORD = 64  # rows a set of bits holds in one word
LANES = (2, 4, 8)  # numbers of groups that `count_bits` is compiled for
_VALUES = 4  # compared with the same 64 codes before the next ones are read
_WORDS_A_PASS = 256  # 16 KiB of codes, read again for further values while they are in the fastest cache
_ROWS_A_PASS = 16_384  # of the joint table's indices
_MOST_ROWS = 65_535  # that a 16-bit counter can hold
_INTEGER, _BYTE, _INDEX = ir.IntType(64), ir.IntType(8), ir.IntType(32)
_ROWS = ir.VectorType(_BYTE, WORD)
_tools: Any = cgutils  # which has no types


def _splat(builder: Any, scalar: Any, vector: Any) -> Any:  # noqa: ANN401  (llvmlite has no types)
    """The scalar in all lanes."""
    undefined = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INDEX(0))
    return builder.shuffle_vector(
        first, undefined, ir.Constant(ir.VectorType(_INDEX, vector.count), [0] * vector.count)
    )


def _data(context: Any, builder: Any, kind: Any, array: Any) -> Any:  # noqa: ANN401
    """The address of an array's first element."""
    return context.make_array(kind)(context, builder, array).data


def _load(builder: Any, pointer: Any, vector: Any) -> Any:  # noqa: ANN401
    """A vector from an address that need not be aligned."""
    value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
    value.align = 1
    return value


@intrinsic
def _equal_bits(_typing: Any, codes: Any, word: Any, value: Any) -> Any:  # noqa: ANN401, ARG001
    """Which of the 64 codes from 64 * word on equal the value, one bit each."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        codes, word, value = arguments
        at = builder.gep(_data(context, builder, signature.args[0], codes), [builder.mul(word, _INTEGER(WORD))])
        equal = builder.icmp_unsigned("==", _load(builder, at, _ROWS), _splat(builder, value, _ROWS))
        return builder.bitcast(equal, _INTEGER)

    return types.uint64(codes, types.int64, types.uint8), generate


@intrinsic
def _prefetch(_typing: Any, codes: Any, row: Any) -> Any:  # noqa: ANN401, ARG001
    """Ask for the codes at this row, to be there when they are needed."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        pointer = _BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _INDEX, _INDEX, _INDEX])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
        at = builder.gep(_data(context, builder, signature.args[0], arguments[0]), [arguments[1]])
        builder.call(function, [at, _INDEX(0), _INDEX(2), _INDEX(1)])  # for reading, into the second cache, data
        return context.get_dummy_value()

    return types.void(codes, types.int64), generate


@intrinsic
def _add_intersections(
    _typing: Any,  # noqa: ANN401
    codes: Any,  # noqa: ANN401
    bits: Any,  # noqa: ANN401
    first: Any,  # noqa: ANN401, ARG001
    last: Any,  # noqa: ANN401, ARG001
    value: Any,  # noqa: ANN401, ARG001
    out: Any,  # noqa: ANN401
    lanes: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """For words `first` to `last` add the intersections of all groups with `_VALUES` values to `out[value, lane]`.

    How many lanes there are has to be known to the compiler: `lanes` is a tuple of that length.
    """
    wide = ir.VectorType(_INTEGER, lanes.count)

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ANN401
        codes, bits, first, last, value, out, _ = arguments
        codes_at = _data(context, builder, signature.args[0], codes)
        bits_at = _data(context, builder, signature.args[1], bits)
        out_at = _data(context, builder, signature.args[5], out)
        kind = ir.FunctionType(wide, [wide])
        size = _tools.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{wide.count}i64")
        wanted = [_splat(builder, builder.add(value, _BYTE(step)), _ROWS) for step in range(_VALUES)]
        sums = [_tools.alloca_once_value(builder, ir.Constant(wide, [0] * wide.count)) for _ in wanted]
        with _tools.for_range_slice(builder, first, last, _INTEGER(1)) as (word, _):
            rows = _load(builder, builder.gep(codes_at, [builder.mul(word, _INTEGER(WORD))]), _ROWS)
            groups = _load(builder, builder.gep(bits_at, [builder.mul(word, _INTEGER(wide.count))]), wide)
            for each, total in zip(wanted, sums, strict=True):
                found = builder.bitcast(builder.icmp_unsigned("==", rows, each), _INTEGER)
                common = builder.call(size, [builder.and_(groups, _splat(builder, found, wide))])
                builder.store(builder.add(builder.load(total), common), total)
        for step, total in enumerate(sums):
            at = builder.gep(out_at, [_INTEGER(step * wide.count)])
            new = builder.add(_load(builder, at, wide), builder.load(total))
            builder.store(new, builder.bitcast(at, wide.as_pointer())).align = 1
        return context.get_dummy_value()

    return types.void(codes, bits, types.int64, types.int64, types.uint8, out, lanes), generate


@compiled
def group_bits(groups: ByteArray, bits: NDArray[np.uint64]) -> None:
    """The sets of bits of all groups, interleaved: `bits[word, group]`."""
    words, lanes = bits.shape
    for word in range(words):
        for lane in range(lanes):
            bits[word, lane] = _equal_bits(groups, word, np.uint8(lane))


@compiled
def count_bits(
    codes: ByteArray,
    groups: ByteArray,
    bits: NDArray[np.uint64],
    totals: NDArray[np.int64],
    out: NDArray[np.int64],
    lanes: tuple[int, ...],
) -> None:
    """Counts of one feature from the groups' bits; the missing ones are what is left of the groups' `totals`."""
    present, values = out.shape[0], out.shape[1] - 1
    words = codes.size // WORD
    found = np.zeros(((values + _VALUES - 1) // _VALUES * _VALUES, bits.shape[1]), dtype=np.uint64)
    step = _WORDS_A_PASS if values > _VALUES else max(words, 1)
    for first in range(0, words, step):
        for value in range(0, values, _VALUES):
            _add_intersections(codes, bits, first, min(first + step, words), np.uint8(value), found[value:], lanes)
    for row in range(words * WORD, codes.size):
        if codes[row] < values:
            found[codes[row], groups[row]] += np.uint64(1)
    for group in range(present):
        rest = totals[group]
        for value in range(values):
            out[group, value] += np.int64(found[value, group])
            rest -= np.int64(found[value, group])
        out[group, values] += rest


@inlined
def _append(index: Any, size: Any, code: Any, missing: Any) -> Any:  # noqa: ANN401  (small integers)
    """The index with one more digit; all in 16 bits, so that many go through one instruction."""
    return np.uint16(np.uint16(index * size) + np.uint16(min(code, missing)))


@compiled
def count_joint(
    groups: ByteArray,
    first: ByteArray,
    second: ByteArray,
    third: ByteArray,
    fourth: ByteArray,
    features: int,
    sizes: NDArray[np.int64],
    out: NDArray[np.int64],
) -> None:
    """Counts of the first `features` (1 to 4) columns, of `sizes` s + 1 each (1 where there is none).

    `out[feature]` gets the R x (s + 1) counts of each, row after row. Rows are at most 2^32, cells of the joint table
    2^16.
    """
    missing = (np.uint8(sizes[0] - 1), np.uint8(sizes[1] - 1), np.uint8(sizes[2] - 1), np.uint8(sizes[3] - 1))
    size = (np.uint16(sizes[0]), np.uint16(sizes[1]), np.uint16(sizes[2]), np.uint16(sizes[3]))
    height = out.shape[1] // sizes.max()
    table = np.zeros(height * sizes[0] * sizes[1] * sizes[2] * sizes[3], dtype=np.uint32)
    small = np.zeros(table.size, dtype=np.uint16)  # half the bytes: it stays in the fastest cache
    indices = np.empty(_ROWS_A_PASS, dtype=np.uint16)
    since = 0
    for start in range(0, groups.size, _ROWS_A_PASS):
        stop = min(start + _ROWS_A_PASS, groups.size)
        rows = stop - start
        index, group, a, b = indices[:rows], groups[start:stop], first[start:stop], second[start:stop]
        if features == 1:
            for row in range(rows):
                index[row] = _append(np.uint16(group[row]), size[0], a[row], missing[0])
        elif features == 2:
            for row in range(rows):
                index[row] = _append(
                    _append(np.uint16(group[row]), size[0], a[row], missing[0]), size[1], b[row], missing[1]
                )
        else:
            c = third[start:stop]
            for row in range(rows):
                two = _append(_append(np.uint16(group[row]), size[0], a[row], missing[0]), size[1], b[row], missing[1])
                index[row] = _append(two, size[2], c[row], missing[2])
        if features == 4:
            d = fourth[start:stop]
            for row in range(rows):
                index[row] = _append(index[row], size[3], d[row], missing[3])
        if since + rows > _MOST_ROWS:
            _empty(small, table)
            since = 0
        since += rows
        for at in range(0, rows, WORD):  # meanwhile the next rows come in
            ahead = min(stop + at, groups.size - 1)
            _prefetch(first, ahead)
            if features > 1:
                _prefetch(second, ahead)
            if features > 2:
                _prefetch(third, ahead)
            if features > 3:
                _prefetch(fourth, ahead)
            part = index[at : min(at + WORD, rows)]
            for row in range(part.size):
                small[part[row]] += np.uint16(1)
    _empty(small, table)
    _take_margins(table, sizes, height, out)


@inlined
def _empty(small: NDArray[np.uint16], table: NDArray[np.uint32]) -> None:
    for cell in range(small.size):
        table[cell] += np.uint32(small[cell])
        small[cell] = 0


@inlined
def _take_margins(table: NDArray[np.uint32], sizes: NDArray[np.int64], height: int, out: NDArray[np.int64]) -> None:
    """Add the joint table to the counts of the target with each feature alone."""
    first, second, third, fourth = out[0], out[1], out[2], out[3]
    at = 0
    for group in range(height):
        for a in range(sizes[0]):
            for b in range(sizes[1]):
                for c in range(sizes[2]):
                    total = np.int64(0)
                    row = fourth[group * sizes[3] : (group + 1) * sizes[3]]
                    cells = table[at : at + sizes[3]]
                    for d in range(sizes[3]):
                        total += np.int64(cells[d])
                        row[d] += np.int64(cells[d])
                    at += sizes[3]
                    first[group * sizes[0] + a] += total
                    second[group * sizes[1] + b] += total
                    third[group * sizes[2] + c] += total


@compiled
def count_cells(
    codes: NDArray[np.unsignedinteger], groups: NDArray[np.unsignedinteger], out: NDArray[np.int64]
) -> None:
    """Counts of one feature, one increment a row."""
    values = out.shape[1] - 1
    flat, width = out.ravel(), np.uint64(values + 1)
    for row in range(codes.size):
        code = np.uint64(min(codes[row], values))
        flat[np.uint64(groups[row]) * width + code] += 1
