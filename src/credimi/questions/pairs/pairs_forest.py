"""What `Pairs.forest` returns: how probable each edge is over all forests of the columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from credimi.core.public import stored
from credimi.questions.pairs import view
from credimi.questions.pairs.forest import best_forest, draw_forests, edge_probabilities
from credimi.results.result import RecordResult
from credimi.results.section import IN_PYTHON, NATS, Shown
from credimi.results.sentences import PYTHON

if TYPE_CHECKING:
    from collections.abc import Iterator

    from credimi.core.types import FloatArray, Record
    from credimi.results.result import Result
    from credimi.results.section import Section

MAX_ODDS_TIMES_COLUMNS = 0.1  # the Bayes factor of independent columns is 1 on average


@stored
@dataclass(frozen=True, eq=False, repr=False)
class PairsForest(RecordResult):
    """Forests of the columns: how probable each edge is *given that a forest holds*; made by `Pairs.forest`.

    Its rows are the edges, most probable first: a, b, probability, in_best.

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
    rows : int or float
        The rows of the data.
    whole : Pairs or Network
        What it was made from: its settings and remarks are those of the forests.
    """

    _key: ClassVar[tuple[str, ...]] = ("a", "b")
    _called: ClassVar[str] = "forest"
    rows_in_json: ClassVar[str] = "edges"
    names: tuple[str, ...]
    probabilities: FloatArray
    best: list[tuple[str, str]]
    odds: float
    log_weights: FloatArray
    rows: float
    whole: Result

    @property
    def settings(self) -> Record:  # type: ignore[override]  # those of all pairs
        """The options of what it was made from."""
        return self.whole.settings

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

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return "a", "b", "probability", "in_best"

    def rows_as_records(self) -> list[Record]:
        """The edges, most probable first, and whether they are in the best forest."""
        best = {frozenset(edge) for edge in self.best}
        rows = [(*edge, frozenset(edge[:2]) in best) for edge in self.edges(least=0.0)]
        return [dict(zip(self.column_names(), row, strict=True)) for row in rows]

    def sections(self, shown: Shown = IN_PYTHON) -> Iterator[Section]:
        """The most probable edges, and the condition under which they hold."""
        return view.forest_sections(self, shown)

    def remark_lines(self, *, cautions: bool = False, units: str = NATS, reader: str = PYTHON) -> list[str]:
        """The remarks on what it was made from, in words."""
        return self.whole.remark_lines(cautions=cautions, units=units, reader=reader)

    def to_dict(self, top: int | None = None, *, reader: str = PYTHON, units: str = NATS) -> Record:
        """The content of `credimi pairs --forest --format json`: settings, columns, remarks and edges."""
        return {
            "settings": self._settings(units),
            "rows": self.rows,
            "columns": list(self.names),
            "given": "that a forest holds",
            "odds": self.odds,
            "expected_edges": self.expected_edges,
            "remarks": self.remark_lines(reader=reader),
            "edges": self._as_json(self[:top], units),
        }

    def draw(
        self, draws: int = 1, *, random_state: int | np.random.Generator | None = None
    ) -> list[list[tuple[str, str]]]:
        """Forests drawn by their probabilities: the edges of each."""
        drawn = draw_forests(self.log_weights, draws, random_state=random_state)
        return [[(self.names[a], self.names[b]) for a, b in edges.tolist()] for edges in drawn]


def forest_of(
    names: tuple[str, ...],
    rows: float,
    whole: Result,
    log_evidence: FloatArray,
    odds: float | None = None,
    *,
    threads: int | None = None,
) -> PairsForest:
    """The forests of columns; `log_evidence` is the matrix of the log Bayes factors of dependence of all pairs."""
    edge_odds = MAX_ODDS_TIMES_COLUMNS / max(len(names), 1) if odds is None else odds
    weights = log_evidence + np.log(0.5 * edge_odds)  # an edge has two roots
    np.fill_diagonal(weights, -np.inf)
    best = [(names[a], names[b]) for a, b in best_forest(weights).tolist()]
    return PairsForest(names, edge_probabilities(weights, threads=threads), best, edge_odds, weights, rows, whole)
