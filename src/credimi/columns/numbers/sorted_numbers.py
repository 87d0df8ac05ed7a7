"""Columns of many different numbers, counted by sorting the numbers together with the classes; no codes are made.

The result is that of `columns.encode` and `counting.tabulate`, in a fraction of the time: labels, made coarser if they
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
from credimi.columns.numbers.small_codes import tables_of
from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, FloatArray, Foreign, IntegerArray

    CountArray = IntegerArray

CELLS_WORTH_COMPILING = 2_000_000  # below this, numpy is done before compiled code is loaded
_TOGETHER, _LINES = 4, 4_096  # columns of a row-major table, and rows of them that fit into a cache
_SAMPLE, _MANY = 1024, 512  # values that are sampled, and how many of them must be different for a column to be sorted


def many_numbers(columns: Mapping[str, Foreign], features: Sequence[str]) -> list[str]:
    """The features that are numbers, nearly all different among some sampled values."""
    return [name for name in features if _are_many(columns[name])]


def _are_many(values: Foreign) -> bool:
    step = max(len(values) // _SAMPLE, 1) if hasattr(values, "__len__") else 0
    if not step or len(values) < _MANY:
        return False
    if type(values) is np.ndarray and values.dtype.kind in "iuf" and values.dtype.itemsize <= 8:
        sample = every(values, step)
    elif isinstance(values, pa.Array | pa.ChunkedArray) and (
        pa.types.is_integer(values.type) or pa.types.is_floating(values.type)
    ):
        sample = doubles(every(values, step))
    else:
        return False
    return np.unique(sample[sample == sample]).size > _MANY  # noqa: PLR0124  (NaN is not)


def every(values: Foreign, step: int) -> Foreign:
    """One of so many values, from the first on."""
    if isinstance(values, np.ndarray):
        return values[::step]
    return values.take(pa.array(np.arange(0, len(values), step)))


def as_doubles(values: Foreign) -> FloatArray | None:
    """The numbers in one piece, NaN if missing; None if they are whole numbers that no double holds."""
    if isinstance(values, np.ndarray):
        if values.dtype.kind != "f" and max(abs(int(values.min())), abs(int(values.max()))) > EXACT:
            return None
        return np.ascontiguousarray(values, dtype=np.float64)
    if pa.types.is_integer(values.type):
        ends = [scalar.as_py() for scalar in pc.min_max(values).values()]
        if ends[0] is not None and max(abs(ends[0]), abs(ends[1])) > EXACT:
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
    """Labels and counts of these columns, with at most so many labels each; columns without doubles are omitted."""
    classes = groups.astype(np.uint16)
    classes.flags.writeable = False
    found: dict[str, tuple[Labels, CountArray]] = {}
    rooms: list[Room] = []

    def work(part: Sequence[str]) -> None:
        room = rooms.pop() if rooms else Room(groups.size)
        for name, values in zip(part, _in_one_piece([columns[each] for each in part]), strict=True):
            numbers = as_doubles(values)
            if numbers is not None:
                found[name] = room.counted(numbers, classes, height, max_labels)
        rooms.append(room)

    share(work, _parts(columns, names), threads)
    return found


def _parts(columns: Mapping[str, Foreign], names: Sequence[str]) -> list[list[str]]:
    """The columns one by one; a few together that are side by side in a row-major table."""
    beside: dict[str, list[str]] = {}
    for table in tables_of({name: columns[name] for name in names}):
        places = sorted(table.names) if table.cells is not None else []
        for start in range(0, len(places), _TOGETHER):
            part = [table.names[place] for place in places[start : start + _TOGETHER]]
            beside |= dict.fromkeys(part, part)
    parts: list[list[str]] = []
    done: set[str] = set()
    for name in names:
        if name not in done:
            parts.append(beside.get(name, [name]))
            done.update(parts[-1])
    return parts


def _in_one_piece(columns: list[Foreign]) -> Sequence[Foreign]:
    """The same columns; several, which are side by side, are copied together, so that memory is read once."""
    if len(columns) == 1:
        return columns
    turned = np.empty((len(columns), columns[0].size), dtype=columns[0].dtype)
    for start in range(0, columns[0].size, _LINES):
        for own, values in zip(turned, columns, strict=True):
            own[start : start + _LINES] = values[start : start + _LINES]
    return list(turned)


class Room:
    """Memory for sorting a column, reused for the next: fresh memory is slow."""

    def __init__(self, rows: int) -> None:
        from credimi.kernels.reading import sort_numbers  # noqa: PLC0415  (loads compiled code)

        self.keys = np.empty((2, rows), dtype=np.uint64)
        self.labels = np.empty((2, rows), dtype=np.uint16)
        self.sizes = np.empty((sort_numbers.DIGITS, 1 << sort_numbers.BITS), dtype=np.int64)

    def sort(self, values: FloatArray, classes: NDArray[np.uint16], lowest: int, missing: CountArray) -> int:
        """Sort by the bits from `lowest` on; returns how many numbers are not missing."""
        from credimi.kernels.reading import sort_numbers  # noqa: PLC0415  (loads compiled code)

        missing[:] = 0
        numbers = np.ascontiguousarray(values)
        return sort_numbers.sort(numbers, classes, lowest, self.keys, self.labels, self.sizes, missing)

    def numbers(self, number: int) -> FloatArray:
        """The first numbers in order."""
        keys, sign = self.keys[0, :number], np.uint64(1 << 63)
        return np.where(keys & sign, keys ^ sign, ~keys).view(np.float64)

    def counted(
        self, values: FloatArray, classes: NDArray[np.uint16], height: int, max_labels: int
    ) -> tuple[Labels, CountArray]:
        """The labels of a column, and how often each class occurs with each; missing values last."""
        from credimi.kernels.reading import sort_numbers  # noqa: PLC0415  (loads compiled code)

        missing = np.zeros(height, dtype=np.int64)
        lowest = sort_numbers.HALF if values.size > max_labels else 0
        number = self.sort(values, classes, lowest, missing)
        distinct = self._distinct(number, lowest)
        if lowest and distinct[lowest] <= max_labels:  # few after all: all bits matter
            lowest = 0
            number = self.sort(values, classes, lowest, missing)
            distinct = self._distinct(number, lowest)
        dropped = bisect_left(range(64), 1, lo=lowest, key=lambda bits: int(distinct[bits] <= max_labels))
        size = int(distinct[dropped])
        numbers = np.empty(size)
        block = np.zeros((height, size + 1), dtype=np.int64)
        sort_numbers.count_labels(self.keys[0], self.labels[0], number, dropped, numbers, block)
        block[:, -1] = missing
        return Labels(NUMBER, numbers=numbers, dropped_bits=dropped), block

    def _distinct(self, number: int, lowest: int) -> CountArray:
        """How many labels there are if 0, 1, 2, ... bits are dropped, from `lowest` on."""
        from credimi.kernels.reading import sort_numbers  # noqa: PLC0415  (loads compiled code)

        keys = self.keys[0]
        pairs = np.zeros(64, dtype=np.int64)
        negative = sort_numbers.differences(keys, number, lowest, pairs)
        distinct = np.cumsum(pairs[::-1])[::-1] + (number > 0)
        if 0 < negative < number:  # small numbers of both signs become 0
            small = max(~int(keys[negative - 1]) & (2**63 - 1), int(keys[negative]) & (2**63 - 1))
            distinct[small.bit_length() :] -= 1
        return distinct
