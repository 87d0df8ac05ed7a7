"""Conditional information of many candidates at once, I(X;Y|Z): each candidate has one table for every stratum of Z.

In stratum z the cell probabilities are pi_z, with information I_z, and the stratum has a share p_z of all rows:

    I(X;Y|Z) = sum_z p_z I_z .

Rows that lack X or Y still have Z, so the likelihood is a product of one factor for p and one for each pi_z: given the
data all of these are independent. The posterior of p is Dirichlet(N_z), where N_z is the number of rows of stratum z
that have X or Y, and A is their sum. It has no pseudo-counts: a stratum without rows has no share, and may be left out.
With q_z = N_z/A,

    E   = sum q_z E[I_z]
    Var = sum q_z (N_z + 1)/(A + 1) Var[I_z] + sum q_z (E[I_z] - E)^2/(A + 1),

from the moments of each table.

**Adaptive prior.** One concentration K for all strata, pi_z ~ Dirichlet(K a_zi b_zj) with margins a_z, b_z of the
stratum, and exact independence in all of them with probability 1/2. In each stratum, only classes and values that
occur there are used (see `inference.evidence.occurring`). The evidence of K is the product over the strata (see
`adaptive_prior`), and each K has a component with the moments above. A thin stratum has evidence near 1 for every K,
and the K learned from the other strata says how dependent it is likely to be: sparse strata do no harm. (Their evidence
is slightly too large, which would add up over hundreds of them; the excess is subtracted: see
`inference.evidence.excess_evidence`.)

**Thin classes.** A table with thin classes has a mixture of parts in place of one component (see
`tables_without_closed_form`). If its stratum has more than half of the rows, the mixture is used: the sum is a mixture
of such parts, too. The other strata enter the sum with mean and variance only: with fixed pseudo-counts those of the
mixture, as the closed form may be wrong by a factor of two. With the adaptive prior they are those of the closed form,
which would be wrong only for loose K; these have little weight if there are thin classes. With one stratum the result
is that of `many_tables`.

The cost is that of the weights and moments of the tables, and O(1) per table and component.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.tables import Tables
from credimi.inference.belief import ADAPTIVE
from credimi.inference.evidence import adaptive_prior
from credimi.inference.evidence.adaptive_prior import PosteriorComponents, mixtures_with_moments
from credimi.inference.evidence.occurring import pack_occurring
from credimi.inference.moments.moments import Moments, moments
from credimi.inference.tables.many_tables import exceeding, pseudo_counts_of, summary_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from credimi.core.types import FloatArray, IntegerArray
    from credimi.inference.belief import Belief
    from credimi.inference.tables.many_tables import Summary


_MAX_WHOLE_SHARE = 0.5  # of the rows; a stratum with more may be split into parts, and there is at most one


@dataclass(frozen=True, eq=False)
class StratifiedTables:
    """The tables of all candidates, one after the other; a table without rows is the only one of its candidate.

    `starts` has the first table of each candidate, and at the end the number of tables. `tables.odds` has one entry per
    candidate.
    """

    tables: Tables
    starts: IntegerArray

    @classmethod
    def of(cls, tables: Tables, starts: IntegerArray) -> StratifiedTables:
        """Leave out strata without rows; a candidate without any rows keeps its first table."""
        filled = _rows_of_tables(tables) > 0.0
        filled_counts = (
            np.add.reduceat(filled, starts[:-1], dtype=np.int64) if filled.size else np.zeros(0, dtype=np.int64)
        )
        filled[starts[:-1][filled_counts == 0]] = True
        if not filled.all():
            filled_tables = Tables(tables.flat, tables.rows, tables.columns).chosen(filled)
            tables = Tables(filled_tables.flat, filled_tables.rows, filled_tables.columns, tables.odds)
            starts = np.concatenate([[0], np.cumsum(np.maximum(filled_counts, 1))])
        return cls(tables, starts)

    def chosen(self, candidates: NDArray[np.bool_]) -> StratifiedTables:
        """The tables of the chosen candidates."""
        if candidates.all():
            return self
        odds = None if self.tables.odds is None else self.tables.odds[candidates]
        chosen_tables = Tables(self.tables.flat, self.tables.rows, self.tables.columns).chosen(
            candidates[self.candidate]
        )
        starts = np.concatenate([[0], np.cumsum(np.diff(self.starts)[candidates])])
        averaged = self.tables.averaged  # only of candidates without strata
        if averaged is not None:
            averaged = tuple(each for each, wanted in zip(averaged, candidates.tolist(), strict=True) if wanted)
        chosen_tables = Tables(chosen_tables.flat, chosen_tables.rows, chosen_tables.columns, odds, averaged)
        return StratifiedTables(chosen_tables, starts)

    def with_odds(self, factor: FloatArray) -> StratifiedTables:
        """Multiply the odds of dependence of each candidate by a factor."""
        tables = self.tables
        odds = factor if tables.odds is None else tables.odds * factor
        return StratifiedTables(Tables(tables.flat, tables.rows, tables.columns, odds), self.starts)

    @cached_property
    def occurring(self) -> Tables:
        """The tables without classes and values that do not occur in them; unchanged if a candidate has one stratum."""
        tables, strata_counts = self.tables, np.diff(self.starts)
        cells, rows, columns = np.empty(tables.flat.size), np.empty_like(tables.rows), np.empty_like(tables.columns)
        whole = np.repeat(strata_counts == 1, strata_counts)
        size = pack_occurring(tables.flat, tables.offsets, tables.rows, tables.columns, whole, cells, rows, columns)
        return Tables(cells[:size], rows, columns, tables.odds)

    @cached_property
    def weights(self) -> FloatArray:
        """N_z of each table, its data rows with class or value; 1 if a candidate has no such rows."""
        rows = _rows_of_tables(self.tables)
        return np.where(rows > 0.0, rows, 1.0)

    @cached_property
    def candidate(self) -> IntegerArray:
        """The candidate of each table."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    @property
    def shares(self) -> FloatArray:
        """The share of each table of its candidate's rows, q_z."""
        shares: FloatArray = self.weights / np.bincount(self.candidate, self.weights)[self.candidate]
        return shares

    @property
    def upper(self) -> FloatArray:
        """The upper bound of the information of each candidate."""
        return self.tables.upper[self.starts[:-1]]


