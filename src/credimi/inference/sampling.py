"""Draws from the posterior of the cell probabilities: exact if one side is complete, Gibbs if both lack values.

One side complete (for example the target): w ~ Dir(a), a_i = sum_j c_ij + n_i?, and q_i. ~ Dir(c_i.) independently,
c_ij = n_ij + pseudo-count (Dirichlet *parameters*); pi_ij = w_i q_ij. Draws are independent.

Both sides with missing values (data augmentation): given the cell probabilities, each column's n_?j data rows fall on
the classes as a multinomial with probabilities pi_ij/pi_+j. Given these completed counts, the other side is complete
and the cell probabilities are drawn as above. The margin with the smaller sum is completed: then less is forgotten
between two draws. Many chains run side by side in one array. If weights are no integers, the margin is rounded, and a
Metropolis step on the whole move corrects for the remaining factor prod pi_+j^(n_?j - rounded), which keeps the
posterior exact.

If most rows lack one side, completed counts change little from step to step. The chain would need as many steps as
there are incomplete rows for each complete one. So each step also moves probabilities along a direction in which both
margins stay the same: pi_ij + d, pi_kl + d, pi_il - d, pi_kj - d for two classes i, k and two values j, l at random. In
this direction the density is prod pi^(c - 1) of these four. d is drawn from it by slice sampling, in the logit of the
position of d between its least and its largest possible value.

Gamma variates of small shape underflow, so they are drawn as logarithms: log G(c) = log G(c + 1) + log(U)/c. A cell
without count and pseudo-count has probability 0 in every draw; a class without any complete count then takes the pooled
conditional.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from credimi.core.errors import CredimiError
from credimi.inference.distributions.beta_tails import Betas

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from credimi.core.table import Table
    from credimi.core.types import FloatArray

CHAINS = 256  # side by side in one array: more cost memory, fewer cost time
BURN_IN = 200  # steps that are discarded
THIN = 5  # steps from one kept draw to the next
_CELLS_AT_ONCE = 4_000_000  # 32 MB, and about ten arrays of this size while drawing
_MAX_MULTINOMIAL = 9e18  # numpy counts in 64 bits
_MANY_INCOMPLETE = 10.0  # rows for each complete one; with fewer, completed counts change fast enough
_FEW_DIRECTIONS = 4  # for which one move per step that keeps both margins is enough
_SLICE = 40.0  # how far one move may go, in logits
_MAX_LOGIT = 700.0  # beyond it the exponential overflows
_SHRINKS = 100  # after which a slice has shrunk to where it started


@dataclass(frozen=True, slots=True, eq=False)
class Draws:
    """Draws of the cell probabilities, and how well they represent the posterior.

    `r_hat` is the split potential scale reduction of mutual information over the chains (1 if the draws are
    independent; above 1.01 ask for a longer burn-in). `effective_size` is the number of independent draws that they are
    worth. With fewer than four draws per chain neither can be computed: r_hat is NaN.
    """

    probabilities: FloatArray
    r_hat: float
    effective_size: float


def information_of(probabilities: FloatArray) -> FloatArray:
    """Mutual information (nats) of joint probabilities (..., r, s)."""
    rows = probabilities.sum(axis=-1, keepdims=True)
    columns = probabilities.sum(axis=-2, keepdims=True)
    expected = rows * columns
    ratio = np.divide(
        probabilities, expected, out=np.ones_like(probabilities), where=(probabilities > 0.0) & (expected > 0.0)
    )
    information: FloatArray = np.maximum((probabilities * np.log(ratio)).sum(axis=(-2, -1)), 0.0)
    return information


def draw(
    table: Table, pseudo: float, size: int, generator: np.random.Generator, *, chains: int, burn_in: int, thin: int
) -> Draws:
    """`size` draws of the cell probabilities; the last three arguments matter only if both sides lack values."""
    batches = list(_batches(table, pseudo, size, generator, chains=chains, burn_in=burn_in, thin=thin))
    probabilities = np.concatenate([np.empty((0, *table.shape)), *batches])[:size]
    if not (table.misses_feature and table.misses_target) or size == 0:
        return Draws(probabilities, 1.0, float(size))
    r_hat, effective = _convergence(np.stack([information_of(batch) for batch in batches]))
    return Draws(probabilities, r_hat, min(effective, float(size)))


class InformationDraws(NamedTuple):
    """Draws of mutual information, and their r_hat with the number of steps and chains from which it was computed."""

    information: FloatArray
    r_hat: float = 1.0
    shape: tuple[int, int] = (0, 0)

    def converged(self, limit: float) -> bool:
        """Whether r_hat is within the limit, or at a value that independent draws exceed once in a hundred times.

        For m half chains of n draws, r_hat^2 = (n - 1) / n + F / n, where F is the variance between the half chains
        divided by that within them. If the draws are normal, F has an F distribution with m - 1 and m (n - 1) degrees
        of freedom. F times the ratio of these two are the odds of a Beta with half of each as parameters.
        """
        if not self.r_hat > limit:  # NaN if there are too few draws
            return True
        half, parts = self.shape[0] // 2, 2 * self.shape[1]
        between, within = parts - 1, parts * (half - 1)
        odds = (half * self.r_hat**2 - (half - 1)) * between / within
        betas, rest = Betas.of(0.5 * between, 0.5 * within), np.array([1.0 / (1.0 + odds)])  # 0 if r_hat is infinite
        above = betas.tails(1.0 - rest, rest, betas.offset(1.0 - rest, rest))[1]
        return bool(above[0, 0] >= 0.01)


def draw_information(
    table: Table, pseudo: float, size: int, generator: np.random.Generator, *, chains: int, burn_in: int, thin: int
) -> InformationDraws:
    """`size` draws of mutual information: like `draw`, without keeping the cell probabilities."""
    batches = _batches(table, pseudo, size, generator, chains=chains, burn_in=burn_in, thin=thin)
    trace = [information_of(batch) for batch in batches]
    information = np.concatenate(trace)[:size]
    if not (table.misses_feature and table.misses_target):
        return InformationDraws(information)
    return InformationDraws(information, _convergence(np.stack(trace))[0], (len(trace), trace[0].size))


def _batches(
    table: Table, pseudo: float, size: int, generator: np.random.Generator, *, chains: int, burn_in: int, thin: int
) -> Iterator[FloatArray]:
    """Draws in batches, (draws, r, s), small enough for memory; with several chains, one draw of each per batch."""
    at_once = max(16, _CELLS_AT_ONCE // table.joint.size)
    if table.misses_feature and table.misses_target:
        swapped = table.target_only.sum() < table.feature_only.sum()
        oriented = table.transposed() if swapped else table
        chains = max(1, min(chains, size // 20, at_once))  # at least 20 draws per chain, to judge convergence
        for state in _gibbs(oriented, pseudo, size, generator, chains=chains, burn_in=burn_in, thin=thin):
            yield state.swapaxes(1, 2) if swapped else state
        return
    oriented = table.transposed() if table.misses_target else table
    for first in range(0, size, at_once):
        shape = (min(at_once, size - first), *oriented.shape)
        product = _product(np.broadcast_to(oriented.joint + pseudo, shape), oriented.target_only, generator)
        yield product.swapaxes(1, 2) if table.misses_target else product


def _product(cells: FloatArray, row_only: FloatArray, generator: np.random.Generator) -> FloatArray:
    """w_i q_ij for Dirichlet parameters `cells` (draws, r, s) and margins `row_only` (r)."""
    totals = cells.sum(axis=2)
    weights = _dirichlet(totals + row_only, generator)
    conditionals = _dirichlet(cells, generator)
    empty = totals == 0.0
    if empty.any():
        known = np.where(empty, 0.0, weights)
        pooled = np.einsum("ni,nij->nj", known, conditionals)
        mass = pooled.sum(axis=1, keepdims=True)
        pooled = np.divide(pooled, mass, out=np.full_like(pooled, 1.0 / pooled.shape[1]), where=mass > 0.0)
        conditionals = np.where(empty[:, :, None], pooled[:, None, :], conditionals)
    product: FloatArray = weights[:, :, None] * conditionals
    return product


def _dirichlet(parameters: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Dirichlet draws along the last axis; all zeros if all parameters are 0."""
    gamma = generator.standard_gamma(parameters + 1.0)
    uniform = generator.standard_exponential(parameters.shape)
    with np.errstate(divide="ignore"):
        logarithm = np.log(gamma) - np.divide(
            uniform, parameters, out=np.full_like(uniform, np.inf), where=parameters > 0.0
        )
    peak = logarithm.max(axis=-1, keepdims=True)
    share = np.exp(logarithm - np.where(np.isfinite(peak), peak, 0.0))
    total = share.sum(axis=-1, keepdims=True)
    draws: FloatArray = np.divide(share, total, out=np.zeros_like(share), where=total > 0.0)
    return draws


