"""Random numbers for compiled loops: splitmix64, whose state is one number."""

from __future__ import annotations

import numpy as np

from credimi.compile.jit import NDArray, inlined


@inlined
def uniform(state: NDArray[np.uint64]) -> float:
    """The next number between 0 and 1 of splitmix64: kernels that are compiled ahead cannot use numpy's generators."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    mixed = state[0]
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return float(np.float64(mixed >> np.uint64(11))) / 9007199254740992.0
