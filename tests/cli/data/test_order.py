"""--sort, --top and --max-features, the exit code of `select` that keeps nothing, and columns without a name."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from command_helpers import CLINIC, Call, Refusal, Report, columns, write

import credimi
from credimi.questions.rank.page_data import collect


@pytest.mark.parametrize(("order", "column"), [("mean", "mi"), ("low", "low"), ("p", "p_above"), ("name", "feature")])
def test_rank_is_sorted_as_asked(report: Report, order: str, column: str) -> None:
    found = report(str(CLINIC), "--target", "diabetes", "--sort", order)["features"]
    ranked = [each for each in found if each["mi"] is not None]
    values = [round(each[column], 12) if order == "p" else each[column] for each in ranked]
    assert values == sorted(values, reverse=order != "name")
    assert [each["feature"] for each in found[len(ranked) :]] == ["patient"]
    python = credimi.rank(CLINIC, "diabetes").sorted_by(order)
    assert python.columns["feature"] == [each["feature"] for each in found]
    assert set(python.facts) == set(python.columns["feature"])


def test_an_order_that_there_is_not() -> None:
    with pytest.raises(credimi.CredimiError, match="the order is 'size': choose one of mean, low, p, name"):
        credimi.rank({"x": list("ab") * 9, "y": list("pq") * 9}, "y").sorted_by("size")


def test_the_page_of_another_order_has_the_counts_of_its_features() -> None:
    ranking = credimi.rank(CLINIC, "diabetes")
    one, other = (collect(each, each._kept) for each in (ranking, ranking.sorted_by("name")))  # type: ignore[arg-type]  # noqa: SLF001
    assert other["features"]["name"] == [*sorted(ranking.columns["feature"][:-1]), "patient"]
    tables = [dict(zip(each["features"]["name"], each["tables"], strict=True)) for each in (one, other)]
    assert tables[0] == tables[1]


def test_the_first_by_another_order_are_shown(call: Call) -> None:
    _, out, _ = call("rank", str(CLINIC), "--target", "diabetes", "--sort", "name", "--top", "2")
    lines = out.splitlines()
    rule = next(place for place, line in enumerate(lines) if line.startswith("──"))
    assert [line.split()[1] for line in lines[rule + 1 : rule + 3]] == ["age", "appointment_day"]
    assert "; the first 2 shown" in out


def test_select_keeps_the_best_of_those_that_are_kept(call: Call) -> None:
    asked = ("select", str(CLINIC), "--target", "diabetes", "--rule", "forward", "--output", "new.csv")
    code, _, err = call(*asked, "--max-features", "2")
    assert (code, "2 of 20 features kept by the rule forward" in err) == (0, True)
    assert set(Path("new.csv").read_text().splitlines()[0].split(",")) == {"glucose", "bmi", "diabetes"}
    code, _, err = call(*asked, "--max-features", "99")
    assert (code, "10 of 20 features kept" in err) == (0, True)


def test_select_that_keeps_nothing_says_so_with_a_code_of_its_own(call: Call) -> None:
    random = np.random.default_rng(1)
    write("noise.csv", columns("x", "y", rows=[(a, b) for a, b in random.integers(0, 2, (500, 2)).tolist()]))
    code, out, err = call("select", "noise.csv", "--target", "y", "--rule", "forward", "--output", "new.csv")
    assert (code, out) == (3, "")
    assert err == "credimi: no feature is kept by the rule forward: new.csv has the target 'y' alone\n"
    assert Path("new.csv").read_text().splitlines()[0] == "y"


def test_a_column_without_a_name_goes_by_the_name_that_is_shown(call: Call, report: Report, refusal: Refusal) -> None:
    rows = [(row, "ab"[row % 2], "pq"[row % 2]) for row in range(60)]
    write("data.csv", columns("", "x", "y", rows=rows))
    _, out, _ = call("rank", "data.csv", "--target", "y")
    assert "(no name)" in out
    left = report("data.csv", "--target", "y", "--exclude", "(no name)")["features"]
    assert [each["feature"] for each in left] == ["x"]
    alone = report("data.csv", "--target", "y", "--features", "(no name)", "--discretize", "=quantile")["features"]
    assert [each["feature"] for each in alone] == [""]
    assert [*credimi.count({"": [1, 2], "x": [3, 4], "y": [5, 6]}, "y", exclude="(no name)")] == ["x"]
    write("named.csv", columns("", "(no name)", "y", rows=rows))  # which is a name, then
    left = report("named.csv", "--target", "y", "--exclude", "(no name)")["features"]
    assert [each["feature"] for each in left] == [""]
    write("other.csv", columns("x", "y", rows=[row[1:] for row in rows]))
    assert "there is no column '(no name)'" in refusal("rank", "other.csv", "--target", "y", "--exclude", "(no name)")


def test_the_hint_to_leave_out_a_column_without_a_name_can_be_followed(report: Report) -> None:
    write("copy.csv", columns("", "x", "y", rows=[("ab"[row % 2], row % 3, "pq"[row % 2]) for row in range(3000)]))
    (remark,) = (each for each in report("copy.csv", "--target", "y")["remarks"] if each["kind"] == "nearly_target")
    assert remark["text"].startswith("(no name): ")
    assert "--exclude '(no name)'" in remark["text"]
    assert remark["feature"] == ""


def test_one_row_and_one_feature_are_said_so(call: Call) -> None:
    write("one.csv", "x,y\na,p\n")
    assert (
        call("count", "one.csv", "--target", "y", "--into", "one.counts")[2]
        == "credimi: one.counts: 1 row, 1 feature\n"
    )
