"""The mode of the joint cell probabilities, and the covariance there as an operator.

If one side is complete, the mode costs O(rs): with a_i = c_i+ + n_i?, mode = mean = (a_i/A)(c_ij/c_i+), exactly. A
class without any complete count has no conditional distribution of its own and takes the pooled one. If both sides have
missing values, `inference.mode.find` finds the mode.

The matrix Cov = A^-1 - pi pi'/N is never built; it is applied to r x s fields f. If one side is complete, pi_ij = w_i
q_ij with w and q independent, and with f_i = sum_j q_ij f_ij,

    Cov f = (w_i^2/c_i+) q_ij (f_ij - f_i) + q_ij w_i (f_i - sum_k w_k f_k)/N.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np

from credimi.compile.signatures import Workspace
from credimi.core.errors import CredimiError
from credimi.inference.mode.find import find_mode
from credimi.inference.moments import information_matrix

if TYPE_CHECKING:
    from credimi.core.table import Table
    from credimi.core.types import FloatArray

_ROUNDING_ERROR = 1e-16  # relative, of one operation
_MAX_LOST_EVIDENCE = 0.01  # nats of the evidence that rounding may cost


@dataclass(frozen=True, eq=False)
class Solution:
    """The mode, and what is needed to apply A^-1 there. If `swapped`, the table is transposed here."""

    swapped: bool
    counts: FloatArray
    row_only: FloatArray
    column_only: FloatArray
    probability: FloatArray
    steps: int = 0
    residual: float = 0.0
    work: Workspace | None = None

    @property
    def total(self) -> float:
        """The sum of all counts, including pseudo-counts."""
        return float(self.counts.sum() + self.row_only.sum() + self.column_only.sum())

    @cached_property
    def mode(self) -> FloatArray:
        """The most probable cell probabilities, in the table's orientation."""
        return self.turned(self.probability)

    def turned(self, field: FloatArray) -> FloatArray:
        """Convert between the table's orientation and this one; read-only."""
        array = np.array(field.T if self.swapped else field, order="C")  # a copy: the caller's array stays unchanged
        array.setflags(write=False)
        return array

    @cached_property
    def _one_sided(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """If the columns' side is complete: w_i, q_ij, and w_i^2/c_i+, 0 for a class without complete counts."""
        weights, sums = self.probability.sum(axis=1, keepdims=True), self.counts.sum(axis=1, keepdims=True)
        conditional = np.divide(self.probability, weights, out=np.zeros_like(self.probability), where=weights > 0.0)
        return weights, conditional, np.divide(weights**2, sums, out=np.zeros_like(sums), where=sums > 0.0)

    def _work_copy(self) -> Workspace:
        """A copy of the factor and its scratch space for one call, because threads may share a Posterior."""
        return Workspace(*(each.copy() for each in cast("Workspace", self.work)))

    def covariance_times(self, field: FloatArray) -> FloatArray:
        """Cov f, in this orientation."""
        # Cov maps constants to 0, so the field may be centred; then pi pi'/N vanishes, and no digits are lost.
        centred = np.ascontiguousarray(field - (self.probability * field).sum())
        if self.work is None:  # w and q are independent: a term within each class, and one between the classes
            weights, conditional, certainty = self._one_sided
            of_rows = (conditional * centred).sum(axis=1, keepdims=True)
            between = weights * (of_rows - (weights * of_rows).sum()) / self.total
            covariance: FloatArray = certainty * conditional * (centred - of_rows) + conditional * between
            return covariance
        solution = np.empty_like(self.probability)
        information_matrix.solve(centred, self._work_copy(), solution)
        # The sum over all cells is 0, even if some v_ij (see `information_matrix`) are 0: what remains is rounding.
        result: FloatArray = solution - self.probability * solution.sum()
        return result

    def variances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The variances of the cells, of the row sums and of the column sums."""
        if self.work is not None:
            work = self._work_copy()
            information_matrix.variances(self.total, work)
            cells = work.cells[information_matrix.VARIANCE]
            of_rows = work.rows[information_matrix.ROW_VARIANCE]
            of_columns = work.columns[information_matrix.COLUMN_VARIANCE]
            # The kernel subtracts. The difference has few digits if one cell has nearly all probability, or if a cell
            # has almost no complete count, so that only the margins determine it. A centred solve is precise there.
            held_by_margins = (self.probability > 0.0) & (self.counts < 1e-4 * self.total * self.probability)
            unit = np.zeros_like(self.probability)
            for cell in zip(*np.nonzero(held_by_margins | (self.probability > 0.5)), strict=True):
                unit[cell] = 1.0
                cells[cell] = self.covariance_times(unit)[cell]
                unit[cell] = 0.0
            return cells, of_rows, of_columns
        # Var[w q] = E[w]^2 Var[q] + E[q]^2 Var[w]: all terms are positive, and none cancel.
        weights, conditional, certainty = self._one_sided
        within = certainty * conditional * one_less(conditional, axis=1)
        of_rows = weights * one_less(weights, axis=0) / self.total
        between = weights * (conditional - self.probability.sum(axis=0)) ** 2 / self.total
        return within + conditional**2 * of_rows, of_rows[:, 0], (within + between).sum(axis=0)

    def laplace_evidence(self) -> float:
        """L(mode) + (rs-1)/2 log 2 pi - (1/2) log det, from the existing factor (its diagonal is stored inverted)."""
        work = cast("Workspace", self.work)
        diagonal = np.diag(work.squares[information_matrix.FACTOR])
        by_margins = (
            self.total * (self.probability / self.counts).max()
        )  # digits cancel if only the margins determine a cell
        if (
            not diagonal.all() or by_margins * _ROUNDING_ERROR > _MAX_LOST_EVIDENCE
        ):  # see also `information_matrix.factorize`
            raise CredimiError(
                "the evidence is lost to rounding: the margins are too large compared with the complete counts; "
                "scale the margins down, or choose a larger prior"
            )
        x, y = self.probability.sum(axis=1), self.probability.sum(axis=0)
        slope = np.divide(self.row_only, x, out=np.zeros_like(x), where=self.row_only > 0.0)
        likelihood = (self.counts * np.log(self.probability)).sum()
        likelihood += (self.row_only * np.log(x)).sum() + (self.column_only * np.log(y)).sum()
        determinant = (
            np.log(self.counts).sum() + np.log1p(slope * work.cells[information_matrix.SCALE].sum(axis=1) / x).sum()
        )
        determinant -= (2.0 * np.log(diagonal) + np.log(y)).sum() + math.log(self.total)
        return float(likelihood + 0.5 * (self.probability.size - 1) * math.log(2.0 * math.pi) - 0.5 * determinant)


def solve(table: Table, pseudo: float) -> Solution:
    """Find the mode, oriented so that the columns are the shorter side, or the complete one."""
    both = table.misses_feature and table.misses_target
    rows, columns = table.shape
    swapped = columns > rows if both else table.misses_target
    oriented = table.transposed() if swapped else table
    counts = oriented.joint + pseudo
    if not both:
        return Solution(swapped, counts, oriented.target_only, oriented.feature_only, _one_sided_mode(counts, oriented))
    work = information_matrix.workspace(*counts.shape)
    work.cells[information_matrix.COUNTS] = counts
    work.rows[information_matrix.ROW_ONLY] = oriented.target_only
    work.columns[information_matrix.COLUMN_ONLY] = oriented.feature_only
    steps, residual = find_mode(work)
    probability = work.cells[information_matrix.PROBABILITY]
    return Solution(swapped, counts, oriented.target_only, oriented.feature_only, probability, steps, residual, work)


def _one_sided_mode(counts: FloatArray, table: Table) -> FloatArray:
    totals = counts.sum(axis=1, keepdims=True)
    weights = totals + table.target_only[:, None]
    weights = weights / weights.sum()
    conditional = np.divide(counts, totals, out=np.zeros_like(counts), where=totals > 0.0)
    pooled = (weights * conditional).sum(axis=0)
    probability: FloatArray = weights * np.where(totals > 0.0, conditional, pooled / pooled.sum())
    return probability


def one_less(shares: FloatArray, axis: int) -> FloatArray:
    """1 - shares, computed as the sum of the others along the axis: 1 - p loses all digits if p is nearly 1."""
    largest = shares == shares.max(axis=axis, keepdims=True)
    others = np.where(largest, 0.0, shares).sum(axis=axis, keepdims=True)
    alone = largest & (largest.sum(axis=axis, keepdims=True) == 1)
    complements: FloatArray = np.where(alone, others, 1.0 - shares)
    return complements
