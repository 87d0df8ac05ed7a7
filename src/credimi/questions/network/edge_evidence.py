"""`EdgeEvidence`: log Bayes factors of dependence of two columns given others, for many tests at once.

The codes of all columns are in one array, (columns, rows). A test is a row of column indices: u, v, and the columns
that it is conditioned on, filled up with -1 (see `edge_evidence_kernels`). Prior, grid and corrections are
those of `conditional_information`: with even prior odds P(independent) = 1/(1 + B).

`max_cells` is the maximum number of cells of all strata of a test. Thinner strata would not be wrong: for independent
columns of 2 to 10 values and ten cells per row, the average of log B is at most 0.1. But they tell next to nothing:
with ten cells per row instead of three, networks of twelve public samples had the same F1, and took three times as
long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import share
from credimi.inference.evidence.adaptive_prior import GRID, LOOSEST, SMOOTHING, TIGHTEST
from credimi.questions.network import edge_evidence_kernels as edge_evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray

_MAX_CELLS_PER_ROW = 3.0
_MAX_CELLS = 1 << 20
_TESTS_PER_PART = 64  # few, because large tests often follow each other


@dataclass(frozen=True, slots=True, eq=False)
class EdgeEvidence:
    """The columns that are tested. The code of a missing value is the number of values of the column.

    `scaled_to` is a number of rows: the evidence of tests with more complete rows is scaled down to it. Then tests of
    different columns are comparable although different rows are missing. `tightest` is the end of the grid of strengths
    (see `adaptive_prior`).
    """

    codes: NDArray[np.uint16]
    values: IntegerArray
    weights: FloatArray
    threads: int | None = None
    scaled_to: float = np.inf
    tightest: float = TIGHTEST

    @property
    def columns(self) -> int:
        """The number of columns."""
        return self.values.size

    @property
    def rows(self) -> float:
        """The number of rows, or the sum of their weights."""
        return float(self.weights.sum()) if self.weights.size else float(self.codes.shape[1])

    @property
    def max_cells(self) -> float:
        """The maximum number of cells of all strata of a test together; with more, a test tells next to nothing."""
        return min(_MAX_CELLS, max(_MAX_CELLS_PER_ROW * self.rows, 8.0))

    def of(self, tests: IntegerArray) -> FloatArray:
        """The log Bayes factor of each test."""
        return self.and_left(tests)[0]

    def and_left(self, tests: IntegerArray) -> tuple[FloatArray, FloatArray]:
        """The log Bayes factor of each test, and the share of the entropy of u and v that is left in its strata.

        If almost none is left, the given columns determine u or v, which then looks independent of all others.
        """
        log_factors, complete, left = self.with_rows(tests)
        if np.isfinite(self.scaled_to):
            log_factors *= np.minimum(1.0, self.scaled_to / np.maximum(complete, 1.0))
        return log_factors, left

    def with_rows(self, tests: IntegerArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The log Bayes factor of each test, not scaled, its complete rows, and the share of entropy that is left."""
        test_columns = np.ascontiguousarray(tests, dtype=np.int64)
        log_factors, complete, left = np.empty((3, test_columns.shape[0]))
        hyperparameters = SMOOTHING, LOOSEST, self.tightest, GRID

        def work(start: int) -> None:
            part = slice(start, start + _TESTS_PER_PART)
            edge_evidence.weigh_edges(
                self.codes,
                self.values,
                self.weights,
                test_columns[part],
                *hyperparameters,
                log_factors[part],
                complete[part],
                left[part],
            )

        share(work, range(0, test_columns.shape[0], _TESTS_PER_PART), self.threads)
        return log_factors, complete, left
