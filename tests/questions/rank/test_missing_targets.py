"""Missing targets: how many rows have one is said first, and so is where it depends on a feature."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

import credimi
from credimi.cli import main
from credimi.results.remarks import RemarkKind

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 4000


def films() -> dict[str, list[object]]:
    """Old films are hardly labelled, as in catalogues: where the target is missing depends on the year alone."""
    random = np.random.default_rng(3)
    old = random.random(ROWS) < 0.5
    good = random.random(ROWS) < np.where(old, 0.8, 0.5)
    seen = random.random(ROWS) < np.where(old, 0.05, 0.6)
    return {
        "year": np.where(old, "old", "new").tolist(),
        "noise": np.where(random.random(ROWS) < 0.5, "a", "b").tolist(),
        "good": [("yes" if each else "no") if there else None for each, there in zip(good, seen, strict=True)],
    }


def test_the_diagnosis_is_the_ranking_of_a_column_that_says_whether_the_target_is_there() -> None:
    table = films()
    there = {"year": table["year"], "noise": table["noise"], "there": [each is not None for each in table["good"]]}
    ranking, oracle = credimi.rank(table, "good", epsilon=0.003), credimi.rank(there, "there", epsilon=0.003)
    for name in ("year", "noise"):
        for own, other in (("mi", "mi"), ("low", "low"), ("high", "high"), ("p_above", "p_above")):
            assert ranking[name][f"target_missing_{own}"] == pytest.approx(oracle[name][other], abs=1e-12)
    assert ranking["year"]["target_missing_mi"] > 0.1


def test_rows_without_the_feature_count_as_not_known_there() -> None:
    table = films()
    table["year"] = [None if row % 5 == 0 else each for row, each in enumerate(table["year"])]
    there = {"year": table["year"], "there": [each is not None for each in table["good"]]}
    found, oracle = credimi.rank(table, "good")["year"], credimi.rank(there, "there")["year"]
    assert found["target_missing_mi"] == pytest.approx(oracle["mi"], abs=1e-12)


def test_a_remark_says_on_what_it_depends_and_what_the_rows_with_the_target_tell() -> None:
    table = films()
    ranking = credimi.rank(table, "good")
    (remark,) = (each for each in ranking.remarks if each.kind == RemarkKind.TARGET_MISSING_DEPENDS)
    assert (remark.feature, remark.caution) == ("year", True)
    known = [row for row, each in enumerate(table["good"]) if each is not None]
    alone = credimi.rank({name: [column[row] for row in known] for name, column in table.items()}, "good")
    assert remark.mi_with_target == pytest.approx(alone["year"]["mi"], abs=1e-12)
    assert (remark.nats, remark.mi) == (ranking["year"]["target_missing_mi"], ranking["year"]["mi"])
    told = " ".join(str(ranking).split())
    both = f"{remark.mi:.4f} nats using all rows, {remark.mi_with_target:.4f} using labelled rows"
    assert f"caution: the target is missing more often at some values of year ({both}); find out why" in told


def test_the_headline_says_how_many_rows_have_the_target(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = films()
    known = sum(each is not None for each in table["good"])
    ranking = credimi.rank(table, "good")
    told = f"{known:,} of {ROWS:,} rows have the target"
    assert ranking.rows_with_target == ranking.to_dict()["rows_with_target"] == known
    assert told in str(ranking).splitlines()[0]
    assert told in ranking._repr_html_()
    ranking.to_html(tmp_path / "page.html")
    assert f'"rows_with_target":{known}' in (tmp_path / "page.html").read_text(encoding="utf-8")
    lines = ["year,good"] + [f"{year},{good or ''}" for year, good in zip(table["year"], table["good"], strict=True)]
    (tmp_path / "films.csv").write_text("\n".join(lines))
    assert main(["rank", str(tmp_path / "films.csv"), "--target", "good", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows_with_target"] == known


def test_where_no_target_is_missing_nothing_is_said_of_it() -> None:
    ranking = credimi.rank({"x": list("aabb") * 25, "y": list("ppqq") * 25}, "y")
    assert ranking.rows_with_target == 100
    assert ranking["x"]["target_missing_mi"] == ranking["x"]["target_missing_p_above"] == 0.0
    assert str(ranking).splitlines()[0].endswith(": 100 rows; 1 caution")
    one = credimi.rank({"x": ["a", "b", "a"], "y": ["p", None, "q"]}, "y")
    assert str(one).splitlines()[0].endswith(": 2 of 3 rows have the target")


@pytest.mark.parametrize("prior", ["adaptive", "jeffreys"])
def test_targets_that_are_missing_at_random_make_no_remark(prior: str) -> None:
    random = np.random.default_rng(5)
    y = random.integers(0, 2, ROWS)
    table = {"x": (y ^ (random.random(ROWS) < 0.2)).tolist(), "id": [f"k{row}" for row in range(ROWS)]}
    table["y"] = [int(each) if there else None for each, there in zip(y, random.random(ROWS) < 0.3, strict=True)]
    ranking = credimi.rank(table, "y", prior=prior)
    assert RemarkKind.TARGET_MISSING_DEPENDS not in {each.kind for each in ranking.remarks}
    assert ranking["id"]["target_missing_mi"] == 0.0