def _gibbs(
    table: Table, pseudo: float, size: int, generator: np.random.Generator, *, chains: int, burn_in: int, thin: int
) -> Iterator[FloatArray]:
    if table.feature_only.max() > _MAX_MULTINOMIAL:
        raise CredimiError(
            f"target_only and feature_only both sum to more than {_MAX_MULTINOMIAL:g} rows: scale the counts down"
        )
    cells = table.joint + pseudo
    whole = np.rint(table.feature_only).astype(np.int64)
    left_over = table.feature_only - whole
    exact = not left_over.any()
    draws_per_chain = -(-size // chains)
    freedom = (cells.shape[0] - 1) * (cells.shape[1] - 1)
    mostly_incomplete = table.target_only.sum() + table.feature_only.sum() > _MANY_INCOMPLETE * cells.sum()
    turns = (1 if freedom <= _FEW_DIRECTIONS else 2) if mostly_incomplete else 0
    state = _product(np.broadcast_to(cells, (chains, *cells.shape)), table.target_only, generator)
    for step in range(burn_in + draws_per_chain * thin):
        columns = state.sum(axis=1)
        rows = state.sum(axis=2)
        split = np.where(columns[:, None, :] > 0.0, state, rows[:, :, None])  # an empty column is split as the classes
        split = (split / split.sum(axis=1, keepdims=True)).swapaxes(1, 2)
        completed = cells + generator.multinomial(whole, split).swapaxes(1, 2)
        proposal = _product(completed, table.target_only, generator)
        if not exact:
            with np.errstate(divide="ignore", invalid="ignore"):
                gain = (left_over * (np.log(proposal.sum(axis=1)) - np.log(columns))).sum(axis=1)
            accepted = np.log(generator.random(chains)) < np.nan_to_num(gain, nan=0.0)
            proposal = np.where(accepted[:, None, None], proposal, state)
        state = proposal
        for _ in range(turns):
            _turn(state, cells, generator)
        if step >= burn_in and (step - burn_in + 1) % thin == 0:
            yield state


def _turn(state: FloatArray, cells: FloatArray, generator: np.random.Generator) -> None:
    """Move four probabilities of every chain, keeping all margins; `state` (chains, r, s) is changed in place."""
    chains, rows, columns = state.shape
    chain = np.arange(chains)
    i, j = generator.integers(rows, size=chains), generator.integers(columns, size=chains)
    k = (i + generator.integers(1, rows, size=chains)) % rows
    m = (j + generator.integers(1, columns, size=chains)) % columns
    row, column = np.stack([i, k, i, k]), np.stack([j, m, m, j])  # the first two grow, the others shrink
    four, power = state[chain, row, column], cells[row, column] - 1.0
    down, up = four[:2].min(axis=0), four[2:].min(axis=0)
    rest = four - np.stack([down, down, up, up])
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.log(down) - np.log(up)
    movable = np.flatnonzero(np.isfinite(start) & (power > -1.0).all(axis=0))
    rest, power, width, start = rest[:, movable], power[:, movable], (down + up)[movable], start[movable]

    def moved(logit: FloatArray, of: NDArray[np.intp]) -> FloatArray:
        """The four probabilities for d at this logit."""
        rising = np.exp(np.clip(logit, -_MAX_LOGIT, _MAX_LOGIT))
        share = np.stack([rising, np.ones_like(rising)]) / (1.0 + rising)
        probabilities: FloatArray = rest[:, of] + width[of] * share[[0, 0, 1, 1]]
        return probabilities

    def log_density(logit: FloatArray, of: NDArray[np.intp]) -> FloatArray:
        logarithms = np.log(np.maximum(moved(logit, of), 1e-300))
        distance = np.abs(logit)
        density: FloatArray = (power[:, of] * logarithms).sum(axis=0) - distance - 2.0 * np.log1p(np.exp(-distance))
        return density

    left = np.arange(movable.size)
    level = log_density(start, left) - generator.standard_exponential(left.size)
    low = start - _SLICE * generator.random(left.size)
    high, end = low + _SLICE, start.copy()
    for _ in range(_SHRINKS):
        if left.size == 0:
            break
        trial = low[left] + (high[left] - low[left]) * generator.random(left.size)
        inside = log_density(trial, left) >= level[left]
        end[left[inside]] = trial[inside]
        left, trial = left[~inside], trial[~inside]
        below = trial < start[left]
        low[left[below]], high[left[~below]] = trial[below], trial[~below]
    state[chain[movable], row[:, movable], column[:, movable]] = moved(end, np.arange(movable.size))


def _convergence(trace: FloatArray) -> tuple[float, float]:
    """Split r-hat and effective size of a trace (steps, chains), as in Gelman et al., Bayesian Data Analysis."""
    half = trace.shape[0] // 2
    if half < 2:
        return float("nan"), float(trace.size)
    split = np.concatenate([trace[:half], trace[-half:]], axis=1)
    within = split.var(axis=0, ddof=1).mean()
    if within == 0.0:
        return 1.0, float(trace.size)
    between = half * split.mean(axis=0).var(ddof=1)
    pooled = (half - 1) / half * within + between / half
    # Autocorrelation averaged over chains, summed until it turns negative.
    centred = split - split.mean(axis=0)
    correlation_sum = 0.0
    for lag in range(1, half - 1):
        correlation = 1.0 - (within - (centred[lag:] * centred[:-lag]).mean()) / pooled
        if correlation < 0.0:
            break
        correlation_sum += correlation
    return float(np.sqrt(pooled / within)), float(trace.size / (1.0 + 2.0 * correlation_sum))
