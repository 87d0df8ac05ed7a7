"""`compare`: two samples read alike, and what is said of the change."""

from __future__ import annotations

import json
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import credimi
from credimi.questions.compare.result import COLUMNS
from credimi.results.section import Shown
from credimi.results.text import printed

CLINIC = Path(__file__).parents[3] / "examples" / "clinic.csv"


def sample(rows: int, seed: int, *, told: float = 0.8, shift: float = 0.0) -> dict[str, Any]:
    """A class; a column that tells it in a share of the rows; noise; a number; a fifth is missing."""
    generator = np.random.default_rng(seed)
    answer = generator.integers(0, 2, rows)
    tells = np.where(generator.random(rows) < told, answer, 1 - answer)
    steady = np.where(generator.random(rows) < 0.7, answer, 1 - answer)
    return {
        "class": np.array(["p", "q"])[answer].tolist(),
        "tells": [None if gone else "ab"[each] for each, gone in zip(tells, generator.random(rows) < 0.2, strict=True)],
        "steady": np.array(["c", "d"])[steady].tolist(),
        "noise": generator.integers(0, 3, rows).tolist(),
        "number": (generator.normal(size=rows) + answer + shift).tolist(),
    }


def halves(table: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    size = len(table["class"]) // 2
    return {name: own[:size] for name, own in table.items()}, {name: own[size:] for name, own in table.items()}


def test_a_real_change_is_found_and_nothing_else() -> None:
    found = credimi.compare(sample(3_000, 1), sample(3_000, 2, told=0.6), "class")
    assert tuple(found.columns) == COLUMNS
    assert found.columns["feature"][0] == "tells"
    row = found["tells"]
    assert row["verdict"] == "less"
    assert row["p_less"] > 0.999
    assert row["low"] < row["change"] < row["high"] < 0.0
    assert row["change"] == row["mi_b"] - row["mi_a"]
    assert row["p_change"] == row["p_more"] + row["p_less"]
    assert {each["feature"]: each["verdict"] for each in found if each["feature"] != "tells"} == {
        "steady": "unsure",
        "number": "unsure",
        "noise": "same",
    }
    assert credimi.compare(sample(3_000, 2, told=0.6), sample(3_000, 1), "class")["tells"]["verdict"] == "more"


@pytest.mark.parametrize("rows", [2, 10, 50, 4_000])
def test_the_same_data_twice_show_no_change(rows: int) -> None:
    import pandas as pd  # noqa: PLC0415

    table = pd.read_csv(CLINIC)[:rows]
    if table["diabetes"].nunique() < 2:
        table.loc[0, "diabetes"], table.loc[1, "diabetes"] = "yes", "no"
    found = credimi.compare(table, table, "diabetes")
    chances = [each for each in found.columns["p_change"] if not math.isnan(each)]
    assert chances
    assert max(chances) < 0.05


def test_two_samples_of_one_population_are_not_said_to_differ() -> None:
    generator = np.random.default_rng(3)
    answer = generator.integers(0, 3, 800)
    table: dict[str, Any] = {"class": answer.tolist()}
    for column in range(60):
        told = generator.random(800) < column / 80
        table[f"x{column}"] = np.where(told, answer, generator.integers(0, 4, 800)).tolist()
    found = credimi.compare(*halves(table), "class")
    assert len(found) == 60
    assert set(found.columns["verdict"]) <= {"unsure", "same"}


def test_numbers_are_cut_alike_by_all_rows() -> None:
    first, second = sample(800, 1), sample(800, 2, shift=1.0)
    both = {name: first[name] + second[name] for name in first}
    found = credimi.compare(first, second, "class")
    assert found["number"]["note"] == credimi.rank(both, "class")["number"]["note"]
    cuts = credimi.count(both, "class").feature("number").cuts.tolist()
    for letter, own in (("a", first), ("b", second)):
        alone = credimi.rank(own, "class", discretize={"number": cuts})["number"]
        assert found["number"][f"mi_{letter}"] == pytest.approx(alone["mi"], rel=1e-9)
        assert found["number"][f"low_{letter}"] == pytest.approx(alone["low"], rel=1e-6)


def test_data_counts_and_files_say_the_same(tmp_path: Path) -> None:
    first, second = sample(400, 1), sample(300, 2)
    counts = [credimi.count(each, "class") for each in (first, second)]
    for name, own in zip("ab", counts, strict=True):
        own.save(tmp_path / f"{name}.counts")
    found = credimi.compare(first, second, "class")
    for others in (counts, [tmp_path / "a.counts", tmp_path / "b.counts"]):
        assert credimi.compare(*others).to_json() == found.to_json()
    assert counts[0].settings.discretize == "average"  # left as they were


def test_columns_of_one_sample_alone_are_listed() -> None:
    first, second = sample(100, 1), sample(100, 2)
    first["old"], second["new"] = ["x", "y"] * 50, ["x", "y"] * 50
    found = credimi.compare(first, second, "class")
    assert found.only == (("old",), ("new",))
    assert "old" not in found.columns["feature"]
    assert "only in B, not compared: new" in repr(found)


def test_a_sample_of_one_class_is_refused_by_name() -> None:
    """In it no column can tell anything, whatever has happened to the columns."""
    first = sample(400, 1)
    second = {
        name: [each for each, y in zip(own, first["class"], strict=True) if y == "p"] for name, own in first.items()
    }
    for pair, name in (((first, second), "after"), ((second, first), "before")):
        with pytest.raises(
            credimi.CredimiError, match=f"'class' has one class only, 'p', in {name}: nothing can inform"
        ):
            credimi.compare(*pair, "class", names=("before", "after"))
    second["class"] = [None] * len(second["class"])
    with pytest.raises(credimi.CredimiError, match="'class' has no class, in B"):
        credimi.compare(first, second, "class")


def test_the_table_says_why_interval_and_probability_may_disagree() -> None:
    """They do where an interval leaves out 0 and a change is improbable all the same."""
    found = credimi.compare(sample(600, 1), sample(600, 2, told=0.72), "class")
    row = found["tells"]
    assert row["high"] < 0.0
    assert row["p_change"] < 0.95
    told = " ".join(printed(found.sections(verbose := Shown(verbose=True)), verbose).split())
    said = "so that the interval can exclude 0 although P of more and less is small"
    assert said in told
    assert said not in " ".join(str(found).split())


def test_classes_and_values_are_those_of_both() -> None:
    first = {"class": ["p", "q"] * 50, "x": ["a", "b"] * 50, "gone": ["u", "v"] * 50, "word": ["1", "2"] * 50}
    second = {"class": ["p", "r"] * 50, "x": ["a", "c"] * 50, "gone": [None] * 100, "word": ["1", "z"] * 50}
    found = credimi.compare(first, second, "class")
    assert found.classes == ("p", "q", "r")
    assert found["x"]["mi_a"] == pytest.approx(found["x"]["mi_b"], rel=1e-6)
    assert found["gone"]["complete_b"] == 0
    assert found["gone"]["mi_a"] > 0.5 > found["gone"]["mi_b"]
    assert found["word"]["verdict"] in ("same", "unsure")


def test_missing_is_a_value_of_both_if_one_has_it() -> None:
    first = {"class": ["p", "q"] * 100, "x": ["a", None] * 100, "y": ["a", "b"] * 100}
    second = {"class": ["p", "q"] * 100, "x": ["a", "a"] * 100, "y": ["a", "b"] * 100}
    assert credimi.compare(first, second, "class")["x"]["verdict"] == "not compared"
    found = credimi.compare(first, second, "class", missing_as="category")
    assert found["x"]["verdict"] == "less"
    assert found["x"]["complete_a"] == 200


def test_what_is_not_ranked_is_not_compared() -> None:
    table = {"class": ["p", "q"] * 50, "key": [f"row {row}" for row in range(100)], "one": ["a"] * 100}
    table["number"] = list(range(1, 101))
    found = credimi.compare(table, table, "class")  # both name and number their rows alike
    assert found.columns["verdict"] == ["not compared"] * 3
    assert "identifier" in found["number"]["note"]
    assert math.isnan(found["key"]["p_change"])
    assert json.loads(found.to_json())["features"][0]["p_change"] is None


def of_many_sizes() -> credimi.Comparison:
    """Columns that are missing in up to nearly all rows of one sample, and change from not at all to much."""
    generator = np.random.default_rng(8)
    tables: list[dict[str, Any]] = []
    for after in (False, True):
        answer = generator.integers(0, 2, 1_500)
        table: dict[str, Any] = {"class": answer.tolist()}
        for column in range(40):
            told = 0.05 * (column % 4) + 0.15 * (column % 5) * after
            value = np.where(generator.random(1_500) < told, answer, generator.integers(0, 2, 1_500))
            gone = generator.random(1_500) < 0.98 * (column / 40) ** 0.3
            table[f"x{column}"] = [None if lacks else int(each) for each, lacks in zip(value, gone, strict=True)]
        tables.append(table)
    return credimi.compare(*tables, "class", epsilon=0.02)


def test_one_number_decides_and_sorts() -> None:
    """A column with P(|change|) .0006 was unsure, and one with .0007 the same: another number had decided."""
    found = of_many_sizes()
    verdicts = found.columns["verdict"]
    assert {"unsure", "same"} <= set(verdicts)
    assert {"more", "less"} & set(verdicts)
    source = {"more": "p_more", "less": "p_less", "same": "p_within"}
    for row in found:
        assert row["p_claim"] == max(row[name] for name in source.values())
        assert row["claim"] == "unsure" if row["p_claim"] < 0.5 else row["p_claim"] == row[source[row["claim"]]]
        assert row["verdict"] == (row["claim"] if row["p_claim"] >= 0.95 else "unsure")
    assert {"unsure", "same"} <= set(found.columns["claim"])  # "same 0.0171" was printed where no claim is probable
    places = [{"same": 1, "unsure": 2}.get(verdict, 0) for verdict in verdicts]  # what is not known comes last
    assert places == sorted(places)
    for place in (0, 1, 2):
        rows = [row for row, own in zip(found, places, strict=True) if own == place]
        to_change = [
            row["p_claim"] * (-1.0 if place == 2 and row["p_claim"] == row["p_within"] else 1.0) for row in rows
        ]
        assert to_change == sorted(to_change, reverse=True)


def test_the_number_that_decides_is_printed_everywhere(tmp_path: Path) -> None:
    found = of_many_sizes()
    found.to_html(tmp_path / "page.html")
    page, told = (tmp_path / "page.html").read_text(), str(found)
    written = {row["feature"]: row for row in json.loads(found.to_json())["features"]}
    for row in found:
        line = next(line for line in told.splitlines() if line.split()[:1] == [row["feature"]])
        shown = "> 0.9999" if row["p_claim"] > 0.9999 else f"{row['p_claim']:.4f}"
        if row["claim"] == "unsure":  # says nothing, quietly
            assert shown not in line
            continue
        assert f"{row['claim']} {shown}" in " ".join(line.split())
        assert f"{row['claim']} {shown:>8}".replace(">", "&gt;") in page
        assert written[row["feature"]]["p_claim"] == row["p_claim"]


def test_it_is_passed_on(tmp_path: Path) -> None:
    found = credimi.compare(sample(200, 1), sample(200, 2), "class", names=("before", "after"))
    frame = found.to_pandas()
    assert list(frame.columns) == list(COLUMNS)
    assert set(frame["claim"]) <= {"more", "less", "same", "unsure"}
    assert found[0] == next(iter(found)) == found[:1][0] == found[found[0]["feature"]]
    assert found.to_polars().columns == list(frame.columns)
    answer = json.loads(found.to_json())
    asked = {"epsilon_share": "0.5%", "level": 0.95, "p_same": 0.95, "target": "class"}
    assert answer["settings"] | asked == answer["settings"]
    assert [each["name"] for each in answer["samples"]] == ["before", "after"]
    assert [each["rows"] for each in answer["samples"]] == [200, 200]
    assert pickle.loads(pickle.dumps(found)).to_json() == found.to_json()  # noqa: S301
    found.to_html(tmp_path / "page.html")
    assert "before" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize("units", [1.0, 1.0 / math.log(2.0)])
def test_rankings_without_counts_say_nearly_the_same(tmp_path: Path, units: float) -> None:
    first, second = sample(1_500, 1), sample(1_200, 2, told=0.68)
    given: dict[str, Any] = {"discretize": {"number": [0.0, 1.0]}}
    exact = credimi.compare(first, second, "class", **given)
    paths = []
    for name, own in (("a", first), ("b", second)):
        report = credimi.rank(own, "class", **given).to_dict()
        report["settings"]["units"] = "nats" if units == 1.0 else "bits"
        for row in report["features"]:
            row |= {key: row[key] * units for key in ("mi", "std", "low", "high", "mi_if_dependent")}
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(json.dumps(report))
    found = credimi.compare(*paths)
    for row in exact:
        other = found[row["feature"]]
        assert other["verdict"] == row["verdict"]
        assert other["p_change"] == pytest.approx(row["p_change"], abs=0.02)
        assert (other["low"], other["high"]) == pytest.approx((row["low"], row["high"]), abs=2e-3)
    assert (
        credimi.compare(*(credimi.rank(each, "class", **given) for each in (first, second))).settings["counts"] is False
    )


def test_rankings_cut_at_different_places_are_not_compared() -> None:
    rankings = [credimi.rank(sample(500, seed), "class") for seed in (1, 2)]
    found = credimi.compare(*rankings)
    assert found["number"]["verdict"] == "not compared"
    assert "cut at different places" in found["number"]["note"]
    assert found["steady"]["verdict"] != "not compared"


SMALL = {"class": ["p", "q"] * 10, "x": ["a", "b"] * 10}


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((SMALL, SMALL), {}, "name the target"),
        ((SMALL, {"class": ["p", "q"] * 10, "z": ["a", "b"] * 10}, "class"), {}, "no column in common"),
        ((credimi.count(SMALL, "class"), credimi.count(SMALL, "x")), {}, "targets 'class' and 'x'|no column in common"),
        (
            (credimi.count(SMALL, "class"), credimi.count(SMALL, "class", missing_values=["b"])),
            {},
            "different settings",
        ),
        ((credimi.rank(SMALL, "class"), SMALL, "class"), {}, "two rankings, or counts or data for both"),
        ((credimi.rank(SMALL, "class"), credimi.rank(SMALL, "x")), {}, "target 'class' and 'x'"),
        ((credimi.rank(SMALL, "class"), credimi.rank(SMALL, "class"), "x"), {}, "not 'x'"),
        ((credimi.rank(SMALL, "class"), credimi.rank(SMALL, "class", prior="jeffreys")), {}, "prior 'jeffreys'"),
        ((credimi.rank(SMALL, "class"), credimi.rank(SMALL, "class")), {"features": ["x"]}, "already rankings"),
        ((SMALL, SMALL, "class"), {"p_same": 1.0}, "p_same is 1.0"),
        ((SMALL, SMALL, "class"), {"epsilon": -1.0}, "epsilon"),
        ((SMALL, SMALL, "class"), {"names": "ab"}, "two texts"),
        ((SMALL, SMALL, "class"), {"missing_as": "drop"}, "missing_as is 'drop'"),
        ((SMALL, SMALL, "class"), {"target_cuts": "quantile:3"}, r"quantiles of the two differ: pass the cuts"),
    ],
)
def test_what_cannot_be_compared_is_refused(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    with pytest.raises(credimi.CredimiError, match=message):
        credimi.compare(*arguments, **options)


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": None},
        {"settings": {}},
        {"rows": -1},
        {"rows": True},
        {"classes": 3},
        {"classes": [1, 2]},
        {"cuts": []},
        {"features": {}},
        {"features": [1]},
        {"features": "twice"},
        *({"first": {"feature": name}} for name in (None, ["x"])),
        *(
            {"first": {name: value}}
            for name in ("mi", "std", "high", "p_independent")
            for value in ("1", -1, 1e999, True)
        ),
        {"first": {"low": None}},
        {"first": {"p_independent": 1.5}},
        {"first": {"values": 2.5}},
        {"first": {"complete": "4"}},
    ],
    ids=str,
)
def test_a_ranking_that_was_changed_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    ranking = credimi.rank({"y": ["p", "q"] * 20, "x": ["u", "v", "v", "u"] * 10, "z": ["u", "v"] * 20}, "y").to_dict()
    good, path = tmp_path / "good.json", tmp_path / "changed.json"
    good.write_text(json.dumps(ranking))
    ranking["features"][0] |= changed.pop("first", {})
    ranking |= {"features": 2 * ranking["features"]} if changed.get("features") == "twice" else changed
    path.write_text(json.dumps(ranking))
    with pytest.raises(credimi.CredimiError, match=r"changed\.json is no ranking that can be compared: write one with"):
        credimi.compare(good, path)
    assert credimi.compare(good, good).settings["counts"] is False


@pytest.mark.parametrize("content", ["{}", "[1", "[]", '{"settings": {}, "features": [1]}'])
def test_json_that_is_no_ranking_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(credimi.CredimiError, match="no ranking that can be compared"):
        credimi.compare(path, path)
