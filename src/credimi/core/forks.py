"""Forks of this process: a child can go on where its parent was, also if another thread was at work.

A child has only the thread that forked. What other threads were doing stops where it was, and the locks that they held
stay taken. Two kinds of locks would stop the child for ever: that of a module that was being loaded, and that of a
kernel that was being loaded or compiled. Both are held for parts of a second, mostly in the first call. So a fork waits
until no other thread loads anything, and while it lasts nothing can be loaded.

If a thread is still loading after `PATIENCE`, the fork goes on: the loading thread may wait for it. Then the child
cannot use credimi, and says so (`check`).

Python calls what waits for a fork in the reverse order of its registration. `logging` and `concurrent.futures` take
locks before a fork, which another thread may want that is loading something. So they are loaded, and registered, before
this module: then this module waits first, while these locks are free.

Before Python 3.12 a cached property has one lock for all objects, which is held while it is computed. A child gets new
locks.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  (registered before this module)
import importlib
import logging  # noqa: F401  (registered before this module)
import os
import sys
import time
from functools import cached_property
from threading import RLock, active_count, get_ident
from typing import Any

from credimi.compile.hooks import hooks
from credimi.core.errors import CredimiError

PATIENCE = 60.0  # seconds: kernels may have to be compiled
_PAUSE = 0.001
_LOADED_LATE = {"credimi", "numba", "llvmlite", "numpy", "pyarrow"} | sys.stdlib_module_names
_imports: Any = importlib.import_module("_imp")  # Python's own lock, under which the locks of modules are made


class _Fork:
    """What the fork in progress holds; whether another thread was loading; whether this process is such a child."""

    holds_kernels = holds_imports = while_loading = stuck = False


_fork = _Fork()


def check() -> None:
    """Raise an error if this process was forked while another thread of its parent was loading modules or kernels."""
    if _fork.stuck:
        raise CredimiError(
            "this process was forked while another thread was loading credimi, and cannot use it: start processes with "
            'multiprocessing.get_context("spawn"), or call credimi once before the first fork'
        )


class _Refusal:
    """What stands for the lock of the kernels in a child that cannot go on."""

    def __enter__(self) -> None:
        check()

    def __exit__(self, *_: object) -> None:
        pass


def _before() -> None:
    """Wait until no other thread is loading, and let none begin to."""
    _fork.while_loading = False
    if active_count() == 1:
        return
    end = time.monotonic() + PATIENCE
    while not _holds_all():
        if time.monotonic() > end:
            _fork.while_loading = True
            return
        time.sleep(_PAUSE)


def _holds_all() -> bool:
    """Whether nobody is loading, and nobody can begin to; otherwise nothing is held: a module may load kernels."""
    _fork.holds_kernels = hooks.loading.acquire(blocking=False)
    if _fork.holds_kernels:
        _imports.acquire_lock()
        _fork.holds_imports = True
        if not _others_import():
            return True
    _release()
    return False


def _release() -> None:
    if _fork.holds_imports:
        _imports.release_lock()
    if _fork.holds_kernels:
        hooks.loading.release()
    _fork.holds_kernels = _fork.holds_imports = False


def _others_import() -> bool:
    """Whether another thread is loading a module of those that credimi needs."""
    # Private to Python: the locks of modules that are being loaded. Without them no fork waits.
    locks = getattr(getattr(importlib, "_bootstrap", None), "_module_locks", {})
    for name, reference in list(locks.items()):
        lock = reference()
        if name.split(".")[0] in _LOADED_LATE and lock is not None and lock.owner not in (None, get_ident()):
            return True
    return False


def _after_in_child() -> None:
    _release()
    _renew_locks_of_properties()
    if _fork.while_loading:
        _fork.stuck = True
        hooks.loading = _Refusal()


def _renew_locks_of_properties() -> None:
    if sys.version_info >= (3, 12):  # where they have none
        return
    for name, module in list(sys.modules.items()):
        if name.split(".")[0] == "credimi":
            for cls in [value for value in vars(module).values() if isinstance(value, type)]:
                for value in vars(cls).values():
                    if isinstance(value, cached_property):
                        value.lock = RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):  # not on Windows, which has no forks
    os.register_at_fork(before=_before, after_in_parent=_release, after_in_child=_after_in_child)
