"""The arguments of the steps on a device: a block of columns, and the numbers that the posteriors depend on."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, BooleanArray, FloatArray, Foreign, IntegerArray

    Codes = NDArray[np.unsignedinteger]

INTERVAL, ABOVE, EVIDENCE = 1, 2, 4  # bits: what to compute besides P(independent) and the mean


_EVEN_ROWS = 64  # products of matrices with other numbers of rows are several times slower


def padded(rows: int) -> int:
    """The number of rows of a one-hot matrix, rounded up; the rows that are added are 0."""
    return -(-rows // _EVEN_ROWS) * _EVEN_ROWS


class Block(NamedTuple):
    """Neighbouring columns: the number of the first one; for each column how many values and one-hot rows it has.

    A column of s values has s one-hot rows if values are missing. Otherwise it has s - 1: the counts of the last value
    follow from the others.
    """

    start: int
    values: NDArray[np.int32]
    first: NDArray[np.int32]  # of each column, the number of its first one-hot row
    kept: NDArray[np.int32]  # of each column, how many one-hot rows it has
    on_device: tuple[Foreign, Foreign, Foreign, Foreign]  # first, values, kept; totals (columns, largest of values)

    @property
    def stop(self) -> int:
        """The number after that of the last column."""
        return self.start + self.values.size


class Hyper(NamedTuple):
    """The constants of the adaptive prior; level and epsilon of the posteriors; the most grid points."""

    smoothing: float
    loosest: float
    tightest: float
    prior_zero: float
    negligible: float
    level: float
    epsilon: float
    max_points: int


class Screen(NamedTuple):
    """What the first look for interactions needs: see `questions.interactions.pair_screen.screen_blocks`."""

    missing: NDArray[np.int32]  # of each column, whether its last value means missing
    totals: NDArray[np.int32]  # (columns, largest number of values, classes)
    alone: FloatArray
    informative: NDArray[np.int32]
    rows: float
    of_classes: float
    bounds: FloatArray
    cut: float
    redundancy: float
    dense: float  # from so many rows a cell on, the evidence of the first look holds


class Looked(NamedTuple):
    """Pairs that may interact: their numbers, evidence and synergy, and whether they are too sparse for it."""

    numbers: IntegerArray
    scores: FloatArray
    sparse: BooleanArray


class Device(Protocol):
    """Where products are computed: a GPU, or numpy in its place."""

    name: str
    xp: Foreign  # cupy, or numpy
    out_of_memory: tuple[type[Exception], ...]

    def free_bytes(self) -> int:
        """How much memory may be used."""

    def used_bytes(self) -> int:
        """How much memory is taken, including what is kept for later."""

    def release(self) -> None:
        """Give back the memory that is kept for later."""

    def finish(self) -> None:
        """Wait until the device has finished all work."""

    def upload(self, codes: Sequence[Codes], width: int) -> Foreign:
        """Codes as rows of a matrix, filled with 255 up to `width`."""

    def count_values(self, codes: Foreign, values: NDArray[np.int32], max_values: int) -> Foreign:
        """How often each value of each column occurs, (columns, max_values)."""

    def one_hot(self, codes: Foreign, rows: slice, hot_rows: NDArray[np.int32]) -> Foreign:
        """For each of the first `hot_rows` values of each column a row: 1 where the column has it; `padded` with 0."""

    def multiply(self, first: Foreign, second: Foreign, common: Foreign) -> None:
        """Add the product of `first` and the transposed `second` to the common counts, exactly."""

    def bring(self, figures: Foreign, targets: Sequence[FloatArray]) -> Callable[[], None]:
        """Copy rows of figures to arrays in the CPU's memory, in the background; call the result to wait for it."""

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
        """Fill figures of the pairs of two blocks; return the numbers of the pairs left to the caller.

        A pair's number is (index in the first block) * (size of the second) + (index in the second). With `chosen`,
        only pairs of these numbers are summarized, and positions in `chosen` are returned. `out` is (figures, pairs or
        chosen pairs).
        """

    def screen(self, products: Foreign, blocks: tuple[Block, Block], screen: Screen) -> Looked | None:
        """The first look at the pairs of two blocks, from the common counts of each class; None if there is none."""
