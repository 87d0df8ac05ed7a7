"""Loading of modules: Numba, garbage collection, and the message that announces compiling."""

from __future__ import annotations

import gc
import importlib
from typing import TYPE_CHECKING

from credimi.cli.terminal_io import say
from credimi.kernels.jit_hooks import wishes

if TYPE_CHECKING:
    from collections.abc import Callable


def announce_compiling() -> None:
    """Tell the user, once, if kernels have to be compiled."""
    _look_for_garbage()
    wishes.before_numba = _load_numba
    wishes.compiling = _say_once("compiling for this machine; later runs start at once")


def _load_numba() -> None:
    """Load Numba with the garbage collector off: there is no garbage yet."""
    gc.disable()
    try:
        importlib.import_module("numba")
    finally:
        _look_for_garbage()


def _look_for_garbage() -> None:
    """Switch the garbage collector on, and exclude everything that has been loaded."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def _say_once(message: str) -> Callable[[], None]:
    said: list[str] = []

    def tell() -> None:
        if not said:
            said.append(message)
            say(message)

    return tell
