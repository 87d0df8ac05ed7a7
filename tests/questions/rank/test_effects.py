"""`Ranking.effects`: facts of the columns, in every medium."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import credimi
from credimi import CredimiError, rank
from credimi.cli import main

if TYPE_CHECKING:
    from credimi import Ranking

CLINIC = str(Path(__file__).parents[3] / "examples" / "clinic.csv")


@pytest.fixture(scope="module")
def clinic() -> Ranking:
    return rank(CLINIC, "diabetes")


def test_counts_and_names_are_those_of_the_data() -> None:
    table = {"x": ["a", "a", "b", None, "b", "b"] * 9, "y": ["n", "y", "y", "y", None, "n"] * 9}
    effects = rank(table, "y").effects("x")
    assert (effects.values, effects.classes, effects.of) == (("a", "b"), ("n", "y"), "y")
    assert effects.counts.tolist() == [[9, 9], [9, 9]]
    assert effects[("a", "y")]["rows"] == 9
    assert effects[("b", "n")]["of_value"] == 18
    assert [row["share"] for row in effects] == effects.columns["share"]
    assert effects.direction is None


def test_the_direction_of_the_example(clinic: Ranking) -> None:
    assert {name: clinic.effects(name).direction for name in ("glucose", "age", "sex", "cholesterol")} == {
        "glucose": "rises",
        "age": "rises",
        "sex": None,
        "cholesterol": "unclear",
    }
    assert clinic.effects("glucose").p_direction > 0.99


def test_shares_of_a_value_sum_to_one(clinic: Ranking) -> None:
    for effects in clinic.all_effects():
        assert effects.shares.sum(axis=0) == pytest.approx(1.0, abs=1e-6)
        assert (effects.low <= effects.shares).all()
        assert (effects.shares <= effects.high).all()


def test_numbers_as_categories_are_ordered_but_missing_is_not() -> None:
    generator = np.random.default_rng(1)
    number = generator.integers(1, 6, 4_000).astype(float)
    target = generator.random(4_000) < number / 8.0
    number[generator.random(4_000) < 0.2] = np.nan
    table = {"x": number, "y": target}
    whole, ranges = rank(table, "y", missing_as="category"), rank(table, "y", discretize={"x": [1.5, 2.5, 3.5, 4.5]})
    assert whole.effects("x").values[-1] == "(missing)"
    assert (whole.effects("x").direction, ranges.effects("x").direction) == ("rises", "rises")


def test_a_column_that_is_not_ranked_has_no_effects(clinic: Ranking) -> None:
    with pytest.raises(CredimiError, match="'patient' is not ranked"):
        clinic.effects("patient")


def test_a_loaded_ranking_has_effects(clinic: Ranking, tmp_path: Path) -> None:
    clinic.save(tmp_path / "ranking.json")
    again = credimi.load(tmp_path / "ranking.json").effects("age")
    assert again == clinic.effects("age")
    again.save(tmp_path / "effects.json")
    assert credimi.load(tmp_path / "effects.json") == again


def test_order_and_other_priors_do_not_change_them(clinic: Ranking) -> None:
    assert clinic.sorted_by("name").effects("bmi") == clinic.effects("bmi")
    other = rank(CLINIC, "diabetes", prior="uniform").effects("bmi")
    np.testing.assert_array_equal(other.shares, clinic.effects("bmi").shares)
    assert other.p_direction == pytest.approx(clinic.effects("bmi").p_direction, abs=1e-6)


def test_the_command_shows_bars_and_writes_json(capsys: pytest.CaptureFixture[str], clinic: Ranking) -> None:
    assert main(["rank", CLINIC, "--target", "diabetes", "--top", "2", "--effects"]) == 0
    lines = capsys.readouterr().out.splitlines()
    (glucose,) = [line for line in lines if line.startswith("glucose ")]
    assert glucose.endswith("rises")
    assert "5.5" in glucose
    assert "█" in "".join(lines)
    assert main(["rank", CLINIC, "--target", "diabetes", "--effects", "--format", "json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["effects"]
    assert found[0] == json.loads(json.dumps(clinic.effects(0).to_dict()))
    assert len(found) == 18


def test_groups_have_no_effects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rank", CLINIC, "--target", "diabetes", "--by", "clinic", "--effects"]) == 2
    assert "--effects is of one ranking" in capsys.readouterr().err


def test_notebooks_show_a_picture_of_each_column(clinic: Ranking) -> None:
    html = clinic._repr_html_()
    assert html.count('<svg class="bars"') == 11  # of the columns that are not dropped
    assert "share of yes: 5.5 % at &lt;= 4.915" in html
    assert '<svg class="bars"' in clinic.effects("glucose").to_html()


def test_the_figure_has_a_bar_for_each_value(clinic: Ranking, tmp_path: Path) -> None:
    axes = clinic.effects("glucose").plot(tmp_path / "glucose.png")
    assert len(axes.patches) == 4
    assert (tmp_path / "glucose.png").stat().st_size > 1_000


def test_of_a_number_the_largest_quarter_is_looked_at() -> None:
    effects = rank(CLINIC, "glucose", features=["bmi", "age"])
    assert {name: effects.effects(name).of for name in ("bmi", "age")} == dict.fromkeys(("bmi", "age"), "> 5.885")
    assert [effects.effects(name).direction for name in ("bmi", "age")] == ["rises", "rises"]
    assert effects["bmi"]["association"] == pytest.approx(effects["bmi"]["r2_equivalent"] ** 0.5)
