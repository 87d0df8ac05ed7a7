"""`--target-cuts`: a target of numbers, cut into ranges by the commands."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_helpers import CLINIC, Call, Refusal, Report, columns, write

CUT = ["--target", "glucose", "--target-cuts"]


def test_rank_shows_the_ranges(report: Report) -> None:
    found = report(CLINIC, *CUT, "5.5,7")
    assert found["classes"] == ["<= 5.5", "5.5 to 7", "> 7"]
    assert found["settings"]["target_cuts"] == [5.5, 7.0]
    assert len(report(CLINIC, *CUT, "quantile:4")["classes"]) == 4


def test_counts_keep_the_cuts(call: Call, report: Report, refusal: Refusal) -> None:
    lines = CLINIC.read_text(encoding="utf-8").splitlines(keepends=True)
    for name, rows in {"1.csv": lines[:2000], "2.csv": [lines[0], *lines[2000:]]}.items():
        Path(name).write_text("".join(rows), encoding="utf-8")
    assert call("count", "1.csv", *CUT, "quantile:3", "--into", "c.counts")[0] == 0
    cuts = report("c.counts")["settings"]["target_cuts"]
    assert call("count", "2.csv", "--into", "c.counts")[0] == 0
    whole = report("c.counts")
    assert whole == report(CLINIC, *CUT, ",".join(map(str, cuts)))
    assert "another --missing, --discretize, --target-cuts, --weights or --weights-are" in refusal(
        "count", "2.csv", "--target-cuts", "5,7", "--into", "c.counts", "--force"
    )
    assert "--target-cuts" in refusal("rank", "c.counts", "--target-cuts", "5,7")


def test_select_and_prequential(call: Call) -> None:
    assert call("select", CLINIC, *CUT, "quantile:2", "--output", "less.csv")[0] == 0
    assert "glucose" in Path("less.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    code, out, _ = call("prequential", CLINIC, *CUT, "quantile:2", "--orders", "1", "--rule", "all")
    assert code == 0
    assert "accuracy" in out


@pytest.mark.parametrize("cuts", ["", "x", "5,,7", "quantile:0", "quantile", "nan"])
def test_no_cuts_are_refused(refusal: Refusal, cuts: str) -> None:
    assert "are no cuts of a target" in refusal("rank", CLINIC, *CUT, cuts)


def test_a_target_of_numbers_is_told_what_to_do(refusal: Refusal) -> None:
    """It is a number; if it is said to be classes, these are too many."""
    write("data.csv", columns("y", "a", rows=[(i, i % 3) for i in range(2_000)]))
    said = refusal("rank", "data.csv", "--target", "y", "--target-as", "categories")
    assert "(target_cuts, --target-cuts)" in said
