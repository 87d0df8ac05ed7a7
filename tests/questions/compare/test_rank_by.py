"""`rank_by`: groups counted in one pass, ranked and compared."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import credimi
from credimi.cli import main
from credimi.counts.batch import encode_batch
from credimi.counts.reading import Reading
from credimi.sources.csv import csv_files
from credimi.sources.group_counts import count_by
from credimi.sources.group_ranges import settled_cuts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def table(rows: int = 1_200, sites: str = "nsw") -> dict[str, list[Any]]:
    """At site n, x tells the class; elsewhere it does so less."""
    generator = np.random.default_rng(4)
    answer = generator.integers(0, 2, rows)
    site = generator.integers(0, len(sites), rows)
    tells = np.where(generator.random(rows) < np.where(site == 0, 0.95, 0.6), answer, 1 - answer)
    return {
        "class": np.array(["p", "q"])[answer].tolist(),
        "x": ["ab"[each] if seen else None for each, seen in zip(tells, generator.random(rows) < 0.9, strict=True)],
        "z": generator.normal(size=rows).round(2).tolist(),
        "site": [sites[each] if seen else None for each, seen in zip(site, generator.random(rows) < 0.95, strict=True)],
    }


def chosen(data: dict[str, list[Any]], site: str) -> dict[str, list[Any]]:
    places = [place for place, own in enumerate(data["site"]) if own == site]
    return {name: [own[place] for place in places] for name, own in data.items() if name != "site"}


def write_csv(path: Path, data: dict[str, list[Any]]) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    return path


def test_groups_are_counted_as_if_each_were_a_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = table()
    groups, missing = count_by(data, "class", "site", Reading())
    assert list(groups) == ["n", "s", "w"]
    assert missing == data["site"].count(None)
    for site, counts in groups.items():
        assert counts == credimi.count(chosen(data, site), "class")
        assert counts.rows == data["site"].count(site)
    path = write_csv(tmp_path / "a.csv", data)
    monkeypatch.setattr(csv_files, "_PART", 2_000)
    monkeypatch.setattr(csv_files, "_GATHERED", 0)
    batches = []
    monkeypatch.setattr(
        "credimi.sources.group_counts.encode_batch",
        lambda *given, **named: batches.append(1) or encode_batch(*given, **named),
    )
    from_file, gone = count_by(path, "class", "site", Reading())
    assert len(batches) > 3
    assert gone == missing
    for site, counts in from_file.items():
        assert counts == credimi.count(write_csv(tmp_path / f"{site}.csv", chosen(data, site)), "class")


def test_groups_of_numbers_are_in_their_order_and_one_spelling(tmp_path: Path) -> None:
    data = {"class": ["p", "q"] * 40, "x": ["a", "b"] * 40, "year": ["10", "9", "9.0", "NA"] * 20}
    for source in (write_csv(tmp_path / "a.csv", data), data | {"year": [10, 9, 9, None] * 20}):
        groups, missing = count_by(source, "class", "year", Reading())
        assert {name: counts.rows for name, counts in groups.items()} == {"9": 40, "10": 20}
        assert missing == 20


def test_each_group_is_compared_with_all_others() -> None:
    found = credimi.rank_by(table(), "class", by="site")
    assert list(found.rankings) == ["n", "s", "w"]
    assert [each.names for each in found.comparisons] == [("all others", site) for site in "nsw"]
    assert [each["x"]["verdict"] for each in found.comparisons] == ["more", "less", "less"]
    rows = [each.rows for each in found.comparisons]
    assert all(sum(each) == sum(rows[0]) for each in rows)
    assert "site" not in found.rankings["n"].columns["feature"]
    assert "== site n ==" in repr(found)
    assert f"{found.ungrouped:,} rows have no site" in repr(found)


def test_two_groups_are_compared_with_each_other_and_ranked_by_the_same_tables() -> None:
    found = credimi.rank_by(table(sites="ns"), "class", by="site")
    assert len(found.comparisons) == 1
    comparison = found.comparisons[0]
    assert comparison.names == ("n", "s")
    for row in comparison:
        for letter, site in zip("ab", comparison.names, strict=True):
            ranked = found.rankings[site][row["feature"]]
            assert row[f"mi_{letter}"] == pytest.approx(ranked["mi"], rel=1e-9)
            assert row[f"complete_{letter}"] == ranked["complete"]
    answer = json.loads(json.dumps(found.to_dict()))
    assert answer["settings"]["by"] == "site"
    assert [each["name"] for each in answer["groups"]] == ["n", "s"]


def test_the_group_need_not_be_among_the_features_that_are_named() -> None:
    found = credimi.rank_by(table(), "class", "site", features=["x"])
    assert found.rankings["n"].columns["feature"] == ["x"]


@pytest.mark.parametrize(
    ("data", "by", "options", "message"),
    [
        (table(), "sight", {}, "did you mean 'site'"),
        (table(), "class", {}, "is the target"),
        (table(), "site", {"exclude": ["site"]}, "remove it from exclude"),
        (table(), "z", {}, "more than 50 different values"),
        (table(sites="n"), "site", {}, "one value only, 'n'"),
        (table() | {"site": [None] * 1_200}, "site", {}, "no values"),
        (credimi.count(table(), "class"), "site", {}, "counts have no rows"),
        (table(), "site", {"level": 95}, "level is 95"),
    ],
)
def test_what_cannot_be_grouped_is_refused(data: object, by: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(credimi.CredimiError, match=message):
        credimi.rank_by(data, "class", by, **options)


def test_a_group_without_targets_or_of_one_class_is_ranked_and_compared() -> None:
    data = {
        "class": ["p", "q"] * 50 + [None] * 30 + ["p"] * 30,
        "x": ["a", "b"] * 80,
        "site": ["1"] * 100 + ["2"] * 30 + ["3"] * 30,
    }
    found = credimi.rank_by(data, "class", "site")
    assert list(found.rankings) == ["1", "2", "3"]
    assert found.comparisons[0]["x"]["verdict"] == "more"
    assert all(0.0 <= each["x"]["p_change"] <= 1.0 for each in found.comparisons)


def test_groups_by_the_place_of_an_array() -> None:
    generator = np.random.default_rng(5)
    array = generator.integers(0, 2, (300, 3))
    named, placed = credimi.rank_by(array, 0, "column 1"), credimi.rank_by(array, 0, -2)
    assert placed.by == named.by == "column 1"
    assert placed.to_dict() == named.to_dict()
    with pytest.raises(credimi.CredimiError, match="'column 1' is the target"):
        credimi.rank_by(array, 1, 1)


@pytest.mark.parametrize("by", [np.arange(20) % 2, ["site", "z"]])
def test_groups_are_named_by_one_column(by: Sequence[object]) -> None:
    data = {"class": ["p", "q"] * 10, "x": ["a", "b"] * 10, "site": ["n"] * 10 + ["s"] * 10, "z": ["a", "b"] * 10}
    with pytest.raises(credimi.CredimiError, match=f"by is a {type(by).__name__}: name one column"):
        credimi.rank_by(data, "class", by)


def test_each_ranking_is_sorted_and_the_comparisons_stay() -> None:
    found = credimi.rank_by(table() | {"noise": list("ab") * 600}, "class", by="site")
    by_name = found.sorted_by("name")
    for ranking in by_name.rankings.values():
        assert ranking.columns["feature"] == sorted(ranking.columns["feature"])
    assert [each.columns for each in by_name.comparisons] == [each.columns for each in found.comparisons]
    assert {ranking.columns["feature"][0] for ranking in found.rankings.values()} == {"x"}


def in_time(rows: int = 2_000) -> dict[str, list[Any]]:
    """In the first half x is informative; z is, in both."""
    generator = np.random.default_rng(6)
    answer, early = generator.integers(0, 2, rows), np.arange(rows) < rows // 2
    days = np.datetime64("2020-01-01") + np.arange(rows) // 4
    return {
        "day": days.astype(str).tolist(),
        "number": (np.arange(rows) / 7.0).tolist(),
        "x": np.where(generator.random(rows) < np.where(early, 0.9, 0.5), answer, 1 - answer).tolist(),
        "z": np.where(generator.random(rows) < 0.8, answer, 1 - answer).tolist(),
        "class": np.array(["p", "q"])[answer].tolist(),
    }


def of_rows(data: dict[str, list[Any]], rows: slice, by: str) -> dict[str, list[Any]]:
    return {name: own[rows] for name, own in data.items() if name != by}


@pytest.mark.parametrize("by", ["day", "number"])
@pytest.mark.parametrize("source", ["frame", "file"])
def test_halves_of_a_time_are_ranked_as_if_each_were_a_table(by: str, source: str, tmp_path: Path) -> None:
    data = in_time()
    asked = data if source == "frame" else write_csv(tmp_path / "a.csv", data)
    grouped = credimi.rank_by(asked, "class", by, by_cuts="quantile:2", exclude=["number"] if by == "day" else ["day"])
    first, second = grouped.rankings
    assert first.removeprefix("<= ") == second.removeprefix("> ")
    assert [ranking.rows for ranking in grouped.rankings.values()] == [1_000, 1_000]
    given = settled_cuts(asked, by, "quantile:2", Reading())
    counted, missing = count_by(asked, "class", by, Reading(), given)
    assert missing == 0
    for name, rows in ((first, slice(None, 1_000)), (second, slice(1_000, None))):
        half = of_rows(data, rows, by)
        assert counted[name] == credimi.count(
            half if source == "frame" else write_csv(tmp_path / "b.csv", half), "class"
        )
    (comparison,) = grouped.comparisons
    assert comparison.names == (first, second)
    assert comparison["x"]["verdict"] == "less"
    assert comparison["z"]["verdict"] == "unsure"
    assert grouped.settings["by_cuts"] == list(given)
    assert next(iter(comparison.sections())).above[0].startswith("1 column surely changed (1 less informative)")


def test_ranges_are_in_their_order_and_cuts_may_be_dates_or_numbers() -> None:
    data = in_time()
    numbers = credimi.rank_by(data, "class", "number", by_cuts=[9, 100, 20])
    assert list(numbers.rankings) == ["<= 9", "9 to 20", "20 to 100", "> 100"]
    dates = credimi.rank_by(data, "class", "day", by_cuts="2020-12-31")
    assert list(dates.rankings) == ["<= 2020-12-31", "> 2020-12-31"]
    assert dates.rankings["<= 2020-12-31"].rows == 4 * 366


def test_what_cannot_be_cut_is_refused_with_the_remedy() -> None:
    data = in_time() | {"word": ["a", "7"] * 1_000}
    for by, cuts, said in (
        ("number", "halves", "by_cuts is 'halves', which are no cuts: pass numbers"),
        ("number", ["2020-01-01"], "column 'number' holds numbers, but by_cuts are dates"),
        ("day", [3], "column 'day' holds dates, but by_cuts are numbers"),
        ("word", [3], "column 'word' cannot be cut into ranges"),
        ("word", "quantile:2", "by_cuts is 'quantile:2', but column 'word' cannot be cut into ranges"),
        ("number", None, "has more than 50 different values: compare ranges of numbers or dates (by_cuts='quantile:2'"),
        ("number", [10_000], "column 'number' has one value only, '<= 10000'"),
    ):
        with pytest.raises(credimi.CredimiError) as refused:
            credimi.rank_by(data, "class", by, by_cuts=cuts)
        assert said in str(refused.value)
    with pytest.raises(credimi.CredimiError, match="such as 'a'"):
        credimi.rank_by(data, "class", "word", by_cuts=[3])


def test_the_command_compares_halves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_csv(tmp_path / "a.csv", in_time())
    asked = ["rank", str(path), "--target", "class", "--exclude", "number"]
    assert main([*asked, "--by", "day", "--by-cuts", "quantile:2"]) == 0
    assert "1 column surely changed (1 less informative)" in capsys.readouterr().out
    assert main([*asked, "--by-cuts", "quantile:2"]) == 2
    assert "--by-cuts cuts the column of --by: add --by COLUMN" in capsys.readouterr().err
