"""`PairCounter`: the tables of all pairs of columns, some at a time, from the codes of the rows.

The pairs of p columns are in this order: (0, 1), (0, 2) ... (0, p - 1), (1, 2) ... `tables(first, after)` gives the
tables of the columns from `first` up to `after`, each with all larger ones. A pair's table has the values of its first
column as rows, and those of its second as columns; rows of the data that lack one of the two are its margins.

Columns of few values, at most `_MAX_BIT_SETS`, are counted by sets of bits, others as couples, four pairs at once (see
`counts.rows.all_pairs`); columns of more than 255 values, and rows with weights, one pair at a time. Memory: the
codes, one bit for each row and value of the columns with few values, the requested tables, 8 bytes per cell, and at
most `_COUPLE_BYTES` bytes of couples. `blocks` divides all pairs into parts of limited size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.compile.words import WORD
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.counts.rows import all_pairs
from credimi.counts.survey.survey_rows import scaled

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

    Codes = NDArray[np.unsignedinteger]

CELLS = 1 << 20  # of all tables of a block
_MAX_BIT_SETS = 4  # of a column; with more sets, couples are faster
_COLUMNS_PER_TASK = 8  # of a block
_COUPLE_BYTES = 1 << 26  # bytes
_MIN_ROWS_PER_PART = 1 << 12


class PairTables(ABC):
    """The tables of all pairs of columns, some at a time; `values` has the number of values of each column."""

    def __init__(self, values: Sequence[int] | IntegerArray) -> None:
        self.values = np.array(values, dtype=np.int64)
        self._widths = np.concatenate([[0], np.cumsum(self.values + 1)])

    def __len__(self) -> int:
        """The number of pairs."""
        return self.values.size * (self.values.size - 1) // 2

    def cells(self, first: int, after: int) -> int:
        """The number of cells of the tables of the columns from `first` up to `after`."""
        return int(self._starts(first, after)[-1])

    def blocks(self, cells: int = CELLS) -> Iterator[tuple[int, int]]:
        """Ranges of first columns that together make all pairs.

        The tables of a range have at most `cells` cells, unless the range is a single column.
        """
        first = 0
        while first < self.values.size - 1:
            after = first + 1
            while after < self.values.size - 1 and self.cells(first, after + 1) <= cells:
                after += 1
            yield first, after
            first = after

    def pairs(self, first: int = 0, after: int | None = None) -> tuple[IntegerArray, IntegerArray]:
        """The indices of the two columns of each pair, in the order of the tables."""
        count = self.values.size
        firsts = np.arange(first, count if after is None else after)
        one = np.repeat(firsts, count - 1 - firsts)
        starts = np.cumsum(count - 1 - firsts) - (count - 1 - firsts)
        other = np.arange(one.size) - np.repeat(starts, count - 1 - firsts) + one + 1
        return one, other

    @abstractmethod
    def tables(self, first: int = 0, after: int | None = None) -> Tables:
        """The tables of the columns from `first` up to `after`, each with all larger ones; all pairs by default."""

    def _starts(self, first: int, after: int) -> IntegerArray:
        """Where the tables of each of these columns start, and where the last ends."""
        columns = np.arange(first, after)
        sizes = (self.values[columns] + 1) * (self._widths[-1] - self._widths[columns + 1])
        return np.concatenate([[0], np.cumsum(sizes)])


class CountedPairs(PairTables):
    """Tables that were counted elsewhere, all in one array; counts of parts can be added."""

    def __init__(self, values: Sequence[int] | IntegerArray, flat: FloatArray) -> None:
        super().__init__(values)
        self.flat = flat

    def tables(self, first: int = 0, after: int | None = None) -> Tables:
        """The tables of the columns from `first` up to `after`, each with all larger ones; all pairs by default."""
        one, other = self.pairs(first, after)
        start, stop = self.cells(0, first), self.cells(0, self.values.size if after is None else after)
        return Tables(self.flat[start:stop], self.values[one], self.values[other])


class PairCounter(PairTables):
    """Counts all pairs of columns, whose codes are prepared once.

    Parameters
    ----------
    codes : sequence of arrays of unsigned integers
        The values of each column, row by row: 0 .. s - 1, and s where the value is missing.
    values : sequence of int
        The number s of values of each column.
    weights : array, optional
        What each row counts for.
    is_survey : bool
        Whether these are survey weights: then each table is scaled to as many rows as it is worth.
    threads : int, optional
        Default: all cores.

    Examples
    --------
    >>> counter = PairCounter([np.array([0, 0, 1, 2], dtype=np.uint8), np.array([0, 1, 1, 1], dtype=np.uint8)], [2, 2])
    >>> counter.tables().block(0)
    array([[1., 1., 0.],
           [0., 1., 0.],
           [0., 1., 0.]])
    """

    def __init__(
        self,
        codes: Sequence[Codes],
        values: Sequence[int] | IntegerArray,
        *,
        weights: FloatArray | None = None,
        is_survey: bool = False,
        threads: int | None = None,
    ) -> None:
        if len({column_codes.size for column_codes in codes}) > 1:
            raise CredimiError("columns of different lengths have no pairs: pass a code for each row")
        super().__init__(values)
        self.codes = [np.ascontiguousarray(column_codes) for column_codes in codes]
        self.weights, self.is_survey, self.threads = weights, is_survey, threads
        self.rows = self.codes[0].size if self.codes else 0

    def tables(self, first: int = 0, after: int | None = None) -> Tables:
        """The tables of the columns from `first` up to `after`, each with all larger ones; all pairs by default."""
        last = len(self.codes) if after is None else after
        one, other = self.pairs(first, last)
        flat = np.zeros(self.cells(first, last))
        if one.size and self.rows:
            if self.weights is None:
                self._count_bits(first, last, flat)
                self._count_couples(first, last, flat)
            self._count_one_by_one(one, other, flat, self.weights)
        tables = Tables(flat, self.values[one], self.values[other])
        if not (self.is_survey and self.weights is not None and one.size and self.rows):
            return tables
        squares = np.zeros_like(flat)
        self._count_one_by_one(one, other, squares, self.weights**2)
        return scaled(tables, squares)

    @cached_property
    def _are_bytes(self) -> BooleanArray:
        """Which columns have codes of one byte."""
        return np.array([column_codes.dtype == np.uint8 for column_codes in self.codes], dtype=bool)

    @cached_property
    def _have_bit_sets(self) -> BooleanArray:
        """Which columns have sets of bits."""
        return np.diff(self._sets[0]) > 0

    @cached_property
    def _sets(self) -> tuple[IntegerArray, NDArray[np.uint64], IntegerArray]:
        """Where the sets of each column start; the sets, followed by four empty ones; how often each value occurs."""
        sizes = np.zeros(len(self.codes), dtype=np.int64)
        for column, (codes, values) in enumerate(zip(self.codes, self.values.tolist(), strict=True)):
            if codes.dtype == np.uint8 and values <= _MAX_BIT_SETS + 1:
                # Without missing values, the last value is what remains.
                needed = values - (0 if (codes == values).any() else 1)
                sizes[column] = max(needed, 1) if needed <= _MAX_BIT_SETS else 0
        starts = np.concatenate([[0], np.cumsum(sizes)])
        words = -(-self.rows // WORD)
        bits = np.zeros((int(starts[-1]) + 4, -(-words // 8) * 8), dtype=np.uint64)
        totals = np.zeros((len(self.codes), _MAX_BIT_SETS), dtype=np.int64)

        def pack(column: int) -> None:
            for value in range(int(sizes[column])):
                column_bits = bits[starts[column] + value]
                all_pairs.pack_bits(self.codes[column], value, column_bits)
                totals[column, value] = np.bitwise_count(column_bits).sum(dtype=np.int64)

        share(pack, np.flatnonzero(sizes).tolist(), self.threads)
        return starts, bits, totals

    def _count_bits(self, first: int, after: int, flat: FloatArray) -> None:
        """Fill the tables of pairs in which both columns have sets of bits."""
        bit_columns = np.flatnonzero(self._have_bit_sets)
        first_columns = bit_columns[(bit_columns >= first) & (bit_columns < after)]
        starts, (sets, bits, totals) = self._starts(first, after), self._sets

        def count(begin: int) -> None:
            columns = first_columns[begin : begin + _COLUMNS_PER_TASK]
            base, end = int(sets[columns[0]]), int(sets[columns[-1] + 1])
            others = -(-(int(sets[-1]) - base) // 4) * 4
            common = np.empty((end - base, others), dtype=np.int64)
            all_pairs.count_common(bits[base:end], bits[base : base + others], common)
            partners, table_starts = bit_columns[bit_columns > columns[0]], starts[columns - first]
            bases = np.array([base, base])
            all_pairs.fill_tables(
                common, sets, bases, columns, partners, self.values, totals, self.rows, table_starts, flat
            )

        share(count, range(0, first_columns.size, _COLUMNS_PER_TASK), self.threads)

    def _couples(self, first: int) -> IntegerArray:
        """The columns from `first` on that have codes of one byte, in couples; -1 if a column has no partner.

        Both columns of a couple have sets of bits, or none of them. Couples with sets of bits come last; pairs of such
        columns are counted by `_count_bits`.
        """
        couples: list[list[int]] = []
        columns = np.arange(first, len(self.codes))
        for bit_sets in (False, True):
            partnerless = -1
            for column in columns[self._are_bytes[first:] & (self._have_bit_sets[first:] == bit_sets)].tolist():
                if (
                    partnerless >= 0
                    and (self.values[partnerless] + 1) * (self.values[column] + 1) <= all_pairs.MAX_COUPLE_CODES
                ):
                    couples.append([partnerless, column])
                    partnerless = -1
                else:
                    couples += [[partnerless, -1]] if partnerless >= 0 else []
                    partnerless = column
            couples += [[partnerless, -1]] if partnerless >= 0 else []
        return np.array(couples, dtype=np.int64).reshape(-1, 2)

    def _count_couples(self, first: int, after: int, flat: FloatArray) -> None:
        """Add the counts of pairs with codes of one byte, unless both columns have sets of bits."""
        if (self._have_bit_sets | ~self._are_bytes)[first:].all():
            return
        couples, have_bit_sets, starts = self._couples(first), self._have_bit_sets, self._starts(first, after)
        first_couples = np.flatnonzero(((couples >= first) & (couples < after)).any(axis=1)).tolist()
        without_sets = np.count_nonzero(~have_bit_sets[couples[:, 0]])  # they come first
        sizes = self.values + 1

        def table_starts(couple: IntegerArray, others: IntegerArray) -> IntegerArray:
            one, other = np.repeat(couple, 2), np.tile(others, 2)
            is_counted = (one >= first) & (one < after) & (other > one)
            start = starts[np.clip(one - first, 0, after - first)]
            table_start = start + sizes[one] * (self._widths[other] - self._widths[one + 1])
            return np.where(is_counted, table_start, -1)

        length = min(all_pairs.MAX_ROWS, max(_COUPLE_BYTES // max(len(couples), 1), _MIN_ROWS_PER_PART))
        codes = np.empty((len(couples), min(length, self.rows)), dtype=np.uint8)
        for begin in range(0, self.rows, length):
            part = slice(begin, min(begin + length, self.rows))
            part_codes = (
                codes if part.stop - begin == codes.shape[1] else np.empty((len(couples), part.stop - begin), np.uint8)
            )

            def join(index: int, part: slice = part, part_codes: NDArray[np.uint8] = part_codes) -> None:
                one, other = couples[index].tolist()
                if other < 0:
                    part_codes[index] = self.codes[one][part]
                else:
                    first_codes, second_codes = self.codes[one][part], self.codes[other][part]
                    all_pairs.make_couple(first_codes, second_codes, int(sizes[other]), part_codes[index])

            def count(index: int, part_codes: NDArray[np.uint8] = part_codes) -> None:
                start, stop = (0, len(couples)) if index < without_sets else (0, without_sets)
                others = couples[start:stop]
                all_pairs.count_couples(
                    part_codes[index],
                    part_codes[start:stop],
                    couples[index],
                    others,
                    sizes,
                    table_starts(couples[index], others),
                    flat,
                )

            share(join, range(len(couples)), self.threads)
            share(count, first_couples, self.threads)

    def _count_one_by_one(
        self, one: IntegerArray, other: IntegerArray, flat: FloatArray, weights: FloatArray | None
    ) -> None:
        """Count the pairs with a column of more than 255 values; with weights, all pairs."""
        is_counted = ~(self._are_bytes[one] & self._are_bytes[other]) if weights is None else np.ones(one.size, bool)
        if not is_counted.any():
            return
        sizes = (self.values[one] + 1) * (self.values[other] + 1)
        starts = np.cumsum(sizes) - sizes

        def count(pair: int) -> None:
            a, b = int(one[pair]), int(other[pair])
            cells = self.codes[a].astype(np.int64) * (self.values[b] + 1) + self.codes[b]
            counted = np.bincount(cells, weights, minlength=int(sizes[pair]))
            flat[starts[pair] : starts[pair] + sizes[pair]] = counted

        share(count, np.flatnonzero(is_counted).tolist(), self.threads)
