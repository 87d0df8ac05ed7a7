"""`--weights`: a column that says what each row counts for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_helpers import Call, Refusal, Report, columns, write

ROWS = [("pq"[row % 2], "ab"[row % 3 % 2], row % 4) for row in range(60)]


def test_weights_are_repeated_rows(call: Call, report: Report, refusal: Refusal) -> None:
    write("short.csv", columns("y", "x", "n", rows=ROWS))
    write("long.csv", columns("y", "x", rows=[row[:2] for row in ROWS for _ in range(row[2])]))
    expected = report("long.csv", "--target", "y")
    found = report("short.csv", "--target", "y", "--weights", "n")
    assert found["settings"].pop("weights") == "n"
    assert found == expected
    assert call("count", "short.csv", "--target", "y", "--weights", "n", "--into", "n.counts")[0] == 0
    kept = report("n.counts")
    assert kept["features"] == expected["features"]
    write("more.csv", columns("y", "x", "n", rows=ROWS))
    code, _, err = call("count", "more.csv", "--into", "n.counts")  # the weights are those of the first call
    assert code == 0
    assert "180 rows, 90 of them new" in err
    assert "--weights" in refusal("rank", "n.counts", "--weights", "n")
    assert "--weights or --weights-are: leave them" in refusal(
        "count", "more.csv", "--weights", "x", "--into", "n.counts", "--force"
    )


def test_no_weight_is_refused(refusal: Refusal) -> None:
    write("data.csv", columns("y", "x", "n", rows=[("p", "a", 1), ("q", "b", "")]))
    said = refusal("rank", "data.csv", "--target", "y", "--weights", "n")
    assert "data.csv: the weight 'n' of row 2 (the first is 1) is missing" in said


@pytest.mark.parametrize("goal", [["--rule", "distinct"], ["--rule", "relevant"], ["--rule", "forward"]])
def test_a_selection_weighs_rows_and_its_file_keeps_the_weights(call: Call, goal: list[str]) -> None:
    rows = [("pq"[row % 2], "ab"[row % 2 if row % 7 else 0], row % 3 % 2, row % 4) for row in range(80)]
    write("short.csv", columns("y", "x", "z", "n", rows=rows))
    write("long.csv", columns("y", "x", "z", rows=[row[:3] for row in rows for _ in range(row[3])]))
    assert call("select", "long.csv", "--target", "y", *goal, "--output", "long_reduced.csv")[0] == 0
    code, _, err = call("select", "short.csv", "--target", "y", "--weights", "n", *goal, "--output", "reduced.csv")
    assert code == 0, err
    assert "1 of 2 features kept" in err
    assert Path("long_reduced.csv").read_text().splitlines()[0] == "y,x"
    assert Path("reduced.csv").read_text().splitlines()[:2] == ["y,x,n", "p,a,0"]


def test_a_file_of_nothing_but_target_and_weights(call: Call) -> None:
    write("data.csv", columns("y", "x", "n", rows=[("pq"[row % 2], "ab"[row % 4 // 2], 2) for row in range(400)]))
    code, _, err = call("select", "data.csv", "--target", "y", "--weights", "n", "--output", "new.csv")
    assert code == 3
    assert err == "credimi: no feature is kept by the rule distinct: new.csv has the target and the weights alone\n"
    assert Path("new.csv").read_text().splitlines()[0] == "y,n"
    code, out, _ = call("select", "data.csv", "--target", "y", "--weights", "n", "--format", "json")
    assert code == 3
    assert json.loads(out)["rows"] == 800


QUESTIONS = [
    ["rank", "--target", "y"],
    ["rank", "--target", "y", "--by", "z"],
    ["select", "--target", "y"],
    ["interactions", "--target", "y"],
    ["pairs"],
    ["network"],
    ["tree", "--target", "y"],
    ["compare", "--target", "y"],
]


@pytest.mark.parametrize("question", QUESTIONS, ids=" ".join)
def test_every_command_is_told_what_weights_are(call: Call, refusal: Refusal, question: list[str]) -> None:
    """Whole survey weights say the same as weights in units of eight; as rows they are refused in such units."""
    rows = [("pq"[row * 7 % 5 % 2], "ab"[row % 2], "cd"[row // 3 % 2], row % 5 + 1) for row in range(120)]
    write("whole.csv", columns("y", "x", "z", "n", rows=rows))
    write("parts.csv", columns("y", "x", "z", "n", rows=[(*row[:3], row[3] / 8) for row in rows]))

    def asked(file: str, *more: str) -> list[str]:
        return [question[0], *[file] * (2 if question[0] == "compare" else 1), *question[1:], "--weights", "n", *more]

    code, found, err = call(*asked("whole.csv", "--weights-are", "survey", "--format", "json"))
    assert code in (0, 3), err
    expected = call(*asked("parts.csv", "--format", "json"))[1].replace("parts.csv", "whole.csv")
    kept = json.loads(found)
    kept.get("settings", {}).pop("weights_are", None)
    for group in kept.get("groups", ()):
        group["settings"].pop("weights_are", None)
    assert kept == json.loads(expected)
    assert "numbers of rows are whole" in refusal(*asked("parts.csv", "--weights-are", "rows"))
    said = refusal(*[word for word in asked("whole.csv", "--weights-are", "survey") if word not in ("--weights", "n")])
    assert "there are no weights" in said


def test_counts_keep_what_weights_are(call: Call, report: Report, refusal: Refusal) -> None:
    write("data.csv", columns("y", "x", "n", rows=ROWS))
    asked = "--target", "y", "--weights", "n", "--weights-are", "survey"
    assert call("count", "data.csv", *asked, "--into", "n.counts")[0] == 0
    kept, direct = report("n.counts"), report("data.csv", *asked)
    assert (kept["features"], kept["remarks"]) == (direct["features"], direct["remarks"])
    assert "--weights-are" in refusal("rank", "n.counts", "--weights-are", "rows")
