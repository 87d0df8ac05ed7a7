"""`MissingByOthers`: which columns are missing more often under some values of another, from the tables of all pairs.

Of each column, the other that tells most of whether it is missing is kept with its table (see
`kernels.pairs.missing_margins`), and its probability of dependence is found in the end, with a penalty for having been
the best of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.adaptive_prior import log_odds_of_dependence
from credimi.kernels.pairs import missing_margins

if TYPE_CHECKING:
    from credimi.core.types import FloatArray, IntegerArray

_SURE = 0.95


class MissingByOthers:
    """Looks at the tables of all pairs, some at a time."""

    def __init__(self, columns: int) -> None:
        self.columns = columns
        self.scores = np.zeros(columns)
        self.best: dict[int, tuple[int, FloatArray]] = {}

    def look(self, tables: Tables, one: IntegerArray, other: IntegerArray) -> None:
        """Take in the tables of these pairs of columns."""
        scores = np.empty((tables.rows.size, 2))
        missing_margins.score(
            tables.flat.astype(np.float64, copy=False), tables.offsets, tables.rows, tables.columns, scores
        )
        for side, (own, by) in enumerate(((one, other), (other, one))):
            own_scores = scores[:, side]
            order = np.lexsort((-own_scores, own))
            firsts = order[np.flatnonzero(np.diff(own[order], prepend=-1))]  # the best pair of each column
            for pair in firsts[own_scores[firsts] > self.scores[own[firsts]]].tolist():
                column, block = int(own[pair]), tables.block(pair) if side == 0 else tables.block(pair).T
                self.scores[column] = own_scores[pair]
                self.best[column] = int(by[pair]), np.stack([block[:-1, :-1].sum(axis=0), block[-1, :-1]])

    def found(self, threads: int | None = None) -> dict[int, tuple[int, float]]:
        """The columns whose missing values surely depend on another, which that is, and the probability."""
        if not self.best:
            return {}
        columns = sorted(self.best)
        blocks = [np.pad(self.best[column][1], (0, 1)) for column in columns]
        widths = np.array([block.shape[1] - 1 for block in blocks])
        tables = Tables(np.concatenate([block.ravel() for block in blocks]), np.full(len(blocks), 2), widths)
        log_odds = log_odds_of_dependence(tables, threads=threads) - np.log(self.columns - 1)
        chances = 1.0 / (1.0 + np.exp(np.clip(-log_odds, -700.0, 700.0)))
        told = zip(columns, chances.tolist(), strict=True)
        return {column: (self.best[column][0], chance) for column, chance in told if chance >= _SURE}
