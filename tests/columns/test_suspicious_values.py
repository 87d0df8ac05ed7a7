"""What may not be what it is taken for: other notations of numbers and dates, numbers that mean missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from credimi import CredimiError, count, rank
from credimi.columns.suspicious_values import notation_of, sentinels, spelled_alike
from credimi.results import sentences

if TYPE_CHECKING:
    from pathlib import Path

PLACES = range(40)
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
WRITTEN = {
    "day first": ("date_notation", [f"{place % 28 + 1:02}.{place % 12 + 1:02}.2024" for place in PLACES]),
    "day first, slashes": ("date_notation", [f"{place % 28 + 1}/{place % 12 + 1}/2024" for place in PLACES]),
    "month first": ("date_notation", [f"{place % 12 + 1}/{place % 28 + 1}/2024" for place in PLACES]),
    "two digits": ("date_notation", [f"{place % 28 + 1:02}.{place % 12 + 1:02}.24" for place in PLACES]),
    "with a time": ("date_notation", [f"{place % 28 + 1:02}.01.2024 {place % 24}:30" for place in PLACES]),
    "halves of the day": ("date_notation", [f"1/{place % 28 + 1}/2024 {place % 12 + 1}:30 PM" for place in PLACES]),
    "month in letters": ("date_notation", [f"{place % 28 + 1:02}-{MONTHS[place % 12]}-2024" for place in PLACES]),
    "month in capitals": (
        "date_notation",
        [f"{place % 28 + 1:02}{MONTHS[place % 12].upper()}2024" for place in PLACES],
    ),
    "month in words": ("date_notation", [f"September {place % 28 + 1}, {1990 + place}" for place in PLACES]),
    "year first, slashes": ("date_notation", [f"2024/{place % 12 + 1}/{place % 28 + 1}" for place in PLACES]),
    "points and comma": ("thousands_separators", [f"{place}.001,18" for place in PLACES]),
    "commas and point": ("thousands_separators", [f"{place * 431:,}.5" for place in PLACES]),
    "commas": ("thousands_separators", [f"{place * 431:,}" for place in PLACES]),
    "apostrophes": ("thousands_separators", [f"{place}'001.18" for place in PLACES]),
    "thin spaces": ("thousands_separators", [f"{place}\u202f001,18" for place in PLACES]),
    "percent": ("percent_signs", [f"{place} %" for place in PLACES]),
    "percent of a fraction": ("percent_signs", [f"-{place}.5%" for place in PLACES]),
    "dollars": ("currency_signs", [f"${place}.50" for place in PLACES]),
    "thousands of dollars": ("currency_signs", [f"$1,{place:03}.50" for place in PLACES]),
    "euros": ("currency_signs", [f"{place},50 €" for place in PLACES]),
    "a code": ("currency_signs", [f"EUR {place}" for place in PLACES]),
}
OTHERS = {
    "versions": [f"{place // 10}.{place % 10}.{place % 7}" for place in PLACES],
    "addresses": [f"192.168.{place}.{place + 1}" for place in PLACES],
    "phones": [f"555-{1000 + place}" for place in PLACES],
    "times": [f"{place % 24}:{place:02}" for place in PLACES],  # read if all are, and no caution if not
    "weights": [f"{place} kg" for place in PLACES],
    "words": [f"w{place}" for place in PLACES],
    "names with a month": [f"May {place}" for place in PLACES],
    "months that are none": [f"{place + 32}.{place + 13}.2024" for place in PLACES],
    "choices": [f"{place},{place + 1},{place + 2}" for place in PLACES],
    "few": ["12 %", "13 %", "14 %"],
}


@pytest.mark.parametrize("name", WRITTEN)
def test_notations_are_seen_through_blanks_and_a_few_others(name: str) -> None:
    kind, texts = WRITTEN[name]
    for given in (texts, [f" {text} " for text in texts], [*texts, "n/a", "-"]):
        found = notation_of(given)
        assert found is not None
        assert found.kind == kind
        assert found.values[0] in texts
    assert notation_of([*texts[:20], *(f"word {place}" for place in PLACES)]) is None


@pytest.mark.parametrize("name", OTHERS)
def test_other_texts_have_no_notation(name: str) -> None:
    assert notation_of(OTHERS[name]) is None


@pytest.mark.parametrize("name", WRITTEN)
def test_a_column_of_two_notations_is_pointed_out_with_two_values(name: str) -> None:
    kind, texts = WRITTEN[name]
    table = {"x": [*texts[1:], "about twelve"] * 10, "class": list("ab") * 200}
    ranking = rank(table, "class")
    (feature,) = count(table, "class").interpreted()
    assert [each.kind for each in feature.suspicions] == [kind]
    assert [(each.feature, each.notation) for each in ranking.remarks if each.kind == "other_notation"] == [("x", kind)]
    plain = "YYYY-MM-DD" if kind == "date_notation" else "plain numbers"
    assert ranking["x"]["note"].startswith("categories, not ")
    assert f"and 'about twelve' (write {plain}" in ranking["x"]["note"]
    told = " ".join(str(ranking).split())
    assert "but also 'about twelve'" in told
    assert f"read as text; write {plain}" in told
    with pytest.raises(CredimiError, match=r"column 'x' holds text such as .*write them as (YYYY|plain)"):
        rank(table, "class", discretize={"x": "mdl"})


def test_identifiers_in_two_notations_are_pointed_out() -> None:
    texts = ["about $5", *(f"${row}.50" for row in range(1, 100))]
    feature = count({"x": texts, "class": list("ab") * 50}, "class").feature("x")
    note = sentences.note(feature.facts)
    assert note == (
        "numbers: currency signs as in '$10.50' and 'about $5' (write plain numbers, such as 12.5); as text, an "
        "identifier: 100 different values in 100 rows"
    )


def test_identifiers_that_are_numbers_say_so_first_with_their_own_remedy(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    lines = (f"{row}.5;{row:05};n{row};{'ab'[row % 2]}" for row in range(60))
    path.write_text("stray;zeros;name;class\nabout 5;00000;n;a\n" + "\n".join(lines))
    own, told = rank(path, "class"), "61 different values in 61 rows"
    assert {name: own[name]["note"] for name in own.columns["feature"]} == {
        "stray": f"numbers but for 'about 5' (add 'about 5' to missing_values); as text, an identifier: {told}",
        "zeros": "identifier: 60 different values in 61 rows, text because of leading zeros (discretize={'zeros': "
        "'mdl'} ranks it)",
        "name": f"identifier: {told} (discretize={{'name': 'categories'}} ranks it)",
    }
    for name in ("zeros", "name"):  # the remedy can be followed
        method = "categories" if name == "name" else "mdl"
        assert rank(path, "class", discretize={name: method})[name]["verdict"] != "not ranked"
    with_missing = rank(path, "class", missing_values=[..., "about 5"])
    assert with_missing["stray"]["verdict"] != "not ranked"


def test_many_identifiers_that_are_numbers_take_a_line_of_their_own() -> None:
    table = {f"price{place}": ["so so", *(f"{row}.{place}5" for row in range(1, 60))] for place in range(5)}
    table |= {f"id{place}": [f"{place}-{row}x" for row in range(60)] for place in range(5)}
    below = sentences.unranked_lines(rank(table | {"class": list("ab") * 30}, "class").facts.values())
    assert below[0].startswith("identifiers, not ranked: id0 (") or below[0].startswith("numbers but for a few texts")


# Numbers that may mean missing


@pytest.mark.parametrize(
    ("numbers", "found"),
    [
        ([0, 1, 99], ["99"]),
        ([1, 2, 3, 4, 5, -9], ["-9"]),
        ([1, 2, 3, -8, -9], ["-9", "-8"]),
        ([*range(18, 91), 999], ["999"]),
        ([*range(100), 999], ["999"]),
        ([1, 2, 3, 88, 99], ["88", "99"]),
        ([1, 2, 97, 98, 99], ["97", "98", "99"]),
        ([*range(1990, 2020), 9999], ["9999"]),
        ([36.4, 36.9, 37.5, -999], ["-999"]),
        ([-20, 0, 30, -999], ["-999"]),
        ([*range(18, 91), -9], ["-9"]),
        ([*range(11), -8, -9], ["-9", "-8"]),
        ([*range(-110, -30), 99], ["99"]),
        ([0, *range(100, 41310, 7), 99999], ["99999"]),
    ],
)
def test_numbers_that_may_mean_missing(numbers: list[float], found: list[str]) -> None:
    ordered = np.array(sorted(numbers), dtype=np.float64)
    totals = np.full(ordered.size, 3)
    assert sorted(sentinels(ordered, totals)) == sorted(found)
    assert sentinels(ordered, totals - 1) == []  # two rows may be two mistakes


@pytest.mark.parametrize(
    "numbers",
    [
        [*range(100)],
        [*range(0, 100, 9)],
        [*range(18, 81), 99],
        [60, 70, 88, 99],
        [0, 99],
        [7, 8, 9],
        [0, 1, 2, 3, 9],
        [0, 1, 98.5],
        [0, 1, 100],
        [-9, -5, 0, 4, 9],
        [-7, 0, 7],
        [-9, *range(-2, 80)],
        [*range(88, 180)],
        [*range(-180, -87)],
        [*range(-9, 31)],
        [0, 1, np.inf],
        [-np.inf, 0, 99],
        [99],
        [],
    ],
    ids=str,
)
def test_numbers_that_do_not(numbers: list[float]) -> None:
    ordered = np.array(sorted(numbers), dtype=np.float64)
    assert sentinels(ordered, np.full(ordered.size, 1000)) == []


def test_infinite_numbers_are_pointed_out() -> None:
    """They are ranked like others, larger than all; but they come from a division by 0, as a rule."""
    table = {
        "ratio": [np.inf if row % 40 == 0 else row % 77 / 7 for row in range(200)],
        "log": [-np.inf if row % 40 == 1 else row % 2 for row in range(200)],
        "class": list("ab") * 100,
    }
    ranking = rank(table, "class")
    found = {(each.feature, each.codes) for each in ranking.remarks if each.kind == "may_mean_missing"}
    assert found == {("ratio", ("inf",)), ("log", ("-inf",))}
    assert ranking["ratio"]["note"].endswith("; inf may mean missing")
    cleared = rank(table, "class", missing_values=["inf", "-inf"])
    assert cleared["ratio"]["missing"] == cleared["log"]["missing"] == 5
    assert not [each for each in cleared.remarks if each.kind == "may_mean_missing"]


def test_a_number_far_from_all_others_is_taken_as_missing() -> None:
    table = {
        "few": [0, 1, 0, 99] * 50,
        "many": [row % 70 + 18 if row % 5 else 999 for row in range(200)],
        "age": [row % 100 for row in range(200)],
        "class": list("ab") * 100,
    }
    ranking = rank(table, "class")
    assert ranking["few"]["note"] == "categories; taken as missing: '99'"
    assert ranking["many"]["note"].endswith("; taken as missing: '999'")
    assert "missing" not in ranking["age"]["note"]
    told = " ".join(str(ranking).split())
    assert "caution: taken as missing: " in told
    same = rank(table, "class", missing_values=[..., 99, 999])
    assert not any("missing" in note for note in same.columns["note"])
    assert all(ranking[name]["missing"] == same[name]["missing"] > 0 for name in ("few", "many"))
    left = rank(table, "class", missing_values=["?"])  # a list of one's own is all that is missing
    assert left["few"]["note"] == "categories; 99 may mean missing"
    assert left["few"]["missing"] == 0
    assert rank(table, "class", discretize={"few": "categories"})["few"]["missing"] == 0
    assert rank(table, "class", discretize={"many": "mdl"})["many"]["missing"] == 0


def test_a_target_that_may_not_be_one_is_pointed_out() -> None:
    features = {"x": list("ab") * 300}
    ranking = rank(features, [row % 51 for row in range(600)], target_as="categories")
    (doubt,) = ranking.doubts
    assert ranking.to_dict()["doubts"] == [doubt]
    assert doubt == (
        "the target 'target' has 51 classes, all of them numbers, and looks like a measurement: cut it into a few "
        "ranges (target_cuts='quantile:4', say)"
    )
    assert "caution: the target 'target' has 51 classes" in str(ranking)
    (doubt,) = rank(features, [(0, 1, 99)[row % 3] for row in range(600)]).doubts
    assert doubt == (
        "the target 'target' has the class 99, which may mean missing (add 99 to missing_values: then in all columns)"
    )
    (doubt,) = rank(features, [("no", "yes", "n.a.", "-")[row % 4] for row in range(600)]).doubts
    assert doubt == (
        "the target 'target' has the classes '-', 'n.a.', which may mean missing (add '-', 'n.a.' to missing_values: "
        "then in all columns)"
    )
    for target in (
        [row % 20 for row in range(600)],
        [f"c{row % 60}" for row in range(600)],
        list("pq") * 300,
        list("+-") * 300,
    ):
        assert rank(features, target).doubts == ()


def test_none_and_a_minus_beside_a_plus_are_values() -> None:
    classes = list("pq") * 30
    assert rank({"x": ["none", "mild", "severe"] * 20}, classes)["x"]["note"] == "categories"
    assert rank({"x": ["None", "mild", "severe"] * 20}, classes)["x"]["missing"] == 20  # as pandas reads it
    assert rank({"x": list("+-") * 30}, classes)["x"]["note"] == "categories"
    assert rank({"x": ["++", "+", "-"] * 20}, classes)["x"]["note"] == "categories"
    assert rank({"x": list("ab-") * 20}, classes)["x"]["note"] == "categories; '-' may mean missing"


def test_numbers_with_fractions_that_are_held_as_text_are_read() -> None:
    classes = list("pq") * 100
    frame = {"x": [str(row % 50 / 4) for row in range(200)], "whole": [str(row % 50) for row in range(200)]}
    ranking = rank(frame, classes)
    assert ranking["x"]["note"].endswith("; numbers held as text, such as '9.75'")
    assert ranking["whole"]["note"] == "categories"  # as it may be meant
    assert "text that was read as numbers or dates: x (numbers held as text, such as '9.75')" in str(ranking)
    assert rank(frame, classes, discretize={"x": "categories"})["x"]["note"] == "categories, not numbers: numerals"


@pytest.mark.parametrize(
    ("texts", "found"),
    [
        (["no", "yes"], []),
        (["no", "YES ", "yes"], ["YES ", "yes"]),
        (["a", "b", " b", "B\t", "A"], ["b", " b", "B\t"]),  # the first that are found
        ([" ", "  "], []),  # which may mean missing
        (["a b", "ab"], []),
        (["STRASSE", "straße"], ["STRASSE", "straße"]),
        ([f"v{place}" for place in range(10_000)] + ["V1"], []),  # too many to compare
    ],
)
def test_values_that_are_spelled_alike(texts: list[str], found: list[str]) -> None:
    assert spelled_alike(texts) == found


def test_values_and_classes_that_are_spelled_alike_are_pointed_out(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("x,blank,plain,class\n" + "red,a,u,yes\nRed ,b,v,no\ngreen, ,w,YES \n" * 40)
    ranking = rank(path, "class")
    found = {(each.kind.value, each.feature, each.codes) for each in ranking.remarks if each.codes}
    assert found == {
        ("target_spelled_alike", None, ("YES ", "yes")),
        ("spelled_alike", "x", ("Red ", "red")),
    }
    assert ranking["blank"]["missing"] == 40
    assert all(each.caution for each in ranking.remarks if each.codes)
    told = " ".join(str(ranking).split("\n"))
    alike = "differ only in case, or in blanks at the ends"
    assert (
        f"classes of the target 'class' that are probably the same: 'YES ', 'yes' {alike}; unify the spelling" in told
    )
    assert f"probably the same value: x: 'Red ', 'red' {alike} (unify the spelling)" in told
    assert ranking["x"]["note"] == f"categories; 'Red ', 'red' {alike}"


@pytest.mark.parametrize(("classes", "rows", "said"), [(600, 600, True), (301, 600, True), (300, 600, False)])
def test_a_target_that_names_rows_is_pointed_out(classes: int, rows: int, said: object) -> None:
    """It got figures without a word, though nothing can be learned about classes of one row."""
    target = [f"row {place % classes}" for place in range(rows)]
    ranking = rank({"x": list("ab") * (rows // 2), "y": target}, "y")
    found = [each.to_dict() for each in ranking.remarks if each.kind.value == "target_identifier"]
    assert bool(found) is said
    assert ("looks like an identifier" in repr(ranking)) is said
    assert all((each["caution"], each["target"], each["values"]) == (True, "y", classes) for each in found)
