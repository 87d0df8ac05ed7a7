"""Spark: a DataFrame is counted partition by partition where its rows are; only counts come to the driver.

`mapInArrow` hands each partition to Python as Arrow batches, and gets one row back: the partition's counts, as bytes in
the format of their files. A second, small stage merges sixteen partitions' counts each, and the driver merges the
rest. Works on classic sessions and on Spark Connect alike, since nothing but DataFrames is used. The workers need
credimi installed.

Wide tables are counted `_BLOCK` columns at a time, a pass each: Spark generates code for at most 100 fields
(`spark.sql.codegen.maxFields`) and interprets wider rows. A source that stores columns apart, such as
Parquet, reads only those of the pass, and the target again.

Spark weighs a batch after every row of it, all columns again, a large part of what Java does here: the limit for it
(`spark.sql.execution.arrow.maxBytesPerBatch`, 64 MiB) is lifted meanwhile, unless the user has set
one. Batches end by their rows (`maxRecordsPerBatch`, 10,000).

Files are cheaper, as no row is converted for Spark at all: each task gets the number of one path, and reads the file
as this process would. They are scheduled in groups, the counts of which come back at once.

A refusal of ours comes back as a row, too: raised in a worker, Spark would try it four times, and wrap it.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from credimi.core.errors import CredimiError
from credimi.core.optional import library
from credimi.counting.batch import counted, counted_bytes
from credimi.counting.engines import files, frames
from credimi.counting.engines.clusters.spark_progress import watched
from credimi.counting.merge import as_planned, beside, merged_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from credimi.core.types import Foreign
    from credimi.counting.batch import Batch
    from credimi.counting.counts import Counts
    from credimi.counting.engines.data_file import DataFile
    from credimi.counting.request import Plan

_BLOCK = 95
_FAN = 16  # partitions whose counts are merged before they travel to the driver
_GROUP = 64  # files whose counts come back at once
_WEIGHT = "spark.sql.execution.arrow.maxBytesPerBatch"
_ROW = "part int, counts binary, refusal string"
_ARROW_ROW = pa.schema([("part", pa.int32()), ("counts", pa.binary()), ("refusal", pa.string())])


def reads(data: object) -> bool:
    """Whether this is a DataFrame of Spark, classic, Connect or pandas on Spark; found out without pyspark."""
    return type(data).__module__.startswith("pyspark.") and (
        hasattr(data, "mapInArrow") or (hasattr(data, "to_spark") and hasattr(data, "columns"))
    )


def names(data: Foreign) -> list[str]:
    """The columns' names; nothing is computed for them."""
    return [str(name) for name in data.columns]


def _frame(data: Foreign) -> Foreign:
    """A DataFrame of Spark; of pandas on Spark, the one that it is made of."""
    return data if hasattr(data, "mapInArrow") else data.to_spark()


def _chosen(frame: Foreign, wanted: Sequence[str]) -> Foreign:
    """The wanted columns, with plain names: `mapInArrow` takes dots for paths, and capitals are all one to Spark."""
    place = {str(name): f"c{index}" for index, name in enumerate(frame.columns)}
    return frame.toDF(*place.values()).select(*(place[name] for name in wanted))


def count(data: Foreign, plan: Plan, progress: Callable[[float], None]) -> Counts:
    """The counts of a DataFrame."""
    frame = _frame(data)
    plans = plan.blocks(_BLOCK)
    blocks: list[Counts] = []

    def report(share: float) -> None:
        progress((len(blocks) + share) / len(plans))

    for each in plans:
        with watched(frame.sparkSession, report):
            content = reduce(frame, each.wanted, partial(counted_bytes, each), merged_bytes)
        blocks.append(as_planned(content, each) if content else counted([], each))
        report(0.0)
    return beside(blocks, plan)


def with_constant(data: Foreign, name: str, _others: Sequence[str]) -> Foreign:
    """The DataFrame with one more column, of one value; columns that nobody asks for are not read anyway."""
    return _frame(data).withColumn(name, library("pyspark.sql.functions", "spark").lit("\x00"))


def reduce(
    data: Foreign, wanted: Sequence[str], work: Callable[[Iterator[Batch]], bytes], join: Callable[[list[bytes]], bytes]
) -> bytes:
    """What `work` makes of the wanted columns of each partition, joined as a tree."""
    frame = _frame(data)
    with _unweighed(frame.sparkSession):
        parts = _chosen(frame, wanted).mapInArrow(partial(_work_on_partition, work, list(wanted)), _ROW)
        rows = parts.repartition("part").mapInArrow(partial(_join_partitions, join), _ROW).collect()
    return join(_contents(rows))


