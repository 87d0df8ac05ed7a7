"""`CupyDevice`: one NVIDIA GPU by way of CuPy: codes, one-hot rows, their products, and posteriors of pairs of columns.

CuPy, because it is small beside PyTorch, calls cuBLAS' products of 8-bit integers with 32-bit sums, which run on tensor
cores and are exact, and compiles CUDA sources when they are needed. The sources in this folder repeat
`kernels.evidence.adaptive_weights`, `two_sided_weights`, `moments` and `mixture_tails`, one table a thread. They are
compiled for the shape of the tables where these are small, and else with room for columns of so many values, up to 12;
CuPy stores what is compiled in the user's cache directory.
"""

from __future__ import annotations

from itertools import product
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.core.threads import share
from credimi.gpu.layout import Looked, padded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    from credimi.core.types import AnyArray, FloatArray, Foreign
    from credimi.gpu.layout import Block, Hyper, Screen

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
_KNOWN_SHAPE = 3  # values up to which the shape of a table is compiled in
_ROOMS = (4, 6, 12)  # values of the others
_SCREENS = (8, 32)  # values, or classes, of the first look for interactions
_INT8, _INT32, _SUMS_OF_INT32 = 3, 10, 72  # of cuBLAS: CUDA_R_8I, CUDA_R_32I, CUBLAS_COMPUTE_32I
_AS_IS, _TURNED, _DEFAULT = 0, 1, -1


