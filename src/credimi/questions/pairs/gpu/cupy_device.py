"""`CupyDevice`: one NVIDIA GPU by way of CuPy: codes, one-hot rows, their products, and posteriors of pairs of columns.

CuPy, because it is small beside PyTorch, calls cuBLAS' products of 8-bit integers with 32-bit sums, which run on tensor
cores and are exact, and compiles CUDA sources when they are needed. The sources in this folder repeat
`inference.evidence.adaptive_weights`, `two_sided_weights`, `moments` and `mixture_tails`, one thread for each
table. Kernels for small tables are compiled for their exact shape, those for larger tables with room for 4, 6 or 12
values a column. CuPy stores compiled kernels in the user's cache directory.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.core.threads import share
from credimi.questions.pairs.gpu.layout import Looked, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, FloatArray, Foreign
    from credimi.questions.pairs.gpu.layout import Block, Hyper, Screen

    Codes = NDArray[np.uint8]

_SOURCES = (
    "special.cuh",
    "one_sided.cuh",
    "mixture_tails.cuh",
    "mode.cuh",
    "two_sided.cuh",
    "posterior.cuh",
    "pairs.cu",
    "screen.cu",
)
_THREADS = 128
_TO_DEVICE = 1  # cudaMemcpyHostToDevice
_WORD = 16  # bytes that a thread reads at once
_KNOWN_SHAPE = 3  # up to so many values, kernels are compiled for the exact shape of a table
_ROOMS = (4, 6, 12)  # values for which the other kernels have room
_SCREEN_ROOMS = (8, 32)  # values, or classes, for which kernels of the first look at interactions have room
_INT8, _INT32, _SUMS_OF_INT32 = 3, 10, 72  # of cuBLAS: CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I
_AS_IS, _TURNED, _DEFAULT = 0, 1, -1


class _Launch(NamedTuple):
    """What a kernel needs: common counts, the two blocks, the columns in each, and which figures to compute."""

    common: Foreign
    blocks: tuple[Block, Block]
    columns: tuple[Foreign, Foreign]
    hyper: Hyper
    wanted: int


class CupyDevice:
    """The current device of CuPy."""

    def __init__(self, cupy: Foreign) -> None:
        self.xp: Foreign = cupy
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self.out_of_memory: tuple[type[Exception], ...] = (cupy.cuda.memory.OutOfMemoryError,)
        self._modules: dict[tuple[int, ...], Foreign] = {}
        self._one = np.ones(1, dtype=np.int32)
        self._copies = cupy.cuda.Stream(non_blocking=True)

    def free_bytes(self) -> int:
        """How much memory is free, including what CuPy keeps for later; no more than CuPy's limit allows."""
        pool = self.xp.get_default_memory_pool()
        free = int(self.xp.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())
        limit = int(pool.get_limit())
        return min(free, limit - int(pool.used_bytes())) if limit else free

    def used_bytes(self) -> int:
        """How much memory CuPy has taken, including what it keeps for later."""
        return int(self.xp.get_default_memory_pool().total_bytes())

    def release(self) -> None:
        """Give back the memory that CuPy keeps for later."""
        self.xp.get_default_memory_pool().free_all_blocks()

    def finish(self) -> None:
        """Wait until the device has finished all work."""
        self.xp.cuda.Device().synchronize()

    def upload(self, codes: Sequence[Codes], width: int) -> Foreign:
        """Codes as rows of a matrix, filled with 255 up to `width`."""
        matrix = self.xp.empty((len(codes), width), dtype=np.uint8)
        stream = self.xp.cuda.get_current_stream()
        if codes and codes[0].size < width:
            matrix[:, codes[0].size :] = 255
        for start, rows in _runs(codes):
            destination, length = matrix.data.ptr + start * width, rows.shape[1]
            self.xp.cuda.runtime.memcpy2DAsync(
                destination, width, rows.ctypes.data, length, length, rows.shape[0], _TO_DEVICE, stream.ptr
            )
        stream.synchronize()  # the caller may free the arrays later
        return matrix

    def bring(self, figures: Foreign, targets: Sequence[FloatArray]) -> Callable[[], None]:
        """Copy rows of figures to arrays in the memory of the CPU, in the background; call the result to wait for it.

        Nearly all of the time is spent on the CPU, which has to allocate each page.
        """
        ready, stream = self.xp.cuda.get_current_stream().record(), self._copies

        def copy() -> None:
            stream.wait_event(ready)
            for row, target in zip(figures, targets, strict=True):
                row.get(stream=stream, out=target)
            stream.synchronize()

        thread = Thread(target=copy, daemon=True)
        thread.start()
        return thread.join

    def count_values(self, codes: Foreign, values: NDArray[np.int32], max_values: int) -> Foreign:
        """How often each value of each column occurs, (columns, max_values)."""
        totals = self.xp.zeros((codes.shape[0], max_values), dtype=np.int32)
        words = codes.shape[1] // _WORD
        grid = (max(1, min(64, -(-words // _THREADS))), codes.shape[0])
        arguments = codes, np.int64(words), self.xp.asarray(values), np.int32(max_values), totals
        self._kernel("count_values")(grid, (_THREADS,), arguments, shared_mem=4 * max_values)
        return totals

    def one_hot(self, codes: Foreign, rows: slice, hot_rows: NDArray[np.int32]) -> Foreign:
        """One row for each of the first `hot_rows` values of each column: 1 where the column has this value."""
        width = rows.stop - rows.start
        hot = self.xp.empty((padded(int(hot_rows.sum())), width), dtype=np.int8)
        hot[int(hot_rows.sum()) :] = 0
        first = (np.cumsum(hot_rows) - hot_rows).astype(np.int32)
        words, skip, stride = width // _WORD, rows.start // _WORD, codes.shape[1] // _WORD
        arguments = codes, np.int64(stride), np.int64(skip), np.int64(words)
        outputs = self.xp.asarray(first), self.xp.asarray(hot_rows), hot
        grid = (-(-words // _THREADS), codes.shape[0])
        self._kernel("one_hot")(grid, (_THREADS,), (*arguments, *outputs))
        return hot

    def multiply(self, first: Foreign, second: Foreign, common: Foreign) -> None:
        """Add the product of `first` and the transposed `second` to the common counts."""
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
            common.data.ptr,
            _INT32,
            common.shape[1],
            _SUMS_OF_INT32,
            _DEFAULT,
        )

    def to_host(self, array: Foreign) -> AnyArray:
        """The array in the memory of the CPU."""
        on_host: AnyArray = self.xp.asnumpy(array)
        return on_host

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
        """Fill figures of the pairs of two blocks; return the pairs left to the caller (see `layout.Device`)."""
        first, second = blocks
        xp, size = self.xp, second.values.size
        shapes = list(product(np.unique(first.values).tolist(), np.unique(second.values).tolist()))
        may_miss_both = bool((first.kept == first.values).any() and (second.kept == second.values).any())
        rooms = {
            shape: _room(shape, hyper.max_points, both=may_miss_both) for shape in shapes if max(shape) <= _ROOMS[-1]
        }
        self._compile(set(rooms.values()))
        left_pairs = [xp.zeros(0, dtype=np.int64)]
        for rows, columns in shapes:
            one = xp.asarray(np.flatnonzero(first.values == rows).astype(np.int32))
            other = xp.asarray(np.flatnonzero(second.values == columns).astype(np.int32))
            launch = _Launch(common, blocks, (one, other), hyper, wanted)
            if chosen is None:
                if (rows, columns) in rooms:
                    left_pairs.append(self._run(launch, rooms[rows, columns], out))
                else:
                    left_pairs.append(_pairs_of(one, other, blocks))
                continue
            has_shape = (first.on_device[1][chosen // size] == rows) & (second.on_device[1][chosen % size] == columns)
            positions = xp.flatnonzero(has_shape)
            if positions.size == 0 or (rows, columns) not in rooms:
                left_pairs.append(positions)
                continue
            figures = xp.empty((out.shape[0], positions.size))
            left_pairs.append(positions[self._run(launch, rooms[rows, columns], figures, chosen[positions])])
            out[:, positions] = figures
        return xp.concatenate(left_pairs)

    def screen(self, products: Foreign, blocks: tuple[Block, Block], screen: Screen) -> Looked | None:
        """The first look at the pairs of two blocks, from the common counts of each class (see `layout.Device`)."""
        xp, (first, second) = self.xp, blocks
        side = max(int(first.values.max()), int(second.values.max()), screen.totals.shape[2])
        if side > _SCREEN_ROOMS[-1]:
            return None
        room = next(values for values in _SCREEN_ROOMS if side <= values)
        of_columns = [
            xp.asarray(array[block.start : block.stop])
            for array in (screen.missing, screen.totals, screen.alone, screen.informative)
            for block in blocks
        ]
        size = first.values.size * second.values.size
        count, numbers = xp.zeros(1, dtype=np.int32), xp.empty(size, dtype=np.int64)
        scores, sparse = xp.empty((size, 2)), xp.empty(size, dtype=np.int32)
        shapes = [array for pair in zip(first.on_device[:2], second.on_device[:2], strict=True) for array in pair]
        arguments = (
            *(products, np.int64(products.shape[2]), np.int64(products.shape[1] * products.shape[2])),
            *(np.int32(first.values.size), np.int32(second.values.size), np.int64(first.start), np.int64(second.start)),
            *(*shapes, *of_columns, np.int32(screen.totals.shape[1]), np.int32(screen.totals.shape[2])),
            *(np.float64(screen.rows), np.float64(screen.of_classes), xp.asarray(screen.bounds)),
            *(np.int32(screen.bounds.shape[1]), np.float64(screen.cut), np.float64(screen.redundancy)),
            *(np.float64(screen.dense), count, numbers, scores, sparse),
        )
        self._kernel("screen_pairs", room)((-(-size // _THREADS),), (_THREADS,), arguments)
        pair_count = int(count[0])
        order = xp.argsort(numbers[:pair_count])
        parts = (numbers[:pair_count][order], scores[:pair_count][order], sparse[:pair_count][order])
        pair_numbers, pair_scores, is_sparse = (self.to_host(array) for array in parts)
        return Looked(pair_numbers, pair_scores, is_sparse.astype(bool))

    def _run(self, launch: _Launch, room: tuple[int, ...], out: Foreign, chosen: Foreign = None) -> Foreign:
        """Fill figures of all pairs of two sets of columns, or of chosen pairs; return the pairs left to the caller."""
        common, (first, second), (one, other), hyper, wanted = launch
        count = one.size * other.size if chosen is None else chosen.size
        left_count, left = self.xp.zeros(1, dtype=np.int32), self.xp.empty(count, dtype=np.int32)
        of_columns = [array for pair in zip(first.on_device, second.on_device, strict=True) for array in pair]
        arguments = (
            *(common, np.int64(common.shape[1]), one, other, np.int32(other.size)),
            *(0 if chosen is None else chosen, np.int64(count), *of_columns, np.int32(first.on_device[3].shape[1])),
            *(np.int64(first.start), np.int64(second.start), np.int32(second.values.size)),
            *(np.float64(constant) for constant in hyper[:-1]),
            *(np.int32(hyper.max_points), np.int32(wanted), out, np.int64(out.shape[1]), left_count, left),
        )
        self._kernel("summarize_pairs", *room)((-(-count // _THREADS),), (_THREADS,), arguments)
        return left[: int(left_count[0])].astype(np.int64)

    def _kernel(self, name: str, *macros: int) -> Foreign:
        """A kernel with room for tables of a given size: see `_room`."""
        if macros not in self._modules:
            self._compile([macros])
        return self._modules[macros].get_function(name)

    def _compile(self, wanted: Collection[tuple[int, ...]]) -> None:
        """Compile the missing kernels, several at once: each takes some seconds the first time."""
        source = sources()

        def compile_module(macros: tuple[int, ...]) -> None:
            names = ("SIDE", "CELLS", "POINTS", "MAY_MISS_BOTH", "ROWS", "COLUMNS")
            options = [f"-DTABLE_{name}={value}" for name, value in zip(names, macros, strict=False)]
            if len(macros) == 1:
                options = [f"-DSCREEN_SIDE={macros[0]}", f"-DSCREEN_CELLS={macros[0] ** 2}"]
            module = self.xp.RawModule(code=source, options=("--std=c++17", *options))
            module.compile()
            self._modules[macros] = module

        share(compile_module, [macros for macros in wanted if macros not in self._modules])


def _pairs_of(one: Foreign, other: Foreign, blocks: tuple[Block, Block]) -> Foreign:
    """The numbers of all pairs of these columns whose second column comes later."""
    first, second = blocks
    numbers = one.astype(np.int64)[:, np.newaxis] * second.values.size + other
    return numbers[first.start + one[:, np.newaxis] < second.start + other]


def _room(shape: tuple[int, int], points: int, *, both: bool) -> tuple[int, ...]:
    """The constants of a kernel: longer side, cells, grid points, whether both columns may have missing values.

    If the table is small, its two sides follow.
    """
    longer, shorter = max(shape), min(shape)
    if longer <= _KNOWN_SHAPE:
        return longer, longer * shorter, points * 2 // 3, int(both), longer, shorter
    side = next(room for room in _ROOMS if longer <= room)
    return side, side * side, points, int(both)


def _runs(codes: Sequence[Codes]) -> list[tuple[int, Codes]]:
    """Columns that are neighbours in memory, as matrices with the number of the first column: fewer, longer copies."""
    runs: list[tuple[int, Codes]] = []
    start = 0
    while start < len(codes):
        stop, length, address = start + 1, codes[start].size, codes[start].ctypes.data
        while stop < len(codes) and codes[stop].ctypes.data == address + (stop - start) * length:
            stop += 1
        matrix = np.lib.stride_tricks.as_strided(codes[start], (stop - start, length), (length, 1))
        runs.append((start, matrix))
        start = stop
    return runs


def sources() -> str:
    """All CUDA sources as one text."""
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in _SOURCES)
