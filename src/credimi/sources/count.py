"""`counted_data`: the one entry point for data of all kinds; who counts files is chosen in `tallies`.

    files     this process: a file is read while the one before is counted
    duckdb    this process: DuckDB groups the rows, and only the groups come back
    dask      the workers of a Dask scheduler, a file a task
    spark     the executors of a Spark master, a file a task

The workers of a cluster have to see the files under the same paths.
"""

from __future__ import annotations

from collections.abc import Sized
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from credimi.columns.column import PrecodedColumn
from credimi.columns.interpret import is_number
from credimi.columns.labels import NUMBER, typed
from credimi.columns.meaning.meaning import CATEGORIES
from credimi.columns.numbers.target_ranges import TargetValues, bins_asked
from credimi.core.errors import CredimiError, TooManyClassesError
from credimi.core.threads import ahead
from credimi.counts.batch import Batch, counted
from credimi.counts.counts import merged
from credimi.counts.request import CountRequest, NoTarget, by_place, by_places, checked, free, name_of_target
from credimi.counts.target_pass import may_be_number, with_cells, with_quantiles
from credimi.counts.weights import weighted
from credimi.sources import duckdb, files, frames, sparse_matrices
from credimi.sources.clusters import dask, spark
from credimi.sources.data_file import DataFile

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import ModuleType

    from credimi.columns.column import ColumnValues
    from credimi.core.types import Data, Foreign
    from credimi.counts.counts import Counts
    from credimi.counts.reading import Reading
    from credimi.counts.request import Plan


def counted_data(data: Data, target: object, reading: Reading) -> Counts:
    """The counts of the data, as `credimi.count` hands them out."""
    return count_requested(data, CountRequest.of(target, reading, progress=reading.step("counting")))


def count_more(data: Data, counts: Counts, delimiter: str | None) -> Counts:
    """Count the same columns in other data; columns that were counted before were not necessarily named by the user."""
    request = CountRequest(counts.target, counts.features, settings=counts.settings, delimiter=delimiter)
    return count_requested(data, request)


def count_requested(data: Data, request: CountRequest) -> Counts:
    """The counts for a request."""
    data = opened_once(data, request)
    request = with_target_cuts(data, request)
    try:
        counts = _counted(data, request)
    except TooManyClassesError:
        found = numeric_after_all(data, request)
        if found is request:
            raise
        return _counted(data, found)
    is_open = request.settings.target_cuts is None and request.settings.target_as is None
    if is_open and len(counts.classes) > CATEGORIES and is_number(typed(counts.classes)[0]):
        found = numeric_after_all(data, request)
        return counts if found is request else _counted(data, found)
    return counts


def opened_once(data: Data, request: CountRequest) -> Data:
    """The same data; files are opened here, so that they are not opened again to see what they are."""
    is_named = isinstance(request.target, str | NoTarget)  # other targets are refused
    return files.data_files(data, request.delimiter) if is_named and files.reads(data) else data


def _counted(data: Data, request: CountRequest) -> Counts:
    """The counts, once it is known where the target is cut."""
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


def with_target_cuts(data: Data, request: CountRequest, *, peek: bool = True) -> CountRequest:
    """The same request; if it asks for quantiles of the target, a first pass replaces them by cuts.

    A target that is a number gets the cuts of its cells. With `peek`, few numbers in the first rows are classes until
    it is known better: see `numeric_after_all`.
    """
    if bins_asked(request.settings.target_cuts) is None:
        return _with_cells(data, request, peek=peek)
    kind = type(data).__name__
    if cluster_of(data) is not None or frames.is_stream(data):
        why = "is read once" if frames.is_stream(data) else "is elsewhere, and is not read twice"
        raise CredimiError(
            f"quantiles of the target need all its values first, and a {kind} {why}: pass the cuts themselves, such as "
            "target_cuts=[30, 50]"
        )
    plan, batches = source(data, _target_only(request))
    settings = replace(request.settings, weights=plan.settings.weights)
    cuts = with_quantiles(settings, weighted(batches, settings), plan.target).target_cuts
    return replace(request, settings=replace(request.settings, target_cuts=cuts))


def _target_only(request: CountRequest) -> CountRequest:
    """The request for the target alone, uncut."""
    target_only = replace(request, features=(), exclude=None, named=False, progress=_no_progress)
    return replace(target_only, settings=replace(request.settings, target_cuts=None, discretize="mdl"))


