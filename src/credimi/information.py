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

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.errors import CredimiError
from credimi.hard_tables import NODES, drawn_moments, split_thin_classes
from credimi.kernels import batch
from credimi.threads import cores, share

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]
    IntegerArray = NDArray[np.int64]

_FEW = 3.0  # complete counts, pseudo-counts included, below which the posterior is little but the prior
_CELLS_WORTH_A_THREAD = 20_000  # below this a second thread costs more than it saves (benchmarks/moments.py)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Many tables in one flat array, each block (r + 1) x (s + 1) with the missing counts last (see kernels.batch).

    `odds` are the prior odds that target and feature depend, beside those that the adaptive prior has; 1 unless said.
    """

    flat: NDArray[np.number]
    rows: IntegerArray
    columns: IntegerArray
    odds: FloatArray | None = None

    @cached_property
    def offsets(self) -> IntegerArray:
        """Where each block starts."""
        sizes = (self.rows + 1) * (self.columns + 1)
        offsets = np.zeros(sizes.size, dtype=np.int64)
        np.cumsum(sizes[:-1], out=offsets[1:])
        return offsets

    def block(self, table: int) -> NDArray[np.number]:
        """One block, (r + 1) x (s + 1)."""
        start, shape = self.offsets[table], (self.rows[table] + 1, self.columns[table] + 1)
        return self.flat[start : start + shape[0] * shape[1]].reshape(shape)

    def chosen(self, tables: NDArray[np.bool_]) -> Blocks:
        """Some of the tables, without odds."""
        rows, columns = self.rows, self.columns
        return Blocks(self.flat[np.repeat(tables, (rows + 1) * (columns + 1))], rows[tables], columns[tables])

    @classmethod
    def of(cls, blocks: list[FloatArray], odds: list[float] | None = None) -> Blocks:
        """Join blocks as `Table.block` makes them."""
        return cls(
            np.concatenate([block.ravel() for block in blocks]) if blocks else np.zeros(0),
            np.array([block.shape[0] - 1 for block in blocks], dtype=np.int64),
            np.array([block.shape[1] - 1 for block in blocks], dtype=np.int64),
            None if odds is None else np.array(odds, dtype=np.float64),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Posterior mean and variance of mutual information, one entry a table.

    Few tables need a mixture (see `hard_tables`): `split` says which these are, and `mean_given` and `variance_given`
    (tables that are split, parts) are the moments of its parts, which have equal weights.
    """

    mean: FloatArray
    variance: FloatArray
    split: IntegerArray
    mean_given: FloatArray
    variance_given: FloatArray

    def components(self) -> tuple[IntegerArray, FloatArray, FloatArray, FloatArray]:
        """Of all components, table by table: the table, the weight in it, mean and variance."""
        table = np.arange(self.mean.size)
        if self.split.size == 0:
            return table, np.ones(table.size), self.mean, self.variance
        count = self.mean_given.shape[1]
        whole = np.ones(table.size, dtype=np.bool_)
        whole[self.split] = False
        table = np.concatenate([table[whole], np.repeat(self.split, count)])
        order = np.argsort(table, kind="stable")
        weight = np.where(whole[table], 1.0, 1.0 / count)
        mean = np.concatenate([self.mean[whole], self.mean_given.ravel()])
        variance = np.concatenate([self.variance[whole], self.variance_given.ravel()])
        return table[order], weight[order], mean[order], variance[order]


def moments(blocks: Blocks, pseudo_count: ArrayLike, *, matched: bool = True, threads: int | None = None) -> Moments:
    """Moments of every table; `pseudo_count` is one number or one a table, `threads` all cores unless said.

    The matched moments fit a Beta on [0, log min(r, s)], unless I is certain: then the variance is 0. Tables for which
    the closed forms do not hold get theirs as `hard_tables` says.
    """
    count = blocks.rows.size
    pseudo = np.full(count, pseudo_count, dtype=np.float64)  # not a view, which would be another type to Numba
    mean, variance, thin = np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.bool_)

    def chunk(part: slice) -> None:
        tables = (blocks.flat, blocks.offsets[part], blocks.rows[part], blocks.columns[part], pseudo[part])
        _moments_of_chunk(*tables, mean=mean[part], variance=variance[part], thin=thin[part], matched=matched)

    share(chunk, parts(count, blocks.flat.size, threads), threads)
    split = np.flatnonzero(thin)
    given = np.array([_moments_of_parts(blocks.block(table), pseudo[table]) for table in split.tolist()])
    mean_given, variance_given = given.reshape(-1, 2, NODES).swapaxes(0, 1)
    mean[split] = mean_given.mean(axis=1)
    variance[split] = variance_given.mean(axis=1) + mean_given.var(axis=1)
    return Moments(mean, variance, split, mean_given, variance_given)


