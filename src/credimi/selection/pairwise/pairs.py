"""`pairs`: what every two columns of a table tell about each other.

    rows ──codes──> `PairCounter` ──tables of some pairs──> `figures_of` ──> `Pairs`

Pairs are counted and judged in blocks, so that the tables of all pairs are never held at once. Memory beside the codes,
a byte a cell, and the bits of columns with few values: 56 bytes a pair for the result, and a few hundred MB for the
tables at work. 5,000 columns have 12.5 million pairs: 0.7 GB.

How many pairs are independent is learned from all of them, as the rule fdr does for features (see `rules`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.missing import MISSING_VALUES
from credimi.core.errors import CredimiError
from credimi.counting.count import cluster_of
from credimi.counting.rows.cluster_pairs import ClusterPairs
from credimi.counting.rows.settled_columns import SettledColumns
from credimi.inference.batched.pair_figures import PairFigures, figures_of
from credimi.inference.options import PosteriorOptions
from credimi.selection.pairwise.missing_by_others import MissingByOthers
from credimi.selection.pairwise.pair_request import PairRequest
from credimi.selection.pairwise.pairs_result import Pairs
from credimi.selection.pairwise.refined_pairs import Refinement, refined

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from credimi.core.types import Data, Record, Values

_ALL_ON_CPU = PairRequest()
_READING = 0.1  # the share of the work that is reading, for progress


def pairs(
    data: Data,
    *,
    columns: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    epsilon: float = 0.003,
    level: float = 0.95,
    prior: str | float = "adaptive",
    approximation: str = "matched",
    missing_values: Iterable[str | float] = MISSING_VALUES,
    discretize: str | Mapping[str, object] | None = "equal",
    weights: Values = None,
    max_values: int = 1000,
    delimiter: str | None = None,
    engine: str = "cpu",
    top: int | None = None,
    p_dependent: float | None = None,
    into: str | Path | None = None,
    refine: str | None = None,
    imputations: int = 10,
    random_state: int = 0,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> Pairs:
    """What every two columns tell about each other: the posterior of the mutual information of each pair.

    Parameters
    ----------
    data : what `credimi.count` takes, if it fits into memory
        Data frames, arrays, files; of a DataFrame of Spark or Dask the partitions count, and their counts are added. No
        column is a target.
    columns : list of str, optional
        The columns to compare. Default: all.
    exclude : list of str, optional
        Columns to leave out.
    epsilon : float
        The information, in nats, that is worth knowing: `p_above` is P(I > epsilon).
    level : float
        The probability of the credible intervals.
    prior, approximation
        As in `mutual_information`. Only the adaptive prior knows independence.
    missing_values : list of str and numbers
        Values that mean missing, as in `credimi.count`.
    discretize : str, None or dict
        How numbers become categories. "equal": into ranges of about equal counts, 3 to 10, as many as leave 20 rows to
        each cell of two such columns. "quantile" (ten ranges), "quantile:K", "categories", None or a dictionary are as
        in `credimi.count`; "mdl" needs a target.
    weights : str or array, optional
        The weight of each row, as in `credimi.count`. Pairs are then counted one at a time, which takes longer.
    max_values : int
        Columns of more values are left out.
    engine : str
        "cpu", or "gpu": one NVIDIA GPU counts and judges the pairs, with the same results to about nine digits. It
        needs `pip install credimi[gpu]`, and columns of at most 255 values.
    top : int, optional
        Only the pairs with the largest `mi`.
    p_dependent : float, optional
        Only pairs that depend with at least this probability, 1 - `p_independent`.
    into : path, optional
        A .npy file for the figures of all pairs, mi, low, high, p_above, p_independent, log_evidence and complete, a
        row each. They are read from there when they are needed, and may be larger than the memory.
    refine : str, optional
        "forest": allow for values that are missing because of a third column. Missing values are drawn from forests of
        the columns, given all that is seen in their row, and what the completed tables say is averaged.
    imputations : int
        How many completed tables are averaged, if `refine` is asked for.
    random_state : int
        The seed of these.
    delimiter, threads : optional
        As in `credimi.count`.
    progress : callable, optional
        Called with the share of the work that is done.

    Returns
    -------
    Pairs
        Every pair: a, b, mi, low, high, p_above, p_independent, p_linked and more; best first.

    Examples
    --------
    >>> table = {"x": list("aabb") * 25, "y": list("ccdd") * 25, "noise": list("abab") * 25}
    >>> found = credimi.pairs(table)
    >>> [(row["a"], row["b"], round(row["mi"], 2)) for row in found]
    [('x', 'y', 0.6), ('x', 'noise', 0.0), ('y', 'noise', 0.0)]
    >>> found.matrix("p_independent").round(2)
    array([[ nan, 0.  , 0.59],
           [0.  ,  nan, 0.59],
           [0.59, 0.59,  nan]])
    """
    options = PosteriorOptions(prior=prior, approximation=approximation, epsilon=epsilon, level=level, threads=threads)
    asked = PairRequest(engine, top, p_dependent, into, refine, imputations, random_state)
    if refine is not None and approximation == "sampled":
        raise CredimiError("refine='forest' cannot average sampled posteriors: leave out approximation='sampled'")
    told = progress or (lambda _share: None)
    source = SettledColumns if cluster_of(data) is None else ClusterPairs
    table = source.of(
        data,
        columns=columns,
        exclude=exclude,
        missing_values=missing_values,
        discretize=discretize,
        weights=weights,
        most_values=max_values,
        delimiter=delimiter,
        threads=threads,
        progress=lambda share: told(_READING * share),
    )
    return pairs_of(table, options, asked, progress=lambda share: told(_READING + (1.0 - _READING) * share))


def pairs_of(
    table: SettledColumns | ClusterPairs,
    options: PosteriorOptions,
    asked: PairRequest = _ALL_ON_CPU,
    *,
    progress: Callable[[float], None] = lambda _share: None,
) -> Pairs:
    """As `pairs`, of columns that were encoded before."""
    if len(table.features) + len(table.left_out) < 2:
        only = f"only the column {table.features[0].name!r}" if table.features else "no column"
        raise CredimiError(
            f"there is {only}, and a pair has two columns: pass data that have more, or name more (columns, --columns)"
        )
    if asked.engine == "gpu":
        if isinstance(table, ClusterPairs) or table.weights is not None:
            raise CredimiError("engine='gpu' needs rows in this process, and without weights: leave the engine out")
        return _on_gpu(table, options, asked, progress)
    if asked.refine is not None:
        if isinstance(table, ClusterPairs):
            raise CredimiError("refine='forest' needs rows in this process: collect them into a table, or leave it out")
        return _refined(table, options, asked, progress)
    counter, missing = table.counter(options.threads), MissingByOthers(len(table.names))

    def fill(found: PairFigures) -> None:
        done = 0
        for first, after in counter.blocks():
            tables = counter.tables(first, after)
            found.put(done, figures_of(tables, options))
            missing.look(tables, *counter.pairs(first, after))
            done += tables.rows.size
            progress(done / len(counter))

    return asked.of(_result(table, asked.figures(len(counter), fill), options, missing=missing))


def _refined(
    table: SettledColumns, options: PosteriorOptions, asked: PairRequest, progress: Callable[[float], None]
) -> Pairs:
    refinement = Refinement(table, asked.random_state, options.threads)
    missing = MissingByOthers(len(table.names))

    def fill(found: PairFigures) -> None:
        refined(refinement, options, asked.imputations, found, missing=missing, told=progress)

    figures = asked.figures(len(table.names) * (len(table.names) - 1) // 2, fill)
    told = {"refine": asked.refine, "imputations": asked.imputations if refinement.missing else 0}
    told |= {"seed": asked.random_state, "rounds": refinement.rounds, "settled": refinement.settled}
    return asked.of(_result(table, figures, options, told, missing))


def _on_gpu(
    table: SettledColumns, options: PosteriorOptions, asked: PairRequest, progress: Callable[[float], None]
) -> Pairs:
    from credimi.selection.pairwise import pairs_on_device  # noqa: PLC0415  (only where it is asked for)

    products = pairs_on_device.products_of(table)
    if asked.some:
        best = pairs_on_device.best_pairs(
            products, options, top=asked.top, p_dependent=asked.p_dependent, progress=progress
        )
        whole = _result(table, PairFigures(**best.figures), options)
        return replace(whole, chosen=(best.one, best.other), learned=best.odds.share())

    def fill(found: PairFigures) -> None:
        arrays = {name: getattr(found, name) for name in pairs_on_device.FIGURES}
        pairs_on_device.all_pairs(products, options, out=arrays, progress=progress)

    return _result(table, asked.figures(len(products), fill), options)


def _result(
    table: SettledColumns | ClusterPairs,
    found: PairFigures,
    options: PosteriorOptions,
    refinement: Record | None = None,
    missing: MissingByOthers | None = None,
) -> Pairs:
    settings: Record = {
        "epsilon": options.epsilon,
        "level": options.level,
        "prior": options.prior,
        "approximation": options.approximation,
        **({"refine": None} if refinement is None else refinement),
    }
    third = len(table.names) > 2  # of two columns, the rows that have one tell all there is
    by = missing.found(options.threads) if missing is not None and third else {}
    facts = tuple(
        each.facts
        | {"values": len(each.values), "method_without_target": "quantile"}
        | ({"missing_depends": table.names[by[number][0]]} if number in by else {})
        for number, each in enumerate((*table.features, *table.left_out))
    )
    entropies = np.array([_entropy(each.block[:, :-1].sum(axis=0)) for each in table.features])
    return Pairs(table.names, table.rows, found, entropies, settings, facts)


def _entropy(totals: np.ndarray[tuple[int], np.dtype[np.number]]) -> float:
    """Of a column's values in these rows, in nats."""
    shares = totals[totals > 0] / totals.sum()
    return float(-(shares * np.log(shares)).sum())
