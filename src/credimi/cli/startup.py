"""What happens while modules load: Numba, garbage collection, and what the user is told of it."""

from __future__ import annotations

import gc
import importlib
from contextlib import suppress
from threading import Thread
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


def load_meanwhile(module: str) -> None:
    """Load on another thread what is needed once the data are counted: while these are read, Python has time."""

    def load() -> None:
        with suppress(Exception):  # whoever needs it will load it again, and be told
            importlib.import_module(module)

    Thread(target=load, daemon=True).start()


def _load_numba() -> None:
    """Load Numba without looking for garbage in between: there is none."""
    gc.disable()
    try:
        importlib.import_module("numba")
    finally:
        _look_for_garbage()


def _look_for_garbage() -> None:
    """From now on: what has been loaded is none."""
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
