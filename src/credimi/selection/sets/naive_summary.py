"""`NaiveSummary`: what a naive Bayes on some columns says of each row, out of fold, cut into a few strata.

Each row is scored by a naive Bayes of the other folds: log P(class) plus log P(value | class) of each column that is
not missing, so that no row is lost. The strata are: two classes, eight equal parts of the log odds; more, the best and
the second class, and three parts of the distance between them. Where a fold has few different figures, each is a part.
What these strata tell about the target is at most what the columns tell, and not too well: no row had a say in its own
score.
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
_PARTS_OF_TWO, _PARTS_OF_MORE = 8, 3
_FEW_FIGURES = 16  # different ones of a fold: of one column, or of two with few values each


class NaiveSummary:
    """Columns are added one by one; O(rows x classes) each."""

    def __init__(self, codes: SettledCodes) -> None:
        self.codes, self._codes, self._classes = codes, codes, len(codes.classes)
        self._known = codes.groups < self._classes
        self._fold = np.random.default_rng(0).permutation(codes.groups.size) % _FOLDS  # rows may come in an order
        counts = self._counted(np.zeros(codes.groups.size, dtype=np.int64), 1)[:, :, 0] + 0.5
        self._score = np.log(counts / counts.sum(axis=1, keepdims=True))[self._fold]

    def add(self, column: int) -> None:
        """Let a column have its say."""
        values, codes = len(self._codes.features[column].values), self._codes.codes[column].astype(np.int64)
        counts = self._counted(codes, values)
        shares = counts.sum(axis=1, keepdims=True) + 0.5
        shares /= shares.sum(axis=2, keepdims=True)
        chances = (counts + shares) / (counts.sum(axis=2, keepdims=True) + 1.0)
        seen = codes < values
        self._score[seen] += np.log(chances)[self._fold[seen], :, codes[seen]]

    def strata(self) -> tuple[NDArray[np.int64], int]:
        """Of each row its stratum, and how many there are."""
        rows = np.arange(self._score.shape[0])
        if self._classes < 2:
            return np.zeros(rows.size, dtype=np.int64), 1
        order = np.argsort(-self._score, axis=1, kind="stable")
        best, second = order[:, 0], order[:, 1]
        if self._classes == 2:
            found = self._parts(self._score[:, 1] - self._score[:, 0], _PARTS_OF_TWO)
        else:
            apart = self._score[rows, best] - self._score[rows, second]
            found = (best * self._classes + second) * _PARTS_OF_MORE + self._parts(apart, _PARTS_OF_MORE)
        names, strata = np.unique(found, return_inverse=True)
        return strata.astype(np.int64), names.size

    def tells(self) -> float:
        """What the strata tell about the target, in nats."""
        strata, count = self.strata()
        if count == 1 or self._classes < 2:
            return 0.0
        cell, weights = (self._codes.groups.astype(np.int64) * count + strata)[self._known], self._codes.weights
        shares = None if weights is None else weights[self._known]
        joint = np.bincount(cell, shares, self._classes * count).reshape(self._classes, count)
        return mutual_information(Table.of(joint)).mean()

    def _parts(self, figures: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """Equal parts of each fold, or a part for each figure if there are few; equal figures are in the same part.

        The same values have slightly different figures in different folds. Parts of all folds together would cut
        between these, and mix rows with different values.
        """
        parts = np.zeros(figures.size, dtype=np.int64)
        for fold in range(_FOLDS):
            rows = np.flatnonzero(self._fold == fold)
            cuts = np.unique(figures[rows])
            if cuts.size > _FEW_FIGURES:
                cuts = np.quantile(figures[rows], np.arange(1, count) / count)
            parts[rows] = np.searchsorted(cuts, figures[rows], side="left")
        return parts

    def _counted(self, codes: NDArray[np.int64], values: int) -> NDArray[np.float64]:
        """For each fold the counts of the others, folds x classes x values."""
        here = self._known & (codes < values)
        cell = (self._fold * self._classes + self._codes.groups) * values + codes
        weights = None if self._codes.weights is None else self._codes.weights[here]
        counts = np.bincount(cell[here], weights, _FOLDS * self._classes * values)
        counts = counts.reshape(_FOLDS, self._classes, values).astype(np.float64)
        found: NDArray[np.float64] = counts.sum(axis=0) - counts
        return found
