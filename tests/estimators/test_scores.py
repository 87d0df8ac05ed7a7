"""`scores_` and `feature_importances_`, and what scikit-learn does with them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectFromModel

from credimi import CredibleSelector, prequential

CLASSES = list("ppqq") * 25
FRAME = pd.DataFrame(
    {
        "noise": list("abab") * 25,
        "key": [f"k{row}" for row in range(100)],
        "tells": list("aabb") * 25,
        "gone": [None] * 100,
    }
)


def test_scores_are_those_of_the_ranking_in_the_order_of_the_columns() -> None:
    selector = CredibleSelector().fit(FRAME, CLASSES)
    expected = [selector.ranking_[name]["mi"] for name in FRAME]
    np.testing.assert_array_equal(selector.scores_, expected)
    assert np.isnan(selector.scores_[1]), "an identifier is not ranked"
    assert selector.feature_importances_.tolist() == [expected[0], 0.0, expected[2], 0.0]
    with pytest.raises(NotFittedError):
        _ = CredibleSelector().scores_


def test_select_from_model() -> None:
    chooser = SelectFromModel(CredibleSelector(), threshold=0.1).fit(FRAME, CLASSES)
    assert chooser.get_feature_names_out().tolist() == ["tells"]
    kept = chooser.set_output(transform="pandas").transform(FRAME)
    assert kept["tells"].tolist() == FRAME["tells"].tolist()
    best = SelectFromModel(CredibleSelector(), max_features=1, threshold=-np.inf).fit(FRAME, CLASSES)
    assert best.get_support().tolist() == [False, False, True, False]


def test_prequential_says_which_columns_it_leaves_out() -> None:
    table = {"uncut": np.random.default_rng(1).normal(size=100).tolist(), "tells": FRAME["tells"].tolist()}
    run = prequential(table, CLASSES, orders=1, rules=["all"])
    assert run.rows.features == ("tells",)
    assert set(run.rows.left_out) == {"uncut"}
    used = prequential(table, CLASSES, orders=1, rules=["all"], discretize={"uncut": "quantile"})
    assert used.rows.features == ("uncut", "tells")
