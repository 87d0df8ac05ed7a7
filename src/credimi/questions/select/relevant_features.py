"""rule="relevant" of `select`: all columns that matter, alone or with a partner.

The evidence for X is the mean of the Bayes factors of dependence of X and Y, given each other column W and given none.
The mean accounts for the number of partners that were tried; the largest Bayes factor would not. A column is kept if
P(relevant) >= level, with the share of noise learned from all columns, as in the rule fdr (see `rules`).

All pairs are counted from sets of bits (`counts.rows.class_pairs`), and their evidence is computed directly from the
joint tables (`inference.evidence.pair_evidence`): p(p - 1) stratified tables for p columns. Only sums over partners are
stored, O(p).

**Why nothing may be taken** (`why_nothing`): of two columns whose exclusive or is the target, neither tells anything
alone, and the rule distinct takes neither. If it takes nothing, all pairs are looked at, too, in a
sample of as many rows as take about `_SECONDS` on one thread. If there are so many pairs that even `_MIN_ROWS` rows
take longer, they are not looked at, and the remark says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.core.ties import places_by_name
from credimi.counts.local_counter import LocalCounter
from credimi.inference.evidence import pair_evidence
from credimi.inference.rules import CREDIBLE, from_common_odds
from credimi.results.remarks import Remark, RemarkKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counts.counter import Counter
    from credimi.counts.rows.class_pairs import ClassPairs

_SECONDS, _MIN_ROWS, _MAX_ROWS = 3.0, 2_048, 65_536
_PER_PAIR, _PER_WORD = 5e-5, 3e-9  # seconds: a pair; 64 rows in one cell of a pair's table
_SMALLEST_POSITIVE = 1e-300  # lower bound of probabilities, so that their logarithm is finite


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """For each column: P(relevant), and the partner with which it matters most, or itself if it needs no partner."""

    probability: FloatArray
    partner: IntegerArray
    evidence: FloatArray  # the log of the mean Bayes factor
    largest: FloatArray  # the log of the largest


def relevance(
    counter: Counter,
    p_independent: FloatArray,
    progress: Callable[[float], None] | None = None,
    places: IntegerArray | None = None,
    odds: FloatArray | None = None,
) -> Relevance:
    """The relevance of each column, from its P(independent) without partners, and from all pairs.

    `places` of the columns decide between partners with equal evidence; by default, the order of the columns does.
    `odds` are prior odds of dependence; by default, those of the columns.
    """
    log_odds_alone = np.log(np.maximum(1.0 - p_independent, _SMALLEST_POSITIVE)) - np.log(
        np.maximum(p_independent, _SMALLEST_POSITIVE)
    )
    sums = _TotalSums(log_odds_alone, np.arange(log_odds_alone.size) if places is None else places)
    if log_odds_alone.size > 1:
        own_odds = np.array([feature.odds for feature in counter.book.features])
        log_odds = np.log(own_odds if odds is None else odds)
        _add_pairs(counter.by_pair_and_class(), log_odds, sums, counter.threads, progress or (lambda _: None))
    mean = sums.log_sum - np.log(max(log_odds_alone.size, 1))
    p_noise = 1.0 / (1.0 + np.exp(np.clip(mean, -700.0, 700.0)))
    return Relevance(from_common_odds(1.0 - p_noise, p_noise), sums.partner, mean, sums.largest)


@dataclass(frozen=True, slots=True, eq=False)
class _BlockSums:
    """Columns of one block with partners of another: log sum of Bayes factors, log of the largest, and its partner."""

    columns: IntegerArray
    log_sum: FloatArray
    largest: FloatArray
    partner: IntegerArray

    @classmethod
    def of(
        cls, columns: IntegerArray, partners: IntegerArray, evidence: FloatArray, places: IntegerArray
    ) -> _BlockSums:
        """From log Bayes factors, (columns, partners); -inf where there is none."""
        order = np.argsort(places[partners])
        partners, evidence = partners[order], evidence[:, order]
        largest = evidence.max(axis=1)
        with np.errstate(invalid="ignore"):
            log_sum = np.where(
                largest > -np.inf, largest + np.log(np.exp(evidence - largest[:, np.newaxis]).sum(axis=1)), -np.inf
            )
        return cls(columns, log_sum, largest, partners[evidence.argmax(axis=1)])


class _TotalSums:
    """For each column: the log of the sum of its Bayes factors over all partners, the largest, and its partner."""

    def __init__(self, log_odds_alone: FloatArray, places: IntegerArray) -> None:
        self.places = places
        self.log_sum, self.largest = log_odds_alone.copy(), log_odds_alone.copy()
        self.partner: IntegerArray = np.arange(log_odds_alone.size)

    def add(self, block: _BlockSums) -> None:
        """Add the sums of a block."""
        self.log_sum[block.columns] = np.logaddexp(self.log_sum[block.columns], block.log_sum)
        largest, partner = self.largest[block.columns], self.partner[block.columns]
        needs_partner = partner != block.columns
        sooner = needs_partner & (self.places[block.partner] < self.places[partner])
        better = (block.largest > largest) | ((block.largest == largest) & sooner)
        self.partner[block.columns[better]] = block.partner[better]
        self.largest[block.columns[better]] = block.largest[better]


def _add_pairs(
    pairs: ClassPairs, log_odds: FloatArray, sums: _TotalSums, threads: int | None, progress: Callable[[float], None]
) -> None:
    block_pairs = [*_pairs_of_blocks(pairs)]
    finished: dict[tuple[int, int], tuple[_BlockSums, _BlockSums]] = {}

    def work(block_pair: tuple[int, int]) -> None:
        rows, columns, evidence = _evidence(pairs, block_pair)
        first = _BlockSums.of(rows, columns, evidence[0] + log_odds[rows][:, np.newaxis], sums.places)
        second = _BlockSums.of(columns, rows, evidence[1].T + log_odds[columns][:, np.newaxis], sums.places)
        finished[block_pair] = first, second
        progress(len(finished) / len(block_pairs))

    share(work, block_pairs, threads if pairs.has_sets else 1)
    for block_pair in block_pairs:  # in a fixed order, whichever thread was first: the last digits of sums depend on it
        for block_sums in finished[block_pair]:
            sums.add(block_sums)


def _pairs_of_blocks(pairs: ClassPairs) -> Iterator[tuple[int, int]]:
    """Each pair of blocks once, including each block with itself."""
    for block in range(len(pairs.blocks)):
        for beside in range(block, len(pairs.blocks)):
            yield block, beside


def _evidence(pairs: ClassPairs, block_pair: tuple[int, int]) -> tuple[IntegerArray, IntegerArray, FloatArray]:
    """The columns of two blocks, and the log Bayes factors of all their pairs.

    These have the shape (2, first block, second block): the first column given the second, then the reverse.
    """
    rows, columns = (np.arange(*pairs.blocks[block, :2]) for block in block_pair)
    evidence = np.full((2, rows.size, columns.size), -np.inf)
    if pairs.has_sets:
        pair_evidence.evidence_of_blocks(
            pairs.bits, pairs.ends, pairs.totals, pairs.layout, pairs.blocks, *block_pair, evidence
        )
        return rows, columns, evidence
    all_pairs = np.array([(one, other) for one in rows for other in columns if one < other], np.int64).reshape(-1, 2)
    for some in pairs.chunks(all_pairs):
        chunk = all_pairs[some]
        tables = pairs.tables(chunk, 1)
        sizes = np.array([table.size for table in tables])
        both = np.empty((len(chunk), 2))
        cells = np.concatenate([table.ravel() for table in tables])
        pair_evidence.evidence_of_pairs(cells, np.cumsum(sizes) - sizes, len(pairs.classes), pairs.layout, chunk, both)
        evidence[:, chunk[:, 0] - rows[0], chunk[:, 1] - columns[0]] = both.T
    return rows, columns, evidence


def why_nothing(
    counter: Counter, p_independent: FloatArray, odds: FloatArray, threads: int | None
) -> tuple[Remark, ...]:
    """The columns that matter in combination, each with its partner; or that there are none; or what to try.

    `p_independent` is that of each column alone, `odds` are the prior odds given another column.
    """
    names, count = counter.book.names, p_independent.size
    if count < 2:
        return ()
    cells = float(counter.book.sizes.mean() + 1.0) ** 2 * len(counter.book.classes)
    seconds_per_pair = _SECONDS / (0.5 * count * (count - 1))
    rows = int(64.0 * (seconds_per_pair - _PER_PAIR) / (_PER_WORD * cells))
    if rows < min(_MIN_ROWS, counter.rows):
        return (Remark(RemarkKind.NOTHING_TOGETHER, values=count),)
    sample = counter.sample(min(max(rows, _MIN_ROWS), _MAX_ROWS))
    in_sample = LocalCounter(sample, threads)
    found = relevance(in_sample, p_independent, places=places_by_name(names), odds=odds)
    together = [
        Remark(RemarkKind.ONLY_TOGETHER, names[column], other=names[partner])
        for column, partner in enumerate(found.partner.tolist())
        if partner != column and found.probability[column] >= CREDIBLE
    ]
    together.sort(key=lambda remark: str(remark.feature))
    return tuple(together) or (Remark(RemarkKind.NOTHING_TOGETHER, rows=int(sample.groups.size)),)
