"""Spark: workers count a DataFrame partition by partition; only counts are sent to the driver.

`mapInArrow` passes each partition to Python as Arrow batches, and gets one row back: the counts of the partition, as
bytes in the format of counts files. Workers merge them, too, in `_ROUNDS` rounds: sixteen partitions at a time, sixteen
of these sums at a time, and then all that is left. So the driver gets one row, whatever the number of partitions. The
number of rounds is fixed, and all are stages of one job, because Spark does not say how many partitions there will be.
This works on classic sessions and on Spark Connect, since only DataFrames are used. The workers need credimi installed.

Wide tables are counted in several passes, `_COLUMNS_PER_PASS` columns each: Spark generates code for at most 100 fields
(`spark.sql.codegen.maxFields`) and interprets wider rows. A source that stores columns apart, such as Parquet, reads
only those of the pass, and the target again.

Spark computes the size of a batch after every row, for all columns again, which is a large part of the work in Java. So
the limit of this size (`spark.sql.execution.arrow.maxBytesPerBatch`, 64 MiB) is lifted meanwhile, unless the user has
set one. The number of rows of a batch is limited anyway (`maxRecordsPerBatch`, 10,000).

Files are cheaper, as no row is converted for Spark: each task gets the number of one path, and reads the file as this
process would. Files are scheduled in groups; the counts of a group come back merged.

An error of credimi comes back as a row, too: if it were raised in a worker, Spark would try four times, and wrap it.
What Spark itself cannot do, such as to read a damaged file, it says at length; see `spark_errors`.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

import pyarrow as pa

from credimi.core.errors import CredimiError
from credimi.core.optional import library
from credimi.counts.batch import counted, counted_bytes
from credimi.counts.merge import as_planned, beside, merged_bytes
from credimi.sources import files, frames
from credimi.sources.clusters.spark_errors import told
from credimi.sources.clusters.spark_progress import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from credimi.core.types import Foreign, Record
    from credimi.counts.batch import Batch
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan
    from credimi.sources.data_file import DataFile

_COLUMNS_PER_PASS = 95
_PARTS_PER_MERGE = 16
_ROUNDS = (("part",), (_PARTS_PER_MERGE, "part"), (1,))  # of merging: as many partitions as Spark likes, some, one
_FILES_PER_GROUP = 64
_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")
_MAX_BATCH_BYTES_OPTION = "spark.sql.execution.arrow.maxBytesPerBatch"
_ROW_SCHEMA = "part int, counts binary, refusal string"
_ARROW_ROW_SCHEMA = pa.schema([("part", pa.int32()), ("counts", pa.binary()), ("refusal", pa.string())])


def reads(data: object) -> bool:
    """Whether this is a DataFrame of Spark: classic, Connect or pandas on Spark; checked without importing pyspark."""
    return type(data).__module__.startswith("pyspark.") and (
        hasattr(data, "mapInArrow") or (hasattr(data, "to_spark") and hasattr(data, "columns"))
    )


def names(data: Foreign) -> list[str]:
    """The columns' names; nothing is computed for them, but Connect looks for the files now."""
    with told():
        return [str(name) for name in data.columns]


def holds_numbers(data: Foreign, name: str) -> bool:
    """Whether the type of a column is a number; nothing is computed."""
    kinds = dict(_frame(data).dtypes)
    return str(kinds.get(name, "")).startswith(_NUMBERS)


def _frame(data: Foreign) -> Foreign:
    """The DataFrame of Spark; for pandas on Spark, the one that it is made of."""
    return data if hasattr(data, "mapInArrow") else data.to_spark()


def _chosen(frame: Foreign, wanted: Sequence[str]) -> Foreign:
    """The wanted columns, with plain names: `mapInArrow` reads dots as paths, and Spark ignores capitals."""
    plain_name = {str(name): f"c{index}" for index, name in enumerate(frame.columns)}
    return frame.toDF(*plain_name.values()).select(*(plain_name[name] for name in wanted))


def count(data: Foreign, plan: Plan, progress: Callable[[float], None]) -> Counts:
    """The counts of a DataFrame."""
    frame = _frame(data)
    plans = plan.blocks(_COLUMNS_PER_PASS)
    blocks: list[Counts] = []

    def report(share: float) -> None:
        progress((len(blocks) + share) / len(plans))

    for block_plan in plans:
        with watched(frame.sparkSession, report):
            content = reduce(frame, block_plan.wanted, partial(counted_bytes, block_plan), merged_bytes)
        blocks.append(as_planned(content, block_plan) if content else counted([], block_plan))
        report(0.0)
    return beside(blocks, plan)


