"""Columns that `discretize` names and X does not have: a cut that would silently not be made."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import credimi

CLASSES = np.arange(200) % 2
NUMBERS = np.random.default_rng(3).normal(size=(200, 2)) + CLASSES[:, None]


@pytest.mark.parametrize("name", ["column 0", "0", "X0"])
def test_unknown_columns_are_refused(name: str) -> None:
    selector = credimi.CredibleSelector(discretize={name: [1.0]})
    with pytest.raises(credimi.CredimiError, match=f"there is no column '{name}'"):
        selector.fit(NUMBERS, CLASSES)
    with pytest.raises(credimi.CredimiError, match=f"there is no column '{name}'"):
        selector.partial_fit(NUMBERS, CLASSES)


def test_columns_of_x_are_cut_as_said() -> None:
    for table, cuts in (
        (NUMBERS, {"x0": [1.0], "*": "quantile"}),
        (pd.DataFrame(NUMBERS, columns=["a", "b"]), {"a": [1.0]}),
    ):
        selector = credimi.CredibleSelector(discretize=cuts).fit(table, CLASSES)
        assert selector.ranking_[selector.counts_.features[0]]["note"] == "given cuts, 1 cut: 1"
