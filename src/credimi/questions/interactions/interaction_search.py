"""The search for pairs of columns that tell more, or less, together than apart, among all pairs.

Up to `_ALL` pairs are weighed one by one (see `synergy`). If there are more, a first look selects
the pairs that may interact (see `pair_screen`). For synergy, the Bayes factor of a selected pair may be
above n/1,000, with n the number of pairs. Without synergy its mean is 1, so by chance alone fewer than 1,000 pairs get
there. And a smaller factor would not be enough to believe in synergy, unless a thousand pairs interact. Synergy needs
three edges, and the bound for each of them is 1/7 of this: the share of one of the seven hypotheses without synergy.

The `_MAX_CANDIDATES` pairs with the most evidence are weighed, and as many with the most redundancy. So memory does not
grow with the number of pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import x_log_x
from credimi.core.threads import share
from credimi.counts.rows.pair_bits import MAX_VALUES
from credimi.inference.evidence import pair_evidence
from credimi.questions.interactions import pair_screen
from credimi.questions.interactions.pair_screen import _DENSE
from credimi.questions.interactions.synergy import HYPOTHESES, Synergies, synergies
from credimi.questions.pairs.gpu.layout import Screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.rows.class_pairs import ClassPairs

    Look = Callable[[tuple[int, int, int]], tuple[IntegerArray, FloatArray, int]]

_ALL = 5_000
_MAX_CANDIDATES = 10_000
_PART = 200_000  # pairs of a part of the work, between two steps of the progress bar
_LOOKED_UP = 1 << 20  # numbers whose n log n is looked up
_CHANCE = 1_000.0  # pairs that may pass the first look by chance alone


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Pairs that may be more than nothing, and how many pairs were looked at; fewer than all if it was interrupted."""

    pairs: IntegerArray
    searched: int


def candidates(
    codes: ClassPairs,
    epsilon: float,
    threads: int | None,
    progress: Callable[[float], None],
    device: str = "cpu",
) -> Candidates:
    """The pairs that are worth weighing."""
    count = len(codes.names)
    if codes.pairs <= _ALL:
        every = np.array(np.triu_indices(count, 1), dtype=np.int64).T
        return Candidates(np.ascontiguousarray(every), codes.pairs)
    cut = float(np.log(max(codes.pairs / _CHANCE / HYPOTHESES, 1.0)))
    best_pairs = _BestPairs()
    done: list[int] = []

    def keep(pairs: IntegerArray, scores: FloatArray, size: int) -> None:
        best_pairs.add(pairs, scores, cut)
        done.append(size)
        progress(sum(done) / codes.pairs)

    try:
        if device == "gpu":
            from credimi.questions.interactions.interactions_on_device import look_at_all  # noqa: PLC0415  (only if asked for)

            for looked in look_at_all(codes, screen_of(codes, cut, epsilon), threads):
                keep(*looked)
        else:
            counted = _counted_look(codes, cut, epsilon) if codes.counts_rows else _weighted_look(codes, cut)
            look = _first_look(codes, cut, epsilon) if codes.has_sets else counted
            share(lambda part: keep(*look(part)), _parts(codes), threads if codes.has_sets or codes.codes else 1)
    except KeyboardInterrupt:  # the pairs found so far are an answer, too
        if not done:
            raise
    return Candidates(best_pairs.pairs(), sum(done))


