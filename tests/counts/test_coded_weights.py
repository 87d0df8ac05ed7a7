"""Weights of a table in memory: whoever needs the rows again sees them, too."""

from __future__ import annotations

import numpy as np
import pytest

import credimi
from credimi.counts.reading import Reading
from credimi.counts.request import CountRequest
from credimi.sources.codes import encoded_table


def test_select_takes_whole_weights_as_repeated_rows() -> None:
    generator = np.random.default_rng(0)
    tells, weights = generator.integers(0, 2, 300), generator.integers(0, 4, 300)
    target = np.where(generator.random(300) < 0.8, tells, 1 - tells)
    columns = {"tells": tells, "noise": generator.integers(0, 3, 300), "class": target}
    table = {name: [f"v{code}" for code in codes] for name, codes in columns.items()}
    repeated = {name: np.repeat(cells, weights).tolist() for name, cells in table.items()}
    weighted, other = credimi.select(table | {"w": weights}, "class", weights="w"), credimi.select(repeated, "class")
    assert weighted.features == other.features == ("tells",)
    assert weighted.steps[0].mi == pytest.approx(other.steps[0].mi)
    assert weighted.steps[0].p_adds == pytest.approx(other.steps[0].p_adds)


def test_other_weights_are_scaled_to_the_rows_that_they_are_worth() -> None:
    table = {"x": ["a", "b", "a", "b"], "y": ["p", "q", "q", "p"], "w": [0.5, 1.5, 1.0, 1.0]}
    found = encoded_table(table, CountRequest.of("y", Reading(weights="w"))).coded.weights
    assert found is not None
    assert found.sum() == pytest.approx(4.0**2 / 4.5)
    assert found / found[0] == pytest.approx([1.0, 3.0, 2.0, 2.0])
