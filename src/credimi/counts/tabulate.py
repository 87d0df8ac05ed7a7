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
_MAX_JOINT_CELLS = 1 << 16  # as many as 16 bits can number
_CACHED_JOINT_CELLS = 15_000  # 16-bit counters of a joint table that fit into the fastest cache


def kernels_are_ready() -> bool:
    """Whether this process has loaded compiled code, and all kernels that read or count are already compiled."""
    if not hasattr(sys.modules.get("credimi.compile.jit"), "compiled"):  # not loaded, or another thread is loading it
        return False
    from credimi.compile.signatures import THAT_READ  # noqa: PLC0415  (loads numpy's types)
    from credimi.compile.warm_up import is_compiled  # noqa: PLC0415  (loads compiled code)

    return is_compiled(*THAT_READ)


def count_codes(
    groups: Codes,
    group_count: int,
    columns: Sequence[Codes],
    values: Sequence[int],
    *,
    weights: Sequence[FloatArray] = (),
    compiled: bool = True,
    threads: int | None = None,
) -> list[list[AnyArray]]:
    """The R x (s + 1) counts of each column; with weights of the rows, the sums of each of the weights.

    `groups` are 0 .. R-1 and codes are 0 .. s-1; larger codes mean missing.
    """
    if weights or not compiled:
        sizes = zip(columns, values, strict=True)
        return [_bincounts(groups, codes, (group_count, size + 1), weights) for codes, size in sizes]
    out = [np.zeros((group_count, size + 1), dtype=np.int64) for size in values]
    cells = groups.size * len(columns)
    from credimi.columns import pair_counts  # noqa: PLC0415  (loading it costs more than small inputs take)
    from credimi.compile import words  # noqa: PLC0415  (loading it costs more than small inputs take)

    groups, columns = _read_only(groups), [_read_only(codes) for codes in columns]
    lanes = next((lanes for lanes in pair_counts.LANES if group_count <= lanes), 0)
    by_bits: set[int] = set()
    by_cells: set[int] = set()
    jointly: list[int] = []
    for index, codes in enumerate(columns):
        fits_joint = codes.dtype == groups.dtype == np.uint8 and group_count * (values[index] + 1) <= _MAX_JOINT_CELLS
        if fits_joint and lanes and values[index] <= pair_counts.FEW_VALUES:
            by_bits.add(index)
        elif fits_joint:
            jointly.append(index)
        else:
            by_cells.add(index)
    # For a table larger than its rows, clearing and summing dominate.
    max_cells = min(_CACHED_JOINT_CELLS, groups.size // 8)
    parts = _joint_groups(jointly, values, group_count, max_cells) + [[index] for index in sorted(by_bits | by_cells)]
    bits = np.empty((groups.size // words.WORD, lanes), dtype=np.uint64)
    totals = np.zeros(max(lanes, group_count), dtype=np.int64)
    if by_bits:
        pair_counts.group_bits(groups, bits)
        totals[:lanes] += np.bitwise_count(bits).sum(axis=0, dtype=np.int64)
        totals += np.bincount(groups[bits.shape[0] * words.WORD :], minlength=totals.size)

    def work(indices: list[int]) -> None:
        if indices[0] in by_bits:
            pair_counts.count_bits(columns[indices[0]], groups, bits, totals, out[indices[0]], (0,) * lanes)
        elif indices[0] in by_cells:
            pair_counts.count_cells(columns[indices[0]], groups, out[indices[0]])
        else:
            _count_joint(groups, [columns[index] for index in indices], [out[index] for index in indices])

    share(work, parts, threads if cells >= _CELLS_WORTH_A_THREAD else 1)
    return [[block] for block in out]


def squares_of(weights: FloatArray) -> FloatArray:
    """The squares of the weights; `counts.weights` refuses those that are no doubles."""
    with np.errstate(over="ignore", under="ignore"):
        return weights * weights


def _read_only(codes: Codes) -> Codes:
    """A read-only contiguous view: Arrow's arrays are read-only, and the kernels are compiled for this kind alone."""
    view = np.ascontiguousarray(codes).view()
    view.flags.writeable = False
    return view


def count_sparse(
    groups: Codes, group_count: int, columns: Sequence[Column], weights: Sequence[FloatArray]
) -> list[list[AnyArray]]:
    """The same for columns of a sparse matrix: the cells that are not stored get the remaining rows of each group."""
    rows, blocks = np.bincount(groups, minlength=group_count), []
    totals = [np.bincount(groups, each, minlength=group_count) for each in weights] or [rows]
    for column in columns:
        stored = groups[column.at]
        # With weights, rounding may leave a rest where there are no rows.
        has_rest = rows > np.bincount(stored, minlength=group_count)
        shape = group_count, column.values + 1
        kinds = [each[column.at] for each in weights]
        of_column = [each.astype(totals[0].dtype) for each in _bincounts(stored, column.codes[:-1], shape, kinds)]
        for block, total in zip(of_column, totals, strict=True):
            rest = np.where(has_rest, np.maximum(total - block.sum(axis=1), 0), 0)
            block[:, min(int(column.codes[-1]), column.values)] += rest
        blocks.append(of_column)
    return blocks


def _joint_groups(indices: list[int], values: Sequence[int], group_count: int, max_cells: int) -> list[list[int]]:
    """Groups of features that are counted in one joint table of at most `max_cells` cells; at most four in a group."""
    parts: list[list[int]] = []
    cells = 0
    for index in sorted(indices, key=lambda index: values[index]):
        if parts and len(parts[-1]) < 4 and cells * (values[index] + 1) <= max_cells:
            parts[-1].append(index)
            cells *= values[index] + 1
        else:
            parts.append([index])
            cells = group_count * (values[index] + 1)
    return parts


def _count_joint(groups: Codes, columns: list[Codes], out: list[CountArray]) -> None:
    from credimi.columns import pair_counts as counting  # noqa: PLC0415  (loads compiled code)

    sizes = np.ones(4, dtype=np.int64)
    sizes[: len(columns)] = [block.shape[1] for block in out]
    height = out[0].shape[0]
    flat = np.zeros((4, height * int(sizes.max())), dtype=np.int64)
    first, second, third, fourth = columns + [columns[0]] * (4 - len(columns))
    counting.count_joint(groups, first, second, third, fourth, len(columns), sizes, flat)
    for counts, block in zip(flat, out, strict=False):
        block[...] = counts[: block.size].reshape(block.shape)


def _bincounts(
    groups: Codes, codes: Codes, shape: tuple[int, ...], weights: Sequence[FloatArray] = ()
) -> list[AnyArray]:
    """The counts of one column, or the sums of each of the weights, by numpy."""
    cells = groups.astype(np.int64) * shape[1] + np.minimum(codes, shape[1] - 1)
    return [np.bincount(cells, each, minlength=shape[0] * shape[1]).reshape(shape) for each in weights or (None,)]
