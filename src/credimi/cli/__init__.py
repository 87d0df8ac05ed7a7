"""The command line: reads, formats, and knows no mathematics.

Exit codes: 0 done, 2 the input was refused, 1 a bug, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from credimi.cli import count, prequential, rank, reproduce, select, table
from credimi.errors import CredimiError

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options = _parser().parse_args(arguments)
    try:
        with warnings.catch_warnings():  # which puts `showwarning` back
            warnings.showwarning = _show_warning
            options.run(options)
    except CredimiError as error:
        print("credimi:", str(error).replace("\n", " "), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("credimi: interrupted", file=sys.stderr)
        return 130
    return 0


def command() -> NoReturn:
    """The program `credimi`: ends at once, as taking all modules apart would cost a fifth of a second.

    pyarrow's own choice of a memory pool keeps much of what its threads have freed, and the more the longer they read.
    A library leaves that choice to its user; this process is ours, and pyarrow has not been loaded yet.
    """
    if sys.platform == "linux":  # where pyarrow comes with jemalloc
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "jemalloc")
    code = main()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, AttributeError, ValueError):  # closed, or nobody reads any more
            stream.flush()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="credimi",
        description="Which columns of an incomplete table inform about a target, how much, and how sure one may be.",
    )
    parser.add_argument("--version", action="version", version=f"credimi {_version()}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in (rank, select, count, table, prequential, reproduce):
        command.add(commands)
    return parser


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Say it as the command says everything, without a place in the program."""
    print("credimi: warning:", message, file=sys.stderr)


def _version() -> str:
    from credimi import __version__  # noqa: PLC0415

    return __version__
