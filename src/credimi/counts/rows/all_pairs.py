"""Counts of every pair of columns: sets of bits for columns of few values, joint tables of couples for the others.

A column has codes 0 .. s-1, and s where its value is missing. The table of columns a and b is (s_a + 1) x (s_b + 1),
with the counts of missing values last, as in `many_tables`.

* **Bits.** A column of few values has a set of bits for each value, with one bit for each row; the last value of a
  complete column needs none. `count_common` counts the intersections of sets with other sets: eight words at once, four
  sets at once, and as many words as fit into the fastest cache. `fill_tables` computes the rest of each table by
  subtraction from the counts of the single columns. O(N/64) a pair of sets.
* **Couples.** Two columns of more values make one couple, whose code has a digit for each. One increment a row in the
  table of two couples serves four pairs, whose counts are sums over that table. Its counters have 16 bits, so at most
  `MAX_ROWS` rows are counted at once. With couples of at most `MAX_COUPLE_CODES` codes it fits into the fastest cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, NDArray, cgutils, compiled, inlined, intrinsic, ir, types
from credimi.compile.words import WORD, data_of, equal_bits, load

if TYPE_CHECKING:
    Bytes = NDArray[np.uint8]
    Words = NDArray[np.uint64]


MAX_CODES = 256  # the maximum number of codes of a column or couple
MAX_COUPLE_CODES = 128  # two such couples have 2^14 cells, which fit into the fastest cache
MAX_ROWS = 65_535  # the maximum of a 16-bit counter
_VECTOR_WORDS = 8  # words that are counted at once
_SETS_AT_ONCE = 4  # sets that are intersected with another at once
_CHUNK_WORDS = 512  # words of a set that are counted before the next set is read: a multiple of `_VECTOR_WORDS`
_BATCH_ROWS = 1024  # rows whose cells are computed before they are counted
_LOW_16_BITS = np.uint64(0xFFFF)
_INTEGER, _INDEX = ir.IntType(64), ir.IntType(32)
_tools: Any = cgutils  # this module of Numba has no type hints


@intrinsic
def _add_common(_typing: Any, bits: Any, others: Any, offsets: Any, out: Any) -> Any:
    """Add the sizes of the intersections of a set with four others to `out[at:]`.

    `offsets` are five numbers: the start of the set; the start of the first other set; the distance from one of the
    others to the next; the number of words, a multiple of 8; and `at`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits, others, offsets, out = arguments
        one, other, width, words, at = (builder.extract_value(offsets, number) for number in range(5))
        vector = ir.VectorType(_INTEGER, _VECTOR_WORDS)
        base = builder.gep(data_of(context, builder, signature.args[0], bits), [one])
        first_other = builder.gep(data_of(context, builder, signature.args[1], others), [other])
        function_type = ir.FunctionType(vector, [vector])
        popcount = _tools.get_or_insert_function(builder.module, function_type, f"llvm.ctpop.v{_VECTOR_WORDS}i64")
        zeros = ir.Constant(vector, [0] * _VECTOR_WORDS)
        sums = [_tools.alloca_once_value(builder, zeros) for _ in range(_SETS_AT_ONCE)]
        for total in sums:
            builder.store(zeros, total)  # on each call: the allocation above happens once
        starts = [first_other]
        for _ in range(_SETS_AT_ONCE - 1):
            starts.append(builder.gep(starts[-1], [width]))
        with _tools.for_range_slice(builder, _INTEGER(0), words, _INTEGER(_VECTOR_WORDS)) as (word, _):
            set_words = load(builder, builder.gep(base, [word]), vector)
            for start, total in zip(starts, sums, strict=True):
                common = builder.and_(set_words, load(builder, builder.gep(start, [word]), vector))
                builder.store(builder.add(builder.load(total), builder.call(popcount, [common])), total)
        target = builder.gep(data_of(context, builder, signature.args[3], out), [at])
        for number, total in enumerate(sums):
            lanes = builder.load(total)
            intersection = builder.extract_element(lanes, _INDEX(0))
            for lane in range(1, _VECTOR_WORDS):
                intersection = builder.add(intersection, builder.extract_element(lanes, _INDEX(lane)))
            entry = builder.gep(target, [_INTEGER(number)])
            builder.store(builder.add(builder.load(entry), intersection), entry)
        return context.get_dummy_value()

    return types.void(bits, others, offsets, out), generate


