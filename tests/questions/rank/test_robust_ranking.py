"""`rank(robust_factor=2)`: bounds at a factor, and the factor at which a verdict falls."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.results import sentences

if TYPE_CHECKING:
    from pathlib import Path

    from credimi.core.types import Record

ROBUST = ("robust_low", "robust_high", "tipping_factor")


@pytest.fixture(scope="module")
def table() -> Record:
    """Columns with missing values of all kinds, and a target that is missing in the last column's rows only."""
    generator, rows = np.random.default_rng(4), 3_000
    target = generator.integers(0, 2, rows)

    def column(share: float, missing: float) -> list[str | None]:
        values = np.where(generator.random(rows) < share, target, generator.integers(0, 3, rows))
        gone = generator.random(rows) < missing
        return [None if hidden else "abc"[value] for value, hidden in zip(values, gone, strict=True)]

    return {
        "strong": column(0.9, 0.1),
        "medium": column(0.5, 0.3),
        "weak": column(0.09, 0.3),
        "complete": column(0.5, 0.0),
        "noise": column(0.0, 0.3),
        "little missing": column(0.0, 0.001),
        "one value": ["a", None] * (rows // 2),
        "never seen": [None] * rows,
        "name": [f"row {place}" for place in range(rows)],
        "class": target,
    }


@pytest.fixture(scope="module")
def ranking(table: Record) -> credimi.Ranking:
    return credimi.rank(table, "class", robust_factor=2)


def test_columns_are_there_if_they_are_asked_for(table: Record, ranking: credimi.Ranking) -> None:
    plain = credimi.rank(table, "class")
    assert not set(ROBUST) & set(plain.columns)
    assert tuple(ranking.columns)[-3:] == ROBUST
    for name in plain.columns:
        np.testing.assert_equal(ranking.columns[name], plain.columns[name])
    assert ranking.settings["factor"] == 2.0
    assert "factor" not in plain.settings


def test_tipping_factors(ranking: credimi.Ranking) -> None:
    tips = {row["feature"]: row["tipping_factor"] for row in ranking}
    verdicts = {row["feature"]: row["verdict"] for row in ranking}
    assert verdicts["strong"] == verdicts["medium"] == verdicts["complete"] == "keep"
    assert verdicts["noise"] == "drop"
    assert tips["strong"] == tips["complete"] == tips["little missing"] == tips["one value"] == math.inf
    assert 2.0 < tips["medium"] < 100.0
    assert 1.0 < tips["noise"] < 3.0
    assert math.isnan(tips["never seen"])
    assert math.isnan(tips["name"])
    assert verdicts["weak"] == "unsure"
    assert tips["weak"] == 1.0


@pytest.mark.parametrize("feature", ["medium", "noise"])
def test_the_verdict_stands_up_to_the_tipping_factor_and_no_further(table: Record, feature: str) -> None:
    some = {name: table[name] for name in (feature, "class")}
    row = credimi.rank(some, "class", epsilon=0.003, robust_factor=2)[feature]
    block = np.zeros((2, 4))
    for value, own in zip(table[feature], table["class"], strict=True):
        block[own, "abc".index(value) if value is not None else 3] += 1

    def probability(factor: float) -> float:
        """P(the verdict holds whatever the mechanism)."""
        least, largest = credimi.information_bounds(block[:, :3], target_only=block[:, 3], robust_factor=factor)
        return least.sf(0.003) if row["verdict"] == "keep" else largest.cdf(0.003)

    assert probability(0.95 * row["tipping_factor"]) >= 0.95
    assert probability(1.05 * row["tipping_factor"]) < 0.95


def test_bounds_widen_with_the_factor_from_the_interval_on(table: Record) -> None:
    at = {factor: credimi.rank(table, "class", robust_factor=factor) for factor in (1, 1.001, 1.5, 4, math.inf)}
    for row in at[1]:
        assert row["robust_low"] == pytest.approx(row["low"], nan_ok=True)
        assert row["robust_high"] == pytest.approx(row["high"], nan_ok=True)
        lows = [each[row["feature"]]["robust_low"] for each in at.values()]
        highs = [each[row["feature"]]["robust_high"] for each in at.values()]
        if row["verdict"] != "not ranked":
            assert lows == sorted(lows, reverse=True)
            assert highs == sorted(highs)
            np.testing.assert_equal(len({str(each[row["feature"]]["tipping_factor"]) for each in at.values()}), 1)


def test_a_target_with_missing_values(table: Record) -> None:
    hidden = [None if place % 4 == 0 else value for place, value in enumerate(table["class"])]
    found = credimi.rank(table | {"class": hidden}, "class", robust_factor=2)
    assert found["complete"]["robust_low"] < found["complete"]["low"]
    assert found["complete"]["robust_high"] > found["complete"]["high"]
    assert found["medium"]["tipping_factor"] < credimi.rank(table, "class", robust_factor=2)["medium"]["tipping_factor"]


@pytest.mark.parametrize("options", [{"prior": "jeffreys"}, {"approximation": "leading"}, {"missing_as": "category"}])
def test_other_options(table: Record, options: Record) -> None:
    some = {name: table[name] for name in ("medium", "complete", "class")}
    found = credimi.rank(some, "class", robust_factor=2, **options)
    assert found["complete"]["tipping_factor"] == math.inf
    assert found["medium"]["robust_low"] <= found["medium"]["low"]
    if "missing_as" in options:  # nothing is missing then
        assert found["medium"]["tipping_factor"] == math.inf


def test_draws(table: Record) -> None:
    some = {"medium": table["medium"], "class": table["class"]}
    drawn = credimi.rank(some, "class", robust_factor=2, approximation="sampled")["medium"]
    exact = credimi.rank(some, "class", robust_factor=2)["medium"]
    assert drawn["tipping_factor"] == pytest.approx(exact["tipping_factor"], rel=0.05)


def test_threads_do_not_matter(table: Record) -> None:
    one, two = (credimi.rank(table, "class", robust_factor=2, threads=threads) for threads in (1, 2))
    for name in ROBUST:
        np.testing.assert_equal(one.columns[name], two.columns[name])


def test_a_kept_column_that_tips_early_has_a_remark(table: Record, ranking: credimi.Ranking) -> None:
    assert not [remark for remark in ranking.remarks if remark.kind == "tips_early"]
    found = credimi.rank(table, "class", robust_factor=2, epsilon=0.001, level=0.8)
    early = [remark for remark in found.remarks if remark.kind == "tips_early"]
    assert [remark.feature for remark in early] == ["weak"]
    assert early[0].caution
    assert early[0].factor == found["weak"]["tipping_factor"] < 1.5
    line = next(each for each in found.remark_lines() if "(almost) at random" in each)
    assert f"weak ({sentences.up_to(early[0].factor)})" in line


def test_the_table_and_the_notebook_show_how_far_verdicts_stand(ranking: credimi.Ranking) -> None:
    told = sentences.verdict_with_factor(ranking["medium"])
    assert told.startswith("keep, up to ")
    assert told in str(ranking)
    assert "keep, at any factor" in str(ranking)
    assert "at factor 2" in str(ranking)
    html = ranking._repr_html_()
    assert told in html
    assert "at factor 2" in html


def test_json_has_no_infinity(table: Record, tmp_path: Path) -> None:
    found = credimi.rank(table, "class", robust_factor=math.inf)
    report = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    tips = {row["feature"]: row["tipping_factor"] for row in report["features"]}
    assert tips["strong"] == "inf"
    assert tips["never seen"] is None
    assert report["settings"]["factor"] == "inf"
    assert found.to_pandas().set_index("feature").loc["strong", "tipping_factor"] == math.inf
    found.to_html(tmp_path / "page.html")


@pytest.mark.parametrize(
    ("factor", "text"),
    [
        (1.0, "up to 1.00x"),
        (1.3699, "up to 1.36x"),
        (3.29, "up to 3.2x"),
        (47.6, "up to 47x"),
        (2e4, "beyond 1,000x"),
        (math.inf, "at any factor"),
    ],
)
def test_factors_in_words_are_rounded_down(factor: float, text: str) -> None:
    assert sentences.up_to(factor) == text


@pytest.mark.parametrize("factor", [0.5, math.nan, "2", -1])
def test_bad_factors_are_refused(table: Record, factor: float) -> None:
    with pytest.raises(credimi.CredimiError, match="factor is"):
        credimi.rank(table, "class", robust_factor=factor)
