"""Moments of the posterior of mutual information: the leading order and the matched moments, for many tables at once.

`moments` sorts tables by their pattern of missingness, passes them to the compiled kernels
(`credimi.kernels.moments.one_sided` and `two_sided` have the formulas and their cost), and splits large batches over
threads. The functions in `complete_data` take Dirichlet *parameters* n_ij (counts plus pseudo-counts; n is their sum, r
x s the shape) and return, with l_ij = log(n_ij n/(n_i+ n_+j)) and J, K, L = sum (n_ij/n) l_ij^(1,2,3):

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
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.threads import cores, share
from credimi.inference.batched.hard_tables import PARTS, drawn_moments, split_thin_classes
from credimi.kernels.moments import many_tables, side_by_side

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

_FEW = 3.0  # with fewer complete counts, pseudo-counts included, the posterior is little more than the prior
_CELLS_WORTH_A_THREAD = 20_000  # below this a second thread costs more than it saves (benchmarks/moments.py)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Posterior mean and variance of mutual information, one entry per table.

    A few tables need a mixture (see `hard_tables`): `split` says which, and `mean_given` and `variance_given` (split
    tables x parts) are the moments of its parts, which have equal weights.
    """

    mean: FloatArray
    variance: FloatArray
    split: IntegerArray
    mean_given: FloatArray
    variance_given: FloatArray

    def components(self) -> tuple[IntegerArray, FloatArray, FloatArray, FloatArray]:
        """All components, table by table: the table, the weight in it, mean and variance."""
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


def moments(
    blocks: Tables,
    pseudo_count: ArrayLike,
    *,
    matched: bool = True,
    threads: int | None = None,
    whole: BooleanArray | None = None,
) -> Moments:
    """Moments of every table; `pseudo_count` is one number, or one per table; `threads` are all cores by default.

    The matched moments fit a Beta on [0, log min(r, s)], unless I is certain: then the variance is 0. Tables for which
    the closed forms do not hold are treated as in `hard_tables`; of those that are to stay `whole`, only mean and
    variance are needed, and no mixture.
    """
    count = blocks.rows.size
    pseudo = np.full(count, pseudo_count, dtype=np.float64)  # not a view, which would be another type for Numba
    mean, variance, thin = np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.bool_)

    def chunk(part: slice) -> None:
        results = mean[part], variance[part], thin[part]
        undivided = None if whole is None else whole[part]
        _moments_of_chunk(blocks, part, pseudo[part], results, matched=matched, whole=undivided)

    share(chunk, parts(count, blocks.flat.size, threads), threads)
    split = np.flatnonzero(thin)
    given = np.array([_moments_of_parts(blocks.block(table), pseudo[table]) for table in split.tolist()])
    mean_given, variance_given = given.reshape(-1, 2, PARTS).swapaxes(0, 1)
    mean[split] = mean_given.mean(axis=1)
    variance[split] = variance_given.mean(axis=1) + mean_given.var(axis=1)
    return Moments(mean, variance, split, mean_given, variance_given)


def _moments_of_parts(block: NDArray[np.number], pseudo: float) -> FloatArray:
    """Means and variances of the mixture that replaces a table with a thin class."""
    nodes = split_thin_classes(block, pseudo)
    count, rows, columns = nodes.shape[0], nodes.shape[1] - 1, nodes.shape[2] - 1
    mean, variance = np.empty(count), np.empty(count)
    shapes = np.full(count, rows), np.full(count, columns)
    tables = nodes.ravel(), np.arange(count) * nodes[0].size, *shapes, np.zeros(count)
    pattern = np.full(count, many_tables.TARGET_ONLY, dtype=np.int8)
    many_tables.matched_one_sided(*tables, pattern, np.arange(count), mean, variance, np.empty(count, dtype=np.bool_))
    upper = float(np.log(min(rows, columns)))
    mean = np.clip(np.nan_to_num(mean), 0.0, upper * (1.0 - 1e-9))
    most = mean * (upper - mean)
    variance = np.where(variance < most, variance, 0.5 * most)  # also replaces NaN
    variance = np.maximum(variance, 1e-9 * most)
    order = np.argsort(mean)  # neighbours are joined to one part with their common moments
    means, variances = mean[order].reshape(PARTS, -1), variance[order].reshape(PARTS, -1)
    return np.stack([means.mean(axis=1), variances.mean(axis=1) + means.var(axis=1)])


def parts(tables: int, cells: int, threads: int | None) -> list[slice]:
    """Equal shares of the tables, several per thread, so that hard tables do not delay the others for long."""
    count = min(4 * cores(threads), cells // _CELLS_WORTH_A_THREAD, tables)
    if cores(threads) == 1 or count < 2:
        return [slice(0, tables)]
    return [slice(tables * part // count, tables * (part + 1) // count) for part in range(count)]


def _moments_of_chunk(
    blocks: Tables,
    part: slice,
    pseudo: FloatArray,
    results: tuple[FloatArray, FloatArray, BooleanArray],
    *,
    matched: bool,
    whole: BooleanArray | None,
) -> None:
    """Sort the tables by what is missing, and pass each group to its kernel; fills means, variances and thin flags."""
    mean, variance, thin = results
    flat, offsets, rows, columns = blocks.flat, blocks.offsets[part], blocks.rows[part], blocks.columns[part]
    pattern = np.empty(rows.size, dtype=np.int8)
    tables = (flat, offsets, rows, columns, pseudo)
    if not matched:
        many_tables.leading_one_sided(*tables, _by_shape(rows, columns), pattern, mean, variance)
    else:
        complete = np.empty(rows.size)
        many_tables.classify(flat, offsets, rows, columns, pattern, complete)
        single = np.flatnonzero((pattern != many_tables.BOTH) & (pattern != many_tables.CONSTANT))
        if single.size:
            others = np.ones(single.size, dtype=np.bool_)
            side_by_side.matched_complete(*tables, pattern, single, mean, variance, others)
            single = single[others]
        if single.size:
            many_tables.matched_one_sided(*tables, pattern, single, mean, variance, thin)
    both = np.flatnonzero(pattern == many_tables.BOTH)
    if both.size:
        many_tables.two_sided(*tables, both, matched, matched, mean, variance)
    if matched:
        upper = np.log(np.minimum(rows, columns))
        held = (variance > 0.0) & (mean < upper) & (variance < mean * (upper - mean))
        held &= complete + pseudo * rows * columns >= _FEW
        thin &= complete + pseudo * rows * columns >= _FEW
        if whole is not None:
            thin &= ~whole
        for table in np.flatnonzero(~held & ~thin & (pattern != many_tables.CONSTANT)):
            drawn_mean, variance[table] = drawn_moments(blocks.block(part.start + table), pseudo[table])
            if pattern[table] == many_tables.BOTH or not 0.0 <= mean[table] < upper[table]:
                mean[table] = drawn_mean  # otherwise the closed form holds, at least nearly


def _by_shape(rows: IntegerArray, columns: IntegerArray) -> IntegerArray:
    """An order in which tables of one shape follow each other."""
    if rows.size == 0 or (np.all(rows == rows[0]) and np.all(columns == columns[0])):
        return np.arange(rows.size)
    return np.argsort(rows * (columns.max() + 1) + columns, kind="stable")