@compiled
def pack_bits(codes: Bytes, value: int, words: Words) -> None:
    """Fill the set of rows that have the value; the bits of `words` behind the last row become 0."""
    full = codes.size // WORD
    for word in range(words.size):
        words[word] = equal_bits(codes, word, np.uint8(value)) if word < full else np.uint64(0)
    for row in range(full * WORD, codes.size):
        if codes[row] == value:
            words[full] |= np.uint64(1) << np.uint64(row - full * WORD)


@compiled
def count_common(sets: Words, others: Words, common: IntegerArray) -> None:
    """Fill the sizes of the intersections, (sets, others); both have the same number of words, a multiple of 8.

    The number of others is a multiple of 4; sets may be empty.
    """
    words = sets.shape[1]
    flat, partners, out = sets.reshape(sets.size), others.reshape(others.size), common.reshape(common.size)
    for entry in range(out.size):
        out[entry] = 0
    for start in range(0, words, _CHUNK_WORDS):
        length = min(_CHUNK_WORDS, words - start)
        for other in range(0, others.shape[0], _SETS_AT_ONCE):
            for number in range(sets.shape[0]):
                at = number * others.shape[0] + other
                _add_common(flat, partners, (number * words + start, other * words + start, words, length, at), out)


@compiled
def fill_tables(
    common: IntegerArray,
    first_sets: IntegerArray,
    set_base: IntegerArray,
    columns: IntegerArray,
    partners: IntegerArray,
    values: IntegerArray,
    totals: IntegerArray,
    rows: int,
    offsets: IntegerArray,
    flat: FloatArray,
) -> None:
    """Fill the table of each of the columns with each of the partners that has a larger number.

    The sets of column c have the numbers from `first_sets[c]` up to `first_sets[c + 1]`. The first row of `common` is
    the set `set_base[0]`, its first column the set `set_base[1]`. `totals[c]` are the counts of the values of c. The
    tables of columns[k] with all larger columns follow each other from `offsets[k]`; tables of columns that are no
    partners do not change.
    """
    for k in range(columns.size):
        a = columns[k]
        sets_a, height = first_sets[a + 1] - first_sets[a], values[a] + 1
        offset, next_column = offsets[k], a + 1
        for partner in range(partners.size):
            b = partners[partner]
            if b <= a:
                continue
            while next_column < b:  # skip the tables of columns between
                offset += height * (values[next_column] + 1)
                next_column += 1
            sets_b, width = first_sets[b + 1] - first_sets[b], values[b] + 1
            table = flat[offset : offset + height * width]
            for cell in range(table.size):
                table[cell] = 0.0
            rest = rows
            for j in range(sets_b):
                rest -= totals[b, j]
            corner = rest
            for i in range(sets_a):
                common_of_value = common[first_sets[a] - set_base[0] + i]
                remainder = totals[a, i]
                for j in range(sets_b):
                    count = common_of_value[first_sets[b] - set_base[1] + j]
                    table[i * width + j] = count
                    remainder -= count
                table[i * width + sets_b] = remainder
                corner -= remainder
            for j in range(sets_b):
                remainder = totals[b, j]
                for i in range(sets_a):
                    remainder -= np.int64(table[i * width + j])
                table[sets_a * width + j] = remainder
            table[sets_a * width + sets_b] = corner


