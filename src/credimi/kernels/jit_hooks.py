"""What happens before the first kernel can run: Numba is loaded, and may have to compile.

The former takes tenths of a second, the latter half a minute; kernels compiled ahead need neither. Whoever wants to do
the one in its own way, or to be told of the other, says so here: this module loads nothing, so that it can be said
before anything is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def _nothing(*_: str) -> None:
    pass


class NoKernelsError(ImportError):
    """There is no library of kernels that fits this machine, and no Numba to compile them."""


class Wishes:
    """What to call before Numba is loaded, and before a kernel is compiled; a later wish replaces an earlier."""

    before_numba: Callable[[], None] = staticmethod(_nothing)
    compiling: Callable[[str], None] = staticmethod(_nothing)  # a kernel
    unlisted: Callable[[str, str], None] = staticmethod(_nothing)  # a kernel, and types that `signatures` does not have


wishes = Wishes()
