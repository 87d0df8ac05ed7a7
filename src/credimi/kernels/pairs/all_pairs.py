"""Counts of every pair of columns: sets of bits for columns of few values, joint tables of couples for the others.

A column has codes 0 .. s-1, and s where its value is missing. The table of columns a and b is (s_a + 1) x (s_b + 1),
the missing counts last, as `many_tables` has it.

* **Bits.** A column of few values has a set of bits for each value, one bit a row; the last value of a complete column
  needs none. `count_common` counts what each of some sets has in common with each of others, eight words at once, four
  sets at once, and as many words as stay in the fastest cache; `fill_tables` finds the rest of each table by
  subtraction from the columns' own counts. O(N/64) a pair of sets.
* **Couples.** Two columns of more values make one couple, whose code has a digit for each. One increment a row in the
  table of two couples serves four pairs, and its sums are their counts. Its counters have 16 bits, so that at most
  `MOST_ROWS` rows are counted at once; with couples of at most `MOST_OF_COUPLE` codes they stay in the fastest cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from credimi.kernels.jit import cgutils, compiled, inlined, intrinsic, ir, types
from credimi.kernels.words import WORD, data_of, equal_bits, load

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.kernels.jit import FloatArray, IntegerArray

    Bytes = NDArray[np.uint8]
    Words = NDArray[np.uint64]

MOST_CODES = 256  # of a column, or of a couple
MOST_OF_COUPLE = 128  # two such couples have 2^14 cells, which fit into the fastest cache
MOST_ROWS = 65_535  # that a 16-bit counter can hold
_VECTOR = 8  # words that are counted at once
_AT_ONCE = 4  # sets that share a read of another
_CHUNK = 512  # words of a set that are counted before the next set is read: a multiple of `_VECTOR`
_ROWS = 1024  # rows that are numbered before they are counted
_LOW = np.uint64(0xFFFF)
_INTEGER, _INDEX = ir.IntType(64), ir.IntType(32)
_tools: Any = cgutils  # which has no types


@intrinsic
def _add_common(_typing: Any, bits: Any, others: Any, places: Any, out: Any) -> Any:
    """Add what a set has in common with four others to `out[at:]`.

    `places` are five numbers: where the set starts, and the first of the others; how far it is from one of the others
    to the next; the words, a multiple of 8; and `at`.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        bits, others, places, out = arguments
        one, other, width, words, at = (builder.extract_value(places, number) for number in range(5))
        wide = ir.VectorType(_INTEGER, _VECTOR)
        base = builder.gep(data_of(context, builder, signature.args[0], bits), [one])
        place = builder.gep(data_of(context, builder, signature.args[1], others), [other])
        kind = ir.FunctionType(wide, [wide])
        size = _tools.get_or_insert_function(builder.module, kind, f"llvm.ctpop.v{_VECTOR}i64")
        nothing = ir.Constant(wide, [0] * _VECTOR)
        sums = [_tools.alloca_once_value(builder, nothing) for _ in range(_AT_ONCE)]
        for total in sums:
            builder.store(nothing, total)  # also where this is inside a loop
        starts = [place]
        for _ in range(_AT_ONCE - 1):
            starts.append(builder.gep(starts[-1], [width]))
        with _tools.for_range_slice(builder, _INTEGER(0), words, _INTEGER(_VECTOR)) as (word, _):
            own = load(builder, builder.gep(base, [word]), wide)
            for start, total in zip(starts, sums, strict=True):
                common = builder.and_(own, load(builder, builder.gep(start, [word]), wide))
                builder.store(builder.add(builder.load(total), builder.call(size, [common])), total)
        to = builder.gep(data_of(context, builder, signature.args[3], out), [at])
        for number, total in enumerate(sums):
            lanes = builder.load(total)
            found = builder.extract_element(lanes, _INDEX(0))
            for lane in range(1, _VECTOR):
                found = builder.add(found, builder.extract_element(lanes, _INDEX(lane)))
            entry = builder.gep(to, [_INTEGER(number)])
            builder.store(builder.add(builder.load(entry), found), entry)
        return context.get_dummy_value()

    return types.void(bits, others, places, out), generate


@compiled
def pack_bits(codes: Bytes, value: int, words: Words) -> None:
    """Fill the set of rows that have the value; `words` has room for all rows, and 0 behind them."""
    full = codes.size // WORD
    for word in range(words.size):
        words[word] = equal_bits(codes, word, np.uint8(value)) if word < full else np.uint64(0)
    for row in range(full * WORD, codes.size):
        if codes[row] == value:
            words[full] |= np.uint64(1) << np.uint64(row - full * WORD)