def _rows_of_tables(tables: Tables) -> FloatArray:
    """The number of rows of each table that have class or value."""
    sizes = (tables.rows + 1) * (tables.columns + 1)
    sums = np.add.reduceat(tables.flat, tables.offsets) if sizes.size else np.zeros(0)
    rows: FloatArray = sums - tables.flat[tables.offsets + sizes - 1]
    return rows.astype(np.float64)


def summarize(strata: StratifiedTables, options: Belief) -> Summary:
    """Summarize the posteriors of all candidates; entries given dependence are NaN."""
    prior = pseudo_counts_of(strata.tables, options.prior)
    leading = moments(strata.tables, prior, matched=False, threads=options.threads).mean
    weights, candidate = strata.weights, strata.candidate
    at_mode = np.bincount(candidate, weights * leading) / np.bincount(candidate, weights)
    return summary_of(components(strata, options), strata.upper, at_mode, options, if_dependent=False)


def p_above(strata: StratifiedTables, options: Belief) -> FloatArray:
    """P(I > epsilon) of all candidates, without the cost of intervals."""
    return exceeding(components(strata, options), strata.upper, options)


def independence(strata: StratifiedTables, threads: int | None = None) -> FloatArray:
    """P(independent in every stratum) of all candidates, without the cost of moments."""
    return independence_and_marks(strata, threads)[0]


def independence_and_marks(
    strata: StratifiedTables, threads: int | None = None
) -> tuple[FloatArray, NDArray[np.bool_]]:
    """The same, and a mask of the candidates of which it may be off."""
    spans = strata.starts[:-1], strata.starts[1:]
    return adaptive_prior.independence_and_marks(strata.occurring, spans, threads=threads)


