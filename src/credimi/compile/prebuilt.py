"""Kernels compiled ahead of time (tools/compile_kernels.py), called without Numba.

The folder `compiled` of a wheel has a library for each level of processors; `_LEVELS` has the best one first. A
function of the library takes a pointer for its result, one for an exception, and then its arguments. An array is passed
as two pointers that only Numba's own arrays need, the number and the size of its elements, their address, its shape and
its strides; a tuple is passed as its parts.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import struct
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from credimi.compile.signatures import SIGNATURES, files_used_by, name_of, signature_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Kernel = TypeVar("Kernel", bound="Callable[..., object]")

_FOLDER = Path(__file__).parent / "compiled"
_ENDING = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}
_LEVELS = {  # features that the processor must have, as numpy names them
    "x86-64-v4": ("AVX512_SKX",),
    "x86-64-v3": ("AVX2", "FMA3"),
    "x86-64": (),
    "generic": (),
}
_SUCCESS_CODES = (0, -2)  # -2: the function returned None
_SCRATCH_BYTES = 32  # for the result, at most three numbers, and for an exception


def library(folder: Path = _FOLDER) -> Library | None:
    """The best library that fits this machine and these sources; None if there is none."""
    for level, needed in _LEVELS.items():
        file = folder / (level + _ENDING.get(sys.platform, ".so"))
        if file.exists() and _processor_has(needed):
            with suppress(OSError, ValueError, KeyError):  # built for another machine, or damaged: compile instead
                manifest = json.loads(file.with_suffix(".json").read_text(encoding="utf-8"))
                if manifest["sources"] == sources_digest():
                    return Library(file, manifest["kernels"])
    return None


@cache
def sources_digest() -> str:
    """A digest of all sources that go into the library."""
    digest = hashlib.sha256()
    how = {Path(__file__).with_name(name) for name in ("inner_functions.py", "numba_jit.py")}
    for path in sorted(how | files_used_by(*{name.rpartition(".")[0] for name in SIGNATURES})):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _processor_has(needed: Sequence[str]) -> bool:
    core = sys.modules.get("numpy._core._multiarray_umath")  # private to numpy: should it change, the plainest level
    features = getattr(core, "__cpu_features__", {})
    return all(features.get(feature, False) for feature in needed)


class Library:
    """One shared library and the kernels in it."""

    def __init__(self, file: Path, kernels: dict[str, dict[str, tuple[str, str]]]) -> None:
        self.file = file
        self._functions = ctypes.CDLL(str(file))
        self._kernels = kernels

    def compiled(self, function: Kernel) -> Kernel:
        """The kernel of this function; the function itself if the library has none, as only kernels call it."""
        name = name_of(function)
        functions = {
            signature: (_declare(getattr(self._functions, symbol), signature), returned)
            for signature, (symbol, returned) in self._kernels.get(name, {}).items()
        }
        return cast("Kernel", PrebuiltKernel(name, functions)) if functions else function


def inside_others(function: Kernel) -> Kernel:
    """A function that only kernels call: the library has it inside of them."""
    return function


class Unused:
    """Replaces objects that only a compiler needs: every attribute and every call returns the object itself."""

    def __getattr__(self, name: str) -> Unused:
        return self

    def __call__(self, *_: object) -> Unused:
        """Return the object itself."""
        return self


class PrebuiltKernel:
    """One kernel, called by the types of its arguments."""

    def __init__(self, name: str, functions: dict[str, tuple[Any, str]]) -> None:
        self.__name__ = name
        self._functions = functions

    def __call__(self, *arguments: object) -> Any:
        """Call the kernel; other threads can run meanwhile."""
        declared = self._functions.get(signature_of(arguments))
        if declared is None:
            return self._call_on_copies(arguments)
        function, returned = declared
        scratch = ctypes.create_string_buffer(_SCRATCH_BYTES)
        start = ctypes.addressof(scratch)
        if function(start, start + _SCRATCH_BYTES - 8, *_flat(arguments)) not in _SUCCESS_CODES:
            raise MemoryError(f"the kernel {self.__name__} found no memory for its work")
        if not returned:
            return None
        values = struct.unpack_from("@" + returned, scratch)
        return values if len(values) > 1 else values[0]

    def _call_on_copies(self, arguments: tuple[object, ...]) -> Any:
        """Call the kernel with copies in types that it was compiled for, and copy back what it wrote."""
        for signature in self._functions:
            with suppress(TypeError, KeyError):
                copies = _as_declared(arguments, signature)
                break
        else:
            raise TypeError(f"the kernel {self.__name__} is not compiled for {signature_of(arguments)}")
        result = self(*copies)
        for argument, copied in zip(arguments, copies, strict=True):
            if isinstance(argument, np.ndarray) and argument is not copied and argument.flags.writeable:
                argument[...] = copied
        return result


def _declare(function: Any, signature: str) -> Any:
    """Declare the types of the arguments to ctypes."""
    integer, number = ctypes.c_int64, ctypes.c_double
    kinds: list[type] = [ctypes.c_void_p, ctypes.c_void_p]
    for word in signature.replace("(", "").replace(")", "").split():
        if word.endswith("]"):
            kinds += [ctypes.c_void_p, ctypes.c_void_p, integer, integer, ctypes.c_void_p]
            kinds += [integer] * (2 * word.count(":"))
        else:
            kinds.append(number if word == "f8" else integer)
    function.argtypes = kinds
    function.restype = ctypes.c_int32
    return function


def _flat(arguments: tuple[object, ...]) -> list[object]:
    """The arguments in the form that the function takes."""
    parts: list[object] = []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            address = argument.__array_interface__["data"][0]
            parts += (None, None, argument.size, argument.itemsize, address, *argument.shape, *argument.strides)
        elif isinstance(argument, tuple):
            parts += _flat(argument)
        else:
            parts.append(argument)
    return parts


def _as_declared(arguments: tuple[object, ...], signature: str) -> tuple[object, ...]:
    """The arguments converted to the types of the signature; an error if that would change a value."""
    words = signature.split()
    if "(" in signature or len(words) != len(arguments):
        raise TypeError(signature)
    return tuple(map(_one_as_declared, arguments, words))


def _one_as_declared(argument: Any, word: str) -> object:
    if not isinstance(argument, np.ndarray):
        return {"f8": float, "i8": int, "b1": bool}[word](argument)
    if word.count(":") != argument.ndim:
        raise TypeError(word)
    return np.ascontiguousarray(argument.astype(np.dtype(word[:2]), casting="safe", copy=False))
