"""How every kernel is compiled: without the interpreter lock, cached on disk where the disk allows it.

Threads are ordinary Python threads over chunks of the work: a kernel that holds no lock needs no threading layer, so
two callers at once, a fork or a process pool cannot crash one. Sums may be re-ordered (`reassoc`, `contract`), which is
what lets the compiler use vector instructions; NaN and infinity keep their meaning.
"""

from collections.abc import Callable
from functools import partial
from typing import TypeVar, cast

import numba
import numpy as np
from numba.core import event
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]
NumberArray = NDArray[np.number]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

_SUMS_MAY_BE_REORDERED = {"reassoc", "contract"}


def compiled(function: Kernel) -> Kernel:
    """Compile on first call, once per argument types; later processes read the result from the cache."""
    return _compile(function, forceinline=False)


def inlined(function: Kernel) -> Kernel:
    """Compile a piece of a kernel into its callers.

    A call passes every array of a table as seven numbers and counts references, which for a 2 x 4 table costs as much
    as the arithmetic.
    """
    return _compile(function, forceinline=True)


def announce(listener: Callable[[], None]) -> None:
    """Call `listener` when a kernel has to be compiled, which takes seconds, and not when the cache holds it."""

    class _Announcement(event.Listener):
        def on_start(self, event: event.Event) -> None:  # noqa: ARG002  (the listener's form is Numba's)
            listener()

        def on_end(self, event: event.Event) -> None:
            pass

    event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


def _compile(function: Kernel, *, forceinline: bool) -> Kernel:
    compile_with = partial(
        numba.njit, nogil=True, error_model="numpy", fastmath=_SUMS_MAY_BE_REORDERED, forceinline=forceinline
    )
    try:
        return cast("Kernel", compile_with(cache=True)(function))
    except RuntimeError:  # Numba found no writable place for its cache: a read-only install without a home
        return cast("Kernel", compile_with()(function))
