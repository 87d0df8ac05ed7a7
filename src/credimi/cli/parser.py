"""All commands under one parser; errors are reported in one line."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from credimi.cli import standard_input
from credimi.cli.commands import (
    compare,
    count,
    interactions,
    network,
    pairs,
    prequential,
    rank,
    reproduce,
    select,
    table,
    tree,
    warm_up,
)
from credimi.cli.options import Parser
from credimi.cli.terminal_io import say
from credimi.compile.hooks import NoKernelsError
from credimi.core.errors import CredimiError, NoMemoryError, NoRowsError
from credimi.core.remote_files import source_of
from credimi.core.version import __version__

if TYPE_CHECKING:
    from collections.abc import Sequence


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    options, unknown = _parser().parse_known_args(arguments)
    if unknown:  # `parse_args` would report it with the main parser, whose help does not list the command's options
        options.refuse(unknown)
    try:
        with warnings.catch_warnings():  # restores `showwarning`
            warnings.showwarning = _show_warning
            with standard_input.temporary_copy(options):
                code: int | None = options.run(options)
    except NoRowsError as error:
        say(": ".join(filter(None, [source_of(getattr(options, "data", None)), str(error)])))
        return 2
    except MemoryError as error:
        say(str(NoMemoryError("for this command", error)))
        return 2
    except (CredimiError, NoKernelsError) as error:
        say(str(error))
        return 2
    return code or 0


def _parser() -> Parser:
    parser = Parser(
        prog="credimi",
        description="Which columns of an incomplete table inform about a target, how much, and how sure one can be.",
    )
    parser.add_argument("--version", action="version", version=f"credimi {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    analyses = (rank, compare, select, interactions, pairs, network, tree)
    for command in (*analyses, count, table, prequential, reproduce, warm_up):
        command.add(commands)
    return parser


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    """Print a warning like the command's other messages, without its location in the code."""
    say(f"warning: {message}")