def with_constant(data: Foreign, name: str, _others: Sequence[str]) -> Foreign:
    """The DataFrame with one more column, which has one value; columns that are not wanted are not read anyway."""
    return _frame(data).withColumn(name, library("pyspark.sql.functions", "spark").lit("\x00"))


def reduce(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], bytes],
    join: Callable[[Iterable[bytes]], bytes],
) -> bytes:
    """The results of `work` on the wanted columns of each partition, joined as a tree."""
    frame = _frame(data)
    with told(), _without_batch_size_checks(frame.sparkSession):
        parts = _chosen(frame, wanted).mapInArrow(partial(_work_on_partition, work, list(wanted)), _ROW_SCHEMA)
        return _joined(parts, join)


def _joined(
    parts: Foreign,
    join: Callable[[Iterable[bytes]], bytes],
    rounds: Sequence[tuple[int | str, ...]] = _ROUNDS,
) -> bytes:
    """The results in these rows, joined by workers in rounds until one is left; nothing if there are none."""
    merge = partial(_join_parts, join)
    for partitions in rounds:
        parts = parts.repartition(*partitions).mapInArrow(merge, _ROW_SCHEMA)
    return b"".join(map(_content, parts.collect()))


def collect(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], Iterator[bytes]],
    take: Callable[[bytes], None],
    progress: Callable[[float], None],
) -> None:
    """Pass the results of `work` on the wanted columns of each partition to `take`, in the order of the partitions.

    First all workers compute their results and keep them; then they are fetched, one partition at a time. There is one
    pass for all columns, however many: in a second pass, the rows might have another order.
    """
    with _kept(data, wanted, work, lambda share: progress(0.7 * share)) as parts:
        with told():
            row_count = max(parts.count(), 1)
        for number, row in enumerate(_each_told(parts.toLocalIterator()), start=1):
            take(_content(row))
            progress(0.7 + 0.3 * number / row_count)


@contextmanager
def hold(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], Iterator[bytes]],
    progress: Callable[[float], None],
) -> Iterator[Callable[..., bytes]]:
    """Keep the results of `work` where they are made until the context ends.

    What is handed out makes one result of them: by a function of the results of each partition, and one that joins.
    """
    with _kept(data, wanted, work, progress) as kept:
        partitions = _PARTS_PER_MERGE**2
        with suppress(Exception):  # Connect does not say
            partitions = kept.rdd.getNumPartitions()
        rounds = _ROUNDS if partitions > _PARTS_PER_MERGE else _ROUNDS[-1:]

        def reduced(ask: Callable[[Iterable[bytes]], bytes], join: Callable[[Iterable[bytes]], bytes]) -> bytes:
            with told():
                return _joined(kept.mapInArrow(partial(_ask_partition, ask), _ROW_SCHEMA), join, rounds)

        yield reduced


@contextmanager
def _kept(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], Iterator[bytes]],
    progress: Callable[[float], None],
) -> Iterator[Foreign]:
    """The results of `work`, which workers keep in memory or on their disks until the context ends.

    Afterwards Spark's check of the size of batches is needed: ten thousand results would be one batch.
    """
    frame = _frame(data)
    level = library("pyspark", "spark").StorageLevel.MEMORY_AND_DISK
    kept = _chosen(frame, wanted).mapInArrow(partial(_stream_partition, work, list(wanted)), _ROW_SCHEMA).persist(level)
    try:
        with told(), _without_batch_size_checks(frame.sparkSession), watched(frame.sparkSession, progress):
            kept.count()
        yield kept
    finally:
        with suppress(Exception):  # the session may have ended
            kept.unpersist()


def _each_told(rows: Iterable[Foreign]) -> Iterator[Foreign]:
    """The same rows; what Spark raises for one of them becomes an error of ours, what the caller raises does not."""
    remaining = iter(rows)
    while True:
        with told():
            row = next(remaining, None)
        if row is None:
            return
        yield row


