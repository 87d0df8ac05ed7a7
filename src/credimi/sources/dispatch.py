"""Chooses the engine that counts files. It yields the files that are done, and their counts, until all are done.

    files     this process: a file is read while the one before is counted
    duckdb    this process: DuckDB groups the rows, and only the groups come back
    dask      the workers of a Dask scheduler, a file a task
    spark     the executors of a Spark master, a file a task

The caller adds the counts up, and may save the sum so far. The workers of a cluster have to see the files under the
same paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.sources import duckdb, files
from credimi.sources.clusters import dask, spark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from credimi.counts.counts import Counts
    from credimi.counts.request import CountRequest, Plan
    from credimi.sources.data_file import DataFile

    Tallies = Iterator[tuple[Sequence[DataFile], Counts]]


def tallies(given: Sequence[DataFile], plan: Plan, request: CountRequest) -> Tallies:
    """Files that are done and their counts, some at a time, until all files are done."""
    if request.engine == "spark":
        return spark.tallies(given, plan, request.progress, request.master)
    if request.engine == "dask":
        return dask.tallies(given, plan, request.progress, request.scheduler)
    if request.engine == "duckdb":
        return duckdb.tallies(given, plan, request.progress, request.threads)
    return files.tallies(given, plan, request.progress, request.threads)