def _moments_of_parts(block: NDArray[np.number], pseudo: float) -> FloatArray:
    """Means and variances of the mixture that stands for a table with a thin class."""
    nodes = split_thin_classes(block, pseudo)
    count, rows, columns = nodes.shape[0], nodes.shape[1] - 1, nodes.shape[2] - 1
    mean, variance = np.empty(count), np.empty(count)
    shapes = np.full(count, rows), np.full(count, columns)
    tables = nodes.ravel(), np.arange(count) * nodes[0].size, *shapes, np.zeros(count)
    pattern = np.full(count, batch.TARGET_ONLY, dtype=np.int8)
    batch.matched_one_sided(*tables, pattern, np.arange(count), mean, variance, np.empty(count, dtype=np.bool_))
    upper = float(np.log(min(rows, columns)))
    mean = np.clip(np.nan_to_num(mean), 0.0, upper * (1.0 - 1e-9))
    most = mean * (upper - mean)
    variance = np.where(variance < most, variance, 0.5 * most)  # NaN, too, is not less
    return np.stack([mean, np.maximum(variance, 1e-9 * most)])


def parts(tables: int, cells: int, threads: int | None) -> list[slice]:
    """Equal shares of the tables, several a thread, so that hard ones delay nobody for long."""
    count = min(4 * cores(threads), cells // _CELLS_WORTH_A_THREAD, tables)
    if cores(threads) == 1 or count < 2:
        return [slice(0, tables)]
    return [slice(tables * part // count, tables * (part + 1) // count) for part in range(count)]


def _moments_of_chunk(
    flat: NDArray[np.number],
    offsets: IntegerArray,
    rows: IntegerArray,
    columns: IntegerArray,
    pseudo: FloatArray,
    *,
    mean: FloatArray,
    variance: FloatArray,
    thin: NDArray[np.bool_],
    matched: bool,
) -> None:
    """Sort the tables by what they miss, and give each sort to its kernel."""
    pattern = np.empty(rows.size, dtype=np.int8)
    tables = (flat, offsets, rows, columns, pseudo)
    if not matched:
        batch.leading_one_sided(*tables, _by_shape(rows, columns), pattern, mean, variance)
    else:
        complete = np.empty(rows.size)
        batch.classify(flat, offsets, rows, columns, pattern, complete)
        single = np.flatnonzero((pattern != batch.BOTH) & (pattern != batch.CONSTANT))
        if single.size:
            batch.matched_one_sided(*tables, pattern, single, mean, variance, thin)
    both = np.flatnonzero(pattern == batch.BOTH)
    if both.size:
        batch.two_sided(*tables, both, matched, matched, mean, variance)
    if matched:
        upper = np.log(np.minimum(rows, columns))
        held = (variance > 0.0) & (mean < upper) & (variance < mean * (upper - mean))
        held &= complete + pseudo * rows * columns >= _FEW
        thin &= complete + pseudo * rows * columns >= _FEW
        for table in np.flatnonzero(~held & ~thin & (pattern != batch.CONSTANT)):
            size = (rows[table] + 1) * (columns[table] + 1)
            block = flat[offsets[table] : offsets[table] + size].reshape(rows[table] + 1, columns[table] + 1)
            drawn_mean, variance[table] = drawn_moments(block, pseudo[table])
            if pattern[table] == batch.BOTH or not 0.0 <= mean[table] < upper[table]:
                mean[table] = drawn_mean  # otherwise the closed form holds: exact, or nearly so


def _by_shape(rows: IntegerArray, columns: IntegerArray) -> IntegerArray:
    """An order in which tables of one shape follow each other."""
    if rows.size == 0 or (np.all(rows == rows[0]) and np.all(columns == columns[0])):
        return np.arange(rows.size)
    return np.argsort(rows * (columns.max() + 1) + columns, kind="stable")


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
