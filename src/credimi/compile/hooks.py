"""Hooks: what surrounds the loading of Numba, and what is called before it compiles a kernel.

Loading Numba takes tenths of a second, compiling half a minute; kernels compiled ahead need neither. A caller that
wants to load Numba in another way, or to announce compiling, sets a hook here. This module imports nothing heavy, so
that hooks can be set before anything is loaded.
"""

from __future__ import annotations

from contextlib import nullcontext
from threading import RLock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager


def _do_nothing(*_: str) -> None:
    pass


class NoKernelsError(ImportError):
    """There is no library of kernels that fits this machine, and no Numba to compile them."""


class Hooks:
    """What surrounds the loading of Numba; what to call before a kernel is compiled. A new one replaces the old."""

    while_numba_loads: Callable[[], AbstractContextManager[object]] = nullcontext
    compiling: Callable[[str], None] = staticmethod(_do_nothing)  # a kernel
    unlisted: Callable[[str, str], None] = staticmethod(_do_nothing)  # a kernel, and types that are not in `signatures`
    loading: Any = RLock()  # held while a kernel is loaded or compiled; no fork may fall into this time


hooks = Hooks()
