"""Compile all kernels on all cores, so that no later command has to.

A wheel with compiled kernels needs no warm-up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from credimi.cli import startup
from credimi.core.command import Command

if TYPE_CHECKING:
    from credimi.core.command import Asked


def _answer(asked: Asked) -> None:
    """Compile what is not compiled."""
    from credimi.compile import jit, warm_up

    if jit.LIBRARY is not None:
        asked.say(f"nothing to compile: all kernels are in {jit.LIBRARY.file}")
        return
    tasks = warm_up.tasks()
    asked.say(f"compiling {len(tasks)} kernels on all cores: the first time this takes minutes")
    startup.compile_with_bar(tasks)
    asked.say(f"{len(tasks)} kernels are ready")


COMMAND = Command(
    name="warm-up",
    text=__doc__,
    summary="compile everything that is compiled on first use",
    data="",
    target=False,
    formats=(),
    output="",
    answer=_answer,
)
