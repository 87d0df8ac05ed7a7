"""`credimi warm-up`: compile all kernels now, so that every later command starts at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import options as shared
from credimi.cli import startup
from credimi.cli.terminal_io import say

if TYPE_CHECKING:
    import argparse

    from credimi.core.types import Foreign


def add(commands: Foreign) -> None:
    """Add the command to the parser."""
    shared.add_command(
        commands,
        "warm-up",
        run,
        summary="compile everything that is compiled on first use",
        description="Compile all kernels on all cores, so that no later command has to. A wheel with compiled kernels "
        "needs no warm-up.",
        epilog="",
    )


def run(_: argparse.Namespace) -> None:
    """Run the command."""
    from credimi.compile import jit, warm_up

    if jit.LIBRARY is not None:
        say(f"nothing to compile: all kernels are in {jit.LIBRARY.file}")
        return
    tasks = warm_up.tasks()
    say(f"compiling {len(tasks)} kernels on all cores: the first time this takes minutes")
    startup.compile_with_bar(tasks)
    say(f"{len(tasks)} kernels are ready")
