"""`PairProducts`: counts of all pairs of columns as products of one-hot matrices, block by block, on a GPU.

A column of s values has s one-hot rows: 1 where a row of the data has the value, 0 where it has another value or none.
The product of the one-hot rows of two columns has the counts of the complete rows of their table. The rest follows:
the column totals minus these counts are the rows in which the other column is missing. A column without missing values
needs no one-hot row for its last value, which saves 1 - ((s - 1)/s)^2 of the product.

Each product is computed for two blocks of columns, and each pair of columns once. If the rows do not fit into memory,
products of parts of the rows are added up. Blocks are as large as the memory allows, and become smaller if it turns out
not to be enough. The codes stay on the device if they take no more than half of its memory; otherwise the codes of a
block are sent again when they are needed.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.questions.pairs.gpu.layout import Block, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import Foreign, IntegerArray
    from credimi.questions.pairs.gpu.layout import Device

    Codes = NDArray[np.unsignedinteger]
    Result = TypeVar("Result")

MAX_VALUES = 255  # of a column, as a code has one byte
_MAX_ROWS = 2**31 - 1  # as a sum has 32 bits
ALIGNED = 128  # parts have a multiple of so many rows, so that products are fast
_MAX_ONE_HOT_ROWS = 8192  # of a block; larger products are not faster
_MATRICES_PER_PRODUCT = 2
_CACHE_SHARE = 0.3  # the maximum share of the free memory for cached one-hot rows
_MAX_PAIRS_IN_ORDER = 1 << 23  # of a block; its figures are fetched while those of the next are computed
_MEMORY_SHARE = 0.6  # the share of the free memory that a plan uses
_MIN_ROWS_PER_PART = 1 << 16  # parts are not made smaller than this; blocks of columns are made smaller instead


@dataclass(frozen=True, slots=True, eq=False)
class PairBlock:
    """The product of two blocks of columns.

    The number of a pair is (index in the first block) * (size of the second block) + (index in the second block).
    """

    first: Block
    second: Block
    product: Foreign
    rows: int
    device: Device

    @property
    def size(self) -> int:
        """The number of pairs."""
        first, second = self.first, self.second
        if second.start >= first.stop:
            return first.values.size * second.values.size
        return int(self.numbers().size)

    def numbers(self) -> IntegerArray:
        """The numbers of all pairs whose second column comes after the first."""
        one, other = np.arange(self.first.start, self.first.stop), np.arange(self.second.start, self.second.stop)
        return np.flatnonzero((one[:, np.newaxis] < other).ravel())

    def columns(self, numbers: IntegerArray) -> tuple[IntegerArray, IntegerArray]:
        """The indices of the two columns of these pairs."""
        first, second = np.divmod(numbers, self.second.values.size)
        return first + self.first.start, second + self.second.start

    def tables(self, numbers: IntegerArray) -> Tables:
        """The tables of these pairs, with the missing counts last, in the memory of the CPU."""
        one, other = np.divmod(numbers, self.second.values.size)
        rows, columns = self.first.values[one].astype(np.int64), self.second.values[other].astype(np.int64)
        kinds = np.stack([rows, columns, self.first.kept[one], self.second.kept[other]])
        sizes = (rows + 1) * (columns + 1)
        starts = np.cumsum(sizes) - sizes
        flat = np.empty(int(sizes.sum()))
        for kind in np.unique(kinds, axis=1).T:
            same_kind = np.flatnonzero((kinds == kind[:, np.newaxis]).all(axis=0))
            cells = self._blocks(one[same_kind], other[same_kind], tuple(kind.tolist())).reshape(same_kind.size, -1)
            flat[starts[same_kind][:, np.newaxis] + np.arange(cells.shape[1])] = cells
        return Tables(flat, rows, columns)

    def _blocks(self, one: IntegerArray, other: IntegerArray, kind: tuple[int, int, int, int]) -> IntegerArray:
        """(pairs, r + 1, s + 1): the tables of pairs of one kind: of one shape, with equal numbers of one-hot rows."""
        xp, (r, s, kept_rows, kept_columns) = self.device.xp, kind
        row_totals, column_totals = (
            self.first.on_device[3][xp.asarray(one), :r],
            self.second.on_device[3][xp.asarray(other), :s],
        )
        product_rows = xp.asarray(self.first.first[one][:, np.newaxis] + np.arange(kept_rows))
        product_columns = xp.asarray(self.second.first[other][:, np.newaxis] + np.arange(kept_columns))
        tables = xp.zeros((one.size, r + 1, s + 1), dtype=np.int64)
        cells = tables[:, :r, :s]
        cells[:, :kept_rows, :kept_columns] = self.product[
            product_rows[:, :, np.newaxis], product_columns[:, np.newaxis, :]
        ]
        if kept_columns < s:
            cells[:, :kept_rows, -1] = row_totals[:, :kept_rows] - cells[:, :kept_rows, :-1].sum(axis=2)
        if kept_rows < r:
            cells[:, -1] = column_totals - cells[:, :-1].sum(axis=1)
        tables[:, :r, s] = row_totals - cells.sum(axis=2)
        tables[:, r, :s] = column_totals - cells.sum(axis=1)
        tables[:, r, s] = self.rows - tables.sum(axis=(1, 2))
        host_tables: IntegerArray = self.device.to_host(tables)
        return host_tables


class PairProducts:
    """Counts all pairs of columns on a device, to which their codes are sent.

    Parameters
    ----------
    codes : sequence of arrays of bytes
        The values of each column, row by row: 0 .. s - 1, and s where the value is missing.
    values : sequence of int
        The number s of values of each column.
    device : CupyDevice, or one with the same steps
        Where the products are made.
    groups : sequence of slices, optional
        Parts of the rows, each with a product of its own: those of one class, say. They start and end at multiples of
        `ALIGNED`; what is not a row of the data has the code 255.
    rows : int, optional
        The number of rows of the data, if codes were added for the groups.
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
        if self.values.size and self.values.max() > MAX_VALUES:
            column = int(self.values.argmax())
            raise CredimiError(
                f"column number {column + 1} has {self.values[column]} values, but device='gpu' takes columns of up to "
                f"{MAX_VALUES}: leave it out, or use device='cpu'"
            )
        if self.rows > _MAX_ROWS:
            raise CredimiError(f"device='gpu' counts up to {_MAX_ROWS:,} rows, not {self.rows:,}: use device='cpu'")
        self.width = -(-max(length, 1) // ALIGNED) * ALIGNED
        self._groups = groups
        self._resident: Foreign = None
        self._totals, self._one_hot_rows = self._look_at_columns()
        self._max_cache_bytes = int(_CACHE_SHARE * self.device.free_bytes())
        self._one_hot_cache: OrderedDict[tuple[int, int, int, int], Foreign] = OrderedDict()

    def __len__(self) -> int:
        """How many pairs there are."""
        return len(self.codes) * (len(self.codes) - 1) // 2

    def map(
        self, work: Callable[[PairBlock], Result], bytes_a_pair: int = 0, *, in_order: bool = False
    ) -> Iterator[Result]:
        """Call `work` on the products of all blocks, and yield its results.

        `bytes_a_pair` is the memory that `work` needs for each pair. If memory is not enough, the block is divided, and
        `work` is called again on its parts; so it should not store anything outside of its result. If pairs are wanted
        `in_order`, the second columns of a block are all later ones, so that its pairs follow each other, as far as
        memory allows.
        """
        side, part = self._plan(bytes_a_pair, in_order=in_order)
        pending = self._blocks(side, in_order=in_order)
        while pending:
            block = a, a_stop, b, b_stop = pending.pop()
            longest = max(a_stop - a, b_stop - b)
            if (a_stop - a if in_order else longest) > side:
                pending += _parts(*block, in_order=in_order)
                continue
            try:
                result = work(self._block(slice(a, a_stop), slice(b, b_stop), part))
            except self.device.out_of_memory as error:
                if self._forget_one_hot():  # this may have freed enough
                    pending.append(block)
                    continue
                if longest == 1 and part == ALIGNED:
                    raise CredimiError(
                        "the GPU has too little memory for the counts of one pair of columns: free some of it, or use "
                        "device='cpu'"
                    ) from error
                in_order = in_order and a_stop - a > 1  # a single first column has too many later ones: divide these
                side = max((a_stop - a if in_order else longest) // 2, 1)
                part = max(part // 2 // ALIGNED * ALIGNED, ALIGNED)
                pending.append(block)
                continue
            yield result
        self._one_hot_cache.clear()

    def _blocks(self, side: int, *, in_order: bool) -> list[tuple[int, int, int, int]]:
        """Blocks of columns that together have all pairs; the last block comes first."""
        count = len(self.codes)
        starts = range(0, count, side)
        if in_order:
            blocks = [(a, min(a + side, count), a, count) for a in starts]
        else:
            blocks = [(a, min(a + side, count), b, min(b + side, count)) for a in starts for b in starts if b >= a]
        return [block for block in reversed(blocks) if _has_pairs(block[0], block[3])]

    def _look_at_columns(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """How often each value of each column occurs, and the number of one-hot rows that each column needs."""
        count = len(self.codes)
        fits_device = count * self.width <= 0.5 * self.device.free_bytes()
        columns_per_upload = max(1, min(count, int(0.25 * self.device.free_bytes()) // self.width))
        max_values = int(self.values.max(initial=1))
        totals = np.zeros((count, max_values), dtype=np.int32)
        if fits_device and count:
            self._resident = self.device.upload(self.codes, self.width)
            totals = self.device.to_host(self.device.count_values(self._resident, self.values, max_values))
        else:
            for start in range(0, count, columns_per_upload):
                chosen = slice(start, min(start + columns_per_upload, count))
                codes = self.device.upload(self.codes[chosen], self.width)
                totals[chosen] = self.device.to_host(self.device.count_values(codes, self.values[chosen], max_values))
        complete = totals.sum(axis=1, dtype=np.int64) == self.rows
        return totals, np.where(complete, np.maximum(self.values - 1, 1), self.values).astype(np.int32)

    def _plan(self, bytes_a_pair: int, *, in_order: bool) -> tuple[int, int]:
        """The number of columns of a block, and the number of rows of a part."""
        memory, one_hot_rows = _MEMORY_SHARE * self.device.free_bytes(), int(self._one_hot_rows.max(initial=1))
        side, part = max(1, min(len(self.codes), _MAX_ONE_HOT_ROWS // one_hot_rows)), self.width
        if in_order:
            side = min(side, max(_MAX_PAIRS_IN_ORDER // max(len(self.codes), 1), 64))

        def needed() -> int:
            codes = 0 if self._resident is not None else 2 * side * self.width  # of two blocks
            products = 4 * one_hot_rows * one_hot_rows * len(self._groups or (None,))
            other = len(self.codes) if in_order else side
            return codes + (side + other) * one_hot_rows * part + side * other * (products + bytes_a_pair)

        while needed() > memory and (side > 1 or part > ALIGNED):
            if part > _MIN_ROWS_PER_PART and 2 * side * one_hot_rows * part > 0.5 * memory:
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

    def _columns(self, columns: slice) -> Block:
        xp, one_hot_rows = self.device.xp, self._one_hot_rows[columns]
        values, first = self.values[columns], (np.cumsum(one_hot_rows) - one_hot_rows).astype(np.int32)
        on_device = tuple(xp.asarray(array) for array in (first, values, one_hot_rows, self._totals[columns]))
        return Block(columns.start, values, first, one_hot_rows, on_device)

    def _one_hot(self, block: Block, rows: slice) -> Foreign:
        """The one-hot rows of a block; they are cached as long as memory allows."""
        key = block.start, block.stop, rows.start, rows.stop
        if key in self._one_hot_cache:
            self._one_hot_cache.move_to_end(key)
            return self._one_hot_cache[key]
        columns = slice(block.start, block.stop)
        codes = (
            self._resident[columns]
            if self._resident is not None
            else self.device.upload(self.codes[columns], self.width)
        )
        one_hot = self.device.one_hot(codes, rows, block.kept)
        self._one_hot_cache[key] = one_hot
        while (
            len(self._one_hot_cache) > _MATRICES_PER_PRODUCT
            and sum(matrix.nbytes for matrix in self._one_hot_cache.values()) > self._max_cache_bytes
        ):
            self._one_hot_cache.popitem(last=False)
        return one_hot

    def _forget_one_hot(self) -> bool:
        """Clear the cache of one-hot rows, and make it smaller; False if it only had those of the current product."""
        had_more = len(self._one_hot_cache) > _MATRICES_PER_PRODUCT
        self._max_cache_bytes = sum(matrix.nbytes for matrix in self._one_hot_cache.values()) // 2
        self._one_hot_cache.clear()
        return had_more


def _has_pairs(a: int, b_stop: int) -> bool:
    """Whether a column of the first block, which starts at a, comes before one of the second, which ends at b_stop."""
    return a < b_stop - 1


def _parts(a: int, a_stop: int, b: int, b_stop: int, *, in_order: bool) -> list[tuple[int, int, int, int]]:
    """The four parts of a block that have pairs, the last part first; two parts if pairs have to stay in order."""
    a_middle, b_middle = -(-(a + a_stop) // 2), -(-(b + b_stop) // 2)
    if in_order:
        parts = [(a_middle, a_stop, max(b, a_middle), b_stop), (a, a_middle, b, b_stop)]
    else:
        parts = [
            (top, bottom, left, right)
            for top, bottom in ((a_middle, a_stop), (a, a_middle))
            for left, right in ((b_middle, b_stop), (b, b_middle))
        ]
    return [part for part in parts if part[0] < part[1] and part[2] < part[3] and _has_pairs(part[0], part[3])]
