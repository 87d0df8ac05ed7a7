"""The association: correlations of normal variables, the ends of the scale, the probability of its interval."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import credimi
from credimi.inference.tables.association import association

CLINIC = str(Path(__file__).parents[2] / "examples" / "clinic.csv")


@pytest.mark.parametrize("correlation", [0.0, 0.05, 0.5, 0.99])
def test_it_is_the_correlation_of_normal_variables(correlation: float) -> None:
    information = -0.5 * math.log(1.0 - correlation**2)
    assert association(information, math.inf) == pytest.approx(correlation, abs=1e-12)


def test_the_ends_of_the_scale() -> None:
    copy, noise = list("aabbc") * 200, list("pq") * 500
    ranking = credimi.rank({"copy": [each.upper() for each in copy], "noise": noise, "y": copy}, "y")
    assert ranking["copy"]["association"] > 0.99
    assert ranking["noise"]["association_low"] == 0.0
    assert association([0.0, 0.3, 5.0, math.nan], 0.3)[:3].tolist() == [0.0, 1.0, 1.0]
    assert math.isnan(association(math.nan, 0.3))
    assert association(0.0, 0.0) == 0.0


def test_two_correlated_numbers_in_fine_ranges_have_nearly_their_correlation() -> None:
    generator = np.random.default_rng(2)
    one, other = generator.multivariate_normal([0.0, 0.0], [[1.0, 0.6], [0.6, 1.0]], 40_000).T
    pairs = credimi.pairs({"a": one, "b": other}, discretize="quantile:10")
    assert pairs["a", "b"]["association"] == pytest.approx(0.6, abs=0.03)
    assert pairs.matrix("association")[1, 0] == pairs[0]["association"]


def test_the_interval_has_the_probability_of_that_of_the_information() -> None:
    ranking = credimi.rank(CLINIC, "diabetes")
    law = credimi.mutual_information(credimi.count(CLINIC, "diabetes")["bmi"])
    row = ranking["bmi"]
    drawn = association(law.rvs(20_000, 1), ranking.entropy)
    inside = (drawn >= row["association_low"]) & (drawn <= row["association_high"])
    assert inside.mean() == pytest.approx(0.95, abs=0.01)
    assert row["association_low"] < row["association"] < row["association_high"]
