"""`PairProducts`: counts of all pairs of columns as products of one-hot matrices, block by block, on a GPU.

A column of s values has s one-hot rows, 1 where a row of the data has the value, 0 where it has another or none. The
product of the one-hot rows of two columns has the counts of the complete rows of their table. All else remains:
column totals less these counts are the rows that lack the other column. A complete column needs no one-hot row for its
last value, which saves 1 - ((s - 1)/s)^2 of the product.

Products are made of two blocks of columns at a time, each pair of columns once, and added up over parts of the rows
where these do not fit. Blocks are as large as the memory allows, and become smaller where it does not suffice after
all. The codes stay on the device if they take no more than half of its memory; otherwise those of a block are sent
again when they are needed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.gpu.layout import Block, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import Foreign, IntegerArray
    from credimi.gpu.layout import Device

    Codes = NDArray[np.unsignedinteger]
    Result = TypeVar("Result")

MOST_VALUES = 255  # of a column: a code has one byte
_MOST_ROWS = 2**31 - 1  # a sum has 32 bits
ALIGNED = 128  # rows of a part, so that products are fast
_MOST_ONE_HOT = 8192  # one-hot rows of a block: larger products are not faster
_NEEDED = 2  # one-hot matrices of a product
_KEPT = 0.3  # of the free memory that kept one-hot rows may have
_IN_ORDER = 1 << 23  # pairs of a block in order: their figures are brought while those of the next are computed
_SHARE = 0.6  # of the free memory that is planned with
_FEWEST_ROWS = 1 << 16  # of the data in a part, before blocks of columns become smaller instead


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """The product of two blocks of columns. A pair's number is (place in the first) * size of the second + place."""

    first: Block
    second: Block
    product: Foreign
    rows: int
    device: Device

    @property
    def size(self) -> int:
        """How many pairs there are."""
        first, second = self.first, self.second
        if second.start >= first.stop:
            return first.values.size * second.values.size
        return int(self.numbers().size)

    def numbers(self) -> IntegerArray:
        """The numbers of all pairs whose second column comes later."""
        one, other = np.arange(self.first.start, self.first.stop), np.arange(self.second.start, self.second.stop)
        return np.flatnonzero((one[:, np.newaxis] < other).ravel())

    def columns(self, numbers: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
        """The two columns of pairs."""
        first, second = np.divmod(numbers, self.second.values.size)
        return first + self.first.start, second + self.second.start

    def tables(self, numbers: IntegerArray) -> Tables:
        """The tables of pairs, with the missing counts last, in the memory of the CPU."""
        one, other = np.divmod(numbers, self.second.values.size)
        rows, columns = self.first.values[one].astype(np.int64), self.second.values[other].astype(np.int64)
        kinds = np.stack([rows, columns, self.first.kept[one], self.second.kept[other]])
        sizes = (rows + 1) * (columns + 1)
        starts = np.cumsum(sizes) - sizes
        flat = np.empty(int(sizes.sum()))
        for kind in np.unique(kinds, axis=1).T:
            own = np.flatnonzero((kinds == kind[:, np.newaxis]).all(axis=0))
            cells = self._blocks(one[own], other[own], tuple(kind.tolist())).reshape(own.size, -1)
            flat[starts[own][:, np.newaxis] + np.arange(cells.shape[1])] = cells
        return Tables(flat, rows, columns)

    def _blocks(self, one: IntegerArray, other: IntegerArray, kind: tuple[int, int, int, int]) -> IntegerArray:
        """Tables of one shape and as many one-hot rows kept, (pairs, r + 1, s + 1)."""
        xp, (r, s, kept_rows, kept_columns) = self.device.xp, kind
        of_rows, of_columns = (
            self.first.on_device[3][xp.asarray(one), :r],
            self.second.on_device[3][xp.asarray(other), :s],
        )
        at_rows = xp.asarray(self.first.first[one][:, np.newaxis] + np.arange(kept_rows))
        at_columns = xp.asarray(self.second.first[other][:, np.newaxis] + np.arange(kept_columns))
        found = xp.zeros((one.size, r + 1, s + 1), dtype=np.int64)
        cells = found[:, :r, :s]
        cells[:, :kept_rows, :kept_columns] = self.product[at_rows[:, :, np.newaxis], at_columns[:, np.newaxis, :]]
        if kept_columns < s:
            cells[:, :kept_rows, -1] = of_rows[:, :kept_rows] - cells[:, :kept_rows, :-1].sum(axis=2)
        if kept_rows < r:
            cells[:, -1] = of_columns - cells[:, :-1].sum(axis=1)
        found[:, :r, s] = of_rows - cells.sum(axis=2)
        found[:, r, :s] = of_columns - cells.sum(axis=1)
        found[:, r, s] = self.rows - found.sum(axis=(1, 2))
        counted: IntegerArray = self.device.to_host(found)
        return counted


class PairProducts:
    """Codes of columns on a device, made ready to count all pairs of them.

    Parameters
    ----------
    codes : sequence of arrays of bytes
        The values of each column, row by row: 0 .. s - 1, and s where the value is missing.
    values : sequence of int
        The number s of values of each column.
    device : CupyDevice or NumpyDevice
        Where the products are made.
    groups : sequence of slices, optional
        Parts of the rows, each with a product of its own: those of one class, say. They start and end at multiples of
        `ALIGNED`; what is not a row of the data has the code 255.
    rows : int, optional
        How many rows there are, if codes were added for the groups.

    Examples
    --------
    >>> from credimi.gpu.numpy_device import NumpyDevice
    >>> codes = [np.array([0, 0, 1, 2], dtype=np.uint8), np.array([0, 1, 1, 1], dtype=np.uint8)]
    >>> counter = PairProducts(codes, [2, 2], NumpyDevice())
    >>> for tables in counter.map(lambda block: block.tables(block.numbers())):
    ...     print(tables.block(0))
    [[1. 1. 0.]
     [0. 1. 0.]
     [0. 1. 0.]]
    """

    def __init__(
        self,
        codes: Sequence[Codes],
        values: Sequence[int],
        device: Device,
        *,
        groups: Sequence[slice] | None = None,
        rows: int | None = None,
    ) -> None:
        self.device, self.codes = device, list(codes)
        self.values = np.array(values, dtype=np.int32)
        length = self.codes[0].size if self.codes else 0
        self.rows = length if rows is None else rows
        if self.values.size and self.values.max() > MOST_VALUES:
            column = int(self.values.argmax())
            raise CredimiError(
                f"column number {column + 1} has {self.values[column]} values, but engine='gpu' takes columns of up to "
                f"{MOST_VALUES}: leave it out, or use engine='cpu'"
            )
        if self.rows > _MOST_ROWS:
            raise CredimiError(f"engine='gpu' counts up to {_MOST_ROWS:,} rows, not {self.rows:,}: use engine='cpu'")
        self.width = -(-max(length, 1) // ALIGNED) * ALIGNED
        self._groups = groups
        self._resident: Foreign = None
        self._totals, self._kept = self._look_at_columns()
        self._most_kept = int(_KEPT * self.device.free_bytes())
        self._hot: OrderedDict[tuple[int, int, int, int], Foreign] = OrderedDict()

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.codes) * (len(self.codes) - 1) // 2

    def map(
        self, work: Callable[[PairBlock], Result], bytes_a_pair: int = 0, *, in_order: bool = False
    ) -> Iterator[Result]:
        """The results of the work on the products of all blocks.

        `bytes_a_pair` is how much memory the work takes. Where it is not enough, the block is cut, and the work on its
        parts is done anew; so it should not keep anything outside of its result. If pairs are wanted `in_order`, a
        block has all later columns as its second ones, so that its pairs follow each other, as far as memory allows.
        """
        side, part = self._plan(bytes_a_pair, in_order=in_order)
        waiting = self._blocks(side, in_order=in_order)
        while waiting:
            block = a, a_stop, b, b_stop = waiting.pop()
            longest = max(a_stop - a, b_stop - b)
            if (a_stop - a if in_order else longest) > side:
                waiting += _parts(*block, in_order=in_order)
                continue
            try:
                result = work(self._block(slice(a, a_stop), slice(b, b_stop), part))
            except self.device.out_of_memory as error:
                if self._forget_one_hot():  # perhaps that was all that was in the way
                    waiting.append(block)
                    continue
                if longest == 1 and part == ALIGNED:
                    raise CredimiError(
                        "the GPU has too little memory for the counts of one pair of columns: free some of it, or use "
                        "engine='cpu'"
                    ) from error
                in_order = in_order and a_stop - a > 1  # of one column the later ones are too many: cut these
                side = max((a_stop - a if in_order else longest) // 2, 1)
                part = max(part // 2 // ALIGNED * ALIGNED, ALIGNED)
                waiting.append(block)
                continue
            yield result
        self._hot.clear()

    def _blocks(self, side: int, *, in_order: bool) -> list[tuple[int, int, int, int]]:
        """Blocks of columns whose pairs are all pairs, last first."""
        count = len(self.codes)
        starts = range(0, count, side)
        if in_order:
            blocks = [(a, min(a + side, count), a, count) for a in starts]
        else:
            blocks = [(a, min(a + side, count), b, min(b + side, count)) for a in starts for b in starts if b >= a]
        return [each for each in reversed(blocks) if _has_pairs(each[0], each[3])]

    def _look_at_columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """How often each value of each column occurs, and how many one-hot rows the column needs."""
        count = len(self.codes)
        fits = count * self.width <= 0.5 * self.device.free_bytes()
        at_once = max(1, min(count, int(0.25 * self.device.free_bytes()) // self.width))
        most = int(self.values.max(initial=1))
        totals = np.zeros((count, most), dtype=np.int32)
        if fits and count:
            self._resident = self.device.upload(self.codes, self.width)
            totals = self.device.to_host(self.device.count_values(self._resident, self.values, most))
        else:
            for start in range(0, count, at_once):
                own = slice(start, min(start + at_once, count))
                codes = self.device.upload(self.codes[own], self.width)
                totals[own] = self.device.to_host(self.device.count_values(codes, self.values[own], most))
        complete = totals.sum(axis=1, dtype=np.int64) == self.rows
        return totals, np.where(complete, np.maximum(self.values - 1, 1), self.values).astype(np.int32)

    def _plan(self, bytes_a_pair: int, *, in_order: bool) -> tuple[int, int]:
        """How many columns a block has, and how many rows of the data a part."""
        memory, kept = _SHARE * self.device.free_bytes(), int(self._kept.max(initial=1))
        side, part = max(1, min(len(self.codes), _MOST_ONE_HOT // kept)), self.width
        if in_order:
            side = min(side, max(_IN_ORDER // max(len(self.codes), 1), 64))

        def needed() -> int:
            codes = 0 if self._resident is not None else 2 * side * self.width  # of two blocks
            products = 4 * kept * kept * len(self._groups or (None,))
            other = len(self.codes) if in_order else side
            return codes + (side + other) * kept * part + side * other * (products + bytes_a_pair)

        while needed() > memory and (side > 1 or part > ALIGNED):
            if part > _FEWEST_ROWS and 2 * side * kept * part > 0.5 * memory:
                part = -(-part // 2 // ALIGNED) * ALIGNED
            elif side > 1:
                side = -(-side // 2)
            else:
                part = -(-part // 2 // ALIGNED) * ALIGNED
        return side, part

    def _block(self, first: slice, second: slice, part: int) -> PairBlock:
        """The product of two blocks of columns."""
        one = self._columns(first)
        other = one if second == first else self._columns(second)
        groups = self._groups or [slice(0, self.width)]
        size = len(groups), padded(int(one.kept.sum())), padded(int(other.kept.sum()))
        products = self.device.xp.zeros(size, dtype=np.int32)
        for group, product in zip(groups, products, strict=True):
            for start in range(group.start, group.stop, part):
                rows = slice(start, min(start + part, group.stop))
                left = self._one_hot(one, rows)
                right = left if other is one else self._one_hot(other, rows)
                self.device.multiply(left, right, product)
        return PairBlock(one, other, products[0] if self._groups is None else products, self.rows, self.device)

    def _columns(self, own: slice) -> Block:
        xp, kept = self.device.xp, self._kept[own]
        values, first = self.values[own], (np.cumsum(kept) - kept).astype(np.int32)
        on_device = tuple(xp.asarray(each) for each in (first, values, kept, self._totals[own]))
        return Block(own.start, values, first, kept, on_device)

    def _one_hot(self, block: Block, rows: slice) -> Foreign:
        """The one-hot rows of a block; they are kept while there is room for them."""
        key = block.start, block.stop, rows.start, rows.stop
        if key in self._hot:
            self._hot.move_to_end(key)
            return self._hot[key]
        own = slice(block.start, block.stop)
        codes = self._resident[own] if self._resident is not None else self.device.upload(self.codes[own], self.width)
        hot = self.device.one_hot(codes, rows, block.kept)
        self._hot[key] = hot
        while len(self._hot) > _NEEDED and sum(each.nbytes for each in self._hot.values()) > self._most_kept:
            self._hot.popitem(last=False)
        return hot

    def _forget_one_hot(self) -> bool:
        """Forget all one-hot rows, and keep less of them from now on; False if there were none but those needed."""
        some = len(self._hot) > _NEEDED
        self._most_kept = sum(each.nbytes for each in self._hot.values()) // 2
        self._hot.clear()
        return some


def _has_pairs(a: int, b_stop: int) -> bool:
    """Whether some column of the first block, which starts at a, comes before one of the second."""
    return a < b_stop - 1


def _parts(a: int, a_stop: int, b: int, b_stop: int, *, in_order: bool) -> list[tuple[int, int, int, int]]:
    """The four parts of a block, last first, without those that have no pair; two if pairs are to stay in order."""
    a_middle, b_middle = -(-(a + a_stop) // 2), -(-(b + b_stop) // 2)
    if in_order:
        parts = [(a_middle, a_stop, max(b, a_middle), b_stop), (a, a_middle, b, b_stop)]
    else:
        parts = [
            (top, bottom, left, right)
            for top, bottom in ((a_middle, a_stop), (a, a_middle))
            for left, right in ((b_middle, b_stop), (b, b_middle))
        ]
    return [each for each in parts if each[0] < each[1] and each[2] < each[3] and _has_pairs(each[0], each[3])]
