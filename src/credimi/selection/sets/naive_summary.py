"""`NaiveSummary`: predictions of a naive Bayes on some columns for each row, out of fold, grouped into a few strata.

Each row is scored by a naive Bayes learned from the other folds: log P(class) plus log P(value | class) of each column
that is not missing, so that no row is lost. With two classes, the strata are eight equal parts of the log odds. With
more, a stratum is the best class, the second best, and one of three parts of the distance between their scores. If a
fold has few different scores, each of them is a part. The information of these strata about the target is at most that
of the columns. It is not overestimated, as no row contributes to its own score.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.table import Table
from credimi.inference.mutual_information import mutual_information

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.counting.rows.stratified_counts import SettledCodes

_FOLDS = 5
_PARTS_OF_LOG_ODDS, _PARTS_OF_DISTANCE = 8, 3
_FEW_SCORES = 16  # different scores in a fold: those of one column, or of two with few values each


class NaiveSummary:
    """The scores of all rows; columns are added one by one, at a cost of O(rows x classes) each."""

    def __init__(self, codes: SettledCodes) -> None:
        self.codes, self._codes, self._classes = codes, codes, len(codes.classes)
        self._has_class = codes.groups < self._classes
        self._fold = np.random.default_rng(0).permutation(codes.groups.size) % _FOLDS  # rows may be sorted
        counts = self._counts_of_other_folds(np.zeros(codes.groups.size, dtype=np.int64), 1)[:, :, 0] + 0.5
        self._score = np.log(counts / counts.sum(axis=1, keepdims=True))[self._fold]

    def add(self, column: int) -> None:
        """Add a column to the naive Bayes."""
        values, codes = len(self._codes.features[column].values), self._codes.codes[column].astype(np.int64)
        counts = self._counts_of_other_folds(codes, values)
        shares = counts.sum(axis=1, keepdims=True) + 0.5
        shares /= shares.sum(axis=2, keepdims=True)
        probabilities = (counts + shares) / (counts.sum(axis=2, keepdims=True) + 1.0)
        present = codes < values
        self._score[present] += np.log(probabilities)[self._fold[present], :, codes[present]]

    def strata(self) -> tuple[NDArray[np.int64], int]:
        """The stratum of each row, and the number of strata."""
        rows = np.arange(self._score.shape[0])
        if self._classes < 2:
            return np.zeros(rows.size, dtype=np.int64), 1
        order = np.argsort(-self._score, axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        if self._classes == 2:
            labels = self._equal_parts(self._score[:, 1] - self._score[:, 0], _PARTS_OF_LOG_ODDS)
        else:
            distance = self._score[rows, best] - self._score[rows, second]
            labels = (best * self._classes + second) * _PARTS_OF_DISTANCE + self._equal_parts(
                distance, _PARTS_OF_DISTANCE
            )
        unique_labels, strata = np.unique(labels, return_inverse=True)
        return strata.astype(np.int64), unique_labels.size

    def tells(self) -> float:
        """The information of the strata about the target, in nats."""
        strata, count = self.strata()
        if count == 1 or self._classes < 2:
            return 0.0
        cell, weights = (self._codes.groups.astype(np.int64) * count + strata)[self._has_class], self._codes.weights
        shares = None if weights is None else weights[self._has_class]
        joint = np.bincount(cell, shares, self._classes * count).reshape(self._classes, count)
        return mutual_information(Table.of(joint)).mean()

    def _equal_parts(self, scores: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """The part of each score in its fold: `count` parts of about equal size, or one for each score if few differ.

        The same values have slightly different scores in different folds. Parts of all folds together would cut between
        these, and mix rows that have different values.
        """
        parts = np.zeros(scores.size, dtype=np.int64)
        for fold in range(_FOLDS):
            rows = np.flatnonzero(self._fold == fold)
            cuts = np.unique(scores[rows])
            if cuts.size > _FEW_SCORES:
                cuts = np.quantile(scores[rows], np.arange(1, count) / count)
            parts[rows] = np.searchsorted(cuts, scores[rows], side="left")
        return parts

    def _counts_of_other_folds(self, codes: NDArray[np.int64], values: int) -> NDArray[np.float64]:
        """For each fold: the counts of all other folds; folds x classes x values."""
        counted = self._has_class & (codes < values)
        cell = (self._fold * self._classes + self._codes.groups) * values + codes
        weights = None if self._codes.weights is None else self._codes.weights[counted]
        counts = np.bincount(cell[counted], weights, _FOLDS * self._classes * values)
        counts = counts.reshape(_FOLDS, self._classes, values).astype(np.float64)
        other_folds: NDArray[np.float64] = counts.sum(axis=0) - counts
        return other_folds
