"""Weights all alike are worth their rows, at any scale; where their squares leave the doubles they are refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import credimi

CLASSES = list("ppqq") * 25
DATA = {"tells": list("aabb") * 25}


@pytest.mark.parametrize("weight", [1e-130, 0.5, 1e130])
def test_alike_at_any_scale(weight: float) -> None:
    ranking = credimi.rank(DATA, CLASSES, weights=np.full(100, weight))
    assert ranking[0]["mi"] == pytest.approx(credimi.rank(DATA, CLASSES)[0]["mi"])


@pytest.mark.parametrize(("weight", "word"), [(1e-300, "small"), (1e-150, "small"), (1e150, "large"), (1e300, "large")])
def test_squares_that_are_no_doubles(weight: float, word: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(credimi.CredimiError, match=f"weights 'weights' .* too {word} .* divide all weights by"):
            credimi.rank(DATA, CLASSES, weights=np.full(100, weight))


def test_one_small_weight_among_others() -> None:
    weights = np.full(100, 0.5)
    weights[:4] = 1e-300
    assert credimi.rank(DATA, CLASSES, weights=weights).rows == pytest.approx(96)
