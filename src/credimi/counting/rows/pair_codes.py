"""`PairCodes`: all columns as sets of bits, from which every pair is counted against the target.

How they are counted: see `kernels.pairs.pair_bits`.

Rows without a class are left out: they say nothing of what columns tell. A column of more than `MOST_VALUES` - 1 values
keeps the most frequent ones, and the others become one value: the tables of a pair would be mostly empty. That value
and a missing one have names of their own.

The sets take a bit a row for each value but one: (V - 1) N/8 bytes a column, beside one byte a cell of codes; both are
in the room of the codes they are made of, memory or a scratch folder. Rows with weights have no sets; their pairs are
counted row by row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.kernels.pairs import column_bits, pair_bits
from credimi.kernels.pairs.pair_bits import BLOCK, MOST_VALUES, PANEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import BooleanArray, FloatArray, IntegerArray
    from credimi.counting.rows.stratified_counts import SettledCodes

    Bytes = NDArray[np.uint8]

OTHER_VALUES = "(other values)"
_WORD = 64
_CELLS_AT_ONCE = 1 << 20  # whose bits are set in one call


@dataclass(frozen=True, eq=False)
class PairCodes:
    """Codes, sets and margins of all columns, of the rows that have a class.

    `layout` and `blocks` are what `kernels.pairs.pair_evidence` says; `totals[number, class]` are the counts of every
    value, rounded if rows have weights.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]  # of the values that are not missing
    classes: tuple[str, ...]
    groups: NDArray[np.uint16]
    codes: tuple[Bytes, ...]
    weights: FloatArray
    totals: IntegerArray
    layout: IntegerArray
    blocks: IntegerArray
    ends: IntegerArray
    bits: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, settled: SettledCodes, threads: int | None = None) -> PairCodes:
        """Prepare all columns that can tell something."""
        seen = settled.groups < len(settled.classes)
        there = np.bincount(settled.groups, minlength=len(settled.classes) + 1)[:-1] > 0
        groups = (np.cumsum(there) - 1).astype(np.uint16)[
            settled.groups if (every := bool(seen.all())) else settled.groups[seen]
        ]
        classes = tuple(name for name, known in zip(settled.classes, there, strict=True) if known)
        moves = _Moves(settled, there, threads)
        if every and settled.bytes is not None and not moves.moved:
            matrix = settled.bytes
        else:
            matrix = settled.room.zeros((len(settled.features), groups.size), np.uint8)
            share(lambda number: moves.put(number, seen, matrix[number]), range(len(matrix)), threads)
        layout = np.zeros((len(matrix), 4), dtype=np.int64)
        layout[:, 0] = np.cumsum(moves.values) - moves.values
        layout[:, 1], layout[:, 2] = moves.values, moves.missing
        blocks = _blocks(layout)
        weights = np.zeros(0)
        if settled.weights is not None:
            weights = np.ascontiguousarray(settled.weights if every else settled.weights[seen])
        words = (np.bincount(groups, minlength=len(classes)) + _WORD - 1) // _WORD
        ends = np.cumsum(words)
        panels = int(blocks[-1, 2] + -(-blocks[-1, 3] // PANEL)) if len(matrix) and settled.weights is None else 0
        bits = settled.room.zeros((panels, int(ends[-1]) if ends.size else 0, PANEL), np.uint64)
        if panels:
            firsts = np.repeat(blocks[:, 2] * PANEL, np.diff(blocks[:, :2], axis=1).ravel()) + layout[:, 3]
            at_once = max(1, _CELLS_AT_ONCE // max(groups.size, 1))

            def fill(start: int) -> None:
                chosen = np.arange(start, min(start + at_once, len(matrix)))
                column_bits.fill_columns(matrix, groups, _WORD * (ends - words), chosen, firsts, moves.values, bits)

            share(fill, range(0, len(matrix), at_once), threads)  # no two columns share a word
        names = tuple(feature.name for feature in settled.features)
        totals = moves.totals(layout[:, 0])
        return cls(names, moves.labels, classes, groups, tuple(matrix), weights, totals, layout, blocks, ends, bits)

    @property
    def rows(self) -> int:
        """Rows that have a class."""
        return int(self.groups.size)

    @property
    def pairs(self) -> int:
        """How many pairs of columns there are."""
        return len(self.names) * (len(self.names) - 1) // 2

    def tables(self, pairs: IntegerArray, threads: int | None = None) -> list[FloatArray]:
        """The joint tables of some pairs (two columns of numbers): class, value, other value, the missing ones last."""
        found: list[FloatArray] = [np.zeros(0)] * len(pairs)

        def work(part: slice) -> None:
            for number in range(part.start, part.stop):
                one, other = pairs[number].tolist()
                cells = np.zeros((len(self.classes), self.layout[one, 1], self.layout[other, 1]))
                pair_bits.count_pair(self.codes[one], self.codes[other], self.groups, self.weights, cells)
                found[number] = cells

        step = max(1, 2_000_000 // max(self.rows, 1))
        share(work, [slice(at, min(at + step, len(pairs))) for at in range(0, len(pairs), step)], threads)
        return found


class _Moves:
    """What becomes of the values of every column, from their counts: most keep theirs, others are taken together.

    `values` is how many a column has then, missing as one of them, and `missing` whether there is one. `moved` has for
    each of the other columns where its values go, missing last.
    """

    def __init__(self, settled: SettledCodes, there: BooleanArray, threads: int | None) -> None:
        self._counts = _by_size(replace(settled, weights=None), there, threads)
        self._sums = self._counts
        if settled.weights is not None:  # rows of weight 0 have values, too
            self._sums = _by_size(settled, there, threads)
        self.moved: dict[int, Bytes] = {}
        self._settled = settled
        self.missing, self.values = (np.zeros(len(settled.features), dtype=np.int64) for _ in range(2))
        labels = [feature.values for feature in settled.features]
        for size, (columns, counts) in self._counts.items():
            seen = counts.sum(axis=1)
            self.missing[columns] = seen[:, size] > 0
            self.values[columns] = size + self.missing[columns]
            kept = (seen[:, :size] > 0).all(axis=1) & (self.values[columns] <= MOST_VALUES)
            for place in np.flatnonzero(~kept).tolist():
                column = int(columns[place])
                self.moved[column], labels[column] = _few(seen[place], labels[column])
                self.values[column] = len(labels[column]) + self.missing[column]
        self.labels = tuple(labels)

    def put(self, number: int, seen: BooleanArray, out: Bytes) -> None:
        """The codes of a column, of the rows that have a class."""
        codes = self._settled.codes[number]
        own = codes if out.size == codes.size else codes[seen]
        out[:] = self.moved[number][own] if number in self.moved else own

    def totals(self, firsts: IntegerArray) -> IntegerArray:
        """The counts of all values in every class, rounded if rows have weights; a column's from its first on."""
        classes = max((sums.shape[1] for _, sums in self._sums.values()), default=0)
        found = np.zeros((int(self.values.sum()), classes))
        for size, (columns, sums) in self._sums.items():
            for missing in (0, 1):
                own = np.flatnonzero((self.missing[columns] == missing) & ~np.isin(columns, [*self.moved]))
                places = firsts[columns[own]][:, np.newaxis] + np.arange(size + missing)
                found[places] = sums[own].transpose(0, 2, 1)[:, : size + missing]
            for place in np.flatnonzero(np.isin(columns, [*self.moved])).tolist():
                moved, by_value = self.moved[int(columns[place])], sums[place].T
                there = moved < self.values[columns[place]]
                np.add.at(found, firsts[columns[place]] + moved[there].astype(np.int64), by_value[there])
        return np.rint(found).astype(np.int64)


def _by_size(
    settled: SettledCodes, there: BooleanArray, threads: int | None
) -> dict[int, tuple[IntegerArray, FloatArray]]:
    """The columns of each number of values, and their counts (column, class, value), missing last."""
    tables, _ = settled.stratified(np.zeros(settled.groups.size, dtype=np.uint8), 1, threads=threads)
    flat, values = np.asarray(tables.flat, dtype=np.float64), settled.values
    height = there.size + 1
    starts = np.cumsum(height * (values + 1)) - height * (values + 1)
    found = {}
    for size in np.unique(values).tolist():
        columns = np.flatnonzero(values == size)
        cells = starts[columns][:, np.newaxis] + np.arange(height * (size + 1))
        found[size] = columns, flat[cells].reshape(-1, height, size + 1)[:, :-1][:, there]
    return found


def _few(counts: FloatArray, labels: tuple[str, ...]) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Where values go that are too many, or do not occur, and the labels of those that are left; missing goes last."""
    missing = len(labels)
    moved = np.zeros(missing + 1, dtype=np.uint8)
    present = np.flatnonzero(counts[:missing])
    most = MOST_VALUES - int(counts[missing] > 0)
    if present.size > most:
        order = present[np.argsort(-counts[present], kind="stable")]
        kept = np.sort(order[: most - 1])
        moved[:missing] = most - 1
        labels = (*(labels[value] for value in kept.tolist()), OTHER_VALUES)
    else:
        kept = present
        labels = tuple(labels[value] for value in kept.tolist())
    moved[kept] = np.arange(kept.size)
    moved[missing] = len(labels)
    return moved, labels


def _blocks(layout: IntegerArray) -> IntegerArray:
    """Blocks of columns with at most `BLOCK` sets, and in the layout where the sets of each column start."""
    blocks: list[list[int]] = []
    for column, values in enumerate(layout[:, 1].tolist()):
        sets = max(values - 1, 0)
        if not blocks or blocks[-1][3] + sets > BLOCK:
            panel = blocks[-1][2] + -(-blocks[-1][3] // PANEL) if blocks else 0
            blocks.append([column, column, panel, 0])
        layout[column, 3] = blocks[-1][3]
        blocks[-1][1] = column + 1
        blocks[-1][3] += sets
    return np.array(blocks, dtype=np.int64).reshape(-1, 4)
