"""`interpreted_codes`: the rows of any data as codes: in memory, in a scratch file, or fetched from a cluster.

Data in memory, and files that fit into it, are read once. Otherwise there are two passes: one counts (see `row_coder`),
the next encodes each part, one byte per cell for columns of up to 255 values, two for others. If the caller names a
scratch folder, the codes are stored there (see `storage`).

Partitions of Spark and Dask are encoded by the workers, and only the codes are sent. They are stored on this machine,
in memory or in the scratch folder, and each step reads them here. The cluster is not needed any more. With weights, the
target is read once more before: the sum of the weights is not the number of rows.

Besides the codes, memory holds a few bytes per row: class and weight.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError
from credimi.counts.rows.row_coder import CodeStore, RowCoder
from credimi.counts.rows.storage import Storage
from credimi.counts.rows.stratified_counts import InterpretedCodes
from credimi.counts.weights import effective
from credimi.sources import files, frames
from credimi.sources.count import cluster_of, count_requested, files_and_columns, plan_of, source, with_target_cuts
from credimi.sources.data_file import predicted_memory
from credimi.sources.rows import coded_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from types import ModuleType

    from credimi.core.types import Data, Foreign
    from credimi.counts.batch import Batch
    from credimi.counts.counts import Counts
    from credimi.counts.request import CountRequest


def interpreted_codes(
    data: Data, request: CountRequest, scratch: str | Path | None = None
) -> tuple[InterpretedCodes, Counts]:
    """The codes of all rows, and the counts; with `scratch` the codes are in a file there, which vanishes with them."""
    storage, cluster = Storage.of(scratch), cluster_of(data)
    if cluster is not None:
        return _fetch_from_cluster(data, cluster, request, storage)
    if scratch is not None:
        return _read_twice(data, request, storage)
    if files.reads(data):
        data, wanted = files_and_columns(data, request)
        storage.require(predicted_memory(data, wanted), "the rows of the files")
    table = coded_table(data, request)
    return InterpretedCodes.of(table, request.threads), table.counts


def _read_twice(data: Data, request: CountRequest, storage: Storage) -> tuple[InterpretedCodes, Counts]:
    if frames.is_stream(data):
        raise CredimiError(
            f"a {type(data).__name__} is read once, and scratch codes need two passes: write it to a file"
        )
    report = request.progress
    request = with_target_cuts(data, replace(request, progress=lambda share: report(0.5 * share)))
    counts = effective(count_requested(data, request))
    plan, batches = source(data, replace(request, progress=lambda share: report(0.5 + 0.5 * share)))
    rows = counts.rows if plan.settings.weights is None else count_requested(data, _target_alone(request)).rows
    coder, left_out = RowCoder.of(plan, counts)
    store = CodeStore(coder, round(rows), storage)
    for part in coder.coded(batches, request.threads):
        store.put(part)
    return store.interpreted(left_out), counts


def _fetch_from_cluster(
    data: Foreign, cluster: ModuleType, request: CountRequest, storage: Storage
) -> tuple[InterpretedCodes, Counts]:
    report = request.progress
    request = with_target_cuts(data, replace(request, progress=lambda share: report(0.5 * share)))
    plan = plan_of(cluster.names(data), request)
    counts = effective(count_requested(data, request))
    rows = counts.rows if plan.settings.weights is None else count_requested(data, _target_alone(request)).rows
    coder, left_out = RowCoder.of(plan, counts)
    store = CodeStore(coder, round(rows), storage)
    if rows:
        cluster.collect(
            data, coder.plan.wanted, SendCodes(coder), store.put_packed, lambda share: report(0.5 + 0.5 * share)
        )
    report(1.0)
    return store.interpreted(left_out), counts


def _target_alone(request: CountRequest) -> CountRequest:
    """The request for the number of rows, whatever their weights."""
    settings = replace(request.settings, weights=None, weights_are=None, discretize="mdl")
    target_only = replace(request, features=(), exclude=None, named=False, settings=settings, weights=None)
    return replace(target_only, progress=lambda _share: None)


@dataclass(frozen=True, slots=True, eq=False)
class SendCodes:
    """What a worker does with a partition: its rows as codes, as bytes."""

    coder: RowCoder

    def __call__(self, batches: Iterable[Batch]) -> Iterator[bytes]:
        """The codes of these rows, in pieces."""
        for rows in self.coder.coded(batches, threads=1):
            yield from self.coder.packed(rows)
