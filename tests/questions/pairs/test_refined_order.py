"""Refined pairs: neither the order of rows nor that of columns changes them, and a row of weight w is w rows."""

from __future__ import annotations

import numpy as np
import pytest

import credimi
from credimi import Pairs
from credimi.questions.pairs.refined_pairs import _most_for

ROWS = 120
FIGURES = ("mi", "low", "high", "p_independent", "log_evidence")


def columns_of() -> dict[str, list[str | None]]:
    """A chain with a copy; a quarter of the cells is missing, and many rows are equal."""
    generator = np.random.default_rng(0)
    first = generator.integers(0, 2, ROWS)
    second = np.where(generator.random(ROWS) < 0.3, generator.integers(0, 2, ROWS), first)
    third = np.where(generator.random(ROWS) < 0.4, generator.integers(0, 3, ROWS), second)
    table = {"n": first, "copy": 1 - first, "b": second, "z": third}
    gone = generator.random((4, ROWS)) < 0.25
    return {
        name: [None if out else f"v{value}" for value, out in zip(column, where, strict=True)]
        for (name, column), where in zip(table.items(), gone, strict=True)
    }


def assert_same(one: Pairs, other: Pairs) -> None:
    for row in one:
        told = other[row["a"], row["b"]]
        np.testing.assert_allclose([row[name] for name in FIGURES], [told[name] for name in FIGURES], atol=1e-9)


def refined(table: dict[str, list[object]], **options: object) -> Pairs:
    return credimi.pairs(table, refine="forest", imputations=2, threads=1, **options)


def test_the_order_of_rows_and_of_columns_changes_nothing() -> None:
    table, generator = columns_of(), np.random.default_rng(1)
    found, order = refined(table), generator.permutation(ROWS)
    assert_same(found, refined({name: [column[row] for row in order] for name, column in table.items()}))
    turned = refined({name: table[name] for name in ("z", "b", "copy", "n")})
    assert_same(found, turned)
    assert turned.names == ("z", "b", "copy", "n")


def test_a_row_of_weight_w_is_w_rows() -> None:
    table, weights = columns_of(), np.random.default_rng(2).integers(0, 6, ROWS)
    repeated = {name: np.repeat(np.array(column, dtype=object), weights).tolist() for name, column in table.items()}
    assert_same(refined(table | {"w": weights.tolist()}, weights="w"), refined(repeated))


@pytest.mark.long
def test_large_weights_are_completed_a_limited_number_of_times() -> None:
    assert _most_for(np.array([1, 5, 100]), 106) == 100
    assert _most_for(np.array([1, 5, 100]), 16) == 10
    assert _most_for(np.array([7, 7, 7]), 2) == 1
    heavy = refined(columns_of() | {"w": [1e6] * ROWS}, weights="w")
    assert heavy.rows == pytest.approx(1e6 * ROWS)
    assert heavy["n", "copy"]["p_independent"] < 0.01
