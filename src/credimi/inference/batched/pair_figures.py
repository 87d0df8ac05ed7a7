"""`figures_of`: from the tables of pairs to what is believed of them. Counting is elsewhere, and knows nothing of this.

What `mutual_information` would say of each table, for many at once: mean, interval, P(I > epsilon), P(independent), and
the logarithm of the Bayes factor of dependence, which forests and networks need beyond what P(independent) can hold.
Where rows are few, many tables are equal: each is computed once.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.public import stored
from credimi.core.tables import Tables
from credimi.core.threads import share
from credimi.inference.adaptive_prior import PosteriorComponents, log_odds_of_dependence
from credimi.inference.batched.many_tables import posteriors, summarize, summary_of
from credimi.inference.fixed_priors import ADAPTIVE
from credimi.kernels.moments import many_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

    from credimi.core.types import FloatArray
    from credimi.inference.options import PosteriorOptions

_LEAST = 1e-290  # of P(independent), below which its logarithm is found otherwise
_CELLS = 1 << 16  # of the tables of a part
_SAMPLE = 2_000  # tables by which it is judged whether many are equal
_MANY_EQUAL = 0.5


@stored
@dataclass(frozen=True, slots=True, eq=False)
class PairFigures:
    """One entry a pair; `log_evidence` is the log Bayes factor of dependence, NaN where the prior knows none.

    `complete` is how many rows have both columns.
    """

    mi: FloatArray
    low: FloatArray
    high: FloatArray
    p_above: FloatArray
    p_independent: FloatArray
    log_evidence: FloatArray
    complete: FloatArray

    @classmethod
    def empty(cls, pairs: int) -> PairFigures:
        """Room for so many pairs."""
        return cls(*(np.empty(pairs) for _ in fields(cls)))

    def put(self, first: int, others: PairFigures) -> None:
        """Take over the entries of others, from this place on."""
        for each in fields(self):
            values = getattr(others, each.name)
            getattr(self, each.name)[first : first + values.size] = values


def figures_of(tables: Tables, options: PosteriorOptions) -> PairFigures:
    """What is believed of each table of at least two rows and two columns."""
    same = _equal(tables)
    if same is None:
        return _in_parts(tables, options)
    different, places = same
    found = _in_parts(different, options)
    return PairFigures(*(getattr(found, each.name)[places] for each in fields(found)))


def _in_parts(tables: Tables, options: PosteriorOptions) -> PairFigures:
    """The same, a few tables at a time: what is computed of them stays in the cache, and threads share all of it."""
    count, alone = tables.rows.size, replace(options, threads=1)
    steps = np.arange(0, tables.flat.size, _CELLS)[1:]
    edges = np.unique(np.concatenate([[0], np.searchsorted(tables.offsets, steps), [count]])).tolist()
    if len(edges) < 3:
        return _figures(tables, options)
    found, ends = PairFigures.empty(count), np.append(tables.offsets, tables.flat.size)

    def work(part: tuple[int, int]) -> None:
        own = slice(*part)
        cells, odds = tables.flat[ends[part[0]] : ends[part[1]]], None if tables.odds is None else tables.odds[own]
        found.put(part[0], _figures(Tables(cells, tables.rows[own], tables.columns[own], odds), alone))

    share(work, pairwise(edges), options.threads)
    return found


def _figures(tables: Tables, options: PosteriorOptions) -> PairFigures:
    count = tables.rows.size
    complete, pattern = np.empty(count), np.empty(count, dtype=np.int8)
    many_tables.classify(tables.flat, tables.offsets, tables.rows, tables.columns, pattern, complete)
    found = summarize(tables, options, if_dependent=False)
    log_evidence = np.full(count, np.nan)
    if options.prior == ADAPTIVE:
        log_evidence = _log_evidence(tables, found.p_independent, options)
    return PairFigures(found.mean, found.low, found.high, found.p_above, found.p_independent, log_evidence, complete)


def _log_evidence(tables: Tables, p_independent: FloatArray, options: PosteriorOptions) -> FloatArray:
    """The log Bayes factors, of which P(independent) is known."""
    with np.errstate(divide="ignore"):
        found: FloatArray = np.log1p(-p_independent) - np.log(p_independent)
    beyond = p_independent < _LEAST
    if beyond.any():
        found[beyond] = log_odds_of_dependence(tables.chosen(beyond), threads=options.threads)
    return found


def mixed_figures(draws: Sequence[Tables], options: PosteriorOptions) -> PairFigures:
    """What is believed of each pair whose table is not known, but drawn some times: the mixture of the posteriors.

    The draws have tables of the same shapes, without missing values. Means, P(I > epsilon) and P(independent) are
    averages, and intervals are those of the mixture, so that what differs between the draws makes them wider.
    """
    count, alone = draws[0].rows.size, replace(options, threads=1)
    found, ends = PairFigures.empty(count), np.append(draws[0].offsets, draws[0].flat.size)
    steps = np.arange(0, draws[0].flat.size, max(_CELLS // len(draws), 1))[1:]
    edges = np.unique(np.concatenate([[0], np.searchsorted(draws[0].offsets, steps), [count]])).tolist()

    def work(part: tuple[int, int]) -> None:
        own, cells = slice(*part), slice(int(ends[part[0]]), int(ends[part[1]]))
        some = [Tables(each.flat[cells], each.rows[own], each.columns[own]) for each in draws]
        found.put(part[0], _mixed(some, alone))

    share(work, pairwise(edges), options.threads)
    return found


def _mixed(draws: Sequence[Tables], options: PosteriorOptions) -> PairFigures:
    laws = [posteriors(each, options) for each in draws]
    tables = np.concatenate([each.table for each in laws])
    order = np.argsort(tables, kind="stable")
    weight, mean, variance = (
        np.concatenate([getattr(each, name) for each in laws])[order] for name in ("weight", "mean", "variance")
    )
    p_zero: FloatArray = np.mean([each.p_zero for each in laws], axis=0)
    whole = PosteriorComponents(p_zero, tables[order], weight / len(draws), mean, variance)
    upper = np.log(np.minimum(draws[0].rows, draws[0].columns))
    found = summary_of(whole, upper, np.full(upper.size, np.nan), options, if_dependent=False)
    log_evidence, rows = np.full(upper.size, np.nan), np.full(upper.size, np.nan)
    if options.prior == ADAPTIVE:
        factors = np.array(
            [_log_evidence(each, law.p_zero, options) for each, law in zip(draws, laws, strict=True)]
        )  # P(independent) is averaged, also where it is too small for a double
        dependent, independent = (np.logaddexp.reduce(-np.logaddexp(0.0, each)) for each in (-factors, factors))
        log_evidence = dependent - independent
    return PairFigures(found.mean, found.low, found.high, found.p_above, found.p_independent, log_evidence, rows)


def _equal(tables: Tables) -> tuple[Tables, np.ndarray[tuple[int], np.dtype[np.int64]]] | None:
    """The different tables, and which of them each is; None if they are of several shapes, or hardly any are equal."""
    count = tables.rows.size
    if count < _SAMPLE or (tables.rows != tables.rows[0]).any() or (tables.columns != tables.columns[0]).any():
        return None
    blocks = tables.flat.reshape(count, -1)
    some = blocks[:: count // _SAMPLE]
    if np.unique(some, axis=0).shape[0] > _MANY_EQUAL * some.shape[0]:
        return None
    different, places = np.unique(blocks, axis=0, return_inverse=True)
    size = different.shape[0]
    return Tables(different.ravel(), tables.rows[:size], tables.columns[:size]), places.ravel()
