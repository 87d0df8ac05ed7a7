"""The first look for interactions on a GPU: all pairs counted in every class, and those that may be more than nothing.

Rows are sorted by class, and a product of one-hot blocks is made of the rows of each class (see
`pair_products`). What the device lists gets the evidence itself here, from the same counts; where the
tables are sparse these are all pairs, and a GPU is no help. Targets and columns of more than 32 values have no first
look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import x_log_x
from credimi.core.threads import share
from credimi.inference.evidence import pair_evidence
from credimi.questions.pairs.gpu import pairs_on_device
from credimi.questions.pairs.gpu.pair_products import ALIGNED, PairProducts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.rows.class_pairs import ClassPairs
    from credimi.questions.pairs.gpu.layout import Screen
    from credimi.questions.pairs.gpu.pair_products import PairBlock

_CELLS = 4_000_000  # of joint tables that are brought back at once


def look_at_all(
    codes: ClassPairs, screen: Screen, threads: int | None
) -> Iterator[tuple[IntegerArray, FloatArray, int]]:
    """For each block: the pairs that may interact, their evidence and synergy, and the number of all its pairs."""
    arranged, groups = _arranged(codes, threads)
    products = PairProducts(
        arranged, codes.layout[:, 1].tolist(), pairs_on_device.find_gpu(), groups=groups, rows=codes.rows
    )

    def work(block: PairBlock) -> tuple[IntegerArray, FloatArray, int]:
        looked = block.device.screen(block.product, (block.first, block.second), screen)
        numbers = block.numbers() if looked is None else looked.numbers
        pairs = np.stack(block.columns(numbers), axis=1)
        scores = np.empty((numbers.size, 2)) if looked is None else looked.scores.copy()
        sparse = np.ones(numbers.size, dtype=bool) if looked is None else looked.sparse
        needed = np.flatnonzero(sparse | (scores[:, 0] > screen.cut))
        cells = len(codes.classes) * int(codes.layout[:, 1].max()) ** 2
        for part in np.array_split(needed, max(1, -(-needed.size * cells // _CELLS))):
            tables = _joint_tables(block, screen, numbers[part])
            if looked is None:
                for at, table in zip(part.tolist(), tables, strict=True):
                    scores[at], sparse[at] = _look(table, screen, pairs[at])
            scores[part, 0] = _evidence(codes, tables, pairs[part], np.where(sparse[part], np.inf, scores[part, 0]))
        redundant = screen.informative[pairs].all(axis=1) & (scores[:, 1] < screen.redundancy)
        good = (scores[:, 0] > screen.cut) | redundant
        return pairs[good], scores[good], block.size

    yield from products.map(work, bytes_a_pair=32)


def _evidence(
    codes: ClassPairs, tables: list[NDArray[np.int64]], pairs: IntegerArray, upper_limits: FloatArray
) -> FloatArray:
    """The least evidence of each table, and not more than `upper_limits`."""
    both = np.empty((len(tables), 2))
    if tables:
        sizes = np.array([table.size for table in tables])
        flat = np.concatenate([table.ravel() for table in tables]).astype(np.float64)
        layout, some = codes.layout, np.ascontiguousarray(pairs)
        pair_evidence.evidence_of_pairs(flat, np.cumsum(sizes) - sizes, len(codes.classes), layout, some, both)
    evidence: FloatArray = np.minimum(both.min(axis=1, initial=np.inf), upper_limits)
    return evidence


def _look(table: NDArray[np.int64], screen: Screen, pair: IntegerArray) -> tuple[tuple[float, float], bool]:
    """Evidence and synergy as `pair_screen` has them, and whether the table is too sparse for that."""
    missing = screen.missing[pair]
    counts = table[:, : table.shape[1] - missing[0], : table.shape[2] - missing[1]]
    total = float(counts.sum())
    sparse = total < screen.dense * table.size
    if total == 0.0:
        return (0.0, 0.0), sparse
    sums = {axes: _n_log_n(counts.sum(axis=axes)) for axes in ((), 0, 1, 2, (1, 2), (0, 2), (0, 1))}
    least = np.inf
    for given, rest in ((0, (1, 2)), (1, (0, 2)), (2, (0, 1))):
        ratio = sums[()] - sums[rest[0]] - sums[rest[1]] + sums[rest]
        there = [
            np.maximum((counts.sum(axis=axis) > 0).sum(axis=-1 if given < other else 0) - 1, 0)
            for axis, other in (rest, rest[::-1])
        ]
        least = min(least, _best_evidence(ratio, float((there[0] * there[1]).sum())))
    synergy = (
        sums[()] - sums[0] - sums[1] - sums[2] + sums[1, 2] + sums[0, 2] + sums[0, 1] - _n_log_n(np.array(int(total)))
    )
    return (least, synergy / total), sparse


def _n_log_n(counts: NDArray[np.int64]) -> float:
    return float(x_log_x(counts).sum())


def _best_evidence(ratio: float, freedom: float) -> float:
    if freedom <= 0.0 or 2.0 * ratio <= freedom:
        return 0.0
    return ratio - 0.5 * freedom * (1.0 + float(np.log(2.0 * ratio / freedom)))


def _joint_tables(block: PairBlock, screen: Screen, numbers: IntegerArray) -> list[NDArray[np.int64]]:
    """The joint tables of pairs: class, value, other value; missing as the last value."""
    xp, classes = block.device.xp, screen.totals.shape[2]
    one, other = np.divmod(numbers, block.second.values.size)
    kinds = np.stack([block.first.values[one], block.second.values[other]])
    joint_tables: list[NDArray[np.int64]] = [np.zeros(0, dtype=np.int64)] * numbers.size
    for kind in np.unique(kinds, axis=1).T:
        values, others = kind.tolist()
        of_this_kind = np.flatnonzero((kinds == kind[:, np.newaxis]).all(axis=0))
        rows = xp.asarray(block.first.first[one[of_this_kind]][:, np.newaxis] + np.arange(values - 1))
        columns = xp.asarray(block.second.first[other[of_this_kind]][:, np.newaxis] + np.arange(others - 1))
        common = block.device.to_host(block.product[:, rows[:, :, np.newaxis], columns[:, np.newaxis, :]])
        tables = np.zeros((of_this_kind.size, classes, values, others), dtype=np.int64)
        tables[:, :, :-1, :-1] = common.swapaxes(0, 1)
        of_rows = screen.totals[block.first.start + one[of_this_kind], :values].swapaxes(1, 2)
        of_columns = screen.totals[block.second.start + other[of_this_kind], :others].swapaxes(1, 2)
        tables[:, :, :-1, -1] = of_rows[:, :, :-1] - tables[:, :, :-1, :-1].sum(axis=3)
        tables[:, :, -1] = of_columns - tables[:, :, :-1].sum(axis=2)
        for index, table in zip(of_this_kind.tolist(), tables, strict=True):
            joint_tables[index] = table
    return joint_tables


def _arranged(codes: ClassPairs, threads: int | None) -> tuple[list[NDArray[np.uint8]], list[slice]]:
    """The codes with rows sorted by class, each class from a multiple of `ALIGNED` on; and where the classes are."""
    sizes = np.bincount(codes.groups, minlength=len(codes.classes))
    widths = -(-sizes // ALIGNED) * ALIGNED
    ends = np.cumsum(widths)
    order = np.argsort(codes.groups, kind="stable")
    begins = ends - widths
    new_rows = np.empty(codes.rows, dtype=np.int64)
    new_rows[order] = np.arange(codes.rows) + np.repeat(begins - (np.cumsum(sizes) - sizes), sizes)
    arranged: list[NDArray[np.uint8]] = [np.zeros(0, dtype=np.uint8)] * len(codes.names)

    def work(column: int) -> None:
        column_codes = np.full(int(ends[-1]), 255, dtype=np.uint8)
        column_codes[new_rows] = codes.codes[column]
        arranged[column] = column_codes

    share(work, range(len(codes.names)), threads)
    return arranged, [slice(int(begin), int(end)) for begin, end in zip(begins, ends, strict=True)]
