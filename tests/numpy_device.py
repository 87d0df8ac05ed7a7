"""`NumpyDevice`: the steps of the blocked counting of pairs on the CPU, in place of a GPU (see `cupy_device`).

It is there for the tests, which run everywhere: the same blocks, the same products, the same subtractions. It computes
no posteriors: all pairs are left to the caller.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.questions.pairs.gpu.layout import padded

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, FloatArray, Foreign, IntegerArray
    from credimi.questions.pairs.gpu.layout import Block, Hyper, Looked, Screen

    Codes = NDArray[np.uint8]


class NumpyDevice:
    """Arrays of numpy, in as many bytes as are allowed."""

    name = "numpy"
    xp: Foreign = np
    out_of_memory: tuple[type[Exception], ...] = (MemoryError,)

    def __init__(self, memory: int = 1 << 28) -> None:
        self.memory = memory

    def free_bytes(self) -> int:
        """How much memory may be used."""
        return self.memory

    def used_bytes(self) -> int:
        """Not known here."""
        return 0

    def release(self) -> None:
        """Nothing is kept."""

    def finish(self) -> None:
        """Nothing is ever left to do."""

    def upload(self, codes: Sequence[Codes], width: int) -> Codes:
        """Codes as rows of a matrix, filled with 255 up to `width`."""
        matrix = np.full((len(codes), width), 255, dtype=np.uint8)
        for row, column in zip(matrix, codes, strict=True):
            row[: column.size] = column
        return matrix

    def count_values(self, codes: Codes, values: NDArray[np.int32], max_values: int) -> NDArray[np.int32]:
        """How often each value of each column occurs, (columns, max_values)."""
        totals = np.zeros((codes.shape[0], max_values), dtype=np.int32)
        for column, size in enumerate(values.tolist()):
            totals[column, :size] = np.bincount(codes[column], minlength=256)[:size]
        return totals

    def one_hot(self, codes: Codes, rows: slice, hot_rows: NDArray[np.int32]) -> NDArray[np.int8]:
        """One row for each of the first `hot_rows` values of each column: 1 where the column has this value."""
        part = codes[:, rows]
        parts = [part[column] == np.arange(size)[:, np.newaxis] for column, size in enumerate(hot_rows.tolist())]
        one_hot = np.zeros((padded(int(hot_rows.sum())), part.shape[1]), dtype=np.int8)
        one_hot[: int(hot_rows.sum())] = np.concatenate(parts)
        return one_hot

    def multiply(self, first: NDArray[np.int8], second: NDArray[np.int8], common: NDArray[np.int32]) -> None:
        """Add the product of `first` and the transposed `second`, exactly: sums below 2^53 are exact in doubles."""
        common += (first.astype(np.float64) @ second.astype(np.float64).T).astype(np.int32)

    def bring(self, figures: FloatArray, targets: Sequence[FloatArray]) -> Callable[[], None]:
        """Copy rows of figures to the targets."""
        for row, target in zip(figures, targets, strict=True):
            target[...] = row
        return lambda: None

    def to_host(self, array: AnyArray) -> AnyArray:
        """The array in the memory of the CPU."""
        return array

    def summarize(
        self,
        common: NDArray[np.int32],
        blocks: tuple[Block, Block],
        hyper: Hyper,
        wanted: int,
        out: FloatArray,
        *,
        chosen: IntegerArray | None = None,
    ) -> IntegerArray:
        """Leave all pairs to the caller."""
        del common, hyper, wanted, out  # nothing is computed here
        first, second = blocks
        if chosen is not None:
            return np.arange(chosen.size)
        one, other = np.arange(first.start, first.stop), np.arange(second.start, second.stop)
        return np.flatnonzero((one[:, np.newaxis] < other).ravel())

    def screen(self, products: NDArray[np.int32], blocks: tuple[Block, Block], screen: Screen) -> Looked | None:
        """There is no first look: all pairs are left to the caller."""
        del products, blocks, screen
        return None