@inlined
def _increment(first: Bytes, second: Bytes, width: int, cells: NDArray[np.uint16], table: NDArray[np.uint16]) -> None:
    """Count at most `MAX_ROWS` rows in the joint table of two columns; the second has `width` codes."""
    fours = cells.view(np.uint64)
    for start in range(0, first.size, _BATCH_ROWS):
        length = min(_BATCH_ROWS, first.size - start)
        one, other = first[start : start + length], second[start : start + length]
        for row in range(length):
            cells[row] = np.uint16(one[row]) * np.uint16(width) + np.uint16(other[row])
        for four in range(length // 4):
            word = fours[four]
            table[word & _LOW_16_BITS] += np.uint16(1)
            table[(word >> np.uint64(16)) & _LOW_16_BITS] += np.uint16(1)
            table[(word >> np.uint64(32)) & _LOW_16_BITS] += np.uint16(1)
            table[word >> np.uint64(48)] += np.uint16(1)
        for row in range(length // 4 * 4, length):
            table[cells[row]] += np.uint16(1)


@compiled
def make_couple(first: Bytes, second: Bytes, width: int, couple: Bytes) -> None:
    """Fill the codes of a couple: the digit of the first column, then that of the second, which has `width` values."""
    for row in range(couple.size):
        couple[row] = first[row] * np.uint8(width) + second[row]


@inlined
def _add_pair(sums: NDArray[np.uint32], high: int, low: int, keep_high: bool, rows: int, out: FloatArray) -> None:
    """Sum a table of `rows` x (high x low) over one of the two digits, and add the sums to `out`."""
    width = high if keep_high else low
    for i in range(rows):
        for j in range(high):
            for k in range(low):
                out[i * width + (j if keep_high else k)] += sums[(i * high + j) * low + k]


@compiled
def count_couples(
    one: Bytes,
    others: NDArray[np.uint8],
    members: IntegerArray,
    partners: IntegerArray,
    sizes: IntegerArray,
    offsets: IntegerArray,
    flat: FloatArray,
) -> None:
    """Add the counts of one couple with each of the other couples, of at most `MAX_ROWS` rows.

    `members` are the two columns of the couple, `partners` (couples, 2) those of the others; -1 if there is no second
    column. `sizes` of a column is s + 1. `offsets` (couples, 4) are the starts of the tables of the pairs: first with
    first, first with second, second with first, second with second; -1 for pairs that are not wanted.
    """
    high = sizes[members[0]]
    low = sizes[members[1]] if members[1] >= 0 else 1
    cells, table = np.empty(_BATCH_ROWS, dtype=np.uint16), np.empty(MAX_CODES * MAX_CODES, dtype=np.uint16)
    sums = np.empty(MAX_CODES * MAX_CODES, dtype=np.uint32)
    for other in range(others.shape[0]):
        wanted = False
        for pair in range(4):
            wanted = wanted or offsets[other, pair] >= 0
        if not wanted:
            continue
        partner_high = sizes[partners[other, 0]]
        partner_low = sizes[partners[other, 1]] if partners[other, 1] >= 0 else 1
        width = partner_high * partner_low
        for cell in range(high * low * width):
            table[cell] = 0
        _increment(one, others[other], width, cells, table)
        for member in range(2):
            if offsets[other, 2 * member] < 0 and offsets[other, 2 * member + 1] < 0:
                continue
            kept_size, summed_size = (high, low) if member == 0 else (low, high)
            kept_stride, summed_stride = (low, 1) if member == 0 else (1, low)
            pair_sums = sums[: kept_size * width]
            for cell in range(pair_sums.size):
                pair_sums[cell] = 0
            for i in range(kept_size):
                target = pair_sums[i * width : (i + 1) * width]
                for k in range(summed_size):
                    start = (i * kept_stride + k * summed_stride) * width
                    source = table[start : start + width]
                    for cell in range(width):
                        target[cell] += source[cell]
            for pair in range(2):
                offset = offsets[other, 2 * member + pair]
                if offset >= 0:
                    _add_pair(pair_sums, partner_high, partner_low, pair == 0, kept_size, flat[offset:])
