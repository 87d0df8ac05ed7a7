"""Missing values drawn from a network: Gibbs sampling, cells and probabilities in turns.

A table in which values are missing has no likelihood of a network in closed form. Given the values, it has; and given
a network, so have the missing values. So tables are completed by draws from what was learned, networks are learned
from the completed tables, and what they say is averaged (data augmentation, Tanner and Wong 1987). Every row counts
with all that is seen of it, and values that are missing because of another column that is seen do no harm.

Draws confirm the network that they are drawn from. So only edges that are more probable than not are used, and what
columns tell of each other is shrunk as far as the counts suggest (`_believed`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from credimi.core.special import log_gamma
from credimi.kernels.networks import missing_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

    Codes = NDArray[np.uint16]

_PRIOR_ROWS = np.array([1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])  # of each combination of parents


class Imputation:
    """The missing cells of a table, completed again and again; `codes` is the present completion."""

    def __init__(self, codes: Codes, values: IntegerArray, weights: FloatArray, seed: int) -> None:
        self.values, self.weights = values, weights
        self.generator = np.random.default_rng(seed)
        rows, columns = np.nonzero((codes >= values[:, np.newaxis]).T)
        self.rows, self.columns = rows.astype(np.int64), columns.astype(np.int64)
        self.codes = codes.copy()
        for column in range(values.size):
            missing = codes[column] >= values[column]
            self.codes[column, missing] = self.generator.choice(codes[column, ~missing], np.count_nonzero(missing))

    def sweep(self, parents: tuple[IntegerArray, ...], sweeps: int) -> None:
        """Draw all missing cells some times over, from the network of these parents."""
        columns, max_parents = self.values.size, max([1, *(each.size for each in parents)])
        table = np.full((columns, max_parents), -1, dtype=np.int64)
        strides = np.zeros((columns, max_parents), dtype=np.int64)
        sizes = np.empty(columns, dtype=np.int64)
        for column, chosen in enumerate(parents):
            table[column, : chosen.size] = chosen
            strides[column, : chosen.size] = np.concatenate([[1], np.cumprod(self.values[chosen])])[: chosen.size]
            sizes[column] = self.values[column] * np.prod(self.values[chosen])
        child, index = np.nonzero(table >= 0)
        parent = table[child, index]
        children = child[np.argsort(parent, kind="stable")].astype(np.int64)
        child_starts = np.concatenate([[0], np.cumsum(np.bincount(parent, minlength=columns))]).astype(np.int64)
        starts: IntegerArray = np.cumsum(sizes) - sizes
        cells = self.codes, self.values, self.rows, self.columns
        state = self.generator.integers(1 << 63, size=1, dtype=np.uint64)
        for _ in range(sweeps):
            probabilities = np.concatenate([self._drawn(column, chosen) for column, chosen in enumerate(parents)])
            missing_cells.draw_missing(*cells, table, strides, child_starts, children, starts, probabilities, state)

    def _drawn(self, column: int, parents: IntegerArray) -> FloatArray:
        """Probabilities of a column's values for each combination of its parents, drawn given the present table."""
        values, where, stride = int(self.values[column]), self.codes[column].astype(np.int64), int(self.values[column])
        for parent in parents.tolist():
            where += self.codes[parent].astype(np.int64) * stride
            stride *= int(self.values[parent])
        weights = self.weights if self.weights.size else None
        counts = np.bincount(where, weights, minlength=stride).reshape(-1, values).astype(np.float64)
        return drawn_chances(counts, self.generator).ravel()


def drawn_chances(counts: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Probabilities of a column's values, a row for each combination of its parents, drawn given these counts."""
    shares = counts.sum(axis=0) + 0.5
    prior = _believed(counts, shares / shares.sum()) * shares / shares.sum()
    drawn = generator.standard_gamma(counts + prior) + 1e-300
    probabilities: FloatArray = drawn / drawn.sum(axis=1, keepdims=True)
    return probabilities


def _believed(counts: FloatArray, shares: FloatArray) -> float:
    """How many prior rows, spread as the column is, explain the counts best: many where the parents tell nothing.

    With few, a column that depends on nothing would be drawn as if it depended on its parents, and then seem to.
    """
    filled = counts[counts.sum(axis=1) > 0.0]
    if counts.shape[0] < 2 or not filled.size:
        return float(_PRIOR_ROWS[0])
    prior = np.append(_PRIOR_ROWS[:, np.newaxis] * shares, _PRIOR_ROWS[:, np.newaxis], axis=1)  # of cells, and of all
    combinations = np.append(filled, filled.sum(axis=1, keepdims=True), axis=1)[np.newaxis]
    log_gammas = log_gamma(np.append(combinations + prior[:, np.newaxis], prior[:, np.newaxis], axis=1))
    rises = log_gammas[:, :-1].sum(axis=1) - len(filled) * log_gammas[:, -1]
    return float(_PRIOR_ROWS[np.argmax(rises[:, :-1].sum(axis=1) - rises[:, -1])])
