"""`credimi rank`, `select` and `count` from outside: which column; too little."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from command_helpers import CLINIC, Call, Refusal, Report, base, columns, write, write_parquet

import credimi


def test_unknown_target_suggests_the_nearest(refusal: Refusal) -> None:
    said = refusal("rank", CLINIC, "--target", "diabets")
    assert said.startswith("there is no column 'diabets': did you mean 'diabetes'")


def test_unknown_target_in_other_case(refusal: Refusal) -> None:
    assert refusal("rank", CLINIC, "--target", "DIABETES") == "there is no column 'DIABETES': did you mean 'diabetes'?"


def test_unknown_target_like_none(refusal: Refusal) -> None:
    write("data.csv", base())
    assert refusal("rank", "data.csv", "--target", "zzz") == "there is no column 'zzz': there are 'y', 'a', 'b'"


def test_unknown_target_names_few_of_many(refusal: Refusal) -> None:
    write("data.csv", ",".join(f"c{i:04}" for i in range(3000)) + "\n")
    assert len(refusal("rank", "data.csv", "--target", "outcome")) < 200


@pytest.mark.parametrize("command", [["rank"], ["select", "--output", "new.csv"], ["count", "--into", "new.counts"]])
def test_no_target(refusal: Refusal, command: list[str]) -> None:
    write("data.csv", base())
    assert refusal(command[0], "data.csv", *command[1:]) == "name the target: --target COLUMN"


def test_unknown_feature(refusal: Refusal) -> None:
    said = refusal("rank", CLINIC, "--target", "diabetes", "--features", "age", "bmj")
    assert said == "there is no column 'bmj': did you mean 'bmi'?"


def test_target_among_the_features(refusal: Refusal) -> None:
    write("data.csv", base())
    assert refusal("rank", "data.csv", "--target", "y", "--features", "y").startswith("'y' is the target")


def test_two_columns_of_one_name(refusal: Refusal) -> None:
    write("data.csv", "y,a,a\n1,2,3\n0,3,2\n")
    said = refusal("rank", "data.csv", "--target", "y")
    assert said.startswith("two columns are called 'a': give each column a name of its own")
    assert said.endswith("if the file has no line of names, write one above the data")


def test_nothing_but_the_target(refusal: Refusal) -> None:
    write("data.csv", "y\n" + "p\nq\n" * 10)
    assert refusal("rank", "data.csv", "--target", "y").startswith("data.csv has no column besides the target 'y'")


def test_nameless_columns_show(call: Call) -> None:
    """A row index that some program wrote without a name, or a comma at the end of each line."""
    write("data.csv", columns("", "y", "a", rows=[(7, i % 2, i % 2) for i in range(30)]))
    assert "(no name): one value only: 7" in call("rank", "data.csv", "--target", "y")[1]


@pytest.mark.parametrize("content", ["", "\n\n\n"])
def test_empty_file(refusal: Refusal, content: str) -> None:
    write("data.csv", content)
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "data.csv is empty: a table needs a first line with the columns' names, and rows"


@pytest.mark.parametrize("arguments", [["rank"], ["count", "--into", "c"], ["select", "--output", "new.parquet"]])
def test_empty_file_that_is_named_as_parquet(refusal: Refusal, arguments: list[str]) -> None:
    write("data.parquet", "")
    said = refusal(*arguments, "data.parquet", "--target", "y")
    assert said == "data.parquet is empty, which no Parquet file is: write it again, or leave it out"


@pytest.mark.parametrize("content", ["y,a,b\n", "y,a,b", "y,a,b\r\n", "\ufeffy,a,b\n", "y,a,b\n\n\n"])
def test_header_only(refusal: Refusal, content: str) -> None:
    write("data.csv", content)
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "data.csv has no rows: nothing can be said about 'y'"


def test_counts_without_rows(call: Call, refusal: Refusal) -> None:
    """An empty month adds nothing to counts, and is no fault; counts do not begin with one."""
    write("data.csv", "y,a\n")
    write("other.csv", "y,b\np,1\nq,2\n")
    said = refusal("count", "data.csv", "--target", "y", "--into", "all.counts")
    assert said == "data.csv has no rows: nothing is counted, and all.counts is not written"
    assert not Path("all.counts").exists()
    assert call("count", "other.csv", "--target", "y", "--into", "all.counts")[0] == 0  # other columns are no fault
    write("empty.csv", "y,b\n")
    code, _, err = call("count", "empty.csv", "--into", "all.counts")
    assert (code, err) == (0, "credimi: all.counts: 2 rows, 0 of them new, 1 feature\n")
    credimi.count("data.csv", "y").save("no.counts")
    assert refusal("rank", "no.counts") == "no.counts counts no rows: nothing can be said about 'y'"


def test_parquet_without_rows(refusal: Refusal) -> None:
    write_parquet("data.parquet", {"y": pa.array([], pa.string()), "a": pa.array([], pa.int64())})
    assert refusal("rank", "data.parquet", "--target", "y").startswith("data.parquet has no rows")


def test_target_of_one_class(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[("only", i % 2) for i in range(20)]))
    said = refusal("rank", "data.csv", "--target", "y")
    assert said == "target 'y' has one class only, 'only': nothing can inform about it"


def test_target_all_missing(refusal: Refusal) -> None:
    write("data.csv", columns("y", "a", rows=[(("", "?", "NA")[i % 3], i % 2) for i in range(20)]))
    assert refusal("rank", "data.csv", "--target", "y").startswith("target 'y' is missing in all 20 rows")


def test_target_of_many_numbers(call: Call) -> None:
    write("data.csv", columns("y", "a", rows=[(i / 7, i % 2) for i in range(60)]))
    out = call("rank", "data.csv", "--target", "y")[1]
    assert "What informs about y (y is numeric; its quarters: " in " ".join(out.split())
    out = call("rank", "data.csv", "--target", "y", "--target-as", "categories")[1]
    assert "What informs about y (0, 0.142857" in out


def test_columns_of_one_value_or_none_come_last(call: Call, report: Report) -> None:
    write("data.csv", columns("c", "m", "y", "a", rows=[("k", "", i % 2, i % 2) for i in range(20)]))
    features = report("data.csv", "--target", "y")["features"]
    assert [feature["feature"] for feature in features] == ["a", "c", "m"]
    assert [feature["mi"] for feature in features[1:]] == [0.0, None]
    assert [feature["note"] for feature in features[1:]] == ["one value only: k", "all values are missing"]
    assert [feature["verdict"] for feature in features[1:]] == ["drop", "not ranked"]
    out = call("rank", "data.csv", "--target", "y")[1]
    assert "c: one value only: k\n" in out
    assert "m: all values are missing\n" in out
    assert "3 features: 1 keep, 1 drop, 1 not ranked\n" in out


def test_file_of_ids(report: Report) -> None:
    write("data.csv", columns("y", "id", rows=[(i % 2, f"u{i:05}") for i in range(60)]))
    (feature,) = report("data.csv", "--target", "y")["features"]
    assert feature["verdict"] == "not ranked"
    assert feature["mi"] is None
    assert feature["note"].startswith("identifier: 60 different values in 60 rows (--discretize")


def test_select_from_ids_keeps_the_target_alone(call: Call) -> None:
    write("data.csv", columns("y", "id", rows=[(i % 2, f"u{i:05}") for i in range(60)]))
    code, out, err = call("select", "data.csv", "--target", "y", "--rule", "forward", "--output", "new.csv")
    assert (code, out) == (3, "")
    assert err == "credimi: no feature is kept by the rule forward: new.csv has the target 'y' alone\n"
    assert Path("new.csv").read_text(encoding="utf-8") == "y\n" + "0\n1\n" * 30


def test_names_with_commas_between_them_are_told_apart(report: Report, refusal: Refusal) -> None:
    """Two columns, unless a column is called so; all parts must be columns."""
    write("data.csv", base())
    apart = report("data.csv", "--target", "y", "--features", "a", "b")
    assert report("data.csv", "--target", "y", "--features", "a,b") == apart
    assert refusal("rank", "data.csv", "--target", "y", "--features", "a,c").startswith("there is no column 'a,c'")
    write("comma.csv", base().replace("y,a,b", '"a,b",a,y', 1))
    (found,) = report("comma.csv", "--target", "y", "--features", "a,b")["features"]
    assert found["feature"] == "a,b"


@pytest.mark.parametrize("command", ["rank", "select", "interactions", "tree"])
def test_a_column_of_too_many_values_is_refused(refusal: Refusal, command: str) -> None:
    said = refusal(command, CLINIC, "--target", "diabetes", "--features", "region", "smoking", "--max-values", "3")
    assert said.startswith("column 'region' has more than 3 values, such as 'Basel', 'Bern', 'Genève': leave it out")
