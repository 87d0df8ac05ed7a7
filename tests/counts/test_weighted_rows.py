"""Callers that need the rows again weigh them, too: `select` and `network`."""

from __future__ import annotations

import numpy as np
import pytest

from credimi import CredimiError, network, select


def table(rows: int = 200) -> dict[str, list[int]]:
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, rows)
    second = np.where(generator.random(rows) < 0.3, generator.integers(0, 2, rows), first)
    return {"first": first.tolist(), "second": second.tolist(), "third": generator.integers(0, 2, rows).tolist()}


def test_select_takes_weights_for_numbers_of_rows() -> None:
    weights = np.random.default_rng(1).integers(0, 4, 200)
    repeated = {name: np.repeat(column, weights).tolist() for name, column in table().items()}
    weighted = select(table() | {"w": weights.tolist()}, "first", weights="w")
    plain = select(repeated, "first")
    assert weighted.rows == plain.rows == weights.sum()
    assert weighted.features == plain.features
    assert weighted.steps[0].mi == pytest.approx(plain.steps[0].mi, rel=1e-9)


def test_other_weights_are_worth_fewer_rows() -> None:
    weights = np.random.default_rng(2).uniform(0.5, 3.0, 200)
    found = network(table() | {"w": weights.tolist()}, weights="w")
    assert found.rows == pytest.approx(weights.sum() ** 2 / (weights @ weights))


def test_weights_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(CredimiError, match="the weight 'w' of row 3"):
        network(table(5) | {"w": [1, 1, -1, 1, 1]}, weights="w")
