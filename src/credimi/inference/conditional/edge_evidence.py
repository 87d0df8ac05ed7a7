"""`EdgeEvidence`: log Bayes factors of dependence of two columns given others, of many tests at once.

The codes of all columns are in one array, (columns, rows); a test is a row of column numbers, u, v and those that are
given, -1 where there are fewer (see `kernels.networks.edge_evidence`). Prior, grid and corrections are those of
`conditional_information`: with even prior odds P(independent) = 1/(1 + B).

`most_cells` says how many cells the strata of a test may have. Thinner strata are not wrong: of independent columns of
2 to 10 values and ten cells a row, log B is 0.1 at most on average. But they tell next to nothing: with ten cells a row
instead of three, networks of twelve public samples had the same F1, and took three times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.inference.adaptive_prior import GRID, LOOSEST, SMOOTHING, TIGHTEST
from credimi.kernels.networks import edge_evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

_CELLS_A_ROW = 3.0
_MOST_CELLS = 1 << 20
_PART = 64  # tests that a thread takes at a time: large tests may lie together


@dataclass(frozen=True, slots=True, eq=False)
class EdgeEvidence:
    """Columns whose dependence is asked for; codes are the number of values where one is missing.

    `scaled_to` is a number of rows: the evidence of tests with more complete rows is scaled down to it. Tests with
    different columns are then comparable although they lack different rows.
    """

    codes: NDArray[np.uint16]
    values: IntegerArray
    weights: FloatArray
    threads: int | None = None
    scaled_to: float = np.inf

    @property
    def columns(self) -> int:
        """How many columns there are."""
        return self.values.size

    @property
    def rows(self) -> float:
        """How many rows there are, or the sum of their weights."""
        return float(self.weights.sum()) if self.weights.size else float(self.codes.shape[1])

    @property
    def most_cells(self) -> float:
        """How many cells all strata of a test together may have, so that its evidence can be believed."""
        return min(_MOST_CELLS, max(_CELLS_A_ROW * self.rows, 8.0))

    def of(self, tests: IntegerArray) -> FloatArray:
        """The log Bayes factor of each test."""
        return self.and_left(tests)[0]

    def and_left(self, tests: IntegerArray) -> tuple[FloatArray, FloatArray]:
        """The log Bayes factor of each test, and what share of the entropy of u and v is left in its strata.

        Where that is next to nothing, the given columns determine u or v: then all look independent of it.
        """
        found, complete, left = self.with_rows(tests)
        if np.isfinite(self.scaled_to):
            found *= np.minimum(1.0, self.scaled_to / np.maximum(complete, 1.0))
        return found, left

    def with_rows(self, tests: IntegerArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The log Bayes factor of each test, not scaled, its complete rows, and the share that is left."""
        asked = np.ascontiguousarray(tests, dtype=np.int64)
        found, complete, left = np.empty((3, asked.shape[0]))
        hyper = SMOOTHING, LOOSEST, TIGHTEST, GRID

        def work(start: int) -> None:
            part = slice(start, start + _PART)
            edge_evidence.weigh_edges(
                self.codes, self.values, self.weights, asked[part], *hyper, found[part], complete[part], left[part]
            )

        share(work, range(0, asked.shape[0], _PART), self.threads)
        return found, complete, left
