"""Shares work among threads: the caller works too, and a free thread takes the next part.

The kernels run without Python's global lock, so threads are enough. Much of this work lasts milliseconds, and waking a
sleeping core can take as long. With the caller at work and many small parts, a thread that starts late costs little.
With equal shares, everybody would wait for it, and nothing would be gained.
"""

from __future__ import annotations

import os
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

from credimi.core import forks
from credimi.core.arguments import require_whole
from credimi.core.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Iterator
    from concurrent.futures import Future

    Part = TypeVar("Part")
    Result = TypeVar("Result")


def cores(threads: int | None = None) -> int:
    """How many threads to use: `threads` if it is given, or else the cores this process may run on."""
    if threads is not None:
        require_whole("threads", threads, 1)
        return threads
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    numba_threads = os.environ.get("NUMBA_NUM_THREADS", "")  # set by joblib for each of its workers
    return min(available, int(numba_threads)) if numba_threads.isdigit() and int(numba_threads) > 0 else available


def threads_of(n_jobs: int | None) -> int | None:
    """scikit-learn's n_jobs as a number of threads: -1 is all cores, -2 all but one; None is the default number."""
    if n_jobs is None:
        return None
    if not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool):
        raise CredimiError(f"n_jobs is {n_jobs!r}: it must be a whole number or None; -1 means all cores")
    return n_jobs if n_jobs > 0 else max(1, cores() + 1 + n_jobs)


def share(work: Callable[[Part], object], parts: Iterable[Part], threads: int | None = None) -> None:
    """Call `work` on every part, in any order, on several threads; the first error stops the work and is raised."""
    forks.check()
    waiting = deque(parts)
    errors: list[BaseException] = []

    def run() -> None:
        while waiting and not errors:
            try:
                part = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                work(part)
            except BaseException as error:  # noqa: BLE001  (raised again by the caller, below)
                errors.append(error)

    helpers = [Thread(target=run, daemon=True) for _ in range(min(cores(threads), len(waiting)) - 1)]
    for helper in helpers:
        helper.start()
    run()
    for helper in helpers:
        helper.join()
    if errors:
        raise errors[0]


def in_order(work: Callable[[Part], Result], items: Iterable[Part], threads: int) -> Generator[Result, None, None]:
    """The results of `work` for each item, in order; at most `threads` + 1 items are in progress at a time."""
    forks.check()
    futures: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for item in items:
                futures.append(pool.submit(work, item))
                del item
                if len(futures) > threads:
                    yield futures.popleft().result()
            while futures:
                yield futures.popleft().result()
        finally:
            for future in futures:
                future.cancel()


def ahead(items: Iterator[Part], limit: int = 1) -> Generator[Part, None, None]:
    """The same items, made in advance on another thread while earlier ones are in use; at most `limit` in advance."""
    forks.check()
    pool, end = ThreadPoolExecutor(1), object()
    made = deque(
        pool.submit(next, items, end) for _ in range(limit)
    )  # begins now, not with the first that is asked for

    def handed_on() -> Generator[Part, None, None]:
        try:
            while (item := made.popleft().result()) is not end:
                made.append(pool.submit(next, items, end))
                yield item  # type: ignore[misc]  # it is not the end
                del item  # now only the consumer holds it
        finally:
            pool.shutdown(cancel_futures=True)

    return handed_on()
