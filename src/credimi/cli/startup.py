"""Loading of modules: Numba, garbage collection, and the message that announces compiling."""

from __future__ import annotations

import gc
import importlib
import threading
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING

from credimi.cli.terminal_io import progress, say
from credimi.compile.hooks import hooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def announce_compiling(command: str) -> None:
    """If a kernel has to be compiled, compile all that the command needs, on all cores, and show the progress."""
    _enable_garbage_collector()
    hooks.while_numba_loads = _without_garbage_collector
    hooks.compiling = _once(partial(_compile_for_command, command))


def load_meanwhile(module: str) -> None:
    """Load a module on another thread while the data are read; it is needed after counting."""

    def load() -> None:
        with suppress(Exception):  # the later import will raise it again
            importlib.import_module(module)

    threading.Thread(target=load, daemon=True).start()


@contextmanager
def _without_garbage_collector() -> Iterator[None]:
    """Switch the garbage collector off while modules load: there is no garbage yet."""
    gc.disable()
    try:
        yield
    finally:
        _enable_garbage_collector()


def _enable_garbage_collector() -> None:
    """Switch the garbage collector on, and exclude everything that has been loaded."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _compile_for_command(command: str, kernel: str) -> None:
    """Compile all kernels that the command needs; `kernel` is the one that was called first."""
    from credimi.compile import warm_up

    say(
        f"compiling what `{command}` needs and no command needed before: once on this machine; "
        "`credimi warm-up` compiles everything"
    )
    compile_with_bar(warm_up.tasks(command, kernel))


def compile_with_bar(tasks: list[tuple[str, str]]) -> None:
    """Compile these kernels on all cores."""
    from credimi.compile import warm_up
    from credimi.core.threads import cores

    with progress("compiling") as report:
        warm_up.compile_all(tasks, cores(), lambda done, total: report(done / total))


def _once(action: Callable[[str], None]) -> Callable[[str], None]:
    """A function that runs the action for its first caller; other callers wait until it is done."""
    lock = threading.Lock()
    started: list[bool] = []

    def act(kernel: str) -> None:
        with lock:
            if not started:
                started.append(True)
                action(kernel)

    return act
