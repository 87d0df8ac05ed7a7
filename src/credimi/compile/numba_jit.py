"""How Numba compiles every kernel: without the interpreter lock, cached on disk where the disk allows it.

Threads are ordinary Python threads over chunks of the work. A kernel that holds no lock needs no threading layer of
Numba, which two callers at once, a fork or a process pool could crash. Sums may be re-ordered (`reassoc`, `contract`),
so that the compiler can use vector instructions; NaN and infinity keep their meaning.

Kernels write out sums, largest and smallest elements as loops. With numpy's own (`values.sum()`, `np.argmax`) a cached
kernel loads the part of Numba that has them, which loads scipy's linear algebra. This takes longer than everything
else.
"""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np

from credimi.compile.hooks import hooks
from credimi.compile.signatures import SIGNATURES, Workspace, files_used_by, name_of, signature_of

with hooks.while_numba_loads():
    import numba
    from llvmlite import ir
    from numba import extending
    from numba.core import cgutils, types
    from numba.core.runtime.nrt import rtsys
    from numba.np.numpy_support import from_dtype

    from credimi.compile.inner_functions import InnerCompiler

__all__ = ["cgutils", "compiled", "inlined", "intrinsic", "ir", "types"]

Kernel = TypeVar("Kernel", bound=Callable[..., object])

intrinsic: Callable[[Callable[..., Any]], Any] = extending.intrinsic  # for LLVM code that Numba cannot express

_SUMS_MAY_BE_REORDERED = {"reassoc", "contract"}


def compiled(function: Kernel) -> Kernel:
    """Compile on first call, once per argument types; later processes read the result from the cache."""
    return cast("Kernel", NumbaKernel(function))


def inlined(function: Kernel) -> Kernel:
    """Compile a function into the kernels that call it.

    A call passes every array as seven numbers and counts references, which for a 2 x 4 table costs as much as the
    arithmetic.
    """
    return cast("Kernel", _Piece(function))


class _Piece:
    """A function that is compiled into the kernels that call it; called from Python, it is an ordinary function."""

    def __init__(self, function: Callable[..., object]) -> None:
        self._function = function
        self._inner = _inner(function, forceinline=True)  # its type keeps no reference to it
        self._numba_type_ = self._inner._numba_type_

    def __call__(self, *arguments: object) -> object:
        return self._function(*arguments)


class NumbaKernel:
    """One kernel, compiled for the types of `signatures` only.

    Numba alone would compile once more for arrays that cannot be written, and for each order of memory.
    """

    def __init__(self, function: Callable[..., object]) -> None:
        self.__name__ = name_of(function)
        self.dispatcher = _compile(function)
        self._inner = _inner(function, forceinline=False)
        self._numba_type_ = self._inner._numba_type_  # for kernels that call it
        self._entries: dict[str, Callable[..., object]] = {}

    def __call__(self, *arguments: object) -> object:
        """Call the kernel; the first call compiles it, or loads it from the cache."""
        signature = signature_of(arguments)
        entry = self._entries.get(signature)
        return entry(*arguments) if entry is not None else self.prepare(signature)(*arguments)

    def prepare(self, signature: str) -> Callable[..., object]:
        """Compile the kernel for these types, or load it from the cache."""
        with hooks.loading:
            return self._prepare(signature)

    def _prepare(self, signature: str) -> Callable[..., object]:
        if signature not in SIGNATURES.get(self.__name__, ()):
            hooks.unlisted(self.__name__, signature)
            return cast("Callable[..., object]", self.dispatcher)  # which compiles for any types
        argument_types = numba_types(signature)
        if not self._is_cached(argument_types):
            hooks.compiling(self.__name__)
        self.dispatcher.compile(argument_types)
        entry: Callable[..., object] = self.dispatcher.overloads[argument_types].entry_point
        self._entries[signature] = entry
        return entry

    def is_compiled(self, signature: str) -> bool:
        """Whether the kernel was compiled for these types, by this process or another."""
        if signature in self._entries:
            return True
        with hooks.loading:  # LLVM has a lock of its own
            return self._is_cached(numba_types(signature))

    def _is_cached(self, argument_types: tuple[Any, ...]) -> bool:
        with suppress(AttributeError, TypeError):  # private to Numba: if it changes, compiling is not announced
            cache = self.dispatcher._cache  # noqa: SLF001  (see above)
            key = cache._index_key(argument_types, self.dispatcher.targetctx.codegen())  # noqa: SLF001  (see above)
            return key in cache._cache_file._load_index()  # noqa: SLF001  (see above)
        return True


def numba_types(signature: str) -> tuple[Any, ...]:
    """Numba's types for the words of a signature."""
    parsed: list[Any] = []
    outer: list[list[Any]] = []
    for word in signature.replace("(", "( ").replace(")", " )").split():
        if word == "(":
            outer.append(parsed)
            parsed = []
        elif word == ")":
            parts, parsed = parsed, outer.pop()
            named, plain = cast("Any", (types.NamedTuple, types.Tuple))
            parsed.append(named(parts, Workspace) if isinstance(parts[0], types.Array) else plain(parts))
        else:
            scalar = from_dtype(np.dtype(word[:2]))
            parsed.append(types.Array(scalar, word.count(":"), "C") if word.endswith("]") else scalar)
    return tuple(parsed)


@cache
def _sources_stamp(module: str) -> str:
    """A digest of the source of a module of kernels and of all modules of kernels that it uses.

    Numba uses a cached kernel as long as its own file is unchanged. But kernels are compiled into each other: after a
    change to one file, the cached kernels of other files would silently use the old code.
    """
    digest = hashlib.sha256()
    own = {Path(__file__), Path(__file__).with_name("inner_functions.py")}  # how kernels are compiled
    for path in sorted(own | files_used_by(module.removeprefix("credimi."))):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _load_cached(guard: Any, load: Any, signature: Any, context: Any) -> Any:
    """Load a kernel as Numba does, but without registering all functions that Numba can compile.

    A compiled kernel needs none of them, and registering them takes as long as loading Numba itself.
    """
    rtsys.initialize(context)
    with guard(), suppress(ImportError):  # the cache names a module that was moved: compile again
        return load(signature, context)
    return None


_COMPILE = partial(numba.njit, nogil=True, error_model="numpy", fastmath=_SUMS_MAY_BE_REORDERED, no_cfunc_wrapper=True)


def _inner(function: Callable[..., object], *, forceinline: bool) -> Any:
    """The function in the form that other kernels call."""
    return _COMPILE(no_cpython_wrapper=True, forceinline=forceinline, pipeline_class=InnerCompiler)(function)


def _compile(function: Callable[..., object]) -> Any:
    """The function in the form that Python calls."""
    try:
        kernel: Any = _COMPILE(cache=True)(function)
    except RuntimeError:  # Numba found no writable folder for its cache: a read-only install without a home
        return _COMPILE()(function)
    with suppress(AttributeError):  # private to Numba: if it changes, only these refinements are lost
        cache = kernel._cache  # noqa: SLF001  (see above)
        cache._cache_file._source_stamp = _sources_stamp(function.__module__)  # noqa: SLF001  (see above)
        steps = cache._guard_against_spurious_io_errors, cache._load_overload  # noqa: SLF001  (see above)
        cache.load_overload = partial(_load_cached, *steps)
    return kernel
