"""The distribution of the deviation that a larger sample shows, against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from credimi.inference.larger_samples import p_shorter


@pytest.mark.parametrize(("freedom", "tolerance"), [(1, 0.0005), (2, 0.016), (3, 0.008), (4, 0.006), (40, 0.006)])
@pytest.mark.parametrize("center", [0.0, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_lengths_are_distributed_as_noncentral_chi_squared(
    freedom: int, tolerance: float, center: float, spread: float
) -> None:
    lengths = np.linspace(0.0, center + 3.0 + np.sqrt(freedom), 60)
    exact = stats.ncx2.cdf(lengths**2, freedom, center**2) if center else stats.chi2.cdf(lengths**2, freedom)
    same = np.ones_like(lengths)
    p = p_shorter(spread * lengths, spread * center * same, spread * same, freedom * same)
    np.testing.assert_allclose(p, exact, atol=tolerance)


def test_an_infinite_length_is_never_exceeded() -> None:
    one = np.ones(1)
    assert p_shorter(np.array([np.inf]), one, one, one).tolist() == [1.0]
