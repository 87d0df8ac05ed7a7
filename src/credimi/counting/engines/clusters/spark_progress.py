"""How far a job of Spark is: the share of its tasks that are done, told while it runs.

A classic session is asked again and again, in a thread, for the jobs that carry a tag of ours; the group that the user
may have given to jobs stays as it is. Spark Connect tells by itself. Spark plans its jobs as it goes, so the share is
that of the tasks known so far, and is told only where it has grown.
"""

from __future__ import annotations

import threading
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from credimi.core.types import Foreign

_PAUSE = 0.5  # seconds between two questions


@contextmanager
def watched(session: Foreign, progress: Callable[[float], None]) -> Iterator[None]:
    """Tells the share of what this thread has Spark do meanwhile, below 1 until it is done."""
    share_done = _GrowingShare(progress)
    context = getattr(session, "sparkContext", None)  # Connect has none
    with _asked_again_and_again(context, share_done) if context is not None else _told_by_spark(session, share_done):
        yield


class _GrowingShare:
    """Reports the share of the tasks that are done, whenever it has grown."""

    def __init__(self, progress: Callable[[float], None]) -> None:
        self._progress = progress
        self._most = 0.0

    def tasks(self, stages: Iterable[tuple[int, int]]) -> None:
        """How many tasks each stage has done, and has."""
        known = list(stages)
        share = sum(done for done, _ in known) / max(sum(size for _, size in known), 1)
        if self._most < share < 1.0:
            self._most = share
            self._progress(share)


@contextmanager
def _asked_again_and_again(context: Foreign, share_done: _GrowingShare) -> Iterator[None]:
    tag = f"credimi-{uuid.uuid4().hex}"
    tracker = context.statusTracker()
    ended = threading.Event()

    def ask() -> None:
        by_tag = context._jsc.sc().statusTracker().getJobIdsForTag  # noqa: SLF001  (Python's own tracker knows no tags)
        while not ended.wait(_PAUSE):
            jobs = map(tracker.getJobInfo, by_tag(tag))
            numbers = {stage for job in jobs if job is not None for stage in job.stageIds}
            stages = [stage for stage in map(tracker.getStageInfo, numbers) if stage is not None]
            share_done.tasks((stage.numCompletedTasks, stage.numTasks) for stage in stages)

    def try_to_ask() -> None:
        with suppress(Exception):  # the session has ended, or has no such thing: nobody is told, and all is counted
            ask()

    context.addJobTag(tag)
    asking = threading.Thread(target=try_to_ask, daemon=True)
    asking.start()
    try:
        yield
    finally:
        ended.set()
        asking.join()
        context.removeJobTag(tag)


@contextmanager
def _told_by_spark(session: Foreign, share_done: _GrowingShare) -> Iterator[None]:
    def hear(stages: Iterable[Foreign] | None, *_: object, **__: object) -> None:
        share_done.tasks((stage.num_completed_tasks, stage.num_tasks) for stage in stages or ())

    session.registerProgressHandler(hear)
    try:
        yield
    finally:
        session.removeProgressHandler(hear)
