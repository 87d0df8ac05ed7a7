"""`PairCounter`: the tables of all pairs of columns, some at a time, from the codes of the rows.

The pairs of p columns are in this order: (0, 1), (0, 2) ... (0, p - 1), (1, 2) ... `tables(first, after)` gives the
tables of the columns from `first` up to `after`, each with all larger ones. A pair's table has the values of its first
column as rows, and those of its second as columns; rows of the data that lack one of the two are its margins.

Columns of at most `_FEW` values are counted by sets of bits, others as couples, four pairs at once (see
`kernels.pairs.all_pairs`); columns of more than 255 values, and rows with weights, one pair at a time. Memory: the
codes, a bit for each row and value of the columns with few values, the tables that are asked for, 8 bytes a cell, and
at most `_ROOM` bytes of couples. `blocks` divides all pairs into parts of limited size.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.kernels.pairs import all_pairs
from credimi.kernels.words import WORD

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

    Codes = NDArray[np.unsignedinteger]

CELLS = 1 << 20  # of a block's tables
_FEW = 4  # sets of bits of a column: with more, couples are faster
_COLUMNS = 8  # a thread's share of a block
_ROOM = 1 << 26  # bytes
_FEWEST_ROWS = 1 << 12


class PairTables(ABC):
    """The tables of all pairs of columns, some at a time; `values` is how many values each column has."""

    def __init__(self, values: Sequence[int]) -> None:
        self.values = np.array(values, dtype=np.int64)
        self._widths = np.concatenate([[0], np.cumsum(self.values + 1)])

    def __len__(self) -> int:
        """How many pairs there are."""
        return self.values.size * (self.values.size - 1) // 2

    def cells(self, first: int, after: int) -> int:
        """How many cells the tables of these columns have."""
        return int(self._starts(first, after)[-1])

    def blocks(self, cells: int = CELLS) -> Iterator[tuple[int, int]]:
        """First columns of all pairs, in parts whose tables have at most so many cells, or are those of one column."""
        first = 0
        while first < self.values.size - 1:
            after = first + 1
            while after < self.values.size - 1 and self.cells(first, after + 1) <= cells:
                after += 1
            yield first, after
            first = after

    def pairs(self, first: int = 0, after: int | None = None) -> tuple[IntegerArray, IntegerArray]:
        """The numbers of the two columns of each pair, in the order of the tables."""
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
        """Where the tables of each of the columns start; and where all end."""
        columns = np.arange(first, after)
        sizes = (self.values[columns] + 1) * (self._widths[-1] - self._widths[columns + 1])
        return np.concatenate([[0], np.cumsum(sizes)])


class CountedPairs(PairTables):
    """Tables that were counted elsewhere, all in one array; counts of parts can be added."""

    def __init__(self, values: Sequence[int], flat: FloatArray) -> None:
        super().__init__(values)
        self.flat = flat

    def tables(self, first: int = 0, after: int | None = None) -> Tables:
        """The tables of the columns from `first` up to `after`, each with all larger ones; all pairs by default."""
        one, other = self.pairs(first, after)
        start, stop = self.cells(0, first), self.cells(0, self.values.size if after is None else after)
        return Tables(self.flat[start:stop], self.values[one], self.values[other])


class PairCounter(PairTables):
    """Codes of columns, made ready to count all pairs of them.

    Parameters
    ----------
    codes : sequence of arrays of unsigned integers
        The values of each column, row by row: 0 .. s - 1, and s where the value is missing.
    values : sequence of int
        The number s of values of each column.
    weights : array, optional
        What each row counts for.
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
        values: Sequence[int],
        *,
        weights: FloatArray | None = None,
        threads: int | None = None,
    ) -> None:
        if len({each.size for each in codes}) > 1:
            raise CredimiError("columns of different lengths have no pairs: pass a code for each row")
        super().__init__(values)
        self.codes = [np.ascontiguousarray(each) for each in codes]
        self.weights, self.threads = weights, threads
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
            self._count_one_by_one(one, other, flat)
        return Tables(flat, self.values[one], self.values[other])

    @cached_property
    def _are_bytes(self) -> BooleanArray:
        """Which columns have codes of a byte."""
        return np.array([each.dtype == np.uint8 for each in self.codes], dtype=bool)

    @cached_property
    def _are_few(self) -> BooleanArray:
        """Which columns have sets of bits."""
        return np.diff(self._sets[0]) > 0

    @cached_property
    def _sets(self) -> tuple[IntegerArray, NDArray[np.uint64], IntegerArray]:
        """Where each column's sets start, the sets, with four empty ones last, and how often each value occurs."""
        sizes = np.zeros(len(self.codes), dtype=np.int64)
        for column, (codes, values) in enumerate(zip(self.codes, self.values.tolist(), strict=True)):
            if codes.dtype == np.uint8 and values <= _FEW + 1:
                needed = values - (0 if (codes == values).any() else 1)  # the last value is what remains
                sizes[column] = max(needed, 1) if needed <= _FEW else 0
        starts = np.concatenate([[0], np.cumsum(sizes)])
        words = -(-self.rows // WORD)
        bits = np.zeros((int(starts[-1]) + 4, -(-words // 8) * 8), dtype=np.uint64)
        totals = np.zeros((len(self.codes), _FEW), dtype=np.int64)

        def pack(column: int) -> None:
            for value in range(int(sizes[column])):
                own = bits[starts[column] + value]
                all_pairs.pack_bits(self.codes[column], value, own)
                totals[column, value] = np.bitwise_count(own).sum(dtype=np.int64)

        share(pack, np.flatnonzero(sizes).tolist(), self.threads)
        return starts, bits, totals

    def _count_bits(self, first: int, after: int, flat: FloatArray) -> None:
        """Fill the tables of two columns of few values each."""
        few = np.flatnonzero(self._are_few)
        own = few[(few >= first) & (few < after)]
        starts, (sets, bits, totals) = self._starts(first, after), self._sets

        def count(begin: int) -> None:
            columns = own[begin : begin + _COLUMNS]
            base, end = int(sets[columns[0]]), int(sets[columns[-1] + 1])
            others = -(-(int(sets[-1]) - base) // 4) * 4
            common = np.empty((end - base, others), dtype=np.int64)
            all_pairs.count_common(bits[base:end], bits[base : base + others], common)
            partners, places = few[few > columns[0]], starts[columns - first]
            bases = np.array([base, base])
            all_pairs.fill_tables(common, sets, bases, columns, partners, self.values, totals, self.rows, places, flat)

        share(count, range(0, own.size, _COLUMNS), self.threads)

    def _couples(self, first: int) -> IntegerArray:
        """Columns of codes of a byte from `first` on, in couples, alike with alike; -1 for a second that is not there.

        Couples of few values, whose pairs among themselves are counted by bits, come last.
        """
        found: list[list[int]] = []
        columns = np.arange(first, len(self.codes))
        for few in (False, True):
            waiting = -1
            for column in columns[self._are_bytes[first:] & (self._are_few[first:] == few)].tolist():
                if waiting >= 0 and (self.values[waiting] + 1) * (self.values[column] + 1) <= all_pairs.MOST_OF_COUPLE:
                    found.append([waiting, column])
                    waiting = -1
                else:
                    found += [[waiting, -1]] if waiting >= 0 else []
                    waiting = column
            found += [[waiting, -1]] if waiting >= 0 else []
        return np.array(found, dtype=np.int64).reshape(-1, 2)

    def _count_couples(self, first: int, after: int, flat: FloatArray) -> None:
        """Add the counts of pairs of codes of a byte, unless both columns have few values."""
        if (self._are_few | ~self._are_bytes)[first:].all():
            return
        couples, few, starts = self._couples(first), self._are_few, self._starts(first, after)
        own = np.flatnonzero(((couples >= first) & (couples < after)).any(axis=1)).tolist()
        many = np.count_nonzero(~few[couples[:, 0]])  # the couples that are not of few values come first
        sizes = self.values + 1

        def places(couple: IntegerArray, others: IntegerArray) -> IntegerArray:
            one, other = np.repeat(couple, 2), np.tile(others, 2)
            wanted = (one >= first) & (one < after) & (other > one)
            start = starts[np.clip(one - first, 0, after - first)]
            found = start + sizes[one] * (self._widths[other] - self._widths[one + 1])
            return np.where(wanted, found, -1)

        length = min(all_pairs.MOST_ROWS, max(_ROOM // max(len(couples), 1), _FEWEST_ROWS))
        codes = np.empty((len(couples), min(length, self.rows)), dtype=np.uint8)
        for begin in range(0, self.rows, length):
            part = slice(begin, min(begin + length, self.rows))
            here = (
                codes if part.stop - begin == codes.shape[1] else np.empty((len(couples), part.stop - begin), np.uint8)
            )

            def join(number: int, part: slice = part, here: NDArray[np.uint8] = here) -> None:
                one, other = couples[number].tolist()
                if other < 0:
                    here[number] = self.codes[one][part]
                else:
                    first_codes, second_codes = self.codes[one][part], self.codes[other][part]
                    all_pairs.make_couple(first_codes, second_codes, int(sizes[other]), here[number])

            def count(number: int, here: NDArray[np.uint8] = here) -> None:
                start, stop = (0, len(couples)) if number < many else (0, many)
                others = couples[start:stop]
                all_pairs.count_couples(
                    here[number],
                    here[start:stop],
                    couples[number],
                    others,
                    sizes,
                    places(couples[number], others),
                    flat,
                )

            share(join, range(len(couples)), self.threads)
            share(count, own, self.threads)

    def _count_one_by_one(self, one: IntegerArray, other: IntegerArray, flat: FloatArray) -> None:
        """Count pairs with a column of more than 255 values, or, with weights, all."""
        left = ~(self._are_bytes[one] & self._are_bytes[other]) if self.weights is None else np.ones(one.size, bool)
        if not left.any():
            return
        sizes = (self.values[one] + 1) * (self.values[other] + 1)
        starts = np.cumsum(sizes) - sizes

        def count(pair: int) -> None:
            a, b = int(one[pair]), int(other[pair])
            cells = self.codes[a].astype(np.int64) * (self.values[b] + 1) + self.codes[b]
            counted = np.bincount(cells, self.weights, minlength=int(sizes[pair]))
            flat[starts[pair] : starts[pair] + sizes[pair]] = counted

        share(count, np.flatnonzero(left).tolist(), self.threads)
