"""How the benchmarks measure."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def best_of(repeats: int, call: Callable[[], object], *, seconds: float = 0.5) -> float:
    """Shortest of a few runs, in seconds: the others were disturbed. Short runs are repeated for half a second.

    A single run that was asked for stays one.
    """
    times: list[float] = []
    while len(times) < repeats or (repeats > 1 and sum(times) < seconds):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