class _BestPairs:
    """The best pairs so far: with the most evidence, and with the most redundancy."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pairs_and_scores = [np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2))]

    def add(self, pairs: IntegerArray, scores: FloatArray, cut: float) -> None:
        with self._lock:
            self._pairs_and_scores = [
                np.concatenate(both) for both in zip(self._pairs_and_scores, (pairs, scores), strict=True)
            ]
            if len(self._pairs_and_scores[0]) > 4 * _MAX_CANDIDATES:
                self._prune(cut)

    def _prune(self, cut: float) -> None:
        pairs, scores = self._pairs_and_scores
        with_evidence = np.flatnonzero(scores[:, 0] > cut)
        best = with_evidence[np.argsort(-scores[with_evidence, 0], kind="stable")[:_MAX_CANDIDATES]]
        worst = np.argsort(scores[:, 1], kind="stable")[:_MAX_CANDIDATES]
        stay = np.union1d(best, worst)
        self._pairs_and_scores = [pairs[stay], scores[stay]]

    def pairs(self) -> IntegerArray:
        """The pairs in the order of the columns, whichever thread was first."""
        pairs = self._pairs_and_scores[0]
        if len(pairs) > 2 * _MAX_CANDIDATES:
            self._prune(-np.inf)
            pairs = self._pairs_and_scores[0]
        return np.ascontiguousarray(pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))])


def _parts(codes: ClassPairs) -> Iterator[tuple[int, int, int]]:
    """Parts of the work: one block, with those from one up to another."""
    sizes = np.diff(codes.blocks[:, :2], axis=1).ravel()
    for block, block_size in enumerate(sizes.tolist()):
        first, pairs = block, 0
        for other_block in range(block, len(sizes)):
            pairs += block_size * int(sizes[other_block])
            if pairs >= _PART or other_block == len(sizes) - 1:
                yield block, first, other_block + 1
                first, pairs = other_block + 1, 0


def _pairs_in(codes: ClassPairs, part: tuple[int, int, int]) -> int:
    block, first, stop = part
    block_size = int(codes.blocks[block, 1] - codes.blocks[block, 0])
    other_columns = int(codes.blocks[stop - 1, 1] - codes.blocks[first, 0])
    return block_size * other_columns - (block_size * (block_size + 1) // 2 if first == block else 0)


def screen_of(codes: ClassPairs, cut: float, epsilon: float) -> Screen:
    """What the first look on a GPU needs."""
    totals = np.zeros((len(codes.names), int(codes.layout[:, 1].max()), len(codes.classes)), dtype=np.int32)
    for of_column, (first, values, _, _) in zip(totals, codes.layout.tolist(), strict=True):
        of_column[:values] = codes.totals[first : first + values]
    classes = codes.of_class.astype(np.float64)
    return Screen(
        codes.layout[:, 2].astype(np.int32),
        totals,
        np.add.reduceat(x_log_x(codes.totals).sum(axis=1), codes.layout[:, 0]),
        (_information(codes) > epsilon).astype(np.int32),
        float(codes.rows),
        float(x_log_x(classes).sum()),
        _bounds(len(codes.classes), cut),
        cut,
        -0.5 * epsilon,
        _DENSE,
    )


def _first_look(codes: ClassPairs, cut: float, epsilon: float) -> Look:
    alone = _alone(codes)
    logs = x_log_x(np.arange(codes.rows + 1, dtype=np.float64))
    informative = _information(codes) > epsilon
    bounds = _bounds(len(codes.classes), cut)

    def look(part: tuple[int, int, int]) -> tuple[IntegerArray, FloatArray, int]:
        size = _pairs_in(codes, part)
        pairs, scores = np.empty((size, 2), dtype=np.int64), np.empty((size, 2))
        sets = codes.bits, codes.ends, codes.totals, codes.layout, codes.blocks
        pair_count = pair_screen.screen_blocks(
            *sets, logs, alone, informative, bounds, cut, -0.5 * epsilon, *part, pairs, scores
        )
        return pairs[:pair_count].copy(), scores[:pair_count].copy(), size

    return look


def _alone(codes: ClassPairs) -> FloatArray:
    """The sum of n log n over the table of each column and the classes, and that over the classes."""
    by_column = np.add.reduceat(x_log_x(codes.totals).sum(axis=1), codes.layout[:, 0])
    alone: FloatArray = np.append(by_column, x_log_x(codes.of_class.astype(np.float64)).sum())
    return alone


def _counted_look(codes: ClassPairs, cut: float, epsilon: float) -> Look:
    """The same where the rows are elsewhere, from the joint tables of all pairs."""
    alone, informative, bounds = _alone(codes), _information(codes) > epsilon, _bounds(len(codes.classes), cut)
    logs = x_log_x(np.arange(min(codes.rows, _LOOKED_UP) + 1, dtype=np.float64))

    def select(chosen: IntegerArray, cells: FloatArray, starts: IntegerArray) -> tuple[IntegerArray, FloatArray]:
        pairs, scores = np.empty_like(chosen), np.empty((len(chosen), 2))
        table, known = (cells, starts, len(codes.classes), codes.layout), (alone, informative, bounds)
        limits = codes.rows, cut, -0.5 * epsilon
        count = pair_screen.screen_tables(*table, chosen, logs, *known, *limits, pairs, scores)
        return pairs[:count], scores[:count]

    return _look_at_tables(codes, select)


def _weighted_look(codes: ClassPairs, cut: float) -> Look:
    """Rows with weights are counted one by one, and every pair is weighed for its evidence alone."""

    def select(chosen: IntegerArray, cells: FloatArray, starts: IntegerArray) -> tuple[IntegerArray, FloatArray]:
        both = np.empty((len(chosen), 2))
        pair_evidence.evidence_of_pairs(cells, starts, len(codes.classes), codes.layout, chosen, both)
        least = both.min(axis=1)
        is_enough = least > cut
        return chosen[is_enough], np.column_stack([least[is_enough], np.zeros(int(is_enough.sum()))])

    return _look_at_tables(codes, select)


def _look_at_tables(
    codes: ClassPairs,
    select: Callable[[IntegerArray, FloatArray, IntegerArray], tuple[IntegerArray, FloatArray]],
) -> Look:
    """A look at the joint tables of the pairs of each part; `select` gets some pairs, and their tables as one array."""

    def look(part: tuple[int, int, int]) -> tuple[IntegerArray, FloatArray, int]:
        block, first, stop = part
        columns = np.arange(*codes.blocks[block, :2])
        other_columns = np.arange(codes.blocks[first, 0], codes.blocks[stop - 1, 1])
        pairs = np.array([(one, other) for one in columns for other in other_columns if one < other], dtype=np.int64)
        pairs = pairs.reshape(-1, 2)
        found = [(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2)))]
        for some in codes.chunks(pairs):
            tables = codes.tables(pairs[some], 1)
            sizes = np.array([table.size for table in tables])
            cells = np.concatenate([table.ravel() for table in tables])
            found.append(select(pairs[some], cells, np.cumsum(sizes) - sizes))
        kept, scores = (np.concatenate(each) for each in zip(*found, strict=True))
        return kept, scores, len(pairs)

    return look


def _information(codes: ClassPairs) -> FloatArray:
    """The plug-in information of every column, of the rows that have it."""
    first, values, missing = codes.layout[:, 0], codes.layout[:, 1], codes.layout[:, 2]
    counts = codes.totals.astype(np.float64)
    counts[(first + values - 1)[missing > 0]] = 0.0
    by_value, by_class = counts.sum(axis=1), np.add.reduceat(counts, first)
    total = by_class.sum(axis=1)
    cells = np.add.reduceat(x_log_x(counts).sum(axis=1) - x_log_x(by_value), first)
    information: FloatArray = (cells - x_log_x(by_class).sum(axis=1) + x_log_x(total)) / np.maximum(total, 1.0)
    return information


def _bounds(classes: int, cut: float) -> FloatArray:
    """The least log likelihood ratio, for the values of both columns, whose best evidence is more than the cut.

    Of half the degrees of freedom: rare values have fewer. By bisection.
    """
    sizes = np.maximum(np.arange(MAX_VALUES + 1) - 1.0, 0.0)
    freedom = np.maximum(0.5 * classes * sizes[:, np.newaxis] * sizes, 0.5)
    low, high = 0.5 * freedom, 0.5 * freedom + 4.0 * cut + 20.0 * freedom
    for _ in range(50):
        middle = 0.5 * (low + high)
        enough = middle - 0.5 * freedom * (1.0 + np.log(2.0 * middle / freedom)) > cut
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.ascontiguousarray(low)


def weighed(
    codes: ClassPairs,
    pairs: IntegerArray,
    odds: tuple[FloatArray, FloatArray],
    threads: int | None,
    progress: Callable[[float], None],
) -> Synergies:
    """The posteriors of all candidates; `odds` of every column as `synergies` has them of pairs."""
    parts = []
    for some in codes.chunks(pairs):
        tables = [
            complete(codes, pair, table)
            for pair, table in zip(pairs[some].tolist(), codes.tables(pairs[some], threads), strict=True)
        ]
        parts.append(synergies(tables, odds[0][pairs[some]], odds[1][pairs[some]], threads))
        progress(some.stop / len(pairs))
    return Synergies.joined(parts or [synergies([], odds[0][pairs], odds[1][pairs])])


def complete(codes: ClassPairs, pair: list[int], table: FloatArray) -> FloatArray:
    """The part of a joint table that has both columns."""
    sizes = codes.layout[pair, 1] - codes.layout[pair, 2]
    return table[:, : sizes[0], : sizes[1]]
