"""`count`: the one entry point for data of all kinds; who counts files is chosen in `tallies`.

    files     this process: a file is read while the one before is counted
    duckdb    this process: DuckDB groups the rows, and only the groups come back
    dask      the workers of a Dask scheduler, a file a task
    spark     the executors of a Spark master, a file a task

The workers of a cluster have to see the files under the same paths.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.column import PrecodedColumn
from credimi.columns.missing import MISSING_VALUES
from credimi.columns.numbers.target_ranges import bins_asked
from credimi.core.errors import CredimiError
from credimi.core.threads import ahead
from credimi.counts.batch import Batch, counted
from credimi.counts.merge import merged
from credimi.counts.request import CountRequest, NoTarget, by_place, by_places, checked, free, name_of_target
from credimi.counts.target_quantiles import with_quantiles
from credimi.counts.weights import weighted
from credimi.sources import duckdb, files, frames, sparse_matrices
from credimi.sources.clusters import dask, spark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from types import ModuleType

    from credimi.columns.column import ColumnValues
    from credimi.core.types import Data, Foreign, Record, Values
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan
    from credimi.sources.data_file import DataFile


def count(
    data: Data,
    target: object,
    *,
    features: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    missing_values: Iterable[str | float] = MISSING_VALUES,
    discretize: str | Mapping[str, object] | None = "mdl",
    target_cuts: str | Sequence[object] | None = None,
    weights: Values = None,
    weights_are: str | None = None,
    max_levels: int | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
    engine: str | None = None,
    master: str | None = None,
    scheduler: str | None = None,
) -> Counts:
    """Count a target with every feature.

    Parameters
    ----------
    data : path, list of paths, data frame, array, ...
        A CSV, Parquet, Arrow (Feather) or JSON lines file, several files, a directory or a pattern; a DataFrame of
        Spark or Dask, counted where its partitions are; a polars LazyFrame, streamed; a pandas, polars or pyarrow
        table, a duckdb relation or any other object that provides an Arrow C stream; a numpy array (rows x columns, or
        with named fields); a sparse matrix of scipy, in which 0 is a value; a list of dictionaries; a dictionary of
        columns.
    target : str or array
        The name of the target's column, or its values beside the data. pandas' names that are no text (numbers, dates,
        tuples of a MultiIndex) are accepted as names.
    features : list of str, optional
        The columns to count. Default: all but the target. A column that is named here, or in `discretize`, is refused
        if its values cannot be counted (lists, for example). Other such columns are counted as present or missing, and
        the ranking says so.
    exclude : list of str, optional
        Columns to leave out; all others are counted.
    missing_values : list of str and numbers
        Values that mean missing besides null, NaN and empty fields of CSV files; in all columns, including the target.
        A number stands for numbers, also those written as text, but not for dates or durations; "9999-12-31" stands for
        the date.
    discretize : str, None or dict
        How numbers become categories. "mdl" cuts where the gain in the target's entropy is larger than the cost of the
        cut (Fayyad and Irani), or into quarters if no cut passes; "quantile" cuts into ten ranges of equal counts,
        "quantile:4" into four; "categories" makes every number a category of its own; None refuses them. A dictionary
        gives the method for single columns, or lists of cuts: `{"age": [18, 65], "*": "quantile"}`. Whole numbers of at
        most 20 distinct values are categories, unless the column is named here; decimal commas and dates of CSV files
        are text, unless the column is named here. Dates and timestamps are cut as days since 1970, and cuts may be
        dates as well, `{"visit": ["2024-02-29"]}`; times of day and durations are seconds.
    target_cuts : list of numbers or dates, or "quantile:K", optional
        Cut a target of numbers or dates into ranges, which are its classes: `[30, 50]` makes "<= 30", "30 to 50" and
        "> 50"; "quantile:4" makes four ranges of about equal counts. For quantiles the target is read once before the
        other columns; streams, which can be read only once, and data frames of Spark and Dask accept cuts only.
    weights : str or array, optional
        The weight of each row: a column of numbers from 0 up, or its values beside the data.
    weights_are : "rows" or "survey", optional
        What the weights count. "rows": how often each row occurs, as in a table in which equal rows were combined; the
        counts are those of the repeated rows. "survey": how many people, say, a row stands for; each table is then
        scaled to the number of rows that it is worth. Default: "rows" if all weights are whole, otherwise "survey".
    max_levels : int, optional
        Refuse a column with more categories, by its name, as soon as they are seen. Without it, a column with more
        values than are kept is counted as seen or missing only, and the ranking says so.
    delimiter : str, optional
        The character between the fields of CSV files. Default: the most frequent of comma, semicolon, tab and | in the
        header of each file, outside quotes.
    threads : int, optional
        Default: all cores.
    progress : callable, optional
        Called with the share of the data that has been counted.
    engine : str, optional
        Who counts files: "files" (this process), "duckdb", "dask" or "spark", the last two as schedulers over files
        that their workers see under the same paths.
    master, scheduler : str, optional
        The address of a Spark master (or `sc://` of Spark Connect), or of a Dask scheduler. Default: the active session
        or client, or else a local one.

    Returns
    -------
    Counts
        All that `rank` needs; counts of parts add up to those of the whole.

    Examples
    --------
    >>> counts = credimi.count({"x": ["a", "b", None, "b"], "class": ["p", "q", "q", None]}, "class")
    >>> counts["x"].joint
    array([[1., 0.],
           [0., 1.]])
    >>> counts["x"].target_only, counts["x"].feature_only
    (array([0., 1.]), array([0., 1.]))
    """
    options: Record = {"features": features, "exclude": exclude, "max_levels": max_levels}
    options |= {"target_cuts": target_cuts, "weights": weights, "weights_are": weights_are}
    options |= {"missing_values": missing_values, "discretize": discretize, "delimiter": delimiter}
    options |= {"threads": threads, "progress": progress, "engine": engine, "master": master, "scheduler": scheduler}
    return count_requested(data, CountRequest.of(target, **options))


def count_more(data: Data, counts: Counts, delimiter: str | None) -> Counts:
    """Count the same columns in other data; columns that were counted before were not necessarily named by the user."""
    request = CountRequest(counts.target, counts.features, settings=counts.settings, delimiter=delimiter)
    return count_requested(data, request)


def count_requested(data: Data, request: CountRequest) -> Counts:
    """The counts for a request."""
    request = with_target_cuts(data, request)
    if files.reads(data):
        data_files, plan = _planned_files(data, request)
        sources = tuple(file.source for file in data_files)  # as they are before they are read
        counts_of_all = merged(counts for _, counts in tallies(data_files, plan, request))
        return checked(replace(counted([], plan) if counts_of_all is None else counts_of_all, sources=sources), plan)
    if request.engine is not None:
        raise CredimiError(f"engine={request.engine!r} is for files, not for a {type(data).__name__}: leave engine out")
    _check_undelimited(data, request.delimiter)
    cluster = cluster_of(data)
    if cluster is not None:
        plan = plan_of(cluster.names(data), request)
        counts: Counts = cluster.count(data, plan, request.progress)
        request.progress(1.0)
        return counts
    plan, batches = source(data, request)
    return counted(batches, plan, threads=request.threads)


def tallies(
    given: Sequence[DataFile], plan: Plan, request: CountRequest
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Files that are done and their counts, some at a time, until all are done; the caller may save the sum so far."""
    if request.engine == "spark":
        return spark.tallies(given, plan, request.progress, request.master)
    if request.engine == "dask":
        return dask.tallies(given, plan, request.progress, request.scheduler)
    if request.engine == "duckdb":
        return duckdb.tallies(given, plan, request.progress, request.threads)
    return files.tallies(given, plan, request.progress, request.threads)


