"""Shares work among threads: the caller works too, and whoever is free takes the next part.

The kernels run without Python's global lock, so threads are enough. Much of this work lasts milliseconds, which is
what waking a sleeping core can take: with the caller at work and many small parts, a thread that comes late costs
little, where an equal share waiting for it would cost everything gained.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from queue import Empty, Queue
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Part = TypeVar("Part")


def cores(threads: int | None = None) -> int:
    """How many threads to use: those asked for, else the cores this process may run on."""
    if threads is not None:
        return max(1, threads)
    there = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    left = os.environ.get("NUMBA_NUM_THREADS", "")  # by joblib to each of its workers
    return min(there, int(left)) if left.isdigit() and int(left) > 0 else there


def threads_of(n_jobs: int | None) -> int | None:
    """scikit-learn's n_jobs as a number of threads: -1 is all cores, -2 all but one; None is as many as there are."""
    if n_jobs is None:
        return None
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


def share(work: Callable[[Part], object], parts: Iterable[Part], threads: int | None = None) -> None:
    """Call `work` on every part, in any order, on several threads; the first error ends it and is raised."""
    waiting = deque(parts)
    errors: list[BaseException] = []

    def labour() -> None:
        while waiting and not errors:
            try:
                part = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                work(part)
            except BaseException as error:  # noqa: BLE001  (raised again by the caller, below)
                errors.append(error)

    helpers = [Thread(target=labour, daemon=True) for _ in range(min(cores(threads), len(waiting)) - 1)]
    for helper in helpers:
        helper.start()
    labour()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


def ahead(items: Iterator[Part]) -> Iterator[Part]:
    """The same items, each made on another thread while the one before is in use; never two in advance."""
    made: Queue[tuple[Part, None] | tuple[None, BaseException] | None] = Queue(maxsize=1)
    wanted = True

    def make() -> None:
        try:
            for item in items:
                made.put((item, None))
                del item  # it belongs to the other side now
                made.join()
                if not wanted:
                    return
        except BaseException as error:  # noqa: BLE001  (raised again by the caller, below)
            made.put((None, error))
        else:
            made.put(None)

    maker = Thread(target=make, daemon=True)
    maker.start()
    try:
        while (entry := made.get()) is not None:
            made.task_done()
            item, error = entry
            if error is not None:
                raise error
            yield item  # type: ignore[misc]  # an item, as there is no error
    finally:
        wanted = False
        while maker.is_alive():  # whoever waits to hand over an item that nobody wants any more
            with suppress(Empty):
                made.get(timeout=0.01)
                made.task_done()
