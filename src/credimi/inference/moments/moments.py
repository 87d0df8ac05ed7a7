"""Moments of the posterior of mutual information: the leading order and the matched moments, for many tables at once.

`moments` sorts tables by their pattern of missing values, passes them to the compiled kernels (`leading`, `one_sided`
and `two_sided` of this folder have the formulas and their cost), and shares large batches among threads.
The functions in `complete_data` take Dirichlet *parameters* n_ij (counts plus pseudo-counts; n is their sum, r x s the
shape) and return, with l_ij = log(n_ij n/(n_i+ n_+j)) and J, K, L = sum (n_ij/n) l_ij^(1,2,3):

    exact mean                      (1/n) sum n_ij [psi(n_ij+1) - psi(n_i+ +1) - psi(n_+j +1) + psi(n+1)]
    variance, to O(n^-2)            (K - J^2)/(n+1) + [M + (r-1)(s-1)(1/2 - J) - Q]/((n+1)(n+2)),
                                    M = sum (1/n_ij - 1/n_i+ - 1/n_+j + 1/n) n_ij l_ij,  Q = 1 - sum n_ij^2/(n_i+ n_+j)
    third central moment, leading   (2/n^2)[2J^3 - 3KJ + L] + (3/n^2)[K + J^2 - P],
                                    P = n sum_i J_i+^2/n_i+ + n sum_j J_+j^2/n_+j,  J_ij = (n_ij/n) l_ij
    fourth central moment, leading  3 (K - J^2)^2/n^2                                 (poor near independence)

(Hutter 2001; Hutter and Zaffalon 2005.)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from credimi.core import table_patterns
from credimi.core.threads import cores, share
from credimi.inference.moments import leading, many_tables, shapes, side_by_side
from credimi.inference.moments.tables_without_closed_form import PARTS, drawn_moments, drawn_parts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.tables import Tables
    from credimi.core.types import BooleanArray, FloatArray, IntegerArray

_MIN_COMPLETE_COUNTS = 3.0  # pseudo-counts included; with fewer, the posterior is little more than the prior
_MAX_SCALE = 2.0  # by which draws of a thin table are moved to the mean of the closed form
_CELLS_WORTH_A_THREAD = 20_000  # below this a second thread costs more than it saves (benchmarks/moments.py)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Posterior mean and variance of mutual information, one entry per table.

    A few tables need a mixture (see `tables_without_closed_form`). `split` are their indices; `mean_given` and
    `variance_given` have the moments of the parts of each mixture, (split tables, parts). All parts of a mixture have
    equal weights.
    """

    mean: FloatArray
    variance: FloatArray
    split: IntegerArray
    mean_given: FloatArray
    variance_given: FloatArray

    def components(self) -> tuple[IntegerArray, FloatArray, FloatArray, FloatArray]:
        """All components, table by table: index of the table, weight in the table, mean and variance."""
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

    def splitting_only(self, tables: BooleanArray) -> Moments:
        """The same moments; of the tables that are split, only the chosen ones keep their parts."""
        chosen = tables[self.split]
        return Moments(
            self.mean, self.variance, self.split[chosen], self.mean_given[chosen], self.variance_given[chosen]
        )


