"""Where both sides miss values: moments are found of those points of the grid only that keep some weight."""

from __future__ import annotations

import numpy as np

from credimi.inference.evidence.adaptive_prior import GRID, LOOSEST, NEGLIGIBLE, P_ZERO, TIGHTEST
from credimi.inference.evidence.two_sided_weights import weigh_two_sided


def test_points_without_weight_have_no_moments() -> None:
    generator = np.random.default_rng(5)
    block = np.full((11, 11), 20.0)
    block[:10, :10] = generator.multinomial(2000, generator.dirichlet(np.full(100, 2.0))).reshape(10, 10)
    p_zero, log_odds, staying = np.empty(1), np.empty(1), np.empty(1, dtype=np.int64)
    strengths, weights, mean, variance = np.full((4, 1, GRID), np.nan)
    table = block.ravel(), np.array([0]), np.array([10]), np.array([10]), np.array([0]), np.array([1])
    hyper = 0.5, LOOSEST, TIGHTEST, P_ZERO, NEGLIGIBLE
    approximate = np.zeros(1, dtype=np.bool_)
    results = p_zero, log_odds, strengths, weights, staying, approximate, mean, variance
    weigh_two_sided(*table, *hyper, True, *results)  # noqa: FBT003
    assert 1 < staying[0] == (weights > 0.0).sum()
    assert (mean[weights > 0.0] > 0.0).all()
    found = np.nan_to_num(mean[weights == 0.0]) > 0.0
    assert found.sum() <= 2  # looked at before the best was known