def collect(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], Iterator[bytes]],
    take: Callable[[bytes], None],
    progress: Callable[[float], None],
) -> None:
    """Hand over what `work` makes of the wanted columns of each partition, in the order of the partitions.

    The workers are all at work first, and keep it on their disks; then it is fetched, a partition at a time. There is
    one pass for all columns, however many: rows need not come in the same order a second time.
    """
    frame = _frame(data)
    on_disk = library("pyspark", "spark").StorageLevel.DISK_ONLY
    with _unweighed(frame.sparkSession):
        parts = _chosen(frame, wanted).mapInArrow(partial(_stream_partition, work, list(wanted)), _ROW).persist(on_disk)
        try:
            with watched(frame.sparkSession, lambda share: progress(0.7 * share)):
                every = max(parts.count(), 1)
            for number, row in enumerate(parts.toLocalIterator(), start=1):
                take(*_contents([row]))
                progress(0.7 + 0.3 * number / every)
        finally:
            parts.unpersist()


@contextmanager
def _unweighed(session: Foreign) -> Iterator[None]:
    """Batches are not weighed while they are filled."""
    if session.conf.get(_WEIGHT, None) is not None:  # as the user wants it
        yield
        return
    session.conf.set(_WEIGHT, str(2**31 - 1))
    try:
        yield
    finally:
        session.conf.unset(_WEIGHT)


def tallies(
    given: Sequence[DataFile], plan: Plan, progress: Callable[[float], None], master: str | None = None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Files and their counts, a group at a time, counted by the session that is active, else by that of this master."""
    sessions = library("pyspark.sql", "spark").SparkSession
    builder = sessions.builder.appName("credimi")
    if master is not None:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark would start whatever python3 is on the path
    running = sessions.getActiveSession()
    session = running or builder.getOrCreate()
    try:
        for start in range(0, len(given), _GROUP):
            group = given[start : start + _GROUP]
            numbers = session.range(0, len(group), 1, len(group))  # one to a partition, so that each is a task
            names = [str(file.place.absolute()) for file in group]
            with watched(session, partial(_report_group, progress, start, len(group), len(given))):
                rows = numbers.mapInArrow(partial(_count_files, plan, names), _ROW).collect()
            yield group, as_planned(merged_bytes(_contents(rows)), plan)
            progress((start + len(group)) / len(given))
    finally:
        if running is None:
            session.stop()


def _report_group(progress: Callable[[float], None], start: int, size: int, paths: int, share: float) -> None:
    progress((start + share * size) / paths)


def _contents(rows: Sequence[Foreign]) -> list[bytes]:
    """What came back; a refusal is raised."""
    for row in rows:
        if row["refusal"] is not None:
            raise CredimiError(row["refusal"])
    return [bytes(row["counts"]) for row in rows]


# In the workers


def _work_on_partition(
    work: Callable[[Iterator[Batch]], bytes], wanted: list[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    from pyspark import TaskContext  # noqa: PLC0415  (a worker of Spark has it)

    context = TaskContext.get()
    part = context.partitionId() // _FAN if context is not None else 0
    named = (batch.rename_columns(wanted) for batch in batches)
    yield _answer(part, lambda: work(frames.gathered(named, wanted)))


def _stream_partition(
    work: Callable[[Iterator[Batch]], Iterator[bytes]], wanted: list[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    named = (batch.rename_columns(wanted) for batch in batches)
    try:
        for content in work(frames.gathered(named, wanted)):
            yield _row(0, content, None)
    except CredimiError as error:
        yield _row(0, None, str(error))


def _join_partitions(
    join: Callable[[list[bytes]], bytes], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    rows = [row for batch in batches for row in batch.to_pylist()]
    if rows:
        yield _answer(0, lambda: join(_contents(rows)))


def _count_files(plan: Plan, paths: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield _answer(number, partial(files.count_file, paths[number], plan))


def _answer(part: int, work: Callable[[], bytes]) -> pa.RecordBatch:
    try:
        return _row(part, work(), None)
    except CredimiError as error:
        return _row(part, None, str(error))


def _row(part: int, content: bytes | None, refusal: str | None) -> pa.RecordBatch:
    arrays = [pa.array([part], pa.int32()), pa.array([content], pa.binary()), pa.array([refusal], pa.string())]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW_ROW)
