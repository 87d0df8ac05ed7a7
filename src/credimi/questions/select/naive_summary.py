"""`NaiveSummary`: predictions of a naive Bayes on some columns for each row, out of fold, grouped into a few strata.

Each row is scored by a naive Bayes learned from the other folds: log P(class) plus log P(value | class) of each column
that is not missing, so that no row is lost. With two classes, the strata are eight equal parts of the log odds. With
more, a stratum is the best class, the second best, and one of three parts of the distance between their scores. If a
fold has few different scores, each of them is a part. Folds are chosen by what rows hold, so that the order of the rows
changes nothing (see `counts.rows.row_keys`).

**What the columns tell** is not the information of these strata in all rows: a row's score shows which columns it
has, and so that a value is missing would count as information. Rows are told apart by the set S of columns that they
have. I(S) is the information of the strata by S alone, in the rows that have S. To the others S is missing at random:
their classes, and the strata of rows without a class, are counted as `mutual_information` counts them. The result is
the mean of I(S) over all rows, so that a column tells nothing where it is missing. The values of a single column are
its strata: it tells what `rank` finds, times the share of rows that have it.

Strata tell at most as much as the columns do, and no row contributes to its own score. So I(S) is estimated from below:
by little if the columns are independent given the class, and by more if they overlap. As a set tells no less than a
part of it, I(S) is at least that of the set without its last column: the result never falls. At most `_MAX_SETS` sets
are told apart, and fewer if they have very many rows together. In rows of other sets, the last columns count as
missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.table import Table
from credimi.counts.local_counter import LocalCounter
from credimi.counts.rows.row_keys import shuffled
from credimi.inference.mutual_information import mutual_information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.counts.codes import Codes

_FOLDS = 5
_PARTS_OF_LOG_ODDS, _PARTS_OF_DISTANCE = 8, 3
_MAX_SETS = 32
_MAX_ROWS_OF_SETS, _FEW_ROWS = (
    8,
    10_000_000,
)  # the rows of all sets together: relative to those of the table, or so many
_FEW_SCORES = 16  # different scores in a fold: those of one column, or of two with few values each


@dataclass(frozen=True, slots=True, eq=False)
class _KnownColumns:
    """A set of columns: the rows that have all of them, the scores of these rows by these columns, and I(S)."""

    rows: NDArray[np.uint32]
    score: NDArray[np.float32]  # half the memory: it only tells rows apart
    tells: float = 0.0
    empty: bool = False  # no column yet


class NaiveSummary:
    """The scores of some rows; columns are added one by one, at a cost of O(rows x classes x sets) each.

    It is a `Rule`, too: it has a stratum for each of its rows. `counter` counts these.
    """

    def __init__(self, codes: Codes, threads: int | None = None) -> None:
        self.counter, self._codes, self._classes = LocalCounter(codes, threads), codes, len(codes.classes)
        self._has_class = codes.groups < self._classes
        size = codes.groups.size
        self._fold = np.empty(size, dtype=np.uint8)
        self._fold[shuffled(codes)] = np.arange(size) % _FOLDS
        counts = self._counts_of_other_folds(np.zeros(size, dtype=np.int64), 1)[:, :, 0] + 0.5
        self._score = np.log(counts / counts.sum(axis=1, keepdims=True))[self._fold]
        self._sets = [_KnownColumns(np.arange(size, dtype=np.uint32), self._score.astype(np.float32), empty=True)]
        self._set_of_row = np.zeros(size, dtype=np.uint8)
        self._weights = np.broadcast_to(1.0, size) if codes.weights is None else codes.weights

    def add(self, column: int) -> None:
        """Add a column to the naive Bayes."""
        values, codes = int(self._codes.sizes[column]), self._codes.columns[column].astype(np.int64)
        counts = self._counts_of_other_folds(codes, values)
        shares = counts.sum(axis=1, keepdims=True) + 0.5
        shares /= shares.sum(axis=2, keepdims=True)
        logs = np.log((counts + shares) / (counts.sum(axis=2, keepdims=True) + 1.0))
        present = codes < values
        self._score[present] += logs[self._fold[present], :, codes[present]]
        weight_of_set = np.bincount(self._set_of_row[present], self._weights[present], len(self._sets))
        max_rows = max(_MAX_ROWS_OF_SETS * present.size, _FEW_ROWS)
        for known in np.argsort(-weight_of_set, kind="stable").tolist():
            moved = present & (self._set_of_row == known)
            some_stay = bool(((self._set_of_row == known) & ~present).any())
            full = len(self._sets) >= _MAX_SETS or sum(each.rows.size for each in self._sets) > max_rows
            if not weight_of_set[known] > 0.0 or (some_stay and full):
                continue  # no row has this set and the column; or the column counts as missing in these rows
            larger = self._with_column(self._sets[known], codes, present, logs)
            if some_stay:
                self._set_of_row[moved] = len(self._sets)
                self._sets.append(larger)
            else:
                self._sets[known] = larger

    def _with_column(
        self,
        known: _KnownColumns,
        codes: NDArray[np.int64],
        present: NDArray[np.bool_],
        logs: NDArray[np.float64],
    ) -> _KnownColumns:
        """The set of columns and one more: its codes, where it is present, and log P(value | class) of each fold."""
        stay = present[known.rows]
        rows = known.rows[stay]
        score = known.score[stay]
        score += logs[self._fold[rows], :, codes[rows]].astype(np.float32)
        strata = (codes[rows], logs.shape[2]) if known.empty else self._strata(rows, score)
        return _KnownColumns(rows, score, max(known.tells, self._information(rows, *strata)))

    def strata(self, _codes: Codes) -> tuple[NDArray[np.int64], int]:
        """The stratum of each of its rows, and the number of strata."""
        return self._strata(np.arange(self._score.shape[0], dtype=np.uint32), self._score)

    def tells(self) -> float:
        """What the columns tell about the target, in nats: the mean over all rows, by the columns that a row has."""
        weights = np.bincount(self._set_of_row, self._weights, len(self._sets))
        told = np.array([known.tells for known in self._sets])
        return float(weights @ told / weights.sum()) if weights.sum() > 0.0 else 0.0

    def _information(self, rows: NDArray[np.unsignedinteger], strata: NDArray[np.int64], count: int) -> float:
        """The information of the strata of some rows; in the other rows, the stratum is missing at random."""
        if count == 1 or self._classes < 2:
            return 0.0
        groups = self._codes.groups.astype(np.int64)
        cells = np.bincount(groups[rows] * count + strata, self._weights[rows], (self._classes + 1) * count)
        block = cells.reshape(self._classes + 1, count)
        of_class = np.bincount(groups, self._weights, self._classes + 1)[:-1]
        target_only = np.maximum(of_class - block[:-1].sum(axis=1), 0.0)  # sums of weights are rounded
        return mutual_information(Table.of(block[:-1], target_only, block[-1])).mean()

    def _strata(self, rows: NDArray[np.unsignedinteger], score: NDArray[np.floating]) -> tuple[NDArray[np.int64], int]:
        """The stratum of each of these rows, by its score, and the number of strata."""
        if self._classes < 2:
            return np.zeros(rows.size, dtype=np.int64), 1
        order = np.argsort(-score, axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        if self._classes == 2:
            labels = self._equal_parts(rows, score[:, 1] - score[:, 0], _PARTS_OF_LOG_ODDS)
        else:
            positions = np.arange(rows.size)
            distance = score[positions, best] - score[positions, second]
            labels = (best * self._classes + second) * _PARTS_OF_DISTANCE + self._equal_parts(
                rows, distance, _PARTS_OF_DISTANCE
            )
        unique_labels, strata = np.unique(labels, return_inverse=True)
        return strata.astype(np.int64), unique_labels.size

    def _equal_parts(
        self, rows: NDArray[np.unsignedinteger], scores: NDArray[np.floating], count: int
    ) -> NDArray[np.int64]:
        """The part of each score in its fold: `count` parts of about equal size, or one for each score if few differ.

        The same values have slightly different scores in different folds. Parts of all folds together would cut between
        these, and mix rows that have different values.
        """
        parts = np.zeros(scores.size, dtype=np.int64)
        fold_of_row = self._fold[rows]
        for fold in range(_FOLDS):
            of_fold = np.flatnonzero(fold_of_row == fold)
            cuts = np.unique(scores[of_fold])
            if cuts.size > _FEW_SCORES:
                cuts = np.quantile(scores[of_fold], np.arange(1, count) / count)
            parts[of_fold] = np.searchsorted(cuts, scores[of_fold], side="left")
        return parts

    def _counts_of_other_folds(self, codes: NDArray[np.int64], values: int) -> NDArray[np.float64]:
        """For each fold: the counts of all other folds; folds x classes x values."""
        counted = self._has_class & (codes < values)
        cell = (self._fold.astype(np.int64) * self._classes + self._codes.groups) * values + codes
        weights = None if self._codes.weights is None else self._codes.weights[counted]
        counts = np.bincount(cell[counted], weights, _FOLDS * self._classes * values)
        counts = counts.reshape(_FOLDS, self._classes, values).astype(np.float64)
        other_folds: NDArray[np.float64] = counts.sum(axis=0) - counts
        return other_folds
