"""Columns of few small whole numbers, counted with the classes while they are read; no codes are made.

The result is the same as with `small_codes` and `counts.tabulate`. What a column holds is guessed from a sample of
rows. If other rows show that the guess was wrong, this column, or the whole row-major table, is left to these modules.
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

_MAX_VALUES = 16  # of a column, a limit of the kernels; with more values other ways are as fast
_SAMPLE_ROWS = 1024  # from so many rows it is guessed what a column holds
_ROWS_PER_TASK = 1 << 16  # of a row-major table
_MAX_DIFFERENT_BASES = 512  # columns of a row-major table, if their smallest values differ
_MAX_COUNTERS = 1 << 16  # of a row-major table, so that they stay in the cache
_NO_CODES = np.zeros(0, dtype=np.uint8)
_MAX_NARROWED = 2.0**50  # the largest double that the kernel can narrow


def count_small(columns: Mapping[str, Foreign], groups: Codes, height: int, threads: int | None = None) -> Counted:
    """The columns that hold few small whole numbers, and their counts; columns of other values are left out.

    Each column comes without codes. Its counts have a row for each class and a column for each value, missing last.
    """
    from credimi.columns import pair_counts  # noqa: PLC0415  (loads compiled code)

    lanes = next((lanes for lanes in pair_counts.LANES if height <= lanes), 0)
    if not lanes or groups.dtype != np.uint8:
        return {}
    classes = _Classes(groups, height, lanes)
    counted: Counted = {}
    for table in tables_of(columns, with_bytes=True):
        counted.update(
            _count_side_by_side(table, classes, threads)
            if table.cells is not None
            else _count_contiguous(table, classes, threads)
        )
    return counted


class _Classes:
    """The class of each row, also as sets of bits, and the number of rows of each class."""

    def __init__(self, groups: Codes, height: int, lanes: int) -> None:
        from credimi.columns import pair_counts  # noqa: PLC0415  (loads compiled code)
        from credimi.compile import words  # noqa: PLC0415  (loads compiled code)

        self.groups, self.height, self.lanes = np.ascontiguousarray(groups), height, lanes
        self.bits = np.empty((groups.size // words.WORD, lanes), dtype=np.uint64)
        pair_counts.group_bits(self.groups, self.bits)
        self.totals = np.bitwise_count(self.bits).sum(axis=0, dtype=np.int64)[:height]
        self.totals += np.bincount(groups[self.bits.shape[0] * words.WORD :], minlength=height)

    def of(self, rows: slice) -> tuple[Codes, NDArray[np.uint64]]:
        """The classes of these rows; the first row is a multiple of 64."""
        return self.groups[rows], self.bits[rows.start // 64 : rows.stop // 64]


class _ValueChecks:
    """What the kernels report about values that do not fit: one line for each part of the rows, or each column."""

    def __init__(self, parts: int) -> None:
        from credimi.columns.numbers.small_counts_kernels import LANES  # noqa: PLC0415  (loads compiled code)

        self.largest = np.zeros((parts, LANES), dtype=np.uint8)
        self.beyond = np.zeros((parts, LANES), dtype=np.uint64)

    def fit(self, number: int | IntegerArray, *, with_missing: bool) -> Flags:
        """Whether all values had one of `number` codes; without missing values the sums of the counts show it, too."""
        fits: Flags = self.beyond.max(axis=1) < _MAX_VALUES
        return fits & (self.largest.max(axis=1) <= number) if with_missing else fits


def _guess_few(sample: AnyArray, kernel_type: Foreign) -> tuple[Flags, AnyArray, IntegerArray]:
    """Which columns have few small whole numbers in these rows, their smallest values, and their numbers of values."""
    if sample.dtype == np.bool_:
        width = sample.shape[1]
        return np.ones(width, dtype=bool), np.zeros(width, dtype=np.uint8), np.full(width, 2)
    sample = sample.astype(kernel_type, copy=False)
    fits, bases = guess(sample)
    with np.errstate(invalid="ignore"):  # infinity, of columns that do not fit
        value_count = np.fmax.reduce(sample, axis=0) - bases.astype(np.float64) + 1.0
    values = np.where(fits & ~np.isnan(value_count), value_count, 1.0).astype(np.int64)
    largest = min(EXACT, _MAX_NARROWED) if sample.dtype.kind == "f" else EXACT
    return fits & (values <= _MAX_VALUES) & (np.abs(bases.astype(np.float64)) + _MAX_VALUES <= largest), bases, values


def _round_up_to_four(values: IntegerArray) -> IntegerArray:
    """The next multiple of four: the kernels count four values at once, and other rows may hold larger values."""
    return -(-values // 4) * 4


def _shifts(bases: AnyArray) -> AnyArray:
    from credimi.columns.numbers.small_counts_kernels import LARGE  # noqa: PLC0415  (loads compiled code)

    return LARGE - bases if bases.dtype.kind == "f" else bases


def _count_side_by_side(table: NumberTable, classes: _Classes, threads: int | None) -> Counted:
    """The counts of columns that are side by side; none if a cell does not fit, be it of a column that has no name."""
    from credimi.columns.numbers.small_counts_kernels import ACROSS, LANES, count_rows  # noqa: PLC0415  (loads compiled code)

    cells: Foreign = table.cells
    rows, columns = cells.shape
    kernel_type, step = np.dtype(table.kernel_type), cells.strides[0] // cells.itemsize
    if cells.itemsize != kernel_type.itemsize:  # cells are converted, which drops what lies between the rows
        step = columns
    if rows == 1 or step > 2 * columns:
        return {}
    # The kernel reads on between the rows, so the sample includes these cells; after the last row there are none.
    step_of_sample = max(rows // _SAMPLE_ROWS, 1)
    sample = np.lib.stride_tricks.as_strided(
        cells, ((rows - 2) // step_of_sample + 1, step), (cells.strides[0] * step_of_sample, cells.itemsize)
    )
    fits, bases, values = _guess_few(np.ascontiguousarray(sample), kernel_type)
    values_per_column, width = int(_round_up_to_four(values).max()), -(-columns // ACROSS) * ACROSS
    same_base = bool((bases == bases[0]).all())
    if (
        not fits.all()
        or classes.height * values_per_column * width > _MAX_COUNTERS
        or (step > _MAX_DIFFERENT_BASES and not same_base)
    ):
        return {}
    shifts = _shifts(np.full(LANES, bases[0]) if same_base else np.tile(bases, LANES))
    firsts = list(range(0, rows, _ROWS_PER_TASK))
    counts = np.zeros((len(firsts), classes.height, values_per_column, width), dtype=np.int64)
    checks = _ValueChecks(len(firsts))

    def work(part: int) -> None:
        first = firsts[part]
        for block, start in blocks_of(cells[first : first + _ROWS_PER_TASK], kernel_type):
            block_classes = classes.of(slice(first + start, first + start + block.shape[0]))
            values = flat_of(block, (block.shape[0] - 1) * step + columns)
            count_rows(values, step, shifts, *block_classes, counts[part], checks.largest[part], checks.beyond[part])

    share(work, range(len(firsts)), threads)
    with_missing = kernel_type.kind == "f"
    if not checks.fit(values_per_column, with_missing=with_missing).all():
        return {}
    blocks = _append_missing(counts.sum(axis=0)[:, :, :columns].transpose(2, 0, 1), classes)
    if not with_missing and blocks[list(table.names), :, -1].any():
        return {}
    return {name: _counted_column(table, bases[index], blocks[index]) for index, name in table.names.items()}


def _count_contiguous(table: NumberTable, classes: _Classes, threads: int | None) -> Counted:
    """The counts of columns that are contiguous each."""
    from credimi.columns.numbers.small_counts_kernels import LANES, count_column  # noqa: PLC0415  (loads compiled code)

    kernel_type, rows = np.dtype(table.kernel_type), table.columns[0].size
    fits, bases, values = _guess_few(
        table.rows(max(rows // _SAMPLE_ROWS, 1), np.arange(len(table.columns))), kernel_type
    )
    if not fits.any():
        return {}
    numbers = _round_up_to_four(values)
    counts = np.zeros((fits.size, int(numbers[fits].max()), classes.lanes), dtype=np.uint64)
    checks, lane_shape = _ValueChecks(fits.size), (0,) * classes.lanes
    shifts = np.repeat(_shifts(bases)[:, np.newaxis], LANES, axis=1)

    def work(index: int) -> None:
        column_counts, column = counts[index, : numbers[index]], table.columns[index]
        check_arrays = checks.largest[index], checks.beyond[index]
        if column.itemsize == kernel_type.itemsize:
            count_column(
                column.view(kernel_type),
                shifts[index],
                classes.groups,
                classes.bits,
                column_counts,
                *check_arrays,
                lane_shape,
            )
            return
        for block, start in blocks_of(column[:, np.newaxis], kernel_type):
            block_classes = classes.of(slice(start, start + block.shape[0]))
            count_column(block[:, 0], shifts[index], *block_classes, column_counts, *check_arrays, lane_shape)

    share(work, np.flatnonzero(fits).tolist(), threads)
    with_missing = kernel_type.kind == "f"
    fits &= checks.fit(numbers, with_missing=with_missing)
    blocks = _append_missing(counts[:, :, : classes.height].transpose(0, 2, 1).astype(np.int64), classes)
    if not with_missing:
        fits &= ~blocks[:, :, -1].any(axis=1)
    return {
        name: _counted_column(table, bases[index], blocks[index]) for index, name in table.names.items() if fits[index]
    }


def _append_missing(counts: IntegerArray, classes: _Classes) -> IntegerArray:
    """(columns, classes, values): the counts with one more value, missing, which has the rest of each class."""
    return np.concatenate([counts, (classes.totals - counts.sum(axis=2))[:, :, np.newaxis]], axis=2)


def _counted_column(table: NumberTable, base: float, block: IntegerArray) -> tuple[Column, IntegerArray]:
    """A column without its codes, and its counts."""
    if table.columns[0].dtype == np.bool_:  # counted like four numbers
        return Column(_NO_CODES, BOOLEAN, ("false", "true")), block[:, [0, 1, -1]]
    return Column(_NO_CODES, NUMBER, numbers=np.arange(block.shape[1] - 1, dtype=np.float64) + float(base)), block
