"""goal="relevant" of `select`: all columns that matter, alone or with a partner.

The evidence for X is the mean of the Bayes factors of dependence of X and Y given W over all other columns W, and given
none: the mean pays for having looked at so many partners, the largest would not. A column is kept if P(relevant) >=
level, with the share of noise learned from all columns, as the rule fdr does it (see `rules`).

All pairs are counted from sets of bits (`counting.rows.pair_codes`), and weighed straight from their joint tables
(`kernels.pairs.pair_evidence`): p(p - 1) stratified tables of p columns. Of these only sums over partners are kept,
O(p).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.counting.rows.pair_codes import PairCodes
from credimi.kernels.pairs import pair_evidence
from credimi.selection.rules import from_common_odds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.counting.rows.stratified_counts import SettledCodes

_LEAST = 1e-300  # of a probability, so that its logarithm is finite
_PAIRS_AT_ONCE = 256  # that are counted row by row, of rows with weights


@dataclass(frozen=True, slots=True, eq=False)
class Relevance:
    """Of each column P(relevant), and the partner with which it matters most; the column itself where it is alone."""

    probability: FloatArray
    partner: IntegerArray
    evidence: FloatArray  # the log of the mean Bayes factor
    most: FloatArray  # the log of the largest


def relevance(
    codes: SettledCodes,
    p_independent: FloatArray,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Relevance:
    """What is believed of every column, from P(independent) of each alone and all pairs."""
    alone = np.log(np.maximum(1.0 - p_independent, _LEAST)) - np.log(np.maximum(p_independent, _LEAST))
    sums = _Sums(alone)
    if alone.size > 1:
        _add_pairs(PairCodes.of(codes, threads), codes, sums, threads, progress or (lambda _: None))
    mean = sums.log_sum - np.log(max(alone.size, 1))
    p_noise = 1.0 / (1.0 + np.exp(np.clip(mean, -700.0, 700.0)))
    return Relevance(from_common_odds(1.0 - p_noise, p_noise), sums.partner, mean, sums.most)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """Some columns with some partners: the log of the sum of Bayes factors, the largest one, and its partner."""

    columns: IntegerArray
    log_sum: FloatArray
    most: FloatArray
    partner: IntegerArray

    @classmethod
    def of(cls, columns: IntegerArray, partners: IntegerArray, evidence: FloatArray) -> _Part:
        """From (columns, partners) of evidence; -inf where there is none."""
        top = evidence.max(axis=1)
        with np.errstate(invalid="ignore"):
            total = np.where(top > -np.inf, top + np.log(np.exp(evidence - top[:, np.newaxis]).sum(axis=1)), -np.inf)
        return cls(columns, total, top, partners[evidence.argmax(axis=1)])


class _Sums:
    """The sum over partners of the Bayes factors of each column, as a logarithm, and the largest of them."""

    def __init__(self, alone: FloatArray) -> None:
        self.log_sum, self.most = alone.copy(), alone.copy()
        self.partner: IntegerArray = np.arange(alone.size)

    def add(self, part: _Part) -> None:
        """Add the evidence of a part."""
        self.log_sum[part.columns] = np.logaddexp(self.log_sum[part.columns], part.log_sum)
        better = part.most > self.most[part.columns]
        self.partner[part.columns[better]] = part.partner[better]
        self.most[part.columns[better]] = part.most[better]


def _add_pairs(
    pairs: PairCodes, codes: SettledCodes, sums: _Sums, threads: int | None, progress: Callable[[float], None]
) -> None:
    odds = np.log(np.array([feature.odds for feature in codes.features]))
    parts = [*_parts(pairs)]
    done: dict[tuple[int, int], tuple[_Part, _Part]] = {}

    def work(part: tuple[int, int]) -> None:
        rows, columns, found = _evidence(pairs, part)
        first = _Part.of(rows, columns, found[0] + odds[rows][:, np.newaxis])
        done[part] = first, _Part.of(columns, rows, found[1].T + odds[columns][:, np.newaxis])
        progress(len(done) / len(parts))

    share(work, parts, threads)
    for part in parts:  # in one order, whichever thread was first: sums depend on it in the last digit
        for each in done[part]:
            sums.add(each)


def _parts(pairs: PairCodes) -> Iterator[tuple[int, int]]:
    """Pairs of blocks, each once, a block with itself as well."""
    for block in range(len(pairs.blocks)):
        for beside in range(block, len(pairs.blocks)):
            yield block, beside


def _evidence(pairs: PairCodes, part: tuple[int, int]) -> tuple[IntegerArray, IntegerArray, FloatArray]:
    """The columns of two blocks, and the log Bayes factors of the first given the second, and of the second."""
    rows, columns = (np.arange(*pairs.blocks[block, :2]) for block in part)
    found = np.full((2, rows.size, columns.size), -np.inf)
    if not pairs.weights.size:
        pair_evidence.evidence_of_blocks(pairs.bits, pairs.ends, pairs.totals, pairs.layout, pairs.blocks, *part, found)
        return rows, columns, found
    chosen = np.array([(one, other) for one in rows for other in columns if one < other], dtype=np.int64)
    for at in range(0, len(chosen), _PAIRS_AT_ONCE):
        some = chosen[at : at + _PAIRS_AT_ONCE]
        tables = pairs.tables(some, 1)
        sizes = np.array([each.size for each in tables])
        both = np.empty((len(some), 2))
        cells = np.concatenate([each.ravel() for each in tables])
        pair_evidence.evidence_of_pairs(cells, np.cumsum(sizes) - sizes, len(pairs.classes), pairs.layout, some, both)
        found[:, some[:, 0] - rows[0], some[:, 1] - columns[0]] = both.T
    return rows, columns, found
