"""Cross counts of a coded target with coded features, at about the speed at which memory is read.

`codes` are the values 0 .. s-1 of one feature as unsigned integers; the type's largest value means missing. `groups`
are the classes 0 .. R-1 of the target as bytes; if classes are missing, the last group is for them. All kernels add to
`out[group, value]`, R x (s + 1), with missing values last.

* `count_bits`: each group has a set of bits, one for each row. 64 codes are compared with one value at once, which
  gives another set; the counts are the sizes of their intersections. With few groups and values, counting a row costs
  little more than reading it.
* `count_joint`: one increment a row in the joint table of the target and up to four features, whose margins are
  computed afterwards. The cost of an increment, one clock cycle at best, is shared by the features, as long as the
  table fits into the fastest cache.
* `count_cells`: one increment a row. It works for any number of values.

LLVM's vectors (`words`) compile on any processor, into the instructions that it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import NDArray, cgutils, compiled, inlined, intrinsic, ir, types
from credimi.compile.words import INTEGER, ROWS, WORD, data_of, equal_bits, load, splat

if TYPE_CHECKING:
    from credimi.compile.words import LLVM

    ByteArray = NDArray[Any]  # of bytes


LANES = (2, 4, 8)  # numbers of groups that `count_bits` is compiled for
FEW_VALUES = 4  # compared with 64 codes before the next ones are read; with more, `count_joint` is faster
_ROWS_AHEAD = 4_096  # rows are prefetched so far ahead of those that are counted
_MAX_COUNT = 65_535  # the maximum of a 16-bit counter
_LOW_16_BITS = np.uint64(0xFFFF)  # the last of four cells in a word
_BYTE, _INDEX = ir.IntType(8), ir.IntType(32)
_tools: Any = cgutils  # this module of Numba has no type hints


@intrinsic
def add_intersections(
    _typing: LLVM,
    codes: LLVM,
    bits: LLVM,
    words: LLVM,
    out: LLVM,
    lanes: LLVM,
) -> LLVM:
    """Add the sizes of the intersections of all groups with the values 0 .. 3 to `out[value, lane]`.

    The compiler must know the number of lanes: `lanes` is a tuple of that length.
    """
    vector = ir.VectorType(INTEGER, lanes.count)

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        codes, bits, words, out, _ = arguments
        codes_at = data_of(context, builder, signature.args[0], codes)
        bits_at = data_of(context, builder, signature.args[1], bits)
        out_at = data_of(context, builder, signature.args[3], out)
        function_type = ir.FunctionType(vector, [vector])
        popcount = _tools.get_or_insert_function(builder.module, function_type, f"llvm.ctpop.v{vector.count}i64")
        constants = [ir.Constant(ROWS, [value] * WORD) for value in range(FEW_VALUES)]
        sums = [_tools.alloca_once_value(builder, ir.Constant(vector, [0] * vector.count)) for _ in constants]
        with _tools.for_range_slice(builder, INTEGER(0), words, INTEGER(1)) as (word, _):
            rows = load(builder, builder.gep(codes_at, [builder.mul(word, INTEGER(WORD))]), ROWS)
            groups = load(builder, builder.gep(bits_at, [builder.mul(word, INTEGER(vector.count))]), vector)
            for constant, total in zip(constants, sums, strict=True):
                value_rows = builder.bitcast(builder.icmp_unsigned("==", rows, constant), INTEGER)
                common = builder.call(popcount, [builder.and_(groups, splat(builder, value_rows, vector))])
                builder.store(builder.add(builder.load(total), common), total)
        for value, total in enumerate(sums):
            at = builder.gep(out_at, [INTEGER(value * vector.count)])
            new = builder.add(load(builder, at, vector), builder.load(total))
            builder.store(new, builder.bitcast(at, vector.as_pointer())).align = 1
        return context.get_dummy_value()

    return types.void(codes, bits, types.int64, out, lanes), generate


@compiled
def group_bits(groups: ByteArray, bits: NDArray[np.uint64]) -> None:
    """Fill the sets of bits of all groups, interleaved: `bits[word, group]`."""
    words, lanes = bits.shape
    for word in range(words):
        for lane in range(lanes):
            bits[word, lane] = equal_bits(groups, word, np.uint8(lane))


@compiled
def count_bits(
    codes: ByteArray,
    groups: ByteArray,
    bits: NDArray[np.uint64],
    totals: NDArray[np.int64],
    out: NDArray[np.int64],
    lanes: tuple[int, ...],
) -> None:
    """Count one feature of few values from the bits of the groups; missing values are the rest of the `totals`."""
    group_count, values = out.shape[0], out.shape[1] - 1
    words = codes.size // WORD
    counts = np.zeros((FEW_VALUES, bits.shape[1]), dtype=np.uint64)
    add_intersections(codes, bits, words, counts, lanes)
    for row in range(words * WORD, codes.size):
        if codes[row] < values:
            counts[codes[row], groups[row]] += np.uint64(1)
    for group in range(group_count):
        rest = totals[group]
        for value in range(values):
            out[group, value] += np.int64(counts[value, group])
            rest -= np.int64(counts[value, group])
        out[group, values] += rest


@intrinsic
def _number_cells(
    _typing: LLVM,
    groups: LLVM,
    columns: LLVM,
    sizes: LLVM,
    row: LLVM,
    out: LLVM,
    at: LLVM,
) -> LLVM:
    """Write the cell numbers of 64 rows from `row` on, in the joint table, to `out[at:]`; and prefetch later rows.

    The number of a cell has one digit for each column, of `sizes` values each, with missing last. It has 16 bits, so
    that one instruction computes many. Rows beyond the end are prefetched too, which does no harm.
    """

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        groups, columns, sizes, row, out, at = arguments
        short = ir.VectorType(ir.IntType(16), WORD)
        pointer = _BYTE.as_pointer()
        function_type = ir.FunctionType(ir.VoidType(), [pointer, _INDEX, _INDEX, _INDEX])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], function_type)
        groups_at = builder.gep(data_of(context, builder, signature.args[0], groups), [row])
        cell = builder.zext(load(builder, groups_at, ROWS), short)
        for digit in range(len(signature.args[1])):
            size = builder.extract_value(sizes, digit)
            column = data_of(context, builder, signature.args[1].types[digit], builder.extract_value(columns, digit))
            later = builder.gep(column, [builder.add(row, INTEGER(_ROWS_AHEAD))])
            builder.call(prefetch, [later, _INDEX(0), _INDEX(2), _INDEX(1)])  # to read, into the second cache, data
            missing = splat(builder, builder.sub(builder.trunc(size, _BYTE), _BYTE(1)), ROWS)
            codes = load(builder, builder.gep(column, [row]), ROWS)
            codes = builder.select(builder.icmp_unsigned("<", codes, missing), codes, missing)
            cell = builder.add(builder.mul(cell, splat(builder, size, short)), builder.zext(codes, short))
        target = builder.gep(data_of(context, builder, signature.args[4], out), [at])
        builder.store(cell, builder.bitcast(target, short.as_pointer())).align = 2
        return context.get_dummy_value()

    return types.void(groups, columns, sizes, types.int64, out, types.int64), generate


@inlined
def _increment(
    groups: ByteArray,
    columns: tuple[ByteArray, ...],
    sizes: tuple[np.uint16, ...],
    head: int,
    words: int,
    table: NDArray[np.uint32],
) -> None:
    """Count the rows of `words` words after the first `head` rows in the joint table.

    While the processor increments the counters of one word of rows, it computes the cell numbers of the next: the
    former is limited by stores, one a clock cycle, the latter by loads. Counters have half the bytes of those of the
    table, to fit into the fastest cache. They are emptied before the largest could overflow.
    """
    cells = np.empty(2 * WORD, dtype=np.uint16)
    fours = cells.view(np.uint64)
    counters = np.zeros(table.size, dtype=np.uint16)
    word, capacity = 0, _MAX_COUNT
    if words:
        _number_cells(groups, columns, sizes, head, cells, 0)
    while word < words:
        stop = min(words, word + capacity // WORD)
        while word < stop:
            half = word % 2
            word += 1
            _number_cells(groups, columns, sizes, head + min(word, words - 1) * WORD, cells, (1 - half) * WORD)
            half_cells = fours[half * (WORD // 4) : (half + 1) * (WORD // 4)]
            for index in range(WORD // 4):
                four = half_cells[index]
                counters[four & _LOW_16_BITS] += np.uint16(1)
                counters[(four >> np.uint64(16)) & _LOW_16_BITS] += np.uint16(1)
                counters[(four >> np.uint64(32)) & _LOW_16_BITS] += np.uint16(1)
                counters[four >> np.uint64(48)] += np.uint16(1)
        largest = np.uint16(0)
        for cell in range(counters.size):
            largest = max(largest, counters[cell])
        capacity = _MAX_COUNT - int(largest)
        if word == words or capacity < _MAX_COUNT // 4:
            for cell in range(counters.size):
                table[cell] += np.uint32(counters[cell])
                counters[cell] = 0
            capacity = _MAX_COUNT


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
    """Count the first `features` (1 to 4) columns, of `sizes` s + 1 each (1 for a column that is not used).

    `out[feature]` receives the R x (s + 1) counts of each, row after row. There may be at most 2^32 rows, and 2^16
    cells of the joint table.
    """
    one, two, three, four = np.uint16(sizes[0]), np.uint16(sizes[1]), np.uint16(sizes[2]), np.uint16(sizes[3])
    height = out.shape[1] // max(sizes[0], sizes[1], sizes[2], sizes[3])
    table = np.zeros(height * sizes[0] * sizes[1] * sizes[2] * sizes[3], dtype=np.uint32)
    head = min(-first.ctypes.data % WORD, groups.size)  # aligned vectors are read faster
    words = (groups.size - head) // WORD
    if features == 4:
        _increment(groups, (first, second, third, fourth), (one, two, three, four), head, words, table)
    else:  # the digit of a column that is not used is 0, and costs almost nothing
        _increment(groups, (first, second, third), (one, two, three), head, words, table)
    for number in range(groups.size - words * WORD):
        row = number if number < head else number + words * WORD
        cell = np.int64(groups[row]) * sizes[0] + min(first[row], sizes[0] - 1)
        cell = cell * sizes[1] + min(second[row], sizes[1] - 1)
        cell = cell * sizes[2] + min(third[row], sizes[2] - 1)
        table[cell * sizes[3] + min(fourth[row], sizes[3] - 1)] += np.uint32(1)
    _take_margins(table, features, sizes, height, out)


@inlined
def _take_margins(
    table: NDArray[np.uint32], features: int, sizes: NDArray[np.int64], height: int, out: NDArray[np.int64]
) -> None:
    """Add the margins of the joint table to the counts of each feature; sums over one feature after the other."""
    cells = table.size // height
    for group in range(height):
        block = table[group * cells : (group + 1) * cells]
        for feature in range(features):
            size = sizes[feature]
            rest = block.size // size
            first = block[:rest]
            for value in range(size):
                section = block[value * rest : (value + 1) * rest]
                total = np.uint32(0)
                for cell in range(rest):
                    total += section[cell]
                out[feature, group * size + value] += np.int64(total)
                if value > 0:
                    for cell in range(rest):
                        first[cell] += section[cell]
            block = first


@compiled
def count_cells(
    codes: NDArray[np.unsignedinteger], groups: NDArray[np.unsignedinteger], out: NDArray[np.int64]
) -> None:
    """Count one feature, with one increment a row."""
    values = out.shape[1] - 1
    flat, width = out.ravel(), np.uint64(values + 1)
    for row in range(codes.size):
        code = np.uint64(min(codes[row], values))
        flat[np.uint64(groups[row]) * width + code] += 1
