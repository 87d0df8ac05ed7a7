"""`network`: which columns hang together directly, with probabilities, from data with missing values.

See `learn` for the method. Here the data become codes, and what was learned becomes records.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import check_keywords, require_share, require_whole
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.inference.batched.many_tables import summarize
from credimi.inference.options import PosteriorOptions
from credimi.selection.networks.learn import DEGREE, Learned, LearnOptions, learn
from credimi.selection.networks.network import BACKWARD, FORWARD, UNDIRECTED, Edge, Network, NetworkRemark
from credimi.selection.networks.orders import WALKS
from credimi.selection.pairwise.missing_by_others import MissingByOthers

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from credimi.core.types import CountArray, Data, IntegerArray, Option, Record
    from credimi.counting.rows.settled_columns import SettledColumns

_COUNTING = {"exclude", "missing_values", "discretize", "max_levels", "delimiter", "weights"}
_WORTH_TELLING = 0.01  # probability of an edge
_MOST_VALUES = 200  # of a column: three such columns have eight million cells
_TOGETHER = 3  # columns in a table: most tests have two, and one that is given
_MOST_SEPARATED = 5_000  # pairs, those that tell most
_SHOWN_VALUES = 12  # rows and columns of a table on the page
_SHOWN_TABLES = 1_500
_FEWEST_ROWS_OF_FUNCTION = 20


def network(
    data: Data,
    *,
    columns: Option = None,
    level: float = 0.5,
    degree: float | None = None,
    max_parents: int = 5,
    imputations: int = 4,
    random_state: int = 0,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    **counting: Option,
) -> Network:
    """Learn which columns hang together directly: a network, with the probability of every edge.

    Two columns have an edge if they depend whatever other columns are given. Networks are sampled in proportion to
    their evidence, and what they have in common is counted, so that an edge has a probability rather than a verdict.
    Rows with missing values count with what is seen of them: tables are completed by draws from what was learned, and
    the networks of several completed tables averaged.

    Parameters
    ----------
    data : what `credimi.count` takes, if it fits into memory
        Data frames, arrays, files.
    columns : list of str, optional
        The columns to look at. Default: all.
    level : float
        The probability from which a pair is called an edge.
    degree : float, optional
        How many neighbours a column is expected to have, before the data are seen. Default: 2, or fewer if the data
        show fewer.
    max_parents : int
        The most columns that one column may depend on directly, in one network.
    imputations : int
        How many completed tables are averaged, if values are missing. 0: complete none, and use of each test the rows
        that have all of its columns; this is fast, and less sure than the probabilities say.
    random_state : int
        The seed.
    threads : int, optional
        All cores, unless said.
    progress : function, optional
        Called with the share that is done.
    **counting
        exclude, missing_values, discretize, weights, delimiter, max_levels: as in `credimi.pairs`, but numbers are
        cut into fewer ranges by default, as most pairs are looked at given a third column.

    Returns
    -------
    Network
        The edges, their directions where these follow, and what separates the other pairs.

    Examples
    --------
    >>> smoking = [0, 0, 0, 1] * 100
    >>> cough = [s if i % 5 else 1 - s for i, s in enumerate(smoking)]
    >>> found = credimi.network({"smoking": smoking, "cough": cough, "noise": [i * i % 7 % 2 for i in range(400)]})
    >>> [(edge.a, edge.b, edge.direction) for edge in found.edges]
    [('smoking', 'cough', '--')]
    """
    require_share("level", level)
    if degree is not None and not 0.0 < float(degree) < float("inf"):
        raise CredimiError(f"degree is {degree!r}: pass how many neighbours a column is expected to have, such as 2")
    require_whole("max_parents", max_parents, 1)
    require_whole("imputations", imputations, 0)
    require_whole("random_state", random_state, 0)
    from credimi.counting.rows.settled_columns import SettledColumns  # noqa: PLC0415  (pyarrow takes a while to load)

    check_keywords("network", counting, _COUNTING)
    told = progress or (lambda _: None)
    settled = SettledColumns.of(
        data, columns=columns, most_values=_MOST_VALUES, together=_TOGETHER, threads=threads, **counting
    )
    if len(settled.features) < 2:
        raise CredimiError(
            f"a network needs two columns or more, and {len(settled.features)} can be used here: identifiers, and "
            "columns of one value or none, or of too many, are left out"
        )
    options = LearnOptions(None if degree is None else float(degree), max_parents, imputations, random_state, threads)
    codes = np.ascontiguousarray(np.stack(settled.codes).astype(np.uint16))
    values = np.array(settled.values, dtype=np.int64)
    weights = np.zeros(0) if settled.weights is None else np.ascontiguousarray(settled.weights, dtype=np.float64)
    told(0.05)
    learned = learn(codes, values, weights, options, told)
    settings: Record = {"level": float(level), "degree": DEGREE if degree is None else float(degree)}
    settings |= {"learned_degree": learned.degree, "max_parents": max_parents, "imputations": learned.completions}
    settings |= {"seed": random_state}
    pairs, tables = _pairs(settled, learned, threads)
    absent = (codes >= values[:, np.newaxis]) @ (weights if weights.size else np.ones(codes.shape[1]))
    remarks = [
        *_functions(settled, codes, values, [pair for pair in pairs if pair.probability >= 0.5]),
        *_missing_depends(settled, threads),
        *_left_out(settled),
        *([NetworkRemark("walks_disagree", walks=learned.agree)] if learned.agree < WALKS / 2 else []),
    ]
    told(1.0)
    return Network(
        tuple(pairs),
        settled.names,
        float(level),
        settled.rows if settled.weights is None else float(weights.sum()),
        tuple(map(_whole, absent.tolist())),
        tuple(remarks),
        settings,
        _alone=learned.alone,
        _tables=tuple(tables),
    )


def _pairs(settled: SettledColumns, learned: Learned, threads: int | None) -> tuple[list[Edge], list[Record]]:
    """The pairs worth telling, surest first, and the tables of the first ones."""
    pairs, probability = learned.pairs, learned.edges
    alone = learned.alone[pairs.one, pairs.other]
    apart = np.flatnonzero((probability < _WORTH_TELLING) & (alone > 0.0) & (learned.least < 0.0))
    apart = apart[np.argsort(-alone[apart], kind="stable")[:_MOST_SEPARATED]]
    places = np.union1d(np.flatnonzero(probability >= _WORTH_TELLING), apart)
    tables = _tables(settled, pairs.numbers[places], threads)
    figures = summarize(tables, PosteriorOptions(threads=threads), if_dependent=False)
    order = np.lexsort((-figures.mean, -probability[places]))
    found: list[Edge] = []
    shown: list[Record] = []
    names = settled.names
    for rank in order.tolist():
        place = int(places[rank])
        block = tables.block(rank)
        told = {name: float(getattr(figures, name)[rank]) for name in ("mean", "low", "high")}
        told["rows"] = float(block[:-1, :-1].sum())
        found.append(_edge(names, learned, place, float(probability[place]), told))
        if len(shown) < _SHOWN_TABLES and probability[place] >= _WORTH_TELLING:
            shown.append(_shown_table(block, settled, int(pairs.one[place]), int(pairs.other[place])))
    return found, shown


def _tables(settled: SettledColumns, numbers: IntegerArray, threads: int | None) -> Tables:
    """The tables of the pairs of these numbers, from the rows that have both, with the margins of the others."""
    counter, parts, start = settled.counter(threads), [], 0
    for first, after in counter.blocks():
        size = counter.pairs(first, after)[0].size
        here = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, start + size)] - start
        if here.size:
            mask = np.zeros(size, dtype=bool)
            mask[here] = True
            parts.append(counter.tables(first, after).chosen(mask))
        start += size
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return Tables(np.zeros(0), empty, empty)
    return Tables(
        np.concatenate([part.flat for part in parts]),
        np.concatenate([part.rows for part in parts]),
        np.concatenate([part.columns for part in parts]),
    )


def _edge(names: tuple[str, ...], learned: Learned, place: int, probability: float, figures: Record) -> Edge:
    forward, backward = learned.forced[place].tolist()
    direction = UNDIRECTED
    if max(forward, backward) > probability / 2.0:
        direction = FORWARD if forward > backward else BACKWARD
    least = float(learned.least[place])
    separated = least < 0.0
    given = tuple(names[each] for each in learned.given[place].tolist() if each >= 0)
    return Edge(
        names[learned.pairs.one[place]],
        names[learned.pairs.other[place]],
        probability,
        mi=figures["mean"],
        low=figures["low"],
        high=figures["high"],
        direction=direction,
        p_forward=forward,
        p_backward=backward,
        separated_by=given if separated else None,
        p_separated=float(1.0 / (1.0 + np.exp(np.clip(least, -700.0, 700.0)))),
        rows=_whole(figures["rows"]),
    )


def _whole(rows: float) -> float:
    """A number of rows, without a point unless it is a sum of weights."""
    return int(rows) if rows == int(rows) else rows


def _shown_table(block: CountArray, settled: SettledColumns, one: int, other: int) -> Record:
    """A table for the page: the most frequent values, the others together, missing last."""
    names = [settled.features[each].values for each in (one, other)]
    parts, labels = block, []
    for axis in (0, 1):
        values = [*names[axis]]
        if len(values) > _SHOWN_VALUES:
            totals = parts.sum(axis=1 - axis)[: len(values)]
            kept = np.sort(np.argsort(-totals, kind="stable")[: _SHOWN_VALUES - 1])
            rest = np.setdiff1d(np.arange(len(values)), kept)
            taken = np.take(parts, kept, axis=axis)
            others = np.take(parts, rest, axis=axis).sum(axis=axis, keepdims=True)
            parts = np.concatenate([taken, others, np.take(parts, [len(values)], axis=axis)], axis=axis)
            values = [*(values[each] for each in kept), f"({rest.size} others)"]
        labels.append(values)
    return {"rows": labels[0], "columns": labels[1], "counts": np.round(parts, 3).tolist()}


def _functions(
    settled: SettledColumns, codes: NDArray[np.uint16], values: IntegerArray, edges: list[Edge]
) -> list[NetworkRemark]:
    """Columns whose values are a function of one or two of their neighbours."""
    place = {name: number for number, name in enumerate(settled.names)}
    near: dict[int, list[int]] = {}
    for edge in edges:
        near.setdefault(place[edge.a], []).append(place[edge.b])
        near.setdefault(place[edge.b], []).append(place[edge.a])
    found = []
    for column, neighbours in sorted(near.items()):
        for count in (1, 2):
            known = [some for some in combinations(neighbours, count) if _is_function(codes, values, column, some)]
            if known:
                others = tuple(settled.names[each] for each in known[0])
                found.append(NetworkRemark("determined", settled.names[column], others))
                break
    return found


def _is_function(codes: NDArray[np.uint16], values: IntegerArray, column: int, given: tuple[int, ...]) -> bool:
    """Whether every combination that occurs with the given columns has one value of the column, seen more than once."""
    seen = codes[column] < values[column]
    where, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    for each in given:
        seen &= codes[each] < values[each]
        where += codes[each].astype(np.int64) * size
        size *= int(values[each])
    own = codes[column][seen].astype(np.int64)
    cells = np.unique(where[seen] * int(values[column]) + own)
    combinations_seen = np.unique(where[seen]).size
    many = own.size >= _FEWEST_ROWS_OF_FUNCTION * max(combinations_seen, 1)
    return bool(many and cells.size == combinations_seen and combinations_seen > 1)


def _missing_depends(settled: SettledColumns, threads: int | None) -> list[NetworkRemark]:
    """Columns whose values are missing more often for some values of another column: the one that tells most."""
    if all((codes < size).all() for codes, size in zip(settled.codes, settled.values, strict=True)):
        return []
    counter, names = settled.counter(threads), settled.names
    looked = MissingByOthers(len(names))
    for first, after in counter.blocks():
        looked.look(counter.tables(first, after), *counter.pairs(first, after))
    return [
        NetworkRemark("missing_depends", names[column], (names[other],), probability)
        for column, (other, probability) in sorted(looked.found(threads).items())
    ]


def _left_out(settled: SettledColumns) -> list[NetworkRemark]:
    """The columns that are in no edge because of what they are."""
    return [
        NetworkRemark(
            "left_out",
            each.name,
            facts=each.facts | {"method_without_target": "quantile"},
            values=len(each.values),
        )
        for each in settled.left_out
    ]
