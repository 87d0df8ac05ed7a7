"""`network`: which columns depend on each other directly, with probabilities, from data with missing values.

See `learn` for the method. This module turns the data into codes, and the learned figures into records. All of it works
on the columns in the order of their names, so that the order of the data changes nothing, and ties are broken by name.
Only what is shown follows the order of the data: the columns, and which column of an edge comes first.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from credimi.core.arguments import require_share, require_whole
from credimi.core.errors import CredimiError
from credimi.core.tables import Tables
from credimi.counts.weights import on_weights
from credimi.inference.belief import Belief
from credimi.inference.rules import from_share, share_of_independent
from credimi.inference.tables.many_tables import summarize
from credimi.questions.network.learn import DEGREE, Learned, LearnOptions, learn
from credimi.questions.network.orders import WALKS
from credimi.questions.network.result import SURE, Edge, Network, NetworkRemark, shown_direction
from credimi.questions.network.view import remark_lines, shown_table
from credimi.questions.pairs.missing_by_others import MissingByOthers
from credimi.results.remarks import approximate

if TYPE_CHECKING:
    from collections.abc import Callable

    from credimi.core.types import BooleanArray, Data, FloatArray, IntegerArray, Record
    from credimi.counts.codes import Codebook
    from credimi.counts.counter import Counter
    from credimi.counts.reading import Reading
    from credimi.counts.rows.distinct_rows import DistinctRows
    from credimi.counts.rows.pair_tables import PairTables
    from credimi.results.remarks import Remark

_READING_SHARE = 0.05  # of the whole progress
_MIN_REPORTED_PROBABILITY = 0.01  # of an edge
_MAX_REASONS = 3  # in the error if there are too few columns
_COLUMNS_PER_TABLE = 3  # most tests have two columns, and condition on a third
_MAX_SEPARATED_PAIRS = 5_000  # those with the strongest dependence
_MAX_SHOWN_TABLES = 1_500
_MIN_ROWS_PER_COMBINATION = 20
_MAX_LOG_FACTOR, _BINS_PER_UNIT = 30, 100  # of the histogram of all pairs


def network_of(
    data: Data,
    *,
    level: float,
    degree: float | None,
    max_parents: int,
    imputations: int,
    max_values: int,
    reading: Reading,
    belief: Belief,
) -> Network:
    """The answer to what `credimi.network` takes."""
    require_share("level", level)
    if degree is not None and not 0.0 < float(degree) < float("inf"):
        raise CredimiError(f"degree is {degree!r}: pass how many neighbours a column is expected to have, such as 2")
    require_whole("max_parents", max_parents, 1)
    require_whole("imputations", imputations, 0)
    require_whole("random_state", belief.random_state, 0)
    from credimi.sources.codes import counter_without_target  # noqa: PLC0415  (pyarrow takes a while to load)

    options = LearnOptions(
        None if degree is None else float(degree), max_parents, imputations, belief.random_state, belief.threads
    )
    first = reading.part(0.0, _READING_SHARE)
    with counter_without_target(data, first, max_values=max_values, together=_COLUMNS_PER_TABLE) as counter:
        return learned_from(counter, options, float(level), reading.step("learning"))


def learned_from(
    counter: Counter, options: LearnOptions, level: float, report_progress: Callable[[float], None]
) -> Network:
    """The same as `network`, for rows that are encoded already."""
    if len(counter.book.features) < 2:
        raise CredimiError(_too_few(counter.book))
    names, counter, threads = counter.book.names, counter.by_name(), options.threads
    book, rows = counter.book, counter.by_row()
    report_progress(_READING_SHARE)
    learned = learn(rows, book.sizes, options, report_progress)
    settings: Record = {"level": level, "degree": DEGREE if options.degree is None else options.degree}
    settings |= {"learned_degree": learned.degree, "max_parents": options.max_parents}
    settings |= {"imputations": learned.completions, "seed": options.seed}
    in_data = {name: number for number, name in enumerate(names)}
    pairs, tables, marked = _pairs(counter, learned, in_data, threads)
    likely = [pair for pair in pairs if pair.probability >= 0.5]
    missing_rows = (rows.codes >= book.sizes[:, np.newaxis]) @ (rows.units * rows.unit_weights)

    def place(remark: NetworkRemark) -> int:
        return in_data[str(remark.column)]

    remarks = [
        *sorted(_determined_columns(book, rows, likely), key=place),
        *sorted(_missing_depends(counter, missing_rows), key=place),
        *sorted(_lost_pairs(book, learned, pairs, missing_rows), key=place),
        *_left_out(book),
        *(NetworkRemark(each.kind.value, facts=each.to_dict()) for each in (*marked, *on_weights(counter))),
        *([NetworkRemark("walks_disagree", walks=learned.agree)] if learned.agree < WALKS / 2 else []),
    ]
    report_progress(1.0)
    by_data = np.argsort([in_data[name] for name in book.names])
    return Network(
        tuple(pairs),
        names,
        level,
        counter.rows,
        tuple(map(_without_point, missing_rows[by_data].tolist())),
        tuple(remarks),
        settings,
        _alone=learned.unconditional[np.ix_(by_data, by_data)],
        tables=tuple(tables),
    )


def _pairs(
    counter: Counter, learned: Learned, in_data: dict[str, int], threads: int | None
) -> tuple[list[Edge], list[Record], list[Remark]]:
    """The pairs that are reported, most probable edges first, and the tables that the page shows of the first ones.

    The remarks name the pairs whose P(independent) may be off. `in_data` says which number each column has in the data.
    """
    pairs, probability = learned.pairs, learned.edges
    unconditional = learned.unconditional[pairs.one, pairs.other]
    independent = _p_independent(unconditional)
    dependent = from_share(1.0 - independent, independent, _share_of_independent_pairs(learned.unconditional))
    separated = np.flatnonzero(
        (probability < _MIN_REPORTED_PROBABILITY) & (unconditional > 0.0) & (learned.least_evidence < 0.0)
    )
    separated = separated[np.argsort(-unconditional[separated], kind="stable")[:_MAX_SEPARATED_PAIRS]]
    indices = np.union1d(np.flatnonzero(probability >= _MIN_REPORTED_PROBABILITY), separated)
    tables = _tables(counter.by_pair(), pairs.numbers[indices])
    options = Belief(threads=threads).settled()
    figures = summarize(tables, options, if_dependent=False)
    order = np.lexsort((-figures.mean, -probability[indices]))
    edges: list[Edge] = []
    shown_tables: list[Record] = []
    marked: list[Remark] = []
    names = counter.book.names
    for rank in order.tolist():
        index = int(indices[rank])
        block = tables.block(rank)
        pair_figures = {name: float(getattr(figures, name)[rank]) for name in ("mean", "low", "high")}
        pair_figures |= {"rows": float(block[:-1, :-1].sum()), "dependent": float(dependent[index])}
        edge, ends = _edge(names, learned, index, float(probability[index]), pair_figures), (pairs.one, pairs.other)
        if in_data[edge.a] > in_data[edge.b]:
            edge, ends, block = edge.turned, ends[::-1], block.T
        edges.append(edge)
        if figures.approximate[rank]:
            marked.append(approximate(edge.a, edge.mi, options.nats, edge.b))
        if len(shown_tables) < _MAX_SHOWN_TABLES and probability[index] >= _MIN_REPORTED_PROBABILITY:
            shown_tables.append(shown_table(block, counter.book, *(int(columns[index]) for columns in ends)))
    return edges, shown_tables, marked


def _tables(counter: PairTables, numbers: IntegerArray) -> Tables:
    """The tables of the pairs with these indices among all pairs, with the margins of rows that lack one of the two."""
    blocks, start = [], 0
    for first, stop in counter.blocks():
        size = counter.pairs(first, stop)[0].size
        in_block = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, start + size)] - start
        if in_block.size:
            mask = np.zeros(size, dtype=bool)
            mask[in_block] = True
            blocks.append(counter.tables(first, stop).chosen(mask))
        start += size
    return Tables.joined(blocks)


def _edge(names: tuple[str, ...], learned: Learned, index: int, probability: float, figures: Record) -> Edge:
    forward, backward = learned.forced[index].tolist()
    least_evidence = float(learned.least_evidence[index])
    one, other = int(learned.pairs.one[index]), int(learned.pairs.other[index])
    completed, depends = learned.completed, figures["dependent"] >= SURE
    if depends and completed is not None and _is_hidden(learned.unconditional[one, other], completed[one, other]):
        least_evidence = np.inf  # no column explains what only the observed values show
    separated = least_evidence < 0.0
    given = tuple(names[column] for column in learned.given[index].tolist() if column >= 0)
    return Edge(
        names[one],
        names[other],
        probability,
        mi=figures["mean"],
        low=figures["low"],
        high=figures["high"],
        direction=shown_direction(forward, backward),
        p_forward=forward,
        p_backward=backward,
        separated_by=given if separated else None,
        p_separated=float(_p_independent(np.array(least_evidence))),
        rows=_without_point(figures["rows"]),
        p_dependent=figures["dependent"],
    )


def _p_independent(log_factors: FloatArray) -> FloatArray:
    """P(independent) at even odds, from log Bayes factors."""
    result: FloatArray = 1.0 / (1.0 + np.exp(np.clip(log_factors, -700.0, 700.0)))
    return result


def _share_of_independent_pairs(log_factors: FloatArray) -> float:
    """The share of independent pairs, from the log Bayes factors of all pairs, a symmetric matrix.

    The pairs are counted in a histogram, because thousands of columns have millions of pairs.
    """
    bins = 2 * _MAX_LOG_FACTOR * _BINS_PER_UNIT + 1
    counts = np.zeros(bins)
    for column, factors in enumerate(log_factors):
        clipped = np.clip(factors[column + 1 :], -_MAX_LOG_FACTOR, _MAX_LOG_FACTOR)
        counts += np.bincount(np.rint((clipped + _MAX_LOG_FACTOR) * _BINS_PER_UNIT).astype(np.int64), minlength=bins)
    filled = np.flatnonzero(counts)
    return share_of_independent(_p_independent(filled / _BINS_PER_UNIT - _MAX_LOG_FACTOR), counts=counts[filled])


def _without_point(rows: float) -> float:
    """A number of rows, as an integer if it is whole; a sum of weights may not be."""
    return int(rows) if rows == int(rows) else rows


def _determined_columns(book: Codebook, rows: DistinctRows, edges: list[Edge]) -> list[NetworkRemark]:
    """Columns whose values are a function of one or two of their neighbours."""
    column_of = {name: number for number, name in enumerate(book.names)}
    neighbours_of: dict[int, list[int]] = {}
    for edge in edges:
        neighbours_of.setdefault(column_of[edge.a], []).append(column_of[edge.b])
        neighbours_of.setdefault(column_of[edge.b], []).append(column_of[edge.a])
    remarks = []
    for column, neighbours in sorted(neighbours_of.items()):
        for count in (1, 2):
            determining = [
                given for given in combinations(neighbours, count) if _is_function(rows, book.sizes, column, given)
            ]
            if determining:
                others = tuple(book.names[other] for other in determining[0])
                remarks.append(NetworkRemark("determined", book.names[column], others))
                break
    return remarks


def _is_function(rows: DistinctRows, values: IntegerArray, column: int, given: tuple[int, ...]) -> bool:
    """Whether each combination of values of the given columns that occurs has only one value of the column.

    There have to be enough rows for each combination, and more than one combination.
    """
    codes = rows.codes
    present = codes[column] < values[column]
    combination, size = np.zeros(codes.shape[1], dtype=np.int64), 1
    for other in given:
        present &= codes[other] < values[other]
        combination += codes[other].astype(np.int64) * size
        size *= int(values[other])
    codes_present = codes[column][present].astype(np.int64)
    cells = np.unique(combination[present] * int(values[column]) + codes_present)
    combinations_seen = np.unique(combination[present]).size
    enough_rows = float((rows.units * rows.unit_weights)[present].sum()) >= _MIN_ROWS_PER_COMBINATION * max(
        combinations_seen, 1
    )
    return bool(enough_rows and cells.size == combinations_seen and combinations_seen > 1)


def _lost_pairs(book: Codebook, learned: Learned, pairs: list[Edge], missing_rows: FloatArray) -> list[NetworkRemark]:
    """Pairs that surely depend by their observed values, but have no edge, because the completed values hide it.

    Completed values outnumber the observed ones if nearly all values are missing. Such a pair is named at the column of
    which more values are missing.
    """
    if learned.completed is None:
        return []
    share, names = _share_of_independent_pairs(learned.unconditional), book.names
    linked = {frozenset((pair.a, pair.b)) for pair in pairs if pair.probability >= 0.5}
    lost: dict[int, list[str]] = {}
    for column, (observed, completed) in enumerate(zip(learned.unconditional, learned.completed, strict=True)):
        independent = _p_independent(observed[column + 1 :])
        surely_depends = from_share(1.0 - independent, independent, share) >= SURE
        is_lost = surely_depends & _is_hidden(observed[column + 1 :], completed[column + 1 :])
        for other in (np.flatnonzero(is_lost) + column + 1).tolist():
            more, fewer = (column, other) if missing_rows[column] > missing_rows[other] else (other, column)
            if frozenset((names[column], names[other])) not in linked:
                lost.setdefault(more, []).append(names[fewer])
    return [NetworkRemark("lost", names[column], tuple(others)) for column, others in sorted(lost.items())]


def _is_hidden(observed: FloatArray, completed: FloatArray) -> BooleanArray:
    """Whether observed values show that columns depend, but completed ones do not, from log Bayes factors of both.

    Of weak evidence, some is always on the other side of the limit; so half of it has to be gone.
    """
    shown, still_shown = (1.0 - _p_independent(each) >= SURE for each in (observed, completed))
    hidden: BooleanArray = shown & ~still_shown & (completed < 0.5 * observed)
    return hidden


def _missing_depends(counter: Counter, missing_rows: FloatArray) -> list[NetworkRemark]:
    """Columns whose values are missing more often for some values of another column; names the one that tells most."""
    if not missing_rows.any():
        return []
    counted, names = counter.by_pair(), counter.book.names
    missing_by_others = MissingByOthers(len(names))
    for first, stop in counted.blocks():
        missing_by_others.add(counted.tables(first, stop), *counted.pairs(first, stop))
    return [
        NetworkRemark("missing_depends", names[column], (names[other],), probability)
        for column, (other, probability) in sorted(missing_by_others.credible(counter.threads).items())
    ]


def _too_few(book: Codebook) -> str:
    """The error if fewer than two columns can be in the network, with the first reasons."""
    why = remark_lines([remark.to_dict() for remark in _left_out(book)])[:_MAX_REASONS]
    needed = f"a network needs two columns or more, and {len(book.features)} can be used here"
    return ": ".join(filter(None, [needed, "; ".join(why)]))


def _left_out(book: Codebook) -> list[NetworkRemark]:
    """The columns that were left out of the network: identifiers, and columns of one value, none, or too many."""
    return [
        NetworkRemark(
            "left_out",
            feature.name,
            facts=feature.facts | {"method_without_target": "quantile"},
            values=len(feature.values),
        )
        for feature in book.left_out
    ]
