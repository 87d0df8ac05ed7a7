"""Dask: workers count a DataFrame partition by partition, and files file by file.

Only counts are sent, as bytes in the format of counts files, and are merged as a tree. The current scheduler computes
a DataFrame; each partition is a pandas frame in the memory of a worker. Files are cheaper, as they do not become
frames: the workers, which have to see the same paths, read them as this process would. Each task uses one thread; the
scheduler runs as many tasks at a time as the workers have threads.

What fails while the rows of a partition are read or computed is raised by Dask as it is, without a word on where. Where
this process schedules the tasks, those that run when one fails are looked up: the partition is told, or the few that
ran side by side. With a client, the failed tasks say so themselves. If something else ran, too, nothing is told.
"""

from __future__ import annotations

from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from credimi.columns.python_objects import shown_name
from credimi.core.errors import CredimiError, NoMemoryError, lacks_memory, one_line
from credimi.core.optional import library
from credimi.counts.batch import counted_bytes
from credimi.counts.merge import as_planned, merged_bytes
from credimi.sources import files, frames

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from credimi.core.types import Foreign, Record
    from credimi.counts.batch import Batch
    from credimi.counts.counts import Counts
    from credimi.counts.request import Plan
    from credimi.sources.data_file import DataFile

_PARTS_PER_MERGE = 8


def reads(data: object) -> bool:
    """Whether this is a Dask DataFrame; checked without importing dask."""
    return type(data).__module__.split(".")[0] in ("dask", "dask_expr") and hasattr(data, "columns")


def names(data: Foreign) -> list[str]:
    """The columns' names; nothing is computed for them."""
    return [shown_name(name) for name in data.columns]


def holds_numbers(data: Foreign, name: str) -> bool:
    """Whether the type of a column is a number; nothing is computed."""
    kinds = {shown_name(column): kind for column, kind in data.dtypes.items()}
    return getattr(kinds.get(name), "kind", "O") in "iuf"


def count(data: Foreign, plan: Plan, progress: Callable[[float], None]) -> Counts:
    """The counts of a DataFrame."""
    parts, leaves = _tasks(data, plan.wanted, partial(counted_bytes, plan))
    root = _merge_tree(leaves, merged_bytes)
    client = getattr(library("dask.base", "dask").get_scheduler(), "__self__", None)
    if hasattr(client, "compute"):  # the scheduler in force is a client's
        with _missing_column_named(plan):
            return as_planned(_compute_on_cluster(client, leaves, root, progress), plan)

    def report(_key: object, _result: object, _graph: object, state: Record, _worker: object) -> None:
        done, left = len(state["finished"]), sum(len(state[kind]) for kind in ("ready", "waiting", "running"))
        progress(done / (done + left))

    watched = library("dask.callbacks", "dask").Callback(posttask=report)
    with watched, _partition_named(leaves, parts), _missing_column_named(plan):
        return as_planned(root.compute(), plan)


def _chosen(data: Foreign, wanted: Sequence[str]) -> Foreign:
    by_name = {shown_name(name): name for name in data.columns}
    return data[[by_name[name] for name in wanted]]


def _tasks(
    data: Foreign, wanted: Sequence[str], work: Callable[[Iterator[Batch]], object]
) -> tuple[list[Foreign], list[Foreign]]:
    """The partitions, and a delayed task for each: `work` on its wanted columns."""
    delayed = library("dask", "dask").delayed
    parts = [*_chosen(data, wanted).to_delayed()]
    return parts, [delayed(partial(_work_on, work, wanted))(part) for part in parts]


def _merge_tree(parts: list[Foreign], join: Callable[[Iterable[bytes]], bytes]) -> Foreign:
    """The root of the tree of tasks that joins the parts."""
    delayed = library("dask", "dask").delayed
    while len(parts) > 1:
        parts = [
            delayed(join)(parts[start : start + _PARTS_PER_MERGE]) for start in range(0, len(parts), _PARTS_PER_MERGE)
        ]
    return parts[0]


def with_constant(data: Foreign, name: str, others: Sequence[str]) -> Foreign:
    """These columns of the DataFrame, and one more column, which has one value."""
    return _chosen(data, others).map_partitions(_assign_constant, name)  # `assign` sorts names, text or not


