"""Where kernels come from: compiled ahead of time where a wheel brought a library that fits, by Numba elsewhere.

A kernel is a Python function under `@compiled`, its pieces are under `@inlined` or written for LLVM under `@intrinsic`.
With a library (`prebuilt`) only the first are needed, and Numba is not loaded. The environment variable
CREDIMI_KERNELS=numba compiles nevertheless.
"""

import importlib.util
import os
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from credimi.kernels import prebuilt
from credimi.kernels.jit_hooks import NoKernelsError

__all__ = ["FloatArray", "IntegerArray", "NumberArray", "cgutils", "compiled", "inlined", "intrinsic", "ir", "types"]

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
    from credimi.kernels.numba_jit import cgutils, compiled, inlined, intrinsic, ir, types
else:
    compiled, inlined, intrinsic = LIBRARY.compiled, prebuilt.inside_others, prebuilt.inside_others
    cgutils = ir = types = prebuilt.Unused()
