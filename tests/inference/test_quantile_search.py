"""The search for the place where a function passes 0; `first_positive` is tested by all quantiles."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi.inference.distributions.quantile_search import crossing

if TYPE_CHECKING:
    from collections.abc import Callable

ROOTS = np.array([-0.9, -1e-9, 0.0, 0.3, 0.999])


@pytest.mark.parametrize(
    ("function", "most"),
    [
        (lambda x: x - ROOTS, 8),
        (lambda x: np.tanh(30.0 * (x - ROOTS)), 25),
        (lambda x: (x - ROOTS) ** 3, 60),
        (lambda x: np.where(x >= ROOTS, 1.0, -1.0), 60),  # a jump
    ],
)
def test_the_crossing_is_within_the_tolerance(function: Callable[[np.ndarray], np.ndarray], most: int) -> None:
    calls = []

    def counted(x: np.ndarray) -> np.ndarray:
        calls.append(x)
        return function(x)

    found = crossing(counted, np.full(5, -1.5), np.full(5, 1.2), 1e-12)
    np.testing.assert_allclose(found, ROOTS, rtol=0.0, atol=1e-12)
    assert len(calls) <= most
