"""Columns of small whole numbers, encoded in one pass: whole row-major tables at once, or single columns.

In a row-major array, scikit-learn's layout, the cells of a column are spread over all lines of memory: reading one
column reads nearly the whole array. Here columns that are views of one such table are found by their addresses, and
encoded together. Whether their values are small whole numbers, or NaN, is guessed from some rows. If the guess says no,
or another value does not fit, the column is left to `columns.encode`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from credimi.columns.column import Column
from credimi.columns.labels import BOOLEAN, EXACT, NUMBER
from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, BooleanArray, Foreign, IntegerArray

    DType = np.dtype[np.generic]
    Flags = BooleanArray

_MISSING = 255
_SAMPLE = 1024  # rows from which it is guessed whether a column fits
_PART = 1 << 15  # rows that a thread takes at once
_CELLS = 1024  # of a single column that are narrowed at once
_LINE = 64  # bytes of memory that are loaded together
_CACHED = 1 << 18  # bytes of a block that is converted first, to stay in the cache


def encode_small(columns: Mapping[str, Foreign], threads: int | None = None) -> dict[str, Column]:
    """The columns that fit, encoded; the others are left out."""
    found: dict[str, Column] = {}
    for table in tables_of(columns):
        found.update(_encoded(table, threads))
    return found


def every_row(columns: Mapping[str, Foreign], step: int) -> dict[str, Foreign]:
    """Copies of every n-th value of each column; of row-major tables, whole rows are copied."""
    found: dict[str, Foreign] = {}
    for table in tables_of(columns):
        if table.cells is not None:
            some = table.cells[::step].copy()
            found |= {name: some[:, place] for place, name in table.names.items()}
    for name, values in columns.items():
        if name not in found:
            whole = isinstance(values, np.ndarray)
            found[name] = values[::step].copy() if whole else values.take(pa.array(np.arange(0, len(values), step)))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class NumberTable:
    """Columns of one type and length. They are side by side in `cells`, rows x columns, or each in one piece.

    Some columns of `cells` may have no name: they were not asked for.
    """

    columns: list[AnyArray]
    names: dict[int, str]
    cells: AnyArray | None = None

    @property
    def kernel_type(self) -> Foreign:
        """The type that the kernels know: bytes, 64-bit integers or doubles."""
        kind = self.columns[0].dtype
        return np.uint8 if kind in (np.bool_, np.uint8) else np.float64 if kind.kind == "f" else np.int64

    def rows(self, every: int, which: AnyArray) -> AnyArray:
        """Every n-th row of some of the columns."""
        return np.stack([self.columns[place][::every] for place in which.tolist()], axis=1)


def tables_of(columns: Mapping[str, Foreign], *, with_bytes: bool = False) -> Iterator[NumberTable]:
    """Columns of numbers that are side by side in memory, and those that are each in one piece.

    Bytes in one piece are codes as they are, and left out unless they are asked for.
    """
    alone: dict[tuple[DType, int], list[str]] = {}
    beside: dict[tuple[DType, int, int], list[tuple[int, str]]] = {}
    for name, values in columns.items():
        if type(values) is not np.ndarray or values.ndim != 1 or not values.size or not _taken(values):
            continue
        if values.strides[0] == values.itemsize:
            alone.setdefault((values.dtype, values.size), []).append(name)
        elif values.strides[0] > values.itemsize and not values.strides[0] % values.itemsize:
            where = values.__array_interface__["data"][0]
            beside.setdefault((values.dtype, values.size, values.strides[0]), []).append((where, name))
    for (kind, _), names in alone.items():
        if kind.itemsize > 1 or with_bytes:
            yield NumberTable([columns[name] for name in names], dict(enumerate(names)))
    for (_, _, step), places in beside.items():
        waiting = sorted(places)
        while waiting:
            row = [place for place in waiting if place[0] - waiting[0][0] < step]
            waiting = waiting[len(row) :]
            yield from _side_by_side(columns, row)


def _side_by_side(columns: Mapping[str, Foreign], row: list[tuple[int, str]]) -> Iterator[NumberTable]:
    """The table of columns that begin at these addresses, unless they are few of many."""
    start, first = row[0][0], columns[row[0][1]]
    names = {(where - start) // first.itemsize: name for where, name in row}
    width = max(names) + 1
    if any((where - start) % first.itemsize for where, _ in row) or 2 * len(names) < width or len(names) == 1:
        return
    # All cells between these columns are in the memory that they are views of.
    shape, strides = (first.size, width), (first.strides[0], first.itemsize)
    cells = np.lib.stride_tricks.as_strided(first, shape, strides, writeable=False)
    yield NumberTable(list(cells.T), names, cells)


def _taken(values: AnyArray) -> bool:
    """Whether the numbers are of a type that becomes bytes, 64-bit integers or doubles without loss."""
    kind = values.dtype
    right = kind.kind in "bif" or (kind.kind == "u" and kind.itemsize < 8)
    return right and kind.itemsize <= 8 and kind.isnative and values.flags.aligned


def _encoded(table: NumberTable, threads: int | None) -> dict[str, Column]:
    kind, rows, kernel_type = table.columns[0].dtype, table.columns[0].size, table.kernel_type
    tried = np.zeros(len(table.columns), dtype=bool)
    tried[list(table.names)] = True
    bases = np.zeros(tried.size, dtype=kernel_type)
    if kernel_type is not np.uint8:
        fits, bases = guess(table.rows(max(rows // _SAMPLE, 1), np.arange(tried.size)).astype(kernel_type, copy=False))
        tried &= fits
    if not tried.any():
        return {}
    codes, low, high = _gathered(table, tried, bases, threads)
    again = np.flatnonzero(tried & (high < 0))
    if again.size and kernel_type is not np.uint8:  # the least value was not among the sampled rows
        fits, exact = guess(table.rows(1, again).astype(kernel_type, copy=False))
        if fits.any():
            bases[again] = np.where(fits, exact, bases[again])
            codes, low, high = _gathered(table, tried, bases, threads)
    found = {}
    for place, name in table.names.items():
        least, most = int(bases[place]) + int(low[place]), int(bases[place]) + int(high[place])
        if not tried[place] or high[place] < 0 or max(abs(least), abs(most)) > EXACT:
            continue
        own = codes[place, :rows]
        if kind == np.bool_:
            found[name] = Column(own, BOOLEAN, ("false", "true"))
        elif kernel_type is np.float64:
            numbers = np.arange(int(bases[place]), int(bases[place]) + int(high[place]), dtype=np.float64)
            found[name] = Column(own, NUMBER, numbers=numbers)
        else:
            numbers = np.arange(least, most + 1, dtype=np.float64)
            found[name] = Column(own - low[place] if low[place] else own, NUMBER, numbers=numbers)
    return found


def guess(sample: AnyArray) -> tuple[Flags, AnyArray]:
    """Which columns have only small whole numbers or NaN in these rows, and their least values."""
    if sample.dtype.kind != "f":
        least = sample.min(axis=0)
        return (sample.max(axis=0) <= least.astype(np.float64) + _MISSING) & (np.abs(least) <= EXACT), least
    least, most = np.fmin.reduce(sample, axis=0), np.fmax.reduce(sample, axis=0)
    empty = np.isnan(least)
    whole = (np.isnan(sample) | (np.floor(sample) == sample)).all(axis=0)
    with np.errstate(invalid="ignore"):  # infinity less infinity
        fits = whole & (most - least < _MISSING) & (np.abs(least) <= EXACT)
    return fits | empty, np.where(fits & ~empty, least, 0.0) + 0.0


def _gathered(
    table: NumberTable, tried: Flags, bases: AnyArray, threads: int | None
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], IntegerArray]:
    """The codes of a table, a row for each column; their least and largest, -1 if a value does not fit.

    For doubles the largest is that of the numbers, plus one: 0 if there are none.
    """
    from credimi.kernels.reading.small_codes import FITS, SIDE, gather  # noqa: PLC0415  (loads compiled code)

    columns, rows, kernel_type = len(table.columns), table.columns[0].size, bases.dtype
    missing = int(kernel_type == np.float64)
    # A length for which the columns do not all use the same part of a cache.
    codes = np.empty((max(columns, SIDE), (rows // _LINE | 1) * _LINE + _LINE), dtype=np.uint8)
    pieces = list(range(0, rows, _PART)) if table.cells is not None else np.flatnonzero(tried).tolist()
    places = max(columns, SIDE) if table.cells is not None else _CELLS
    low = np.full((len(pieces), places), _MISSING, dtype=np.uint8)
    high, beyond = np.zeros(low.shape, dtype=np.uint8), np.zeros(low.shape, dtype=np.uint64)
    padded = np.zeros(places, dtype=kernel_type)
    padded[:columns] = bases[:places]

    def rows_of(part: int) -> None:
        first = pieces[part]
        for own, start in blocks_of(table.cells[first : first + _PART], kernel_type):  # type: ignore[index]  # there is one
            step = own.strides[0] // own.itemsize
            cells = flat_of(own, (own.shape[0] - 1) * step + columns)
            gather(cells, step, columns, padded, missing, codes, first + start, low[part], high[part], beyond[part])

    def column_of(part: int) -> None:
        column = pieces[part]
        own_bases = np.full(_CELLS, bases[column])
        for own, start in blocks_of(table.columns[column][:, np.newaxis], kernel_type):
            bounds = low[part], high[part], beyond[part]
            gather(flat_of(own, own.shape[0]), 1, 1, own_bases, missing, codes[column : column + 1], start, *bounds)

    share(rows_of if table.cells is not None else column_of, range(len(pieces)), threads)
    apart = 0 if table.cells is not None else 1
    bounds = low.min(axis=apart), high.max(axis=apart), np.bitwise_or.reduce(beyond, axis=apart)
    least, most, bits = (np.zeros(columns, dtype=bound.dtype) for bound in bounds)
    for whole, bound in zip((least, most, bits), bounds, strict=True):
        if apart:
            whole[pieces] = bound
        else:
            whole[:] = bound[:columns]
    largest = most.astype(np.int64)
    fits = largest - least < _MISSING if kernel_type == np.uint8 else (bits <= FITS) & ((largest < _MISSING) | missing)
    return codes, least, np.where(fits, largest, -1)


def blocks_of(cells: AnyArray, kernel_type: DType) -> Iterator[tuple[AnyArray, int]]:
    """The rows in a type that can be narrowed, and where they begin: all at once, or in parts that fit the cache."""
    if cells.dtype.itemsize == kernel_type.itemsize:
        yield cells.view(kernel_type), 0
        return
    height = max(_CACHED // (kernel_type.itemsize * cells.shape[1]) // _LINE, 1) * _LINE
    for start in range(0, cells.shape[0], height):
        yield np.ascontiguousarray(cells[start : start + height], dtype=kernel_type), start


def flat_of(cells: AnyArray, size: int) -> AnyArray:
    """So many elements from the first one on, whatever array they belong to."""
    return np.lib.stride_tricks.as_strided(cells, (size,), (cells.itemsize,), writeable=False)
