"""`MissingByOthers`: which columns are missing more often for some values of another, from the tables of all pairs.

For each column, the other column that tells most about whether it is missing is stored with its table (see
`missing_margins`). At the end the probability of dependence is computed, with a penalty for the choice of
the best among all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.evidence.adaptive_prior import log_odds_of_dependence
from credimi.questions.pairs import missing_margins

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray

_CREDIBLE = 0.95


class MissingByOthers:
    """Reads the tables of all pairs, some at a time."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.scores = np.zeros(columns)
        self.best: dict[int, tuple[int, FloatArray]] = {}

    def add(self, tables: Tables, one: IntegerArray, other: IntegerArray) -> None:
        """Add the tables of these pairs of columns."""
        scores = np.empty((tables.rows.size, 2))
        missing_margins.score(
            tables.flat.astype(np.float64, copy=False), tables.offsets, tables.rows, tables.columns, scores
        )
        for side, (columns, others) in enumerate(((one, other), (other, one))):
            side_scores = scores[:, side]
            order = np.lexsort((-side_scores, columns))
            best_pairs = order[np.flatnonzero(np.diff(columns[order], prepend=-1))]
            for pair in best_pairs[side_scores[best_pairs] > self.scores[columns[best_pairs]]].tolist():
                column, block = int(columns[pair]), tables.block(pair) if side == 0 else tables.block(pair).T
                self.scores[column] = side_scores[pair]
                self.best[column] = int(others[pair]), np.stack([block[:-1, :-1].sum(axis=0), block[-1, :-1]])

    def credible(self, threads: int | None = None) -> dict[int, tuple[int, float]]:
        """The columns whose missing values credibly depend on another, each with that column and the probability."""
        if not self.best:
            return {}
        columns = sorted(self.best)
        blocks = [np.pad(self.best[column][1], (0, 1)) for column in columns]
        widths = np.array([block.shape[1] - 1 for block in blocks])
        tables = Tables(np.concatenate([block.ravel() for block in blocks]), np.full(len(blocks), 2), widths)
        log_odds = log_odds_of_dependence(tables, threads=threads) - np.log(self.columns - 1)
        probabilities = 1.0 / (1.0 + np.exp(np.clip(-log_odds, -700.0, 700.0)))
        results = zip(columns, probabilities.tolist(), strict=True)
        return {
            column: (self.best[column][0], probability) for column, probability in results if probability >= _CREDIBLE
        }
