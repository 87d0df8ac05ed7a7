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

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.kernels.pairs import pair_bits
from credimi.kernels.pairs.pair_bits import BLOCK, MOST_VALUES, PANEL

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.stratified_counts import SettledCodes

    Bytes = NDArray[np.uint8]

OTHER_VALUES = "(other values)"
_WORD = 64
_AHEAD = 512  # cells of joint tables that are made at once, in thousands


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
    totals: NDArray[np.int64]
    layout: IntegerArray
    blocks: IntegerArray
    ends: IntegerArray
    bits: NDArray[np.uint64] = field(repr=False)

    @classmethod
    def of(cls, settled: SettledCodes, threads: int | None = None) -> PairCodes:
        """Prepare all columns that can tell something."""
        seen = settled.groups < len(settled.classes)
        there = np.bincount(settled.groups[seen], minlength=len(settled.classes)) > 0
        groups = (np.cumsum(there) - 1).astype(np.uint16)[settled.groups[seen]]
        classes = tuple(name for name, known in zip(settled.classes, there, strict=True) if known)
        count = len(settled.features)
        coded: dict[int, tuple[Bytes, tuple[str, ...], bool]] = {}
        every = bool(seen.all())
        own_codes = None if every else settled.room.zeros((count, groups.size), np.uint8)

        def work(number: int) -> None:
            here = settled.codes[number] if every else settled.codes[number][seen]
            few, labels, missing = _few(here, settled.features[number].values)
            if own_codes is not None:
                own_codes[number] = few
                few = own_codes[number]
            coded[number] = few, labels, missing

        share(work, range(count), threads)
        codes = tuple(coded[number][0] for number in range(count))
        labels = tuple(coded[number][1] for number in range(count))
        missing = np.array([coded[number][2] for number in range(count)], dtype=np.int64)
        values = np.array([len(each) for each in labels], dtype=np.int64) + missing
        layout = np.zeros((count, 4), dtype=np.int64)
        layout[:, 0] = np.cumsum(values) - values
        layout[:, 1], layout[:, 2] = values, missing
        blocks = _blocks(layout)
        totals = np.zeros((int(values.sum()), len(classes)), dtype=np.int64)
        weighted = settled.weights is not None
        weights = np.ascontiguousarray(settled.weights[seen]) if settled.weights is not None else np.zeros(0)
        sizes = np.bincount(groups, minlength=len(classes))
        ends = np.cumsum((sizes + _WORD - 1) // _WORD)
        panels = int(blocks[-1, 2] + -(-blocks[-1, 3] // PANEL)) if count and not weighted else 0
        bits = settled.room.zeros((panels, int(ends[-1]) if ends.size else 0, PANEL), np.uint64)
        places = _places(groups, sizes, ends)
        block_of = np.repeat(np.arange(len(blocks)), np.diff(blocks[:, :2], axis=1).ravel())

        def fill(number: int) -> None:
            first, own = layout[number, :2].tolist()
            index = codes[number].astype(np.int64) * len(classes) + groups
            counts = np.bincount(index, weights if weighted else None, minlength=own * len(classes))
            totals[first : first + own] = np.rint(counts).reshape(own, len(classes))
            if not weighted:
                start = int(blocks[block_of[number], 2]) * PANEL + int(layout[number, 3])
                pair_bits.fill_bits(codes[number], places, start, own, bits)

        # Columns of a panel share no word, so that blocks may be filled side by side; columns of a block, too.
        share(fill, range(count), threads)
        names = tuple(feature.name for feature in settled.features)
        return cls(names, labels, classes, groups, codes, weights, totals, layout, blocks, ends, bits)

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


def _few(codes: NDArray[np.unsignedinteger], labels: tuple[str, ...]) -> tuple[Bytes, tuple[str, ...], bool]:
    """Codes of few values, in bytes; their labels; and whether a further code, the last, means missing."""
    missing = len(labels)
    counts = np.bincount(codes, minlength=missing + 1)
    has_missing = bool(counts[missing])
    if codes.dtype == np.uint8 and missing + has_missing <= MOST_VALUES and counts[:missing].all():
        return codes.astype(np.uint8, copy=False), labels, has_missing
    moved = np.zeros(missing + 1, dtype=np.uint8)
    present = np.flatnonzero(counts[:missing])
    most = MOST_VALUES - has_missing
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
    return moved[codes], labels, has_missing


def _places(groups: NDArray[np.uint16], sizes: IntegerArray, ends: IntegerArray) -> IntegerArray:
    """Of each row its place among the bits: classes one after the other, each from a new word on."""
    order = np.argsort(groups, kind="stable")
    places = np.empty(groups.size, dtype=np.int64)
    begins = _WORD * np.concatenate([np.zeros(1, dtype=np.int64), ends[:-1]])
    before = np.cumsum(sizes) - sizes
    places[order] = np.arange(groups.size) + (begins - before)[groups[order]]
    return places


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
