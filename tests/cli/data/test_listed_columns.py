"""Columns that are listed with commas."""

from __future__ import annotations

from command_helpers import Refusal, Report, by_name, columns, write


def test_columns_can_be_listed_with_commas(report: Report, refusal: Refusal) -> None:
    rows = [(row % 2, row % 3, row % 5, row % 7) for row in range(60)]
    write("data.csv", columns("y", "a", "b", "c", rows=rows))
    assert set(by_name(report("data.csv", "--target", "y", "--exclude", "a,b"))) == {"c"}
    assert set(by_name(report("data.csv", "--target", "y", "--features", "a, b"))) == {"a", "b"}
    assert "'a,x'" in refusal("rank", "data.csv", "--target", "y", "--exclude", "a,x")
    write("odd.csv", columns("y", "a", "a,b", "b", rows=rows))
    assert set(by_name(report("odd.csv", "--target", "y", "--exclude", "a,b"))) == {"a", "b"}
