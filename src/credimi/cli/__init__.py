"""The command line: it reads options and prints results; the mathematics is elsewhere.

Exit codes: 0 done, 2 the input was refused, 3 `select` kept nothing, 1 a bug, 130 interrupted, 143 ended by SIGTERM.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Terminated(BaseException):
    """SIGTERM: temporary files are deleted on the way out, as after an error."""


def _terminate(*_: object) -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a second one would end the cleaning
    raise _Terminated


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    try:
        from credimi.cli.runner import run

        return run(arguments)
    except KeyboardInterrupt:
        print("credimi: interrupted", file=sys.stderr)
        return 130
    except _Terminated:
        print("credimi: terminated", file=sys.stderr)
        return 143


def command() -> NoReturn:
    """The program `credimi`. It exits at once, because an orderly exit of the interpreter costs a fifth of a second.

    For the same reason the garbage collector is off while modules load: there is no garbage. Matrix libraries get no
    threads: our matrices are small, and idle threads would spin while a file is read.

    pyarrow's default memory pool keeps much of the memory that its threads have freed, more and more the longer they
    read. A library leaves that choice to its user. This process is ours, and pyarrow has not been loaded yet.
    """
    gc.disable()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.platform == "linux":  # where pyarrow comes with jemalloc
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
    signal.signal(signal.SIGTERM, _terminate)
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError, ValueError):  # closed, or the reader has gone
            stream.flush()
    os._exit(code)
