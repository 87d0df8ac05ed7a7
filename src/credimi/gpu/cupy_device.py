"""`CupyDevice`: one NVIDIA GPU by way of CuPy: codes, one-hot rows, their products, and posteriors of pairs of columns.

CuPy, because it is small beside PyTorch, calls cuBLAS' products of 8-bit integers with 32-bit sums, which run on tensor
cores and are exact, and compiles CUDA sources when they are needed. The sources in this folder repeat
`kernels.adaptive_weights`, `two_sided_weights`, `moments` and `mixture_tails`, one table a thread. They are compiled
for the shape of the tables where these are small, and else with room for columns of so many values, up to 12; CuPy
stores what is compiled in the user's cache directory.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.gpu.layout import Block, Hyper

    Codes = NDArray[np.uint8]

_SOURCES = (
    "special.cuh",
    "one_sided.cuh",
    "mixture_tails.cuh",
    "mode.cuh",
    "two_sided.cuh",
    "posterior.cuh",
    "pairs.cu",
)
_THREADS = 128
_WORD = 16  # bytes that a thread reads at once
_KNOWN_SHAPE = 3  # values up to which the shape of a table is compiled in
_ROOMS = (4, 6, 12)  # values of the others
_INT8, _INT32, _SUMS_OF_INT32 = 3, 10, 72  # of cuBLAS: CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I
_AS_IS, _TURNED, _DEFAULT = 0, 1, -1


class CupyDevice:
    """The current device of CuPy."""

    def __init__(self, cupy: Any) -> None:
        self.xp = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self.out_of_memory = (cupy.cuda.memory.OutOfMemoryError,)
        self._modules: dict[tuple[int, ...], Any] = {}
        self._lock = Lock()
        self._one = np.ones(1, dtype=np.int32)

    def free_bytes(self) -> int:
        """How much memory is free, that which CuPy keeps for later included."""
        return int(self.xp.cuda.runtime.memGetInfo()[0]) + int(self.xp.get_default_memory_pool().free_bytes())

    def upload(self, codes: Sequence[Codes], width: int) -> Any:
        """Codes as rows of a matrix, with 255 behind them."""
        found = self.xp.empty((len(codes), width), dtype=np.uint8)
        length = codes[0].size if codes else 0
        if length < width:
            found[:, length:] = 255
        runtime, stream = self.xp.cuda.runtime, self.xp.cuda.get_current_stream().ptr
        for row, each in _runs(codes):
            runtime.memcpy2DAsync(
                found.data.ptr + row * width, width, each.ctypes.data, length, length, each.shape[0], 1, stream
            )
        self.xp.cuda.get_current_stream().synchronize()  # the arrays may be gone later
        return found

    def count_values(self, codes: Any, values: NDArray[np.int32], most: int) -> Any:
        """How often each value of each column occurs, (columns, most)."""
        totals = self.xp.zeros((codes.shape[0], most), dtype=np.int32)
        words = codes.shape[1] // _WORD
        grid = (max(1, min(64, -(-words // _THREADS))), codes.shape[0])
        arguments = codes, np.int64(words), self.xp.asarray(values), np.int32(most), totals
        self._kernel("count_values")(grid, (_THREADS,), arguments, shared_mem=4 * most)
        return totals

    def one_hot(self, codes: Any, rows: slice, kept: NDArray[np.int32]) -> Any:
        """One row for each of the first `kept` values of each column: 1 where it is the value."""
        width = rows.stop - rows.start
        hot = self.xp.empty((int(kept.sum()), width), dtype=np.int8)
        first = (np.cumsum(kept) - kept).astype(np.int32)
        words, skip, stride = width // _WORD, rows.start // _WORD, codes.shape[1] // _WORD
        arguments = codes, np.int64(stride), np.int64(skip), np.int64(words)
        more = self.xp.asarray(first), self.xp.asarray(kept), hot
        grid = (-(-words // _THREADS), codes.shape[0])
        self._kernel("one_hot")(grid, (_THREADS,), (*arguments, *more))
        return hot

    def multiply(self, first: Any, second: Any, product: Any) -> None:
        """Add first second' to the product."""
        blas = self.xp.cuda.cublas
        blas.gemmEx(
            self.xp.cuda.device.get_cublas_handle(),
            _TURNED,
            _AS_IS,
            second.shape[0],
            first.shape[0],
            first.shape[1],
            self._one.ctypes.data,
            second.data.ptr,
            _INT8,
            second.shape[1],
            first.data.ptr,
            _INT8,
            first.shape[1],
            self._one.ctypes.data,
            product.data.ptr,
            _INT32,
            product.shape[1],
            _SUMS_OF_INT32,
            _DEFAULT,
        )

    def to_host(self, array: Any) -> NDArray[Any]:
        """The array in the memory of the CPU."""
        found: NDArray[Any] = self.xp.asnumpy(array)
        return found

    def summarize(
        self, product: Any, blocks: tuple[Block, Block], hyper: Hyper, wanted: int, out: Any, *, chosen: Any = None
    ) -> Any:
        """Fill figures of the pairs of two blocks; return the numbers of those that are left (see `layout.Device`)."""
        first, second = blocks
        xp, size = self.xp, second.values.size
        found = [xp.zeros(0, dtype=np.int64)]
        for rows in np.unique(first.values).tolist():
            for columns in np.unique(second.values).tolist():
                one = xp.asarray(np.flatnonzero(first.values == rows).astype(np.int32))
                other = xp.asarray(np.flatnonzero(second.values == columns).astype(np.int32))
                places = None
                if chosen is not None:
                    own = (first.on_device[1][chosen // size] == rows) & (second.on_device[1][chosen % size] == columns)
                    places = xp.flatnonzero(own)
                if max(rows, columns) > _ROOMS[-1]:
                    found.append(places if places is not None else self._all_pairs(one, other, first, second))
                    continue
                if places is None:
                    some, target, count = None, out, one.size * other.size
                else:
                    some, target, count = chosen[places], xp.empty((out.shape[0], places.size)), places.size
                if count:
                    left = self._summarize_shape(
                        (rows, columns), product, blocks, (one, other), some, count, hyper, wanted, target
                    )
                    found.append(left if places is None else places[left])
                if places is not None:
                    out[:, places] = target
        return xp.concatenate(found)

    def _summarize_shape(
        self,
        shape: tuple[int, int],
        product: Any,
        blocks: tuple[Block, Block],
        columns: tuple[Any, Any],
        chosen: Any,
        count: int,
        hyper: Hyper,
        wanted: int,
        out: Any,
    ) -> Any:
        """As `summarize`, of tables of one shape."""
        first, second = blocks
        number, left = self.xp.zeros(1, dtype=np.int32), self.xp.empty(count, dtype=np.int32)
        of_columns = [each for pair in zip(first.on_device, second.on_device, strict=True) for each in pair]
        most = first.on_device[3].shape[1]
        arguments = (
            *(product, np.int64(product.shape[1]), *columns, np.int32(columns[1].size)),
            *(0 if chosen is None else chosen, np.int64(count), *of_columns, np.int32(most)),
            *(np.int64(first.start), np.int64(second.start), np.int32(second.values.size)),
            *(np.float64(each) for each in hyper[:-1]),
            *(np.int32(hyper.most_points), np.int32(wanted)),
            *(out, np.int64(out.shape[1]), number, left),
        )
        both = bool((first.kept == first.values).any() and (second.kept == second.values).any())
        kernel = self._kernel("summarize_pairs", *self._room(*shape, hyper.most_points, both=both))
        kernel((-(-count // _THREADS),), (_THREADS,), arguments)
        return left[: int(number[0])].astype(np.int64)

    def _all_pairs(self, one: Any, other: Any, first: Block, second: Block) -> Any:
        """The numbers of all pairs of these columns whose second column comes later."""
        numbers = one.astype(np.int64)[:, np.newaxis] * second.values.size + other
        later = first.start + one[:, np.newaxis] < second.start + other
        return numbers[later]

    def _room(self, rows: int, columns: int, points: int, *, both: bool) -> tuple[int, ...]:
        """What is compiled in: longer side, cells, points of the grid, whether both columns may miss; small shapes."""
        longer, shorter = max(rows, columns), min(rows, columns)
        if longer <= _KNOWN_SHAPE:
            return longer, longer * shorter, points * 2 // 3, int(both), longer, shorter
        side = next(room for room in _ROOMS if longer <= room)
        return side, side * side, points, int(both)

    def _kernel(self, name: str, *macros: int) -> Any:
        """A kernel, for tables of the given room: see `_room`."""
        with self._lock:
            if macros not in self._modules:
                names = ("SIDE", "CELLS", "POINTS", "MAY_MISS_BOTH", "ROWS", "COLUMNS")
                options = [f"-DTABLE_{macro}={value}" for macro, value in zip(names, macros, strict=False)]
                self._modules[macros] = self.xp.RawModule(code=sources(), options=("--std=c++17", *options))
            return self._modules[macros].get_function(name)


def sources() -> str:
    """All of the CUDA sources as one."""
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in _SOURCES)


def _runs(codes: Sequence[Codes]) -> list[tuple[int, Codes]]:
    """Columns that follow each other in memory as one matrix, with the number of the first: fewer, longer copies."""
    found: list[tuple[int, Codes]] = []
    start = 0
    while start < len(codes):
        after, length = start + 1, codes[start].size
        at = codes[start].ctypes.data
        while after < len(codes) and codes[after].ctypes.data == at + (after - start) * length:
            after += 1
        whole = np.lib.stride_tricks.as_strided(codes[start], (after - start, length), (length, 1))
        found.append((start, whole))
        start = after
    return found
