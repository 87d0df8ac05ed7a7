"""What share of Spark's work is done.

While a job runs, a thread polls a classic session for the jobs that have a tag of ours; the group that the user may
have given to jobs stays as it is. Spark Connect reports by itself. Spark plans its jobs as it goes, so the share is
that of the tasks that are known so far, and is reported only if it has grown.
"""

from __future__ import annotations

import threading
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from credimi.core.types import Foreign

_SECONDS_BETWEEN_QUERIES = 0.5


@contextmanager
def watched(session: Foreign, progress: Callable[[float], None]) -> Iterator[None]:
    """Report the progress of what Spark does for this thread meanwhile; the share stays below 1."""
    share_done = _GrowingShare(progress)
    context = getattr(session, "sparkContext", None)  # Connect has none
    with _polled(context, share_done) if context is not None else _reported_by_spark(session, share_done):
        yield


class _GrowingShare:
    """Reports the share of the tasks that are done, whenever it has grown."""

    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self._largest = 0.0

    def tasks(self, stages: Iterable[tuple[int, int]]) -> None:
        """Report the share of tasks that are done; `stages` has done and all tasks of each stage."""
        known = list(stages)
        share = sum(done for done, _ in known) / max(sum(size for _, size in known), 1)
        if self._largest < share < 1.0:
            self._largest = share
            self._progress(share)


@contextmanager
def _polled(context: Foreign, share_done: _GrowingShare) -> Iterator[None]:
    tag = f"credimi-{uuid.uuid4().hex}"
    tracker = context.statusTracker()
    ended = threading.Event()

    def poll() -> None:
        by_tag = context._jsc.sc().statusTracker().getJobIdsForTag  # noqa: SLF001  (Python's own tracker knows no tags)
        while not ended.wait(_SECONDS_BETWEEN_QUERIES):
            jobs = map(tracker.getJobInfo, by_tag(tag))
            numbers = {stage for job in jobs if job is not None for stage in job.stageIds}
            stages = [stage for stage in map(tracker.getStageInfo, numbers) if stage is not None]
            share_done.tasks((stage.numCompletedTasks, stage.numTasks) for stage in stages)

    def try_to_poll() -> None:
        with suppress(Exception):  # the session has ended, or has no tracker: nothing is reported, and all is counted
            poll()

    context.addJobTag(tag)
    polling = threading.Thread(target=try_to_poll, daemon=True)
    polling.start()
    try:
        yield
    finally:
        ended.set()
        polling.join()
        context.removeJobTag(tag)


@contextmanager
def _reported_by_spark(session: Foreign, share_done: _GrowingShare) -> Iterator[None]:
    def report(stages: Iterable[Foreign] | None, *_: object, **__: object) -> None:
        share_done.tasks((stage.num_completed_tasks, stage.num_tasks) for stage in stages or ())

    session.registerProgressHandler(report)
    try:
        yield
    finally:
        session.removeProgressHandler(report)
