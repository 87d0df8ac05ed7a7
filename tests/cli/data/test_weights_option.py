"""`--weights`: a column that says what each row counts for."""

from __future__ import annotations

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
    assert "or --weights: leave them" in refusal("count", "more.csv", "--weights", "x", "--into", "n.counts", "--force")


def test_no_weight_is_refused(refusal: Refusal) -> None:
    write("data.csv", columns("y", "x", "n", rows=[("p", "a", 1), ("q", "b", "")]))
    said = refusal("rank", "data.csv", "--target", "y", "--weights", "n")
    assert "data.csv: the weight 'n' of row 2 (the first is 1) is missing" in said