@contextmanager
def _without_batch_size_checks(session: Foreign) -> Iterator[None]:
    """Spark does not compute the size of batches while they are filled."""
    if session.conf.get(_MAX_BATCH_BYTES_OPTION, None) is not None:  # the user has set it
        yield
        return
    session.conf.set(_MAX_BATCH_BYTES_OPTION, str(2**31 - 1))
    try:
        yield
    finally:
        session.conf.unset(_MAX_BATCH_BYTES_OPTION)


def tallies(
    given: Sequence[DataFile], plan: Plan, progress: Callable[[float], None], master: str | None = None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Files and their counts, one group at a time, counted by the active session, or else by one of this master."""
    sessions = library("pyspark.sql", "spark").SparkSession
    builder = sessions.builder.appName("credimi")
    if master is not None:
        builder = builder.remote(master) if master.startswith("sc://") else builder.master(master)
    if master is None or master.startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Spark would start whatever python3 is on the path
    with told():
        running = sessions.getActiveSession()
        session = running or builder.getOrCreate()
    try:
        for start in range(0, len(given), _FILES_PER_GROUP):
            group = given[start : start + _FILES_PER_GROUP]
            numbers = session.range(0, len(group), 1, len(group))  # one per partition, so that each is a task
            names = [str(file.place.absolute()) for file in group]
            with told(), watched(session, partial(_report_group, progress, start, len(group), len(given))):
                content = _joined(numbers.mapInArrow(partial(_count_files, plan, names), _ROW_SCHEMA), merged_bytes)
            yield group, as_planned(content, plan)
            progress((start + len(group)) / len(given))
    finally:
        if running is None:
            session.stop()


def _report_group(progress: Callable[[float], None], start: int, size: int, paths: int, share: float) -> None:
    progress((start + share * size) / paths)


def _content(row: Foreign) -> bytes:
    """The result in a row; if it is an error, it is raised."""
    if row["refusal"] is not None:
        raise CredimiError(row["refusal"])
    return bytes(row["counts"])


# In the workers


def _work_on_partition(
    work: Callable[[Iterator[Batch]], bytes], wanted: list[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    named = (batch.rename_columns(wanted) for batch in batches)
    yield _answer(_group_of_partition(), lambda: work(frames.gathered(named, wanted)))


def _ask_partition(
    ask: Callable[[Iterable[bytes]], bytes], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    yield _answer(_group_of_partition(), lambda: ask(_content(row) for batch in batches for row in _rows_of(batch)))


def _group_of_partition() -> int:
    """The number of the partitions whose results are merged first."""
    from pyspark import TaskContext  # noqa: PLC0415  (a worker of Spark has it)

    context = TaskContext.get()
    return context.partitionId() // _PARTS_PER_MERGE if context is not None else 0


def _stream_partition(
    work: Callable[[Iterator[Batch]], Iterator[bytes]], wanted: list[str], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    named = (batch.rename_columns(wanted) for batch in batches)
    try:
        for content in work(frames.gathered(named, wanted)):
            yield _row(0, content, None)
    except CredimiError as error:
        yield _row(0, None, str(error))


def _join_parts(
    join: Callable[[Iterable[bytes]], bytes], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Join what has come here, one result after the other; a single one passes as it is."""
    rows = (row for batch in batches for row in _rows_of(batch))
    first, second = next(rows, None), next(rows, None)
    if first is None:
        return
    part = first["part"] // _PARTS_PER_MERGE
    several = () if second is None else (first, second)
    yield _answer(part, lambda: join(map(_content, chain(several, rows))) if several else _content(first))


def _rows_of(batch: pa.RecordBatch) -> Iterator[Record]:
    """The rows, each in memory for itself."""
    return (row for number in range(batch.num_rows) for row in batch.slice(number, 1).to_pylist())


def _count_files(plan: Plan, paths: Sequence[str], batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield _answer(number // _PARTS_PER_MERGE, partial(files.count_file, paths[number], plan))


def _answer(part: int, work: Callable[[], bytes]) -> pa.RecordBatch:
    try:
        return _row(part, work(), None)
    except CredimiError as error:
        return _row(part, None, str(error))


def _row(part: int, content: bytes | None, refusal: str | None) -> pa.RecordBatch:
    arrays = [pa.array([part], pa.int32()), pa.array([content], pa.binary()), pa.array([refusal], pa.string())]
    return pa.RecordBatch.from_arrays(arrays, schema=_ARROW_ROW_SCHEMA)