def _assign_constant(frame: Foreign, name: str) -> Foreign:
    return frame.assign(**{name: "\x00"})


def reduce(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], bytes],
    join: Callable[[Iterable[bytes]], bytes],
) -> bytes:
    """The results of `work` on the wanted columns of each partition, joined as a tree."""
    parts, leaves = _tasks(data, wanted, work)
    with _partition_named(leaves, parts):
        content: bytes = _merge_tree(leaves, join).compute() if leaves else b""
    return content


def collect(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], Iterator[bytes]],
    take: Callable[[bytes], None],
    progress: Callable[[float], None],
) -> None:
    """Pass the results of `work` on the wanted columns of each partition to `take`, in the order of the partitions.

    Workers of a cluster keep their results until they are fetched. Without a cluster all is one graph, in which the
    results of a partition are passed on right after those of the one before. So few results are in memory, and work
    that partitions share is done once.
    """
    delayed, scheduler = library("dask", "dask").delayed, library("dask.base", "dask").get_scheduler()
    given, parts = _tasks(data, wanted, partial(_list_of_results, work))

    def hand_over(index: int, contents: list[bytes], _before: object = None) -> None:
        for content in contents:
            take(content)
        progress((index + 1) / len(parts))

    client: Foreign = getattr(scheduler, "__self__", None)
    if hasattr(client, "compute"):  # the scheduler in force is a client's
        for index, future in enumerate(client.compute(parts)):
            with _failed_named([future], index):
                contents = future.result()
            hand_over(index, contents)
            future.release()
        return
    last = None
    for index, part in enumerate(parts):
        last = delayed(hand_over)(index, part, last)
    if last is not None:  # in this process, as `take` works here
        is_synchronous = scheduler is library("dask.local", "dask").get_sync
        with _partition_named(parts, given):
            last.compute(scheduler="synchronous" if is_synchronous else "threads")


@contextmanager
def hold(
    data: Foreign,
    wanted: Sequence[str],
    work: Callable[[Iterator[Batch]], Iterator[bytes]],
    progress: Callable[[float], None],
) -> Iterator[Callable[..., bytes]]:
    """Keep the results of `work` where they are made until the context ends.

    What is handed out makes one result of them: a function of the results of each partition, and one that joins.
    """
    imported = library("dask", "dask")
    given, parts = _tasks(data, wanted, partial(_list_of_results, work))
    kept: list[Foreign] = []

    def reduced(ask: Callable[[Iterable[bytes]], bytes], join: Callable[[Iterable[bytes]], bytes]) -> bytes:
        answers = [imported.delayed(ask)(part) for part in kept]
        with _partition_named(answers, kept):
            content: bytes = _merge_tree(answers, join).compute() if answers else b""
        return content

    try:
        with _partition_named(parts, given):
            kept += imported.persist(*parts)
            futures = _futures_of(kept)
            with _failed_named(futures):
                for done, future in enumerate(futures, start=1):
                    library("distributed", "dask").wait(future)
                    if future.status == "error":
                        future.result()  # raises what failed
                    progress(done / len(futures))
        progress(1.0)
        yield reduced
    finally:
        for future in _futures_of(kept):
            future.release()
        kept.clear()


def _futures_of(kept: Sequence[Foreign]) -> list[Foreign]:
    """The futures of what a client keeps; none without a client."""
    client = getattr(library("dask.base", "dask").get_scheduler(), "__self__", None)
    return [*library("distributed", "dask").futures_of(kept)] if hasattr(client, "compute") else []


def _list_of_results(work: Callable[[Iterator[Batch]], Iterator[bytes]], batches: Iterator[Batch]) -> list[bytes]:
    return [*work(batches)]


def _work_on(work: Callable[[Iterator[Batch]], object], wanted: Sequence[str], frame: Foreign) -> object:
    return work(frames.batches(frame, wanted))


