"""`posterior`: the joint cell probabilities of target and feature, given incomplete counts. The paper says chances.

c_ij = n_ij + pseudo-count are Dirichlet *parameters*, and the exponents of the density over log-probabilities, whose
mode is reported (see `fixed_priors`).

If one side is complete, mode and mean cost O(rs): with a_i = c_i+ + n_i?, mode = mean = (a_i/A)(c_ij/c_i+), exactly. A
class without any complete count (only possible without pseudo-counts) has no conditional distribution of its own and
takes the pooled one. If both sides have missing values, `find` finds the mode, at a cost of O(r s^2 + s^3)
per step, where s is the shorter side. The mean is corrected for the skewness of the posterior,

    E[pi] = pi + Cov g                                                                        (to order 1/N),
    g_ij = -1/pi_ij + c_ij Var[pi_ij]/pi_ij^3 + n_i? Var[pi_i+]/pi_i+^3 + n_?j Var[pi_+j]/pi_+j^3 .

**Covariance** (leading order, at the mode, for all patterns of missing values): see `mode`.

**Evidence**: the log of N = int prod pi_ij^(c_ij - 1) prod pi_i+^(n_i?) prod pi_+j^(n_?j) over the simplex (the
paper's normalisation, prior included). If one side is complete, it is sum lnG(c_ij) - sum lnG(c_i+) + sum lnG(a_i) -
lnG(A). If both sides have missing values, Laplace's approximation in log-probabilities is used,
`L(mode) + (rs-1)/2 log 2 pi - (1/2) log det`, det = prod c_ij prod_i(1 + a_i V_i/x_i) det(Woodbury)/(N prod y_j). It
has, for each factor, Stirling's error d(x) = lnG(x) - Stirling(x). These errors are known and corrected: add sum
d(c_ij) + sum [d(a_i) - d(c_i+)] + sum [d(b_j) - d(c_+j)] - d(N). The result is exact if one side is complete.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import make_generator, require_numbers, require_whole
from credimi.core.errors import CredimiError
from credimi.core.keywords import suggesting
from credimi.core.public import public
from credimi.core.special import stirling_error
from credimi.core.table import Table
from credimi.inference.belief import USUAL_APPROXIMATION, Unnamed, by_method
from credimi.inference.evidence.fixed_priors import CELLS, added, pseudo_counts, require_proper
from credimi.inference.information import information_of
from credimi.inference.mode.mode import Solution, one_less, solve
from credimi.inference.sampling import BURN_IN, CHAINS, THIN, Draws, draw
from credimi.results.saved import Saved

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray
    from credimi.inference.distributions.distribution import Distribution
    from credimi.inference.evidence.fixed_priors import Prior

_USUAL_PRIOR = Unnamed(CELLS)
_MAX_SHIFT = 0.5  # the mean may differ from the mode by so much, summed over all cells


@suggesting
def posterior(
    joint: ArrayLike | Table,
    target_only: ArrayLike | None = None,
    feature_only: ArrayLike | None = None,
    *,
    prior: Prior = _USUAL_PRIOR,
    method: str | None = None,
) -> Posterior:
    """Posterior of the joint cell probabilities, given counts of rows in which feature or target may be missing.

    Parameters
    ----------
    joint
        r x s counts with both seen: one row per target class, one column per feature value. Weights are allowed.
        Also a `Table`, or one of the layouts that `Table` takes.
    target_only
        r counts of data rows whose feature is missing.
    feature_only
        s counts of data rows whose target is missing.
    prior
        "jeffreys" (1/2 pseudo-count per cell), "uniform" (1), "perks" (1/(rs)), "raw-counts" or "haldane" (0), a
        number, or an r x s array with one for each cell. The adaptive prior is one of mutual information alone.
    method
        "paper" or "paper-beta": mode, mean and covariance from the raw counts, and for `.mutual_information()` the
        approximation of leading order. The density is the paper's, prod pi_ij^n_ij for complete counts, a Dirichlet
        with the parameters n_ij + 1: draws and evidence are those of prior="uniform".

    Returns
    -------
    Posterior
        Mode, mean, covariance, evidence and draws of the cell probabilities; each is computed when it is needed.

    Examples
    --------
    >>> posterior = credimi.posterior([[10, 2], [3, 15]], target_only=[4, 1])
    >>> posterior.mode.round(3)
    array([[0.371, 0.088],
           [0.1  , 0.441]])
    >>> posterior.mutual_information()
    Distribution(mean=0.2236, std=0.09614, 95% interval=[0.06274, 0.429])
    """
    table = Table.of(joint, target_only, feature_only)
    prior, approximation = by_method(method, prior, USUAL_APPROXIMATION)
    pseudo = pseudo_counts(prior, table)
    require_proper(table, pseudo, f"prior {prior!r}" if method is None else f"method {method!r}")
    return Posterior(table, pseudo, approximation, method)


@public
@dataclass(frozen=True, eq=False)
class Posterior(Saved):
    """The posterior of the cell probabilities. Made by `credimi.posterior`.

    `mode` and `mean` are r x s; `log_evidence` is the log of the normalisation; `covariance()` is rs x rs, cells row
    by row.
    """

    table: Table
    pseudo_count: float | FloatArray
    approximation: str = "matched"
    method: str | None = None

    def mutual_information(
        self,
        *,
        approximation: str | None = None,
        draws: int = 10_000,
        random_state: int | np.random.Generator | None = None,
    ) -> Distribution:
        """The posterior of the mutual information, from the same counts and the same prior (and method, if any)."""
        method = self.method if approximation in {None, self.approximation} else None
        law = information_of(self.table, self.pseudo_count, approximation or self.approximation, draws, random_state)
        return replace(law, cells=self, method=method)

    @property
    def mode(self) -> FloatArray:
        """The most probable cell probabilities, where the density of their logarithms is largest (see `fixed_priors`).

        With complete counts these are (n + pseudo-count) / N, which is the mean as well.
        """
        return self._solution.mode

    @property
    def steps(self) -> int:
        """Newton steps that the mode took; 0 if it has a closed form, 61 if EM had to finish the work."""
        return self._solution.steps

    @property
    def kkt_residual(self) -> float:
        """Largest violation of the optimality conditions at the mode, relative to the number of rows.

        Below 1e-10, except for tables without pseudo-counts whose margins contradict the joint counts by orders of
        magnitude.
        """
        return self._solution.residual

    @cached_property
    def mean(self) -> FloatArray:
        """The expected cell probabilities, exact if one side is complete, to order 1/N otherwise."""
        solution = self._solution
        if solution.work is None:
            return solution.mode
        probability, counts = solution.probability, solution.counts
        variance, of_rows, of_columns = self._variances
        safe = np.where(probability > 0.0, probability, 1.0)
        gradient = (counts * (variance / safe) / safe - 1.0) / safe  # squares of small probabilities would underflow
        gradient += _cubed(solution.row_only, of_rows, probability.sum(axis=1))[:, None]
        gradient += _cubed(solution.column_only, of_columns, probability.sum(axis=0))
        gradient[probability == 0.0] = 0.0
        shift = solution.covariance_times(gradient)
        if not np.abs(shift).sum() <= _MAX_SHIFT:
            return solution.mode  # too little is known: this is no small correction of order 1/N
        # In a cell with less than about one count, the corrected mean could be below 0: at most halve the cell.
        mean = np.maximum(probability + shift, 0.5 * probability)
        return solution.turned(mean / mean.sum())

    @cached_property
    def std(self) -> FloatArray:
        """Standard deviation of each cell probability, leading order, the root of the covariance's diagonal.

        A value above 1/2, which is possible in leading order, means that neither counts nor margins determine the cell.
        """
        solution = self._solution
        return solution.turned(np.sqrt(np.maximum(self._variances[0], 0.0)))

    def covariance_times(self, field: ArrayLike) -> FloatArray:
        """Covariance (leading order) applied to an r x s field, without building the matrix."""
        array = require_numbers("the field", field)
        if array.shape != self.table.shape:
            raise CredimiError(f"the field has shape {array.shape}, the table {self.table.shape}: they must be equal")
        if not np.isfinite(array).all():
            raise CredimiError("the field holds values that are not finite: covariances with it are not defined")
        solution = self._solution
        return solution.turned(solution.covariance_times(solution.turned(array)))

    def covariance(self) -> FloatArray:
        """The rs x rs covariance matrix (leading order), cells row by row. Large: 8 (rs)^2 bytes."""
        cells = self.table.joint.size
        matrix = np.empty((cells, cells))
        unit = np.zeros(self.table.shape)
        for cell in range(cells):
            unit.flat[cell] = 1.0
            matrix[cell] = self.covariance_times(unit).ravel()
            unit.flat[cell] = 0.0
        return matrix

    @cached_property
    def log_evidence(self) -> float:
        """Log of the normalisation, prior included; infinite if a cell has neither count nor pseudo-count.

        With a method it is that of the paper's density, hence of the uniform prior.
        """
        if self.method is not None:
            return self._of_density.log_evidence
        cells = self.table.joint + self.pseudo_count
        if not cells.all():
            return math.inf
        rows, columns = cells.sum(axis=1), cells.sum(axis=0)
        full_rows, full_columns = rows + self.table.target_only, columns + self.table.feature_only
        if 1 in cells.shape:  # the only class, or the only value, is certain: seen alone, it tells nothing
            return float(_log_beta(full_columns if cells.shape[0] == 1 else full_rows))
        solution = self._solution
        if solution.work is None:
            oriented, full = (cells.T, full_columns) if self.table.misses_target else (cells, full_rows)
            return float(_log_beta(oriented).sum() + _log_beta(full))
        correction = stirling_error(cells).sum() - stirling_error(np.array(solution.total))
        correction += (stirling_error(full_rows) - stirling_error(rows)).sum()
        correction += (stirling_error(full_columns) - stirling_error(columns)).sum()
        return float(solution.laplace_evidence() + correction)

    @property
    def log_marginal_likelihood(self) -> float:
        """Log-probability of one sequence of such rows, the evidence divided by the prior's own normalisation."""
        if self.method is not None:
            return self._of_density.log_marginal_likelihood
        if not np.all(self.pseudo_count):
            raise CredimiError(
                "prior 'haldane' is improper, so the marginal likelihood is not defined: choose a proper prior"
            )
        return self.log_evidence - float(_log_beta(np.broadcast_to(self.pseudo_count, self.table.shape).ravel()))

    def sample(
        self,
        size: int,
        random_state: int | np.random.Generator | None = None,
        *,
        chains: int = CHAINS,
        burn_in: int = BURN_IN,
        thin: int = THIN,
    ) -> Draws:
        """Draws with convergence figures; the last three arguments matter only if both sides have missing values.

        With a method they are draws from the paper's density, hence with the uniform prior.
        """
        for name, value, minimum in (
            ("size", size, 0),
            ("chains", chains, 1),
            ("burn_in", burn_in, 0),
            ("thin", thin, 1),
        ):
            require_whole(name, value, minimum)
        generator = make_generator(random_state)
        return draw(*self._of_density.parameters, int(size), generator, chains=chains, burn_in=burn_in, thin=thin)

    def rvs(self, size: int = 1, random_state: int | np.random.Generator | None = None) -> FloatArray:
        """`size` draws, (size, r, s): independent if one side is complete, otherwise Gibbs (see `sample`)."""
        return self.sample(size, random_state).probabilities

    @property
    def parameters(self) -> tuple[Table, float]:
        """The counts and a pseudo-count of all cells; what differs between cells is among the counts."""
        return added(self.table, self.pseudo_count)

    @cached_property
    def _of_density(self) -> Posterior:
        """The posterior whose parameters are those of the density: the paper's counts are exponents, one less."""
        return self if self.method is None else Posterior(self.table, self.pseudo_count + 1.0)

    @cached_property
    def _solution(self) -> Solution:
        return solve(*self.parameters)

    @cached_property
    def _variances(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        return self._solution.variances()

    def __reduce__(self) -> tuple[type[Posterior], tuple[object, ...]]:
        # Cached values are not stored but computed again: pickle and deepcopy would lose the write lock of an array.
        return Posterior, (self.table, self.pseudo_count, self.approximation, self.method)

    def __repr__(self) -> str:
        rows, columns = self.table.shape
        pseudo = self.pseudo_count
        prior = f"pseudo-count {pseudo:g}" if isinstance(pseudo, float) else "a pseudo-count for each cell"
        prior += "" if self.method is None else f", method {self.method}"
        if isinstance(pseudo, float) and pseudo == 0.5:  # the default here, but not that of the information
            prior += ", jeffreys: the adaptive prior of mutual_information is one of I alone"
        return f"Posterior({rows} x {columns} cell probabilities, {self.table.rows:g} rows, {prior})"


def _cubed(counts: FloatArray, variance: FloatArray, probability: FloatArray) -> FloatArray:
    """counts * variance / probability^3; 0 where there are no counts."""
    counted = (counts > 0.0) & (probability > 0.0)
    safe = np.where(counted, probability, 1.0)
    return np.where(counted, counts * (variance / safe) / safe / safe, 0.0)  # the cube could underflow


def _log_beta(parameters: FloatArray) -> FloatArray:
    """sum lnG(v) - lnG(V), V = sum v, along the last axis.

    Computed by Stirling's formula: if V is large, the terms v log V are far larger than the result, and cancel.
    """
    total = parameters.sum(axis=-1, keepdims=True)
    share = parameters / total
    small_rest = np.minimum(one_less(share, axis=-1), 0.5)
    terms = (parameters - 0.5) * np.where(share > 0.5, np.log1p(-small_rest), np.log(share))
    terms += stirling_error(parameters)
    freedom = parameters.shape[-1] - 1.0
    common = 0.5 * freedom * np.log(2.0 * math.pi / total) - stirling_error(total)
    beta: FloatArray = terms.sum(axis=-1) + common[..., 0]
    return beta
