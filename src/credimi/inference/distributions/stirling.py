"""Stirling's series for the error of Stirling's formula, without compiled code."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its `special` is loaded on first use

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from credimi.core.types import FloatArray

LARGE = 20.0  # from here on the series is exact to rounding


def stirling_error(x: ArrayLike) -> FloatArray:
    """lnG(x) - [(x - 1/2) log x - x + (1/2) log 2 pi]; by its series if lnG(x) has no digits left for it."""
    small, inverse = np.minimum(x, LARGE), 1.0 / np.maximum(x, LARGE)  # each formula where it holds: neither overflows
    direct = scipy.special.gammaln(small) - (small - 0.5) * np.log(small) + small - 0.5 * math.log(2.0 * math.pi)
    series = inverse * (1.0 / 12.0 - inverse**2 * (1.0 / 360.0 - inverse**2 * (1.0 / 1260.0 - inverse**2 / 1680.0)))
    error: FloatArray = np.where(np.asarray(x) < LARGE, direct, series)
    return error
