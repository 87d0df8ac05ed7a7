"""What `Pairs.forest` returns: how probable each edge is over all forests of the columns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.public import stored
from credimi.questions.pairs.forest import best_forest, draw_forests, edge_probabilities

if TYPE_CHECKING:
    from credimi.core.types import FloatArray

MAX_ODDS_TIMES_COLUMNS = 0.1  # the Bayes factor of independent columns is 1 on average


@stored
@dataclass(frozen=True, eq=False)
class PairsForest:
    """Forests of the columns: how probable each edge is *given that a forest holds*; made by `Pairs.forest`.

    Attributes
    ----------
    names : tuple of str
        The columns.
    probabilities : (p, p) array
        The probability of each edge over all rooted forests, given that the columns depend as some forest says.
    expected_edges : float
        The sum of the probabilities.
    best : list of (str, str)
        The edges of the most probable rooted forest.
    odds : float
        The prior odds of an edge between two columns that have no other.
    """

    names: tuple[str, ...]
    probabilities: FloatArray
    best: list[tuple[str, str]]
    odds: float
    log_weights: FloatArray = field(repr=False)

    @property
    def expected_edges(self) -> float:
        """The expected number of edges."""
        return float(self.probabilities.sum() / 2.0)

    def edges(self, least: float = 0.5) -> list[tuple[str, str, float]]:
        """The edges of at least this probability, and their probabilities; the most probable first."""
        one, other = np.nonzero(np.triu(self.probabilities >= least, 1))
        probabilities = self.probabilities[one, other]
        order = np.argsort(-probabilities, kind="stable")
        edges = zip(one[order].tolist(), other[order].tolist(), probabilities[order].tolist(), strict=True)
        return [(self.names[a], self.names[b], probability) for a, b, probability in edges]

    def draw(
        self, draws: int = 1, *, random_state: int | np.random.Generator | None = None
    ) -> list[list[tuple[str, str]]]:
        """Forests drawn by their probabilities: the edges of each."""
        drawn = draw_forests(self.log_weights, draws, random_state=random_state)
        return [[(self.names[a], self.names[b]) for a, b in edges.tolist()] for edges in drawn]


def forest_of(
    names: tuple[str, ...], log_evidence: FloatArray, odds: float | None = None, *, threads: int | None = None
) -> PairsForest:
    """The forests of columns; `log_evidence` is the matrix of the log Bayes factors of dependence of all pairs."""
    edge_odds = MAX_ODDS_TIMES_COLUMNS / max(len(names), 1) if odds is None else odds
    weights = log_evidence + np.log(0.5 * edge_odds)  # an edge has two roots
    np.fill_diagonal(weights, -np.inf)
    best = [(names[a], names[b]) for a, b in best_forest(weights).tolist()]
    return PairsForest(names, edge_probabilities(weights, threads=threads), best, edge_odds, weights)
