"""Rows of a ranking by place, and in slices; names come first."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import credimi

CLASSES = list("ppqq") * 25
TABLE = {"noise": list("abab") * 25, "tells": list("aabb") * 25, "one": ["a"] * 100}


def test_rows_by_place() -> None:
    ranking = credimi.rank(TABLE, CLASSES)
    rows = list(ranking)
    assert ranking[0]["feature"] == "tells"
    for place in range(-3, 3):
        assert ranking[place] == ranking[np.int64(place)] == rows[place]
    for part in (slice(2), slice(-1, None), slice(None, None, 2), slice(5, 9)):
        assert ranking[part] == rows[part]
    for place in (3, -4):
        with pytest.raises(credimi.CredimiError, match=f"has no feature {place}, and has 3 rows, counted from 0"):
            ranking[place]
    for name in (True, 1.0, "other"):
        with pytest.raises(credimi.CredimiError, match="has no feature"):
            ranking[name]


def test_names_that_are_numbers_come_first() -> None:
    frame = pd.DataFrame({1: TABLE["tells"], 0: TABLE["noise"]})
    ranking = credimi.rank(frame, CLASSES)
    assert ranking[0]["feature"] == "0"
    assert ranking[-1]["feature"] == "0", "which is the last"


def test_names_are_looked_for_in_the_features() -> None:
    ranking = credimi.rank(TABLE, CLASSES)
    assert "tells" in ranking
    assert "other" not in ranking
    assert None not in ranking
    assert ranking[0] in ranking
    with pytest.raises(credimi.CredimiError, match="has no feature None"):
        ranking[None]
    numbered = credimi.rank(pd.DataFrame({7: TABLE["tells"]}), CLASSES)
    assert 7 in numbered
    assert "7" in numbered
    assert 0 not in numbered, "which is a place"
    comparison = credimi.compare(TABLE | {"y": CLASSES}, TABLE | {"y": CLASSES}, "y")
    assert "tells" in comparison
    assert "other" not in comparison
    assert next(iter(comparison)) in comparison


def test_probabilities_that_differ_by_rounding_are_ties() -> None:
    ranking = credimi.rank(TABLE, CLASSES)
    figures = ranking.figures | {"p_above": [1.0 - 2e-16, 1.0, 0.5], "mi": [0.6, 0.4, 0.0]}
    rounded = replace(ranking, figures=figures)
    names = figures["feature"]
    assert rounded.sorted_by("p").columns["feature"] == names
    assert rounded.sorted_by("name").sorted_by("p").columns["feature"] == names
