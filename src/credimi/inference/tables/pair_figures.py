"""`figures_of`: posterior figures of the tables of pairs. Counting is done elsewhere.

The figures are those of `mutual_information`, for many tables at once: mean, interval, P(I > epsilon), P(independent),
and the log Bayes factor of dependence. Forests and networks need the last one, because P(independent) may be too small
for a double. If rows are few, many tables are equal: each distinct table is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.core import table_patterns
from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.inference.belief import ADAPTIVE
from credimi.inference.evidence.adaptive_prior import PosteriorComponents, log_odds_of_dependence
from credimi.inference.tables.many_tables import posteriors, summarize, summary_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from credimi.core.types import FloatArray
    from credimi.inference.belief import Belief
    from credimi.inference.tables.many_tables import Summary

    FiguresOfPart = Callable[[Sequence[Tables], Belief], "PairFigures"]

_MIN_P_INDEPENDENT = 1e-290  # below this the log Bayes factor is computed without P(independent)
_CELLS_PER_PART = 1 << 16  # the tables of a part have together so many cells
_SAMPLED_TABLES = 2_000  # sampled to see whether many tables are equal
_MAX_SHARE_DIFFERENT = 0.5  # of the sampled tables; if more are different, every table is computed


@stored
@dataclass(frozen=True, slots=True, eq=False)
class PairFigures:
    """One entry per pair; `log_evidence` is the log Bayes factor of dependence, NaN if the prior is not adaptive.

    `complete` is the number of rows in which both columns are present. `approximate` is 1 where P(independent) may be
    off (see `allocation_sum`), and 0 elsewhere.
    """

    mi: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    log_evidence: FloatArray
    complete: FloatArray
    approximate: FloatArray

    @classmethod
    def empty(cls, pairs: int) -> PairFigures:
        """Uninitialized figures of so many pairs."""
        return cls(*(np.empty(pairs) for _ in fields(cls)))

    def put(self, first: int, others: PairFigures) -> None:
        """Copy the entries of `others` to the indices from `first` on."""
        for entry in fields(self):
            values = getattr(others, entry.name)
            getattr(self, entry.name)[first : first + values.size] = values


def figures_of(tables: Tables, options: Belief) -> PairFigures:
    """The figures of each table; all tables have at least two rows and two columns."""
    deduplicated = _distinct_tables(tables)
    if deduplicated is None:
        return _in_parts([tables], options, _figures)
    distinct_tables, index_of_each = deduplicated
    figures = _in_parts([distinct_tables], options, _figures)
    return PairFigures(*(getattr(figures, entry.name)[index_of_each] for entry in fields(figures)))


def _in_parts(draws: Sequence[Tables], options: Belief, figures_of_part: FiguresOfPart) -> PairFigures:
    """The figures, a few tables at a time, so that intermediate results stay in the cache; threads share the parts."""
    first, count, one_thread = draws[0], draws[0].rows.size, replace(options, threads=1)
    cell_limits = np.arange(0, first.flat.size, max(_CELLS_PER_PART // len(draws), 1))[1:]
    edges = np.unique(np.concatenate([[0], np.searchsorted(first.offsets, cell_limits), [count]])).tolist()
    if len(edges) < 3:
        return figures_of_part(draws, options)
    figures, ends = PairFigures.empty(count), np.append(first.offsets, first.flat.size)

    def work(part: tuple[int, int]) -> None:
        pairs, cells = slice(*part), slice(int(ends[part[0]]), int(ends[part[1]]))
        odds = None if first.odds is None else first.odds[pairs]
        draws_of_part = [Tables(draw.flat[cells], draw.rows[pairs], draw.columns[pairs], odds) for draw in draws]
        figures.put(part[0], figures_of_part(draws_of_part, one_thread))

    share(work, pairwise(edges), options.threads)
    return figures


def _figures(draws: Sequence[Tables], options: Belief) -> PairFigures:
    """The figures of tables that are known: of one draw."""
    (tables,) = draws
    count = tables.rows.size
    complete, pattern = np.empty(count), np.empty(count, dtype=np.int8)
    table_patterns.classify(tables.flat, tables.offsets, tables.rows, tables.columns, pattern, complete)
    summary = summarize(tables, options, if_dependent=False)
    log_evidence = np.full(count, np.nan)
    if options.prior == ADAPTIVE:
        log_evidence = _log_evidence(tables, summary.p_independent, options)
    return _with_evidence(summary, log_evidence, complete)


def _with_evidence(summary: Summary, log_evidence: FloatArray, complete: FloatArray) -> PairFigures:
    figures = summary.mean, summary.low, summary.high, summary.p_above, summary.p_independent
    return PairFigures(*figures, log_evidence, complete, summary.approximate.astype(np.float64))


def _log_evidence(tables: Tables, p_independent: FloatArray, options: Belief) -> FloatArray:
    """The log Bayes factors of dependence, from P(independent) where that is not too small."""
    with np.errstate(divide="ignore"):
        log_evidence: FloatArray = np.log1p(-p_independent) - np.log(p_independent)
    too_small = p_independent < _MIN_P_INDEPENDENT
    if too_small.any():
        log_evidence[too_small] = log_odds_of_dependence(tables.chosen(too_small), threads=options.threads)
    return log_evidence


def mixed_figures(draws: Sequence[Tables], options: Belief) -> PairFigures:
    """The figures of pairs whose tables are only known as several draws: those of the mixture of their posteriors.

    The tables of all draws have the same shapes, and no missing values. Means, P(I > epsilon) and P(independent) are
    averages. Intervals are those of the mixture: differences between the draws make them wider.
    """
    return _in_parts(draws, options, _mixed)


def _mixed(draws: Sequence[Tables], options: Belief) -> PairFigures:
    mixtures = [posteriors(tables, options) for tables in draws]
    table = np.concatenate([mixture.table for mixture in mixtures])
    order = np.argsort(table, kind="stable")
    weight, mean, variance = (
        np.concatenate([getattr(mixture, name) for mixture in mixtures])[order]
        for name in ("weight", "mean", "variance")
    )
    p_zero: FloatArray = np.mean([mixture.p_zero for mixture in mixtures], axis=0)
    mixture_of_all = PosteriorComponents(p_zero, table[order], weight / len(draws), mean, variance)
    upper = np.log(np.minimum(draws[0].rows, draws[0].columns))
    summary = summary_of(mixture_of_all, upper, np.full(upper.size, np.nan), options, if_dependent=False)
    log_evidence, complete = np.full(upper.size, np.nan), np.full(upper.size, np.nan)
    if options.prior == ADAPTIVE:
        log_factors = np.array(
            [_log_evidence(tables, mixture.p_zero, options) for tables, mixture in zip(draws, mixtures, strict=True)]
        )  # the average of P(independent) is computed in logs, as it may be too small for a double
        dependent, independent = (np.logaddexp.reduce(-np.logaddexp(0.0, each)) for each in (-log_factors, log_factors))
        log_evidence = dependent - independent
    return _with_evidence(summary, log_evidence, complete)


def _distinct_tables(tables: Tables) -> tuple[Tables, np.ndarray[tuple[int], np.dtype[np.int64]]] | None:
    """The distinct tables, and the index of each table among them; None if shapes differ or few tables are equal."""
    count = tables.rows.size
    if count < _SAMPLED_TABLES or (tables.rows != tables.rows[0]).any() or (tables.columns != tables.columns[0]).any():
        return None
    blocks = tables.flat.reshape(count, -1)
    sample = blocks[:: count // _SAMPLED_TABLES]
    if np.unique(sample, axis=0).shape[0] > _MAX_SHARE_DIFFERENT * sample.shape[0]:
        return None
    distinct, index_of_each = np.unique(blocks, axis=0, return_inverse=True)
    size = distinct.shape[0]
    return Tables(distinct.ravel(), tables.rows[:size], tables.columns[:size]), index_of_each.ravel()