@compiled
def count_common(sets: Words, others: Words, common: IntegerArray) -> None:
    """Fill the sizes of the intersections, (sets, others); both have the same number of words, a multiple of 8.

    The number of others is a multiple of 4: some of them may be empty.
    """
    words = sets.shape[1]
    flat, partners, out = sets.reshape(sets.size), others.reshape(others.size), common.reshape(common.size)
    for entry in range(out.size):
        out[entry] = 0
    for start in range(0, words, _CHUNK):
        length = min(_CHUNK, words - start)
        for other in range(0, others.shape[0], _AT_ONCE):
            for each in range(sets.shape[0]):
                at = each * others.shape[0] + other
                _add_common(flat, partners, (each * words + start, other * words + start, words, length, at), out)


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
    """Fill the tables of each of the columns with each of its partners, which have larger numbers.

    Column c has its sets from `first_sets[c]` up to `first_sets[c + 1]`; the first of the rows and of the columns of
    `common` are those of number `set_base[0]` and `set_base[1]`. `totals[c]` is how often each value of c occurs. The
    tables of columns[k] with all larger columns follow each other from `offsets[k]`; those of other partners are left
    as they are.
    """
    for k in range(columns.size):
        a = columns[k]
        of_a, down = first_sets[a + 1] - first_sets[a], values[a] + 1
        place, after = offsets[k], a + 1
        for partner in range(partners.size):
            b = partners[partner]
            if b <= a:
                continue
            while after < b:  # pass over the tables of others
                place += down * (values[after] + 1)
                after += 1
            of_b, across = first_sets[b + 1] - first_sets[b], values[b] + 1
            table = flat[place : place + down * across]
            for cell in range(table.size):
                table[cell] = 0.0
            rest = rows
            for j in range(of_b):
                rest -= totals[b, j]
            corner = rest
            for i in range(of_a):
                found = common[first_sets[a] - set_base[0] + i]
                left = totals[a, i]
                for j in range(of_b):
                    size = found[first_sets[b] - set_base[1] + j]
                    table[i * across + j] = size
                    left -= size
                table[i * across + of_b] = left
                corner -= left
            for j in range(of_b):
                left = totals[b, j]
                for i in range(of_a):
                    left -= np.int64(table[i * across + j])
                table[of_a * across + j] = left
            table[of_a * across + of_b] = corner


@inlined
def _increment(first: Bytes, second: Bytes, width: int, cells: NDArray[np.uint16], table: NDArray[np.uint16]) -> None:
    """Count rows, at most `MOST_ROWS`, in the joint table of two columns of codes, the second of which has `width`."""
    fours = cells.view(np.uint64)
    for start in range(0, first.size, _ROWS):
        length = min(_ROWS, first.size - start)
        one, other = first[start : start + length], second[start : start + length]
        for row in range(length):
            cells[row] = np.uint16(one[row]) * np.uint16(width) + np.uint16(other[row])
        for four in range(length // 4):
            word = fours[four]
            table[word & _LOW] += np.uint16(1)
            table[(word >> np.uint64(16)) & _LOW] += np.uint16(1)
            table[(word >> np.uint64(32)) & _LOW] += np.uint16(1)
            table[word >> np.uint64(48)] += np.uint16(1)
        for row in range(length // 4 * 4, length):
            table[cells[row]] += np.uint16(1)


@compiled
def make_couple(first: Bytes, second: Bytes, width: int, couple: Bytes) -> None:
    """Fill the codes of a couple: the digit of the first, and that of the second, which has `width` values."""
    for row in range(couple.size):
        couple[row] = first[row] * np.uint8(width) + second[row]


@inlined
def _add_pair(sums: NDArray[np.uint32], high: int, low: int, keep_high: bool, rows: int, out: FloatArray) -> None:
    """Add the table of `rows` x (high x low) to that of rows with one of the two digits, summed over the other."""
    across = high if keep_high else low
    for i in range(rows):
        for j in range(high):
            for k in range(low):
                out[i * across + (j if keep_high else k)] += sums[(i * high + j) * low + k]


@compiled
def count_couples(
    one: Bytes,
    others: NDArray[np.uint8],
    members: IntegerArray,
    partners: IntegerArray,
    sizes: IntegerArray,
    places: IntegerArray,
    flat: FloatArray,
) -> None:
    """Add the counts of one couple with each of others.

    `members` are the two columns of the couple, `partners` (couples, 2) those of the others, -1 for one that is not
    there. `sizes` of a column is s + 1. `places` (couples, 4) is where the tables of the pairs start: first with first,
    first with second, second with first, second with second; -1 for pairs that are not wanted. The rows are at most
    `MOST_ROWS`.
    """
    high = sizes[members[0]]
    low = sizes[members[1]] if members[1] >= 0 else 1
    cells, table = np.empty(_ROWS, dtype=np.uint16), np.empty(MOST_CODES * MOST_CODES, dtype=np.uint16)
    sums = np.empty(MOST_CODES * MOST_CODES, dtype=np.uint32)
    for other in range(others.shape[0]):
        wanted = False
        for pair in range(4):
            wanted = wanted or places[other, pair] >= 0
        if not wanted:
            continue
        left = sizes[partners[other, 0]]
        right = sizes[partners[other, 1]] if partners[other, 1] >= 0 else 1
        width = left * right
        for cell in range(high * low * width):
            table[cell] = 0
        _increment(one, others[other], width, cells, table)
        for member in range(2):
            if places[other, 2 * member] < 0 and places[other, 2 * member + 1] < 0:
                continue
            kept, summed = (high, low) if member == 0 else (low, high)
            along, down = (low, 1) if member == 0 else (1, low)  # from one kept digit to the next, and of the other
            part = sums[: kept * width]
            for cell in range(part.size):
                part[cell] = 0
            for i in range(kept):
                target = part[i * width : (i + 1) * width]
                for k in range(summed):
                    start = (i * along + k * down) * width
                    source = table[start : start + width]
                    for cell in range(width):
                        target[cell] += source[cell]
            for pair in range(2):
                place = places[other, 2 * member + pair]
                if place >= 0:
                    _add_pair(part, left, right, pair == 0, kept, flat[place:])
