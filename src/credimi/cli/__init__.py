"""The command line: reads, formats, and knows no mathematics.

Exit codes: 0 done, 2 the input was refused, 3 `select` kept nothing, 1 a bug, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        from credimi.cli.parser import run

        return run(arguments)
    except KeyboardInterrupt:
        print("credimi: interrupted", file=sys.stderr)
        return 130


def command() -> NoReturn:
    """The program `credimi`: ends at once, as taking all modules apart would cost a fifth of a second.

    For the same reason no garbage is looked for while modules load: there is none. Nor do matrices get threads, which
    would turn round in wait for work while a file is read: those of ours are small.

    pyarrow's own choice of a memory pool keeps much of what its threads have freed, and the more the longer they read.
    A library leaves that choice to its user; this process is ours, and pyarrow has not been loaded yet.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform == "linux":  # where pyarrow comes with jemalloc
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError, ValueError):  # closed, or nobody reads any more
            stream.flush()
    os._exit(code)