def _with_cells(data: Data, request: CountRequest, *, peek: bool) -> CountRequest:
    """The same request; if the target is a number, with the cuts of its cells."""
    asked = request.settings
    if isinstance(request.target, NoTarget) or asked.target_cuts is not None or asked.target_as == "categories":
        return request
    cluster = cluster_of(data)
    if cluster is not None:
        return _with_cells_on(cluster, data, request)
    data = opened_once(data, request)
    if frames.is_stream(data) or not _may_be_number(data, request, peek=peek):
        if asked.target_as == "number":
            raise CredimiError(
                f"a number as the target needs all its values first, and a {type(data).__name__} is read once: pass "
                "the cuts of its cells as well (target_cuts=[...]), or a table or a file"
            )
        return request
    if isinstance(request.target, Sized) and not isinstance(request.target, str | tuple):  # its values, beside the data
        if getattr(request.target, "ndim", 1) != 1:
            return request  # which is refused where the columns are put together
        values = frames.array_of(request.target, "target")
        found = with_cells(asked, [Batch({"target": values}, len(request.target))], "target", peek=peek)
        return replace(request, settings=replace(asked, target_cuts=found.target_cuts, target_as=found.target_as))
    plan, batches = source(data, _target_only(request))
    settings = replace(asked, weights=plan.settings.weights)
    found = with_cells(settings, weighted(batches, settings), plan.target, peek=peek)
    return replace(request, settings=replace(asked, target_cuts=found.target_cuts, target_as=found.target_as))


def _may_be_number(data: Data, request: CountRequest, *, peek: bool) -> bool:
    """Whether the target may be a number, by what is known of the first of some files that are open."""
    opened: Sequence[object] = data if isinstance(data, list) and data else [None]
    first, target = opened[0], request.target
    if not isinstance(first, DataFile) or first.layout is None or target not in first.names:
        return True
    glimpse = first.layout.glimpse(str(target))
    if glimpse is None:
        return True
    batch = Batch({str(target): glimpse.values}, len(glimpse.values), raw=first.kind == "CSV")
    is_whole = glimpse.is_whole and len(opened) == 1
    return may_be_number(batch, request.settings, str(target), peek=peek, is_whole=is_whole)


def _with_cells_on(cluster: ModuleType, data: Data, request: CountRequest) -> CountRequest:
    """The same for a frame of a cluster, which counts the values of a target of numbers."""
    asked, offered = request.settings, cluster.names(data)
    target = name_of_target(request.target, offered)
    if not isinstance(target, str) or target not in offered:  # which is refused later
        return request
    if asked.target_as != "number" and not cluster.holds_numbers(data, target):
        return request
    constant = free("target", offered)
    settings = replace(asked, target_cuts=None, target_as=None, discretize="categories")
    alone = replace(request, target=constant, features=(target,), exclude=None, named=False, settings=settings)
    values = TargetValues(target)
    counts = cluster.count(
        cluster.with_constant(data, constant, offered), alone.plan([*offered, constant]), _no_progress
    )
    found, positions = typed(counts.labels[0])
    if found.kind != NUMBER or found.instants:
        return request
    totals = np.zeros(len(found))
    np.add.at(totals, positions, counts.blocks()[0][:-1, :-1].sum(axis=0))
    if asked.target_as is None and not is_number(found):
        return request
    values.labels, values.totals, values.dates = found, totals, False
    return replace(request, settings=replace(asked, target_cuts=values.cells(), target_as="number"))


def numeric_after_all(data: Data, request: CountRequest) -> CountRequest:
    """The request for a target that turned out to be a number when all rows were read; the same if it is none."""
    if frames.is_stream(data):
        raise CredimiError(
            f"the target {request.target!r} holds more than {CATEGORIES} different numbers, and a "
            f"{type(data).__name__} is read once: pass cuts, such as target_cuts=[30, 50], or say that these "
            "are classes (target_as='categories')"
        )
    return _with_cells(data, request, peek=False)


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
    asked = [request.target if isinstance(request.target, str) else None, request.settings.weights]
    data = frames.with_index(data, [*asked, *([] if request.features is None else request.features)])
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
