"""Columns of small whole numbers, encoded in one pass: whole row-major tables at once, or single columns.

In a row-major array, scikit-learn's layout, the cells of a column are spread over all cache lines: reading one column
reads nearly the whole array. This module recognises columns that are views of one such table by their addresses, and
encodes them together. It guesses from a sample of rows whether all values of a column are small whole numbers or NaN.
If they are not, or if another value turns out not to fit, `columns.encode` encodes the column.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.column import Column
from credimi.columns.labels import BOOLEAN, EXACT, NUMBER
from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, BooleanArray, Foreign, IntegerArray

    DType = np.dtype[np.generic]
    Flags = BooleanArray

_MISSING = 255  # the code of a missing value
_SAMPLE_ROWS = 1024  # from so many rows it is guessed whether a column fits
_ROWS_PER_TASK = 1 << 15  # of a row-major table
_CELLS_PER_BLOCK = 1024  # the kernel takes a single column in blocks of so many cells
_CACHE_LINE = 64  # bytes
_BLOCK_BYTES = 1 << 18  # size of a block that is converted first, so that it stays in the cache


def encode_small(columns: Mapping[str, Foreign], threads: int | None = None) -> dict[str, Column]:
    """Encode the columns that hold only small whole numbers; the others are not in the result."""
    encoded: dict[str, Column] = {}
    for table in tables_of(columns):
        encoded.update(_encode_table(table, threads))
    return encoded


@dataclass(frozen=True, slots=True, eq=False)
class NumberTable:
    """Columns of one type and length. They are side by side in `cells`, rows x columns, or each is contiguous.

    `names` are the names by position. Columns of `cells` without a name were not requested.
    """

    columns: list[AnyArray]
    names: dict[int, str]
    cells: AnyArray | None = None

    @property
    def kernel_type(self) -> Foreign:
        """The type with which the kernels are called: bytes, 64-bit integers or doubles."""
        kind = self.columns[0].dtype
        return np.uint8 if kind in (np.bool_, np.uint8) else np.float64 if kind.kind == "f" else np.int64

    def rows(self, step: int, positions: AnyArray) -> AnyArray:
        """Every `step`-th row of the columns at these positions."""
        return np.stack([self.columns[position][::step] for position in positions.tolist()], axis=1)


def tables_of(columns: Mapping[str, Foreign]) -> Iterator[NumberTable]:
    """Tables of numeric columns that are side by side in memory, and of numeric columns that are contiguous each.

    Contiguous columns of bytes are left out: they are their own codes.
    """
    contiguous: dict[tuple[DType, int], list[str]] = {}
    side_by_side: dict[tuple[DType, int, int], list[tuple[int, str]]] = {}
    for name, values in columns.items():
        if type(values) is not np.ndarray or values.ndim != 1 or not values.size or not _has_supported_type(values):
            continue
        if values.strides[0] == values.itemsize:
            contiguous.setdefault((values.dtype, values.size), []).append(name)
        elif values.strides[0] > values.itemsize and not values.strides[0] % values.itemsize:
            address = values.__array_interface__["data"][0]
            side_by_side.setdefault((values.dtype, values.size, values.strides[0]), []).append((address, name))
    for (kind, _), names in contiguous.items():
        if kind.itemsize > 1:
            yield NumberTable([columns[name] for name in names], dict(enumerate(names)))
    for (_, _, step), addresses in side_by_side.items():
        remaining = sorted(addresses)
        while remaining:
            table_row = [column for column in remaining if column[0] - remaining[0][0] < step]
            remaining = remaining[len(table_row) :]
            yield from _side_by_side(columns, table_row)


def _side_by_side(columns: Mapping[str, Foreign], addresses: list[tuple[int, str]]) -> Iterator[NumberTable]:
    """The table of the columns that begin at these addresses; nothing if most columns between them have no name."""
    start, first = addresses[0][0], columns[addresses[0][1]]
    names = {(address - start) // first.itemsize: name for address, name in addresses}
    width = max(names) + 1
    if any((address - start) % first.itemsize for address, _ in addresses) or 2 * len(names) < width or len(names) == 1:
        return
    # The cells between these columns belong to the same memory, of which the columns are views.
    shape, strides = (first.size, width), (first.strides[0], first.itemsize)
    cells = np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)
    yield NumberTable(list(cells.T), names, cells)


def _has_supported_type(values: AnyArray) -> bool:
    """Whether the type of the numbers can become bytes, 64-bit integers or doubles without loss."""
    kind = values.dtype
    supported = kind.kind in "bif" or (kind.kind == "u" and kind.itemsize < 8)
    return supported and kind.itemsize <= 8 and kind.isnative and values.flags.aligned


def _encode_table(table: NumberTable, threads: int | None) -> dict[str, Column]:
    kind, rows, kernel_type = table.columns[0].dtype, table.columns[0].size, table.kernel_type
    tried = np.zeros(len(table.columns), dtype=bool)
    tried[list(table.names)] = True
    bases = np.zeros(tried.size, dtype=kernel_type)
    if kernel_type is not np.uint8:
        fits, bases = guess(
            table.rows(max(rows // _SAMPLE_ROWS, 1), np.arange(tried.size)).astype(kernel_type, copy=False)
        )
        tried &= fits
    if not tried.any():
        return {}
    codes, low, high = _gather_codes(table, tried, bases, threads)
    again = np.flatnonzero(tried & (high < 0))
    if again.size and kernel_type is not np.uint8:  # the smallest value was not in the sample
        fits, exact = guess(table.rows(1, again).astype(kernel_type, copy=False))
        if fits.any():
            bases[again] = np.where(fits, exact, bases[again])
            codes, low, high = _gather_codes(table, tried, bases, threads)
    encoded = {}
    for index, name in table.names.items():
        smallest, largest = int(bases[index]) + int(low[index]), int(bases[index]) + int(high[index])
        if not tried[index] or high[index] < 0 or max(abs(smallest), abs(largest)) > EXACT:
            continue
        column_codes = codes[index, :rows]
        if kind == np.bool_:
            encoded[name] = Column(column_codes, BOOLEAN, ("false", "true"))
        elif kernel_type is np.float64:
            numbers = np.arange(int(bases[index]), int(bases[index]) + int(high[index]), dtype=np.float64)
            encoded[name] = Column(column_codes, NUMBER, numbers=numbers)
        else:
            numbers = np.arange(smallest, largest + 1, dtype=np.float64)
            encoded[name] = Column(column_codes - low[index] if low[index] else column_codes, NUMBER, numbers=numbers)
    return encoded


def guess(sample: AnyArray) -> tuple[Flags, AnyArray]:
    """Which columns have only small whole numbers or NaN in these rows, and the smallest value of each column."""
    if sample.dtype.kind != "f":
        smallest = sample.min(axis=0)
        return (sample.max(axis=0) <= smallest.astype(np.float64) + _MISSING) & (np.abs(smallest) <= EXACT), smallest
    smallest, largest = np.fmin.reduce(sample, axis=0), np.fmax.reduce(sample, axis=0)
    empty = np.isnan(smallest)
    whole = (np.isnan(sample) | (np.floor(sample) == sample)).all(axis=0)
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        fits = whole & (largest - smallest < _MISSING) & (np.abs(smallest) <= EXACT)
    return fits | empty, np.where(fits & ~empty, smallest, 0.0) + 0.0


def _gather_codes(
    table: NumberTable, tried: Flags, bases: AnyArray, threads: int | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], IntegerArray]:
    """The codes of a table, one row per column, and the smallest and the largest code of each column.

    The largest code is -1 if a value does not fit. For doubles it is one more than the largest code of a number, and 0
    if there are no numbers.
    """
    from credimi.columns.numbers.small_codes_kernels import FITS, SIDE, gather  # noqa: PLC0415  (loads compiled code)

    columns, rows, kernel_type = len(table.columns), table.columns[0].size, bases.dtype
    missing = int(kernel_type == np.float64)
    # An odd number of cache lines: otherwise all columns would compete for the same part of the cache.
    codes = np.empty((max(columns, SIDE), (rows // _CACHE_LINE | 1) * _CACHE_LINE + _CACHE_LINE), dtype=np.uint8)
    pieces = list(range(0, rows, _ROWS_PER_TASK)) if table.cells is not None else np.flatnonzero(tried).tolist()
    width = max(columns, SIDE) if table.cells is not None else _CELLS_PER_BLOCK
    low = np.full((len(pieces), width), _MISSING, dtype=np.uint8)
    high, beyond = np.zeros(low.shape, dtype=np.uint8), np.zeros(low.shape, dtype=np.uint64)
    padded = np.zeros(width, dtype=kernel_type)
    padded[:columns] = bases[:width]

    def work(part: int) -> None:
        piece = pieces[part]
        if table.cells is None:
            cells, own_bases = table.columns[piece][:, np.newaxis], np.full(_CELLS_PER_BLOCK, bases[piece])
            own_codes, first = codes[piece : piece + 1], 0
        else:
            cells, own_bases, own_codes, first = table.cells[piece : piece + _ROWS_PER_TASK], padded, codes, piece
        for block, start in blocks_of(cells, kernel_type):
            step, width = block.strides[0] // block.itemsize, cells.shape[1]
            flat, bounds = flat_of(block, (block.shape[0] - 1) * step + width), (low[part], high[part], beyond[part])
            gather(flat, step, width, own_bases, missing, own_codes, first + start, *bounds)

    share(work, range(len(pieces)), threads)
    axis, of_columns = (1, pieces) if table.cells is None else (0, slice(None))
    bounds = low.min(axis=axis), high.max(axis=axis), np.bitwise_or.reduce(beyond, axis=axis)
    smallest, largest_bytes, beyond_bits = (np.zeros(columns, dtype=bound.dtype) for bound in bounds)
    for per_column, bound in zip((smallest, largest_bytes, beyond_bits), bounds, strict=True):
        per_column[of_columns] = bound[:columns]
    largest = largest_bytes.astype(np.int64)
    fits = (
        largest - smallest < _MISSING
        if kernel_type == np.uint8
        else (beyond_bits <= FITS) & ((largest < _MISSING) | missing)
    )
    return codes, smallest, np.where(fits, largest, -1)


def blocks_of(cells: AnyArray, kernel_type: DType) -> Iterator[tuple[AnyArray, int]]:
    """Blocks of rows in the kernel's type, and the first row of each.

    Cells of the same size are one block; others are converted in blocks that fit into the cache.
    """
    if cells.dtype.itemsize == kernel_type.itemsize:
        yield cells.view(kernel_type), 0
        return
    height = max(_BLOCK_BYTES // (kernel_type.itemsize * cells.shape[1]) // _CACHE_LINE, 1) * _CACHE_LINE
    for start in range(0, cells.shape[0], height):
        yield np.ascontiguousarray(cells[start : start + height], dtype=kernel_type), start


def flat_of(cells: AnyArray, size: int) -> AnyArray:
    """The `size` elements in memory from the first cell on, whatever the shape and strides of `cells` are."""
    return np.lib.stride_tricks.as_strided(cells, (size,), (cells.itemsize,), writeable=False)
