"""`MissingByOthers`: which columns are missing more often for some values of another, from the tables of all pairs.

The last row of a table counts the rows in which the first column is missing, by the values of the second. The sums of
the other rows count those in which it is present. So the table of a pair contains two tables of "missing or not" by the
values of the other column, and the data need not be read again (`score`).

For each column, the other column that tells most about whether it is missing is stored with its table. At the end the
probability of dependence is computed, with a penalty for the choice of the best among all.
"""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import FloatArray, IntegerArray, compiled
from credimi.core.tables import Tables
from credimi.inference.evidence.adaptive_prior import log_odds_of_dependence

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
        score(tables.flat.astype(np.float64, copy=False), tables.offsets, tables.rows, tables.columns, scores)
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


@compiled
def score(
    flat: FloatArray, offsets: IntegerArray, rows: IntegerArray, columns: IntegerArray, scores: FloatArray
) -> None:
    """Fill two scores for each table: how well the second column predicts that the first is missing, and the reverse.

    A score is about the normal quantile of the likelihood ratio test, so that columns of few and of many values can be
    compared: with G twice the log likelihood ratio, of d degrees of freedom, the cube root of G/d is nearly normal with
    mean 1 - 2/(9d) and variance 2/(9d) (Wilson and Hilferty). The score is 0 if nothing is missing, or if G is no
    larger than expected by chance.
    """
    for table in range(rows.size):
        start, height, width = offsets[table], rows[table], columns[table]
        for side in range(2):
            values, other_values = (width, height) if side == 0 else (height, width)
            value_stride, other_stride = (1, width + 1) if side == 0 else (width + 1, 1)
            total_present, total_missing, log_ratio = 0.0, 0.0, 0.0
            for value in range(values):
                present, missing = 0.0, flat[start + value * value_stride + other_values * other_stride]
                for other in range(other_values):
                    present += flat[start + value * value_stride + other * other_stride]
                total_present += present
                total_missing += missing
                if present > 0.0:
                    log_ratio += present * np.log(present / (present + missing))
                if missing > 0.0:
                    log_ratio += missing * np.log(missing / (present + missing))
            scores[table, side] = 0.0
            if total_present > 0.0 and total_missing > 0.0 and values > 1:
                total = total_present + total_missing
                log_ratio -= total_present * np.log(total_present / total) + total_missing * np.log(
                    total_missing / total
                )
                spread = 2.0 / (9.0 * (values - 1))
                root = (max(2.0 * log_ratio, 0.0) / (values - 1)) ** (1.0 / 3.0)
                scores[table, side] = max((root - 1.0 + spread) / np.sqrt(spread), 0.0)