@contextmanager
def _missing_column_named(plan: Plan) -> Iterator[None]:
    """Raise an error that names the column if a partition lacks it: Dask and pandas raise a KeyError with its name."""
    try:
        yield
    except KeyError as error:
        lacks = next((name for name in plan.wanted if repr(name) in str(error)), None)
        if lacks is None:
            raise
        raise CredimiError(
            f"a partition of the Dask DataFrame lacks the column {lacks!r}, which its columns name: give all "
            "partitions the same columns (reindex), or leave it out (exclude)"
        ) from error


def _compute_on_cluster(
    client: Foreign, leaves: Sequence[Foreign], root: Foreign, progress: Callable[[float], None]
) -> bytes:
    """The result of the root, computed by a cluster; partitions that are done are reported and released."""
    *futures, last = client.compute([*leaves, root])
    completed = library("distributed", "dask").as_completed([*futures, last])
    for done, future in enumerate(completed, start=1):
        if future.status == "error":
            if future.key == last.key:  # the task whose fault it is has failed before, and comes next
                continue
            break
        if future.key == last.key:  # all is done
            break
        future.release()
        progress(done / len(futures))
    with _failed_named(futures):
        content: bytes = last.result()
    return content


def tallies(
    given: Sequence[DataFile], plan: Plan, progress: Callable[[float], None], scheduler: str | None = None
) -> Iterator[tuple[Sequence[DataFile], Counts]]:
    """Files and their counts as they are done; the workers of the scheduler at this address count them."""
    distributed = library("distributed", "dask")
    with _client(distributed, scheduler) as client:
        futures = client.map(
            partial(files.count_file, plan=plan), [str(file.place.absolute()) for file in given], pure=False
        )
        file_of = {future.key: file for future, file in zip(futures, given, strict=True)}
        for done, future in enumerate(distributed.as_completed(futures), start=1):
            yield [file_of[future.key]], as_planned(future.result(), plan)
            future.release()  # the workers need not keep it
            progress(done / len(given))


def _client(distributed: Foreign, scheduler: str | None) -> Foreign:
    """A client of this scheduler; without one, the active client, which stays open, or threads of this process."""
    if scheduler is None:
        try:
            return nullcontext(distributed.default_client())
        except ValueError:  # there is none
            return distributed.Client(processes=False, dashboard_address=None)
    try:
        return distributed.Client(scheduler, timeout=30)
    except (OSError, ValueError) as error:
        raise CredimiError(f"there is no Dask scheduler at {scheduler}: {error}") from error


# Which partition an error comes from


@contextmanager
def _partition_named(leaves: Sequence[Foreign], parts: Sequence[Foreign]) -> Iterator[None]:
    """Raise an error that names the partition; `leaves` are our tasks, `parts` the partitions that they get."""
    number_of = {task.key: number for tasks in (leaves, parts) for number, task in enumerate(tasks)}
    latest: list[Record] = []

    def note(_key: object, _graph: object, state: Record) -> None:
        latest[:] = [state]

    try:
        with library("dask.callbacks", "dask").Callback(pretask=note):
            yield
    except Exception as error:
        running = list(latest[0]["running"]) if latest else []
        numbers = sorted({number_of[key] for key in running if key in number_of})
        if not numbers or any(key not in number_of for key in running):
            raise
        raise _error_in(error, numbers) from error


@contextmanager
def _failed_named(futures: Sequence[Foreign], first: int = 0) -> Iterator[None]:
    """The same with the futures of a client, one for each partition from the first."""
    try:
        yield
    except Exception as error:
        numbers = [number for number, future in enumerate(futures, start=first) if future.status == "error"]
        if not numbers:
            raise
        raise _error_in(error, numbers[:1]) from error


def _error_in(error: Exception, numbers: Sequence[int]) -> CredimiError:
    names = ", ".join(map(str, numbers))
    where = f"partition {names}" if len(numbers) == 1 else f"one of the partitions {names}"
    if isinstance(error, CredimiError):
        return CredimiError(f"{where} of the Dask DataFrame: {error}")
    if lacks_memory(error):
        return NoMemoryError(f"for {where} of the Dask DataFrame", error)
    return CredimiError(
        f"{where} of the Dask DataFrame cannot be computed: {type(error).__name__}: {one_line(error)}; "
        f"data.partitions[{numbers[0]}].compute() shows it alone: repair its rows or its file, or leave it out"
    )
