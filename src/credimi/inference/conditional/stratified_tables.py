"""Conditional information of many candidates at once, I(X;Y|Z): each has one table for every stratum of Z.

In stratum z the chances of class and value are pi_z, with information I_z, and a share p_z of all rows falls into it:

    I(X;Y|Z) = sum_z p_z I_z .

Rows that lack X or Y still have Z, so the likelihood is a product of one factor for p and one for each pi_z: given the
data all of these are independent. The posterior of p is Dirichlet(N_z), N_z the rows of stratum z that have X or Y, A
their sum. It has no pseudo-counts: a stratum without rows has no share, whether it is named or not. With q_z = N_z/A,

    E   = sum q_z E[I_z]
    Var = sum q_z (N_z + 1)/(A + 1) Var[I_z] + sum q_z (E[I_z] - E)^2/(A + 1),

from the moments that every table has.

**Adaptive prior.** One concentration K for all strata, pi_z ~ Dirichlet(K a_zi b_zj) with margins a_z, b_z of the
stratum, and exact independence in all of them with probability 1/2. Only classes and values that a stratum has take
part in it (see `kernels.evidence.occurring`). The evidence of K is the product over the strata (see `adaptive_prior`),
and each K has a component with the moments above. A thin stratum has evidence near 1 for every K and takes from K,
which the others tell, how dependent it is likely to be: sparse strata do no harm. (A small excess of their evidence,
which adds up over hundreds of them, is taken off: see `kernels.evidence.excess_evidence`.)

**Thin classes.** The table of such a stratum has a mixture of parts in place of one component (see `hard_tables`). A
stratum with more than half of the rows stays a mixture: the sum has such parts, too. The others enter with mean and
variance, which is all that is seen of them in a sum. One stratum alone has what `many_tables` says of its table.

Beyond weights and moments of the tables, O(1) a table and component.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference import adaptive_prior
from credimi.inference.adaptive_prior import PosteriorComponents, mixtures_with_moments
from credimi.inference.batched.many_tables import pseudo_counts_of, summary_of
from credimi.inference.fixed_priors import ADAPTIVE
from credimi.inference.moments import Moments, moments
from credimi.kernels.evidence.occurring import pack_occurring

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.inference.batched.many_tables import Summary
    from credimi.inference.options import PosteriorOptions


_MOST = 0.5  # of the rows: no other stratum has as many


@dataclass(frozen=True, eq=False)
class StratifiedTables:
    """The tables of all candidates, one after the other; each has rows, unless it is the only one of its candidate.

    `starts` has the first table of each candidate, and behind the last the number of tables. `tables.odds` has one
    entry a candidate.
    """

    tables: Tables
    starts: IntegerArray

    @classmethod
    def of(cls, tables: Tables, starts: IntegerArray) -> StratifiedTables:
        """Leave out strata without rows; a candidate that has no others keeps its first."""
        filled = _rows(tables) > 0.0
        kept = np.add.reduceat(filled, starts[:-1], dtype=np.int64) if filled.size else np.zeros(0, dtype=np.int64)
        filled[starts[:-1][kept == 0]] = True
        if not filled.all():
            some = Tables(tables.flat, tables.rows, tables.columns).chosen(filled)
            tables = Tables(some.flat, some.rows, some.columns, tables.odds)
            starts = np.concatenate([[0], np.cumsum(np.maximum(kept, 1))])
        return cls(tables, starts)

    def chosen(self, candidates: NDArray[np.bool_]) -> StratifiedTables:
        """Those of some candidates."""
        if candidates.all():
            return self
        odds = None if self.tables.odds is None else self.tables.odds[candidates]
        some = Tables(self.tables.flat, self.tables.rows, self.tables.columns).chosen(candidates[self.candidate])
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[candidates])])
        return StratifiedTables(Tables(some.flat, some.rows, some.columns, odds), starts)

    def with_odds(self, factor: FloatArray) -> StratifiedTables:
        """With other odds of dependence: a factor for each candidate."""
        own = self.tables
        odds = factor if own.odds is None else own.odds * factor
        return StratifiedTables(Tables(own.flat, own.rows, own.columns, odds), self.starts)

    @cached_property
    def occurring(self) -> Tables:
        """The tables without classes and values that their stratum does not have; whole where there is one stratum."""
        own, count = self.tables, np.diff(self.starts)
        cells, rows, columns = np.empty(own.flat.size), np.empty_like(own.rows), np.empty_like(own.columns)
        whole = np.repeat(count == 1, count)
        size = pack_occurring(own.flat, own.offsets, own.rows, own.columns, whole, cells, rows, columns)
        return Tables(cells[:size], rows, columns, own.odds)

    @cached_property
    def weights(self) -> FloatArray:
        """Of each table N_z, its data rows with class or value; 1 for the one table of a candidate without any."""
        rows = _rows(self.tables)
        return np.where(rows > 0.0, rows, 1.0)

    @cached_property
    def candidate(self) -> IntegerArray:
        """Of each table whose it is."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    @property
    def shares(self) -> FloatArray:
        """Of each table its share of the candidate's rows, q_z."""
        shares: FloatArray = self.weights / np.bincount(self.candidate, self.weights)[self.candidate]
        return shares

    @property
    def upper(self) -> FloatArray:
        """The largest information of each candidate."""
        first = self.starts[:-1]
        return np.asarray(np.log(np.minimum(self.tables.rows[first], self.tables.columns[first])))


