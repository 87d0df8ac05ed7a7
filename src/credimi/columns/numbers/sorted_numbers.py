"""Counts columns of many different numbers: sorts the numbers together with the classes, and makes no codes.

The result is that of `columns.encode` and `counts.tabulate`, in a fraction of the time: labels, made coarser if there
are too many, and the counts of each class with each label.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from credimi.columns.arrow_buffers import doubles
from credimi.columns.labels import EXACT, NUMBER, Labels
from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, FloatArray, Foreign, IntegerArray

    CountArray = IntegerArray

CELLS_WORTH_COMPILING = 2_000_000  # below this, numpy is done before compiled code is loaded
_SAMPLED_VALUES, _MIN_DISTINCT = 1024, 512  # a column is sorted if more sampled values are distinct


def many_numbers(columns: Mapping[str, Foreign], features: Sequence[str]) -> list[str]:
    """The features that are numbers with many distinct values, judged by a sample."""
    return [name for name in features if _has_many_numbers(columns[name])]


def _has_many_numbers(values: Foreign) -> bool:
    step = max(len(values) // _SAMPLED_VALUES, 1) if hasattr(values, "__len__") else 0
    if not step or len(values) < _MIN_DISTINCT:
        return False
    if type(values) is np.ndarray and values.dtype.kind in "iuf" and values.dtype.itemsize <= 8:
        sample = every(values, step)
    elif isinstance(values, pa.Array | pa.ChunkedArray) and (
        pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    ):
        sample = doubles(every(values, step))
    else:
        return False
    return np.unique(sample[sample == sample]).size > _MIN_DISTINCT  # noqa: PLR0124  (NaN is not equal to itself)


def every(values: Foreign, step: int) -> Foreign:
    """Every `step`-th value, from the first on."""
    if isinstance(values, np.ndarray):
        return values[::step]
    return values.take(pa.array(np.arange(0, len(values), step)))


def as_doubles(values: Foreign) -> FloatArray | None:
    """The numbers as one contiguous array, NaN if missing; None if they are integers too large to be exact doubles."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind != "f" and max(abs(int(values.min())), abs(int(values.max()))) > EXACT:
            return None
        return np.ascontiguousarray(values, dtype=np.float64)
    if pa.types.is_integer(values.type):
        extremes = [scalar.as_py() for scalar in pc.min_max(values).values()]
        if extremes[0] is not None and max(abs(extremes[0]), abs(extremes[1])) > EXACT:
            return None
    return doubles(values)


def count_sorted(
    columns: Mapping[str, Foreign],
    names: Sequence[str],
    groups: AnyArray,
    height: int,
    *,
    max_labels: int,
    threads: int | None = None,
) -> dict[str, tuple[Labels, CountArray]]:
    """Labels and counts of these columns, at most `max_labels` labels each.

    Columns that `as_doubles` cannot convert are omitted.
    """
    classes = groups.astype(np.uint16)
    classes.flags.writeable = False
    counted: dict[str, tuple[Labels, CountArray]] = {}
    free_buffers: list[SortBuffers] = []

    def work(name: str) -> None:
        numbers = as_doubles(columns[name])
        if numbers is not None:
            buffers = free_buffers.pop() if free_buffers else SortBuffers(groups.size)
            counted[name] = buffers.counted(numbers, classes, height, max_labels)
            free_buffers.append(buffers)

    share(work, names, threads)
    return counted


class SortBuffers:
    """Memory for sorting a column, reused for the next column, because new memory is slow."""

    def __init__(self, rows: int) -> None:
        from credimi.columns.numbers import sort_numbers  # noqa: PLC0415  (loads compiled code)

        self.kernels = sort_numbers
        self.keys = np.empty((2, rows), dtype=np.uint64)
        self.labels = np.empty((2, rows), dtype=np.uint16)
        self.sizes = np.empty((sort_numbers.DIGITS, 1 << sort_numbers.BITS), dtype=np.int64)

    def sort(self, values: FloatArray, classes: NDArray[np.uint16], lowest_bit: int, missing: CountArray) -> int:
        """Sort by the bits from `lowest_bit` on; fill `missing` with counts by class. Returns how many are present."""
        missing[:] = 0
        numbers = np.ascontiguousarray(values)
        return self.kernels.sort(numbers, classes, lowest_bit, self.keys, self.labels, self.sizes, missing)

    def numbers(self, count: int) -> FloatArray:
        """The first `count` sorted numbers."""
        keys, sign = self.keys[0, :count], np.uint64(1 << 63)
        return np.where(keys & sign, keys ^ sign, ~keys).view(np.float64)

    def counted(
        self, values: FloatArray, classes: NDArray[np.uint16], height: int, max_labels: int
    ) -> tuple[Labels, CountArray]:
        """The labels of a column, and the counts, classes x labels; the counts of missing values are last."""
        missing = np.zeros(height, dtype=np.int64)
        lowest_bit = self.kernels.HALF if values.size > max_labels else 0
        present = self.sort(values, classes, lowest_bit, missing)
        distinct = self._distinct(present, lowest_bit)
        if lowest_bit and distinct[lowest_bit] <= max_labels:  # few distinct numbers: sort again, by all bits
            lowest_bit = 0
            present = self.sort(values, classes, lowest_bit, missing)
            distinct = self._distinct(present, lowest_bit)
        dropped = bisect_left(range(64), 1, lo=lowest_bit, key=lambda bits: int(distinct[bits] <= max_labels))
        size = int(distinct[dropped])
        numbers = np.empty(size)
        block = np.zeros((height, size + 1), dtype=np.int64)
        self.kernels.count_labels(self.keys[0], self.labels[0], present, dropped, numbers, block)
        block[:, -1] = missing
        return Labels(NUMBER, numbers=numbers, dropped_bits=dropped), block

    def _distinct(self, count: int, lowest_bit: int) -> CountArray:
        """The number of labels if 0, 1, 2, ... bits are dropped; valid from `lowest_bit` bits on."""
        keys = self.keys[0]
        neighbours_by_bit = np.zeros(64, dtype=np.int64)
        negative_count = self.kernels.differences(keys, count, lowest_bit, neighbours_by_bit)
        distinct = np.cumsum(neighbours_by_bit[::-1])[::-1] + (count > 0)
        if 0 < negative_count < count:  # small numbers of both signs become one label, 0, if all their bits are dropped
            magnitude = max(~int(keys[negative_count - 1]) & (2**63 - 1), int(keys[negative_count]) & (2**63 - 1))
            distinct[magnitude.bit_length() :] -= 1
        return distinct