def moments(
    blocks: Tables,
    pseudo_count: ArrayLike,
    *,
    matched: bool = True,
    threads: int | None = None,
    whole: BooleanArray | None = None,
    shaped: BooleanArray | bool = False,
    weights: FloatArray | None = None,
) -> Moments:
    """Moments of every table; `pseudo_count` is one number, or one per table; by default all cores are used.

    The matched moments are possible moments of a Beta on [0, log min(r, s)], unless I is certain: then the variance is
    0. Tables for which the closed forms do not hold are treated as in `tables_without_closed_form`. `whole` is a mask
    of tables that are not split into a mixture: only their mean and variance are needed. If `shaped`, all tables, or
    those of the mask, are split if their posterior may be unlike one Beta (see `shapes`): this is for fixed
    pseudo-counts, since in the mixtures of the adaptive prior such deviations nearly cancel. `weights` are those of the
    tables in larger mixtures, if they are components: what weighs less gets fewer draws.
    """
    count = blocks.rows.size
    pseudo = np.full(count, pseudo_count, dtype=np.float64)  # not a view, which would be another type for Numba
    mean, variance, is_split = np.zeros(count), np.zeros(count), np.zeros(count, dtype=np.bool_)

    def fill_part(part: slice) -> None:
        results = mean[part], variance[part], is_split[part]
        keep_whole = None if whole is None else whole[part]
        _moments_of_chunk(blocks, part, pseudo[part], results, matched=matched, whole=keep_whole)

    share(fill_part, parts(count, blocks.flat.size, threads), threads)
    is_thin = is_folded = np.zeros(count, dtype=np.bool_)
    if matched and np.any(shaped):
        may_be_split = shaped & ~is_split & (variance > 0.0)
        may_be_split &= True if whole is None else ~whole
        lines = shapes.occupied(blocks, pseudo)
        is_thin = may_be_split & shapes.thin(blocks, pseudo, mean, variance, lines)
        is_folded = may_be_split & ~is_thin & shapes.folded(mean, variance, lines)
        is_split |= is_thin
    split = np.flatnonzero(is_split | is_folded)
    mean_given, variance_given = np.empty((2, split.size, PARTS))
    drawn = np.flatnonzero(is_split[split])
    share_of_draws = np.ones(count) if weights is None else weights

    def draw_part(line: int) -> None:
        table = split[line]
        mean_given[line], variance_given[line] = drawn_parts(blocks.block(table), pseudo[table], share_of_draws[table])
        if not is_thin[table]:
            return
        # The closed form's mean is right, for complete tables to all digits; if it hangs on what no draw showed, the
        # draws stay as they are.
        scale = mean[table] / mean_given[line].mean()
        if 1.0 / _MAX_SCALE < scale < _MAX_SCALE:
            mean_given[line] *= scale
            variance_given[line] *= scale**2

    share(draw_part, drawn.tolist(), threads)
    if is_folded.any():
        parts_of_folded = shapes.folded_parts(mean[is_folded], variance[is_folded], math.log(2.0))
        mean_given[is_folded[split]], variance_given[is_folded[split]] = parts_of_folded
    mean[split] = mean_given.mean(axis=1)
    variance[split] = variance_given.mean(axis=1) + mean_given.var(axis=1)
    return Moments(mean, variance, split, mean_given, variance_given)


def parts(tables: int, cells: int, threads: int | None) -> list[slice]:
    """Split the tables into equal parts, several per thread, so that hard tables do not delay the others for long."""
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
    """Group the tables by what is missing, and pass each group to its kernel, which fills `results`.

    `results` are the means, the variances, and a mask of tables to be split: those with a thin class, and all others
    with missing values for which the closed form does not hold.
    """
    mean, variance, split = results
    flat, offsets, rows, columns = blocks.flat, blocks.offsets[part], blocks.rows[part], blocks.columns[part]
    pattern = np.empty(rows.size, dtype=np.int8)
    tables = (flat, offsets, rows, columns, pseudo)
    if not matched:
        leading.leading_one_sided(*tables, _by_shape(rows, columns), pattern, mean, variance)
    else:
        complete = np.empty(rows.size)
        table_patterns.classify(flat, offsets, rows, columns, pattern, complete)
        one_sided = np.flatnonzero((pattern != table_patterns.BOTH) & (pattern != table_patterns.CONSTANT))
        if one_sided.size:
            not_done = np.ones(one_sided.size, dtype=np.bool_)
            side_by_side.matched_complete(*tables, pattern, one_sided, mean, variance, not_done)
            one_sided = one_sided[not_done]
        if one_sided.size:
            many_tables.matched_one_sided(*tables, pattern, one_sided, mean, variance, split)
    two_sided = np.flatnonzero(pattern == table_patterns.BOTH)
    if two_sided.size:
        many_tables.two_sided(*tables, two_sided, matched, matched, mean, variance)
    if matched:
        upper = np.log(np.minimum(rows, columns))
        valid = (variance > 0.0) & (mean < upper) & (variance < mean * (upper - mean))
        valid &= complete + pseudo * rows * columns >= _MIN_COMPLETE_COUNTS
        split &= complete + pseudo * rows * columns >= _MIN_COMPLETE_COUNTS
        split |= ~valid & (pattern > table_patterns.COMPLETE) & (complete + pseudo > 0.0)
        if whole is not None:
            split &= ~whole
        for table in np.flatnonzero(~valid & ~split & (pattern != table_patterns.CONSTANT)):
            drawn_mean, variance[table] = drawn_moments(blocks.block(part.start + table), pseudo[table])
            if pattern[table] == table_patterns.BOTH or not 0.0 <= mean[table] < upper[table]:
                mean[table] = drawn_mean  # otherwise the mean of the closed form is right, at least nearly


def _by_shape(rows: IntegerArray, columns: IntegerArray) -> IntegerArray:
    """An order in which tables of the same shape follow each other."""
    if rows.size == 0 or (np.all(rows == rows[0]) and np.all(columns == columns[0])):
        return np.arange(rows.size)
    return np.argsort(rows * (columns.max() + 1) + columns, kind="stable")
