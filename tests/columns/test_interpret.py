"""`count` and `Counts`: numbers into categories; columns that are not ranked; targets that are none."""

from __future__ import annotations

import datetime as dt
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from counting_helpers import ROWS, Row, column, csv_text, refusal, table

from credimi import CredimiError, count, rank
from credimi.results import sentences

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def numbers(values: Iterable[float]) -> list[Row]:
    return [{"n": value, "class": "b" if value > 30 else "a"} for value in values]


def test_few_whole_numbers_are_categories() -> None:
    feature = count(numbers(row % 20 * 3 for row in range(200)), "class").feature("n")
    assert feature.values == tuple(str(3 * number) for number in range(20))
    assert (feature.kind, feature.cut_by) == ("categories", None)


@pytest.mark.parametrize(("method", "name"), [("mdl", "mdl"), ("average", "all cuts")])
def test_more_numbers_are_cut_where_it_tells_of_the_target(method: str, name: str) -> None:
    feature = count(numbers(row % 60 for row in range(240)), "class", discretize=method).feature("n")
    assert feature.values == ("<= 30.5", "> 30.5")
    assert (feature.kind, feature.cut_by, feature.shown_cuts) == ("ranges", method, ["30.5"])
    assert sentences.note(feature.facts) == f"{name}, 1 cut: 30.5"
    assert feature.block[:-1, :-1].tolist() == [[124, 0], [0, 116]]


def test_quantiles() -> None:
    feature = count(numbers(row % 60 for row in range(240)), "class", discretize="quantile").feature("n")
    assert sentences.note(feature.facts).startswith("quantile, 9 cuts: 5.5, 11.5, ")
    assert feature.block[:, :-1].sum(axis=0).tolist() == [24] * 10


def test_every_number_a_category() -> None:
    feature = count(numbers(row % 60 / 2 + 5 for row in range(240)), "class", discretize={"n": "categories"}).feature(
        "n"
    )
    assert len(feature.values) == 60
    assert feature.values[:3] == ("5", "5.5", "6")


def test_cuts_of_one_column_and_a_method_for_the_others() -> None:
    rows = [row | {"m": row["n"]} for row in numbers(row % 60 for row in range(240))]
    counts = count(rows, "class", discretize={"n": [50, 10, 10], "*": "quantile"})
    assert counts.feature("n").values == ("<= 10", "10 to 50", "> 50")
    assert sentences.note(counts.feature("n").facts) == "given cuts, 2 cuts: 10, 50"
    assert counts.feature("n").block[:, :-1].sum(axis=0).tolist() == [44, 160, 36]
    assert (counts.feature("m").cut_by, counts.feature("m").cuts.size) == ("quantile", 9)
    assert count(rows, "class", discretize={"n": [10]}).feature("m").cut_by == "average"


def test_cuts_are_made_of_few_whole_numbers_if_they_are_named() -> None:
    feature = count(numbers(row % 5 for row in range(50)) + numbers([40] * 9), "class", discretize={"n": [2]}).feature(
        "n"
    )
    assert feature.values == ("<= 2", "> 2")


def test_cuts_outside_the_values_leave_one_range() -> None:
    feature = count(numbers(row % 60 for row in range(240)), "class", discretize={"n": [100]}).feature("n")
    assert (feature.kind, feature.kind.ranked, feature.kind.unknown) == ("one_range", False, False)
    assert sentences.note(feature.facts) == "all values lie between two cuts"


