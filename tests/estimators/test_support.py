"""`support_`: the columns that naive Bayes uses, as its predictions show."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from credimi import CredibleSelector, IncrementalNaiveBayes


def noise_and_signal(rows: int = 400) -> tuple[Any, Any]:
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, rows)
    return np.column_stack([y + generator.normal(size=rows), generator.normal(size=rows)]), y


@pytest.mark.parametrize("selector", [None, *map(CredibleSelector, ("forward", "backward", "plugin", "fdr"))], ids=str)
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_support_names_the_columns_that_are_used(selector: CredibleSelector | None, missing: str) -> None:
    """A column is used if without its value something else is predicted."""
    X, y = noise_and_signal()  # noqa: N806
    X = np.column_stack([X, np.ones(400), np.arange(400.0)])  # noqa: N806
    X[::9, 0] = np.nan
    model = IncrementalNaiveBayes(selector=selector, missing_as=missing).fit(X, y)
    probabilities = model.predict_proba(X)
    for place, used in enumerate(model.support_.tolist()):
        without = X.copy()
        without[:, place] = -1e6 if missing == "category" else np.nan
        assert used == (not np.array_equal(model.predict_proba(without), probabilities)), place
    row = {f"x{place}": value for place, value in enumerate(X[1].tolist())}
    streamed = IncrementalNaiveBayes(selector=selector, missing_as=missing)
    for values, label in zip(X.tolist(), y.tolist(), strict=True):
        streamed.learn_one({f"x{place}": value for place, value in enumerate(values)}, label)
    assert streamed.support_.tolist() == model.support_.tolist()
    assert list(streamed.predict_proba_one(row).values()) == pytest.approx(probabilities[1].tolist(), rel=1e-12)


def test_a_column_without_a_cut_is_not_used() -> None:
    assert IncrementalNaiveBayes().fit(*noise_and_signal()).support_.tolist() == [True, False]