class _Launch(NamedTuple):
    """What a kernel is given: common counts, the blocks, columns of them, and what is asked."""

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
        """How much memory is free, that which CuPy keeps for later included; no more than CuPy's limit allows."""
        pool = self.xp.get_default_memory_pool()
        free = int(self.xp.cuda.runtime.memGetInfo()[0]) + int(pool.free_bytes())
        limit = int(pool.get_limit())
        return min(free, limit - int(pool.used_bytes())) if limit else free

    def used_bytes(self) -> int:
        """How much memory CuPy has taken, that which it keeps for later included."""
        return int(self.xp.get_default_memory_pool().total_bytes())

    def release(self) -> None:
        """Give back the memory that CuPy keeps for later."""
        self.xp.get_default_memory_pool().free_all_blocks()

    def finish(self) -> None:
        """Wait until all that was asked for is done."""
        self.xp.cuda.Device().synchronize()

    def upload(self, codes: Sequence[Codes], width: int) -> Foreign:
        """Codes as rows of a matrix, with 255 behind them."""
        found = self.xp.empty((len(codes), width), dtype=np.uint8)
        stream = self.xp.cuda.get_current_stream()
        if codes and codes[0].size < width:
            found[:, codes[0].size :] = 255
        for start, rows in _runs(codes):
            target, length = found.data.ptr + start * width, rows.shape[1]
            self.xp.cuda.runtime.memcpy2DAsync(
                target, width, rows.ctypes.data, length, length, rows.shape[0], _TO_DEVICE, stream.ptr
            )
        stream.synchronize()  # the arrays may be gone later
        return found

    def bring(self, figures: Foreign, places: Sequence[FloatArray]) -> Callable[[], None]:
        """Copy rows of figures to places in the memory of the CPU, while other work goes on; the result waits for it.

        Nearly all of the time is spent by the CPU, which has to find memory for each page.
        """
        ready, stream = self.xp.cuda.get_current_stream().record(), self._copies

        def copy() -> None:
            stream.wait_event(ready)
            for row, place in zip(figures, places, strict=True):
                row.get(stream=stream, out=place)
            stream.synchronize()

        thread = Thread(target=copy, daemon=True)
        thread.start()
        return thread.join

    def count_values(self, codes: Foreign, values: NDArray[np.int32], most: int) -> Foreign:
        """How often each value of each column occurs, (columns, most)."""
        totals = self.xp.zeros((codes.shape[0], most), dtype=np.int32)
        words = codes.shape[1] // _WORD
        grid = (max(1, min(64, -(-words // _THREADS))), codes.shape[0])
        arguments = codes, np.int64(words), self.xp.asarray(values), np.int32(most), totals
        self._kernel("count_values")(grid, (_THREADS,), arguments, shared_mem=4 * most)
        return totals

    def one_hot(self, codes: Foreign, rows: slice, kept: NDArray[np.int32]) -> Foreign:
        """One row for each of the first `kept` values of each column: 1 where it is the value."""
        width = rows.stop - rows.start
        hot = self.xp.empty((padded(int(kept.sum())), width), dtype=np.int8)
        hot[int(kept.sum()) :] = 0
        first = (np.cumsum(kept) - kept).astype(np.int32)
        words, skip, stride = width // _WORD, rows.start // _WORD, codes.shape[1] // _WORD
        arguments = codes, np.int64(stride), np.int64(skip), np.int64(words)
        more = self.xp.asarray(first), self.xp.asarray(kept), hot
        grid = (-(-words // _THREADS), codes.shape[0])
        self._kernel("one_hot")(grid, (_THREADS,), (*arguments, *more))
        return hot

    def multiply(self, first: Foreign, second: Foreign, common: Foreign) -> None:
        """Add first second' to the common counts."""
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
        found: AnyArray = self.xp.asnumpy(array)
        return found

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
        """Fill figures of the pairs of two blocks; return the numbers of those that are left (see `layout.Device`)."""
        first, second = blocks
        xp, size = self.xp, second.values.size
        shapes = list(product(np.unique(first.values).tolist(), np.unique(second.values).tolist()))
        both = bool((first.kept == first.values).any() and (second.kept == second.values).any())
        rooms = {each: _room(each, hyper.most_points, both=both) for each in shapes if max(each) <= _ROOMS[-1]}
        self._compile(set(rooms.values()))
        found = [xp.zeros(0, dtype=np.int64)]
        for rows, columns in shapes:
            one = xp.asarray(np.flatnonzero(first.values == rows).astype(np.int32))
            other = xp.asarray(np.flatnonzero(second.values == columns).astype(np.int32))
            launch = _Launch(common, blocks, (one, other), hyper, wanted)
            if chosen is None:
                if (rows, columns) in rooms:
                    found.append(self._run(launch, rooms[rows, columns], out))
                else:
                    found.append(_pairs_of(one, other, blocks))
                continue
            own = (first.on_device[1][chosen // size] == rows) & (second.on_device[1][chosen % size] == columns)
            places = xp.flatnonzero(own)
            if places.size == 0 or (rows, columns) not in rooms:
                found.append(places)
                continue
            target = xp.empty((out.shape[0], places.size))
            found.append(places[self._run(launch, rooms[rows, columns], target, chosen[places])])
            out[:, places] = target
        return xp.concatenate(found)

    def screen(self, products: Foreign, blocks: tuple[Block, Block], screen: Screen) -> Looked | None:
        """The first look at the pairs of two blocks, from the common counts of each class (see `layout.Device`)."""
        xp, (first, second) = self.xp, blocks
        side = max(int(first.values.max()), int(second.values.max()), screen.totals.shape[2])
        if side > _SCREENS[-1]:
            return None
        room = next(each for each in _SCREENS if side <= each)
        both = [
            xp.asarray(each[block.start : block.stop])
            for each in (screen.missing, screen.totals, screen.alone, screen.informative)
            for block in blocks
        ]
        size = first.values.size * second.values.size
        count, numbers = xp.zeros(1, dtype=np.int32), xp.empty(size, dtype=np.int64)
        scores, sparse = xp.empty((size, 2)), xp.empty(size, dtype=np.int32)
        shapes = [each for pair in zip(first.on_device[:2], second.on_device[:2], strict=True) for each in pair]
        arguments = (
            *(products, np.int64(products.shape[2]), np.int64(products.shape[1] * products.shape[2])),
            *(np.int32(first.values.size), np.int32(second.values.size), np.int64(first.start), np.int64(second.start)),
            *(*shapes, *both, np.int32(screen.totals.shape[1]), np.int32(screen.totals.shape[2])),
            *(np.float64(screen.rows), np.float64(screen.of_classes), xp.asarray(screen.bounds)),
            *(np.int32(screen.bounds.shape[1]), np.float64(screen.cut), np.float64(screen.redundancy)),
            *(np.float64(screen.dense), count, numbers, scores, sparse),
        )
        self._kernel("screen_pairs", room)((-(-size // _THREADS),), (_THREADS,), arguments)
        found = int(count[0])
        order = xp.argsort(numbers[:found])
        parts = (numbers[:found][order], scores[:found][order], sparse[:found][order])
        listed, figures, thin = (self.to_host(each) for each in parts)
        return Looked(listed, figures, thin.astype(bool))

    def _run(self, launch: _Launch, room: tuple[int, ...], out: Foreign, chosen: Foreign = None) -> Foreign:
        """Fill figures of all pairs of two sets of columns, or of chosen pairs; return those that are left."""
        common, (first, second), (one, other), hyper, wanted = launch
        count = one.size * other.size if chosen is None else chosen.size
        number, left = self.xp.zeros(1, dtype=np.int32), self.xp.empty(count, dtype=np.int32)
        of_columns = [each for pair in zip(first.on_device, second.on_device, strict=True) for each in pair]
        arguments = (
            *(common, np.int64(common.shape[1]), one, other, np.int32(other.size)),
            *(0 if chosen is None else chosen, np.int64(count), *of_columns, np.int32(first.on_device[3].shape[1])),
            *(np.int64(first.start), np.int64(second.start), np.int32(second.values.size)),
            *(np.float64(each) for each in hyper[:-1]),
            *(np.int32(hyper.most_points), np.int32(wanted), out, np.int64(out.shape[1]), number, left),
        )
        self._kernel("summarize_pairs", *room)((-(-count // _THREADS),), (_THREADS,), arguments)
        return left[: int(number[0])].astype(np.int64)

    def _kernel(self, name: str, *macros: int) -> Foreign:
        """A kernel, for tables of the given room: see `_room`."""
        if macros not in self._modules:
            self._compile([macros])
        return self._modules[macros].get_function(name)

    def _compile(self, wanted: Collection[tuple[int, ...]]) -> None:
        """Compile what is not yet there, side by side: each takes some seconds when it is first needed."""
        source = sources()

        def work(macros: tuple[int, ...]) -> None:
            names = ("SIDE", "CELLS", "POINTS", "MAY_MISS_BOTH", "ROWS", "COLUMNS")
            options = [f"-DTABLE_{name}={value}" for name, value in zip(names, macros, strict=False)]
            if len(macros) == 1:
                options = [f"-DSCREEN_SIDE={macros[0]}", f"-DSCREEN_CELLS={macros[0] ** 2}"]
            module = self.xp.RawModule(code=source, options=("--std=c++17", *options))
            module.compile()
            self._modules[macros] = module

        share(work, [macros for macros in wanted if macros not in self._modules])


def _pairs_of(one: Foreign, other: Foreign, blocks: tuple[Block, Block]) -> Foreign:
    """The numbers of all pairs of these columns whose second column comes later."""
    first, second = blocks
    numbers = one.astype(np.int64)[:, np.newaxis] * second.values.size + other
    return numbers[first.start + one[:, np.newaxis] < second.start + other]


def _room(shape: tuple[int, int], points: int, *, both: bool) -> tuple[int, ...]:
    """What is compiled in: longer side, cells, points of the grid, whether both columns may miss; small shapes."""
    longer, shorter = max(shape), min(shape)
    if longer <= _KNOWN_SHAPE:
        return longer, longer * shorter, points * 2 // 3, int(both), longer, shorter
    side = next(room for room in _ROOMS if longer <= room)
    return side, side * side, points, int(both)


def _runs(codes: Sequence[Codes]) -> list[tuple[int, Codes]]:
    """Columns that follow each other in memory as one matrix, with the number of the first: fewer, longer copies."""
    found: list[tuple[int, Codes]] = []
    start = 0
    while start < len(codes):
        after, length, at = start + 1, codes[start].size, codes[start].ctypes.data
        while after < len(codes) and codes[after].ctypes.data == at + (after - start) * length:
            after += 1
        whole = np.lib.stride_tricks.as_strided(codes[start], (after - start, length), (length, 1))
        found.append((start, whole))
        start = after
    return found


def sources() -> str:
    """All of the CUDA sources as one."""
    folder = Path(__file__).parent
    return "\n".join((folder / name).read_text(encoding="utf-8") for name in _SOURCES)