def test_numbers_that_pass_no_test_are_cut_into_quarters() -> None:
    rows = [{"n": row % 50 / 2, "class": "ab"[row // 50 % 2]} for row in range(400)]
    assert count(rows, "class").feature("n").useless
    feature = count(rows, "class", discretize="mdl").feature("n")
    assert (feature.kind, feature.cut_by, feature.useless) == ("ranges", "quarters", True)
    assert sentences.note(feature.facts).startswith("quarters, as no cut passes the MDL test, 3 cuts: ")
    assert sentences.why_left_out(feature.facts) == (
        f"no cut passes the MDL test (`rank` alone takes its quarters then; discretize={{{feature.name!r}: "
        "'quantile'} uses it here)"
    )
    assert feature.block[:-1, :-1].sum(axis=0) == pytest.approx([100, 100, 100, 100], abs=4)


def test_few_rows_of_a_number_that_tells_are_no_proof_that_it_does_not() -> None:
    """No cut passes, and yet: the posterior is neither 0 nor sure."""
    generator = np.random.default_rng(4)
    x = generator.normal(size=100)
    y = generator.random(100) < 1.0 / (1.0 + np.exp(-0.5 * x))
    for method, note in (("mdl", "quarters"), ("average", "all cuts")):
        (row,) = rank({"x": x, "y": y}, "y", discretize=method)
        assert row["note"].startswith(note)
        assert row["verdict"] == "unsure"
        assert 0.05 < row["p_above"] < 0.95


def test_numbers_are_refused_if_nobody_says_how_to_cut_them() -> None:
    rows = numbers(row % 60 / 2 + 5 for row in range(240))
    message = refusal(rows, discretize=None)
    assert message.startswith("column 'n' holds 60 different numbers, and discretize is None")
    assert "mdl, quantile, categories" in message
    assert count(numbers(row % 5 for row in range(50)) + numbers([40]), "class", discretize=None).interpreted()
    assert count(rows, "class", discretize={"*": None, "n": "mdl"}).interpreted()


@pytest.mark.parametrize(
    ("discretize", "said"),
    [
        ("mld", "unknown discretization 'mld': choose one of average, mdl, quantile, categories"),
        ({"n": "mld"}, "unknown discretization 'mld'"),
        ({"n": []}, "is no list of cuts"),
        ({"n": [1, math.nan]}, "is no list of cuts"),
        ({"n": [1, "x"]}, "is no list of cuts"),
        ({"n": 5}, "is no list of cuts"),
        ({"m": [5]}, "there is no column 'm'"),
        ([1, 2], "pass one of average, mdl, quantile, categories, None, or a dictionary"),
    ],
)
def test_discretize_that_says_nothing_is_refused(discretize: Any, said: str) -> None:  # noqa: ANN401
    assert said in refusal(numbers(range(60)), discretize=discretize)


def test_numbers_are_cut_the_same_in_any_parts() -> None:
    rows = numbers(np.random.default_rng(3).normal(30, 10, 300).tolist())
    whole, total = count(rows, "class"), count(rows[:10], "class")
    for start in range(10, 300, 29):
        total.update(rows[start : start + 29])
    assert total == whole
    assert total.feature("n").values == whole.feature("n").values


def test_notes_on_columns_that_tell_nothing() -> None:
    rows = [
        {
            "name": f"person {row}",
            "number": row + 1000,
            "salary": 7 * row,
            "real": row / 4,
            "same": "x",
            "none": None,
            "flag": row % 2 == 0,
            "half": f"twin {row // 2}",
            "class": "ab"[row % 2],
        }
        for row in range(150)
    ]
    counts = count(rows, "class")
    for name in ("name", "number"):
        note = sentences.note(counts.feature(name).facts)
        assert note.startswith("identifier: 150 different values in 150 rows")
    assert {name: counts.feature(name).kind.value for name in counts.features} == {
        "name": "identifier",
        "number": "identifier",
        "salary": "ranges",
        "real": "ranges",
        "same": "constant",
        "none": "empty",
        "flag": "categories",
        "half": "categories",
    }
    assert sentences.note(counts.feature("same").facts) == "one value only: x"
    assert sentences.note(counts.feature("none").facts) == "all values are missing"
    assert count(rows[:19], "class").feature("name").kind == "categories"
    assert count(rows, "class", discretize={"name": "categories"}).feature("name").kind == "categories"
    assert count(rows, "class", discretize={"number": [1075]}).feature("number").kind == "ranges"


def test_unknown_target_and_features_are_named_with_the_nearest() -> None:
    assert refusal(ROWS, "clas") == "there is no column 'clas': did you mean 'class'?"
    assert "did you mean 'class'" in refusal(ROWS, "CLASS")
    assert "there are 'word', 'whole', 'real', 'truth', 'class'" in refusal(ROWS, "zzz")
    assert "did you mean 'word'" in refusal(ROWS, features=["words"])
    assert "is the target and cannot be a feature" in refusal(ROWS, features=["class", "word"])


def test_features_asked_for_are_counted_in_that_order() -> None:
    assert count(ROWS, "class", features=["truth", "word"]).features == ("truth", "word")
    assert count(ROWS, "class", features="word").features == ("word",)
    assert count(ROWS, "class", features=[]).interpreted() == []
    assert count(ROWS, "class", features=np.array(["truth", "word"])).features == ("truth", "word")


@pytest.mark.parametrize("how", ["same", "pattern", "link", "folder"])
def test_a_file_named_twice_is_refused(how: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(ROWS))
    other = {"same": str(path), "pattern": str(tmp_path / "r*.csv"), "link": tmp_path / "link.csv", "folder": tmp_path}
    (tmp_path / "link.csv").symlink_to(path)
    said = refusal([path, other[how]])
    also = f", as {tmp_path / 'link.csv'}, too" if how in ("link", "folder") else ""
    assert f"is named twice{also}: its rows would count twice; name it once, or add up counts made apart" in said
    assert (count(path, "class") + count(path, "class")).rows == 400


def test_a_feature_asked_for_twice_is_counted_once(tmp_path: Path) -> None:
    pq.write_table(table(), tmp_path / "rows.parquet")
    (tmp_path / "rows.csv").write_text(csv_text(ROWS))
    for data in (ROWS, tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        assert count(data, "class", features=["truth", "word", "truth"]).features == ("truth", "word")


@pytest.mark.parametrize("kind", ["rows", "lazy", "csv", "beside"])
def test_excluded_columns_are_left_out_of_all_kinds_of_data(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    path.write_text(csv_text(ROWS))
    target = column("class") if kind == "beside" else "class"
    data = {
        "rows": lambda: ROWS,
        "lazy": lambda: pytest.importorskip("polars").from_arrow(table()).lazy(),
        "csv": lambda: path,
        "beside": lambda: table().drop_columns(["class"]),
    }[kind]()
    assert count(data, target, exclude=["real", "word"]).features == ("whole", "truth")
    assert count(data, target, exclude="real").features == ("word", "whole", "truth")
    assert count(data, target, features=["word"], exclude=["real"]).features == ("word",)
    assert len(rank(data, target, exclude=["real", "word"])) == 2
    assert "there is no column 'words': did you mean 'word'" in refusal(data, target, exclude=["words"])
    both = refusal(data, target, features=["word", "real"], exclude=["whole", "real"])
    assert both == "column 'real' is both in features and in exclude: remove it from one of them"


def test_the_target_cannot_be_excluded() -> None:
    assert refusal(ROWS, exclude=["class"]) == "'class' is the target and cannot be left out: remove it from exclude"


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", "a", None], "has one class only, 'a'"),
        ([None, None, None], "is missing in all 3 rows"),
        (["?", "", math.nan], "is missing in all 3 rows"),
        ([], "there are no rows"),
        (
            [dt.datetime(2024, 1, 1) + dt.timedelta(hours=row) for row in range(50)],  # noqa: DTZ001
            "holds 50 different dates, not classes",
        ),
        (list(range(1001)), "has at least 1,001 different values, at most 1,000 are classes"),
        ([f"name {row}" for row in range(1001)], "has at least 1,001 different values"),
        (np.arange(70_000) / 7, "has at least 70,000 different values, at most"),
    ],
)
def test_target_that_is_none_is_refused(values: Any, said: str) -> None:  # noqa: ANN401
    rows = {"f": [row % 3 for row in range(len(values))], "class": values}
    assert said in refusal(rows, target_as="categories" if "values, at most" in said else None)


def test_what_means_missing_among_objects_of_another_type_is_missing() -> None:
    rows = [{"f": (1, 2.5, "?", True, "NA", -9)[row % 6], "class": (0, 1, "?")[row % 3]} for row in range(60)]
    numbers = [row for row in rows if row["f"] is not True]
    gone = [{name: None if value in ("?", "NA", -9) else value for name, value in row.items()} for row in numbers]
    tokens = ["?", "NA", -9]
    assert count(numbers, "class", missing_values=tokens) == count(gone, "class", missing_values=tokens)
    with pytest.raises(CredimiError, match="column 'f' mixes types: row 0 holds 1, row 3 True"):
        count(rows, "class", missing_values=tokens, features=["f"])
    with pytest.raises(CredimiError, match=r"column 'f' mixes types: row 0 holds 1, row 4 'NA'"):
        count(rows, "class", missing_values=["?", "true"], features=["f"])
    texts = [{"f": ("a", "b", -9)[row % 3], "class": row % 2} for row in range(60)]
    assert count(texts, "class", missing_values=[-9])["f"].target_only.sum() == 20


def test_targets_at_the_limits_are_classes() -> None:
    for values in ([row / 7 for row in range(20)], list(range(1000)), [True, False]):
        rows = {"f": [row % 3 for row in range(len(values))], "class": values}
        counts = count(rows, "class", target_as="categories")
        assert len(counts.class_names()) == len(values)


@pytest.mark.parametrize(
    ("data", "target", "said"),
    [
        (5, "class", "cannot read a int"),
        ({1, 2}, "class", "cannot read a set"),
        (np.zeros(3), "class", "an array of shape (3,) is no table"),
        ([1, 2], "class", "row 0 is a int: pass a list of dictionaries"),
        ({"f": [1], "class": [1, 2]}, "class", "the columns have different lengths"),
        ({"f": 3, "class": [1]}, "class", "pass one value a row"),
        ([], "class", "there is no column 'class'"),
        ({"f": [1, 2]}, None, "name the target"),
        ({"f": [1, 2]}, 3, "there is no column '3'"),
        ({"f": [1, 2], "class": ["a", 1]}, "class", "column 'class' mixes types: row 0 holds 'a', row 1 1"),
    ],
)
def test_data_that_are_no_table_are_refused(data: Any, target: Any, said: str) -> None:  # noqa: ANN401
    assert said in refusal(data, target)
