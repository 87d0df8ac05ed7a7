"""Counts a coded target against many coded features: chooses the kernel and the number of threads.

Small inputs, for which loading compiled code is not worth it, go through numpy's bincount: the same counts at 2 ns per
cell. The choice of kernel follows from the costs measured in benchmarks/counting.py.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from credimi.columns.column import Column
    from credimi.core.types import AnyArray, FloatArray, IntegerArray

    Codes = NDArray[np.unsignedinteger]
    CountArray = IntegerArray

CELLS_WORTH_COMPILING = 20_000_000  # below this, numpy and pyarrow are done before compiled code is loaded
CELLS_WORTH_CALLING = 100_000  # the same if it is loaded already
_CELLS_WORTH_A_THREAD = 2_000_000
_MOST_JOINT_CELLS = 1 << 16  # the most that 16 bits can number
_JOINT_CELLS = 15_000  # 16-bit counters of a joint table that fit into the fastest cache


def kernels_are_ready() -> bool:
    """Whether this process has loaded what runs kernels, and none that reads or counts would have to be compiled."""
    if not hasattr(sys.modules.get("credimi.kernels.jit"), "compiled"):  # not loaded, or another thread is at it
        return False
    from credimi.kernels.warm_up import is_compiled  # noqa: PLC0415  (loads compiled code)

    return is_compiled("pair_counts.", "reading.")


def cross_counts(
    groups: Codes,
    group_count: int,
    columns: Sequence[Codes],
    values: Sequence[int],
    *,
    weights: FloatArray | None = None,
    compiled: bool = True,
    threads: int | None = None,
) -> list[AnyArray]:
    """The R x (s + 1) counts of each column: `groups` are 0 .. R-1, codes 0 .. s-1, larger ones are missing.

    With weights of the rows, the sums of weights.
    """
    if weights is not None or not compiled:
        sizes = zip(columns, values, strict=True)
        return [_bincount(groups, codes, (group_count, size + 1), weights) for codes, size in sizes]
    out = [np.zeros((group_count, size + 1), dtype=np.int64) for size in values]
    cells = groups.size * len(columns)
    from credimi.kernels import pair_counts, words  # noqa: PLC0415  (loading it costs more than small inputs take)

    groups, columns = _only_read(groups), [_only_read(codes) for codes in columns]
    lanes = next((lanes for lanes in pair_counts.LANES if group_count <= lanes), 0)
    by_bits: set[int] = set()
    many: set[int] = set()
    jointly: list[int] = []
    for index, codes in enumerate(columns):
        few = codes.dtype == groups.dtype == np.uint8 and group_count * (values[index] + 1) <= _MOST_JOINT_CELLS
        if few and lanes and values[index] <= pair_counts.FEW_VALUES:
            by_bits.add(index)
        elif few:
            jointly.append(index)
        else:
            many.add(index)
    most = min(_JOINT_CELLS, groups.size // 8)  # for a table larger than its rows, clearing and summing dominate
    parts = _grouped(jointly, values, group_count, most) + [[index] for index in sorted(by_bits | many)]
    bits = np.empty((groups.size // words.WORD, lanes), dtype=np.uint64)
    totals = np.zeros(max(lanes, group_count), dtype=np.int64)
    if by_bits:
        pair_counts.group_bits(groups, bits)
        totals[:lanes] += np.bitwise_count(bits).sum(axis=0, dtype=np.int64)
        totals += np.bincount(groups[bits.shape[0] * words.WORD :], minlength=totals.size)

    def work(indices: list[int]) -> None:
        if indices[0] in by_bits:
            pair_counts.count_bits(columns[indices[0]], groups, bits, totals, out[indices[0]], (0,) * lanes)
        elif indices[0] in many:
            pair_counts.count_cells(columns[indices[0]], groups, out[indices[0]])
        else:
            _count_joint(groups, [columns[index] for index in indices], [out[index] for index in indices])

    share(work, parts, threads if cells >= _CELLS_WORTH_A_THREAD else 1)
    return out


def _only_read(codes: Codes) -> Codes:
    """A read-only contiguous view: Arrow's arrays are read-only, and the kernels are compiled for this kind alone."""
    view = np.ascontiguousarray(codes).view()
    view.flags.writeable = False
    return view


def sparse_counts(
    groups: Codes, group_count: int, columns: Sequence[Column], weights: FloatArray | None
) -> list[AnyArray]:
    """The same of columns of a sparse matrix: what is not stored is what remains of each group."""
    totals, found = np.bincount(groups, weights, minlength=group_count), []
    rows = np.bincount(groups, minlength=group_count)
    for column in columns:
        stored, own = groups[column.at], None if weights is None else weights[column.at]
        block = _bincount(stored, column.codes[:-1], (group_count, column.values + 1), own).astype(totals.dtype)
        left = rows > np.bincount(stored, minlength=group_count)  # of weights, rounding may leave what is nothing
        rest = np.where(left, np.maximum(totals - block.sum(axis=1), 0), 0)
        block[:, min(int(column.codes[-1]), column.values)] += rest
        found.append(block)
    return found


def _grouped(indices: list[int], values: Sequence[int], group_count: int, most: int) -> list[list[int]]:
    """Groups of features that share a joint table: as many neighbours as fit, at most four."""
    parts: list[list[int]] = []
    cells = 0
    for index in sorted(indices, key=lambda index: values[index]):
        if parts and len(parts[-1]) < 4 and cells * (values[index] + 1) <= most:
            parts[-1].append(index)
            cells *= values[index] + 1
        else:
            parts.append([index])
            cells = group_count * (values[index] + 1)
    return parts


def _count_joint(groups: Codes, columns: list[Codes], out: list[CountArray]) -> None:
    from credimi.kernels import pair_counts as counting  # noqa: PLC0415  (loads compiled code)

    sizes = np.ones(4, dtype=np.int64)
    sizes[: len(columns)] = [block.shape[1] for block in out]
    height = out[0].shape[0]
    flat = np.zeros((4, height * int(sizes.max())), dtype=np.int64)
    first, second, third, fourth = columns + [columns[0]] * (4 - len(columns))
    counting.count_joint(groups, first, second, third, fourth, len(columns), sizes, flat)
    for counts, block in zip(flat, out, strict=False):
        block[...] = counts[: block.size].reshape(block.shape)


def _bincount(groups: Codes, codes: Codes, shape: tuple[int, ...], weights: FloatArray | None = None) -> AnyArray:
    missing = shape[1] - 1
    index = groups.astype(np.int64) * shape[1] + np.minimum(codes, missing)
    return np.bincount(index, weights, minlength=shape[0] * shape[1]).reshape(shape)
