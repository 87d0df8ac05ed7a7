"""`count` and `Counts`: what means missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from counting_helpers import ROWS, cells, key, oracle, refusal, write_csv

from credimi import count

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("token", ["", "?", "NA", "NaN", "null"])
def test_usual_tokens_are_missing_in_features_and_target(folder: Path, token: str) -> None:
    rows = [{"f": "x", "class": "a"}, {"f": token, "class": "b"}, {"f": "y", "class": token}]
    holes = [{name: None if value == token else value for name, value in row.items()} for row in rows]
    assert cells(count(rows, "class")) == oracle(holes)
    assert cells(count(pa.Table.from_pylist(rows), "class")) == oracle(holes)
    assert cells(count(write_csv(folder / "a.csv", rows, names=("f", "class")), "class")) == oracle(holes)


@pytest.mark.parametrize("sentinels", [[-99], ["-99"], [-99.0], -99, "-99", ("nothing", np.int64(-99))])
def test_sentinels_are_missing_as_numbers_and_as_text(folder: Path, sentinels: Any) -> None:  # noqa: ANN401
    rows = [{"n": n, "f": n / 2, "s": str(n), "class": 1 if n > 2 else n} for n in (-99, 1, 2, 3, 4, -198)]
    holes = [{name: None if key(value) in {-99.0, "-99"} else value for name, value in row.items()} for row in rows]
    assert cells(count(rows, "class", missing_values=sentinels)) == oracle(holes)
    assert cells(count(pa.Table.from_pylist(rows), "class", missing_values=sentinels)) == oracle(holes)
    path = write_csv(folder / "a.csv", rows, names=("n", "f", "s", "class"))
    typed_holes = [{name: value if value is None else float(value) for name, value in row.items()} for row in holes]
    assert cells(count(path, "class", missing_values=sentinels)) == oracle(typed_holes)


@pytest.mark.parametrize("sentinel", [-(2**63), 2**63 - 1, 2**53 + 1])
def test_sentinels_beyond_doubles(sentinel: int) -> None:
    rows = [{"f": value, "class": own} for value, own in ((sentinel, "a"), (1, "b"), (1, "a"))]
    found = cells(count(pa.Table.from_pylist(rows), "class", missing_values=[sentinel]))
    assert found == {("f", "a", None): 1, ("f", "b", "1"): 1, ("f", "a", "1"): 1}


def test_other_spellings_of_a_sentinel_in_csv(folder: Path) -> None:
    (folder / "a.csv").write_text("f,class\n999,a\n999.0,a\n 999,b\n9.99e2,b\n1,a\n")
    counts = count(folder / "a.csv", "class", missing_values=[999])
    assert cells(counts) == {("f", "a", None): 2, ("f", "b", None): 2, ("f", "a", 1.0): 1}


def test_no_missing_values_but_holes(folder: Path) -> None:
    rows = [{"f": "?", "class": "NA"}, {"f": None, "class": "b"}]
    assert cells(count(rows, "class", missing_values=[])) == oracle(rows)
    (folder / "a.csv").write_text("f,class\n?,NA\n,b\n")
    assert cells(count(folder / "a.csv", "class", missing_values=[])) == oracle(rows)


@pytest.mark.parametrize("values", [[None], [True], [[1]], None])
def test_missing_values_that_are_none_are_refused(values: Any) -> None:  # noqa: ANN401
    assert "missing_values" in refusal(ROWS, missing_values=values)