def _rows(tables: Tables) -> FloatArray:
    """All counts of a block but those of rows that lack both sides."""
    sizes = (tables.rows + 1) * (tables.columns + 1)
    sums = np.add.reduceat(tables.flat, tables.offsets) if sizes.size else np.zeros(0)
    rows: FloatArray = sums - tables.flat[tables.offsets + sizes - 1]
    return rows.astype(np.float64)


def summarize(strata: StratifiedTables, options: PosteriorOptions) -> Summary:
    """The posteriors of all candidates in numbers, but those given dependence, which are NaN."""
    prior = pseudo_counts_of(strata.tables, options.prior)
    leading = moments(strata.tables, prior, matched=False, threads=options.threads).mean
    weights, candidate = strata.weights, strata.candidate
    at_mode = np.bincount(candidate, weights * leading) / np.bincount(candidate, weights)
    return summary_of(components(strata, options), strata.upper, at_mode, options, if_dependent=False)


def independence(strata: StratifiedTables, threads: int | None = None) -> FloatArray:
    """P(independent in every stratum) of all candidates, without the cost of moments."""
    return adaptive_prior.independence(strata.occurring, (strata.starts[:-1], strata.starts[1:]), threads=threads)


def components(strata: StratifiedTables, options: PosteriorOptions) -> PosteriorComponents:
    """The mixture of every candidate."""
    tables, starts = strata.tables, strata.starts
    if options.prior == ADAPTIVE:
        tables, spans = strata.occurring, (starts[:-1], starts[1:])
        whole = strata.shares <= _MOST
        mixed, found = mixtures_with_moments(tables, spans, whole, matched=options.matched, threads=options.threads)
        p_zero, table, weight = mixed.p_zero, mixed.table, mixed.weight
    else:
        pseudo = pseudo_counts_of(tables, options.prior)
        whole = strata.shares <= _MOST
        found = moments(tables, pseudo, matched=options.matched, threads=options.threads, whole=whole)
        p_zero, table, weight = np.zeros(starts.size - 1), np.arange(tables.rows.size), np.ones(tables.rows.size)
    upper = strata.upper
    # Every stratum of a candidate has the same components, K after K: `number` says which sums of them belong together.
    have = np.bincount(table, minlength=tables.rows.size)
    sums = have[starts[:-1]]
    first = np.cumsum(sums) - sums
    number = first[strata.candidate[table]] + np.arange(table.size) - np.repeat(np.cumsum(have) - have, have)
    candidate = np.repeat(np.arange(sums.size), sums)
    weights = np.empty(candidate.size)
    weights[number] = weight
    summed = _sums_over_strata(strata, table, number, candidate, found)
    which, part, mean, variance = summed.components()
    mean = np.minimum(mean, upper[candidate[which]])
    return PosteriorComponents(p_zero, candidate[which], part * weights[which], mean, variance)


def _sums_over_strata(
    strata: StratifiedTables, table: IntegerArray, number: IntegerArray, candidate: IntegerArray, found: Moments
) -> Moments:
    """Moments of sum p_z I_z, one for each `number` of a sum; `table`, `number` and `found` have one a component."""
    count = candidate.size
    total = np.bincount(strata.candidate, strata.weights)
    share = strata.shares[table]
    square = share * (strata.weights[table] + 1.0) / (total[candidate[number]] + 1.0)
    mean = np.bincount(number, share * found.mean, count).astype(np.float64)
    apart = found.mean - mean[number]
    between = np.bincount(number, share * apart**2, count).astype(np.float64)
    inside = np.bincount(number, square * found.variance, count).astype(np.float64)
    rest = 1.0 + total[candidate]
    # A part gives one stratum another mean, and moves E by `away`: the sums above, with its terms in place of the old.
    of, split = found.split, number[found.split]
    q, given = share[of][:, np.newaxis], found.mean_given
    away = q * (given - found.mean[of][:, np.newaxis])
    mean_given = mean[split][:, np.newaxis] + away
    others = (between[split] - share[of] * apart[of] ** 2)[:, np.newaxis] + 2.0 * away * q * apart[of][:, np.newaxis]
    moved = np.maximum(others + away**2 * (1.0 - q), 0.0) + q * (given - mean_given) ** 2
    within = np.maximum(inside[split] - square[of] * found.variance[of], 0.0)[:, np.newaxis]
    variance_given = within + square[of][:, np.newaxis] * found.variance_given + moved / rest[split][:, np.newaxis]
    return Moments(mean, inside + between / rest, split, mean_given, variance_given)
