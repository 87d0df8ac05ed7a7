"""Moments of the posterior of mutual information: for many tables at once, and for complete data in closed form.

`moments` hands tables to the compiled kernels by their pattern of missingness (see `credimi.kernels.one_sided` and
`two_sided` for the formulas and their cost) and splits large batches over threads. The functions on complete data
take Dirichlet *parameters* n_ij (counts plus pseudo-counts; n their sum, r x s the shape) and return, with l_ij =
log(n_ij n/(n_i+ n_+j)) and J, K, L = sum (n_ij/n) l_ij^(1,2,3):

    exact mean                      (1/n) sum n_ij [psi(n_ij+1) - psi(n_i+ +1) - psi(n_+j +1) + psi(n+1)]
    variance, to O(n^-2)            (K - J^2)/(n+1) + [M + (r-1)(s-1)(1/2 - J) - Q]/((n+1)(n+2)),
                                    M = sum (1/n_ij - 1/n_i+ - 1/n_+j + 1/n) n_ij l_ij,  Q = 1 - sum n_ij^2/(n_i+ n_+j)
    third central moment, leading   (2/n^2)[2J^3 - 3KJ + L] + (3/n^2)[K + J^2 - P],
                                    P = n sum_i J_i+^2/n_i+ + n sum_j J_+j^2/n_+j,  J_ij = (n_ij/n) l_ij
    fourth central moment, leading  3 (K - J^2)^2/n^2                                 (poor near independence)

(Hutter 2001; Hutter and Zaffalon 2005.)
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.errors import CredimiError
from credimi.kernels import batch

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]

_CELLS_WORTH_A_THREAD = 20_000  # below this a second thread costs more than it saves (benchmarks/moments.py)


@dataclass(frozen=True, slots=True, eq=False)
class Blocks:
    """Many tables in one flat array, each block (r + 1) x (s + 1) with the missing counts last (see kernels.batch)."""

    flat: NDArray[np.number]
    rows: IntegerArray
    columns: IntegerArray

    @property
    def offsets(self) -> IntegerArray:
        """Where each block starts."""
        sizes = (self.rows + 1) * (self.columns + 1)
        offsets = np.zeros(sizes.size, dtype=np.int64)
        np.cumsum(sizes[:-1], out=offsets[1:])
        return offsets

    @classmethod
    def of(cls, blocks: list[FloatArray]) -> Blocks:
        """Join blocks as `Table.block` makes them."""
        return cls(
            np.concatenate([block.ravel() for block in blocks]) if blocks else np.zeros(0),
            np.array([block.shape[0] - 1 for block in blocks], dtype=np.int64),
            np.array([block.shape[1] - 1 for block in blocks], dtype=np.int64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Posterior mean and variance of mutual information, one entry a table, and the largest value it can take."""

    mean: FloatArray
    variance: FloatArray
    upper: FloatArray


def moments(blocks: Blocks, pseudo_count: ArrayLike, *, matched: bool = True, threads: int | None = None) -> Moments:
    """Moments of every table; `pseudo_count` is one number or one a table, `threads` all cores unless said.

    The matched variance is positive and small enough for a Beta on [0, log min(r, s)] unless I is 0 with certainty.
    """
    count = blocks.rows.size
    offsets = blocks.offsets
    pseudo = np.ascontiguousarray(np.broadcast_to(np.asarray(pseudo_count, dtype=np.float64), (count,)))
    pattern = np.empty(count, dtype=np.int8)
    batch.classify(blocks.flat, offsets, blocks.rows, blocks.columns, pattern)
    mean, variance = np.zeros(count), np.zeros(count)
    tables = (blocks.flat, offsets, blocks.rows, blocks.columns, pseudo)

    def one_sided(selection: IntegerArray) -> None:
        kernel = batch.matched_one_sided if matched else batch.leading_one_sided
        kernel(*tables, pattern, selection, mean, variance)

    def two_sided(selection: IntegerArray) -> None:
        batch.two_sided(*tables, selection, matched, mean, variance)

    cells = blocks.rows * blocks.columns
    both = np.flatnonzero(pattern == batch.BOTH)
    single = np.flatnonzero((pattern != batch.BOTH) & (pattern != batch.CONSTANT))
    _run(one_sided, single, cells, threads)
    _run(two_sided, both, 10 * cells, threads)
    upper = np.log(np.minimum(blocks.rows, blocks.columns))
    if matched:
        # Nearly empty tables with tiny pseudo-counts: the one-sided variance is a difference and can fail.
        failed = single[~(variance[single] > 1e-9 * mean[single] ** 2)]
        if failed.size:
            _run(two_sided, failed[mean[failed] > 0.0], 10 * cells, threads)
        np.minimum(mean, upper, out=mean)
        np.minimum(variance, mean * (upper - mean), out=variance)
    return Moments(mean, variance, upper)


