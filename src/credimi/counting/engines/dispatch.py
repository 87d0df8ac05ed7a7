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

from credimi.core.errors import CredimiError
from credimi.counting.engines import files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from credimi.counting.counts import Counts
    from credimi.counting.engines.data_file import DataFile
    from credimi.counting.request import Plan

    Progress = Callable[[float], None]
    Tallies = Iterator[tuple[Sequence[DataFile], Counts]]

ENGINES = ("files", "duckdb", "dask", "spark")


def check_engine(engine: str | None, master: str | None, scheduler: str | None) -> None:
    """Refuse an engine that is not there, and an address of another."""
    if engine is not None and engine not in ENGINES:
        raise CredimiError(f"engine is {engine!r}: choose one of {', '.join(ENGINES)}")
    if master is not None and engine != "spark":
        raise CredimiError("a master is where Spark runs: ask for the engine spark as well")
    if scheduler is not None and engine != "dask":
        raise CredimiError("a scheduler is where Dask runs: ask for the engine dask as well")


def tallies(
    given: Sequence[DataFile],
    plan: Plan,
    *,
    engine: str | None = None,
    threads: int | None = None,
    progress: Progress = lambda _: None,
    master: str | None = None,
    scheduler: str | None = None,
) -> Tallies:
    """Some of the files and their counts, until all have come."""
    check_engine(engine, master, scheduler)
    if engine == "spark":
        from credimi.counting.engines import spark  # noqa: PLC0415

        return spark.tallies(given, plan, progress, master)
    if engine == "dask":
        from credimi.counting.engines import dask  # noqa: PLC0415

        return dask.tallies(given, plan, progress, scheduler)
    if engine == "duckdb":
        from credimi.counting.engines import duckdb  # noqa: PLC0415

        return duckdb.tallies(given, plan, progress, threads)
    return files.tallies(given, plan, progress, threads)
