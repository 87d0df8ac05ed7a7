"""The rows of any data as `Codes`: in memory, in a scratch file, or where the rows of a cluster are.

Data in memory, and files that fit into it, are read once. Otherwise there are two passes: one counts, and the next
encodes each part, one byte per cell for columns of up to 255 values, two for others. If the caller names a scratch
folder, the codes are stored there (see `storage`).

Partitions of Spark and Dask are encoded by the workers, which keep the codes and count them (`counter_of`,
`cluster_counter`). If the caller names a scratch folder, or rows have survey weights, only the codes are sent, once.
They are stored on this machine, in memory or in the folder, and the cluster is not needed any more. With weights, the
target is read once more before: the sum of the weights is not the number of rows.

Besides the codes, memory holds a few bytes per row: class and weight.

**Without a target** (`codes_without_target`), columns are interpreted as in `rank`: categories, ranges of numbers,
identifiers; but numbers are cut into ranges of about equal counts. Their number, from 3 to 10, is chosen so that a
table of as many such columns as are looked at `together` has `_ROWS_PER_CELL` rows per cell. Identifiers, and columns
with one value, none, or more than `max_values`, are left out.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from credimi.columns.reading_options import QUANTILES, ReadingOptions
from credimi.core.defaults import DISCRETIZE
from credimi.core.errors import CredimiError, NoRowsError
from credimi.counts.batch import counted
from credimi.counts.codes import Codebook, EncodedTable
from credimi.counts.local_counter import LocalCounter
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest, NoTarget
from credimi.counts.rows.code_store import CodeStore, coded, packed, unpacked
from credimi.counts.rows.coded_parts import coded_parts
from credimi.counts.rows.storage import Storage
from credimi.counts.weights import are_survey, effective
from credimi.sources import files, frames, sparse_matrices
from credimi.sources.clusters.asked import RowsElsewhere
from credimi.sources.clusters.cluster_counter import ClusterCounter
from credimi.sources.count import (
    cluster_of,
    count_requested,
    files_and_columns,
    one_class,
    opened_once,
    plan_of,
    source,
    with_target_cuts,
)
from credimi.sources.data_file import predicted_memory

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from credimi.columns.feature import Feature
    from credimi.core.types import Data, Option
    from credimi.counts.batch import Batch
    from credimi.counts.codes import Codes
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan

    RowCounter = LocalCounter | ClusterCounter

EQUAL_COUNTS = "equal"  # as many ranges of equal counts as the rows allow
_WITHOUT_TARGET = Reading(discretize=EQUAL_COUNTS)
MAX_VALUES = 1_000  # of a column: a table of two such columns has a million cells
_ROWS_PER_CELL = 20
_MIN_RANGES = 3
_ROOT_SLACK = 1e-9  # so that a root that is a whole number is not rounded down


def encoded_table(data: Data, request: CountRequest) -> EncodedTable:
    """All rows of what `credimi.count` accepts, encoded once, and their counts."""
    if sparse_matrices.reads(data):
        raise CredimiError("a sparse matrix cannot be read row by row: pass X.toarray()")
    data = opened_once(data, request)
    request = with_target_cuts(data, request, peek=False)
    plan, parts = source(data, request)
    return coded_parts(list(parts), plan, request.threads)


def codes_of(data: Data, request: CountRequest, scratch: str | Path | None = None, *, uncut: bool = False) -> Codes:
    """The codes of all rows; with `scratch` they are in a file there, which vanishes with them.

    If `uncut`, numbers keep their values: a tree cuts them in its nodes.
    """
    storage, is_elsewhere = Storage.of(scratch), cluster_of(data) is not None
    book_of = partial(Codebook.of, uncut=uncut, threads=request.threads)
    if is_elsewhere or scratch is not None:
        return _in_two_passes(data, request, storage, book_of)
    if files.reads(data):
        data, wanted = files_and_columns(data, request)
        storage.require(predicted_memory(data, wanted), "the rows of the files")
    table = encoded_table(data, request)
    return table.codes(request.threads, book_of(table.counts))


@contextmanager
def counter_of(
    data: Data, request: CountRequest, scratch: str | Path | None = None, *, uncut: bool = False
) -> Iterator[RowCounter]:
    """The counter of all rows: of their codes here, or where the rows of a cluster are; what it keeps is released."""
    cluster, report = cluster_of(data), request.progress
    if cluster is None or scratch is not None:
        yield LocalCounter(codes_of(data, request, scratch, uncut=uncut), request.threads)
        return
    request = with_target_cuts(data, replace(request, progress=lambda share: report(0.5 * share)), peek=False)
    counts = count_requested(data, request)
    if are_survey(counts):
        yield LocalCounter(codes_of(data, replace(request, progress=report), uncut=uncut), request.threads)
        return
    book = Codebook.of(counts := effective(counts), uncut=uncut, threads=request.threads)
    plan = plan_of(cluster.names(data), request)
    plan = replace(plan, features=book.names, table=len(plan.features))
    with cluster.hold(data, plan.wanted, SendCodes(plan, book), lambda share: report(0.5 + 0.5 * share)) as reduce:
        elsewhere = RowsElsewhere(book, reduce, _rows_if_known(counts))
        report(1.0)
        yield ClusterCounter(book, counts, elsewhere, request.threads)


@contextmanager
def counter_without_target(
    data: Data, reading: Reading = _WITHOUT_TARGET, *, max_values: int = MAX_VALUES, together: int = 2
) -> Iterator[RowCounter]:
    """The counter of the columns that `codes_without_target` has; with `reading.scratch`, of codes in a file there."""
    cluster, threads = cluster_of(data), reading.threads
    if cluster is None:
        codes = codes_without_target(data, reading, max_values=max_values, together=together)
        yield LocalCounter(codes, threads)
        return
    if reading.scratch is not None:
        raise CredimiError(
            f"the codes of a {type(data).__name__} stay where its rows are: leave scratch out (scratch, --scratch)"
        )
    progress = reading.step("reading")
    request = request_without_target(reading, progress=progress)
    plan = request.plan(cluster.names(data))
    with_target = cluster.with_constant(data, plan.target, plan.wanted[1:])
    counts = cluster.count(with_target, plan, lambda share: progress(0.5 * share))
    if are_survey(counts):
        raise CredimiError(
            f"survey weights of a {type(data).__name__} need all its rows here: collect them into a table in memory"
        )
    counts = effective(counts)
    book = comparable(counts, reading.discretize, max_values, together, threads=threads)
    plan = replace(plan, features=book.names, table=len(plan.features))
    work = SendCodes(plan, book, with_target=False)
    with cluster.hold(data, plan.wanted[1:], work, lambda share: progress(0.5 + 0.5 * share)) as reduce:
        elsewhere = RowsElsewhere(book, reduce, _rows_if_known(counts))
        progress(1.0)
        yield ClusterCounter(book, counts, elsewhere, threads)


def _rows_if_known(counts: Counts) -> int | None:
    return None if counts.settings.weights is not None else int(counts.rows)


def _in_two_passes(data: Data, request: CountRequest, storage: Storage, book_of: Callable[[Counts], Codebook]) -> Codes:
    cluster = cluster_of(data)
    if cluster is None and frames.is_stream(data):
        raise CredimiError(
            f"a {type(data).__name__} is read once, and scratch codes need two passes: write it to a file"
        )
    report = request.progress
    data = opened_once(data, request)
    request = with_target_cuts(data, replace(request, progress=lambda share: report(0.5 * share)), peek=False)
    counts, rows = _counts_and_rows(data, request)
    in_second_pass = replace(request, progress=lambda share: report(0.5 + 0.5 * share))
    if cluster is None:
        plan, batches = source(data, in_second_pass)
    else:
        plan = plan_of(cluster.names(data), request)
    book = book_of(effective(counts))
    plan = replace(plan, features=book.names, table=len(plan.features))
    store = CodeStore(book, round(rows), storage)
    if cluster is None:
        for part in coded(batches, plan, book, request.threads):
            store.put(part)
    elif rows:
        put = partial(_put, store)
        cluster.collect(data, plan.wanted, SendCodes(plan, book), put, in_second_pass.progress)
    report(1.0)
    return store.codes()


def _counts_and_rows(data: Data, request: CountRequest) -> tuple[Counts, float]:
    """The counts, and the number of rows, whatever their weights."""
    if not isinstance(request.target, NoTarget):
        counts = count_requested(data, request)
        weighted = counts.settings.weights is not None
        return counts, count_requested(data, _target_alone(request)).rows if weighted else counts.rows
    sizes: list[int] = []

    def noted(batches: Iterable[Batch]) -> Iterator[Batch]:
        for batch in batches:
            sizes.append(batch.rows)
            yield batch

    plan, batches = source(data, request)
    return counted(noted(batches), plan, threads=request.threads), sum(sizes)


def _put(store: CodeStore, content: bytes) -> None:
    store.put(unpacked(content, store.book))


def _target_alone(request: CountRequest) -> CountRequest:
    """The request for the number of rows, whatever their weights."""
    settings = replace(request.settings, weights=None, weights_are=None, discretize="mdl")
    target_only = replace(request, features=(), exclude=None, named=False, settings=settings, weights=None)
    return replace(target_only, progress=lambda _share: None)


@dataclass(frozen=True, slots=True, eq=False)
class SendCodes:
    """What a worker does with a partition: its rows as codes, as bytes."""

    plan: Plan
    book: Codebook
    with_target: bool = True

    def __call__(self, batches: Iterable[Batch]) -> Iterator[bytes]:
        """The codes of these rows, in pieces."""
        if not self.with_target:
            one = self.plan.target
            batches = (replace(batch, columns={one: one_class(batch.rows), **batch.columns}) for batch in batches)
        for rows in coded(batches, self.plan, self.book, threads=1):
            yield from packed(rows)


def codes_without_target(
    data: Data, reading: Reading = _WITHOUT_TARGET, *, max_values: int = MAX_VALUES, together: int = 2
) -> Codes:
    """The columns of what `credimi.count` accepts, if it fits into memory, or into `reading.scratch`.

    `together` is how many columns share a table: two, or three if a pair is looked at given a third.

    Examples
    --------
    >>> codes = codes_without_target({"x": ["a", "b", None], "y": [1, 2, 2], "one": [1, 1, 1]})
    >>> codes.names, [column.tolist() for column in codes.columns]
    (('x', 'y'), [[0, 1, 2], [0, 1, 1]])
    >>> [feature.name for feature in codes.left_out]
    ['one']
    """
    request, threads = request_without_target(reading), reading.threads

    def book_of(counts: Counts) -> Codebook:
        return comparable(counts, reading.discretize, max_values, together, threads)

    if reading.scratch is not None:
        return _in_two_passes(data, request, Storage.of(reading.scratch), book_of)
    table = encoded_table(data, request)
    return table.codes(threads, book_of(table.counts))


def request_without_target(reading: Reading, *, progress: Callable[[float], None] | None = None) -> CountRequest:
    """The request for all columns, or some, without a target."""
    methods = _with_default(reading.discretize, "quantile")
    asked = [*methods.values()] if isinstance(methods, dict) else [methods]
    if by_target := [method for method in (DISCRETIZE, "mdl") if method in asked]:
        raise CredimiError(
            f"discretize={by_target[0]!r} cuts numbers by what they tell about a target, and here is none: leave it "
            "out, or choose quantile, quantile:4, categories or cuts"
        )
    return CountRequest.of(NoTarget(), replace(reading, discretize=methods), progress=progress)


def _with_default(discretize: Option, default: str) -> Option:
    """How numbers become categories: as the user says, otherwise by the default."""
    if hasattr(discretize, "items"):
        return {"*": default} | {
            name: default if method == EQUAL_COUNTS else method for name, method in discretize.items()
        }
    return default if discretize == EQUAL_COUNTS else discretize


def comparable(
    counts: Counts,
    discretize: Option,
    max_values: int = MAX_VALUES,
    together: int = 2,
    threads: int | None = None,
) -> Codebook:
    """The codebook of the columns that can be compared, with as many ranges as the number of rows allows.

    If the user asks for other ranges, there are these.
    """
    if counts.rows == 0:
        raise NoRowsError("there are no rows: nothing can be said about the columns")
    affordable = int((counts.rows / _ROWS_PER_CELL) ** (1.0 / together) + _ROOT_SLACK)
    ranges = min(QUANTILES, max(_MIN_RANGES, affordable))
    methods = ReadingOptions.of((), _with_default(discretize, f"quantile:{ranges}")).discretize
    counts = replace(counts, settings=replace(counts.settings, discretize=methods))

    def wanted(feature: Feature) -> bool:
        return feature.kind.ranked and len(feature.values) <= max_values

    return Codebook.of(counts, least_classes=1, wanted=wanted, threads=threads)
