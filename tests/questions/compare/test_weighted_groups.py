"""Weights of a survey with groups and comparisons: each group counts for what its own weights are worth."""

from __future__ import annotations

import numpy as np
import pytest

import credimi
from credimi.results import sentences


def survey(seed: int, rows: int = 300) -> dict[str, list[object]]:
    """Fractional weights, a column that tells something, and a target of which some values are missing."""
    random = np.random.default_rng(seed)
    y = random.integers(0, 2, rows)
    x = np.where(random.random(rows) < 0.4, y, random.integers(0, 2, rows))
    told = [None if gone else "pq"[each] for gone, each in zip(random.random(rows) < 0.1, y, strict=True)]
    weights = (random.random(rows) + 0.01).tolist()
    return {"y": told, "x": x.tolist(), "site": random.choice(["n", "s", "w"], rows).tolist(), "w": weights}


@pytest.mark.parametrize("sites", ["ns", "nsw"])
def test_a_group_is_ranked_as_its_rows_alone_are(sites: str) -> None:
    table = survey(1)
    chosen = [place for place, site in enumerate(table["site"]) if str(site) in sites]
    table = {name: [values[place] for place in chosen] for name, values in table.items()}
    found = credimi.rank_by(table, "y", by="site", weights="w", epsilon=0.003)
    for site in sites:
        own = [place for place, each in enumerate(table["site"]) if each == site]
        rows = {name: [table[name][place] for place in own] for name in "yxw"}
        alone = credimi.rank(rows, "y", weights="w", epsilon=0.003)
        grouped = found.rankings[site]
        assert grouped.rows == alone.rows
        assert grouped.rows_with_target == alone.rows_with_target
        for name in ("mi", "low", "high", "p_above", "complete"):
            assert grouped["x"][name] == pytest.approx(alone["x"][name], rel=1e-9)


def test_rows_with_the_target_are_about_as_many_as_the_rows() -> None:
    ranking = credimi.rank(survey(2), "y", weights="w")
    assert isinstance(ranking.rows_with_target, int)
    assert ranking["x"]["complete"] == ranking.rows_with_target < ranking.rows
    complete = survey(2) | {"y": list("pq") * 150}
    assert credimi.rank(complete, "y", weights="w").rows_with_target == credimi.rank(complete, "y", weights="w").rows


def test_a_comparison_tells_whole_rows() -> None:
    found = credimi.compare(survey(3), survey(4), "y", weights="w")
    assert all(isinstance(rows, int) for rows in found.rows)
    assert all(isinstance(found["x"][name], int) for name in ("complete_a", "complete_b"))
    grouped = credimi.rank_by(survey(3), "y", by="site", weights="w")
    assert all(isinstance(rows, int) for each in grouped.comparisons for rows in each.rows)


def test_numbers_of_rows_are_short_and_agree_with_their_noun() -> None:
    assert sentences.counted(156.75799999999998, "row") == "157 rows"
    assert sentences.counted(2.53, "row") == "2.5 rows"
    assert sentences.counted(1624193.0, "row") == "1,624,193 rows"
    assert sentences.counted(1.0, "row") == "1 row"
    assert sentences.counted(10**12 + 1, "row") == "1,000,000,000,001 rows"
    one = survey(5) | {"w": [1.0] * 299 + [1e-9]}  # worth 299 rows
    assert "299 rows (the effective sample size)" in str(credimi.rank(one, "y", weights="w")).replace("\n", " ")
    table = {"x": list("ab") * 20, "y": list("pq") * 20, "g": ["u", "v"] * 19 + ["u", None]}
    assert "1 row has no g and is in no group" in str(credimi.rank_by(table, "y", by="g"))
