"""Where kernels come from: from a library that fits, compiled ahead of time, if a wheel has one; else from Numba.

A kernel is a Python function with the decorator `@compiled`. Functions that only kernels call have `@inlined`, or
`@intrinsic` if they write LLVM code. With a library (`prebuilt`) only kernels are needed, and Numba is not loaded. With
the environment variable CREDIMI_KERNELS=numba the library is not used.
"""

import importlib.util
import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credimi.compile import prebuilt
from credimi.compile.hooks import NoKernelsError
from credimi.compile.signatures import Workspace

__all__ = ["BooleanArray", "FloatArray", "IntegerArray", "NDArray", "NumberArray", "Workspace"]
__all__ += ["cgutils", "compiled", "inlined", "intrinsic", "ir", "types"]

BooleanArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntegerArray = NDArray[np.int64]
NumberArray = NDArray[np.number]

LIBRARY = None if os.environ.get("CREDIMI_KERNELS") == "numba" else prebuilt.library()

if LIBRARY is None and importlib.util.find_spec("numba") is None:
    raise NoKernelsError(
        "no compiled kernels fit this machine, and Numba, which compiles them, is not installed: "
        'pip install "credimi[compile]"'
    )
if TYPE_CHECKING or LIBRARY is None:
    from credimi.compile.numba_jit import cgutils, compiled, inlined, intrinsic, ir, types
else:
    compiled, inlined, intrinsic = LIBRARY.compiled, prebuilt.inside_others, prebuilt.inside_others
    cgutils = ir = types = prebuilt.Unused()