def components(strata: StratifiedTables, options: Belief) -> PosteriorComponents:
    """The mixture of every candidate."""
    tables, starts = strata.tables, strata.starts
    whole = strata.shares <= _MAX_WHOLE_SHARE
    if options.prior == ADAPTIVE:
        tables, spans = strata.occurring, (starts[:-1], starts[1:])
        mixture, component_moments = mixtures_with_moments(
            tables, spans, whole, matched=options.matched, threads=options.threads
        )
        p_zero, table, weight = mixture.p_zero, mixture.table, mixture.weight
        approximate: NDArray[np.bool_] | None = mixture.approximate
    else:
        pseudo = pseudo_counts_of(tables, options.prior)
        component_moments = moments(
            tables, pseudo, matched=options.matched, threads=options.threads, shaped=strata.shares == 1.0
        )
        component_moments = component_moments.splitting_only(~whole)
        p_zero, table, weight = np.zeros(starts.size - 1), np.arange(tables.rows.size), np.ones(tables.rows.size)
        approximate = None
    upper = strata.upper
    # Every stratum of a candidate has the same components, one for each K. Components with the same K are summed:
    # `sum_of` is the index of the sum that a component belongs to.
    component_counts = np.bincount(table, minlength=tables.rows.size)
    sum_counts = component_counts[starts[:-1]]
    first_sums = np.cumsum(sum_counts) - sum_counts
    sum_of = (
        first_sums[strata.candidate[table]]
        + np.arange(table.size)
        - np.repeat(np.cumsum(component_counts) - component_counts, component_counts)
    )
    candidate = np.repeat(np.arange(sum_counts.size), sum_counts)
    weights = np.empty(candidate.size)
    weights[sum_of] = weight
    moments_of_sums = _sums_over_strata(strata, table, sum_of, candidate, component_moments)
    sum_index, part_weight, mean, variance = moments_of_sums.components()
    mean = np.minimum(mean, upper[candidate[sum_index]])
    weight = part_weight * weights[sum_index]
    return PosteriorComponents(p_zero, candidate[sum_index], weight, mean, variance, approximate)


def _sums_over_strata(
    strata: StratifiedTables,
    table: IntegerArray,
    sum_of: IntegerArray,
    candidate: IntegerArray,
    terms: Moments,
) -> Moments:
    """Moments of each sum over strata, sum p_z I_z.

    `table`, `sum_of` and `component_moments` have one entry per component of a stratum, `candidate` one per sum.
    """
    count = candidate.size
    total = np.bincount(strata.candidate, strata.weights)
    share = strata.shares[table]
    square = share * (strata.weights[table] + 1.0) / (total[candidate[sum_of]] + 1.0)
    mean = np.bincount(sum_of, share * terms.mean, count).astype(np.float64)
    deviation = terms.mean - mean[sum_of]
    between = np.bincount(sum_of, share * deviation**2, count).astype(np.float64)
    within = np.bincount(sum_of, square * terms.variance, count).astype(np.float64)
    concentration = 1.0 + total[candidate]
    # A part gives one stratum another mean, which shifts E by `shift`. Replace the terms of this stratum in the sums.
    split, split_sum = terms.split, sum_of[terms.split]
    q, mean_of_part = share[split][:, np.newaxis], terms.mean_given
    shift = q * (mean_of_part - terms.mean[split][:, np.newaxis])
    mean_given = mean[split_sum][:, np.newaxis] + shift
    between_others = (between[split_sum] - share[split] * deviation[split] ** 2)[
        :, np.newaxis
    ] + 2.0 * shift * q * deviation[split][:, np.newaxis]
    between_given = np.maximum(between_others + shift**2 * (1.0 - q), 0.0) + q * (mean_of_part - mean_given) ** 2
    within_others = np.maximum(within[split_sum] - square[split] * terms.variance[split], 0.0)[:, np.newaxis]
    variance_given = (
        within_others
        + square[split][:, np.newaxis] * terms.variance_given
        + between_given / concentration[split_sum][:, np.newaxis]
    )
    return Moments(mean, within + between / concentration, split_sum, mean_given, variance_given)
