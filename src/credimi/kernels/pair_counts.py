"""Cross counts of a coded target with coded features, at about the speed at which memory is read.

`codes` are the values 0 .. s-1 of one feature as unsigned integers, the type's largest value where it is missing;
`groups` are the classes 0 .. R-1 of the target as bytes, a last group for the missing ones if there are any. All
kernels add to `out[group, value]`, R x (s + 1), missing last.

* `count_bits`: for each group a set of bits, one a row. 64 codes are compared with one value at once, which gives
  another set; the counts are the sizes of their intersections. With few groups and values a row costs little more than
  being read.
* `count_joint`: one increment in the joint table of the target and up to four features, whose margins are taken
  afterwards. The cost of an increment, one clock cycle at best, is shared by the features, as long as the table stays
  in the fastest cache.
* `count_cells`: one increment a row. For any cardinality.

LLVM's vectors (`words`) compile on any processor, into what instructions it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import cgutils, compiled, inlined, intrinsic, ir, types
from credimi.kernels.words import INTEGER, ROWS, WORD, data_of, equal_bits, load, splat

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.words import LLVM

    ByteArray = NDArray[Any]  # of bytes

LANES = (2, 4, 8)  # numbers of groups that `count_bits` is compiled for
FEW_VALUES = 4  # compared with the same 64 codes before the next ones are read; with more, `count_joint` is faster
_ROWS_AHEAD = 4_096  # of those that are counted the next are asked for
_LARGEST = 65_535  # that a 16-bit counter can hold
_LOW = np.uint64(0xFFFF)  # the last of four cells in a word
_BYTE, _INDEX = ir.IntType(8), ir.IntType(32)
_tools: Any = cgutils  # which has no types


@intrinsic
def add_intersections(
    _typing: LLVM,
    codes: LLVM,
    bits: LLVM,
    words: LLVM,
    out: LLVM,
    lanes: LLVM,
) -> LLVM:
    """Add the intersections of all groups with the values 0 .. 3 to `out[value, lane]`.

    How many lanes there are has to be known to the compiler: `lanes` is a tuple of that length.
    """
    wide = ir.VectorType(INTEGER, lanes.count)

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        codes, bits, words, out, _ = arguments
        codes_at = data_of(context, builder, signature.args[0], codes)
        bits_at = data_of(context, builder, signature.args[1], bits)
        out_at = data_of(context, builder, signature.args[3], out)
        kind = ir.FunctionType(wide, [wide])
        size = _tools.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{wide.count}i64")
        wanted = [ir.Constant(ROWS, [value] * WORD) for value in range(FEW_VALUES)]
        sums = [_tools.alloca_once_value(builder, ir.Constant(wide, [0] * wide.count)) for _ in wanted]
        with _tools.for_range_slice(builder, INTEGER(0), words, INTEGER(1)) as (word, _):
            rows = load(builder, builder.gep(codes_at, [builder.mul(word, INTEGER(WORD))]), ROWS)
            groups = load(builder, builder.gep(bits_at, [builder.mul(word, INTEGER(wide.count))]), wide)
            for each, total in zip(wanted, sums, strict=True):
                found = builder.bitcast(builder.icmp_unsigned("==", rows, each), INTEGER)
                common = builder.call(size, [builder.and_(groups, splat(builder, found, wide))])
                builder.store(builder.add(builder.load(total), common), total)
        for value, total in enumerate(sums):
            at = builder.gep(out_at, [INTEGER(value * wide.count)])
            new = builder.add(load(builder, at, wide), builder.load(total))
            builder.store(new, builder.bitcast(at, wide.as_pointer())).align = 1
        return context.get_dummy_value()

    return types.void(codes, bits, types.int64, out, lanes), generate


@compiled
def group_bits(groups: ByteArray, bits: NDArray[np.uint64]) -> None:
    """The sets of bits of all groups, interleaved: `bits[word, group]`."""
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
    """Counts of one feature of few values from the groups' bits; the missing are what is left of the `totals`."""
    present, values = out.shape[0], out.shape[1] - 1
    words = codes.size // WORD
    found = np.zeros((FEW_VALUES, bits.shape[1]), dtype=np.uint64)
    add_intersections(codes, bits, words, found, lanes)
    for row in range(words * WORD, codes.size):
        if codes[row] < values:
            found[codes[row], groups[row]] += np.uint64(1)
    for group in range(present):
        rest = totals[group]
        for value in range(values):
            out[group, value] += np.int64(found[value, group])
            rest -= np.int64(found[value, group])
        out[group, values] += rest


