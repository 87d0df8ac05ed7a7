"""Compile kernels before they are needed, in several processes at once: Numba itself compiles one at a time.

Each process takes the next kernel as soon as it has finished one, and stores it in Numba's cache, from which other
processes load it. What kernels have in common is compiled by the first that needs it, so those that take longest go
first.
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

from credimi.compile import jit
from credimi.compile.signatures import FIRST_NEEDED, NEEDED_BY, NEEDED_FOR_MANY_CELLS, SIGNATURES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Task = tuple[str, str]  # a kernel's name and its types


def tasks(command: str | None = None, first_kernel: str = "") -> list[Task]:
    """All kernels, or those that a command needs; the kernels of every ranking come first.

    `first_kernel` is the first kernel that the command called. Files are read before everything else, so that a command
    that calls another kernel first does not read many cells, and needs no kernels for that.
    """
    wanted = NEEDED_BY.get(command or "", ())
    if first_kernel.startswith(NEEDED_FOR_MANY_CELLS):
        wanted += NEEDED_FOR_MANY_CELLS
    names = dict.fromkeys([*FIRST_NEEDED, *(name for name in SIGNATURES if command is None or name.startswith(wanted))])
    return [(name, types) for name in names for types in SIGNATURES[name][: None if command is None else 1]]


@cache
def is_compiled(*beginnings: str) -> bool:
    """Whether all kernels with these beginnings of names are compiled for all types: in a wheel, or on this machine."""
    names = [name for name in SIGNATURES if name.startswith(beginnings)]
    return jit.LIBRARY is not None or all(
        kernel(name).is_compiled(types) for name in names for types in SIGNATURES[name]
    )


def compile_all(wanted: list[Task], processes: int, report_progress: Callable[[int, int], None]) -> None:
    """Compile the kernels that are not in the cache; call `report_progress` with how many are done, and of how many."""
    if jit.LIBRARY is not None:
        return  # a wheel brought all of them compiled
    queue, finished = deque(wanted), []

    def work(_: int) -> None:
        command = [sys.executable, "-m", "credimi.compile.warm_up"]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        with subprocess.Popen(  # noqa: S603  (this module itself)
            command,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,  # Ctrl-C reaches them too, and their tracebacks would not help
            text=True,
        ) as process:
            assert process.stdin is not None  # noqa: S101  (for the type checker)
            assert process.stdout is not None  # noqa: S101  (for the type checker)
            while queue:
                process.stdin.write("\t".join(queue.popleft()) + "\n")
                process.stdin.flush()
                if not process.stdout.readline():
                    return  # the process was killed: the kernel is compiled when it is needed
                finished.append(1)
                report_progress(len(finished), len(wanted))

    with ThreadPoolExecutor(processes) as pool:
        list(pool.map(work, range(min(processes, len(wanted)))))


def kernel(name: str) -> Any:
    """The kernel with a name such as "inference.moments.leading.leading_one_sided"."""
    module, function = name.rsplit(".", 1)
    return getattr(importlib.import_module(f"credimi.{module}"), function)


def _serve(lines: Iterator[str]) -> None:
    """Read the names of kernels, one a line; compile each, and answer when it is done."""
    gc.set_threshold(50_000, 20, 50)  # with the usual threshold, garbage collection takes a quarter of the time
    for line in lines:
        name, types = line.rstrip("\n").split("\t")
        kernel(name).prepare(types)
        print("done", flush=True)  # noqa: T201  (to the process that asked)


if __name__ == "__main__":
    _serve(iter(sys.stdin))