def _run(
    kernel: Callable[[IntegerArray], None], selection: IntegerArray, cells: IntegerArray, threads: int | None
) -> None:
    if selection.size == 0:
        return
    work = cells[selection]
    most = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    wanted = most if threads is None else threads
    parts = int(max(1, min(wanted, selection.size, work.sum() // _CELLS_WORTH_A_THREAD)))
    if parts == 1:
        kernel(selection)
        return
    # Four chunks a thread, equal in cells: a chunk of hard tables then delays nobody for long.
    done = np.cumsum(work)
    cuts = np.searchsorted(done, done[-1] * np.arange(1, 4 * parts) / (4 * parts))
    with ThreadPoolExecutor(parts) as pool:
        list(pool.map(kernel, [chunk for chunk in np.split(selection, cuts) if chunk.size]))


def exact_mean(parameters: ArrayLike) -> float:
    """E[I] of complete data, exactly."""
    from scipy.special import digamma  # noqa: PLC0415  (keeps `import credimi.information` light)

    n, rows, columns, total = _complete(parameters)
    terms = digamma(n + 1.0) - digamma(rows + 1.0) - digamma(columns + 1.0) + digamma(total + 1.0)
    return float((n * terms).sum() / total)


def second_order_variance(parameters: ArrayLike) -> float:
    """Var[I] of complete data up to and including the order n^-2."""
    n, rows, columns, total = _complete(parameters)
    log_ratio, chance = np.log(n * total / (rows * columns)), n / total
    first, second = (chance * log_ratio).sum(), (chance * log_ratio**2).sum()
    shift = ((1.0 / n - 1.0 / rows - 1.0 / columns + 1.0 / total) * n * log_ratio).sum()
    freedom = (n.shape[0] - 1.0) * (n.shape[1] - 1.0)
    association = 1.0 - (n**2 / (rows * columns)).sum()
    correction = shift + freedom * (0.5 - first) - association
    return float((second - first**2) / (total + 1.0) + correction / ((total + 1.0) * (total + 2.0)))


def third_central_moment(parameters: ArrayLike) -> float:
    """E[(I - E[I])^3] of complete data, leading order n^-2."""
    n, rows, columns, total = _complete(parameters)
    log_ratio, chance = np.log(n * total / (rows * columns)), n / total
    first, second, third = ((chance * log_ratio**power).sum() for power in (1, 2, 3))
    parts = chance * log_ratio
    margins = total * (parts.sum(axis=1) ** 2 / rows[:, 0]).sum() + total * (parts.sum(axis=0) ** 2 / columns[0]).sum()
    skew = 2.0 * (2.0 * first**3 - 3.0 * second * first + third) + 3.0 * (second + first**2 - margins)
    return float(skew / total**2)


def fourth_central_moment(parameters: ArrayLike) -> float:
    """E[(I - E[I])^4] of complete data, leading order n^-2: that of a Gaussian, hence poor near independence."""
    n, rows, columns, total = _complete(parameters)
    log_ratio, chance = np.log(n * total / (rows * columns)), n / total
    first, second = (chance * log_ratio).sum(), (chance * log_ratio**2).sum()
    return float(3.0 * (second - first**2) ** 2 / total**2)


def _complete(parameters: ArrayLike) -> tuple[FloatArray, FloatArray, FloatArray, float]:
    n = np.asarray(parameters, dtype=np.float64)
    if n.ndim != 2 or not np.all((n > 0.0) & np.isfinite(n)):
        raise CredimiError(
            "Dirichlet parameters must be a table of positive finite numbers: add a pseudo-count to the counts"
        )
    return n, n.sum(axis=1, keepdims=True), n.sum(axis=0, keepdims=True), float(n.sum())
