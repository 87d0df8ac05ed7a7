"""Which partition of a Dask DataFrame an error comes from.

What fails while the rows of a partition are read or computed is raised by Dask as it is, without a word on where. Where
this process schedules the tasks, those that run when one fails are looked up: the partition is told, or the few that
ran side by side. With a client, the failed tasks say so themselves. If something else ran, too, nothing is told.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from credimi.core.errors import CredimiError, NoMemoryError, lacks_memory, one_line
from credimi.core.optional import library

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from credimi.core.types import Foreign, Record


@contextmanager
def partition_named(leaves: Sequence[Foreign], parts: Sequence[Foreign]) -> Iterator[None]:
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
        raise _error(error, numbers) from error


@contextmanager
def failed_named(futures: Sequence[Foreign], first: int = 0) -> Iterator[None]:
    """The same with the futures of a client, one for each partition from the first."""
    try:
        yield
    except Exception as error:
        numbers = [number for number, future in enumerate(futures, start=first) if future.status == "error"]
        if not numbers:
            raise
        raise _error(error, numbers[:1]) from error


def _error(error: Exception, numbers: Sequence[int]) -> CredimiError:
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