@intrinsic
def _number(
    _typing: LLVM,
    groups: LLVM,
    columns: LLVM,
    sizes: LLVM,
    row: LLVM,
    out: LLVM,
    at: LLVM,
) -> LLVM:
    """The cells of the joint table that 64 rows from `row` on fall into, to `out[at:]`; and ask for later rows.

    The cell's number has one digit for each column, of `sizes` values each, the missing one last; all in 16 bits, so
    that many go through one instruction. Rows beyond the end are asked for too: nothing comes of it.
    """

    def generate(context: LLVM, builder: LLVM, signature: LLVM, arguments: LLVM) -> LLVM:
        groups, columns, sizes, row, out, at = arguments
        short = ir.VectorType(ir.IntType(16), WORD)
        pointer = _BYTE.as_pointer()
        kind = ir.FunctionType(ir.VoidType(), [pointer, _INDEX, _INDEX, _INDEX])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
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
        to = builder.gep(data_of(context, builder, signature.args[4], out), [at])
        builder.store(cell, builder.bitcast(to, short.as_pointer())).align = 2
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
    """Count the rows of so many words after the `head` in the joint table.

    While the processor increments the counters of one word of rows it numbers the next: the former is bound by the
    stores, one a clock cycle, the latter by reading. Counters have half the bytes of the table's, to stay in the
    fastest cache; as long as the largest has room for as many rows as come they are not emptied.
    """
    cells = np.empty(2 * WORD, dtype=np.uint16)
    fours = cells.view(np.uint64)
    counters = np.zeros(table.size, dtype=np.uint16)
    word, room = 0, _LARGEST
    if words:
        _number(groups, columns, sizes, head, cells, 0)
    while word < words:
        stop = min(words, word + room // WORD)
        while word < stop:
            half = word % 2
            word += 1
            _number(groups, columns, sizes, head + min(word, words - 1) * WORD, cells, (1 - half) * WORD)
            part = fours[half * (WORD // 4) : (half + 1) * (WORD // 4)]
            for each in range(WORD // 4):
                four = part[each]
                counters[four & _LOW] += np.uint16(1)
                counters[(four >> np.uint64(16)) & _LOW] += np.uint16(1)
                counters[(four >> np.uint64(32)) & _LOW] += np.uint16(1)
                counters[four >> np.uint64(48)] += np.uint16(1)
        most = np.uint16(0)
        for cell in range(counters.size):
            most = max(most, counters[cell])
        room = _LARGEST - int(most)
        if word == words or room < _LARGEST // 4:
            for cell in range(counters.size):
                table[cell] += np.uint32(counters[cell])
                counters[cell] = 0
            room = _LARGEST


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
    one, two, three, four = np.uint16(sizes[0]), np.uint16(sizes[1]), np.uint16(sizes[2]), np.uint16(sizes[3])
    height = out.shape[1] // max(sizes[0], sizes[1], sizes[2], sizes[3])
    table = np.zeros(height * sizes[0] * sizes[1] * sizes[2] * sizes[3], dtype=np.uint32)
    head = min(-first.ctypes.data % WORD, groups.size)  # an aligned vector is read at once
    words = (groups.size - head) // WORD
    if features == 4:
        _increment(groups, (first, second, third, fourth), (one, two, three, four), head, words, table)
    else:  # a digit of a column that is not there is 0, and costs next to nothing
        _increment(groups, (first, second, third), (one, two, three), head, words, table)
    for other in range(groups.size - words * WORD):
        row = other if other < head else other + words * WORD
        cell = np.int64(groups[row]) * sizes[0] + min(first[row], sizes[0] - 1)
        cell = cell * sizes[1] + min(second[row], sizes[1] - 1)
        cell = cell * sizes[2] + min(third[row], sizes[2] - 1)
        table[cell * sizes[3] + min(fourth[row], sizes[3] - 1)] += np.uint32(1)
    _take_margins(table, features, sizes, height, out)


@inlined
def _take_margins(
    table: NDArray[np.uint32], features: int, sizes: NDArray[np.int64], height: int, out: NDArray[np.int64]
) -> None:
    """Add the joint table to the counts of the target with each feature alone; sums it over one after the other."""
    cells = table.size // height
    for group in range(height):
        block = table[group * cells : (group + 1) * cells]
        for feature in range(features):
            size = sizes[feature]
            rest = block.size // size
            first = block[:rest]
            for value in range(size):
                part = block[value * rest : (value + 1) * rest]
                total = np.uint32(0)
                for cell in range(rest):
                    total += part[cell]
                out[feature, group * size + value] += np.int64(total)
                if value > 0:
                    for cell in range(rest):
                        first[cell] += part[cell]
            block = first


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
