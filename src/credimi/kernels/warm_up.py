"""Compile kernels before they are needed, in several processes at once: Numba itself compiles one at a time.

Each process takes the next kernel as soon as it is done with one, and puts it into Numba's cache, where whoever needs
it finds it. What kernels have in common is compiled by the first that meets it, so those that take longest go first.
"""

from __future__ import annotations

import gc
import importlib
import os
import subprocess
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from credimi.kernels import jit
from credimi.kernels.signatures import FIRST_NEEDED, NEEDED_BY, NEEDED_FOR_MANY_CELLS, SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Task = tuple[str, str]  # a kernel's name and its types


def tasks(command: str | None = None, asked: str = "") -> list[Task]:
    """All kernels, or those that a command needs that asks for this one first; those of every ranking before others.

    Files are read before all else, so that a command that asks for another kernel first does not read many cells.
    """
    wanted = NEEDED_BY.get(command or "", ())
    if asked.startswith(NEEDED_FOR_MANY_CELLS):
        wanted += NEEDED_FOR_MANY_CELLS
    names = dict.fromkeys([*FIRST_NEEDED, *(name for name in SIGNATURES if command is None or name.startswith(wanted))])
    return [(name, types) for name in names for types in SIGNATURES[name][: None if command is None else 1]]


@cache
def is_compiled(*beginnings: str) -> bool:
    """Whether the kernels whose names begin so are compiled for all types: by a wheel, or earlier on this machine."""
    names = [name for name in SIGNATURES if name.startswith(beginnings)]
    return jit.LIBRARY is not None or all(
        kernel(name).is_compiled(types) for name in names for types in SIGNATURES[name]
    )


def compile_all(wanted: list[Task], processes: int, told: Callable[[int, int], None]) -> None:
    """Compile what is wanted and is not in the cache; `told` hears how many are done, and of how many."""
    if jit.LIBRARY is not None:
        return  # a wheel brought all of them compiled
    queue, done = deque(wanted), []

    def work(_: int) -> None:
        command = [sys.executable, "-m", "credimi.kernels.warm_up"]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        with subprocess.Popen(  # noqa: S603  (this module itself)
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # Ctrl-C reaches them too: their tracebacks would help nobody
            text=True,
        ) as process:
            assert process.stdin is not None  # noqa: S101  (for the type checker)
            assert process.stdout is not None  # noqa: S101  (for the type checker)
            while queue:
                process.stdin.write("\t".join(queue.popleft()) + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return  # it was killed: who needs the kernel compiles it
                done.append(1)
                told(len(done), len(wanted))

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(work, range(min(processes, len(wanted)))))


def kernel(name: str) -> Any:
    """The kernel of a name such as "moments.many_tables.classify"."""
    module, function = name.rsplit(".", 1)
    return getattr(importlib.import_module(f"credimi.kernels.{module}"), function)


def _serve(lines: Iterator[str]) -> None:
    """Compile one kernel a line, and answer when it is done."""
    gc.set_threshold(50_000, 20, 50)  # to look for garbage as often as usual takes a quarter of the time
    for line in lines:
        name, types = line.rstrip("\n").split("\t")
        kernel(name).prepare(types)
        print("done", flush=True)  # noqa: T201  (to the process that asked)


if __name__ == "__main__":
    _serve(iter(sys.stdin))