def plan_of(offered: Sequence[str], request: CountRequest) -> Plan:
    """The plan for these columns, whose names may be pandas' names that are no text."""
    return _named_weights(replace(request, target=name_of_target(request.target, offered)), offered).plan(offered)


def with_target_cuts(data: Data, request: CountRequest) -> CountRequest:
    """The same request; if it asks for quantiles of the target, a first pass replaces them by cuts."""
    if bins_asked(request.settings.target_cuts) is None:
        return request
    kind = type(data).__name__
    if cluster_of(data) is not None or frames.is_stream(data):
        why = "is read once" if frames.is_stream(data) else "is elsewhere, and is not read twice"
        raise CredimiError(
            f"quantiles of the target need all its values first, and a {kind} {why}: pass the cuts themselves, such as "
            "target_cuts=[30, 50]"
        )
    target_only = replace(request, features=(), exclude=None, named=False, progress=_no_progress)
    target_only = replace(target_only, settings=replace(request.settings, target_cuts=None, discretize="mdl"))
    plan, batches = source(data, target_only)
    settings = replace(request.settings, weights=plan.settings.weights)
    cuts = with_quantiles(settings, weighted(batches, settings), plan.target).target_cuts
    return replace(request, settings=replace(request.settings, target_cuts=cuts))


def _named_weights(request: CountRequest, offered: Sequence[str]) -> CountRequest:
    """The same request; if the weights are a column's name that is no text, as in pandas, it moves to the settings."""
    name = name_of_target(request.weights, offered)
    if not isinstance(name, str):
        return request
    return replace(request, weights=None, settings=replace(request.settings, weights=name))


def _no_progress(_share: float) -> None:
    """Ignore the progress of the first pass."""


def _planned_files(data: Data, request: CountRequest) -> tuple[list[DataFile], Plan]:
    """The files, and the plan for them."""
    if not isinstance(request.target, str | NoTarget):
        raise CredimiError(f"target is {request.target!r}: for files, pass the name of a column as the target")
    data_files = files.data_files(data, request.delimiter)
    return data_files, request.plan(files.names(data_files, request.delimiter))


def files_and_columns(data: Data, request: CountRequest) -> tuple[list[DataFile], list[str]]:
    """The files, each opened once, and the names of the columns that will be read."""
    settings = replace(request.settings, target_cuts=None)
    data_files, plan = _planned_files(data, replace(request, settings=settings))
    return data_files, plan.wanted


