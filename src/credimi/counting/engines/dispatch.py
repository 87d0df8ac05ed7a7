"""Files by one engine or another: each gives the counts of the files it is done with, again and again until all are.

    files     this process: a file is read while the one before is counted
    duckdb    this process: DuckDB groups, and only groups come back (`sql`)
    dask      the workers of a Dask scheduler, a file a task
    spark     the executors of a Spark master, a file a task

Whoever asks adds the counts up, and may keep what is there so far. A cluster is a scheduler over files here, and its
workers have to see them under the same paths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.counting.engines import duckdb, files
from credimi.counting.engines.clusters import dask, spark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from credimi.counting.counts import Counts
    from credimi.counting.engines.data_file import DataFile
    from credimi.counting.request import CountRequest, Plan

    Tallies = Iterator[tuple[Sequence[DataFile], Counts]]


def tallies(given: Sequence[DataFile], plan: Plan, request: CountRequest) -> Tallies:
    """Some of the files and their counts, until all have come."""
    if request.engine == "spark":
        return spark.tallies(given, plan, request.progress, request.master)
    if request.engine == "dask":
        return dask.tallies(given, plan, request.progress, request.scheduler)
    if request.engine == "duckdb":
        return duckdb.tallies(given, plan, request.progress, request.threads)
    return files.tallies(given, plan, request.progress, request.threads)
