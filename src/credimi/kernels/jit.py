"""How every kernel is compiled: without the interpreter lock, cached on disk where the disk allows it.

Threads are ordinary Python threads over chunks of the work: a kernel that holds no lock needs no threading layer, so
two callers at once, a fork or a process pool cannot crash one. Sums may be re-ordered (`reassoc`, `contract`), which is
what lets the compiler use vector instructions; NaN and infinity keep their meaning.

Kernels write out sums, largest and smallest elements as loops: with numpy's own (`values.sum()`, `np.argmax`) a cached
kernel loads the part of Numba that has them, which loads scipy's linear algebra, for longer than all else takes.
"""

import hashlib
import re
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from credimi.kernels.jit_hooks import wishes

wishes.before_numba()
import numba  # noqa: E402
from llvmlite import ir  # noqa: E402
from numba import extending  # noqa: E402
from numba.core import cgutils, event, types  # noqa: E402
from numba.core.runtime.nrt import rtsys  # noqa: E402

__all__ = [
    "cgutils",
    "compiled",
    "inlined",
    "intrinsic",
    "ir",
    "types",
]  # all of Numba that kernels use comes from here

FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]
NumberArray = NDArray[np.number]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

intrinsic: Callable[[Callable[..., Any]], Any] = (
    extending.intrinsic
)  # LLVM written out, where Numba has no words for it

_SUMS_MAY_BE_REORDERED = {"reassoc", "contract"}

_KERNEL_IMPORT = re.compile(r"^from (credimi\.kernels\S*) import ([^(\n]+|\([^)]+\))", re.MULTILINE)


def compiled(function: Kernel) -> Kernel:
    """Compile on first call, once per argument types; later processes read the result from the cache."""
    return _compile(function, forceinline=False)


def inlined(function: Kernel) -> Kernel:
    """Compile a piece of a kernel into its callers.

    A call passes every array of a table as seven numbers and counts references, which for a 2 x 4 table costs as much
    as the arithmetic.
    """
    return _compile(function, forceinline=True)


class _Announcement(event.Listener):
    """Passes on that a kernel is being compiled, which takes seconds; those that the cache holds are not."""

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002  (the listener's form is Numba's)
        wishes.compiling()

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Announcement())  # type: ignore[no-untyped-call]


@cache
def _sources_stamp(module: str) -> str:
    """A digest of the source of a module of kernels and of all modules of kernels that it uses.

    Numba takes a cached kernel for fresh while the file that it stands in is unchanged, but kernels are compiled into
    each other: after a change to one file the others' caches would silently compute what it did before.
    """
    digest = hashlib.sha256()
    for path in sorted(_files_used_by(module)):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _files_used_by(module: str) -> set[Path]:
    """The file of a module of kernels, those of all that it imports, and this one."""
    files, modules = {Path(__file__)}, [module]
    while modules:
        path = Path(__file__).parent.joinpath(*modules.pop().split(".")[2:]).with_suffix(".py")
        if path not in files and path.exists():
            files.add(path)
            for package, names in _KERNEL_IMPORT.findall(path.read_text(encoding="utf-8")):
                modules += [package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))]
    return files


def _load_cached(guard: Any, load: Any, signature: Any, context: Any) -> Any:  # noqa: ANN401
    """As Numba loads a kernel, but without all that it can compile, of which what is compiled needs nothing.

    To register that takes as long as to load Numba itself.
    """
    rtsys.initialize(context)
    with guard(), suppress(ImportError):  # a cache that names a module that has moved since: compile again
        return load(signature, context)
    return None


def _compile(function: Kernel, *, forceinline: bool) -> Kernel:
    compile_with = partial(
        numba.njit, nogil=True, error_model="numpy", fastmath=_SUMS_MAY_BE_REORDERED, forceinline=forceinline
    )
    try:
        kernel: Any = compile_with(cache=True)(function)
        with suppress(AttributeError):  # private to Numba: should it change, only these refinements are lost
            cache = kernel._cache  # noqa: SLF001
            cache._cache_file._source_stamp = _sources_stamp(function.__module__)  # noqa: SLF001
            steps = cache._guard_against_spurious_io_errors, cache._load_overload  # noqa: SLF001
            cache.load_overload = partial(_load_cached, *steps)
        return cast("Kernel", kernel)
    except RuntimeError:  # Numba found no writable place for its cache: a read-only install without a home
        return cast("Kernel", compile_with()(function))