def cluster_of(data: object) -> ModuleType | None:
    """The engine of a Spark or Dask frame, or None; checked before Arrow's stream, which would fetch the rows."""
    if not type(data).__module__.startswith(("pyspark.", "dask")):
        return None
    return next((engine for engine in (spark, dask) if engine.reads(data)), None)


def _check_undelimited(data: Data, delimiter: str | None) -> None:
    """Refuse a delimiter if the data are no files."""
    if delimiter is not None:
        raise CredimiError(
            f"delimiter={delimiter!r} is for CSV files, not for a {type(data).__name__}: leave delimiter out"
        )


def require_rows_here(data: Data) -> None:
    """Refuse a frame of a cluster."""
    if cluster_of(data) is not None:
        raise CredimiError(
            f"the rows of a {type(data).__name__} are elsewhere: collect them into a table in memory, or write "
            "them to Parquet files"
        )


def source(data: Data, request: CountRequest) -> tuple[Plan, Iterator[Batch]]:
    """What is counted in the data, and the batches of its columns."""
    require_rows_here(data)
    if files.reads(data):
        data_files, plan = _planned_files(data, request)
        read = ahead(files.batches(data_files, _in_data(plan, request), request.progress, threads=request.threads))
        return plan, _with_one_class(read, plan, request)
    _check_undelimited(data, request.delimiter)
    if frames.is_lazy(data):
        plan = request.plan(frames.names(data))
        return plan, _with_one_class(frames.lazy_batches(data, _in_data(plan, request)), plan, request)
    if not frames.reads(data):
        raise CredimiError(
            f"cannot read a {type(data).__name__}: pass a path, a data frame that provides Arrow data (pandas, polars, "
            "pyarrow, duckdb), a numpy array or a list of dictionaries"
            + ("; collect() it first" if hasattr(data, "collect") else "")
        )
    return _in_memory(frames.opened(data), request)


def _in_memory(data: Foreign, request: CountRequest) -> tuple[Plan, Iterator[Batch]]:
    """The same for a table in memory; target and weights may be separate arrays."""
    offered, target = frames.names(data), request.target
    if sparse_matrices.reads(data) or (isinstance(data, np.ndarray) and not data.dtype.names):
        features, exclude = (by_places(names, offered) for names in (request.features, request.exclude))
        weights = by_place(request.weights, offered)
        request = replace(request, features=features, exclude=exclude, weights=weights)
        target = by_place(target, offered)
    elif isinstance(target, int | np.integer):  # the name of a column
        target = str(target)
    request = _named_weights(replace(request, target=name_of_target(target, offered)), offered)
    beside: dict[str, ColumnValues] = {}
    if request.target is None:
        raise CredimiError('name the target: count(data, "column"), or pass its values')
    if not isinstance(request.target, str | NoTarget):
        frames.check_order(data, request.target, "target")
        name = free(str(getattr(request.target, "name", None) or frames.TARGET), offered)
        beside[name], request = frames.array_of(request.target, name), replace(request, target=name)
    if request.weights is not None:
        frames.check_order(data, request.weights, "weights")
        name = free("weights", [*offered, *beside])
        beside[name] = frames.array_of(request.weights, name)
        request = replace(request, weights=None, settings=replace(request.settings, weights=name))
    plan = request.plan([*offered, *beside])
    batches = frames.batches(data, [name for name in _in_data(plan, request) if name not in beside])
    for name, values in beside.items():
        batches = _with_column(batches, name, values, "target" if name == plan.target else "weights")
    return plan, _with_one_class(batches, plan, request)


def _in_data(plan: Plan, request: CountRequest) -> list[str]:
    """The columns that are read."""
    return plan.wanted[1:] if isinstance(request.target, NoTarget) else plan.wanted


def _with_one_class(batches: Iterator[Batch], plan: Plan, request: CountRequest) -> Iterator[Batch]:
    """The same batches; without a target, a column of one class takes its place."""
    if not isinstance(request.target, NoTarget):
        return batches
    return (replace(batch, columns={plan.target: one_class(batch.rows), **batch.columns}) for batch in batches)


def one_class(rows: int) -> ColumnValues:
    """A target of one class, in all rows."""
    return PrecodedColumn(np.zeros(rows, dtype=np.int8), np.array(["\x00"], dtype=object))


def _with_column(batches: Iterator[Batch], name: str, values: ColumnValues, what: str) -> Iterator[Batch]:
    """The batches with one more column, of which each batch gets its rows."""
    has = "has" if what == "target" else "have"
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise CredimiError(f"the {what} {has} the shape {values.shape}: pass one value per row")
    start = 0
    for batch in batches:
        part = values[start : start + batch.rows]
        start += batch.rows
        if len(part) < batch.rows:
            break
        yield Batch({name: part, **batch.columns}, batch.rows, batch.raw, batch.cells)
    if start != len(values):
        raise CredimiError(
            f"the {what} {has} {len(values):,} values, the data have {start:,} rows or more: pass one value per row"
        )
