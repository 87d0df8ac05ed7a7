"""Columns of few small whole numbers, counted with the classes while they are read; no codes are made.

The result is that of `small_codes` and `counting.tabulate`. What a column holds is guessed from some rows; where other
rows say otherwise, the column, or the whole row-major table, is left to them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.column import Column
from credimi.columns.labels import BOOLEAN, EXACT, NUMBER
from credimi.columns.numbers.small_codes import blocks_of, flat_of, guess, tables_of
from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from credimi.columns.numbers.small_codes import NumberTable
    from credimi.core.types import AnyArray, BooleanArray, Foreign, IntegerArray

    Codes = NDArray[np.unsignedinteger]
    Counted = dict[str, tuple[Column, IntegerArray]]
    Flags = BooleanArray

_MOST = 16  # values, as the kernels have it; with more, other ways are as fast
_SAMPLE = 1024  # rows from which it is guessed what a column holds
_PART = 1 << 16  # rows of a row-major table that a thread takes at once
_WIDEST = 512  # columns of a row-major table whose least values differ
_CELLS = 1 << 16  # counters of a row-major table that stay in the cache
_NO_CODES = np.zeros(0, dtype=np.uint8)
_NEAR = 2.0**50  # doubles up to here can be narrowed


def count_small(columns: Mapping[str, Foreign], groups: Codes, height: int, threads: int | None = None) -> Counted:
    """The columns that fit, without codes, and the counts of each class with each of their values, missing last."""
    from credimi.kernels import pair_counts  # noqa: PLC0415  (loads compiled code)

    lanes = next((lanes for lanes in pair_counts.LANES if height <= lanes), 0)
    if not lanes or groups.dtype != np.uint8:
        return {}
    classes = _Classes(groups, height, lanes)
    found: Counted = {}
    for table in tables_of(columns, with_bytes=True):
        found.update(_by_rows(table, classes, threads) if table.cells is not None else _apart(table, classes, threads))
    return found


class _Classes:
    """The class of each row, also as sets of bits, and how many rows each has."""

    def __init__(self, groups: Codes, height: int, lanes: int) -> None:
        from credimi.kernels import pair_counts, words  # noqa: PLC0415  (loads compiled code)

        self.groups, self.height, self.lanes = np.ascontiguousarray(groups), height, lanes
        self.bits = np.empty((groups.size // words.WORD, lanes), dtype=np.uint64)
        pair_counts.group_bits(self.groups, self.bits)
        self.totals = np.bitwise_count(self.bits).sum(axis=0, dtype=np.int64)[:height]
        self.totals += np.bincount(groups[self.bits.shape[0] * words.WORD :], minlength=height)

    def of(self, rows: slice) -> tuple[Codes, NDArray[np.uint64]]:
        """The classes of some rows, from a multiple of 64 on."""
        return self.groups[rows], self.bits[rows.start // 64 : rows.stop // 64]


class _Seen:
    """What the kernels tell of values that do not fit, of several parts or columns."""

    def __init__(self, parts: int) -> None:
        from credimi.kernels.reading.small_counts import LANES  # noqa: PLC0415  (loads compiled code)

        self.most = np.zeros((parts, LANES), dtype=np.uint8)
        self.beyond = np.zeros((parts, LANES), dtype=np.uint64)

    def fit(self, number: int | IntegerArray, *, with_missing: bool) -> Flags:
        """Whether all values had one of so many codes; without missing values, the sums of counts tell as well."""
        fits: Flags = self.beyond.max(axis=1) < _MOST
        return fits & (self.most.max(axis=1) <= number) if with_missing else fits


def _guessed(sample: AnyArray, kernel_type: Foreign) -> tuple[Flags, AnyArray, IntegerArray]:
    """Which columns have few small whole numbers in these rows, their least values, and how many there may be."""
    if sample.dtype == np.bool_:
        width = sample.shape[1]
        return np.ones(width, dtype=bool), np.zeros(width, dtype=np.uint8), np.full(width, 2)
    sample = sample.astype(kernel_type, copy=False)
    fits, bases = guess(sample)
    with np.errstate(invalid="ignore"):  # infinity, of columns that do not fit
        far = np.fmax.reduce(sample, axis=0) - bases.astype(np.float64) + 1.0
    values = np.where(fits & ~np.isnan(far), far, 1.0).astype(np.int64)
    largest = min(EXACT, _NEAR) if sample.dtype.kind == "f" else EXACT
    return fits & (values <= _MOST) & (np.abs(bases.astype(np.float64)) + _MOST <= largest), bases, values


def _rounded(values: IntegerArray) -> IntegerArray:
    """As many values as are counted at once: then others may occur in other rows."""
    return -(-values // 4) * 4


def _shifts(bases: AnyArray) -> AnyArray:
    from credimi.kernels.reading.small_counts import LARGE  # noqa: PLC0415  (loads compiled code)

    return LARGE - bases if bases.dtype.kind == "f" else bases


def _by_rows(table: NumberTable, classes: _Classes, threads: int | None) -> Counted:
    """The counts of columns that are side by side; all must fit, with all between them and their next rows."""
    from credimi.kernels.reading.small_counts import ACROSS, LANES, count_rows  # noqa: PLC0415  (loads compiled code)

    cells: Foreign = table.cells
    rows, columns = cells.shape
    kernel_type, step = np.dtype(table.kernel_type), cells.strides[0] // cells.itemsize
    if cells.itemsize != kernel_type.itemsize:  # converted before it is counted, without what is between
        step = columns
    if rows == 1 or step > 2 * columns:
        return {}
    # All but the last row are followed by the start of the next one.
    every = max(rows // _SAMPLE, 1)
    lines = np.lib.stride_tricks.as_strided(
        cells, ((rows - 2) // every + 1, step), (cells.strides[0] * every, cells.itemsize)
    )
    fits, bases, values = _guessed(np.ascontiguousarray(lines), kernel_type)
    number, width = int(_rounded(values).max()), -(-columns // ACROSS) * ACROSS
    same = bool((bases == bases[0]).all())
    if not fits.all() or classes.height * number * width > _CELLS or (step > _WIDEST and not same):
        return {}
    shifts = _shifts(np.full(LANES, bases[0]) if same else np.tile(bases, LANES))
    firsts = list(range(0, rows, _PART))
    counts = np.zeros((len(firsts), classes.height, number, width), dtype=np.int64)
    seen = _Seen(len(firsts))

    def work(part: int) -> None:
        first = firsts[part]
        for block, start in blocks_of(cells[first : first + _PART], kernel_type):
            here = classes.of(slice(first + start, first + start + block.shape[0]))
            values = flat_of(block, (block.shape[0] - 1) * step + columns)
            count_rows(values, step, shifts, *here, counts[part], seen.most[part], seen.beyond[part])

    share(work, range(len(firsts)), threads)
    with_missing = kernel_type.kind == "f"
    if not seen.fit(number, with_missing=with_missing).all():
        return {}
    blocks = _with_missing(counts.sum(axis=0)[:, :, :columns].transpose(2, 0, 1), classes)
    if not with_missing and blocks[list(table.names), :, -1].any():
        return {}
    return {name: _column(table, bases[place], blocks[place]) for place, name in table.names.items()}


def _apart(table: NumberTable, classes: _Classes, threads: int | None) -> Counted:
    """The counts of columns that are each in one piece."""
    from credimi.kernels.reading.small_counts import LANES, count_column  # noqa: PLC0415  (loads compiled code)

    kernel_type, rows = np.dtype(table.kernel_type), table.columns[0].size
    fits, bases, values = _guessed(table.rows(max(rows // _SAMPLE, 1), np.arange(len(table.columns))), kernel_type)
    if not fits.any():
        return {}
    numbers = _rounded(values)
    counts = np.zeros((fits.size, int(numbers[fits].max()), classes.lanes), dtype=np.uint64)
    seen, lanes = _Seen(fits.size), (0,) * classes.lanes
    shifts = np.repeat(_shifts(bases)[:, np.newaxis], LANES, axis=1)

    def work(place: int) -> None:
        own, column = counts[place, : numbers[place]], table.columns[place]
        limits = seen.most[place], seen.beyond[place]
        if column.itemsize == kernel_type.itemsize:
            count_column(column.view(kernel_type), shifts[place], classes.groups, classes.bits, own, *limits, lanes)
            return
        for block, start in blocks_of(column[:, np.newaxis], kernel_type):
            here = classes.of(slice(start, start + block.shape[0]))
            count_column(block[:, 0], shifts[place], *here, own, *limits, lanes)

    share(work, np.flatnonzero(fits).tolist(), threads)
    with_missing = kernel_type.kind == "f"
    fits &= seen.fit(numbers, with_missing=with_missing)
    blocks = _with_missing(counts[:, :, : classes.height].transpose(0, 2, 1).astype(np.int64), classes)
    if not with_missing:
        fits &= ~blocks[:, :, -1].any(axis=1)
    return {name: _column(table, bases[place], blocks[place]) for place, name in table.names.items() if fits[place]}


def _with_missing(counts: IntegerArray, classes: _Classes) -> IntegerArray:
    """Counts of columns, classes and values; what is missing, the rest, is one value more."""
    return np.concatenate([counts, (classes.totals - counts.sum(axis=2))[:, :, np.newaxis]], axis=2)


def _column(table: NumberTable, base: float, block: IntegerArray) -> tuple[Column, IntegerArray]:
    """A column without its codes, and its counts."""
    if table.columns[0].dtype == np.bool_:  # counted like four numbers
        return Column(_NO_CODES, BOOLEAN, ("false", "true")), block[:, [0, 1, -1]]
    return Column(_NO_CODES, NUMBER, numbers=np.arange(block.shape[1] - 1, dtype=np.float64) + float(base)), block
