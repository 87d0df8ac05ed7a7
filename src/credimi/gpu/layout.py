"""What the steps on a device are given: a block of columns, and the numbers that the posteriors depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, BooleanArray, FloatArray, Foreign, IntegerArray

    Codes = NDArray[np.unsignedinteger]

INTERVAL, ABOVE, EVIDENCE = 1, 2, 4  # bits of what is wanted besides P(independent) and the mean


_EVEN_ROWS = 64  # products of matrices with other numbers of rows are several times slower


def padded(rows: int) -> int:
    """How many rows a one-hot matrix has; those behind its own are 0."""
    return -(-rows // _EVEN_ROWS) * _EVEN_ROWS


class Block(NamedTuple):
    """Neighbouring columns: the number of the first, and of each its values, the first of its one-hot rows, how many.

    A column of s values has s one-hot rows where values are missing; else s - 1: the last value is what remains.
    """

    start: int
    values: NDArray[np.int32]
    first: NDArray[np.int32]
    kept: NDArray[np.int32]
    on_device: tuple[Foreign, Foreign, Foreign, Foreign]  # first, values, kept; totals (columns, most values)

    @property
    def stop(self) -> int:
        """The number after that of the last column."""
        return self.start + self.values.size


class Hyper(NamedTuple):
    """The constants of the adaptive prior, and what is asked of the posteriors."""

    smoothing: float
    loosest: float
    tightest: float
    prior_zero: float
    negligible: float
    level: float
    epsilon: float
    most_points: int


class Screen(NamedTuple):
    """What the first look for interactions needs: see `kernels.pairs.pair_screen.screen_blocks`."""

    missing: NDArray[np.int32]  # of each column, whether its last value means missing
    totals: NDArray[np.int32]  # (columns, most values, classes)
    alone: FloatArray
    informative: NDArray[np.int32]
    rows: float
    of_classes: float
    bounds: FloatArray
    cut: float
    redundancy: float
    dense: float  # rows a cell from which on the evidence of the first look holds


class Looked(NamedTuple):
    """Pairs that may be more than nothing: numbers, evidence and synergy, and whether they are too sparse for it."""

    numbers: IntegerArray
    scores: FloatArray
    sparse: BooleanArray


class Device(Protocol):
    """Where products are made: a GPU, or numpy in its place."""

    name: str
    xp: Foreign  # cupy, or numpy
    out_of_memory: tuple[type[Exception], ...]

    def free_bytes(self) -> int:
        """How much memory may be used."""

    def used_bytes(self) -> int:
        """How much memory is taken, that which is kept for later included."""

    def release(self) -> None:
        """Give back the memory that is kept for later."""

    def finish(self) -> None:
        """Wait until all that was asked for is done."""

    def upload(self, codes: Sequence[Codes], width: int) -> Foreign:
        """Codes as rows of a matrix, with 255 behind them."""

    def count_values(self, codes: Foreign, values: NDArray[np.int32], most: int) -> Foreign:
        """How often each value of each column occurs, (columns, most)."""

    def one_hot(self, codes: Foreign, rows: slice, kept: NDArray[np.int32]) -> Foreign:
        """One row for each of the first `kept` values of each column: 1 where it is the value; `padded` with 0."""

    def multiply(self, first: Foreign, second: Foreign, common: Foreign) -> None:
        """Add first second' to the common counts, exactly."""

    def bring(self, figures: Foreign, places: Sequence[FloatArray]) -> Callable[[], None]:
        """Copy rows of figures to places in the memory of the CPU, while work goes on; the result waits for it."""

    def to_host(self, array: Foreign) -> AnyArray:
        """The array in the memory of the CPU."""

    def summarize(
        self,
        common: Foreign,
        blocks: tuple[Block, Block],
        hyper: Hyper,
        wanted: int,
        out: Foreign,
        *,
        chosen: Foreign = None,
    ) -> Foreign:
        """Fill figures of the pairs of two blocks; return the numbers of those that are left.

        A pair's number is (place in the first block) * size of the second + place in it. With `chosen`, only pairs of
        these numbers are summarized, and what is returned are places in it. `out` is (figures, pairs or chosen pairs).
        """

    def screen(self, products: Foreign, blocks: tuple[Block, Block], screen: Screen) -> Looked | None:
        """The first look at the pairs of two blocks, from the common counts of each class; None if there is none."""
